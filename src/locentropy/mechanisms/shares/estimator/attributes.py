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

from locentropy.core.attributes import COORDINATES
from locentropy.core.estimates import AttributeEffect
from locentropy.mechanisms.shares.estimator.expectation_propagation import Scores, told_by_sums
from locentropy.mechanisms.shares.estimator.ordered_probit import OrderedProbit
from locentropy.mechanisms.shares.estimator.variance_components import (
    MOST_EXPLAINED,
    MomentEquations,
    pair_equations,
    sum_equations,
)
from locentropy.mechanisms.shares.levels import public_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.mechanisms.shares.estimator.effect_tree import Values
    from locentropy.mechanisms.shares.estimator.expectation_propagation import LevelSums

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

EXPECTED_CATEGORY: Final = 0.25
"""The part of the spread that a category explains, before anything is seen."""
EXPECTED_LOCATION: Final = 0.1
"""The same of where places are, over cells of all sizes."""

NEGLIGIBLE: Final = 1e-3
"""Attributes that explain less are left out."""
_FEWEST_CELLS: Final = 4
_HALVINGS: Final = 24


class Attribute(NamedTuple):
    """One public attribute: the level of each place."""

    name: str
    level_of: Indices
    """0, 1, …; −1 where it is not known, which is a level of its own that no other place shares."""
    expected: float = EXPECTED_CATEGORY
    """The part of the spread that it explains, before anything is seen."""


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


def declared_attributes(locations: Locations) -> tuple[Attribute, ...]:
    """What the list declares as public: its attributes, in their order, and then its coordinates if they are."""
    named = tuple(Attribute(each.name, each.of_place) for each in public_levels(locations))
    if not locations.leans_on_coordinates or locations.lat is None or locations.lon is None:
        return named
    return named + location_cells(locations.lat, locations.lon)


def explained_by_name(effects: Sequence[LevelEffects]) -> tuple[AttributeEffect, ...]:
    """The part of the spread that each attribute explains; coordinates as one, over cells of all sizes."""
    parts: dict[str, float] = {}
    for each in effects:
        parts[each.name] = parts.get(each.name, 0.0) + each.explained
    return tuple(AttributeEffect(name, part) for name, part in parts.items())


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
    asked = [
        _of_known_levels(each, attribute)
        for each, attribute in zip(sums or [None] * len(attributes), attributes, strict=True)
    ]
    levels = [_levels(each.level_of) for each in attributes]
    components = _components(prior, seen, bin_of, attributes, levels, asked)
    used = np.flatnonzero(components > NEGLIGIBLE).tolist()
    if not used:
        row_of = np.zeros(bin_of.size, dtype=np.intp)
        return AttributePriors((prior / prior.sum())[None], row_of, _effects(attributes, components, {}))
    probit = OrderedProbit(prior, seen, 1.0 - float(components[used].sum()))
    scores = Scores(probit, bin_of, [levels[at] for at in used], components[used], [asked[at] for at in used])
    values = dict(zip(used, scores.propagate(), strict=True))
    rows, row_of = probit.distinct_rows(scores.mean, probit.least + scores.variance)
    return AttributePriors(rows, row_of, _effects(attributes, components, values))


def _levels(level_of: Indices) -> Indices:
    """Levels where places without a value have a level each."""
    levels = np.array(level_of, dtype=np.intp)
    unknown = levels < 0
    levels[unknown] = levels.max(initial=-1) + 1 + np.arange(int(unknown.sum()))
    return levels


def _of_known_levels(sums: LevelSums | None, attribute: Attribute) -> LevelSums | None:
    """The sums of levels that places have; None if there are none."""
    known = int(attribute.level_of.max(initial=-1)) + 1
    return None if sums is None or known == 0 else sums._replace(values=sums.values[:known])


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
    unknown = np.zeros(bin_of.size)
    cell = probit.locate(unknown, np.ones(bin_of.size), bin_of)
    for attribute, (asked, level_of) in enumerate(zip(sums, levels, strict=True)):
        if asked is not None:
            moments = probit.presence(asked.seen_presence, asked.seen_square).at(cell)
            told = told_by_sums(moments, asked, level_of, unknown, attributes[attribute].expected)
            sum_equations(equations, attribute, told.score, 1 / told.precision)
    return equations.solve()


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
