"""What the pages need on their way into the site.

Pages are read in the repository too, where links to the code lead somewhere, where a list may follow its paragraph
without an empty line, and where a heading may begin with a number. Here they are made to suit the site as well.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from markdown.extensions.toc import slugify
from mkdocs.utils import get_relative_url

sys.path.insert(0, str(Path(__file__).parent))  # it lies beside this one, and is part of no package
import site_commands

_THEIRS = "https://unpkg.com/iframe-worker/shim"
_COMMANDS = "<!-- commands: written here when the site is built -->"
ROOT = Path(__file__).parent.parent

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)(?:#[^)\s]*)?\)")
_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ \t]*$", re.S | re.M)
_LIST_AT_ONCE = re.compile(r"^(?!(?:[-*]|\d+\.) )(\S.*)\n(?=- )", re.M)


def on_config(config: Any) -> None:
    """Name headings so that the theme's script can look them up: beginning with a letter."""
    config["mdx_configs"]["toc"]["slugify"] = _name


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write paths instead of links to files that are no pages; put an empty line before a list."""
    if _COMMANDS in markdown:
        markdown = markdown.replace(_COMMANDS, site_commands.commands_reference())
    texts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(markdown):  # what is shown as code stays as it is
        texts += [_suited(markdown[at : fence.start()], page.file.src_uri), fence.group()]
        at = fence.end()
    return "".join([*texts, _suited(markdown[at:], page.file.src_uri)])


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Let pages that are opened from a file search with our own script: the theme's would come from a CDN."""
    return output.replace(_THEIRS, get_relative_url("assets/worker.js", page.url))


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The same for the page about a page that does not exist."""
    return output_content.replace(_THEIRS, "assets/worker.js")


def _name(heading: str, separator: str) -> str:
    name = slugify(heading, separator)
    return name if name[:1].isalpha() else f"s{separator}{name}"


def _suited(text: str, page: str) -> str:
    def written(link: re.Match[str]) -> str:
        words, target = link.groups()
        path = _from_the_root(PurePosixPath("docs", page).parent / target)
        if path.startswith("docs/") or not (ROOT / path).exists():
            return link.group()  # a page, or a mistake: for the strict build to judge
        return f"`{path}`" if words.startswith("`") else f"{words} (`{path}`)"

    return _LIST_AT_ONCE.sub(r"\1\n\n", _LINK.sub(written, text))


def _from_the_root(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
