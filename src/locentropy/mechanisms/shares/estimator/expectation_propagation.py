"""Expectation propagation: from noisy looks and sums to effects of levels and expected scores of places.

The look of a place is no normal observation of its score: small looks say nearly nothing, large ones much. So each is
stood for by a normal site, chosen next to what all others say; levels then are a linear normal model, solved by
`effect_tree.py`. What all others say about a place, its cavity distribution, is what its prior is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.effect_tree import EffectTree, Information, Values, total_by_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.estimator.ordered_probit import Cell, Moments, OrderedProbit

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

_SWEEPS: Final = 20
_DAMPING: Final = 0.7
_TURNS: Final = 2
_CONVERGED: Final = 1e-3
_FARTHEST: Final = 3.0
"""Levels are believed to be at most so many standard deviations off, when their sums are linearised."""


class LevelSums(NamedTuple):
    """Noisy sums of presence by the levels of one attribute."""

    values: Reals
    """One for each level."""
    deviation: float
    """Standard deviation of their noise."""
    seen_presence: Reals
    """Likelihood times presence of simulated places, at each n and bin of looks (the mean over copies): n × bin."""
    seen_square: Reals
    """Likelihood times the square of presence, likewise."""


class ToldBySums(NamedTuple):
    """What noisy sums by level say about the expected scores of their places."""

    score: Reals
    """Where the places of each level are on average, each weighing by how much its presence would change,"""
    precision: Reals
    """how sure that is,"""
    weight: Reals
    """and the weights: one for each place."""


def told_by_sums(
    moments: Moments, asked: LevelSums, level_of: Indices, mean: Reals, component: float
) -> ToldBySums:
    """The sums against what the looks of their places make expect, linearised in a common shift of their scores.

    `moments` are those of presence at the expected scores `mean`; `component` is the variance of levels.
    """
    size = min(asked.values.size, int(level_of.max()) + 1)
    expected, variance, slope = (total_by_level(level_of, part, size)[:size] for part in moments)
    slope = np.maximum(slope, 1e-9)
    precision = np.maximum(slope**2 / (variance + asked.deviation**2), 1e-9)
    farthest = _FARTHEST * np.sqrt(component + 1 / precision)
    shift = np.clip((asked.values[:size] - expected) / slope, -farthest, farthest)
    around = total_by_level(level_of, moments.slope * mean, size)[:size] / slope
    return ToldBySums(around + shift, precision, moments.slope)


class Scores:
    """Expectation propagation: what each place's look says about its expected score, and what follows for levels.

    A look is stood for by a normal site (precision, precision times mean), chosen so that mean and variance of the
    expected score come out right next to what the others say. Effects of attributes that are not nested are fitted in
    turns, each to what the others leave (backfitting), as if independent given the sites.
    """

    def __init__(
        self,
        probit: OrderedProbit,
        bin_of: Indices,
        levels: Sequence[Indices],
        components: Reals,
        sums: Sequence[LevelSums | None],
    ) -> None:
        self._probit, self._bin_of, self._levels, self._sums = probit, bin_of, levels, sums
        self._components = components
        self._presence = {
            at: probit.presence(asked.seen_presence, asked.seen_square)
            for at, asked in enumerate(sums)
            if asked is not None
        }
        self._trees = EffectTree.forest(levels)
        self._variances = [components[list(tree.attributes)] for tree in self._trees]
        self._site = Information(np.zeros(bin_of.size), np.zeros(bin_of.size))
        self._cavities = [
            Values(np.zeros(bin_of.size), np.full(bin_of.size, variances.sum()))
            for variances in self._variances
        ]
        self._fitted = [np.zeros(bin_of.size) for _ in self._trees]

    @property
    def mean(self) -> Reals:
        """The expected score of each place, judged by the others,"""
        total: Reals = np.sum([each.mean for each in self._cavities], axis=0)
        return total

    @property
    def variance(self) -> Reals:
        """and its variance, without the rest that is the place's own."""
        total: Reals = np.sum([each.variance for each in self._cavities], axis=0)
        return total

    def propagate(self) -> list[Values]:
        """Sweep until expected scores stay as they are; the values of the levels of each attribute."""
        values: dict[int, Values] = {}
        for sweep in range(_SWEEPS):
            before = self.mean
            cell = self._probit.locate(before, self._probit.least + self.variance, self._bin_of)
            self._update_sites(cell, 1.0 if sweep == 0 else _DAMPING)
            sums = self._read_sums(cell)
            for _ in range(1 if len(self._trees) == 1 else _TURNS):
                for at, tree in enumerate(self._trees):
                    found = self._fit(at, sums)
                    values.update(zip(tree.attributes, found, strict=True))
            if float(np.abs(self.mean - before).max()) < _CONVERGED:
                break
        return [values[at] for at in range(len(self._levels))]

    def _update_sites(self, cell: Cell, step: float) -> None:
        mean, variance = self.mean, self.variance
        first, second = self._probit.derivatives(cell)
        # A look says at most where the score is, never that it is less certain than it was.
        second = np.clip(second, -1 / (self._probit.least + variance), 0.0)
        left = 1 + variance * second
        site = Information(-second / left, (first - mean * second) / left)
        self._site = Information(
            *(old + step * (new - old) for old, new in zip(self._site, site, strict=True))
        )

    def _read_sums(self, cell: Cell) -> dict[int, ToldBySums]:
        mean = self.mean
        return {
            at: told_by_sums(
                self._presence[at].at(cell), asked, self._levels[at], mean, float(self._components[at])
            )
            for at, asked in enumerate(self._sums)
            if asked is not None
        }

    def _fit(self, at: int, sums: dict[int, ToldBySums]) -> tuple[Values, ...]:
        """Fit the effects of one tree to what the others leave, and leave each place's own site out of its own."""
        tree, leaf = self._trees[at], self._trees[at].leaf_of
        others = np.sum(self._fitted, axis=0) - self._fitted[at]
        own = Information(self._site.precision, self._site.weighted - self._site.precision * others)
        told = [
            self._information(sums[attribute], attribute, others, size) if attribute in sums else None
            for attribute, size in zip(tree.attributes, tree.sizes, strict=True)
        ]
        looks = tree.gathered(*own)
        told[-1] = looks if told[-1] is None else told[-1].and_also(looks)
        values = tree.posterior(told, self._variances[at])
        self._fitted[at] = values[-1].mean[leaf]
        precision = 1 / values[-1].variance[leaf]
        cavity = np.maximum(precision - own.precision, 1 / self._variances[at].sum())
        self._cavities[at] = Values((precision * self._fitted[at] - own.weighted) / cavity, 1 / cavity)
        return values

    def _information(self, told: ToldBySums, attribute: int, others: Reals, size: int) -> Information:
        """What noisy sums say about the values of their levels, beyond the other trees; nothing where there is none."""
        level_of, known = self._levels[attribute], told.precision.size
        weight = np.maximum(total_by_level(level_of, told.weight, size), 1e-9)
        value = told.score - (total_by_level(level_of, told.weight * others, size) / weight)[:known]
        precision, weighted = np.zeros(size), np.zeros(size)
        precision[:known], weighted[:known] = told.precision, told.precision * value
        return Information(precision, weighted)
