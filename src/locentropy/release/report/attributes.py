"""Columns of the public list on the page: their values, and what estimates owe to those that are attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES
from locentropy.release.columns import public_columns
from locentropy.release.report.naming import is_cells, kind_of

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

_SHORT: Final = 40
"""Letters of a value that a sentence can carry."""

_MOST_CHOICES: Final = 60
"""Values of a column that readers can choose from in a list; with more they search."""


def attribute_texts(release: Release) -> dict[str, list[str | None]]:
    """The values of each column of the public list, as text."""
    table = release.to_arrow()
    return {name: table[name].cast(pa.string()).to_pylist() for name in public_columns(release.statement)}


def filterable(texts: dict[str, list[str | None]]) -> list[bool]:
    """Which of the columns have few enough values to choose from, and at least two."""
    return [1 < len(set(values)) <= _MOST_CHOICES for values in texts.values()]


def listed_paragraph(say: Words, statement: Statement) -> str:
    """That further columns come from the list."""
    names = statement.listed_columns
    return say.count("listed", len(names), names=say.together(names))


def leaning_sentence(say: Words, release: Release) -> str:
    """What estimates lean on, in a sentence; empty where there are no attributes."""
    leans = [_example(say, release, name) for name in release.statement.attributes]
    if not leans:
        return ""
    return say("leaning", of=kind_of(release.statement), together=say.together(leans))


def leaning_paragraph(say: Words, release: Release) -> str:
    """How estimates lean on attributes, and how much each explains."""
    statement = release.statement
    known_from = "cells" if is_cells(statement) else "list"
    said = say("leaning.how", of=known_from, leaning=leaning_sentence(say, release))
    effects = [
        say(
            "leaning.effect",
            name=_named(say, effect.name),
            percent=say.number(100 * effect.explained, ".0f"),
        )
        for effect in statement.leans_on
    ]
    return said + say("leaning.effects", effects=", ".join(effects)) if effects else said


def _example(say: Words, release: Release, name: str) -> str:
    if name == COORDINATES:
        return say("leaning.nearby", of=kind_of(release.statement))
    common = _most_common(release.to_arrow()[name])
    if common is None or isinstance(common, bool) or len(str(common)) > _SHORT:
        return say("leaning.same", name=name)
    return say("leaning.same_as", name=name, common=str(common))


def _named(say: Words, attribute: str) -> str:
    """An attribute by its column; where a place is, which no column has, by a word."""
    return say("leaning.coordinates") if attribute == COORDINATES else attribute


def _most_common(values: pa.ChunkedArray) -> Any:
    """The value that most places have, the first of several; None if none is known."""
    counted = pc.value_counts(values.drop_null())
    if not len(counted):
        return None
    at = int(pc.index(counted.field("counts"), pc.max(counted.field("counts"))).as_py())
    return counted.field("values")[at].as_py()
