"""The visitor prior: how many visitors places have, as a law over n, learnt from the noisy presence of all places.

It starts as a weighted mean of laws of many shapes, each moved to where its mean presence is the one observed: a bell
in ln n with a width of its own on either side, or a power law above; n itself is Poisson around that, so that empty
places come about by themselves; and perhaps a second population of small places. Weights are by how well a shape
explains the noisy presence. At small ε or on short lists that is all that can be known. Where more can,
expectation-maximisation with some smoothing takes the law from there.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.noise_law import log_density

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

WIDTH: Final = 0.06
"""Of a bin: in units of the noise for small looks, relative for large ones. Far below what noise blurs."""


class PresenceBins(NamedTuple):
    """The noisy presence of all places, in bins: the work then does not grow with their number."""

    middle: Reals
    """The mean look of each bin, ascending."""
    places: Integers
    """How many places are in it."""
    bin_of: NDArray[np.intp]
    """The bin of each place."""


def bin_presence(look: Reals, scale: float) -> PresenceBins:
    """Put noisy presence into bins; empty ones are left out."""
    key = np.rint(np.arcsinh(look / scale) / WIDTH).astype(np.int64)
    _, bin_of, places = np.unique(key, return_inverse=True, return_counts=True)
    middle = np.bincount(bin_of, weights=look) / places
    return PresenceBins(middle, places, bin_of)


def likelihood(presence: Reals, bins: PresenceBins, scale: float | Reals, noise: NoiseKind) -> Reals:
    """How likely each bin's look is at each presence, the likeliest counting 1: a further axis of bins."""
    logs = log_density(noise, (presence[..., None] - bins.middle) / scale)
    logs -= logs.max(axis=tuple(range(presence.ndim)))
    return np.exp(logs, out=logs)


LEFT: Final = {0.15: 1.0, 0.4: 1.0, 0.8: 1.0, 1.3: 0.5, 2.0: 0.1, 3.0: 0.02}
"""Widths below the top, in nats, and how much each is believed to begin with."""
BELLS: Final = {0.15: 0.3, 0.4: 0.5, 0.8: 1.0, 1.3: 2.0, 2.0: 0.5, 3.0: 0.1}
POWERS: Final = {0.6: 0.02, 0.8: 0.05, 1.0: 0.5, 1.3: 3.0, 1.8: 3.0}
"""Above the top: widths of a bell, or exponents of a power law; and how much each is believed."""
SMALL: Final = (0.6, 0.2, 0.1, 0.06, 0.04)
"""The second crowd: how likely a small place has 0, 1, 2, … visitors."""
SMALL_SHARES: Final = {0.0: 1.0, 0.3: 0.25, 0.6: 0.25, 0.85: 0.1}
"""How many places are small, and how much each number is believed to begin with."""

UNFORESEEN: Final = 1e-4
"""How many places are of any size at all."""

SURE: Final = 0.05
"""The mean presence is taken as it is where it is known to this part; otherwise several are tried."""
USUAL_USERS: Final = (0.5, 1.2)
"""Users for each place of the list, and the spread of the logarithm, where nothing is known."""
_MEANS: Final = 7

ROUNDS: Final = 80
PULL: Final = 0.2
PULL_PLACES: Final = 30.0
"""Expectation-maximisation is held back to the start by this part, and by so many places' worth."""

_STEP: Final = 0.14
_INTENSITIES: Final = np.exp(np.arange(math.log(0.01), math.log(3e10), _STEP))
_EXACT: Final = 60.0
"""Intensities below this are given their Poisson law; above, it is narrower than the grid."""
_TOPS: Final = np.linspace(math.log(0.003), math.log(2e10), 120)
"""Logarithms of intensities at which a shape may have its top."""
_FLAT, _JUMP = 1e-3, 5.0
"""The mean of a shape grows about as its top does: where it does not at all, or far more, it is at an end."""
_CORRECTIONS: Final = 4


