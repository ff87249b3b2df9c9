"""The visit profile: all that a mechanism needs to know of a location's bounded data, in integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class VisitProfile:
    """How many users made 1, 2, 3, … visits to each location.

    A row says: at location `locations[index]`, `users` users made `visits` visits each. Rows are in the
    order of (index, visits) without repeats, so equal data gives equal arrays, bit by bit, on any engine.
    Private: exact counts. Only a mechanism may turn them into something to publish.
    """

    locations: pa.Array
    """Every location covered, once each, visited or not; integers or texts, as they came in."""

    index: Integers
    """Which location a row is about, as a position in `locations`."""

    visits: Integers
    """Visits per user, from 1 up."""

    users: Integers
    """How many users made that many visits there."""

    bounds: Bounds | None
    """The bounds the users were held to; None where nobody was bounded."""

    @classmethod
    def from_rows(
        cls, locations: pa.Array, index: Integers, visits: Integers, users: Integers, bounds: Bounds | None
    ) -> VisitProfile:
        """A profile from rows in any order; rows about the same location and visits are added up."""
        order = np.lexsort((visits, index))
        index, visits, users = index[order], visits[order], users[order]
        if len(index) and (
            index[0] < 0 or index[-1] >= len(locations) or visits.min() < 1 or users.min() < 1
        ):
            raise ParameterError(
                "A visit profile has rows (location, visits ≥ 1, users ≥ 1) of its locations."
            )
        new = np.ones(len(index), dtype=bool)
        new[1:] = (np.diff(index) != 0) | (np.diff(visits) != 0)
        starts = np.flatnonzero(new)
        total = np.add.reduceat(users, starts) if len(starts) else users
        return cls(locations, index[starts], visits[starts], total, bounds)

    def __len__(self) -> int:
        """The number of locations."""
        return len(self.locations)

    def _per_location(self, values: NDArray[Any]) -> NDArray[Any]:
        """Rows added up by location; a location without rows gets 0."""
        sums = np.zeros(len(self), dtype=values.dtype)
        starts = np.flatnonzero(np.diff(self.index, prepend=-1))
        if len(starts):
            sums[self.index[starts]] = np.add.reduceat(values, starts)
        return sums

    @cached_property
    def user_counts(self) -> Integers:
        """n: the users of each location."""
        return self._per_location(self.users)

    @cached_property
    def visit_counts(self) -> Integers:
        """c: the visits of each location."""
        return self._per_location(self.users * self.visits)

    @cached_property
    def visit_logs(self) -> Reals:
        """S: the sum of c·ln c over the users of each location, c being the visits of a user."""
        return self._per_location(self.users * (self.visits * np.log(self.visits)))

    @cached_property
    def entropy(self) -> Reals:
        """H: the Shannon entropy, in nats, of the split of each location's visits over its users.

        Summed as Σ users · p · ln(1/p), p = visits / c: no term is negative and nothing cancels, so a
        single visitor gives exactly 0. A location without visits has entropy 0.
        """
        total = self.visit_counts[self.index]
        share = self.visits / total
        return self._per_location(self.users * share * np.log(total / self.visits))

    def clipped(self, max_visits: int) -> VisitProfile:
        """The profile as if every user had been held to `max_visits` visits per location."""
        visits = np.minimum(self.visits, max_visits)
        return VisitProfile.from_rows(self.locations, self.index, visits, self.users, self.bounds)

    def __add__(self, other: VisitProfile) -> VisitProfile:
        """The profile of two groups of people together; nobody may be in both."""
        if self.bounds != other.bounds:
            raise ParameterError("Profiles under different bounds do not add up.")
        if self.locations.equals(other.locations):
            locations, mine, theirs = self.locations, self.index, other.index
        else:
            locations = _sorted_distinct(self.locations, other.locations)
            mine = _positions(self.locations, locations)[self.index]
            theirs = _positions(other.locations, locations)[other.index]
        return VisitProfile.from_rows(
            locations,
            np.concatenate([mine, theirs]),
            np.concatenate([self.visits, other.visits]),
            np.concatenate([self.users, other.users]),
            self.bounds,
        )

    def equals(self, other: VisitProfile) -> bool:
        """The same locations in the same order, with the same integers."""
        return (
            self.locations.equals(other.locations)
            and np.array_equal(self.index, other.index)
            and np.array_equal(self.visits, other.visits)
            and np.array_equal(self.users, other.users)
        )

    def to_arrow(self) -> pa.Table:
        """The rows as a table (location, visits, users)."""
        return pa.table(
            {"location": self.locations.take(self.index), "visits": self.visits, "users": self.users}
        )


def _sorted_distinct(left: pa.Array, right: pa.Array) -> pa.Array:
    if left.type != right.type:
        raise ParameterError(f"Location ids of type {left.type} and {right.type} do not mix.")
    distinct = pc.unique(pa.concat_arrays([left, right]))
    return distinct.take(pc.sort_indices(distinct))


def _positions(ids: pa.Array, within: pa.Array) -> Integers:
    positions: Integers = pc.index_in(ids, value_set=within).to_numpy(zero_copy_only=False).astype(np.int64)
    return positions
