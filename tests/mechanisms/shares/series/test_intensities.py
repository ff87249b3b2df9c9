"""Rates and visitors: Poisson laws on the grid, and a visitor prior taken apart into rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson

from locentropy.mechanisms.shares.estimator.simulated_places import visitor_grid
from locentropy.mechanisms.shares.series.intensities import SHUT, intensities, mixing_law
from tests.examples import examples

GRID = intensities(visitor_grid(5000))


def test_visitors_are_poisson_around_their_rate() -> None:
    counts = visitor_grid(5000)
    for rate in (0.02, 0.5, 3.0):
        at = int(np.argmin(np.abs(GRID.log_rates - np.log(rate))))
        exact = poisson.pmf(counts[:8], np.exp(GRID.log_rates[at]))
        np.testing.assert_allclose(GRID.to_counts[:8, at], exact, atol=1e-9)


@pytest.mark.parametrize("most", [2, 8, 100, 10**7])
def test_laws_of_visitors_are_laws(most: int) -> None:
    grid = intensities(visitor_grid(most))
    np.testing.assert_allclose(grid.to_counts.sum(axis=0), 1.0)
    assert (grid.to_counts > 0).all()
    assert np.exp(grid.log_rates[0]) == pytest.approx(SHUT)


@settings(max_examples=examples(20), deadline=None)
@given(middle=st.floats(-2, 6), width=st.floats(0.4, 2.0), empty=st.floats(0, 0.9))
def test_a_visitor_prior_is_given_back_by_the_rates_it_is_taken_apart_into(
    middle: float, width: float, empty: float
) -> None:
    law = np.exp(-((GRID.log_rates - middle) ** 2) / (2 * width**2))
    law *= (1 - empty) / law.sum()
    law[0] += empty
    prior = GRID.to_counts @ law
    found = mixing_law(GRID, prior)
    assert found.sum() == pytest.approx(1.0)
    assert (found > 0).all()
    assert np.abs(GRID.to_counts @ found - prior).sum() / 2 < 0.06  # total variation
