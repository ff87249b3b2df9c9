"""Simulated places keep to what n visitors can be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES, GROUP, fixed_deviates, spread_uniforms
from locentropy.mechanisms.shares.estimator.simulated_places import (
    LARGE,
    STEP,
    simulate_places,
    visitor_grid,
)
from locentropy.mechanisms.shares.estimator.visitor_laws import MIXED, STRATUM, USUAL_STRATA, VisitorLaws
from locentropy.mechanisms.shares.estimator.visitor_weights import VisitorWeights, Weighing
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES
from tests.examples import examples

from .made_up import bell

KINDS = ("laplace", "gaussian")
MOST = 100_000


def laws(most: int, visits: np.ndarray | None = None, scatter: float = 0.0) -> VisitorLaws:
    grid = visitor_grid(most)
    law = bell(0.5, 1.5, VISIT_OCTAVES) if visits is None else visits
    zeros = np.zeros(grid.size)
    return VisitorLaws(
        sizes=bell(2.0, 1.5, SIZE_OCTAVES),
        usual_visits=law,
        visits=np.tile(law, (grid.size, 1)),
        steepness=np.zeros(SIZE_OCTAVES),
        size_tilts=zeros,
        size_scatter=zeros + scatter,
        size_extra=np.zeros((grid.size, SIZE_OCTAVES)),
        visit_scatter=scatter,
    )


def weighing(noise: str, cap: float = 1.0) -> Weighing:
    return Weighing(noise, cap, many_from=3, clear=0.5)


@pytest.fixture(scope="module", params=KINDS)
def made(request):
    return simulate_places(laws(MOST, scatter=0.3), weighing(request.param), MOST)


def test_the_grid_has_every_small_number_and_no_wide_gap():
    for most in (2, 8, 9, 300, 10**7):
        grid = visitor_grid(most)
        assert grid[:9].tolist() == list(range(9))
        assert (np.diff(grid) > 0).all()
        assert (grid[2:] <= np.maximum(STEP * grid[1:-1] + 1, grid[1:-1] + 1)).all()
        assert grid[-1] >= most


def test_nobody_has_no_presence_and_one_has_no_entropy(made):
    for values in (made.presence, made.returning, made.summed, made.sizes, made.visits):
        assert (values[0] == 0).all()
    assert made.entropy[:2] == pytest.approx(0)
    assert (made.presence[1] > 0).all()


@settings(max_examples=examples(12), deadline=None)
@given(
    middle=st.floats(-3, 12),
    width=st.floats(0.1, 4),
    noise=st.sampled_from(KINDS),
    cap=st.sampled_from([1.0, 2.5, 50.0]),
    most=st.sampled_from([2, 20, 300, 5000]),
)
def test_entropy_is_between_nothing_and_that_of_equals(middle, width, noise, cap, most):
    law = bell(middle, width, VISIT_OCTAVES) + 1e-9
    made = simulate_places(laws(most, law / law.sum(), 0.4), weighing(noise, cap), most)
    # A cell of the grid stands for all n in it, and so for up to half a step more or less.
    slack = np.where(made.visitors < 20, 1e-9, math.log(STEP) / 2 + 1e-9)[:, None]
    assert (made.entropy >= -slack).all()
    assert (made.entropy <= np.log(np.maximum(made.visitors, 1))[:, None] + slack).all()
    for values in made:
        assert np.isfinite(values).all()
        assert (values >= 0).all() or values is made.entropy


def test_histograms_hold_the_same_presence(made):
    assert made.sizes.sum(axis=2) == pytest.approx(made.visits.sum(axis=(2, 3)), rel=1e-9)


def test_where_all_come_once_entropy_is_that_of_equals_and_nobody_returns():
    once = np.full(VISIT_OCTAVES, 1e-12)
    once[0] = 1.0
    made = simulate_places(laws(5000, once), weighing("laplace"), 5000)
    small = made.visitors < 20
    assert made.entropy[small] == pytest.approx(
        np.log(np.maximum(made.visitors[small], 1))[:, None] * np.ones(COPIES), abs=1e-9
    )
    assert (made.returning == 0).all() or made.returning.max() < 1e-3


def test_expectations_continue_draws(made):
    """Just beyond `LARGE` places are as those of just below, and larger in proportion."""
    first = int(np.searchsorted(made.visitors, LARGE))
    for values in (made.presence, made.returning, made.summed):
        here, there = ((values[at, :MIXED] / made.visitors[at]).mean() for at in (first - 1, first + 4))
        assert there == pytest.approx(here, rel=0.08)
    gaps = [np.log(made.visitors[at]) - made.entropy[at, :MIXED].mean() for at in (first - 1, first + 4)]
    assert gaps[1] == pytest.approx(gaps[0], abs=0.12)


def test_laplace_presence_is_that_of_shares():
    """Without scatter, a visitor has on average the share of the law: Σ weights of a user is 1."""
    made = simulate_places(laws(MOST), weighing("laplace"), MOST)
    equal = made.sizes.sum(axis=2)[:, :MIXED].mean(axis=1)
    look = made.presence[:, :MIXED].mean(axis=1)
    large = made.visitors > 50
    assert look[large] == pytest.approx(equal[large], rel=0.1)
    assert made.summed == pytest.approx(made.presence)


def test_strata_cover_the_copies():
    assert STRATUM.size == COPIES
    assert USUAL_STRATA.sum() == pytest.approx(1)
    assert STRATUM.max() == USUAL_STRATA.size - 1
    assert (np.diff(STRATUM) >= 0).all()


def test_higher_strata_have_more_who_return(made):
    at = int(np.searchsorted(made.visitors, 200))
    part = made.returning[at] / made.presence[at]
    by_stratum = np.bincount(STRATUM, part) / np.bincount(STRATUM)
    mixed = by_stratum[: STRATUM[MIXED - 1] + 1]
    assert mixed[-1] > 1.5 * mixed[0]
    assert by_stratum[-1] > 1.5 * by_stratum[STRATUM[MIXED]]


@given(count=st.integers(1, 20), stream=st.integers(0, 1000))
def test_chance_is_evenly_spread_over_copies_and_over_each_group(count, stream):
    numbers = spread_uniforms(count, stream)
    assert ((numbers > 0) & (numbers < 1)).all()
    of_all = np.sort(np.floor(COPIES * numbers), axis=0)
    assert (of_all == np.arange(COPIES)[:, None]).all()
    of_group = np.sort(np.floor(GROUP * numbers).reshape(-1, GROUP, count), axis=1)
    assert (of_group == np.arange(GROUP)[:, None]).all()


def test_a_copy_has_independent_chances():
    numbers = spread_uniforms(400, 3)
    between = np.corrcoef(numbers[:, :-1].ravel(), numbers[:, 1:].ravel())[0, 1]
    assert abs(between) < 4 / math.sqrt(numbers.size)


@pytest.mark.parametrize("noise", KINDS)
def test_who_has_one_place_is_all_there_however_often_they_come(noise):
    only = np.eye(SIZE_OCTAVES)[0]
    one_place = laws(300, scatter=0.3)._replace(sizes=only)
    found = simulate_places(one_place, weighing(noise), 300)
    small = found.visitors < 20
    assert found.presence[small] == pytest.approx(np.tile(found.visitors[small, None], COPIES))
    assert VisitorWeights.under(one_place, weighing(noise)).presence_per_user(one_place) == pytest.approx(1)


def test_a_user_has_a_unit_of_presence_in_all():
    found = VisitorWeights.under(laws(300), weighing("laplace"))
    assert found.presence_per_user(laws(300)) == pytest.approx(1, abs=0.03)


def test_deviates_are_normal_and_each_stream_has_its_order():
    here, there = fixed_deviates(1), fixed_deviates(2)
    assert np.sort(here) == pytest.approx(np.sort(there))
    assert (here != there).any()
    assert here.mean() == pytest.approx(0, abs=1e-9)
    assert here.std() == pytest.approx(1, abs=0.05)
