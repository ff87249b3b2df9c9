"""Ordered probit: the number of visitors of a place as a standard normal score, cut at the quantiles of the prior.

A place whose score is known to be N(mean, variance) has some probability for every n of the grid; with mean 0 and
variance 1 it is the visitor prior itself. So what shifts scores (`attributes.py`) leaves the visitor prior as it is for
places together, and a shift means the same in cities of all sizes.

What a bin of looks says about the mean of the score has a closed form: its marginal likelihood and two derivatives.
They are tabulated once by (variance, mean, bin) and interpolated, so the work for a place is a few multiplications.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

UNLIKE: Final = 1e-3
"""This part of places has nothing to do with what their score is expected to be."""

_MEANS: Final = np.linspace(-4.0, 4.0, 161)
_VARIANCES: Final = 9
_SMALLEST: Final = 1e-12


class Derivatives(NamedTuple):
    """Of the logarithm of the likelihood of each place's look, by the mean of its score."""

    first: Reals
    second: Reals


class Moments(NamedTuple):
    """Of the presence of each place given its look: what a sum over places is expected to be."""

    mean: Reals
    variance: Reals
    slope: Reals
    """Derivative of the mean by the mean of the score."""


class Cell(NamedTuple):
    """Where places are in the tables: four corners and their weights, corner × place."""

    corner: Indices
    weight: Reals


class PresenceTables(NamedTuple):
    """`Moments` by variance and mean of the score and bin of the look."""

    mean: Reals
    variance: Reals
    slope: Reals

    def at(self, cell: Cell) -> Moments:
        """The moments of each place."""
        return Moments(*(_read(table, cell) for table in self))


class OrderedProbit:
    """Scores with variances from `least` to 1, under a prior over n and the likelihood `seen` of bins of looks."""

    def __init__(self, prior: Reals, seen: Reals, least: float) -> None:
        self.prior = np.maximum(prior, 0.0) / prior.sum()
        reached = np.concatenate([[0.0], np.cumsum(self.prior)[:-1], [1.0]])
        self._cuts = ndtri(np.clip(reached, _SMALLEST, 1 - _SMALLEST))
        self._cuts[[0, -1]] = -np.inf, np.inf
        self.least = least
        self._variances = np.linspace(least, 1.0, _VARIANCES)
        self._tabulate(seen)

    def _tabulate(self, seen: Reals) -> None:
        self._bins = seen.shape[1]
        self._scale = np.maximum(seen.max(axis=0), 1e-300)
        seen = seen / self._scale
        shape = (_VARIANCES, _MEANS.size, self._bins)
        self._likelihood, self._first, second = np.empty(shape), np.empty(shape), np.empty(shape)
        for at, variance in enumerate(self._variances.tolist()):
            rows, by_mean, curvature = self._rows_and_derivatives(_MEANS, variance)
            self._likelihood[at] = np.maximum(rows @ seen, 1e-300)
            self._first[at] = by_mean @ seen / self._likelihood[at]
            second[at] = curvature @ seen / self._likelihood[at] - self._first[at] ** 2
        self._second = second

    def _rows_and_derivatives(self, mean: Reals, variance: float) -> tuple[Reals, Reals, Reals]:
        """Probabilities of every n, and their first and second derivative by the mean: mean × n."""
        away = (self._cuts - mean[:, None]) / math.sqrt(variance)
        inside = np.where(np.isfinite(away), away, 0.0)
        density = np.where(np.isfinite(away), np.exp(-(inside**2) / 2) / math.sqrt(2 * math.pi), 0.0)
        between = np.maximum(np.diff(ndtr(away), axis=1), 0.0)  # cuts in one place may differ by rounding
        rows = (1 - UNLIKE) * between + UNLIKE * self.prior
        by_mean = -(1 - UNLIKE) * np.diff(density, axis=1) / math.sqrt(variance)
        curvature = -(1 - UNLIKE) * np.diff(inside * density, axis=1) / variance
        return rows, by_mean, curvature

    def score_by_bin(self, seen: Reals) -> Reals:
        """The expected score of a place, given the bin of its look and nothing else."""
        posterior = self.prior[:, None] * seen
        _, by_mean, _ = self._rows_and_derivatives(np.zeros(1), 1.0)
        mean_score = by_mean[0] / ((1 - UNLIKE) * np.maximum(self.prior, 1e-300))
        score: Reals = (mean_score @ posterior) / np.maximum(posterior.sum(axis=0), 1e-300)
        return score

    def locate(self, mean: Reals, variance: Reals, bin_of: Indices) -> Cell:
        """Where scores of this mean and variance, seen in these bins, are in the tables."""
        row = _between(variance, self._variances)
        column = _between(mean, _MEANS)
        corners, weights = [], []
        for up in (0, 1):
            for right in (0, 1):
                at = (row[0] + up) * _MEANS.size + column[0] + right
                corners.append(at * self._bins + bin_of)
                weights.append((row[1] if up else 1 - row[1]) * (column[1] if right else 1 - column[1]))
        return Cell(np.stack(corners), np.stack(weights))

    def derivatives(self, cell: Cell) -> Derivatives:
        """How the likelihood of each place's look changes with the mean of its score."""
        return Derivatives(_read(self._first, cell), _read(self._second, cell))

    def presence(self, seen_presence: Reals, seen_square: Reals) -> PresenceTables:
        """Tables of the presence of places given their looks.

        They come from likelihood times presence, and likelihood times its square, at each n and bin.
        """
        seen_presence, seen_square = seen_presence / self._scale, seen_square / self._scale
        shape = self._likelihood.shape
        mean, square, slope = np.empty(shape), np.empty(shape), np.empty(shape)
        for at, variance in enumerate(self._variances.tolist()):
            rows, by_mean, _ = self._rows_and_derivatives(_MEANS, variance)
            mean[at] = rows @ seen_presence / self._likelihood[at]
            square[at] = rows @ seen_square / self._likelihood[at]
            slope[at] = by_mean @ seen_presence / self._likelihood[at] - mean[at] * self._first[at]
        return PresenceTables(mean, np.maximum(square - mean**2, 0.0), slope)

    def distinct_rows(self, mean: Reals, variance: Reals) -> tuple[Reals, Indices]:
        """Priors over n for places with these scores: the distinct ones, and which of them each place has.

        Scores are rounded to the tables' means and variances, so there are some thousand rows at most.
        """
        rounded = [
            np.rint(part).astype(np.intp)
            for part in (_position(variance, self._variances), _position(mean, _MEANS))
        ]
        key, row_of = np.unique(rounded[0] * _MEANS.size + rounded[1], return_inverse=True)
        rows = np.empty((key.size, self.prior.size))
        for at, each in enumerate(self._variances.tolist()):
            chosen = key // _MEANS.size == at
            rows[chosen] = self._rows_and_derivatives(_MEANS[key[chosen] % _MEANS.size], each)[0]
        return rows / rows.sum(axis=1, keepdims=True), row_of


def _position(value: Reals, grid: Reals) -> Reals:
    """Where values are on an even grid, counted in its steps."""
    at: Reals = np.clip((value - grid[0]) / (grid[-1] - grid[0]) * (grid.size - 1), 0, grid.size - 1)
    return at


def _between(value: Reals, grid: Reals) -> tuple[Indices, Reals]:
    """The point of an even grid below each value, and how far it is from there to the next."""
    at = _position(value, grid)
    below = np.minimum(at.astype(np.intp), grid.size - 2)
    return below, at - below


def _read(table: Reals, cell: Cell) -> Reals:
    value: Reals = (table.ravel()[cell.corner] * cell.weight).sum(axis=0)
    return value
