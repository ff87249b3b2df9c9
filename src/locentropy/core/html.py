"""HTML of pages and of notebooks' outputs: text is escaped unless it was made here."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from string import Template
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_IN_SCRIPT: Final = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
"""Letters that could end a script element, or a line of it; JSON may write any letter as its number."""


class Html(str):
    """A piece of a page, fit to stand in it as it is."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float | bool | None) -> Html:
    """An element; children that are not Html are text. A final underscore of an attribute's name is left out."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Pieces and texts, one after another."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))


def paragraphs(text: str) -> Html:
    """A text of the owner, with its own line breaks."""
    return joined(*(tag("p", line) for line in text.splitlines() if line.strip()))


def script_json(value: Any) -> Html:
    """A value as JSON that cannot end the script element around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Html(text.translate(_IN_SCRIPT))


def filled(template: str, **parts: Html) -> Html:
    """A template with every `$name` replaced."""
    for name, part in parts.items():
        if not isinstance(part, Html):
            raise TypeError(f"{name} is text, not a piece of a page")
    return Html(Template(template).substitute(parts))


def policy_hash(content: str) -> str:
    """How a content security policy names the one script, or style, that it lets through."""
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table, for a notebook's own style."""
    heading = tag("tr", *(tag("th", cell) for cell in head))
    lines = (tag("tr", *(tag("td", cell) for cell in row)) for row in rows)
    return tag("table", tag("thead", heading), tag("tbody", *lines))


def plain_text(text: str) -> Html:
    """Text with its own lines and columns, for a notebook."""
    return tag("pre", text, style="white-space: pre-wrap")
