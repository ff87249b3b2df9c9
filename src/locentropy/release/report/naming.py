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
    position: str
    """Where one of them is drawn on the map."""

    def numbered(self, number: int) -> str:
        """So many of them."""
        return f"{number:,} {self.one if number == 1 else self.many}"


def named(statement: Statement) -> Named:
    """The words for what this release is about, or this level of it."""
    source = statement.locations_source
    if statement.grouped_by is not None:
        column = statement.grouped_by
        return Named(
            "group of places",
            "groups of places",
            f"Places by {column}, ranked",
            column[:1].upper() + column[1:],
            "in the middle of its places",
        )
    if statement.part is not None and statement.part.scope == "list":
        heading = "All places of the list as one location"
        return Named("location", "locations", heading, "Location", "in the middle of its places")
    if source.startswith("zones"):
        return Named("zone", "zones", "Zones, ranked", "Zone", "where the public map says it is")
    if source.startswith(CELL_KINDS):
        return Named("cell", "cells", "Cells, ranked", "Cell", "where the public grid says it is")
    return Named("place", "places", "Places, ranked", "Place", "where the public list says it is")
