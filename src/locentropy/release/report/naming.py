"""What a page calls the things that it ranks: places, zones, cells, or groups of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from locentropy.core.cell_kinds import CELL_KINDS

if TYPE_CHECKING:
    from locentropy.release.statement import Statement


class Named(NamedTuple):
    """The words for what is published."""

    one: str
    many: str
    ranked: str
    """The heading of the list."""
    column: str
    """The heading of its column of names."""

    def numbered(self, number: int) -> str:
        """So many of them."""
        return f"{number:,} {self.one if number == 1 else self.many}"


def named(statement: Statement) -> Named:
    """The words for what this release is about, or this level of it."""
    if statement.grouped_by is not None:
        column = statement.grouped_by
        return Named(
            "group of places",
            "groups of places",
            f"Places by {column}, ranked",
            column[:1].upper() + column[1:],
        )
    if statement.part is not None and statement.part.scope != "place":
        return Named("location", "locations", "Locations, ranked", "Location")
    if statement.locations_source.startswith("zones"):
        return Named("zone", "zones", "Zones, ranked", "Zone")
    if statement.locations_source.startswith(CELL_KINDS):
        return Named("cell", "cells", "Cells, ranked", "Cell")
    return Named("place", "places", "Places, ranked", "Place")
