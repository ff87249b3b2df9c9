"""What a page calls the things that it ranks: places, zones, cells, or groups of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from locentropy.core.cell_kinds import CELL_KINDS

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.statement import Statement

Kind = Literal["place", "zone", "cell", "group", "list"]
"""What is ranked; `list` is the whole list as one location. Texts have a variant for each."""


def kind_of(statement: Statement) -> Kind:
    """What this release is about, or this level of it."""
    if statement.grouped_by is not None:
        return "group"
    if statement.part is not None and statement.part.scope == "list":
        return "list"
    if statement.locations_source.startswith("zones"):
        return "zone"
    return "cell" if is_cells(statement) else "place"


def is_cells(statement: Statement) -> bool:
    """Whether places are those of a map or a grid, rather than of a list."""
    return statement.locations_source.startswith(CELL_KINDS)


def ranked(say: Words, statement: Statement) -> str:
    """The heading of the list."""
    return say("list.ranked", of=kind_of(statement), column=statement.grouped_by or "")


def named_column(say: Words, statement: Statement) -> str:
    """The heading of its column of names."""
    column = statement.grouped_by or ""
    return say("list.name", of=kind_of(statement), column=column[:1].upper() + column[1:])
