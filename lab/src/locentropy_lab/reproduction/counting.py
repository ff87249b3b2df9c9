"""One pass over a data set, in chunks of users, that counts all that the experiments need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.core.visit_profile import VisitProfile
from locentropy.mechanisms.shares.measurements import SPLIT_MAX_VISITS, UNIT, ShareQueries
from locentropy.visits.queries import open_queries
from locentropy_lab.reproduction.counted import Counted
from locentropy_lab.reproduction.share_sums import total_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.queries import Queries
    from locentropy.core.share_profile import ShareProfile
    from locentropy.visits.visits import Visits
    from locentropy_lab.reproduction.settings import Settings

    Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Some of the users, each wholly within it."""

    visits: Visits
    most_visits_of_a_user: int


class _Tally:
    """Users by location and visits, as a table that chunks are added to: cheaper than merging sorted rows."""

    def __init__(self, locations: int) -> None:
        self._counts = np.zeros((locations, 1), dtype=np.int64)

    def add(self, profile: VisitProfile) -> None:
        wider = int(profile.visits.max(initial=0)) + 1 - self._counts.shape[1]
        if wider > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, wider)))
        self._counts[profile.index, profile.visits] += profile.users  # rows are without repeats

    def profile(self, locations: pa.Array, bounds: Bounds | None) -> VisitProfile:
        index, visits = np.nonzero(self._counts)
        return VisitProfile(locations, index, visits, self._counts[index, visits], bounds)


@dataclass
class _Sums:
    """What is added up over the chunks."""

    locations: int
    exact: _Tally = field(init=False)
    bounded: dict[Bounds, _Tally] = field(default_factory=dict)
    shares: dict[int, ShareProfile] = field(default_factory=dict)
    places: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    largest: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    most: int = 0

    def __post_init__(self) -> None:
        self.exact = _Tally(self.locations)

    def add(self, queries: Queries, bounds: list[Bounds], largest_shares: Iterable[int]) -> None:
        """One chunk more."""
        self.exact.add(queries.exact_profile())
        for each, profile in zip(bounds, queries.profiles(bounds), strict=True):
            self.bounded.setdefault(each, _Tally(self.locations)).add(profile)
        for largest in largest_shares:
            new = queries.shares(UNIT, largest, SPLIT_MAX_VISITS)
            held = self.shares.get(largest)
            self.shares[largest] = new if held is None else total_shares([held, new])
        self.places = _added(self.places, queries.locations_per_user())
        visits, users = queries.largest_visits_per_user()
        spread = np.zeros(int(visits.max(initial=0)) + 1, dtype=np.int64)
        spread[visits] = users
        self.largest = _added(self.largest, spread)


def count(
    name: str,
    chunks: Iterable[Chunk],
    ids: Integers,
    settings: Settings,
    release_keep: Keep,
    counted_one: Callable[[], None] = lambda: None,
) -> Counted:
    """Count a data set whose users come in chunks; `counted_one` is called after each."""
    rules: tuple[Keep, ...] = ("lowest-id", release_keep)
    bounds = [Bounds(most, settings.most_visits, keep) for keep in rules for most in settings.all_m]
    largest_shares = sorted(
        {ShareQueries(epsilon).largest for epsilon in (*settings.epsilons, settings.epsilon)}
    )
    locations = pa.array(ids)
    sums = _Sums(len(ids))
    for chunk in chunks:
        with open_queries(chunk.visits, locations=locations) as queries:
            sums.add(queries, bounds, largest_shares)
        sums.most = max(sums.most, chunk.most_visits_of_a_user)
        counted_one()
    exact = sums.exact.profile(locations, None)
    bounded = {
        (str(each.keep), each.max_locations): tally.profile(locations, each)
        for each, tally in sums.bounded.items()
    }
    at = np.flatnonzero(sums.largest)
    return Counted(
        name, int(sums.places.sum()), ids, exact.entropy, exact.user_counts, exact.visit_counts,
        (at, sums.largest[at]), sums.places, sums.most, release_keep, bounded, sums.shares,
    )  # fmt: skip


def _added(a: Integers, b: Integers) -> Integers:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    both = longer.copy()
    both[: len(shorter)] += shorter
    return both