class Total(NamedTuple):
    """What is known of all presence together."""

    value: float
    """The best estimate."""
    deviation: float
    """Its standard deviation."""
    other: float
    """The estimate from the profile alone, which owes nothing to the looks,"""
    other_deviation: float
    """and its standard deviation."""
    per_user: float
    """The presence of a user."""


def learn_visitor_prior(
    grid: Integers, presence: Reals, seen: Reals, places: Integers, total: Total, most: float
) -> Reals:
    """The law of n: one probability for each n of the grid.

    `presence` is the mean presence at each n, `seen` the likelihood of each bin's look at each n, `places` how many
    places each bin has; no place has more presence than about `most`.
    """
    start = _start(grid, presence, seen, places, total, most)
    return _improved(start, seen, places)


def _start(
    grid: Integers, presence: Reals, seen: Reals, places: Integers, total: Total, most: float
) -> Reals:
    """The weighted mean of all shapes."""
    to_counts = _poisson(tuple(grid.tolist()))
    by_intensity = presence @ to_counts
    means = _Means.known_at_tops(by_intensity, by_intensity <= most)
    small = np.zeros(grid.size)
    small[: len(SMALL)] = SMALL
    laws, beliefs = [], []
    for mean, mean_belief in _mean_presences(total, int(places.sum())):
        for part, part_belief in SMALL_SHARES.items():
            rest = max(mean - part * float(small @ presence), 0.1 * mean) / (1 - part)
            main = means.laws_of_mean(rest) @ to_counts.T
            laws.append((1 - part) * main + part * small)
            beliefs.append(np.log(_shape_beliefs() * part_belief) + mean_belief)
    every = np.concatenate(laws)
    fit = np.log(np.maximum(every @ seen, 1e-300)) @ places + np.concatenate(beliefs)
    weight = np.exp(fit - fit.max())
    start = weight @ every
    # Nothing is impossible: a place that no shape foresees is still read.
    start = start / start.sum() + UNFORESEEN / grid.size
    normal: Reals = start / start.sum()
    return normal


def _mean_presences(total: Total, listed: int) -> Iterator[tuple[float, float]]:
    """Mean presences of a place to try, and the logarithm of how much each is believed before the looks are used."""
    if total.deviation < SURE * total.value:
        yield total.value / listed, 0.0
        return
    low = max(0.02, (total.value - 2 * total.deviation) / listed)
    high = max(0.1, 1.5 * low, (total.value + 2.5 * total.deviation) / listed)
    usual, spread = USUAL_USERS
    usual *= total.per_user
    for mean in np.exp(np.linspace(math.log(low), math.log(high), _MEANS)).tolist():
        off = (mean * listed - total.other) / total.other_deviation
        yield mean, -(off**2) / 2 - (math.log(mean / usual) / spread) ** 2 / 2


def _improved(start: Reals, seen: Reals, places: Integers) -> Reals:
    """Expectation-maximisation, smoothed over neighbours and pulled to the start."""
    pull = PULL + PULL_PLACES / places.sum()
    law = start
    for _ in range(ROUNDS):
        law = law * (seen @ (places / np.maximum(law @ seen, 1e-300)))
        law = law / law.sum() + pull * start
        around = np.concatenate([law[1:2], law[1:], law[-1:]])
        law[1:] = 0.1 * around[:-2] + 0.8 * around[1:-1] + 0.1 * around[2:]
        law /= law.sum()
    return law


@cache
def _shapes() -> tuple[Reals, Reals, Reals]:
    """Width below the top, width above (infinite for power laws), exponent above (0 for bells): a column each."""
    shapes = [(left, above, 0.0) for left in LEFT for above in BELLS]
    shapes += [(left, math.inf, power) for left in LEFT for power in POWERS]
    left, above, power = np.array(shapes).T[:, :, None]
    return left, above, power


