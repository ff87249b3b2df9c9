"""Attributes: what public attributes of places say about their numbers of visitors.

Cafés are like other cafés, and streets like their neighbours. The score of a place (`ordered_probit.py`) is a sum of
normal effects, one for its level of each attribute, and a rest of its own; together they have variance 1, so an
attribute that explains nothing changes nothing.

    variance components   how much each attribute explains, learnt from pairs of places
    effects               of every level, by expectation propagation from the looks of its places and its noisy sum
    priors                for every place, from the looks of the *others*

A place's own look is left out of its prior (it is the cavity distribution of expectation propagation), because the
posterior uses that look itself. Attributes are public and come with the list of places; looks and sums are noisy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.effect_tree import EffectTree, Information, Values
from locentropy.mechanisms.shares.estimator.ordered_probit import OrderedProbit
from locentropy.mechanisms.shares.estimator.variance_components import (
    MOST_EXPLAINED,
    MomentEquations,
    pair_equations,
    sum_equations,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.estimator.ordered_probit import Cell, Moments

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

EXPECTED_CATEGORY: Final = 0.25
"""The part of the spread that a category explains, before anything is seen."""
EXPECTED_LOCATION: Final = 0.1
"""The same of where places are, over cells of all sizes."""

COORDINATES: Final = "coordinates"
"""The name of the cells, of whatever size."""

NEGLIGIBLE: Final = 1e-3
"""Attributes that explain less are left out."""
_SWEEPS: Final = 20
_DAMPING: Final = 0.7
_TURNS: Final = 2
_CONVERGED: Final = 1e-3
_FARTHEST: Final = 3.0
"""Levels are believed to be at most so many standard deviations off, when their sums are linearised."""
_FEWEST_CELLS: Final = 4
_HALVINGS: Final = 24


class Attribute(NamedTuple):
    """One public attribute: the level of each place."""

    name: str
    level_of: Indices
    """0, 1, …; −1 where it is not known, which is a level of its own that no other place shares."""
    expected: float = EXPECTED_CATEGORY
    """The part of the spread that it explains, before anything is seen."""


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


class LevelEffects(NamedTuple):
    """What was learnt about one attribute; derived from noisy numbers, so it may be shown."""

    name: str
    explained: float
    """The part of the spread between places that it explains; with nested ones, its own part."""
    places: NDArray[np.int64]
    """How many places each level has,"""
    effect: Reals
    """how far their scores are from those of all places, in standard deviations,"""
    std_error: Reals
    """and how sure that is."""


class AttributePriors(NamedTuple):
    """A prior over n for every place, from the attributes and the looks of other places."""

    rows: Reals
    """The distinct ones, each summing to 1: row × n."""
    row_of: Indices
    """The row of each place."""
    effects: tuple[LevelEffects, ...]
    """One for each attribute."""


def location_cells(lat: Reals, lon: Reals) -> tuple[Attribute, ...]:
    """Squares of several sizes, each half as wide as the one around it, from a quarter of all places to pairs."""
    known = np.isfinite(lat) & np.isfinite(lon) & (np.abs(lat) <= 90.0)
    if not known.any():
        return ()
    middle = float(np.median(lat[known]))
    east = (lon[known] - float(np.median(lon[known])) + 180.0) % 360.0 - 180.0
    position = np.stack([lat[known], east * math.cos(math.radians(middle))])
    position -= position.min(axis=1, keepdims=True)
    finest = 2**_HALVINGS
    row, column = np.minimum(
        (position * (finest / max(float(position.max()), 1e-9))).astype(np.int64), finest - 1
    )
    # Interleaved bits: the cells of one size are those of the next without the last two bits.
    code = _spread_bits(row) << 1 | _spread_bits(column)
    order = np.argsort(code, kind="stable")
    places = np.flatnonzero(known)[order]
    sizes: list[Attribute] = []
    enough: float = _FEWEST_CELLS
    for halving in range(1, _HALVINGS + 1):
        cell = code[order] >> 2 * (_HALVINGS - halving)
        number = np.concatenate([[0], np.cumsum(cell[1:] != cell[:-1])])
        count = int(number[-1]) + 1
        if count > places.size / 2:
            break
        if count >= enough:
            level_of = np.full(lat.size, -1, dtype=np.intp)
            level_of[places] = number
            sizes.append(Attribute(COORDINATES, level_of))
            enough = 1.5 * count  # a size that hardly divides anything is skipped
    return tuple(each._replace(expected=EXPECTED_LOCATION / len(sizes)) for each in sizes)


def _spread_bits(value: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number of at most `_HALVINGS` bits with a zero before each."""
    spread = np.zeros_like(value)
    for bit in range(_HALVINGS):
        spread |= (value >> bit & 1) << 2 * bit
    return spread


