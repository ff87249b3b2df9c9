"""The share profile: one unit of presence for each user, divided among the user's locations, in integers.

A user with m locations has the share min(largest, ⌊unit/m⌋) at each of them. It depends on the user's own rows only,
and the shares of one user add up to at most `unit`. So adding or removing one user changes `look` and each of the two
histograms by at most `unit` in ℓ₁, and `moments(table)` by at most `unit` times the largest ℓ₁ norm of a row of the
table. No user is truncated.

Ranges: no sum of shares exceeds unit · users, so with unit = 2^20 they fit 64 bits for 2^43 users. Sums weighted by a
table are at most unit · users · the largest entry of the table: at 2^20 · 2^16 they fit for 2^27 users at one location.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from locentropy.core.checks import check_whole, positive_integer
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Histogram = tuple[Integers, Integers]

_CALL = "queries.shares(unit=2**20, largest=2**20, max_visits=50)"
_INT64 = np.iinfo(np.int64)


def check_shares(unit: int, largest: int, max_visits: int) -> None:
    """Raise ParameterError unless these are valid arguments of `Queries.shares`."""
    positive_integer("unit", unit, _CALL)
    check_whole(_CALL, "largest", largest, 1, int(unit))
    positive_integer("max_visits", max_visits, _CALL)


def share(locations: Integers, unit: int, largest: int) -> Integers:
    """The share of users with so many locations at each of them; rounded down, so that the sum is at most `unit`."""
    shares: Integers = np.minimum(np.int64(largest), np.int64(unit) // locations)
    return shares


@dataclass(frozen=True, eq=False)
class ShareProfile:
    """The presence at each location by visits, and all presence by size of share and by visits.

    A row means: at location `locations[index]`, the users with `visits` visits each have `shares` together. Rows are
    sorted by (index, visits) without repeats, so equal data gives equal arrays, bit by bit, on any engine.
    Private: exact sums. Only a mechanism may turn them into something to publish; the repr shows none.
    """

    locations: pa.Array
    """Every location, once each, visited or not."""

    unit: int
    """Q: the whole presence of a user."""

    largest: int
    """⌊Q/M⌋: the most of it that a user has at one location."""

    max_visits: int
    """C: in `visits`, numbers above C count as C; `by_visits` is not clipped."""

    index: Integers
    """The location of each row, as a position in `locations`."""

    visits: Integers
    """Visits per user, in 1..C."""

    shares: Integers
    """The sum of the shares of the users with that many visits."""

    by_share: Histogram
    """Every size of share that occurs, ascending, and the sum of all shares of this size."""

    by_visits: Histogram
    """Every number of visits that occurs, unclipped and ascending, and the sum of all shares with so many visits."""

    @classmethod
    def from_rows(
        cls,
        locations: pa.Array,
        asked: tuple[int, int, int],
        rows: tuple[Integers, Integers, Integers],
        by_share: Histogram,
        by_visits: Histogram,
    ) -> ShareProfile:
        """A profile for `asked` = (unit, largest, max_visits) from rows (index, visits, shares) in any order.

        Rows, and entries of the histograms, with the same keys are added up.
        """
        check_shares(*asked)
        unit, largest, max_visits = map(int, asked)
        index, visits, shares = rows
        if not (
            _within(index, 0, len(locations) - 1)
            and _within(visits, 1, max_visits)
            and _within(by_share[0], 0, largest)
            and _within(by_visits[0], 1, _INT64.max)
            and all(_within(totals, 0, _INT64.max) for totals in (shares, by_share[1], by_visits[1]))
        ):
            raise ParameterError(
                "A share profile has rows (location, visits in 1..C, shares ≥ 0) of its locations, and histograms by "
                "share (0..largest) and by visits (≥ 1)."
            )
        if not shares.sum() == by_share[1].sum() == by_visits[1].sum():
            raise ParameterError(
                "A share profile holds the same presence by location, by share and by visits."
            )
        # One number per row sorts much faster than two, and fits 64 bits: both factors are below 2^31.
        span = max_visits + 1
        keys, shares = _added_up(index * span + visits, shares)
        index, visits = np.divmod(keys, span)
        asked_for = (unit, largest, max_visits)
        return cls(locations, *asked_for, index, visits, shares, _added_up(*by_share), _added_up(*by_visits))

    def __len__(self) -> int:
        """The number of locations."""
        return len(self.locations)

    def __repr__(self) -> str:
        """The number of locations, and no sum of presence."""
        return f"<ShareProfile of {len(self):,} locations (private)>"

    @cached_property
    def look(self) -> Integers:
        """The presence at each location."""
        return self._per_location(self.shares)

    def moments(self, table: ArrayLike) -> Integers:
        """For each location, the sum of share · table[visits − 1] over its users: one row of two integers.

        The table has one row of two integers for each of 1..C visits. A sum beyond 64 bits is clipped to the nearest
        integer that fits, which brings neighbours no further apart; it never wraps around.
        """
        weights = np.asarray(table)
        if weights.shape != (self.max_visits, 2) or weights.dtype.kind != "i":
            raise ParameterError(
                f"A table of moments has {self.max_visits} rows of two integers, one row for each number of visits."
            )
        # Python's integers do not overflow; no partial sum exceeds this either.
        most = int(self.look.max(initial=0)) * max(abs(int(weights.max())), abs(int(weights.min())))
        exact: Any = np.int64 if most <= _INT64.max else object
        shares = self.shares.astype(exact)
        columns = [self._per_location(shares * column[self.visits - 1]) for column in weights.astype(exact).T]
        sums: Integers = np.clip(np.stack(columns, axis=1), _INT64.min, _INT64.max).astype(np.int64)
        return sums

    def presence_by_share(self, thresholds: ArrayLike) -> Integers:
        """All presence in cells by the size of a share; see `presence_by_visits` for the cells."""
        return _in_cells(self.by_share, thresholds)

    def presence_by_visits(self, thresholds: ArrayLike) -> Integers:
        """All presence in cells by visits: k ascending thresholds make k + 1 cells, open at both ends.

        Cell 0 is below the first threshold; cell j is from threshold j − 1 up to, but without, threshold j; the last
        cell is from the last threshold. So every row is in exactly one cell, whatever the thresholds.
        """
        return _in_cells(self.by_visits, thresholds)

    def equals(self, other: ShareProfile) -> bool:
        """Whether both have the same parameters and locations in the same order, with the same integers."""
        mine, theirs = (
            (each.index, each.visits, each.shares, *each.by_share, *each.by_visits) for each in (self, other)
        )
        return (
            self.locations.equals(other.locations)
            and (self.unit, self.largest, self.max_visits) == (other.unit, other.largest, other.max_visits)
            and all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
        )

    def _per_location(self, values: NDArray[Any]) -> NDArray[Any]:
        """Rows added up by location; 0 for a location without rows."""
        sums = np.zeros(len(self), dtype=values.dtype)
        starts = np.flatnonzero(np.diff(self.index, prepend=-1))
        if len(starts):
            sums[self.index[starts]] = np.add.reduceat(values, starts)
        return sums


def _within(values: Integers, low: int, high: int) -> bool:
    return len(values) == 0 or bool(values.min() >= low and values.max() <= high)


def _added_up(keys: Integers, totals: Integers) -> Histogram:
    """Totals by key, with the keys ascending and without repeats."""
    if len(keys) == 0:
        return keys, totals
    order = np.argsort(keys, kind="stable")
    keys, totals = keys[order], totals[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    return keys[starts], np.add.reduceat(totals, starts)


def _in_cells(histogram: Histogram, thresholds: ArrayLike) -> Integers:
    """Totals by cell, as integers: `np.bincount` would use floats."""
    values, totals = histogram
    edges = np.asarray(thresholds)
    if edges.ndim != 1 or edges.dtype.kind != "i" or (edges[1:] <= edges[:-1]).any():
        raise ParameterError("Thresholds must be integers in ascending order. For example: [2, 3, 5, 9]")
    sums = np.zeros(len(edges) + 1, dtype=np.int64)
    np.add.at(sums, np.searchsorted(edges, values, side="right"), totals)
    return sums
