"""What Shares asks of a data set, counted in one pass over chunks of users, so that simulations need no data.

Its questions depend on noise, so more is kept than one release asks: the look; equal shares at each place by every
octave of places and of visits, of which any bands and any cut are sums; and who returned where, of which the split of
any choice of places can be computed. A share depends on its user's rows only, so sums over chunks of users are sums
over all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.core.shares import ShareRule
from locentropy.mechanisms.shares.measurements import UNIT, ShareQueries
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS, RETURNING, SPLIT_WEIGHTS, VISIT_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.visits.queries import TableQueries

    Integers = NDArray[np.int64]

_NOT_COUNTED: Final = "These shares were not counted."


@dataclass(frozen=True, eq=False)
class ShareCounts:
    """The answers to what Shares may ask at one ε, pure."""

    look: Integers
    """By place."""
    size_thresholds: tuple[int, ...]
    """The octaves of places."""
    cells: Integers
    """Equal shares by place, octave of places and octave of visits."""
    largest: int
    """The largest share."""

    @classmethod
    def of(cls, queries: Queries, asking: ShareQueries) -> ShareCounts:
        """Count one chunk."""
        every = np.arange(len(queries.locations), dtype=np.int64)
        sizes = asking.size_thresholds
        cells = queries.presence(asking.equal_rule, every, sizes, VISIT_THRESHOLDS)
        return cls(queries.look(asking.look_rule), sizes, cells, asking.largest)

    def __add__(self, other: ShareCounts) -> ShareCounts:
        """The counts of two groups of users together; nobody may be in both."""
        if (self.largest, self.size_thresholds) != (other.largest, other.size_thresholds):
            raise ParameterError("Shares of different questions do not add up.")
        cells = self.cells + other.cells
        return ShareCounts(self.look + other.look, self.size_thresholds, cells, self.largest)

    def presence(self, bands: Integers, places: Sequence[int], visits: Sequence[int]) -> Integers:
        """All presence by bands, for thresholds among those that were counted."""
        if not set(places) <= set(self.size_thresholds) or not set(visits) <= set(VISIT_THRESHOLDS):
            raise ParameterError(_NOT_COUNTED)
        banded = np.zeros((int(bands.max(initial=0)) + 1, *self.cells.shape[1:]), dtype=np.int64)
        np.add.at(banded, cast("Any", bands), self.cells)
        for axis, (asked, counted) in enumerate(
            ((places, self.size_thresholds), (visits, VISIT_THRESHOLDS)), start=1
        ):
            starts = [0, *(counted.index(each) + 1 for each in asked)]
            banded = np.add.reduceat(banded, starts, axis=axis)
        return banded


@dataclass(frozen=True, eq=False)
class Returning:
    """Who returned where: a user and a place in each row, as numbers."""

    user: Integers
    place: Integers

    @classmethod
    def of(cls, queries: Queries) -> Returning:
        """The rows of one chunk, its users numbered from 0 by their ids: not in the order of an engine."""
        table = cast("TableQueries", queries)
        often = table._pairs.filter(table._pairs.visits >= RETURNING).select("user", "code")
        rows = table._engine.run(often, "Counting")
        _, users = np.unique(rows["user"].to_numpy(), return_inverse=True)
        places = table._position[rows["code"].to_numpy()].astype(np.int64)
        order = np.lexsort((places, users))
        return cls(users[order].astype(np.int64), places[order])

    def __add__(self, other: Returning) -> Returning:
        """The rows of two groups of users together; users of the second are numbered after those of the first."""
        first = int(self.user.max(initial=-1)) + 1
        return Returning(
            np.concatenate([self.user, other.user + first]), np.concatenate([self.place, other.place])
        )

    def split(self, chosen: Integers, rule: ShareRule) -> Integers:
        """The equal shares of returning users among some of the places, at each of these."""
        if rule.weights != SPLIT_WEIGHTS or rule.norm != "l1":
            raise ParameterError(_NOT_COUNTED)
        position = np.full(max(int(self.place.max(initial=-1)), int(chosen.max(initial=-1))) + 1, -1)
        position[chosen] = np.arange(len(chosen))
        within = position[self.place] >= 0
        user, place = self.user[within], position[self.place[within]]
        share = np.minimum(rule.largest, rule.unit // np.maximum(1, np.bincount(user, minlength=1)))
        sums = np.zeros(len(chosen), dtype=np.int64)
        np.add.at(sums, place, share[user])
        return sums


@dataclass(frozen=True, eq=False)
class SomePlaces:
    """The queries about some of the places: their split."""

    locations: pa.Array
    chosen: Integers
    returning: Returning

    def look(self, rule: ShareRule) -> Integers:
        """The split at these places."""
        return self.returning.split(self.chosen, rule)


def look_rule(largest: int) -> ShareRule:
    """The rule of the look that is counted."""
    return ShareRule(UNIT, largest, LOOK_WEIGHTS)


def some_places(all_places: pa.Array, locations: Locations, returning: Returning) -> SomePlaces:
    """The queries about places of a list."""
    import pyarrow.compute as pc

    at = pc.index_in(locations.ids, value_set=all_places).to_numpy().astype(np.int64)
    return SomePlaces(locations.ids, at, returning)
