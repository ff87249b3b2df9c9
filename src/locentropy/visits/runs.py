"""Runs: visits in the order of user and location, where every pair of the two is a run of rows.

Claim: of rows in this order, the pairs are those of `expressions.pairs`, and each has two numbers of its user: at how
many locations the user was, and at how many of them once. Rows in another order are refused.

Why: a pair's rows follow one another, and so do a user's pairs, so each is known when the next one begins. What is read
so far of a user waits for the rest, as pairs: one for each location at most, however many visits.

From these two numbers `expressions.spread_by_once` has what spreading a user's unit needs, where weights tell one visit
from more and no further. Engines sort whole numbers in half the time in which they group them, spill what they sort,
and pass over the rows once where grouping takes three passes: by pair, by user, and to join the two.

A user and a location are packed into one whole number where they fit into 64 bits (`Packing`). NumPy sorts those in
memory several times faster than an engine does; the engine sorts rows that are too many for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from locentropy.core.errors import EngineError
from locentropy.visits import expressions as expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import ibis
    from numpy.typing import NDArray

    from locentropy.visits.engines.base import Engine

    Integers = NDArray[np.int64]

SCHEMA: Final = pa.schema(
    {
        "user": pa.int64(),
        "code": pa.int32(),
        "visits": pa.int64(),
        "locations": pa.int32(),
        "once": pa.int32(),
    }
)
"""Of the pairs: a user has fewer than 2^31 locations, since these have codes of 32 bits."""

_PART: Final = 1 << 18
"""Sorted rows at a time: few enough for the processor's cache."""


class Packing(NamedTuple):
    """How a user, who is a whole number, and a code become one whole number, the key of a row.

    No two have the same key, whatever users there are: keys that do not fit into 64 bits, which a packing for other
    users could make, are an error in the engine. It holds nothing but public numbers.
    """

    bits: int
    """Of a code;"""
    below: int
    """codes begin at minus this."""

    @classmethod
    def of(cls, codes: int, windows: int = 1) -> Packing:
        """For so many codes, perhaps in each of several windows, and for -1 in each."""
        below = max(windows, 1)
        return cls(((codes + 1) * below - 1).bit_length(), below)

    @property
    def bits_of_users(self) -> int:
        """How many bits are left for users, besides a sign."""
        return 63 - self.bits

    def fits(self, extent: Extent) -> bool:
        """Whether every user has a key."""
        most: int = 2**self.bits_of_users
        return -most <= extent.lowest and extent.highest < most

    def pack(self, user: Any, code: Any) -> Any:
        """The key of each row, in the engine."""
        return user.cast("int64") * 2**self.bits + (code.cast("int64") + self.below)

    def unpack(self, keys: Integers) -> tuple[Integers, NDArray[np.int32]]:
        """The user and the code of each key."""
        codes = (keys & ((1 << self.bits) - 1)) - self.below
        return keys >> self.bits, codes.astype(np.int32)


class Extent(NamedTuple):
    """What is known of rows before they are read."""

    lowest: int
    highest: int
    """The users lie between these."""
    rows: int | None
    """There are at most so many; None if that is not known."""

    @classmethod
    def of(cls, visits: ibis.Table, engine: Engine) -> Extent:
        """Of visits whose users are numbers."""
        user = visits.user.cast("int64")
        found = visits.aggregate(lowest=user.min(), highest=user.max(), rows=visits.count())
        row = engine.run(found, "Checking").to_pylist()[0]
        return cls(row["lowest"] or 0, row["highest"] or 0, row["rows"])


class CountedPairs(NamedTuple):
    """The visits of each user at each location."""

    pairs: ibis.Table
    """User, code, visits and, where it was asked for, the first time."""
    runs: ibis.Table | None = None
    """The same pairs with what each user's add up to, where they were read off runs."""


def count_pairs(
    engine: Engine,
    there: ibis.Table,
    codes: int,
    windows: int = 1,
    *,
    name: str = "pairs",
    extent: Extent | None = None,
) -> CountedPairs:
    """Count rows that have a code, and store the pairs: off runs where users are numbers and every row is one visit.

    There are `codes` codes, perhaps in each of several windows, and perhaps -1 for whatever else there is. None stands
    for the extent of the engine's visits.
    """
    doing, embedded = "Counting visits", engine.embedded
    if embedded is None or not there.user.type().is_integer() or {"visits", "time"} & {*there.columns}:
        return CountedPairs(engine.materialize(name, expression.pairs(there, windows), doing))
    extent = extent or Extent.of(engine.visits, engine)
    packing = Packing.of(codes, windows)
    packed = packing if packing.fits(extent) else None
    runs = embedded.materialize_runs(name, expression.coded_rows(there, windows), packed, extent.rows, doing)
    return CountedPairs(runs.select("user", "code", "visits"), runs)


