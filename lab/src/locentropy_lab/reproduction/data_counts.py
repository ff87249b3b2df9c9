"""What is counted of a data set, in one pass over chunks of users: all that the experiments need.

A profile with visits told apart up to C holds the profiles for every smaller C: clipping visits in the engine and
clipping them here is the same. So one profile for each M, at the largest C, is the whole grid of (M, C).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.core.shares import ShareRule
from locentropy.core.visit_profile import VisitProfile
from locentropy.mechanisms.shares.measurements import UNIT, ShareQueries
from locentropy.visits.queries import open_queries
from locentropy_lab.reproduction.share_counts import Returning, ShareCounts, look_rule, some_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.queries import Queries
    from locentropy.visits.visits import Visits
    from locentropy_lab.reproduction.settings import Settings

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

FirstM = Literal["paper", "release"]
"""Whose "first M locations": the paper's experiments' (lowest ids, which on Sparse and Dense are the most popular), or
those that a release of this data would keep."""


@dataclass(frozen=True, eq=False)
class DataCounts:
    """A data set as the experiments see it; answers the queries of mechanisms. Exact, so private if the data is."""

    name: str
    users: int
    """N."""
    ids: Integers
    """The locations."""
    entropy: Reals
    """The true entropy of each, in nats."""
    user_counts: Integers
    """Its users."""
    visit_counts: Integers
    """Its visits."""
    largest_visits: tuple[Integers, Integers]
    """Users by their most visits to one location."""
    users_by_places: Integers
    """How many users were in exactly 0, 1, 2, … locations."""
    most_visits_of_a_user: int
    """The most visits of one user, wherever they were made."""
    release_keep: Keep
    """What a release of this data would keep: the first visited where there are times, else the most visited."""
    bounded: dict[tuple[str, int], VisitProfile]
    """For each rule and M, the profile with visits up to the largest C."""
    shares: dict[int, ShareCounts]
    """What Shares asks, by the largest share."""
    returning: Returning
    """Who returned where."""
    _profiles: dict[Bounds, VisitProfile] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        """The number of locations."""
        return len(self.ids)

    @property
    def locations(self) -> pa.Array:
        """The locations, as mechanisms name them."""
        return pa.array(self.ids)

    @property
    def listed(self) -> Locations:
        """The locations as a public list, which the paper takes them for."""
        return Locations(self.locations)

    def keep(self, first_m: FirstM) -> Keep:
        """Which locations are kept under this rule."""
        return "lowest-id" if first_m == "paper" else self.release_keep

    def profile(self, bounds: Bounds) -> VisitProfile:
        """The profile under bounds of the grid."""
        if bounds not in self._profiles:
            held = self.bounded.get((str(bounds.keep), bounds.max_locations))
            if held is None or held.bounds is None or held.bounds.max_visits < bounds.max_visits:
                raise ParameterError(f"{bounds} is beyond what was counted of {self.name}.")
            visits = np.minimum(held.visits, bounds.max_visits)
            self._profiles[bounds] = VisitProfile.from_rows(
                held.locations, held.index, visits, held.users, bounds
            )
        return self._profiles[bounds]

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """The profiles under several bounds."""
        return [self.profile(each) for each in bounds]

    def look(self, rule: ShareRule) -> Integers:
        """The presence at each place, if it was counted."""
        if rule != look_rule(rule.largest):
            raise ParameterError(f"{rule.norm} shares by other weights were not counted of {self.name}.")
        return self._counted(rule).look

    def presence(
        self, rule: ShareRule, bands: Integers, places: Sequence[int], visits: Sequence[int]
    ) -> Integers:
        """All presence in cells, if shares were counted."""
        if rule != ShareRule(UNIT, rule.largest):
            raise ParameterError(f"Shares that are not equal were not counted in cells of {self.name}.")
        return self._counted(rule).presence(bands, places, visits)

    def _counted(self, rule: ShareRule) -> ShareCounts:
        if rule.largest not in self.shares:
            raise ParameterError(f"Shares of at most {rule.largest} were not counted of {self.name}.")
        return self.shares[rule.largest]

    def exact_profile(self) -> NoReturn:
        """Not supported: no mechanism asks for it."""
        raise ParameterError(f"The exact profile of {self.name} is not kept; its entropies are.")

    def restricted_to(self, locations: Locations) -> Queries:
        """The split of some of the places, which is all that can be asked about them."""
        return cast("Queries", some_places(self.locations, locations, self.returning))

    def largest_visits_per_user(self) -> tuple[Integers, Integers]:
        """Users by their most visits to one location."""
        return self.largest_visits

    def locations_per_user(self) -> Integers:
        """How many users were in exactly 0, 1, 2, … locations."""
        return self.users_by_places

    def forget_profiles(self) -> None:
        """Free the memory of cached profiles."""
        self._profiles.clear()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as named arrays, for a file."""
        visits, users = self.largest_visits
        named: dict[str, NDArray[Any]] = {
            "about": np.array([self.name, self.release_keep]),
            "numbers": np.array([self.users, self.most_visits_of_a_user]),
            "ids": self.ids, "entropy": self.entropy, "user_counts": self.user_counts,
            "visit_counts": self.visit_counts, "users_by_places": self.users_by_places,
            "largest_visits": np.stack([visits, users]),
        }  # fmt: skip
        for (keep, most), profile in self.bounded.items():
            assert profile.bounds is not None  # noqa: S101  # made by `counting`
            rows = np.stack([profile.index, profile.visits, profile.users])
            named[f"bounded {keep} {most} {profile.bounds.max_visits}"] = rows
        for largest, held in self.shares.items():
            named[f"look {largest}"] = held.look
            named[f"cells {largest}"] = held.cells
            named[f"thresholds {largest}"] = np.array(held.size_thresholds)
        named["returning"] = np.stack([self.returning.user, self.returning.place])
        return named

    @classmethod
    def from_arrays(cls, named: dict[str, NDArray[Any]]) -> DataCounts:
        """Return what `arrays` was made of."""
        ids = named["ids"]
        locations = pa.array(ids)
        bounded, shares = {}, {}
        for key, rows in named.items():
            kind, *words = key.split(" ")
            if kind == "bounded":
                keep: Any = words[0]
                bounds = Bounds(int(words[1]), int(words[2]), keep)
                bounded[keep, bounds.max_locations] = VisitProfile.from_rows(
                    locations, rows[0], rows[1], rows[2], bounds
                )
            elif kind == "look":
                thresholds = tuple(named[f"thresholds {words[0]}"].tolist())
                cells = named[f"cells {words[0]}"]
                shares[int(words[0])] = ShareCounts(rows, thresholds, cells, int(words[0]))
        name, release_keep = named["about"].tolist()
        users, most_visits = named["numbers"].tolist()
        return cls(
            name, users, ids, named["entropy"], named["user_counts"], named["visit_counts"],
            (named["largest_visits"][0], named["largest_visits"][1]), named["users_by_places"], most_visits,
            release_keep, bounded, shares, Returning(*named["returning"]),
        )  # fmt: skip


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
    shares: dict[int, ShareCounts] = field(default_factory=dict)
    returning: Returning | None = None
    places: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    largest: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    most: int = 0

    def __post_init__(self) -> None:
        self.exact = _Tally(self.locations)

    def add(self, queries: Queries, bounds: list[Bounds], asking: Iterable[ShareQueries]) -> None:
        """Add one chunk."""
        self.exact.add(queries.exact_profile())
        for each, profile in zip(bounds, queries.profiles(bounds), strict=True):
            self.bounded.setdefault(each, _Tally(self.locations)).add(profile)
        for asked in asking:
            new, held = ShareCounts.of(queries, asked), self.shares.get(asked.largest)
            self.shares[asked.largest] = new if held is None else held + new
        returned = Returning.of(queries)
        self.returning = returned if self.returning is None else self.returning + returned
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
) -> DataCounts:
    """Count a data set whose users come in chunks; `counted_one` is called after each."""
    rules: tuple[Keep, ...] = ("lowest-id", release_keep)
    bounds = [Bounds(most, settings.most_visits, keep) for keep in rules for most in settings.all_m]
    by_largest = {each.largest: each for each in map(ShareQueries, (*settings.epsilons, settings.epsilon))}
    asking = [by_largest[largest] for largest in sorted(by_largest)]
    locations = pa.array(ids)
    sums = _Sums(len(ids))
    for chunk in chunks:
        with open_queries(chunk.visits, locations=locations) as queries:
            sums.add(queries, bounds, asking)
        sums.most = max(sums.most, chunk.most_visits_of_a_user)
        counted_one()
    exact = sums.exact.profile(locations, None)
    bounded = {
        (str(each.keep), each.max_locations): tally.profile(locations, each)
        for each, tally in sums.bounded.items()
    }
    at = np.flatnonzero(sums.largest)
    return DataCounts(
        name, int(sums.places.sum()), ids, exact.entropy, exact.user_counts, exact.visit_counts,
        (at, sums.largest[at]), sums.places, sums.most, release_keep, bounded, sums.shares,
        sums.returning or Returning(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)),
    )  # fmt: skip


def _added(a: Integers, b: Integers) -> Integers:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    both = longer.copy()
    both[: len(shorter)] += shorter
    return both
