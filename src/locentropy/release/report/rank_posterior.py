"""What published values leave open about the true ones, as probabilities: how likely is a true value above a line?

`ModelPosterior` is for mechanisms that publish the mean and the deviation of what is open, `DeconvolvedPosterior` for
those that publish truth + noise. The highest of many noisy values are high partly by luck. So the latter also uses how
true values are spread over places, which the published values tell as well: `deconvolve` estimates that density by
expectation-maximisation with smoothing, from a normal start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Places = NDArray[np.intp] | slice

_CELLS: Final = 64
_STEPS: Final = 100
_SMOOTHING: Final = 0.2
"""The part of a cell's weight that goes to its neighbours in each step."""
_START: Final = 100.0
"""Places that the start counts as, because few places with much noise tell little."""
_ANYWHERE: Final = 1e-3
"""The part of the start that is spread evenly, so that weight can grow where the normal density has none."""
_MOST_PLACES: Final = 20_000
"""Of longer lists, as many places are taken at even steps by value: more do not change the density."""
_SAME: Final = 1e-9
"""Values that lie within this range are all the same."""
_HALVINGS: Final = 60  # of an interval: more than a float has digits
_SURE: Final = 1e-9
"""Errors below this part of the range of values count as this part."""
_HALF_WIDTH: Final = 1.96
"""Standard errors from the middle of a 95 % interval to its ends."""
_OWN: Final = (1 / 8, 3 / 8, 5 / 8, 7 / 8)
"""Parts of an error's variance that may be a place's own, where error bars come from a model; the rest all share."""
_ALL: Final = slice(None)
_NEVER: Final = 1e-20
"""A chance so small that as many as there are places on earth do not add up to a digit of ten."""
_CHUNK: Final = 1 << 16
"""Places that are computed at once, to bound the memory."""


class Posterior(Protocol):
    """The distribution of the true values of some places, given the published ones."""

    @property
    def value(self) -> Reals:
        """Their published values."""
        ...

    @property
    def error(self) -> Reals:
        """Their published standard errors."""
        ...

    def above(self, line: float, places: Places = _ALL) -> Reals:
        """For each place, or each of some, the probability that its true value is above the line."""
        ...

    def cases(self) -> Sequence[Posterior]:
        """What it may be, all equally likely, where something about all places together is not known."""
        ...

    def certainty(self) -> Reals:
        """For each place, the part of the prior variance that the release has removed, from 0 to 1."""
        ...


@dataclass(frozen=True, eq=False)
class ModelPosterior:
    """Truth = value + an error that all places share + one of its own, which is normal on either side of the value.

    Error bars of a model allow for the model being off. Where it is off, it is so at all places alike: if it takes
    visitors for more loyal than they are, all values are too low, and places keep their order. So only a place's own
    error counts. Which part of the variance that is no release can tell: it may be anything from none to all. The
    sides differ where the interval does: a value near 0 has nowhere to go but up, and that a place was hardly seen
    leaves little room above.
    """

    value: Reals
    error: Reals
    """The standard error, shared part included."""
    up: Reals
    """The error towards higher values, shared part included."""
    down: Reals
    """The error towards lower values, likewise."""
    own: float = 1.0
    """The part of the variance that is not shared."""

    @classmethod
    def of(
        cls, value: Reals, error: Reals, low: Reals | None = None, high: Reals | None = None
    ) -> ModelPosterior:
        """From a value, its standard error, and the ends of its 95 % interval, if there is one.

        A mechanism may extend an interval for the rare case, so a side is never taken to be wider than the error.
        """
        down = error if low is None else np.minimum(error, np.maximum(value - low, 0.0) / _HALF_WIDTH)
        return cls(value, error, upward(value, error, high), down)

    def above(self, line: float, places: Places = _ALL) -> Reals:
        """See `Posterior`."""
        from scipy.special import ndtr

        value = self.value[places]
        side = np.where(value < line, self.up[places], self.down[places]) * np.sqrt(self.own)
        found: Reals = ndtr((value - line) / np.maximum(side, _least(self.value)))
        return found

    def cases(self) -> Sequence[Posterior]:
        """See `Posterior`."""
        return [replace(self, own=part) for part in _OWN]

    def certainty(self) -> Reals:
        """See `Posterior`."""
        before = float(self.value.var() + (self.error**2).mean())
        return np.clip(1.0 - self.error**2 / before, 0.0, 1.0) if before > 0 else np.ones(len(self.value))


