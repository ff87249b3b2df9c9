"""What was counted of a data set: all that the experiments ask, so that the data itself is read once.

A profile with visits told apart up to C holds the profiles for every smaller C: clipping visits in the engine and
clipping them here is the same. So one profile for each M, at the largest C, is the whole grid of (M, C).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.core.visit_profile import VisitProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.share_profile import ShareProfile

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

FirstM = Literal["paper", "release"]
"""Whose "first M locations": the paper's experiments' (lowest ids, which on Sparse and Dense are the most popular), or
those that a release of this data would keep."""


@dataclass(frozen=True, eq=False)
class Counted:
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
    presence: dict[int, ShareProfile]
    """By the largest share."""
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
        """The rule by its name."""
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
        """Several of them."""
        return [self.profile(each) for each in bounds]

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        """Where everyone's presence is."""
        held = self.presence.get(largest)
        if held is None or (held.unit, held.max_visits) != (unit, max_visits):
            raise ParameterError(f"Shares of unit {unit}, largest {largest} were not counted of {self.name}.")
        return held

    def exact_profile(self) -> NoReturn:
        """Not kept: no mechanism asks for it."""
        raise ParameterError(f"The exact profile of {self.name} is not kept; its entropies are.")

    def restricted_to(self, locations: Locations) -> NoReturn:
        """Not possible any more."""
        raise ParameterError(f"{self.name} was counted at all of its locations, and users are gone.")

    def largest_visits_per_user(self) -> tuple[Integers, Integers]:
        """Users by their most visits to one location."""
        return self.largest_visits

    def locations_per_user(self) -> Integers:
        """How many users were in exactly 0, 1, 2, … locations."""
        return self.users_by_places

    def forget_profiles(self) -> None:
        """Give back the memory of profiles that were asked for."""
        self._profiles.clear()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as named arrays, for a file."""
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
        for largest, held in self.presence.items():
            key = f"{held.unit} {largest} {held.max_visits}"
            named[f"presence {key}"] = np.stack([held.index, held.visits, held.shares])
            named[f"by_share {key}"] = np.stack(held.by_share)
            named[f"by_visits {key}"] = np.stack(held.by_visits)
        return named

    @classmethod
    def from_arrays(cls, named: dict[str, NDArray[Any]]) -> Counted:
        """What `arrays` made, again."""
        from locentropy.core.share_profile import ShareProfile

        ids = named["ids"]
        locations = pa.array(ids)
        bounded, presence = {}, {}
        for key, rows in named.items():
            kind, *words = key.split(" ")
            if kind == "bounded":
                keep: Any = words[0]
                bounds = Bounds(int(words[1]), int(words[2]), keep)
                bounded[keep, bounds.max_locations] = VisitProfile.from_rows(
                    locations, rows[0], rows[1], rows[2], bounds
                )
            elif kind == "presence":
                unit, largest, most = map(int, words)
                by_share, by_visits = (
                    named[f"{name} {unit} {largest} {most}"] for name in ("by_share", "by_visits")
                )
                presence[largest] = ShareProfile.from_rows(
                    locations,
                    (unit, largest, most),
                    (rows[0], rows[1], rows[2]),
                    (by_share[0], by_share[1]),
                    (by_visits[0], by_visits[1]),
                )
        name, release_keep = named["about"].tolist()
        users, most_visits = named["numbers"].tolist()
        return cls(
            name, users, ids, named["entropy"], named["user_counts"], named["visit_counts"],
            (named["largest_visits"][0], named["largest_visits"][1]), named["users_by_places"], most_visits,
            release_keep, bounded, presence,
        )  # fmt: skip
