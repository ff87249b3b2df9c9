"""Shapes that the law of n may have: laws over intensities, each moved to where its mean presence is a given one.

A place has an intensity, and n is Poisson around it. The intensities of a list are a bell in ln n with a width of its
own on either side, or have a power law above. How much a shape is believed depends on two things that a statistician
would ask about any list: how wide it is in all, and how lopsided. Places of a city differ in their visitors by a factor
of three or so either way: neither are they all alike, nor do they spread over many powers of ten.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

WIDTHS: Final = (0.15, 0.3, 0.5, 0.8, 1.2, 1.6, 2.1, 2.7)
"""Of a bell, in nats, below its top and above."""
POWERS: Final = (0.8, 1.0, 1.3, 1.8)
"""Exponents of a power law above the top."""
USUAL_WIDTH: Final = (1.0, 0.45)
"""The root mean square of the two widths, and the spread of its logarithm."""
USUAL_SKEW: Final = 0.6
"""The spread of the logarithm of the ratio of the two widths."""
POWER_WIDTH: Final = 1.4
"""A power law is as wide as a bell of this width over its exponent,"""
POWER_SKEW: Final = 0.9
"""and more lopsided."""
POWERS_BELIEVED: Final = 0.3
"""How much power laws are believed, all together; bells the rest."""
HARDLY: Final = 1e-3
"""Shapes that are believed less than this are left out."""

_STEP: Final = 0.14
_INTENSITIES: Final = np.exp(np.arange(math.log(0.01), math.log(3e10), _STEP))
_EXACT: Final = 60.0
"""Intensities below this are given their Poisson law; above, it is narrower than the grid."""
_TOPS: Final = np.linspace(math.log(0.003), math.log(2e10), 120)
"""Logarithms of intensities at which a shape may have its top."""
_FLAT, _JUMP = 1e-3, 5.0
"""The mean of a shape grows about as its top does: where it does not at all, or far more, it is at an end."""
_CORRECTIONS: Final = 4


class _Shapes(NamedTuple):
    """A row for each shape."""

    below: Reals
    """Width below the top,"""
    above: Reals
    """and above; infinite for power laws."""
    power: Reals
    """Exponent above; 0 for bells."""
    belief: Reals
    """How much each is believed; sums to one."""


@cache
def _shapes() -> _Shapes:
    bells = np.array([(below, above, 0.0) for below in WIDTHS for above in WIDTHS])
    powers = np.array([(below, math.inf, power) for below in WIDTHS for power in POWERS])
    believed = [
        (1 - POWERS_BELIEVED) * _believed(bells[:, 0], bells[:, 1], USUAL_SKEW),
        POWERS_BELIEVED * _believed(powers[:, 0], POWER_WIDTH / powers[:, 2], POWER_SKEW),
    ]
    belief, every = np.concatenate(believed), np.concatenate([bells, powers])
    kept = belief >= HARDLY
    below, above, power = every[kept].T[:, :, None]
    return _Shapes(below, above, power, belief[kept] / belief[kept].sum())


def _believed(below: Reals, above: Reals, usual_skew: float) -> Reals:
    """How much shapes of these widths are believed, all together one."""
    usual, spread = USUAL_WIDTH
    width = np.log(np.sqrt((below**2 + above**2) / 2) / usual) / spread
    skew = np.log(above / below) / usual_skew
    belief = np.exp(-(width**2 + skew**2) / 2)
    normal: Reals = belief / belief.sum()
    return normal


def shape_beliefs() -> Reals:
    """How much each shape is believed before anything is seen."""
    return _shapes().belief


def _laws(tops: Reals) -> Reals:
    """The shapes over the intensities, with the top of each where it is told."""
    shapes = _shapes()
    beyond = np.log(_INTENSITIES) - tops[:, None]
    logs = np.where(
        beyond < 0,
        -(beyond**2) / (2 * shapes.below**2),
        -(beyond**2) / (2 * shapes.above**2) - shapes.power * beyond,
    )
    laws: Reals = np.exp(logs)
    return laws


@cache
def _laws_at_tops() -> Reals:
    """The shapes at every one of `_TOPS`: shape × top × intensity."""
    count = shape_beliefs().size
    return np.stack([_laws(np.full(count, top)) for top in _TOPS], axis=1)


class MovableShapes(NamedTuple):
    """Every shape as a law of n, to be moved to a mean presence."""

    to_counts: Reals
    """How likely each n of the grid is at each intensity: n × intensity."""
    by_intensity: Reals
    """The mean presence at each intensity."""
    allowed: NDArray[np.bool_]
    """Intensities that a place may have."""
    known: Reals
    """The mean presence of every shape with its top at each of `_TOPS`: shape × top."""

    @classmethod
    def over(cls, to_counts: Reals, presence: Reals, most: float) -> MovableShapes:
        """Over a grid of n with these mean presences, of which no place has more than about `most`."""
        by_intensity = presence @ to_counts
        allowed = by_intensity <= most
        laws = _laws_at_tops() * allowed + 1e-300
        return cls(to_counts, by_intensity, allowed, laws @ by_intensity / laws.sum(axis=2))

    def with_mean(self, mean: float) -> tuple[Reals, Reals]:
        """Every shape as a law of n, moved to where its mean presence is the given one, or as near as it comes.

        Returns the laws, shape × n, and how far each is from that mean, in nats.
        """
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
            off = np.log(self._at(tops) @ self.by_intensity / mean)
            tops = np.clip(tops - off / slope, low, high)
        laws = self._at(tops)
        return laws @ self.to_counts.T, np.log(laws @ self.by_intensity / mean)

    def _at(self, tops: Reals) -> Reals:
        """Every shape over the intensities, with its top where it is told."""
        laws = _laws(tops) * self.allowed + 1e-300
        normal: Reals = laws / laws.sum(axis=1, keepdims=True)
        return normal


@cache
def poisson(grid: tuple[int, ...]) -> Reals:
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


@cache
def poisson_visited(grid: tuple[int, ...]) -> Reals:
    """The same, of places that somebody visited: n is never 0."""
    chances = poisson(grid).copy()
    chances[0] = 0.0
    normal: Reals = chances / chances.sum(axis=0)
    normal.flags.writeable = False
    return normal


def prepare_shapes(grid: tuple[int, ...]) -> None:
    """Fill the tables of this module, which are kept."""
    _laws_at_tops()
    poisson_visited(grid)
