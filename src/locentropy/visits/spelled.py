"""Ids as they are spelled for comparing (core/spelling.py), in the terms of an engine; each row by itself.

Ibis is loaded where it is needed: commands that read no data do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from locentropy.core.spelling import BLANKS, CAPITAL, SMALL
from locentropy.visits.sql import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.spelling import Spelling

_BLANKS: Final = "".join(rf"\x{number:02x}" if number < 0x80 else chr(number) for number in BLANKS)
"""For a regular expression. Numbers, because Spark reads a form feed, written into a query, as the letter f."""
_END: Final = {"postgres": r"\Z"}
"""The end of a text, and nothing before it: of $, Java takes a last line break to be after it."""


def spelled(text: Any, spelling: Spelling, backend: str) -> Any:
    """A text as an expression of Ibis."""
    if spelling.trim:
        end = _END.get(backend, r"\z")
        text = text.re_replace(f"^[{_BLANKS}]+|[{_BLANKS}]+{end}", "")
    return text.translate(CAPITAL, SMALL) if spelling.fold else text


def spelled_sql(text: str, spelling: Spelling) -> str:
    """The same as SQL of DuckDB."""
    if spelling.trim:
        text = f"trim({text}, {literal(''.join(map(chr, BLANKS)))})"
    return f"translate({text}, {literal(CAPITAL)}, {literal(SMALL)})" if spelling.fold else text


def unless_word(user: Any, words: Sequence[str]) -> Any:
    """A user id, and null if it is one of the words for "missing"; as an expression of Ibis."""
    import ibis

    from locentropy.visits.expressions import word_pattern

    if not words:
        return user
    is_word = user.cast("string").re_search(word_pattern(words))
    return is_word.ifelse(ibis.null(user.type()), user)


def unless_word_sql(user: str, words: Sequence[str]) -> str:
    """The same as SQL of DuckDB."""
    from locentropy.visits.expressions import word_pattern

    if not words:
        return user
    return f"CASE WHEN NOT regexp_matches(CAST({user} AS VARCHAR), {literal(word_pattern(words))}) THEN {user} END"
