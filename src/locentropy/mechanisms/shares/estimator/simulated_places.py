"""Simulated places of every size: what a place of n visitors looks like.

For every n on a grid, visitors are drawn from the profile (how many places they have) and from each visit law (how
often they come). That gives the joint law of what can be seen with noise, presence and pair, and of what is wanted,
entropy; for small n too, where no formula holds. Beyond `LARGE` visitors a place is a larger copy: sums grow in
proportion, their deviations with the square root.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator import histogram_smoothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Integers = NDArray[np.int64]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def fixed_uniforms(count: int, stream: int) -> Reals:
    """`count` numbers in (0, 1), always the same; another stream gives others.

    The same noisy answers then always give the same release, on every machine. The mixing function is that of Steele,
    Lea and Flood (SplitMix).
    """
    with np.errstate(over="ignore"):
        state = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream) * np.uint64(1 << 32)) * _STEP
        state = (state ^ (state >> np.uint64(30))) * _MIXERS[0]
        state = (state ^ (state >> np.uint64(27))) * _MIXERS[1]
        state ^= state >> np.uint64(31)
    numbers: Reals = ((state >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return numbers


TILTS: Final = (-0.9, -0.45, -0.2, 0.0, 0.2, 0.45, 0.9)
"""Octaves of visits become more likely by e^tilt each."""
TILT_SPREAD: Final = 0.35
"""How far places are tilted, before anything is known."""
MIDDLES: Final = (0.0, 1.0, 2.0, 3.0)
WIDTHS: Final = (0.25, 0.9, 1.6)
"""Of ln visits, in the log-normal laws."""
REGULARS: Final = (0.05, 0.15, 0.4)
REGULAR_VISITS: Final = (2.2, 3.6)
"""The part of regulars among passers-by, and the logarithm of how often they come."""
LIKE_ALL: Final = 0.5
"""How many places are like the profile of all, tilted or not, before anything is known."""
RARE: Final = 0.003
"""Laws that are rarer than this to begin with are left out."""
_ROUNDS: Final = 30


class VisitLaws(NamedTuple):
    """Laws over octaves of visits, a row each, and how common each is before the split is looked at."""

    laws: Reals
    common: Reals


def visit_laws(profile: Reals) -> VisitLaws:
    """Laws that together look like the visits profile."""
    tilts = np.array(TILTS)
    tilted = profile * np.exp(tilts[:, None] * np.arange(profile.size))
    tilted /= tilted.sum(axis=1, keepdims=True)
    bell = np.exp(-(tilts**2) / (2 * TILT_SPREAD**2))
    others = _laws_of_their_own(profile.size)
    laws = np.concatenate([tilted, others])
    common = np.concatenate([LIKE_ALL * bell / bell.sum(), (1 - LIKE_ALL) * _mixed(others, profile)])
    kept = common > RARE
    return VisitLaws(laws[kept], common[kept] / common[kept].sum())


def _laws_of_their_own(octaves: int) -> Reals:
    """Laws that owe nothing to the profile."""
    middling = [_log_normal(middle, width, octaves) for middle in MIDDLES for width in WIDTHS]
    passing = _log_normal(0.0, 0.4, octaves)
    ruled = [
        (1 - part) * passing + part * _log_normal(often, 0.6, octaves)
        for part in REGULARS
        for often in REGULAR_VISITS
    ]
    return np.array(middling + ruled)


def _mixed(laws: Reals, profile: Reals) -> Reals:
    """Weights that make the laws together look like the profile: a few rounds of expectation and maximisation."""
    weights = np.full(len(laws), 1.0 / len(laws))
    for _ in range(_ROUNDS):
        weights = weights * (laws @ (profile / (weights @ laws)))
        weights /= weights.sum()
    return weights


def _log_normal(middle: float, width: float, octaves: int) -> Reals:
    """A log-normal number of visits, rounded, by octave."""
    ends = [math.log(2.0**at + 0.5) for at in range(octaves - 1)]
    below = [0.5 * (1 + math.erf((end - middle) / (width * math.sqrt(2)))) for end in ends]
    law: Reals = np.maximum(np.diff([0.0, *below, 1.0]), 1e-12)
    normal: Reals = law / law.sum()
    return normal


COPIES: Final = 64
"""Simulated places for each n."""
LARGE: Final = 256
"""Visitors beyond which places are scaled up."""
STEP: Final = 1.15
"""Ratio of neighbours on the grid of n, from some n on."""


class SimulatedPlaces(NamedTuple):
    """Simulated places: by n, and by visit law where that matters."""

    visitors: Integers
    """n, the grid."""
    presence: Reals
    """The presence of each copy: n × copy."""
    entropy: Reals
    """n × law × copy."""
    pair: Reals
    """n × law × copy × 2."""


def visitor_grid(most: int) -> Integers:
    """n = 0, 1, 2, … and then in steps of 15 %, up to `most`."""
    grid = list(range(9))
    while grid[-1] < most:
        grid.append(round(max(grid[-1] * STEP, grid[-1] + 1)))
    return np.array(grid, dtype=np.int64)


def simulate_places(sizes: Reals, laws: Reals, table: Reals, cap: float, most: int) -> SimulatedPlaces:
    """Places of 0 to `most` visitors.

    `sizes` is how likely a visitor comes from each octave of places, `laws` the visit laws, `table` the pair that a
    visitor of 1..C visits adds for each unit of presence, `cap` the theory's M.
    """
    grid = visitor_grid(most)
    presence = np.zeros((grid.size, COPIES))
    entropy = np.zeros((grid.size, len(laws), COPIES))
    pair = np.zeros((grid.size, len(laws), COPIES, 2))
    visiting = _Visiting.under(laws, table)
    first_large = int(np.searchsorted(grid, LARGE))
    for at in range(1, min(first_large + 1, grid.size)):
        n = min(int(grid[at]), LARGE)
        share = _shares(n, 2 * at, sizes, cap)
        presence[at] = share.sum(axis=1)
        entropy[at], pair[at] = visiting.places(share, 2 * at + 1)
    for values in (presence, entropy, pair):
        values[first_large + 1 :] = values[min(first_large, grid.size - 1)]
    return _scaled(SimulatedPlaces(grid, presence, entropy, pair), np.maximum(grid / LARGE, 1.0))


def _shares(n: int, stream: int, sizes: Reals, cap: float) -> Reals:
    """The shares of n visitors in each copy of a place."""
    cell, within = _inverse(sizes, fixed_uniforms(n * COPIES, stream))
    return 1.0 / np.maximum(histogram_smoothing.places(sizes.size, cap, within, cell), cap).reshape(COPIES, n)


class _Visiting(NamedTuple):
    """How often people come, and what that makes of a place."""

    reached: Reals
    """How likely a visitor comes at most 1, 2, 3, … times: law × visits."""
    weight: Reals
    """What 0, 1, 2, … visits add to the pair for each unit of presence,"""
    times_log: Reals
    """and visits × ln visits, of which entropy is made."""

    @classmethod
    def under(cls, laws: Reals, table: Reals) -> _Visiting:
        """For all laws, and all numbers of visits that they know."""
        reached = histogram_smoothing.reached_by_visits(laws)
        visits = np.arange(reached.shape[1] + 1, dtype=np.float64)
        weight = table[np.clip(visits, 1, len(table)).astype(np.intp) - 1]
        return cls(reached, weight, visits * np.log(np.maximum(visits, 1.0)))

    def places(self, share: Reals, stream: int) -> tuple[Reals, Reals]:
        """Copies of a place whose visitors have these shares: entropy under each law, pair under each law."""
        entropy, pair = np.empty((len(self.reached), COPIES)), np.empty((len(self.reached), COPIES, 2))
        # The same chances for every law, so that laws differ by law alone.
        chance, order = _ordered(share.size, stream)
        visits = np.empty(share.size, dtype=np.intp)
        for at, reached in enumerate(self.reached):
            visits[order] = 1 + np.searchsorted(reached[:-1], chance, side="right")
            by_place = visits.reshape(share.shape)
            total = by_place.sum(axis=1)
            entropy[at] = np.log(total) - self.times_log[by_place].sum(axis=1) / total
            pair[at] = np.einsum("ij,ijk->ik", share, self.weight[by_place])
        return entropy, pair


@cache
def _ordered(count: int, stream: int) -> tuple[Reals, NDArray[np.intp]]:
    """Scattered numbers in ascending order, in which they are found quickly, and where each belongs."""
    chance = fixed_uniforms(count, stream)
    order = np.argsort(chance)
    return chance[order], order


def _inverse(law: Reals, chance: Reals) -> tuple[NDArray[np.intp], Reals]:
    """The cell at which a law has reached each chance, and how far into the cell that is."""
    reached = np.cumsum(law) / law.sum()
    cell = np.minimum(np.searchsorted(reached, chance, side="right"), law.size - 1)
    begun = np.concatenate([[0.0], reached])[cell]
    width = np.maximum(np.diff(reached, prepend=0.0)[cell], 1e-300)
    return cell, np.clip((chance - begun) / width, 0.0, 1 - 1e-12)


def _scaled(small: SimulatedPlaces, times: Reals) -> SimulatedPlaces:
    """Large places from copies of smaller ones, and every n spread over its cell of the grid."""

    def grown(values: Reals, axis: int) -> Reals:
        factor = times.reshape([-1] + [1] * (values.ndim - 1))
        mean = values.mean(axis=axis, keepdims=True)
        larger: Reals = factor * mean + np.sqrt(factor) * (values - mean)
        return larger

    by_law = times[:, None, None]
    mean = small.entropy.mean(axis=2, keepdims=True)
    entropy = mean + np.log(by_law) + (small.entropy - mean) / np.sqrt(by_law)
    # A cell of the grid stands for all n in it, as soon as there are others than its own.
    inside = STEP ** ((np.arange(COPIES) + 0.5) / COPIES - 0.5)
    inside = np.where(small.visitors[:, None] >= 20, inside, 1.0)
    return SimulatedPlaces(
        small.visitors,
        grown(small.presence, 1) * inside,
        entropy + np.log(inside)[:, None, :],
        grown(small.pair, 2) * inside[:, None, :, None],
    )
