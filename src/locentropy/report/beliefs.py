"""What published numbers leave open about the true values, as laws: how likely is a truth above a line?

`Settled` stands for mechanisms that publish the mean and the deviation of what is open, `Noisy` for those that
publish truth + noise. The highest of many noisy values are high partly by luck; so `Noisy` also uses how much places
vary among themselves, which the published values tell as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_HALVINGS: Final = 60  # of an interval: more than a float has digits
_SURE: Final = 1e-9
"""Errors below this part of the range of values are none, and a variation below its square is none."""


class Belief(Protocol):
    """What is open about the true values of some places."""

    def above(self, line: float) -> Reals:
        """For each place, the probability that its true value is above the line."""
        ...

    def certainty(self) -> Reals:
        """For each place, the part of the variance known beforehand that the release has settled, from 0 to 1."""
        ...


@dataclass(frozen=True, eq=False)
class Settled:
    """Truth ~ N(value, error²)."""

    value: Reals
    error: Reals

    def above(self, line: float) -> Reals:
        """See `Belief`."""
        from scipy.special import ndtr

        found: Reals = ndtr((self.value - line) / np.maximum(self.error, _least(self.value)))
        return found

    def certainty(self) -> Reals:
        """See `Belief`."""
        before = float(self.value.var() + (self.error**2).mean())
        return np.clip(1.0 - self.error**2 / before, 0.0, 1.0) if before > 0 else np.ones(len(self.value))


@dataclass(frozen=True, eq=False)
class Noisy:
    """Truth ~ N(mean, variance), value = truth + Laplace noise of a known standard error.

    Given the value v, the truth has the density of N(mean ± variance/b, variance) below and above v, b being the scale
    of the noise, with weights that make both meet at v. Noise is Laplace in most mechanisms of this kind, and lighter
    in the tails in the others; heavy tails say "less sure" there.
    """

    value: Reals
    error: Reals
    mean: float
    variance: float

    @classmethod
    def of(cls, value: Reals, error: Reals) -> Noisy:
        """With the mean and the variance that fit these values."""
        return cls(value, error, *variation(value, error))

    def above(self, line: float) -> Reals:
        """See `Belief`."""
        from scipy.special import log_ndtr

        if self.variance == 0.0:
            return np.full(len(self.value), float(line < self.mean))
        at, (value, slope, both) = (line - self.mean) / np.sqrt(self.variance), self._parts
        low = at < value
        # The part of the law on the line's own side of v: what is below the line, or what is above it.
        beyond = np.exp(
            np.where(low, -slope, slope) * value + log_ndtr(np.where(low, at, -at) - slope) - both
        )
        found: Reals = np.where(low, 1.0 - beyond, beyond)
        return found

    @cached_property
    def _parts(self) -> tuple[Reals, Reals, Reals]:
        """Value and 1/b in standard deviations of the truths, and the logarithm of both weights together."""
        from scipy.special import log_ndtr

        deviation = np.sqrt(self.variance)
        slope = np.sqrt(2.0) / np.maximum(self.error, _least(self.value)) * deviation
        value = (self.value - self.mean) / deviation
        below, above = -slope * value + log_ndtr(value - slope), slope * value + log_ndtr(-value - slope)
        return value, slope, np.logaddexp(below, above)

    def certainty(self) -> Reals:
        """See `Belief`."""
        return self.variance / (self.variance + np.maximum(self.error, _least(self.value)) ** 2)


def chances(belief: Belief, low: float, high: float, top: int) -> Reals:
    """The chance of each place to be above the line that `top` of them are expected above, somewhere in [low, high]."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if belief.above(middle).sum() > top else (low, middle)
    few, many = belief.above(high), belief.above(low)
    # Where places cannot be told apart the number above jumps; they share what is left of the `top`.
    gap = float(many.sum() - few.sum())
    share = 0.0 if gap <= 0 else min(max((top - float(few.sum())) / gap, 0.0), 1.0)
    return np.clip(few + share * (many - few), 0.0, 1.0)


def variation(value: Reals, error: Reals) -> tuple[float, float]:
    """Around which mean the true values vary, and with which variance, after Paule and Mandel; 0 if noise explains all.

    The variance is the one with which the weighted squares of deviations add up to their number less one.
    """
    least, freedom = _least(value), len(value) - 1

    def fit(variance: float) -> tuple[float, float]:
        weight = 1.0 / (variance + np.maximum(error, least) ** 2)
        mean = float((weight * value).sum() / weight.sum())
        return mean, float((weight * (value - mean) ** 2).sum())

    if freedom < 1 or fit(0.0)[1] <= freedom:
        return fit(0.0)[0], 0.0
    low, high = 0.0, float(np.ptp(value)) ** 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fit(middle)[1] > freedom else (low, middle)
    return fit(high)[0], high


def _least(value: Reals) -> float:
    """The smallest error that makes a difference."""
    return _SURE * max(float(np.ptp(value)), 1.0)
