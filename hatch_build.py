"""What a wheel has beside the code: the documentation, and a description whose links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!\w+:)[^)]*\)\n+", re.M)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)]*)\)")
_PAGES = {".md", ".png", ".svg"}
_PAGE = re.compile(r"^docs/([^#]+)\.md(#.*)?$")


class DocumentationHook(BuildHookInterface[Any]):
    """Adds the documentation: `site/` if it was built, as `make dist` does, else its pages, as in `pip install .`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built."""
        included, root = build_data["force_include"], Path(self.root)
        if version != "standard":  # an editable installation has the checkout
            return
        if (root / "site" / "index.html").is_file():
            included["site"] = "locentropy/site"
            return
        for file in (root / "docs").rglob("*"):
            if file.suffix in _PAGES:
                included[str(file)] = f"locentropy/{file.relative_to(root).as_posix()}"


class DescriptionHook(MetadataHookInterface):
    """The description of the package: the README, as it reads outside of the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling for the fields that are dynamic."""
        commands = Path(self.root, "src", "locentropy", "cli", "docs.py").read_text("utf-8")
        [address] = re.findall(r'^ADDRESS: Final = "(.*)"$', commands, re.M)
        text = outside(Path(self.root, "README.md").read_text("utf-8"), address)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def outside(readme: str, address: str) -> str:
    """The README without links and pictures that only a checkout has; pages are linked where they are on the web."""

    def linked(link: re.Match[str]) -> str:
        words, target = link.groups()
        page = _PAGE.match(target)
        if page is None or not address:
            return words
        return f"[{words}]({address.rstrip('/')}/{page[1]}.html{page[2] or ''})"

    return _LINK.sub(linked, _PICTURE.sub("", readme))
