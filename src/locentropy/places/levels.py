"""Levels of a public list: its places, groups of them by its columns, and the whole list as one location.

What makes places one location is read from the list alone, never from the visits, and one visit is at one location of
each level at most. Levels need not be nested: `place,category,district` are three levels as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from locentropy.core.errors import ColumnError
from locentropy.core.levels import PLACE, WHOLE, WHOLE_UNLESS_COLUMN
from locentropy.places.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.levels import Levels, Scope
    from locentropy.core.locations import Locations


@dataclass(frozen=True, eq=False)
class Level:
    """A level with its locations."""

    name: str
    """What it is called."""
    scope: Scope
    """What it consists of."""
    locations: Locations
    """The places, or the groups, with their members."""


def levels_of(places: Locations, levels: Levels, columns: Sequence[str], label: str) -> tuple[Level, ...]:
    """The levels of a list, whose file has these columns. Estimates lean on attributes at the level of places only.

    Raises ColumnError for a level that is no column, or a word that could mean two things.
    """
    found = tuple(_level(places, name, columns, label) for name in levels)
    if sum(level.scope == "list" for level in found) > 1:
        raise ColumnError(
            f"{label}: levels names the whole list twice, as {WHOLE!r} and as {WHOLE_UNLESS_COLUMN!r}, which is no "
            "column of the list. Leave one out."
        )
    return found


def _level(places: Locations, name: str, columns: Sequence[str], label: str) -> Level:
    values = places.columns.get(name, places.attributes.get(name))
    if name in (PLACE, WHOLE):
        if values is not None:
            raise ColumnError(
                f"{label}: it has a column {name!r}, and as a level that word stands for "
                f"{'each place by itself' if name == PLACE else 'the whole list'}. Rename the column."
            )
        return Level(name, "place", places) if name == PLACE else _whole(places, name, label)
    if name == WHOLE_UNLESS_COLUMN and name not in columns:
        return _whole(places, name, label)
    if values is None:
        why = (
            "is its column of ids, names or coordinates" if name in columns else "is not a column of the list"
        )
        listed = ", ".join(map(repr, columns)) or "none"
        raise ColumnError(
            f"{label}: the level {name!r} {why}. Its columns: {listed}. Besides columns there are {PLACE!r}, for each "
            f"place by itself, and {WHOLE!r}, for the whole list. Levels come from the list, never from the visits."
        )
    if not (pa.types.is_string(values.type) or pa.types.is_integer(values.type)):
        raise ColumnError(
            f"{label}: the level {name!r} has type {values.type}. Its values are the ids of what is published, so they "
            "must be texts or whole numbers. Cast it where the list is made."
        )
    return Level(name, "column", _together(places, values, name, label))


def _whole(places: Locations, name: str, label: str) -> Level:
    return Level(name, "list", _together(places, pa.array([name] * len(places)), name, label))


def _together(places: Locations, values: pa.Array, name: str, label: str) -> Locations:
    """The groups of places; what places lean on, and the column itself, are columns like any other here."""
    listed = {
        column: each for column, each in {**places.attributes, **places.columns}.items() if column != name
    }
    plain = replace(places, attributes={}, leans_on_coordinates=False, columns=listed, outlines=None)
    return grouped(plain, values, name, label)
