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

    import pyarrow as pa

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
    """A value as JSON that cannot end the script element around it.

    Values of a mapping may be Arrow arrays of numbers, which Arrow writes in a quarter of the time of Python.
    """
    if _is_array(value):
        return Html(_json_numbers(value))
    if isinstance(value, dict) and any(isinstance(each, dict) or _is_array(each) for each in value.values()):
        members = (f"{script_json(str(key))}:{script_json(each)}" for key, each in value.items())
        return Html(f"{{{','.join(members)}}}")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Html(text.translate(_IN_SCRIPT))


def _is_array(value: Any) -> bool:
    return hasattr(value, "null_count")


def _json_numbers(values: pa.Array) -> str:
    """An array of numbers as JSON."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.is_finite(values), min_count=0).as_py():
        raise ValueError("JSON has no number for infinity, nor for NaN.")
    texts = values.cast(pa.string()).fill_null("null")
    return f"[{pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), ',')[0].as_py()}]"


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