def attribute_priors(
    prior: Reals,
    seen: Reals,
    bin_of: Indices,
    attributes: Sequence[Attribute],
    sums: Sequence[LevelSums | None] = (),
) -> AttributePriors:
    """Priors over n for every place.

    `prior` is that of all places; `seen` the likelihood of each bin's look at each n: n × bin; `bin_of` the bin of
    each place; `sums` has an entry for each attribute, None where no sums were asked, or is empty.
    """
    asked = list(sums) if sums else [None] * len(attributes)
    levels = [_levels(each.level_of) for each in attributes]
    components = _components(prior, seen, bin_of, attributes, levels, asked)
    used = np.flatnonzero(components > NEGLIGIBLE).tolist()
    if not used:
        row_of = np.zeros(bin_of.size, dtype=np.intp)
        return AttributePriors((prior / prior.sum())[None], row_of, _effects(attributes, components, {}))
    probit = OrderedProbit(prior, seen, 1.0 - float(components[used].sum()))
    scores = _Scores(
        probit, bin_of, [levels[at] for at in used], components[used], [asked[at] for at in used]
    )
    values = dict(zip(used, scores.propagate(), strict=True))
    rows, row_of = probit.distinct_rows(scores.mean, probit.least + scores.variance)
    return AttributePriors(rows, row_of, _effects(attributes, components, values))


def _levels(level_of: Indices) -> Indices:
    """Levels where places without a value have a level each."""
    levels = np.array(level_of, dtype=np.intp)
    unknown = levels < 0
    levels[unknown] = levels.max(initial=-1) + 1 + np.arange(int(unknown.sum()))
    return levels


def _components(
    prior: Reals,
    seen: Reals,
    bin_of: Indices,
    attributes: Sequence[Attribute],
    levels: Sequence[Indices],
    sums: Sequence[LevelSums | None],
) -> Reals:
    """How much each attribute explains."""
    if not attributes:
        return np.zeros(0)
    probit = OrderedProbit(prior, seen, 1.0 - MOST_EXPLAINED)
    scores = probit.score_by_bin(seen)[bin_of]
    equations = MomentEquations(np.array([each.expected for each in attributes]))
    pair_equations(equations, scores, max(float(scores.var()), 1e-6), levels)
    cell = probit.locate(np.zeros(bin_of.size), np.ones(bin_of.size), bin_of)
    for attribute, (asked, level_of) in enumerate(zip(sums, levels, strict=True)):
        if asked is not None:
            moments = probit.presence(asked.seen_presence, asked.seen_square).at(cell)
            told = _told_by_sums(moments, asked, level_of, attributes[attribute].expected)
            sum_equations(equations, attribute, told.shift, 1 / told.precision)
    return equations.solve()


class _ToldBySums(NamedTuple):
    """How far the scores of levels are off, judged by noisy sums; with what precision; and its weights of places."""

    shift: Reals
    precision: Reals
    slope: Reals


def _told_by_sums(moments: Moments, asked: LevelSums, level_of: Indices, component: float) -> _ToldBySums:
    """The sums against what the looks of their places make expect, linearised in a common shift of their scores."""
    size = int(level_of.max()) + 1
    asked_of = min(asked.values.size, size)
    expected, variance, slope = (np.bincount(level_of, part, size)[:asked_of] for part in moments)
    slope = np.maximum(slope, 1e-9)
    precision = np.maximum(slope**2 / (variance + asked.deviation**2), 1e-9)
    farthest = _FARTHEST * np.sqrt(component + 1 / precision)
    shift = np.clip((asked.values[:asked_of] - expected) / slope, -farthest, farthest)
    return _ToldBySums(shift, precision, moments.slope)


class _Scores:
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

    def _read_sums(self, cell: Cell) -> dict[int, _ToldBySums]:
        return {
            at: _told_by_sums(
                self._presence[at].at(cell), asked, self._levels[at], float(self._components[at])
            )
            for at, asked in enumerate(self._sums)
            if asked is not None
        }

    def _fit(self, at: int, sums: dict[int, _ToldBySums]) -> tuple[Values, ...]:
        """Fit the effects of one tree to what the others leave, and leave each place's own site out of its own."""
        tree, leaf = self._trees[at], self._trees[at].leaf_of
        others = np.sum(self._fitted, axis=0) - self._fitted[at]
        own = Information(self._site.precision, self._site.weighted - self._site.precision * others)
        told = [
            self._information(at, sums[attribute], attribute, size) if attribute in sums else None
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

    def _information(self, at: int, told: _ToldBySums, attribute: int, size: int) -> Information:
        """What noisy sums say about the values of their levels; nothing about levels without one."""
        level_of = self._levels[attribute]
        around = np.bincount(level_of, told.slope * self._cavities[at].mean, size)
        around /= np.maximum(np.bincount(level_of, told.slope, size), 1e-9)
        precision, weighted = np.zeros(size), np.zeros(size)
        precision[: told.precision.size] = told.precision
        weighted[: told.precision.size] = told.precision * (around[: told.precision.size] + told.shift)
        return Information(precision, weighted)


def _effects(
    attributes: Sequence[Attribute], components: Reals, values: dict[int, Values]
) -> tuple[LevelEffects, ...]:
    """What was learnt about every level that has a value."""
    learnt = []
    for at, each in enumerate(attributes):
        places = np.bincount(each.level_of[each.level_of >= 0])
        effect, error = np.zeros(places.size), np.zeros(places.size)
        if at in values:
            effect, error = values[at].mean[: places.size], np.sqrt(values[at].variance[: places.size])
        learnt.append(LevelEffects(each.name, float(components[at]), places, effect, error))
    return tuple(learnt)
