"""Columns of the public list on the page: their values, and what estimates owe to those that are attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES
from locentropy.core.cell_kinds import CELL_KINDS
from locentropy.release.columns import public_columns
from locentropy.release.report.naming import named

if TYPE_CHECKING:
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


def listed_paragraph(statement: Statement) -> str:
    """That further columns come from the list."""
    *first, last = statement.listed_columns
    named = f"{', '.join(first)} and {last}" if first else last
    return (
        f"{named}: as the public list has {'them' if first else 'it'}. The list is public and was not made from the "
        "visits, and no value leans on what it says there."
    )


def leaning_sentence(release: Release) -> str:
    """What estimates lean on, in a sentence; empty where there are no attributes."""
    leans = [_example(release, name) for name in release.statement.attributes]
    if not leans:
        return ""
    *first, last = leans
    together = f"{', '.join(first)} and {last}" if first else last
    if release.statement.locations_source.startswith(CELL_KINDS):
        return f"Estimates of {named(release.statement).many} lean on {together}."
    return f"Estimates of places lean on {together}, as the public list has it."


def leaning_paragraph(release: Release) -> str:
    """How estimates lean on attributes, and how much each explains."""
    cells = release.statement.locations_source.startswith(CELL_KINDS)
    public = "Where cells are is public and was" if cells else "What a list says is public and was"
    said = (
        f"{leaning_sentence(release)} The less is known about a place itself, the more its value is that of places "
        f"like it, and the more places there are like it, the surer that is. {public} not made from the visits."
    )
    effects = [
        f"{effect.name} explains about {100 * effect.explained:.0f} % of how places differ"
        for effect in release.statement.leans_on
    ]
    return f"{said} Here {', '.join(effects)}." if effects else said


def _example(release: Release, name: str) -> str:
    if name == COORDINATES:
        return f"{named(release.statement).many} nearby"
    common = _most_common(release.to_arrow()[name])
    if common is None or isinstance(common, bool) or len(str(common)) > _SHORT:
        return f"others with the same {name}"
    return f"others with the same {name} (those of “{common}” on each other)"


def _most_common(values: pa.ChunkedArray) -> Any:
    """The value that most places have, the first of several; None if none is known."""
    counted = pc.value_counts(values.drop_null())
    if not len(counted):
        return None
    at = int(pc.index(counted.field("counts"), pc.max(counted.field("counts"))).as_py())
    return counted.field("values")[at].as_py()
