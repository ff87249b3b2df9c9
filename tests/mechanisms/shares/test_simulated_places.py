"""The cloud: made-up places that keep to what n visitors can be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator import histogram_smoothing
from locentropy.mechanisms.shares.estimator.simulated_places import LARGE, STEP, simulate_places, visitor_grid
from locentropy.mechanisms.shares.measurements import SIZE_OCTAVES, TABLE, VISIT_OCTAVES
from tests.examples import examples

from .made_up import LAWS, SIZES, bell

PAIRS = TABLE.rows / TABLE.unit
EVEN = np.eye(VISIT_OCTAVES)[:2]
"""Everybody comes once; everybody comes twice."""


@pytest.fixture(scope="module")
def made():
    return simulate_places(SIZES, LAWS, PAIRS, 1.0, 1_000_000)


def test_the_grid_has_every_small_number_and_no_wide_gap():
    for most in (2, 8, 9, 300, 10**7):
        grid = visitor_grid(most)
        assert grid[:9].tolist() == list(range(9))
        assert (np.diff(grid) > 0).all()
        assert (grid[2:] <= np.maximum(STEP * grid[1:-1] + 1, grid[1:-1] + 1)).all()
        assert grid[-1] >= most


def test_nobody_has_no_presence_and_one_has_no_entropy(made):
    assert (made.presence[0] == 0).all()
    assert (made.pair[0] == 0).all()
    assert made.entropy[:2] == pytest.approx(0)
    assert (made.presence[1] > 0).all()


@settings(max_examples=examples(15))
@given(
    middle=st.floats(-3, 12),
    width=st.floats(0.1, 4),
    cap=st.sampled_from([1.0, 1.5, 2.5, 5.0, 50.0]),
    most=st.sampled_from([2, 20, 300, 5000]),
)
def test_entropy_is_between_nothing_and_that_of_equals(middle, width, cap, most):
    """A cell of the grid stands for all n in it, and so for up to half a step more."""
    law = bell(middle, width, VISIT_OCTAVES)[None]
    made = simulate_places(SIZES, law, PAIRS, cap, most)
    # Half a step further down, a place that is nearly one visitor's may fall below 0; whoever reads it must not mind.
    half = math.log(STEP) / 2
    several = np.maximum(made.visitors, 1)[:, None, None]
    slack = np.where(several < 20, 1e-9, half)
    assert (made.entropy >= -slack).all()
    assert (made.entropy <= np.log(several) + slack).all()
    assert (made.presence <= made.visitors[:, None] / cap * math.exp(half) + 1e-9).all()


def test_equals_have_the_entropy_of_equals():
    made = simulate_places(SIZES, EVEN, PAIRS, 1.0, 100_000)
    within = np.log(STEP) / 2
    logs = np.log(np.maximum(made.visitors, 1))
    for law in range(len(EVEN)):
        assert made.entropy[:, law].mean(axis=1) == pytest.approx(logs, abs=within)
        # Everybody adds the same pair to a unit of presence.
        expected = made.presence[..., None] * PAIRS[law]
        assert made.pair[:, law] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("cap", [1.0, 2.5, 5.0])
def test_mean_presence_is_n_mean_shares(cap):
    made = simulate_places(SIZES, LAWS, PAIRS, cap, 1_000_000)
    mean = float(SIZES @ histogram_smoothing.mean_share(SIZE_OCTAVES, cap))
    enough = made.visitors >= 100
    assert made.presence[enough].mean(axis=1) / made.visitors[enough] == pytest.approx(mean, rel=0.06)
    few = (made.visitors >= 1) & ~enough
    assert (made.presence[few].mean(axis=1) / made.visitors[few]).mean() == pytest.approx(mean, rel=0.1)


def test_more_visitors_have_more_of_everything(made):
    presence, entropy = made.presence.mean(axis=1), made.entropy.mean(axis=2)
    assert (presence[2:] > 0.9 * presence[1:-1]).all()
    assert (np.diff(presence)[made.visitors[1:] > 2 * LARGE] > 0).all()
    assert (np.diff(entropy[::4], axis=0) > 0)[1:].all()


def test_beyond_the_largest_simulated_place_things_go_on_as_before(made):
    """Per visitor nothing jumps at the seam, and deviations go on falling with √n."""
    seam = int(np.searchsorted(made.visitors, LARGE))
    below, above = slice(seam - 4, seam), slice(seam + 1, seam + 5)
    several = made.visitors[:, None]
    per_visitor = made.presence / several.clip(1)
    missing = np.log(several.clip(1))[..., None] - made.entropy
    assert per_visitor[above].mean() == pytest.approx(per_visitor[below].mean(), rel=0.05)
    by_law = [missing[part].mean(axis=(0, 2)) for part in (below, above)]
    assert by_law[1] == pytest.approx(by_law[0], abs=0.15)
    for further in (seam + 10, seam + 20):
        assert (missing[further] - missing[seam]).mean(axis=1) == pytest.approx(0, abs=0.05)
    # Without the spread of n over its cell, what is left is chance.
    first, later = (np.std(missing[at] + spread(made.visitors[at]), axis=1) for at in (seam, seam + 10))
    falls = math.sqrt(made.visitors[seam] / made.visitors[seam + 10])
    assert later == pytest.approx(first * falls, rel=0.1)
    first, later = (np.std(per_visitor[at] / np.exp(spread(made.visitors[at]))) for at in (seam, seam + 10))
    assert later == pytest.approx(first * falls, rel=0.1)


def spread(visitors: int) -> np.ndarray:
    """How the copies are spread over the cell of n, in ln n: where all come equally often, entropy is ln n."""
    even = simulate_places(SIZES, EVEN[:1], PAIRS, 1.0, int(visitors))
    apart: np.ndarray = even.entropy[-1, 0] - np.log(visitors)
    return apart


def test_the_same_answers_give_the_same_cloud(made):
    again = simulate_places(SIZES, LAWS, PAIRS, 1.0, 1_000_000)
    for here, there in zip(made, again, strict=True):
        assert (here == there).all()


def test_a_law_of_regulars_lowers_entropy_and_not_presence():
    regulars = 0.9 * EVEN[0] + 0.1 * np.eye(VISIT_OCTAVES)[6]
    made = simulate_places(SIZES, np.stack([EVEN[0], regulars]), PAIRS, 1.0, 1000)
    busy = made.visitors >= 30
    even, ruled = made.entropy[busy].mean(axis=2).T
    assert (ruled < even - 0.5).all()
