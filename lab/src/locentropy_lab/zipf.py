"""Sparse and Dense, the synthetic data of To, Nguyen and Shahabi (SIGSPATIAL 2016).

H. To, K. Nguyen, C. Shahabi: "Differentially private publication of location entropy" draws 100,000
(Sparse) and 10,000,000 (Dense) users over 10,000 locations. Its text lets a location pick its users with
probability 1/y for the user of rank y. Its Table 2 is that of another generator, the one built here:

- a user visits m distinct locations, m ~ Zipf(1) on 1..100;
- each is drawn by Zipf(1) on 1..10,000, and drawn again when the user already has it;
- each (user, location) pair has a number of visits, Zipf(1) on 1..1000.

For Sparse this gives entropies (in nats) of at most 9.93, 3.19 on average with variance 1.01, and at least
about 1.19; 19.28 locations per user, 192.9 users per location and about 2576 visits per user, which Table 2
lists as "visits to a loc. per user". The location's number is its rank: 1 is the most popular.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.files import atomic_write
from locentropy.datasets.random_stream import MAX_SEED, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    import numpy.typing as npt

USERS_PER_CHUNK = 100_000
"""Part of the definition of the data: each chunk has its own random stream."""

SCHEMA = pa.schema([("user", pa.int64()), ("location", pa.int64()), ("visits", pa.int64())])


@dataclass(frozen=True)
class ZipfVisits:
    """Visit counts of users at locations, where every number follows Zipf's law with exponent 1.

    `ZipfVisits.sparse()` and `ZipfVisits.dense()` are the paper's two sets. Equal parameters give equal
    data.
    """

    users: int
    """How many users (N); they are numbered 1..users."""
    locations: int = 10_000
    """How many locations; they are numbered 1..locations, the most popular first."""
    max_places: int = 100
    """The most distinct locations a user may have. Close to `locations`, redrawing repeats takes long."""
    max_visits: int = 1000
    """The most visits a user may pay to one location."""
    seed: int = 0
    """The random seed."""

    def __post_init__(self) -> None:
        call = "ZipfVisits(users=100_000, locations=10_000, max_places=100, max_visits=1000, seed=0)"
        check_whole(call, "users", self.users, 1, 10**9)
        check_whole(call, "locations", self.locations, 1, 10**6)
        check_whole(call, "max_places", self.max_places, 1, min(1000, self.locations))
        check_whole(call, "max_visits", self.max_visits, 1, 10**6)
        check_whole(call, "seed", self.seed, 0, MAX_SEED)

    @classmethod
    def sparse(cls, seed: int = 0) -> Self:
        """The paper's Sparse: 100,000 users, about 1.9 million rows."""
        return cls(users=100_000, seed=seed)

    @classmethod
    def dense(cls, seed: int = 0, users: int = 10_000_000) -> Self:
        """The paper's Dense: 10,000,000 users, about 193 million rows; better taken in chunks."""
        return cls(users=users, seed=seed)

    def chunks(self) -> Iterator[pa.Table]:
        """The data in order of users, USERS_PER_CHUNK of them at a time, each user wholly in one table.

        Columns `user`, `location`, `visits`, all int64; one row per user and location.
        """
        places, counts = _Zipf(self.max_places), _Zipf(self.max_visits)
        locations = _Zipf(self.locations)
        for index, first in enumerate(range(0, self.users, USERS_PER_CHUNK)):
            random = stream(self.seed, index)
            places_of = places.draw(random, min(USERS_PER_CHUNK, self.users - first))
            location = _draw_distinct_per_user(random, locations, places_of)
            user = np.repeat(np.arange(first + 1, first + 1 + len(places_of), dtype=np.int64), places_of)
            visits = counts.draw(random, len(location)).astype(np.int64)
            yield pa.table([user, location.astype(np.int64), visits], schema=SCHEMA)

    def table(self) -> pa.Table:
        """All chunks in one table: right for Sparse, 4.6 GB for Dense."""
        return pa.concat_tables(self.chunks())

    def write(self, path: str | PathLike[str], progress: Callable[[float], object] | None = None) -> None:
        """Write the data to a Parquet file, chunk by chunk; the file appears when it is complete.

        A file of that name is replaced. `progress` is called with the fraction done after each chunk.
        """
        target = Path(path)
        if not target.parent.is_dir() or target.is_dir():
            raise ParameterError(
                f"path={str(path)!r}: expected a file name in a folder that exists. "
                "For example: ZipfVisits.sparse().write('sparse.parquet')"
            )
        with atomic_write(target) as [part], pq.ParquetWriter(part, SCHEMA) as writer:
            for index, chunk in enumerate(self.chunks(), start=1):
                writer.write_table(chunk)
                if progress is not None:
                    progress(min(1.0, index * USERS_PER_CHUNK / self.users))


