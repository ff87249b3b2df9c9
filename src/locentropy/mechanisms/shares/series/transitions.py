"""How rates move from one period to the next, and what is learnt of it.

A place goes on as it was: its rate follows the growth of all places, which is common to them, and walks at random. Now
and then it is another place altogether, drawn anew from the law of all (a jump), or shut for good (a closing).

    λ_t = λ_{t−1} · e^growth · e^(WALK · N(0, 1))      with probability 1 − JUMP − CLOSING

Growth is where the past predicts the new looks best. It is one number for all places, but not all places grow: cells of
a grid over water stay empty. So what all new looks together say of the laws foreseen is a second correction: a factor
over rates, common to all places, by expectation-maximisation (empirical Bayes).

How far the walk, jumps and closings go matters little: gains hardly move when any of them is halved or doubled, and
walks learnt from the data were no better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

WALK: Final = 0.1
"""Standard deviation of ln λ in a period, beyond the growth of all."""
JUMP: Final = 0.008
CLOSING: Final = 0.003
"""Probabilities in a period. In a year of months about one place in ten is another, and one in thirty has closed."""
USUAL_GROWTH: Final = 0.5
"""Standard deviation of growth, in nats, before anything is seen."""
MOST_GROWTH: Final = 2.0
_PRECISION: Final = 0.005
ROUNDS: Final = 30
WIDTH: Final = 1.0
PULL_PLACES: Final = 20.0
"""Of expectation-maximisation: rounds, the standard deviation in nats over which its factor is smooth (so that a single
place does not make a law of its own), and so many places' worth of belief that nothing needs correction."""
_TAIL: Final = 1e-12
"""Of the walk: nothing is impossible."""


class Transition(NamedTuple):
    """One step between periods; public, as all that is learnt from noisy answers."""

    growth: float
    """ln of what rates are multiplied with."""
    kernel: Reals
    """The law of the new rate given the old one, without jumps and closings: new × old rate."""
    factor: Reals
    """What the new looks of all places say of each new rate."""

    def foresee(self, before: Reals, anew: Reals) -> Reals:
        """The law of the new rate of each place, up to a factor, given the old one and that of a place drawn anew.

        Both are rate × place; the latter may be the same for all, rate × 1.
        """
        law: Reals = self.stays(self.kernel @ before) + self.comes(anew)
        return law

    def stays(self, moved: Reals) -> Reals:
        """The part of places that went on as they were, given where they moved (rate × place)."""
        part: Reals = (1 - JUMP - CLOSING) * self.factor[:, None] * moved
        return part

    def comes(self, anew: Reals) -> Reals:
        """The part that does not depend on the old rate: jumps and closings."""
        part = JUMP * self.factor[:, None] * anew
        part[0] += CLOSING * self.factor[0]
        return part


def learn_transition(log_rates: Reals, before: Reals, anew: Reals, seen: Reals) -> Transition:
    """The step to a period in which each place's answers are as likely as `seen` (rate × place) at each rate."""

    def surprise(growth: float) -> float:
        foreseen = _step(log_rates, growth).foresee(before, anew)
        evidence = np.log(np.maximum((foreseen * seen).sum(axis=0), 1e-300)).sum()
        return (growth / USUAL_GROWTH) ** 2 / 2 - float(evidence)

    bounds = (-MOST_GROWTH, MOST_GROWTH)
    found = minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": _PRECISION})
    step = _step(log_rates, float(found.x))
    return step._replace(factor=common_factor(log_rates, step.foresee(before, anew), anew[:, 0], seen))


def _step(log_rates: Reals, growth: float) -> Transition:
    off = log_rates[:, None] - log_rates - growth
    kernel = np.exp(-((off / WALK) ** 2) / 2) + _TAIL * np.exp(-np.abs(off))
    kernel[:, 0] = 0.0
    kernel[0, 0] = 1.0  # what is shut stays shut, however others grow
    return Transition(growth, kernel / kernel.sum(axis=0), np.ones(log_rates.size))


def common_factor(
    log_rates: Reals, foreseen: Reals, anew: Reals, seen: Reals, places: NDArray[np.int64] | None = None
) -> Reals:
    """The factor by which foreseen laws (rate × place), taken together, fit the answers better.

    A column stands for one place, or for as many as `places` says.
    """
    around = np.exp(-(((log_rates[:, None] - log_rates) / WIDTH) ** 2) / 2)
    weights = np.ones(foreseen.shape[1]) if places is None else places.astype(np.float64)
    pull = PULL_PLACES * (around @ anew)
    factor = np.ones(len(foreseen))
    for _ in range(ROUNDS):
        law = _normal(foreseen * factor[:, None])
        found = _normal(law * seen)
        factor = factor * (around @ (found @ weights) + pull) / (around @ (law @ weights) + pull)
    return factor


def _normal(laws: Reals) -> Reals:
    normal: Reals = laws / np.maximum(laws.sum(axis=0), 1e-300)
    return normal
