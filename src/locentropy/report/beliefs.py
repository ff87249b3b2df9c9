"""What published numbers leave open about the true values, as laws: how likely is a truth above a line?

`Settled` stands for mechanisms that publish the mean and the deviation of what is open, `Noisy` for those that
publish truth + noise. The highest of many noisy values are high partly by luck; so `Noisy` also uses how true values
are spread over places, which the published values tell as well (`learning.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from locentropy.report.learning import distribution, learnt, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.report.learning import Law

    Reals = NDArray[np.float64]

_HALVINGS: Final = 60  # of an interval: more than a float has digits
_SURE: Final = 1e-9
"""Errors below this part of the range of values are none."""
_CHUNK: Final = 1 << 16
"""Places that are worked on at once, so that a million need no more memory than these."""


class Belief(Protocol):
    """What is open about the true values of some places."""

    @property
    def value(self) -> Reals:
        """Their published values."""
        ...

    @property
    def error(self) -> Reals:
        """Their published standard errors."""
        ...

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
    """Value = truth + Laplace noise of a known standard error, and the law of truths over places is learnt as well.

    That a value is cut to what is possible changes nothing: what noise would have led to or beyond the cut falls with
    the distance of the truth from it as the noise itself does. Noise is Laplace in most mechanisms of this kind, and
    lighter in the tails in the others; heavy tails say "less sure" there.
    """

    value: Reals
    error: Reals

    @cached_property
    def _scale(self) -> Reals:
        """Of the noise: its standard error over the root of two, and never nothing."""
        scale: Reals = np.maximum(self.error, _least(self.value)) / np.sqrt(2.0)
        return scale

    @cached_property
    def _law(self) -> Law:
        return learnt(self.value, self._scale)

    def above(self, line: float) -> Reals:
        """See `Belief`."""
        edges, weights = self._law.edges, self._law.weights
        if line < edges[0] or line >= edges[-1]:
            return np.full(len(self.value), float(line < edges[0]))
        cell = int(np.searchsorted(edges, line, side="right")) - 1
        whole, (all_cells, above_cell) = edges[cell + 1], self._sums(cell)
        part = distribution((whole - self.value) / self._scale) - distribution(
            (line - self.value) / self._scale
        )
        found: Reals = (above_cell + weights[cell] * part) / all_cells
        return found

    def _sums(self, cell: int) -> tuple[Reals, Reals]:
        """How likely each value is, and how likely together with a truth above a cell."""
        if cell not in self._known:
            weights = self._law.weights
            both = np.stack([weights, np.where(np.arange(len(weights)) > cell, weights, 0.0)], axis=1)
            parts = [
                within(self.value[at : at + _CHUNK], self._scale[at : at + _CHUNK], self._law.edges) @ both
                for at in range(0, len(self.value), _CHUNK)
            ]
            found = np.concatenate(parts)
            self._known[cell] = found[:, 0], found[:, 1]
        return self._known[cell]

    @cached_property
    def _known(self) -> dict[int, tuple[Reals, Reals]]:
        """The sums of cells that were asked for: a search for the line asks for few."""
        return {}

    def certainty(self) -> Reals:
        """See `Belief`."""
        return self._law.variance / (self._law.variance + 2.0 * self._scale**2)


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


def _least(value: Reals) -> float:
    """The smallest error that makes a difference."""
    return _SURE * max(float(np.ptp(value)), 1.0)
