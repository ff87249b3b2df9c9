"""Crowds: the law of n is a law, and that of the places it was learnt from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator import visitor_prior, visitor_shapes
from locentropy.mechanisms.shares.estimator.simulated_places import visitor_grid
from locentropy.mechanisms.shares.estimator.visitor_prior import bin_presence, likelihood
from tests.examples import examples

GRID = visitor_grid(100_000)
SHARE = 0.5
"""Presence of a visitor, the same for all: a look is then half the crowd, plus noise."""


def learnt(look: np.ndarray, scale: float, total: visitor_prior.Total | None = None) -> np.ndarray:
    bins = bin_presence(look, scale)
    presence = SHARE * GRID
    seen = likelihood(presence, bins, scale, "laplace")
    known = float(look.sum())
    deviation = scale * math.sqrt(2 * look.size)
    total = total or visitor_prior.Total(max(known, deviation), deviation, known, deviation, 1.0)
    most = max(float(look.max()), 2 * scale, 2 * SHARE)
    return visitor_prior.learn_visitor_prior(GRID, presence, seen, bins.places, total, most)


def looks(draw, count: np.ndarray, scale: float) -> np.ndarray:
    return SHARE * count + draw.laplace(0, scale, count.size)


def log_mean(law: np.ndarray) -> float:
    return float(law @ np.log1p(GRID))


@settings(max_examples=examples(5, nightly=400))
@given(
    look=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(np.array),
    scale=st.floats(0.01, 1000),
    value=st.floats(1e-3, 1e9),
    other=st.floats(-1e9, 1e9),
    deviation=st.floats(1e-3, 1e9),
)
def test_whatever_is_seen_there_is_a_law(look, scale, value, other, deviation):
    law = learnt(look, scale, visitor_prior.Total(value, deviation, other, 2 * deviation, 1.0))
    assert law.shape == GRID.shape
    assert np.isfinite(law).all()
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1)


PLANTED = {
    "bell": lambda draw: np.exp(draw.normal(2.5, 0.8, 3000)),
    "wide": lambda draw: np.exp(draw.normal(2.0, 1.6, 3000)),
    "all alike": lambda draw: np.full(3000, 40.0),
    "power": lambda draw: 4 * draw.pareto(1.2, 3000).clip(0, 5000),
    "homes and venues": lambda draw: np.where(
        draw.random(3000) < 0.7, 1.5, np.exp(draw.normal(4.5, 0.5, 3000))
    ),
}


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_where_noise_is_small_the_planted_law_is_found(kind, scale):
    draw = np.random.default_rng(3)
    count = draw.poisson(PLANTED[kind](draw))
    law = learnt(looks(draw, count, scale), scale)
    assert log_mean(law) == pytest.approx(np.log1p(count).mean(), abs=0.25)
    # Not only its mean: how many places have fewer than so many.
    for size in (3, 10, 30, 100):
        assert law[size > GRID].sum() == pytest.approx((count < size).mean(), abs=0.15)


@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_small_looks_mean_small_crowds(scale):
    draw = np.random.default_rng(4)
    found = [
        log_mean(learnt(looks(draw, draw.poisson(mean, 1000), scale), scale)) for mean in (1, 10, 100, 1000)
    ]
    assert (np.diff(found) > 0.7).all()


def test_under_heavy_noise_the_total_says_how_much_there_is():
    """Looks are nearly all noise, but the profile knows all presence together."""
    draw = np.random.default_rng(7)
    noisy = looks(draw, draw.poisson(np.exp(draw.normal(1.0, 0.8, 1000))), 30.0)
    for mean in (1.0, 4.0):
        total = 1000 * mean
        law = learnt(noisy, 30.0, visitor_prior.Total(total, 0.01 * total, total, 0.01 * total, 1.0))
        assert SHARE * float(law @ GRID) == pytest.approx(mean, rel=0.35)


def test_where_noise_allows_crowds_of_no_common_shape_are_found():
    """Three sizes and nothing between: no bell and no power law is like that."""
    draw = np.random.default_rng(8)
    count = draw.choice([4, 60, 900], 3000)
    law = learnt(looks(draw, count, 0.5), 0.5)
    for low, high in ((2, 8), (40, 90), (600, 1350)):
        assert law[(low <= GRID) & (high >= GRID)].sum() == pytest.approx(1 / 3, abs=0.1)


def test_a_bound_on_presence_is_kept_to_begin_with():
    draw = np.random.default_rng(5)
    law = learnt(looks(draw, draw.poisson(3, 500), 1.0), 1.0)
    assert law[GRID > 200].sum() < 0.01


def test_one_place_says_little_and_spoils_nothing():
    low, high = (learnt(np.array([look]), 1.0) for look in (1.0, 200.0))
    assert log_mean(low) < log_mean(high)


def test_when_only_noise_is_seen_the_law_is_of_small_crowds():
    noise = np.random.default_rng(6).laplace(0, 10, 300)
    law = learnt(noise, 10.0)
    assert SHARE * float(law @ GRID) < 15


@pytest.mark.parametrize("most", [3.0, 40.0, 1e4, 1e8])
def test_every_shape_is_moved_to_the_mean_it_is_told(most):
    """Where it can be: some shapes have long tails, and none may have crowds that are too large."""
    presence = SHARE * GRID
    shapes = visitor_shapes.MovableShapes.over(visitor_shapes.poisson(tuple(GRID.tolist())), presence, most)
    least, reachable = shapes.known[:, 0], np.where(shapes.known <= most, shapes.known, 0).max(axis=1)
    moved = 0
    for mean in (0.06, 0.3, 1.0, 2.5, 17.0, 300.0):
        laws, missed = shapes.with_mean(mean)
        assert laws.sum(axis=1) == pytest.approx(1)
        can = (least < mean) & (reachable > mean)
        assert (laws @ presence)[can] == pytest.approx(mean, rel=1e-3)
        assert np.log(laws @ presence / mean) == pytest.approx(missed, abs=1e-9)
        # A Poisson number may be above its intensity.
        assert laws[:, presence > 2 * most + 5].sum(axis=1).max() < 1e-3
        moved += can.sum()
    assert moved > len(least)


def weakly_learnt(count: np.ndarray, scale: float, share: float, cells: bool = False) -> np.ndarray:
    """The mean over some draws of noise of the law, where all presence together is known well."""
    presence, total = share * GRID, float(share * count.sum())
    known = visitor_prior.Total(total, 0.01 * total, total, 0.01 * total, 1.0)
    laws = []
    for seed in range(4):
        look = share * count + np.random.default_rng(seed).laplace(0, scale, count.size)
        bins = bin_presence(look, scale)
        seen = likelihood(presence, bins, scale, "laplace")
        most = max(float(look.max()) - scale * (math.log(count.size) - 2), 2 * scale)
        laws.append(
            visitor_prior.learn_visitor_prior(GRID, presence, seen, bins.places, known, most, cells=cells)
        )
    return np.mean(laws, axis=0)


@pytest.mark.parametrize(("middle", "spread"), [(3.7, 1.5), (3.2, 1.7), (4.0, 1.0), (1.2, 1.1)])
def test_under_heavy_noise_the_level_is_that_of_places_that_differ_as_places_do(middle, spread):
    """The noise is that of ε = 0.1. A law that explains the spread by empty places would be too low by half a nat."""
    draw = np.random.default_rng(31)
    count = np.maximum(draw.poisson(np.exp(draw.normal(middle, spread, 3000))), 1)
    assert log_mean(weakly_learnt(count, 20.0, 0.04)) == pytest.approx(np.log1p(count).mean(), abs=0.38)


def test_homes_are_not_taken_for_empty_places():
    """Most places have a handful of people, the others crowds, and none is between."""
    draw = np.random.default_rng(34)
    homes = 1 + draw.poisson(2.0, 3000)
    count = np.where(draw.random(3000) < 0.75, homes, draw.poisson(np.exp(draw.normal(5.5, 0.7, 3000))))
    law = weakly_learnt(count, 1.2, 0.08)
    assert law[0] < 0.3
    assert log_mean(law) == pytest.approx(np.log1p(count).mean(), abs=0.35)


def cells(empty: float) -> np.ndarray:
    draw = np.random.default_rng(32)
    crowds = np.maximum(draw.poisson(np.exp(draw.normal(2.5, 1.5, 8000))), 1)
    return np.where(draw.random(8000) < empty, 0, crowds)


@pytest.mark.parametrize("empty", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("told", [False, True])
def test_at_a_usual_budget_empty_cells_are_counted_whether_it_is_told_that_they_are_cells_or_not(empty, told):
    count = cells(empty)
    law = weakly_learnt(count, 1.2, 0.12, told)
    assert law[0] == pytest.approx(empty, abs=0.08)
    assert log_mean(law) == pytest.approx(np.log1p(count).mean(), abs=0.1)


@pytest.mark.parametrize("empty", [0.5, 0.8, 0.9])
def test_under_heavy_noise_cells_are_believed_to_be_empty_more_often_than_listed_places(empty):
    count = cells(empty)
    as_cells, as_list = (weakly_learnt(count, 20.0, 0.12, told) for told in (True, False))
    assert as_cells[0] > as_list[0] + 0.1
    assert log_mean(as_cells) == pytest.approx(np.log1p(count).mean(), abs=0.45)


@pytest.mark.parametrize("told", [False, True])
def test_crowds_far_above_the_noise_are_found_whatever_is_believed_of_empty_places(told):
    """A grid without an empty cell, and a list without a visited place to spare."""
    draw = np.random.default_rng(33)
    for count in (draw.poisson(40, 3000) + 1, np.where(draw.random(3000) < 0.7, 0, 50)):
        law = weakly_learnt(count, 0.5, 0.5, told)
        assert law[0] == pytest.approx((count == 0).mean(), abs=0.03)
