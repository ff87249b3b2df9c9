"""The part of Shares that touches data: three integer queries, each noised as soon as it is asked.

Every user has one unit of presence, Q, in equal shares at the m places where they were, each share at most Q/M and
rounded down; see `core/share_profile.py`. One user more or less therefore moves, in ℓ₁,

    look     Σ shares at each place                                  by at most Q
    profile  all presence by the size of its share, and by visits    by at most Q in each of two histograms
    split    Σ share · table[visits] at each place, two integers     by at most Q · the table's sensitivity

and `laplace_scale` of these numbers, with the parts of `ShareBudget`, is the noise. Proof: docs/proofs/shares.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.errors import EngineError
from locentropy.mechanisms.base import check_locations
from locentropy.privacy.guarantee import exact
from locentropy.privacy.moments import MomentsTable
from locentropy.privacy.noise import LARGEST_VALUE, LATTICE, laplace_scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.core.share_profile import ShareProfile
    from locentropy.privacy.guarantee import Number
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

PROFILE_PART: Final = Fraction(8, 100)
"""The profile is about everybody at once, so a small part serves it,"""
LEAST_PROFILE_PART: Final = Fraction(3, 100)
"""but its noise must stay below the number of people, so it has this much if it can,"""
MOST_PROFILE_PART: Final = Fraction(3, 10)
"""and never more than this part."""
SPLIT_PART: Final = Fraction(16, 100)
"""The split gets this part of a large ε,"""
HALF_AT: Final = Fraction(3, 10)
"""half of that at this ε, and little below, where no place could show how its visits are split,"""
LEAST_SPLIT_PART: Final = Fraction(1, 100)
"""but never less than this part: noise must fit 64 bits."""


@dataclass(frozen=True)
class ShareBudget:
    """What each query may spend; the three add up to ε exactly."""

    look: Fraction
    """For the presence at every place."""
    profile: Fraction
    """For two histograms of all presence, together."""
    split: Fraction
    """For the pair of every place."""

    @classmethod
    def of(cls, epsilon: Number) -> ShareBudget:
        """The parts of ε."""
        whole = exact(epsilon)
        profile = max(PROFILE_PART * whole, min(LEAST_PROFILE_PART, MOST_PROFILE_PART * whole))
        split = max(SPLIT_PART * whole * whole**2 / (whole**2 + HALF_AT**2), LEAST_SPLIT_PART * whole)
        return cls(whole - profile - split, profile, split)


LOOK: Final = "look"
PROFILE: Final = "profile"
SPLIT: Final = "split"
"""The names of the three queries."""

UNIT: Final = LATTICE
"""Q: one user's whole presence, in lattice points."""
SPLIT_MAX_VISITS: Final = 16
"""C of the split: further visits of a user to a place are seen by the profile only."""
TABLE: Final = MomentsTable(SPLIT_MAX_VISITS, unit=2**12)
"""What a share counts for, by visits. Coarse, so that 64 bits have room for 2^29 users at one place and for the noise
of a small ε; the inference knows these very integers, so that nothing is lost by rounding."""

SIZE_OCTAVES: Final = 14
VISIT_OCTAVES: Final = 13
"""Cells of the profile. Constants: no cell depends on the data. The last ones are open."""

VISIT_THRESHOLDS: Final = (2, *(2**at + 1 for at in range(1, VISIT_OCTAVES - 1)))
"""Visits in octaves 1, 2, 3–4, 5–8, …"""


@dataclass(frozen=True, eq=False)
class Answers:
    """What was asked, with noise, in units of presence: one user is 1. Fit to publish."""

    look: Reals
    """The presence at each place."""
    sizes: Reals
    """All presence by the number of places of its user, in multiples of M: ≤ 1, ≤ 2, ≤ 4, …"""
    visits: Reals
    """All presence by the user's visits to the place: 1, 2, 3–4, …"""
    split: Reals
    """The pair of each place."""
    look_scale: float
    """Scale of the Laplace noise of each of these, in the same units; public."""
    profile_scale: float
    """The same for the histograms."""
    split_scale: float
    """The same for the pairs."""
    cap: float
    """M: a user counts at a place with at most 1/M."""


@dataclass(frozen=True)
class ShareQueries:
    """The three queries at a given ε, and their noise. Made of public numbers."""

    epsilon: Number
    """ε of the three together."""

    @cached_property
    def budget(self) -> ShareBudget:
        """The part of each."""
        return ShareBudget.of(self.epsilon)

    @property
    def cap(self) -> Fraction:
        """M = max(1, ε/2): where there is budget to spend, who has few places need not count in full."""
        return max(exact(1), exact(self.epsilon) / 2)

    @property
    def largest(self) -> int:
        """⌊Q/M⌋: the largest share."""
        return max(1, math.floor(UNIT / self.cap))

    @property
    def size_thresholds(self) -> tuple[int, ...]:
        """Shares at which the octaves of M, 2M, 4M, … places begin to be more, in ascending order of shares.

        Where M is so large that octaves fall together, thresholds are moved apart; what matters is that they are fixed.
        """
        ends = [math.floor(UNIT / (self.cap * 2**at)) for at in range(SIZE_OCTAVES - 1)]
        thresholds: list[int] = []
        for end in reversed(ends):
            thresholds.append(max(end, thresholds[-1] + 1 if thresholds else 1))
        return tuple(thresholds)

    @cached_property
    def scales(self) -> tuple[float, float, float]:
        """The noise of look, profile and split, in lattice points; public."""
        return (
            laplace_scale(UNIT, self.budget.look),
            laplace_scale(2 * UNIT, self.budget.profile),
            laplace_scale(UNIT * TABLE.sensitivity, self.budget.split),
        )

    def ask(self, queries: Queries, locations: Locations) -> ShareProfile:
        """The exact sums. Private."""
        check_locations(queries, locations)
        profile = queries.shares(UNIT, self.largest, SPLIT_MAX_VISITS)
        asked = (profile.unit, profile.largest, profile.max_visits) == (UNIT, self.largest, SPLIT_MAX_VISITS)
        if not asked or not profile.locations.equals(queries.locations):
            raise EngineError("The engine answered with other shares than those that were asked for.")
        return profile

    def privatize(self, profile: ShareProfile, noise: Noise) -> dict[str, Integers]:
        """The crossing: noisy integers of every query, by its name. From here on nothing is private."""
        look, histograms, split = self.scales
        sizes = profile.presence_by_share(self.size_thresholds)[::-1]
        visits = profile.presence_by_visits(VISIT_THRESHOLDS)
        # Sums that leave no room for noise are held: neighbours come no further apart by it, and none is refused.
        pairs = np.clip(profile.moments(TABLE.rows), -LARGEST_VALUE, LARGEST_VALUE)
        return {
            PROFILE: noise.laplace(np.concatenate([sizes, visits]), histograms),
            LOOK: noise.laplace(profile.look, look),
            SPLIT: noise.laplace(pairs, split),
        }

    def answers(self, values: Mapping[str, Integers]) -> Answers:
        """Noisy integers in units of presence, with the scales of their noise: post-processing."""
        look, histograms, split = self.scales
        both = values[PROFILE] / UNIT
        return Answers(
            look=values[LOOK] / UNIT,
            sizes=both[:SIZE_OCTAVES],
            visits=both[SIZE_OCTAVES:],
            split=values[SPLIT] / (UNIT * TABLE.unit),
            look_scale=look / UNIT,
            profile_scale=histograms / UNIT,
            split_scale=split / (UNIT * TABLE.unit),
            cap=float(self.cap),
        )
