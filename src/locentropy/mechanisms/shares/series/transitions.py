"""How rates move from one period to the next, and what is learnt of it.

A place goes on as it was: its rate follows the growth of all places, which is common to them, and walks at random. Now
and then it is another place altogether, drawn anew from the law of all (a jump), or shut for good (a closing).

    λ_t = λ_{t−1} · e^growth · e^(walk · N(0, 1))      with probability 1 − JUMP − CLOSING

Growth and walk are those under which the past predicts the new looks best. That is one number each for all places, so
thousands of looks say it well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from locentropy.mechanisms.shares.series.intensities import STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

JUMP: Final = 0.008
CLOSING: Final = 0.003
"""Probabilities in a period. In a year of months about one place in ten is another, and one in thirty has closed."""
WALKS: Final = (0.05, 0.1, 0.2, 0.4)
"""Standard deviations of ln λ in a period that are tried."""
USUAL_GROWTH: Final = 0.5
"""Standard deviation of growth, in nats, before anything is seen."""
MOST_GROWTH: Final = 2.0
_TAIL: Final = 1e-12
"""Of the walk: nothing is impossible."""


class Moving(NamedTuple):
    """One step between periods; public, as all that is learnt from noisy answers."""

    growth: float
    """ln of what rates are multiplied with."""
    stays: Reals
    """Probabilities of the new rate given the old one, without jumps and closings: rate × rate, columns sum to
    1 − JUMP − CLOSING."""

    def foresee(self, before: Reals, anew: Reals) -> Reals:
        """The law of the new rate of each place (rate × place), given the old one and the law of places anew."""
        law: Reals = self.stays @ before + self.comes(anew) * before.sum(axis=0)
        return law

    def comes(self, anew: Reals) -> Reals:
        """The part of the law that does not depend on the old rate."""
        law: Reals = JUMP * anew
        law[0] += CLOSING
        return law


class Walk:
    """What successive periods say of the walk: the scores of all that are tried."""

    def __init__(self, log_rates: Reals) -> None:
        self.log_rates = log_rates
        self.scores = np.zeros(len(WALKS))

    @property
    def weights(self) -> Reals:
        """How much each walk is believed."""
        weights = np.exp(self.scores - self.scores.max())
        normal: Reals = weights / weights.sum()
        return normal

    def moving(self, growth: float, weights: Reals) -> Moving:
        """A step with this growth, and a walk of the weighted standard deviations."""
        off = self.log_rates[:, None] - self.log_rates - growth
        kernel = np.zeros_like(off)
        for walk, weight in zip(WALKS, weights.tolist(), strict=True):
            # Between two points of the grid a narrow walk would reach neither.
            width = max(walk, STEP / 4)
            near = np.exp(-((off / width) ** 2) / 2) + _TAIL * np.exp(-np.abs(off))
            kernel += weight * near / near.sum(axis=0)
        kernel[:, 0] = 0.0
        kernel[0, 0] = 1.0  # what is shut stays shut, however others grow
        return Moving(growth, (1 - JUMP - CLOSING) * kernel)

    def learn(self, before: Reals, anew: Reals, seen: Reals) -> Moving:
        """The step to a period in which each place's answers are as likely as `seen` (rate × place) at each rate."""

        def surprise(growth: float, weights: Reals) -> float:
            foreseen = (self.moving(growth, weights).foresee(before, anew) * seen).sum(axis=0)
            return -float(np.log(np.maximum(foreseen, 1e-300)).sum())

        so_far = self.weights
        found = minimize_scalar(
            lambda growth: surprise(growth, so_far) + (growth / USUAL_GROWTH) ** 2 / 2,
            bounds=(-MOST_GROWTH, MOST_GROWTH),
            method="bounded",
            options={"xatol": STEP / 20},
        )
        growth = float(found.x)
        self.scores = self.scores - [surprise(growth, each) for each in np.eye(len(WALKS))]
        return self.moving(growth, self.weights)
