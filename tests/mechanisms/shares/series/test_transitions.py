"""Steps between periods: laws stay laws, growth is found, and what is shut stays shut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.simulated_places import visitor_grid
from locentropy.mechanisms.shares.series.intensities import intensities
from locentropy.mechanisms.shares.series.transitions import (
    CLOSING,
    JUMP,
    Transition,
    _step,
    learn_transition,
)
from tests.examples import examples

LOG_RATES = intensities(visitor_grid(3000)).log_rates
FLAT = np.full(LOG_RATES.size, 1 / LOG_RATES.size)


def laws_at(middles: np.ndarray, width: float) -> np.ndarray:
    laws = np.exp(-((LOG_RATES[:, None] - middles) ** 2) / (2 * width**2))
    return laws / laws.sum(axis=0)


@settings(max_examples=examples(20), deadline=None)
@given(growth=st.floats(-2, 2), middle=st.floats(-3, 7))
def test_what_is_foreseen_is_a_law(growth: float, middle: float) -> None:
    before = laws_at(np.array([middle]), 0.3)
    foreseen = _step(LOG_RATES, growth).foresee(before, FLAT[:, None])
    assert foreseen.sum() == pytest.approx(1.0)
    assert (foreseen > 0).all()


def test_places_move_with_the_growth_of_all() -> None:
    before = laws_at(np.array([3.0]), 0.2)
    foreseen = _step(LOG_RATES, 0.5).foresee(before, before)
    assert LOG_RATES @ foreseen[:, 0] == pytest.approx(3.0 + (1 - JUMP - CLOSING) * 0.5, abs=0.05)


def test_what_is_shut_stays_shut_however_others_grow() -> None:
    before = np.zeros((LOG_RATES.size, 1))
    before[0] = 1.0
    foreseen = _step(LOG_RATES, 1.5).foresee(before, FLAT[:, None])
    assert foreseen[0, 0] == pytest.approx(1 - JUMP + JUMP * FLAT[0])


@pytest.mark.parametrize("growth", [-0.8, -0.1, 0.0, 0.33, 1.0])
def test_growth_is_found(growth: float) -> None:
    middles = np.random.default_rng(1).normal(3.0, 1.0, 400)
    before, seen = laws_at(middles, 0.3), laws_at(middles + growth, 0.3)
    found = learn_transition(LOG_RATES, before, np.tile(FLAT[:, None], 400), seen)
    assert found.growth == pytest.approx(growth, abs=0.05)


def test_nothing_seen_leaves_everything_as_it_was() -> None:
    before = laws_at(np.linspace(0.0, 5.0, 50), 0.5)
    found = learn_transition(LOG_RATES, before, np.tile(FLAT[:, None], 50), np.ones_like(before))
    assert found.growth == pytest.approx(0.0, abs=0.01)
    np.testing.assert_allclose(found.factor, 1.0)


def test_where_only_some_places_grow_the_others_are_not_foreseen_to() -> None:
    """Half of the list is empty and stays so, half grows: the common factor keeps the empty half down."""
    random = np.random.default_rng(2)
    low = laws_at(np.full(200, -1.5), 0.8)
    before = np.concatenate([low, laws_at(random.normal(3.0, 0.5, 200), 0.2)], axis=1)
    seen = np.concatenate(
        [laws_at(np.full(200, -3.0), 1.0), laws_at(random.normal(3.7, 0.5, 200), 0.4)], axis=1
    )
    anew = np.tile(FLAT[:, None], 400)
    found = learn_transition(LOG_RATES, before, anew, seen)
    plain = Transition(found.growth, found.kernel, np.ones(LOG_RATES.size))

    def mean_of_empty(step: Transition) -> float:
        law = step.foresee(before, anew)[:, :200]
        return float((LOG_RATES @ (law / law.sum(axis=0))).mean())

    assert mean_of_empty(found) < mean_of_empty(plain) - 0.2
