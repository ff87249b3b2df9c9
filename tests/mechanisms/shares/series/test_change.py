"""Change: probabilities are those of a sum over all pairs of rates, and only what is sure is told."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.series.change import (
    NOTABLE,
    SHUT_BY,
    SURE,
    Moves,
    compare,
    compare_neighbours,
)
from locentropy.mechanisms.shares.series.transitions import CLOSING, JUMP, _step
from tests.examples import examples

LOG_RATES = np.arange(math.log(0.02), 5.0, 0.35)
RATES = LOG_RATES.size


def law(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(RATES, 0.5))[:, None]


def kind(new: int, old: int, growth: float) -> tuple[bool, bool, bool]:
    """Rose, fell, closed: the definition in words of the docs."""
    by = max(LOG_RATES[new], 0.0) - max(LOG_RATES[old], 0.0)
    return (
        by > NOTABLE + max(growth, 0.0),
        by < -NOTABLE + min(growth, 0.0),
        by < -SHUT_BY + min(growth, 0.0),
    )


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 1000), growth=st.sampled_from([-0.6, 0.0, 0.4]))
def test_independent_laws_are_compared_pair_by_pair(seed: int, growth: float) -> None:
    then, now = law(seed), law(seed + 5000)
    expected = np.zeros(3)
    for new, old in product(range(RATES), repeat=2):
        expected += now[new, 0] * then[old, 0] * np.array(kind(new, old, growth))
    found = compare(LOG_RATES, growth, then, now)
    np.testing.assert_allclose([found.rose[0], found.fell[0], found.closed[0]], expected, atol=1e-12)


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 1000), growth=st.sampled_from([-0.6, 0.0, 0.4]))
def test_neighbouring_periods_are_compared_under_their_joint_law(seed: int, growth: float) -> None:
    before, anew, seen = law(seed), law(seed + 5000), law(seed + 9000)
    factor = np.random.default_rng(seed).uniform(0.5, 2.0, RATES)
    step = _step(LOG_RATES, growth)._replace(factor=factor)
    expected, total = np.zeros(3), 0.0
    for new, old in product(range(RATES), repeat=2):
        moves = (1 - JUMP - CLOSING) * step.kernel[new, old] + JUMP * anew[new, 0] + CLOSING * (new == 0)
        joint = before[old, 0] * moves * factor[new] * seen[new, 0]
        total += joint
        expected += joint * np.array(kind(new, old, growth))
    found = compare_neighbours(LOG_RATES, step, before, anew, seen)
    np.testing.assert_allclose([found.rose[0], found.fell[0], found.closed[0]], expected / total, atol=1e-9)


def test_rates_below_one_visitor_are_all_alike() -> None:
    below = np.flatnonzero(LOG_RATES < 0)
    then, now = np.zeros((RATES, 1)), np.zeros((RATES, 1))
    then[below[0]], now[below[-1]] = 1.0, 1.0
    assert compare(LOG_RATES, 0.0, then, now).rose[0] == 0.0


def moves(rose: float, fell: float, closed: float, since: int = 1) -> Moves:
    return Moves(np.array([rose]), np.array([fell]), np.array([closed]), np.array([since]))


@pytest.mark.parametrize(
    ("probabilities", "change", "probability"),
    [
        ((0.2, 0.1, 0.0), "none", 0.2),
        ((SURE, 0.0, 0.0), "rose", SURE),
        ((0.0, 0.97, 0.3), "fell", 0.97),
        ((0.0, 0.99, 0.96), "closed", 0.96),
        ((SURE - 1e-9, 0.0, 0.0), "none", SURE - 1e-9),
    ],
)
def test_only_what_is_sure_is_told(
    probabilities: tuple[float, float, float], change: str, probability: float
) -> None:
    told, how_likely, since = moves(*probabilities).told()
    assert told.tolist() == [change]
    assert how_likely.tolist() == [pytest.approx(probability)]
    assert since.tolist() == [0 if change == "none" else 1]


def test_of_two_comparisons_the_one_that_tells_more_counts() -> None:
    found = moves(0.3, 0.1, 0.0).or_since(moves(0.0, 0.98, 0.97), 3)
    assert found.told()[0].tolist() == ["closed"]
    assert found.since.tolist() == [3]
    found = moves(0.99, 0.0, 0.0).or_since(moves(0.5, 0.2, 0.0), 3)
    assert found.told()[0].tolist() == ["rose"]
    assert found.since.tolist() == [1]