@dataclass(frozen=True, eq=False)
class DeconvolvedPosterior:
    """Value = truth + Laplace noise of a known standard error; the density of truths over places is estimated.

    Clipping a value to what is possible changes nothing: the probability of noise that leads to or beyond the limit
    falls with the distance of the truth from it as the density of the noise does. Noise is Laplace in most mechanisms
    of this kind, and has lighter tails in the others, for which the result errs towards "less sure".
    """

    value: Reals
    error: Reals

    @cached_property
    def _scale(self) -> Reals:
        """The scale of the noise: its standard error over the root of two, and never 0."""
        scale: Reals = np.maximum(self.error, _least(self.value)) / np.sqrt(2.0)
        return scale

    @cached_property
    def _density(self) -> StepDensity:
        return deconvolve(self.value, self._scale)

    def above(self, line: float, places: Places = _ALL) -> Reals:
        """See `Posterior`."""
        edges, weights = self._density.edges, self._density.weights
        value, scale = self.value[places], self._scale[places]
        if line < edges[0] or line >= edges[-1]:
            return np.full(len(value), float(line < edges[0]))
        cell = int(np.searchsorted(edges, line, side="right")) - 1
        whole, (all_cells, above_cell) = edges[cell + 1], self._sums(cell)
        part = distribution((whole - value) / scale) - distribution((line - value) / scale)
        found: Reals = (above_cell[places] + weights[cell] * part) / all_cells[places]
        return found

    def cases(self) -> Sequence[Posterior]:
        """See `Posterior`."""
        return [self]

    def _sums(self, cell: int) -> tuple[Reals, Reals]:
        """The likelihood of each value, and that of the value together with a truth above a cell."""
        if cell not in self._known:
            weights = self._density.weights
            both = np.stack([weights, np.where(np.arange(len(weights)) > cell, weights, 0.0)], axis=1)
            parts = [
                within(self.value[at : at + _CHUNK], self._scale[at : at + _CHUNK], self._density.edges)
                @ both
                for at in range(0, len(self.value), _CHUNK)
            ]
            found = np.concatenate(parts)
            self._known[cell] = found[:, 0], found[:, 1]
        return self._known[cell]

    @cached_property
    def _known(self) -> dict[int, tuple[Reals, Reals]]:
        """The sums of cells that were needed: a search for the line needs few."""
        return {}

    def certainty(self) -> Reals:
        """See `Posterior`."""
        return self._density.variance / (self._density.variance + 2.0 * self._scale**2)


def upward(value: Reals, error: Reals, high: Reals | None) -> Reals:
    """The error towards higher values: as wide as the interval is there, and never wider than the standard error."""
    if high is None:
        return error
    side: Reals = np.minimum(error, np.maximum(high - value, 0.0) / _HALF_WIDTH)
    return side


def chances(posterior: Posterior, low: float, high: float, top: int) -> Reals:
    """The chance of each place to be above the line in [low, high] that `top` of them are expected above."""
    candidates = np.arange(len(posterior.value))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        found = posterior.above(middle, candidates)
        if found.sum() > top:
            # Whoever is never above this line is never above a higher one.
            low, candidates = middle, candidates[found > _NEVER]
        else:
            high = middle
    few, many = posterior.above(high), posterior.above(low)
    # Where places cannot be told apart, the number above jumps: they share what is left of the `top`.
    gap = float(many.sum() - few.sum())
    share = 0.0 if gap <= 0 else min(max((top - float(few.sum())) / gap, 0.0), 1.0)
    return np.clip(few + share * (many - few), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class StepDensity:
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


def deconvolve(value: Reals, scale: Reals) -> StepDensity:
    """The density of the truths behind values with Laplace noise of these scales, none of which is 0."""
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
    return StepDensity(edges, weights)


def within(value: Reals, scale: Reals, edges: Reals) -> Reals:
    """For each value and each cell, the probability of noise that leads from the cell to the value."""
    found: Reals = np.diff(distribution((edges - value[:, None]) / scale[:, None]), axis=1)
    return found


def distribution(at: Reals) -> Reals:
    """The distribution function of Laplace noise of scale 1, minus one half, so that small differences keep digits."""
    found: Reals = -0.5 * np.sign(at) * np.expm1(-np.abs(at))
    return found


def variation(value: Reals, error: Reals) -> tuple[float, float]:
    """Mean and variance of the true values after Paule and Mandel; variance 0 if noise explains all differences.

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


def _least(value: Reals) -> float:
    """The smallest error that is taken into account."""
    return _SURE * max(float(np.ptp(value)), 1.0)