@cache
def _shape_beliefs() -> Reals:
    left, above, power = (column[:, 0].tolist() for column in _shapes())
    by_tail = [
        POWERS[exponent] if math.isinf(bell) else BELLS[bell]
        for bell, exponent in zip(above, power, strict=True)
    ]
    beliefs: Reals = np.array([LEFT[width] for width in left]) * np.array(by_tail)
    return beliefs


def _laws(tops: Reals) -> Reals:
    """The shapes over the intensities, with the top of each where it is told."""
    left, above, power = _shapes()
    beyond = np.log(_INTENSITIES) - tops[:, None]
    logs = np.where(beyond < 0, -(beyond**2) / (2 * left**2), -(beyond**2) / (2 * above**2) - power * beyond)
    laws: Reals = np.exp(logs)
    return laws


class _Means(NamedTuple):
    """The mean presence of every shape, with its top at each of `_TOPS`: shape × top."""

    by_intensity: Reals
    allowed: NDArray[np.bool_]
    known: Reals

    @classmethod
    def known_at_tops(cls, by_intensity: Reals, allowed: NDArray[np.bool_]) -> _Means:
        """Computed once, to know roughly where each shape belongs."""
        laws = _laws_at_tops() * allowed + 1e-300
        return cls(by_intensity, allowed, laws @ by_intensity / laws.sum(axis=2))

    def laws(self, tops: Reals) -> Reals:
        """Every shape with its top where it is told."""
        laws = _laws(tops) * self.allowed + 1e-300
        normal: Reals = laws / laws.sum(axis=1, keepdims=True)
        return normal

    def laws_of_mean(self, mean: float) -> Reals:
        """Every shape, moved to where its mean presence is the given one; as near as it comes, if there is none."""
        shape = np.arange(len(self.known))
        above = np.clip((self.known < mean).sum(axis=1), 1, _TOPS.size - 1)
        low, high = _TOPS[above - 1], _TOPS[above]
        first, last = (np.log(self.known[shape, at] / mean) for at in (above - 1, above))
        # The logarithm of the mean is nearly a line between two tops. Where it jumps, nothing is left of the shape
        # among the crowds that are allowed: it stays where there is something.
        slope = (last - first) / (high - low)
        slope = np.where((slope > _FLAT) & (slope < _JUMP), slope, np.inf)
        tops = np.clip(low - first / slope, low, high)
        for _ in range(_CORRECTIONS):
            off = np.log(self.laws(tops) @ self.by_intensity / mean)
            tops = np.clip(tops - off / slope, low, high)
        return self.laws(tops)


@cache
def _laws_at_tops() -> Reals:
    """The shapes at every one of `_TOPS`: shape × top × intensity."""
    count = _shapes()[0].shape[0]
    return np.stack([_laws(np.full(count, top)) for top in _TOPS], axis=1)


@cache
def _poisson(grid: tuple[int, ...]) -> Reals:
    """How likely each n of the grid is at each intensity: n × intensity."""
    counts = np.array(grid, dtype=np.float64)
    ends = np.append((counts[:-1] + counts[1:]) / 2, np.inf)
    number = np.arange(400)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 400)))])
    cell = np.searchsorted(ends, number, side="left")
    chances = np.zeros((counts.size, _INTENSITIES.size))
    at = np.interp(np.log(_INTENSITIES), np.log(np.maximum(counts, 0.5)), np.arange(counts.size))
    for column, intensity in enumerate(_INTENSITIES.tolist()):
        if intensity < _EXACT:
            mass = np.exp(number * math.log(intensity) - intensity - log_factorial)
            chances[:, column] = np.bincount(cell, weights=mass, minlength=counts.size)
        else:
            below = min(int(at[column]), counts.size - 2)
            chances[below : below + 2, column] = (1 - (at[column] - below), at[column] - below)
    normal: Reals = chances / chances.sum(axis=0)
    normal.flags.writeable = False
    return normal