class _Pairs(NamedTuple):
    """Pairs of users and locations, in their order."""

    user: Integers
    code: NDArray[np.int32]
    visits: Integers

    @classmethod
    def of(cls, rows: pa.RecordBatch) -> _Pairs:
        """The runs of one batch of rows."""
        user, code = rows.column("user").to_numpy(), rows.column("code").to_numpy()
        starts = _starts(user, code)
        return cls(user[starts], code[starts], np.diff(starts, append=user.size))

    @classmethod
    def of_keys(cls, keys: Integers, packing: Packing) -> _Pairs:
        """The runs of one part of the keys."""
        starts = _starts(keys)
        return cls(*packing.unpack(keys[starts]), np.diff(starts, append=keys.size))

    def before(self, later: _Pairs) -> _Pairs:
        """These and later ones; the last of these may go on in the first of the later."""
        ends, goes_on = self.at(slice(-1, None)), later.at(slice(1))
        mine = self
        if np.array_equal(ends.user, goes_on.user) and np.array_equal(ends.code, goes_on.code):
            mine, goes_on.visits[:] = self.at(slice(-1)), goes_on.visits + ends.visits
        return _Pairs(
            np.concatenate([mine.user, later.user]),
            np.concatenate([mine.code, later.code]),
            np.concatenate([mine.visits, later.visits]),
        )

    def at(self, part: slice) -> _Pairs:
        """A part of them."""
        return _Pairs(self.user[part], self.code[part], self.visits[part])

    def check_order(self) -> None:
        """Raise EngineError unless every pair is above the one before: a user in two places would count as two."""
        above = self.user[1:] > self.user[:-1]
        above |= (self.user[1:] == self.user[:-1]) & (self.code[1:] > self.code[:-1])
        if not above.all():
            raise EngineError(
                "The engine answered with rows in another order than the one that was asked for."
            )

    def split(self) -> tuple[_Pairs, _Pairs]:
        """Those of all users but the last, of whom more rows may come; and the last user's."""
        at = int(np.searchsorted(self.user, self.user[-1])) if self.user.size else 0
        return self.at(slice(at)), self.at(slice(at, None))

    def with_sums(self) -> pa.RecordBatch:
        """As rows, each with what its user's pairs add up to. All pairs of every user are here."""
        starts = _starts(self.user)
        locations = np.diff(starts, append=self.user.size).astype(np.int32)
        once = np.add.reduceat(self.visits == 1, starts, dtype=np.int32)
        sums = (np.repeat(each, locations) for each in (locations, once))
        return pa.record_batch([pa.array(each) for each in (*self, *sums)], schema=SCHEMA)


def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pairs of rows (user, code) that come in the order of these two, with what each user's add up to."""
    return _with_sums(map(_Pairs.of, batches))


def counted_keys(
    batches: Iterable[pa.RecordBatch], packing: Packing, most: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The same of keys that come in order; or in any order, where it is said how many come at most."""
    parts = (
        (batch.column("key").to_numpy() for batch in batches) if most is None else _in_order(batches, most)
    )
    return _with_sums(_Pairs.of_keys(keys, packing) for keys in parts)


def _in_order(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[Integers]:
    """At most so many keys, in any order, sorted in memory and cut into parts."""
    keys, rows = np.empty(most, np.int64), 0
    for batch in batches:
        if rows + len(batch) > most:
            raise EngineError("The engine answered with more rows than there were. Did the table change?")
        keys[rows : rows + len(batch)] = batch.column("key").to_numpy()
        rows += len(batch)
    keys.resize(rows, refcheck=False)
    # The last part is taken first, so that the memory of parts that were taken can be given back meanwhile.
    np.invert(keys, out=keys)
    keys.sort()
    while keys.size:
        first = max(keys.size - _PART, 0)
        part = np.invert(keys[first:][::-1])
        keys.resize(first, refcheck=False)
        yield part


def _with_sums(runs: Iterable[_Pairs]) -> Iterator[pa.RecordBatch]:
    """Pairs in their order, of which the last may go on in the next part, with what each user's add up to."""
    waiting = _Pairs(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
    for later in runs:
        pairs = waiting.before(later)
        pairs.check_order()
        whole, waiting = pairs.split()
        yield whole.with_sums()
    yield waiting.with_sums()


def _starts(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """Where runs of equal values begin; of several columns, of values that are equal in each."""
    begins = np.zeros(columns[0].size, dtype=np.bool_)
    begins[:1] = True
    for each in columns:
        begins[1:] |= each[1:] != each[:-1]
    return np.flatnonzero(begins)