class _Zipf:
    """Zipf's law with exponent 1 on 1..size, drawn by inverting its distribution function."""

    def __init__(self, size: int) -> None:
        cumulative = np.cumsum(1.0 / np.arange(1, size + 1))
        self._cumulative = cumulative / cumulative[-1]
        # The interval [0, 1) is cut into equal cells, a power of two of them so that finding the cell of
        # a number is exact. Where a whole cell belongs to one value the table answers at once; 0 stands
        # for the few cells that hold a step, where the distribution function itself is searched.
        self._cells = 1 << min(20, (16 * size).bit_length())
        edges = self._invert(np.arange(self._cells + 1) / self._cells)
        self._value_of_cell = np.where(edges[:-1] == edges[1:], edges[:-1], 0).astype(np.int32)

    def draw(self, random: np.random.Generator, count: int) -> npt.NDArray[np.int32]:
        """`count` independent values."""
        uniform = random.random(count)
        values = self._value_of_cell[(uniform * self._cells).astype(np.int32)]
        unsure = np.flatnonzero(values == 0)
        values[unsure] = self._invert(uniform[unsure])
        return values

    def _invert(self, uniform: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        return np.searchsorted(self._cumulative, uniform, side="right") + 1


def _draw_distinct_per_user(
    random: np.random.Generator, law: _Zipf, places_of: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Distinct locations for every user, user after user, in the order in which the user drew them."""
    ends = np.cumsum(places_of, dtype=np.int64)
    location = np.empty(ends[-1], dtype=np.int32)
    # Users with equally many places form one matrix, so that NumPy works on all of them at once.
    users = np.argsort(places_of, kind="stable")
    sizes = places_of[users]
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(sizes)) + 1, [len(sizes)]])
    for start, stop in pairwise(bounds.tolist()):
        size, group = int(sizes[start]), users[start:stop]
        rows = (ends[group] - size)[:, None] + np.arange(size)
        location[rows] = _draw_distinct(random, law, len(group), size)
    return location


def _draw_distinct(random: np.random.Generator, law: _Zipf, users: int, size: int) -> npt.NDArray[np.int32]:
    """A (users, size) matrix whose rows are drawn one position after the other, repeats drawn again.

    All positions are drawn at once, and of equal values in a row all but the one at the lowest position
    are drawn again until none are left. This is the same as filling the positions in order, draw for draw:
    give each position its own endless stream of draws. In order, a position takes the first draw that no
    earlier position ends up with. Here a position passes over a value only when an earlier one holds it;
    of the holders of a value the earliest keeps it, so it can only move to still earlier positions, and
    in the end an earlier position does hold it. No draw is passed over that the other way would take.
    """
    held = law.draw(random, users * size).reshape(users, size)
    shift = size.bit_length()
    position = np.arange(size, dtype=np.int32)
    unsettled = np.arange(users)
    while len(unsettled):
        # Value and position share one int32 (20 and 10 bits at most): one sort orders by both.
        keys = np.sort((held[unsettled] << shift) | position, axis=1)
        values = keys >> shift
        repeated = values[:, 1:] == values[:, :-1]
        row, before = np.nonzero(repeated)
        again = keys[row, before + 1] & ((1 << shift) - 1)
        held[unsettled[row], again] = law.draw(random, len(row))
        unsettled = unsettled[np.unique(row)]
    return held
