"""How true values are spread over places, learnt from values with noise.

The law is a histogram over the range of the published values. It starts as a normal law with the mean and variance that
fit (after Paule and Mandel), and is made more likely step by step, by expectation maximisation with a little smoothing;
the start keeps the weight of some places. Most places of a city are quiet and a few stand far out, which no normal law
describes; where there is nothing but noise, the start is narrow, and little is learnt. benchmarks/ranks.py measures
what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_CELLS: Final = 64
_STEPS: Final = 100
_SMOOTHING: Final = 0.2
"""The part of a cell's weight that goes to its neighbours in each step."""
_START: Final = 100.0
"""Places that the start counts as: few places with much noise teach nothing better."""
_ANYWHERE: Final = 1e-3
"""The part of the start that is spread evenly, so that weight can grow where the normal law has none."""
_MOST_PLACES: Final = 20_000
"""More do not change the law: of longer lists every so-manieth place is taken, by value."""
_SAME: Final = 1e-9
"""Values that lie within this range are all the same."""
_HALVINGS: Final = 60  # of an interval: more than a float has digits


@dataclass(frozen=True, eq=False)
class Law:
    """A density that is constant between edges."""

    edges: Reals
    """Of the cells, ascending."""
    weights: Reals
    """The probability of each cell."""

    @property
    def variance(self) -> float:
        """Of a true value, before its own noisy value is known."""
        low, high = self.edges[:-1], self.edges[1:]
        mean = float(self.weights @ (low + high)) / 2.0
        square = float(self.weights @ (low**2 + low * high + high**2)) / 3.0
        return max(square - mean**2, 0.0)


def learnt(value: Reals, scale: Reals) -> Law:
    """The law of the truths behind values with Laplace noise of these scales, none of which is 0."""
    chosen = np.argsort(value, kind="stable")
    if len(value) > _MOST_PLACES:
        chosen = chosen[np.linspace(0, len(value) - 1, _MOST_PLACES).astype(np.int64)]
    value, scale = value[chosen], scale[chosen]
    low, high = float(value[0]), float(value[-1])
    edges = np.linspace(low, high if high - low > _SAME else low + 1.0, _CELLS + 1)
    likelihood = within(value, scale, edges)
    start = weights = _start(edges, *variation(value, np.sqrt(2.0) * scale))
    for _ in range(_STEPS):
        places = weights * ((1.0 / (likelihood @ weights)) @ likelihood)
        weights = (_smoothed(places) + _START * start) / (len(value) + _START)
    return Law(edges, weights)


def within(value: Reals, scale: Reals, edges: Reals) -> Reals:
    """For each value, and each cell between edges, the probability of noise that would lead there."""
    found: Reals = np.diff(distribution((edges - value[:, None]) / scale[:, None]), axis=1)
    return found


def distribution(at: Reals) -> Reals:
    """The distribution function of Laplace noise of scale 1 less one half, so that small steps are not rounded."""
    found: Reals = -0.5 * np.sign(at) * np.expm1(-np.abs(at))
    return found


def variation(value: Reals, error: Reals) -> tuple[float, float]:
    """Around which mean the true values vary, and with which variance, after Paule and Mandel; 0 if noise explains all.

    The variance is the one with which the weighted squares of deviations add up to their number less one.
    """
    freedom = len(value) - 1

    def fit(variance: float) -> tuple[float, float]:
        weight = 1.0 / (variance + error**2)
        mean = float((weight * value).sum() / weight.sum())
        return mean, float((weight * (value - mean) ** 2).sum())

    if freedom < 1 or fit(0.0)[1] <= freedom:
        return fit(0.0)[0], 0.0
    low, high = 0.0, float(np.ptp(value)) ** 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fit(middle)[1] > freedom else (low, middle)
    return fit(high)[0], high


def _start(edges: Reals, mean: float, variance: float) -> Reals:
    middles, width = (edges[:-1] + edges[1:]) / 2.0, edges[1] - edges[0]
    normal = np.exp(-((middles - mean) ** 2) / (2.0 * max(variance, width**2)))
    found: Reals = (1.0 - _ANYWHERE) * normal / normal.sum() + _ANYWHERE / _CELLS
    return found


def _smoothed(places: Reals) -> Reals:
    padded = np.concatenate([places[:1], places, places[-1:]])
    found: Reals = (1.0 - _SMOOTHING) * places + _SMOOTHING * (padded[:-2] + padded[2:]) / 2.0
    return found
