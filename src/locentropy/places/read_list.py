"""A public list as it was read, once: its places, of which groups and levels are made.

Places that are excluded go before anything is made of the others: the middle of a group, or a value that its places
have in common, would otherwise tell of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from locentropy.places.groups import grouped
from locentropy.places.levels import levels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from locentropy.core.levels import Levels
    from locentropy.core.locations import Locations
    from locentropy.places.levels import Level


@dataclass(frozen=True, eq=False)
class ReadList:
    """The places of a list, and how they are grouped."""

    places: Locations
    """One location for each row of the list."""
    columns: Sequence[str]
    """The names of the columns of the list."""
    label: str
    """What errors call the list."""
    left_out: tuple[str, ...] = ()
    """Its columns that no option names, so that they are not published."""
    group: str | None = None
    """The column by which places are grouped, if they are."""
    groups: pa.Array | None = None
    """Its value for each place; null for a place in no group."""

    def without(self, excluded: Locations) -> ReadList:
        """The list as if it did not have the excluded places."""
        kept = self.places.positions_without(excluded)
        groups = None if self.groups is None else self.groups.take(kept)
        return replace(self, places=self.places.without(excluded), groups=groups)

    def locations(self) -> Locations:
        """What is published: the places, or their groups."""
        if self.group is None or self.groups is None:
            return self.places
        return grouped(self.places, self.groups, self.group, self.label)

    def levels(self, levels: Levels) -> tuple[Level, ...]:
        """The levels with their locations; none if there are no levels."""
        return levels_of(self.places, levels, self.columns, self.label) if levels else ()
