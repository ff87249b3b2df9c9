"""Runs: visits in the order of user and location, where every pair of the two is a run of rows.

Claim: of rows in this order, the pairs are those of `expressions.pairs`, and each has two numbers of its user: at how
many locations the user was, and at how many of them once. Rows in another order are refused.

Why: a pair's rows follow one another, and so do a user's pairs, so each is known when the next one begins. What is read
so far of a user waits for the rest, as pairs: one for each location at most, however many visits.

From these two numbers `expressions.spread_by_once` has what spreading a user's unit needs, where weights tell one visit
from more and no further. Engines sort whole numbers in half the time in which they group them, spill what they sort,
and pass over the rows once where grouping takes three passes: by pair, by user, and to join the two.
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


class CountedPairs(NamedTuple):
    """The visits of each user at each location."""

    pairs: ibis.Table
    """User, code, visits and, where it was asked for, the first time."""
    runs: ibis.Table | None = None
    """The same pairs with what each user's add up to, where they were read off runs."""


def count_pairs(engine: Engine, there: ibis.Table, windows: int = 1, *, name: str = "pairs") -> CountedPairs:
    """Count rows that have a code, and store the pairs: off runs where users are numbers and every row is one visit."""
    doing, embedded = "Counting visits", engine.embedded
    if embedded is not None and there.user.type().is_integer() and not {"visits", "time"} & {*there.columns}:
        runs = embedded.materialize_runs(name, expression.rows_in_order(there, windows), doing)
        return CountedPairs(runs.select("user", "code", "visits"), runs)
    return CountedPairs(engine.materialize(name, expression.pairs(there, windows), doing))


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
    waiting = _Pairs(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
    for batch in batches:
        pairs = waiting.before(_Pairs.of(batch))
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
