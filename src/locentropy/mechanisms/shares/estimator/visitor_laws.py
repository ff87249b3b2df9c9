"""Who comes to places of each size: laws of visitors, and of those of each simulated place.

The laws of how many places visitors have and how often they come are those of places of a size. Each simulated place
has visitors of its own kind: the laws, tilted by normal deviates of the place; and at some places all come about
equally often.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import ndtri

from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES, fixed_deviates
from locentropy.mechanisms.shares.estimator.tilts import size_tilt, visit_tilt
from locentropy.mechanisms.shares.stages import VISIT_OCTAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

LARGEST_TILT: Final = 2.0
FULL: Final = 0.95
"""No place is thought to have more than this part of all users."""
_NEWTON: Final = 20

MIXED: Final = 48
"""The first so many copies are places where all kinds of visitors mix; at the others all come about equally often."""
ALIKE: Final = 0.8
"""Standard deviation of the octave of visits within such a place."""
STRATUM: Final[NDArray[np.intp]] = np.concatenate(
    [np.arange(MIXED) // 8, MIXED // 8 + np.arange(COPIES - MIXED) // 4]
)
"""Copies with about the same tilt, or the same level, of visits: a stratum of places that may be common or rare."""
ONE_KIND_STRATA: Final = 4
USUAL_STRATA: Final[NDArray[np.float64]] = np.concatenate([np.full(6, 0.85 / 6), np.full(4, 0.15 / 4)])
"""How common each is before anything is seen."""
_DEVIATES: Final = np.concatenate([ndtri((np.arange(MIXED) + 0.5) / MIXED), np.zeros(COPIES - MIXED)])
_LEVELS: Final = (np.arange(COPIES - MIXED) + 0.5) / (COPIES - MIXED)


class VisitorLaws(NamedTuple):
    """Who comes to places of each size."""

    sizes: Reals
    """Presence of all by octave of the visitor's places; sums to one."""
    usual_visits: Reals
    """How often a visitor in the middle of `sizes` comes to a place, by octave; sums to one,"""
    visits: Reals
    """and to places of each n of the grid: n × octave,"""
    steepness: Reals
    """The tilt of visits for a visitor of each octave of places: who has more places comes more often."""
    size_tilts: Reals
    """The tilt of `sizes` at places of each n of the grid,"""
    size_scatter: Reals
    """its standard deviation among them,"""
    size_extra: Reals
    """and the logarithm of what the tilt does not explain: n × octave."""
    visit_scatter: float
    """The standard deviation among places of the tilt of visits."""

    def of_visitors(self) -> Reals:
        """How often a visitor of each octave of places comes to a place: octave × octave."""
        usual = self.usual_visits * np.exp(visit_tilt(np.clip(self.steepness, -LARGEST_TILT, LARGEST_TILT)))
        normal: Reals = usual / usual.sum(axis=1, keepdims=True)
        return normal

    def of_copies(self) -> Reals:
        """What tilts make of the law of visits at each copy of a place, whatever its n: copy × octave × octave."""
        tilt = (self.visit_scatter * _DEVIATES)[:, None] + self.steepness
        factor: Reals = np.exp(visit_tilt(np.clip(tilt, -LARGEST_TILT, LARGEST_TILT)))
        return factor


class Kinds(NamedTuple):
    """The visitors of each copy of a place."""

    sizes: Reals
    """How likely a visitor is in each octave of places: copy × octave,"""
    visits: Reals
    """and of visits, for each octave of places: copy × octave × octave."""

    @classmethod
    def of_places(cls, laws: VisitorLaws, of_copies: Reals, at: int, stream: int) -> Kinds:
        """At places of the size with this position on the grid; `of_copies` is that of the laws."""
        of_sizes = laws.size_tilts[at] + laws.size_scatter[at] * fixed_deviates(stream)
        sizes = laws.sizes * np.exp(size_tilt(of_sizes) + laws.size_extra[at])
        visits = laws.visits[at] * of_copies
        # Where all come about equally often, the place has a level of its own, as common as such visitors are.
        usual = (laws.sizes * np.exp(laws.size_extra[at]))[:, None] * visits[MIXED]
        reached = np.cumsum(usual.sum(axis=0)) / usual.sum()
        level = np.interp(_LEVELS, reached, np.arange(VISIT_OCTAVES) + 0.5)
        near = np.exp(-((np.arange(VISIT_OCTAVES) - level[:, None]) ** 2) / (2 * ALIKE**2))
        visits[MIXED:] *= near[:, None, :] + 1e-12
        return cls(sizes / sizes.sum(axis=1, keepdims=True), visits / visits.sum(axis=2, keepdims=True))


def middle_law(told: Reals, sizes: Reals, steepness: Reals) -> Reals:
    """The law of visits of a user in the middle: such that all together, each with their own tilt, are as told."""
    tilted = np.exp(visit_tilt(np.clip(steepness, -LARGEST_TILT, LARGEST_TILT)))
    law = told.copy()
    for _ in range(30):
        each = law * tilted
        each /= each.sum(axis=1, keepdims=True)
        law = law * told / np.maximum(sizes @ each, 1e-12)
        law /= law.sum()
    return law


def size_lever(sizes: Reals, share: Reals) -> float:
    """d ln(n / presence) / d tilt of a law of places, where a visitor of each octave has the given share."""

    def per_presence(tilt: float) -> float:
        law = sizes * np.exp(size_tilt(np.array(tilt)))
        return float((law / share).sum() / law.sum())

    return max(math.log(per_presence(0.1) / per_presence(-0.1)) / 0.2, 0.3)


def saturation(rate: Reals, users: Reals, visitors: Integers) -> Reals:
    """The logarithm of how much rarer users of each octave are at places of each n than their places suggest.

    Nobody is at a place twice: of the U users in an octave, a place that draws x of them on average, were they not used
    up, has U·(1 − e^(−x/U)). So those who have very many places are rarer at busy places. `rate` (n × octave) is how
    likely a visitor comes from each octave, were they not used up; `users` how many there are in each.
    """
    wanted = np.minimum(np.maximum(visitors, 1), FULL * users.sum())[:, None]
    drawn = wanted.astype(np.float64)
    for _ in range(_NEWTON):  # drawn such that `wanted` are there: concave, so from below it stays below
        used = drawn * rate / users
        there = (users * -np.expm1(-used)).sum(axis=1, keepdims=True)
        drawn += (wanted - there) / np.maximum((rate * np.exp(-used)).sum(axis=1, keepdims=True), 1e-12)
    used = np.maximum(drawn * rate / users, 1e-12)
    rarer: Reals = np.log(-np.expm1(-used) / used)
    return rarer
