"""What earlier releases take from the error of later ones, for places whose crowds follow a supposed law.

The supposed cities are those of `bayes_risk.py`, and places go on from period to period as the smoother supposes
(`series/transitions.py`): rates walk, now and then a place is another one, or shut. Places are simulated, with noisy
looks in every period; whoever sees all looks so far, and knows the laws, errs in ln n by the root of
E[Var(ln n | looks)]. The part of the error that is left, against whoever sees only the look of the period itself, is
what is told here. It is a calculation about supposed cities: real ones move in other ways, too. How far that is from
what was measured: `benchmarks/expected_series_error.py`.

Simulated by a fixed chance: equal public numbers give equal answers.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.bayes_risk import (
    GRID,
    WIDTHS,
    look_law,
    normal_quantiles,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.bayes_risk import LookNoise

    Reals = NDArray[np.float64]

KEPT: Final = 0.5
"""Of the gain that the model foretells, what is counted on where places move in other ways than it supposes."""

SETTLED: Final = 60
"""Periods after which hardly anything is gained any more: what was long ago says little."""

USUAL_PLACES: Final = 8.0
"""Places of a person, where nobody says."""

PLACES: Final = 400
"""Simulated; the parts below are then off by about 0.03."""
_STREAM: Final = 1 << 20
"""The first of the fixed chances that are drawn from; those of the estimator are others."""
_RATES: Final = 96
_LOWEST: Final = 1e-3
"""A rate below which a place is as good as never visited."""
_EXACT: Final = 300
"""Numbers of visitors up to which chance is computed as it is; of larger crowds it is about normal."""
_NOTHING: Final = 1e-12
_BEYOND: Final = 4.0
"""How many standard deviations of the law of rates are on the grid."""


def kept_at_most(part: float) -> float:
    """The part that is left where places move more than is supposed: only `KEPT` of the gain comes."""
    return 1 - KEPT * (1 - part)


def parts_left(
    noise: LookNoise, people_per_location: float, places_per_person: float | None, periods: int
) -> dict[float, tuple[float, ...]]:
    """By the width of a city's law the part of the mean squared error that is left in each period; 1 in the first.

    How many places a person visits hardly matters to it: where that is not said, it is a middling number.
    """
    each = USUAL_PLACES if places_per_person is None else max(places_per_person, 1.0)
    steps = min(periods, SETTLED)
    found = {width: _parts_left(noise, people_per_location * each, each, width, steps) for width in WIDTHS}
    return {width: left + left[-1:] * (periods - steps) for width, left in found.items()}


@lru_cache(maxsize=64)
def _parts_left(
    noise: LookNoise, visitors: float, places_per_person: float, width: float, periods: int
) -> tuple[float, ...]:
    rates, law = _law_of_rates(visitors, width)
    to_counts, seen_by = _poisson(rates), look_law(noise, places_per_person)
    looks = to_counts.T @ seen_by  # rate × look
    moves = Moves.of(rates, law)
    draw = _fixed_chances()
    at = _drawn(draw, np.repeat(law[:, None], PLACES, axis=1))
    everywhere, belief = law[:, None], np.repeat(law[:, None], PLACES, axis=1)
    entropy = np.log(np.maximum(GRID, 1.0))
    left = []
    for number in range(periods):
        if number:
            at = moves.moved(draw, at)
            belief, everywhere = moves.foresee(belief), moves.foresee(everywhere)
        seen = _drawn(draw, seen_by[_drawn(draw, to_counts[:, at])].T)
        # Whoever sees this look alone knows the law of all places as it is by now.
        given_all, alone = (
            _variance(to_counts @ known, seen_by[:, seen], entropy).mean() for known in (belief, everywhere)
        )
        left.append(float(min(given_all / max(alone, _NOTHING), 1.0)))
        belief = _normal(belief * looks[:, seen])
    return tuple(left)


def _law_of_rates(visitors: float, width: float) -> tuple[Reals, Reals]:
    """A grid of rates, the first of which is that of shut places, and how common each is."""
    middle = math.log(visitors) - width**2 / 2
    low = max(math.log(_LOWEST), middle - _BEYOND * width)
    logs = np.linspace(low, middle + _BEYOND * width, _RATES - 1)
    density = np.exp(-(((logs - middle) / width) ** 2) / 2)
    return np.r_[0.0, np.exp(logs)], np.r_[0.0, density / density.sum()]


def _poisson(rates: Reals) -> Reals:
    """How likely each number of visitors of the grid is at each rate: n × rate."""
    middles = (GRID[1:] + GRID[:-1]) / 2
    counts = np.arange(_EXACT)
    factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    law = np.zeros((GRID.size, rates.size))
    law[0, 0] = 1.0
    for number, rate in enumerate(rates[1:].tolist(), start=1):
        if 3 * rate < _EXACT:
            values, weights = counts, np.exp(counts * math.log(rate) - rate - factorials)
        else:
            values = rate + math.sqrt(rate) * normal_quantiles(200)
            weights = np.ones(values.size)
        law[:, number] = np.bincount(np.searchsorted(middles, values), weights=weights, minlength=GRID.size)
    return _normal(law)


class Moves(NamedTuple):
    """How places go on from one period to the next."""

    stay: Reals
    """The law of the next rate given the last, of places that go on as they were."""
    law: Reals
    """That of a place that is another one."""
    jump: float
    closing: float

    @classmethod
    def of(cls, rates: Reals, law: Reals) -> Moves:
        """As the smoother supposes."""
        from locentropy.mechanisms.shares.series.transitions import CLOSING, JUMP, WALK  # which loads SciPy

        logs = np.log(rates[1:])
        kernel = np.zeros((rates.size, rates.size))
        kernel[0, 0] = 1.0
        kernel[1:, 1:] = np.exp(-(((logs[:, None] - logs) / WALK) ** 2) / 2)
        return cls(kernel / kernel.sum(axis=0), law, JUMP, CLOSING)

    def foresee(self, known: Reals) -> Reals:
        """The law of each place's next rate, given that of its last: rate × place."""
        law: Reals = (1 - self.jump - self.closing) * (self.stay @ known) + self.jump * self.law[:, None]
        law[0] += self.closing
        return law

    def moved(self, draw: Iterator[Reals], at: NDArray[np.intp]) -> NDArray[np.intp]:
        """The next rates of places, by their numbers on the grid."""
        goes_on, chance = _drawn(draw, self.stay[:, at]), next(draw)
        anew = _drawn(draw, np.repeat(self.law[:, None], at.size, axis=1))
        return np.where(chance < self.closing, 0, np.where(chance < self.closing + self.jump, anew, goes_on))


def _fixed_chances() -> Iterator[Reals]:
    """Numbers in (0, 1), one for each place, as often as they are asked for."""
    from locentropy.mechanisms.shares.estimator.fixed_chance import fixed_uniforms  # which loads SciPy

    return (fixed_uniforms(PLACES, stream) for stream in count(_STREAM))


def _drawn(draw: Iterator[Reals], laws: Reals) -> NDArray[np.intp]:
    """One of each column's possibilities."""
    below = np.cumsum(laws, axis=0)
    found: NDArray[np.intp] = (next(draw) * below[-1] > below).sum(axis=0)
    return found


def _variance(prior: Reals, likelihood: Reals, values: Reals) -> Reals:
    """The posterior variance of each place; both are n × place, or the prior is the same for all."""
    posterior = _normal(prior * likelihood)
    mean = values @ posterior
    variance: Reals = np.maximum(values**2 @ posterior - mean**2, 0.0)
    return variance


def _normal(laws: Reals) -> Reals:
    normal: Reals = laws / np.maximum(laws.sum(axis=0), 1e-300)
    return normal
