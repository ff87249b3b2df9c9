"""How much places differ in who comes is learnt: error bars are narrow where places are alike, wide where not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.heterogeneity import USUAL, learn_heterogeneity
from locentropy.mechanisms.shares.estimator.inference import infer
from locentropy.mechanisms.shares.estimator.visitor_model import fit_visitors
from locentropy.mechanisms.shares.measurements import ShareQueries

from .made_up import communities, entropies, of_people, population

MOST = 100_000
LISTED = 600
ASKED = {"laplace": ShareQueries(5.0), "gaussian": ShareQueries(5.0, 1e-8)}


def test_without_bands_it_is_what_is_usual():
    for between in (np.zeros(0), np.zeros(1)):
        assert learn_heterogeneity(between, np.full(between.size, 0.05)) == pytest.approx(USUAL, rel=0.15)


def test_bands_lost_in_noise_say_nothing():
    noisy = np.random.default_rng(0).normal(0, 20, 8)
    assert learn_heterogeneity(noisy, np.full(8, 20.0)) == pytest.approx(USUAL, rel=0.15)


def test_it_grows_with_how_much_bands_differ():
    bands = np.linspace(-1.5, 1.5, 8)
    found = [learn_heterogeneity(bands * spread, np.full(8, 0.02)) for spread in (0.01, 0.1, 0.3, 0.6)]
    assert (np.diff(found) > 0).all()
    assert found[0] < 0.15
    assert found[-1] > 0.5


def test_more_bands_that_are_alike_say_more():
    found = [learn_heterogeneity(np.zeros(bands), np.full(bands, 0.02)) for bands in (1, 2, 4, 8)]
    assert (np.diff(found) < 0).all()


@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(1e-3, 1e4)), max_size=12), st.floats(-5, 5))
def test_it_is_a_deviation_and_a_common_shift_does_not_matter(bands, shift):
    between, deviation = np.array(bands, dtype=np.float64).reshape(-1, 2).T
    found = learn_heterogeneity(between, deviation)
    assert 0.03 < found < 0.75
    assert learn_heterogeneity(between + shift, deviation) == pytest.approx(found, rel=1e-6)


@cache
def reading(kind: str, noise: str):
    """(rows, answers) of people who choose by popularity alone, and of communities."""
    draw = np.random.default_rng(21)
    alike = kind == "alike"
    rows = population(draw, 20_000, LISTED, 1.0) if alike else communities(draw, 20_000, LISTED, 30)
    return rows, of_people(*rows, LISTED, ASKED[noise], seed=22)


@pytest.mark.parametrize("noise", list(ASKED))
def test_it_is_told_from_noisy_answers(noise):
    alike, apart = (fit_visitors(reading(kind, noise)[1], MOST) for kind in ("alike", "apart"))
    assert alike.heterogeneity < 0.6 * USUAL
    assert apart.heterogeneity > 1.15 * USUAL


@pytest.mark.parametrize(("noise", "widest"), [("laplace", 1.5), ("gaussian", 1.3)])
def test_intervals_are_narrow_where_places_are_alike_and_still_hold(noise, widest):
    """With what is usual instead of what is learnt, they are 1.76 and 1.41 wide."""
    rows, answers = reading("alike", noise)
    found, truth = infer(answers, MOST), entropies(*rows[1:], LISTED)
    busy = np.bincount(rows[1], minlength=LISTED) >= 50
    held = (found.low <= truth) & (truth <= found.high)
    assert held[busy].mean() >= 0.95
    assert (found.high - found.low)[busy].mean() < widest


@pytest.mark.parametrize(("noise", "least"), [("laplace", 0.90), ("gaussian", 0.92)])
def test_intervals_hold_where_places_differ(noise, least):
    """As often as is asked of them on every city of `benchmarks/utility.py`."""
    rows, answers = reading("apart", noise)
    found, truth = infer(answers, MOST), entropies(*rows[1:], LISTED)
    busy = np.bincount(rows[1], minlength=LISTED) >= 20
    held = (found.low <= truth) & (truth <= found.high)
    assert held[busy].mean() >= least
