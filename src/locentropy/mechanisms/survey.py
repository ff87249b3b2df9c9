"""Activity: three private statistics of how people move, for choosing bounds and a mechanism.

Claim. Neighbours differ in all visits of one user. `ActivitySurvey` is ε-differentially private, with no δ.

Why. A user is in exactly one cell of each histogram, by the number of places and by the most visits to one place, and
the cells were fixed before any data was seen: each histogram moves by at most 1. After bounding, a user is in at most
M places, so the number of places with at least n users moves by at most M. All three are integers, so no lattice is
needed: discrete Laplace noise of unit step, of the scale for which OpenDP's own privacy map says the part of ε that
the statistic has. The parts are fractions that add up to ε exactly. Proof: docs/proofs/activity.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole
from locentropy.core.errors import EngineError
from locentropy.mechanisms.base import bounded_profile, require_locations
from locentropy.mechanisms.listed_estimates import half_width
from locentropy.mechanisms.parameters import (
    LISTED,
    check_bounds,
    check_epsilon,
    normalize_numpy_scalars,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee, exact, exact_text
from locentropy.privacy.noise import is_private, laplace_scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]

PLACES_CELLS: Final = 14
VISITS_CELLS: Final = 13
"""Octaves 1, 2, 3–4, 5–8, …; the last cell is open. Constants, so that no cell depends on the data."""

PARTS: Final = {"places": Fraction(2, 5), "visits": Fraction(1, 5), "busy": Fraction(2, 5)}
"""How ε is split. The number of busy places has M times the noise, and M rests on the histogram of places."""

_CALL = "ActivitySurvey(epsilon=0.05, max_locations=5, busy_users=134)"


def octave_ends(cells: int) -> tuple[int, ...]:
    """The largest number of each cell but the last, which is open: 1, 2, 4, 8, …"""
    return tuple(2**at for at in range(cells - 1))


def by_octave(values: Integers, users: Integers, cells: int) -> Integers:
    """Users by the octave of their value: each row goes to exactly one cell."""
    cell = np.searchsorted(np.array(octave_ends(cells), dtype=np.int64), values, side="left")
    histogram = np.zeros(cells, dtype=np.int64)
    np.add.at(histogram, cell, users)  # integers: exact, in any order
    return histogram


@dataclass(frozen=True)
class Activity:
    """How people move, with noise: integers and error bars, fit to publish. Built by `ActivitySurvey` only."""

    guarantee: Guarantee
    """What asking has cost."""
    private: bool
    """Whether that holds: false for simulated noise."""
    n_locations: int
    """How many places the public list has."""
    max_locations: int
    """M: places of one user that count for `busy`; public."""
    busy_users: int
    """From how many users on a place counts as busy; public."""
    places: tuple[int, ...]
    """Users who were at 1, 2, 3–4, 5–8, … places of the list, with noise: may be negative."""
    places_margin: int
    """Each of these is off by at most this with a probability of 95 %."""
    visits: tuple[int, ...]
    """Users whose most visits to one place were 1, 2, 3–4, …, with noise."""
    visits_margin: int
    """The margin of each of these."""
    busy: int
    """Places with at least `busy_users` users after bounding, with noise."""
    busy_margin: int
    """Its margin."""
    refuse_empty: bool = False
    """Whether it would have been refused if no visit were at any of the places: that it exists then tells."""

    def to_dict(self) -> dict[str, Any]:
        """Everything it says, for machines."""
        epsilon = self.guarantee.epsilon
        return {
            "epsilon": None if epsilon is None else exact_text(epsilon),
            "private": self.private,
            "n_locations": self.n_locations,
            "users_by_places": _named(self.places),
            "users_by_places_margin": self.places_margin,
            "users_by_most_visits": _named(self.visits),
            "users_by_most_visits_margin": self.visits_margin,
            "busy_places": self.busy,
            "busy_places_margin": self.busy_margin,
            "busy_means_users": self.busy_users,
            "max_locations": self.max_locations,
            "confidence": "95 %",
            "refuse_empty": self.refuse_empty,
        }


@dataclass(frozen=True)
class ActivitySurvey:
    """Two histograms of users and the number of busy places, for a small ε."""

    epsilon: float
    """ε of all three together, for one user's whole record."""
    max_locations: int
    """M: a user counts in at most this many places where busy places are counted."""
    busy_users: int
    """A place is busy from this many users on: a public number, such as n_CB."""
    keep: Keep | None = None
    """Which M places are kept; see `Bounds`."""

    def __post_init__(self) -> None:
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        check_bounds(_CALL, self.max_locations, 1, self.keep)
        check_whole(_CALL, "busy_users", self.busy_users, 1, 2**31 - 1)

    @property
    def bounds(self) -> Bounds:
        """How users are bounded where busy places are counted; visits do not matter there."""
        return Bounds(self.max_locations, 1, self.keep)

    @property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy."""
        return Guarantee.pure(self.epsilon, public_inputs(self, LISTED))

    @cached_property
    def scales(self) -> dict[str, float]:
        """The scale of the noise of each statistic, in users or places; public."""
        whole = exact(self.epsilon)
        moves = {"places": 1, "visits": 1, "busy": self.max_locations}
        return {name: laplace_scale(moves[name], whole * part) for name, part in PARTS.items()}

    @cached_property
    def margins(self) -> dict[str, int]:
        """How far each number is off at most, with a probability of 95 %; public."""
        return {name: half_width(scale) for name, scale in self.scales.items()}

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Activity:
        """Ask all three, and add noise. Every call spends the whole of `guarantee`."""
        listed = require_locations(locations, "ActivitySurvey")
        scales = self.scales  # refuses an impossible ε before anything is asked
        # First, because it refuses queries about other places than the listed ones.
        profile = bounded_profile(queries, self.bounds, listed)
        busy = np.count_nonzero(profile.user_counts >= self.busy_users)
        per_user = queries.locations_per_user()
        places = by_octave(np.arange(1, len(per_user)), per_user[1:], PLACES_CELLS)
        visits = by_octave(*queries.largest_visits_per_user(), VISITS_CELLS)
        if int(places.sum()) != int(visits.sum()):
            raise EngineError("The engine answered with two histograms that are not about the same users.")
        return Activity(
            guarantee=self.guarantee,
            private=is_private(noise),
            n_locations=len(listed),
            max_locations=self.max_locations,
            busy_users=self.busy_users,
            places=tuple(noise.laplace(places, scales["places"]).tolist()),
            places_margin=self.margins["places"],
            visits=tuple(noise.laplace(visits, scales["visits"]).tolist()),
            visits_margin=self.margins["visits"],
            busy=int(noise.laplace(np.array([busy], dtype=np.int64), scales["busy"])[0]),
            busy_margin=self.margins["busy"],
        )


def _named(cells: tuple[int, ...]) -> dict[str, int]:
    """The cells by what they hold: 1, 2, 3–4, …, more."""
    ends = octave_ends(len(cells))
    names = [str(end) if end <= 2 else f"{end // 2 + 1}–{end}" for end in ends]
    return dict(zip([*names, f"{ends[-1] + 1} and more"], cells, strict=True))
