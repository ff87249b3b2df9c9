"""The lower bound on ε: against SciPy's own intervals, right as often as it says, and honest about its event."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from locentropy_lab.audit.confidence import (
    attack,
    epsilon_at_least,
    probability_at_least,
    probability_at_most,
)


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (1, 10), (7, 10), (10, 10), (35, 5000)])
def test_bounds_are_those_of_clopper_and_pearson(hits: int, runs: int) -> None:
    known = binomtest(hits, runs).proportion_ci(0.99, "exact")
    assert float(probability_at_least(hits, runs, 0.005)) == pytest.approx(known.low)
    assert float(probability_at_most(hits, runs, 0.005)) == pytest.approx(known.high)


@pytest.mark.parametrize(("p", "q", "delta"), [(0.2, 0.1, 0.0), (0.03, 0.011, 0.0), (0.3, 0.1, 0.05)])
def test_it_is_too_large_less_often_than_it_says(p: float, q: float, delta: float) -> None:
    """Over all that can be counted in two hundred runs each, by their probabilities: exactly."""
    runs, counts = 200, np.arange(201)
    bound = epsilon_at_least(counts[:, None], runs, counts[None, :], runs, delta, confidence=0.9)
    chance = np.outer(binom.pmf(counts, runs, p), binom.pmf(counts, runs, q))
    assert chance[bound > math.log((p - delta) / q)].sum() <= 0.1


def test_it_comes_close_with_many_runs() -> None:
    bound = float(epsilon_at_least(200_000, 10**6, 100_000, 10**6, 0.0))
    assert 0.98 * math.log(2) < bound < math.log(2)


def test_an_attack_on_nothing_shows_nothing() -> None:
    same = np.arange(1000.0)
    assert attack(same, same, 0.0).epsilon == 0.0
    assert attack(np.zeros(100), np.zeros(100), 0.0).epsilon == 0.0


@pytest.mark.parametrize(("chances", "bet"), [((0.7, 0.1), "at least"), ((0.9, 0.3), "at most")])
def test_an_attack_finds_the_event_in_either_direction(chances: tuple[float, float], bet: str) -> None:
    draw = np.random.default_rng(5)
    likely, other = (draw.binomial(1, chance, 40_000).astype(float) for chance in chances)
    found = attack(likely, other, 0.0)
    assert bet in found.event
    assert 1.8 < found.epsilon < math.log(0.7 / 0.1)
    assert found.counted == 2 * 26_666


def test_what_is_certain_for_one_and_impossible_for_the_other_is_bounded_by_the_runs() -> None:
    found = attack(np.ones(2000), np.zeros(2000), 0.0)
    assert 4.0 < found.epsilon < math.log(2000)


def test_delta_is_taken_off() -> None:
    likely, other = np.array([1.0, 1.0, 0.0, 0.0] * 5000), np.zeros(20_000)
    assert attack(likely, other, 0.0).epsilon > 5
    assert attack(likely, other, 0.6).epsilon == 0.0
