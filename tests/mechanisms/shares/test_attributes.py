"""What public attributes say about places: planted effects are found, useless attributes change nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from locentropy.core.attributes import COORDINATES
from locentropy.core.locations import Locations
from locentropy.mechanisms.shares.estimator.attributes import (
    Attribute,
    AttributePriors,
    attribute_priors,
    declared_attributes,
    explained_by_name,
    location_cells,
)
from locentropy.mechanisms.shares.estimator.expectation_propagation import LevelSums, Scores
from locentropy.mechanisms.shares.estimator.ordered_probit import OrderedProbit
from locentropy.mechanisms.shares.estimator.variance_components import MOST_EXPLAINED
from locentropy.mechanisms.shares.estimator.visitor_prior import bin_presence

GRID = np.concatenate([np.arange(9), np.round(8 * 1.15 ** np.arange(1, 45))])
SHARE = 0.2
"""Presence of a visitor."""


def bell() -> np.ndarray:
    law = np.exp(-((np.log(np.maximum(GRID, 0.5)) - 1.8) ** 2) / (2 * 1.2**2))
    return law / law.sum()


PRIOR = bell()


class Made(NamedTuple):
    """Places of the model, and what is seen of them."""

    visitors: np.ndarray
    bin_of: np.ndarray
    seen: np.ndarray

    def priors(self, *attributes: Attribute, sums=()) -> AttributePriors:
        return attribute_priors(PRIOR, self.seen, self.bin_of, attributes, sums)

    def error_of_oracle(self, expected: np.ndarray, rest: float) -> float:
        """The error of who knows the expected score of every place."""
        return self.error(
            AttributePriors(
                *OrderedProbit(PRIOR, self.seen, rest).distinct_rows(expected, np.full_like(expected, rest)),
                (),
            )
        )

    def error(self, found: AttributePriors | None = None) -> float:
        """Mean squared error of the posterior mean of ln(n + 1)."""
        rows = np.repeat(PRIOR[None], self.bin_of.size, axis=0) if found is None else found.rows[found.row_of]
        posterior = rows * self.seen[:, self.bin_of].T
        mean = posterior @ np.log(GRID + 1) / posterior.sum(axis=1)
        return float(np.mean((mean - np.log(self.visitors + 1)) ** 2))


def made(draw: np.random.Generator, scores: np.ndarray, scale: float = 1.0) -> Made:
    """Places with these scores, and Laplace noise of this scale on their presence."""
    at = np.minimum(np.searchsorted(np.cumsum(PRIOR), ndtr(scores)), GRID.size - 1)
    look = SHARE * GRID[at] + scale * draw.laplace(size=scores.size)
    bins = bin_presence(look, scale)
    return Made(GRID[at], bins.bin_of, np.exp(-np.abs(SHARE * GRID[:, None] - bins.middle) / scale))


@pytest.fixture(scope="module")
def planted() -> tuple[Made, np.ndarray, np.ndarray]:
    """Places, their categories, and the true effects, which explain 40 %."""
    draw = np.random.default_rng(1)
    effects = draw.normal(0, np.sqrt(0.4), 60)
    category = draw.integers(0, 60, 6000)
    return made(draw, effects[category] + draw.normal(0, np.sqrt(0.6), 6000)), category, effects


def test_planted_effects_are_found(planted):
    places, category, effects = planted
    found = places.priors(Attribute("category", category))
    learnt = found.effects[0]
    assert learnt.name == "category"
    assert learnt.places.sum() == 6000
    assert abs(learnt.explained - 0.4) < 0.1
    assert np.corrcoef(learnt.effect, effects)[0, 1] > 0.95
    off = (learnt.effect - effects) / learnt.std_error
    assert np.mean(np.abs(off) < 2) > 0.85
    oracle = places.error_of_oracle(effects[category], 0.6)
    assert oracle < 0.85 * places.error()
    assert places.error(found) < 1.02 * oracle


def test_levels_in_another_order_change_nothing_about_places(planted):
    places, category, _ = planted
    there = np.random.default_rng(2).permutation(60)
    one, other = (places.priors(Attribute("category", levels)) for levels in (category, there[category]))
    np.testing.assert_allclose(one.rows[one.row_of], other.rows[other.row_of], atol=1e-9)


def test_places_in_another_order_have_the_same_priors(planted):
    places, category, _ = planted
    order = np.random.default_rng(3).permutation(category.size)
    one = places.priors(Attribute("category", category))
    other = places._replace(bin_of=places.bin_of[order]).priors(Attribute("category", category[order]))
    np.testing.assert_allclose(one.rows[one.row_of][order], other.rows[other.row_of], atol=1e-9)


def test_the_same_twice_is_the_same_bit_by_bit(planted):
    places, category, _ = planted
    one, other = (places.priors(Attribute("category", category)) for _ in range(2))
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(one.row_of, other.row_of)


def test_useless_attributes_cost_almost_nothing(planted):
    places, category, _ = planted
    useless = np.random.default_rng(4).permutation(category)
    found = places.priors(Attribute("category", useless))
    assert found.effects[0].explained < 0.05
    assert places.error(found) < 1.01 * places.error()


def test_useless_attributes_do_not_spoil_a_useful_one(planted):
    places, category, _ = planted
    draw = np.random.default_rng(5)
    useless = [
        Attribute(f"useless {levels}", draw.integers(0, levels, 6000)) for levels in (2, 30, 500, 3000)
    ]
    alone = places.priors(Attribute("category", category))
    found = places.priors(*useless, Attribute("category", category))
    assert places.error(found) < 1.02 * places.error(alone)


def test_a_level_for_every_place_changes_nothing(planted):
    places, category, _ = planted
    for nobody_shares in (np.arange(6000), np.full(6000, -1)):
        found = places.priors(Attribute("id", nobody_shares))
        np.testing.assert_allclose(found.rows[found.row_of], np.repeat(PRIOR[None], 6000, 0), atol=1e-6)
    alone = places.priors(Attribute("category", category))
    with_ids = places.priors(Attribute("category", category), Attribute("id", np.arange(6000)))
    assert places.error(with_ids) < 1.02 * places.error(alone)


def test_an_attribute_given_twice_counts_once(planted):
    places, category, _ = planted
    once = places.priors(Attribute("category", category))
    twice = places.priors(Attribute("category", category), Attribute("again", 59 - category))
    explained = sum(each.explained for each in twice.effects)
    assert abs(explained - once.effects[0].explained) < 0.1
    assert places.error(twice) < 1.01 * places.error(once)


def test_places_without_a_value_keep_the_prior_of_all(planted):
    places, category, _ = planted
    partly = np.where(np.arange(6000) % 2, category, -1)
    found = places.priors(Attribute("category", partly))
    np.testing.assert_allclose(found.rows[found.row_of[::2]], np.repeat(PRIOR[None], 3000, 0), atol=1e-6)
    assert places.error(found) < places.error()


def test_what_is_explained_is_bounded(planted):
    _, category, _ = planted
    draw = np.random.default_rng(6)
    exact = made(draw, draw.normal(size=40)[category % 40], 0.05)
    found = exact.priors(Attribute("category", category % 40), Attribute("half", category % 20))
    assert sum(each.explained for each in found.effects) <= MOST_EXPLAINED + 1e-9


def test_the_own_look_is_left_out(planted):
    places, category, _ = planted
    probit = OrderedProbit(PRIOR, places.seen, 0.6)
    rows = []
    for own in (0, places.seen.shape[1] - 1):
        bin_of = places.bin_of.copy()
        bin_of[17] = own
        scores = Scores(probit, bin_of, [category], np.array([0.4]), [None])
        scores.propagate()
        rows.append((scores.mean[17], scores.mean[category == category[17]].mean()))
    (own_low, others_low), (own_high, others_high) = rows
    assert abs(own_high - own_low) < 2e-3  # up to where the sweeps stop
    assert others_high > others_low + 5e-3


def test_noisy_sums_help_where_looks_are_weak():
    draw = np.random.default_rng(7)
    effects = draw.normal(0, np.sqrt(0.4), 50)
    category = draw.integers(0, 50, 5000)
    weak = made(draw, effects[category] + draw.normal(0, np.sqrt(0.6), 5000), 15.0)
    presence = np.repeat(SHARE * GRID[:, None], weak.seen.shape[1], axis=1)
    noisy = np.bincount(category, SHARE * weak.visitors, 50) + 30.0 * draw.laplace(size=50)
    sums = LevelSums(noisy, np.sqrt(2) * 30.0, weak.seen * presence, weak.seen * presence**2)
    without = weak.priors(Attribute("category", category))
    found = weak.priors(Attribute("category", category), sums=[sums])
    assert np.corrcoef(found.effects[0].effect, effects)[0, 1] > 0.8
    assert weak.error(found) < 0.95 * weak.error(without)


def test_noisy_sums_of_a_useless_attribute_cost_little():
    draw = np.random.default_rng(8)
    weak = made(draw, draw.normal(size=5000), 15.0)
    category = draw.integers(0, 50, 5000)
    presence = np.repeat(SHARE * GRID[:, None], weak.seen.shape[1], axis=1)
    noisy = np.bincount(category, SHARE * weak.visitors, 50) + 30.0 * draw.laplace(size=50)
    sums = LevelSums(noisy, np.sqrt(2) * 30.0, weak.seen * presence, weak.seen * presence**2)
    found = weak.priors(Attribute("category", category), sums=[sums])
    assert weak.error(found) < 1.01 * weak.error()


def test_cells_are_nested_squares_and_find_busy_quarters():
    draw = np.random.default_rng(9)
    lat, lon = draw.uniform(40.5, 40.9, 5000), draw.uniform(-74.2, -73.8, 5000)
    # Two halves of the town with a border that runs askew to all cells.
    effect = np.where((lat - 40.7) * 111 > (lon + 74.0) * 30, 0.6, -0.6)
    places = made(draw, effect + 0.8 * draw.normal(size=5000), 5.0)
    cells = location_cells(lat, lon)
    assert {each.name for each in cells} == {COORDINATES}
    counts = [int(each.level_of.max()) + 1 for each in cells]
    assert counts == sorted(counts)
    assert counts[0] == 4
    assert counts[-1] <= 2500
    found = places.priors(*cells)
    explained = sum(each.explained for each in found.effects)
    assert 0.2 < explained <= MOST_EXPLAINED
    gained, possible = (
        places.error() - error for error in (places.error(found), places.error_of_oracle(effect, 0.64))
    )
    assert gained > 0.75 * possible > 0


def test_cells_do_not_mind_missing_and_impossible_coordinates():
    lat = np.array([np.nan, 95.0, *np.linspace(10, 11, 50)])
    lon = np.array([20.0, 20.0, *np.linspace(179.5, 180.5, 50)])
    cells = location_cells(lat, np.where(lon > 180, lon - 360, lon))
    assert all(each.level_of[:2].tolist() == [-1, -1] for each in cells)
    assert cells[-1].level_of.max() >= 15  # the date line does not tear places apart
    assert location_cells(np.full(3, np.nan), np.full(3, np.nan)) == ()
    assert location_cells(np.zeros(9), np.zeros(9)) == ()


def test_what_the_list_declares_is_used_and_nothing_else():
    lat, lon = np.linspace(0, 1, 40), np.linspace(5, 6, 40)
    kind = pa.array(["café", None, "park", "café"] * 10)
    undeclared = Locations(pa.array(range(40)), lat=lat, lon=lon)
    assert declared_attributes(undeclared) == ()
    listed = Locations(pa.array(range(40)), None, lat, lon, {"kind": kind}, leans_on_coordinates=True)
    first, *cells = declared_attributes(listed)
    assert (first.name, first.level_of[:4].tolist()) == ("kind", [0, 1, 2, 0])
    assert cells
    assert {each.name for each in cells} == {COORDINATES}
    places = made(np.random.default_rng(10), np.random.default_rng(10).normal(size=40))
    explained = explained_by_name(places.priors(first, *cells).effects)
    assert [each.name for each in explained] == ["kind", COORDINATES]
    assert all(0 <= each.explained <= MOST_EXPLAINED for each in explained)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 5), st.floats(0, 300))
def test_any_numbers_give_priors(seed, listed, bins, steepness):
    draw = np.random.default_rng(seed)
    seen = np.exp(-steepness * draw.random((GRID.size, bins)))
    prior = draw.random(GRID.size) ** 20
    bin_of = draw.integers(0, bins, listed)
    attributes = [
        Attribute("one", draw.integers(-1, 4, listed)),
        Attribute("two", draw.integers(-1, listed, listed)),
    ]
    size = max(int(attributes[0].level_of.max()) + 1, 1)
    values = draw.normal(size=size) * 10.0 ** draw.integers(0, 12)
    sums = LevelSums(
        values, float(10.0 ** draw.integers(-3, 6)), seen * GRID[:, None], seen * GRID[:, None] ** 2.0
    )
    found = attribute_priors(prior, seen, bin_of, attributes, [sums, None])
    assert found.row_of.shape == (listed,)
    assert np.isfinite(found.rows).all()
    assert (found.rows >= 0).all()
    np.testing.assert_allclose(found.rows.sum(axis=1), 1.0)
    assert all(np.isfinite(each.effect).all() and 0 <= each.explained <= 1 for each in found.effects)
