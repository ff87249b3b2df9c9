"""The visit profile: everything a mechanism needs to know about a location's bounded data, in integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class VisitProfile:
    """How many users made 1, 2, 3, … visits to each location.

    A row means: at location `locations[index]`, `users` users made `visits` visits each. Rows are sorted by
    (index, visits) without repeats, so equal data gives equal arrays, bit by bit, on any engine.
    Private: exact counts. Only a mechanism may turn them into something to publish; the repr shows none.
    """

    locations: pa.Array
    """Every location, once each, visited or not; integers or texts, as they were given."""

    index: Integers
    """The location of each row, as a position in `locations`."""

    visits: Integers
    """Visits per user, at least 1."""

    users: Integers
    """The number of users with that many visits there."""

    bounds: Bounds | None
    """The bounds under which users were counted; None without bounds."""

    @classmethod
    def from_rows(
        cls, locations: pa.Array, index: Integers, visits: Integers, users: Integers, bounds: Bounds | None
    ) -> VisitProfile:
        """A profile from rows in any order; rows with the same location and visits are added up."""
        if len(index) == 0:
            return cls(locations, index, visits, users, bounds)
        if index.min() < 0 or index.max() >= len(locations) or visits.min() < 1 or users.min() < 1:
            raise ParameterError(
                "A visit profile has rows (location, visits ≥ 1, users ≥ 1) of its locations."
            )
        # One number per row sorts much faster than two, if it fits 64 bits (Python's integers do not overflow).
        span = int(visits.max()) + 1
        fits = len(locations) * span < 2**63
        order = np.argsort(index * span + visits, kind="stable") if fits else np.lexsort((visits, index))
        index, visits, users = index[order], visits[order], users[order]
        new = np.ones(len(index), dtype=bool)
        new[1:] = (np.diff(index) != 0) | (np.diff(visits) != 0)
        starts = np.flatnonzero(new)
        return cls(locations, index[starts], visits[starts], np.add.reduceat(users, starts), bounds)

    def __len__(self) -> int:
        """The number of locations."""
        return len(self.locations)

    def __repr__(self) -> str:
        """The number of locations, and no count of users or visits."""
        return f"<VisitProfile of {len(self):,} locations (private)>"

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
        """S: for each location, the sum of x·ln x over its users, x being the visits of a user."""
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

    def _per_location(self, values: NDArray[Any]) -> NDArray[Any]:
        """Rows added up by location; 0 for a location without rows."""
        sums = np.zeros(len(self), dtype=values.dtype)
        starts = np.flatnonzero(np.diff(self.index, prepend=-1))
        if len(starts):
            sums[self.index[starts]] = np.add.reduceat(values, starts)
        return sums

    def __add__(self, other: VisitProfile) -> VisitProfile:
        """The profile of two groups of users together; no user may be in both."""
        return VisitProfile.total([self, other])

    @classmethod
    def total(cls, profiles: Iterable[VisitProfile]) -> VisitProfile:
        """The profile of several groups of users together; no user may be in two of them.

        Takes them one by one, and adds up only when as much is waiting as is already added up, so that many small
        profiles do not each cost a pass over the sum.
        """
        waiting: list[VisitProfile] = []
        for profile in profiles:
            waiting.append(profile)
            if sum(len(each.index) for each in waiting[1:]) > len(waiting[0].index):
                waiting = [_added(waiting)]
        if not waiting:
            raise ParameterError("profiles must hold at least one profile.")
        return _added(waiting)

    def equals(self, other: VisitProfile) -> bool:
        """Whether both have the same locations in the same order, with the same integers."""
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


def _added(profiles: list[VisitProfile]) -> VisitProfile:
    first = profiles[0]
    if any(each.bounds != first.bounds for each in profiles):
        raise ParameterError("Profiles under different bounds cannot be added.")
    if all(each.locations.equals(first.locations) for each in profiles):
        locations, indexes = first.locations, [each.index for each in profiles]
    else:
        locations = _sorted_distinct([each.locations for each in profiles])
        indexes = [_positions(each.locations, locations)[each.index] for each in profiles]
    return VisitProfile.from_rows(
        locations,
        np.concatenate(indexes),
        np.concatenate([each.visits for each in profiles]),
        np.concatenate([each.users for each in profiles]),
        first.bounds,
    )


def _sorted_distinct(ids: list[pa.Array]) -> pa.Array:
    if len({each.type for each in ids}) > 1:
        raise ParameterError("Profiles with whole numbers and with texts as location ids cannot be added.")
    distinct = pc.unique(pa.concat_arrays(ids))
    return distinct.take(pc.sort_indices(distinct))


def _positions(ids: pa.Array, within: pa.Array) -> Integers:
    positions: Integers = pc.index_in(ids, value_set=within).to_numpy(zero_copy_only=False).astype(np.int64)
    return positions
