"""The ordered probit model: scores say what the visitor prior says, and derivatives are those of the likelihood."""

from __future__ import annotations

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator.ordered_probit import UNLIKE, OrderedProbit

GRID = np.array([0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
PRIOR = np.exp(-((np.log(GRID + 0.5) - 1.0) ** 2) / 2) + 1e-3
PRIOR /= PRIOR.sum()
LOOKS = np.linspace(-2.0, 12.0, 15)
SEEN = np.exp(-np.abs(0.1 * GRID[:, None] - LOOKS))


@pytest.fixture
def probit() -> OrderedProbit:
    return OrderedProbit(PRIOR, SEEN, 0.6)


def test_a_standard_score_is_the_prior(probit):
    rows, row_of = probit.distinct_rows(np.zeros(3), np.ones(3))
    np.testing.assert_allclose(rows, PRIOR[None], atol=1e-12)
    assert row_of.tolist() == [0, 0, 0]


def test_effects_leave_the_prior_of_all_places_as_it_is(probit):
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    rows, row_of = probit.distinct_rows(np.sqrt(0.4) * nodes, np.full(41, 0.6))
    np.testing.assert_allclose(weights / weights.sum() @ rows[row_of], PRIOR, atol=2e-3)


def test_higher_scores_are_more_visitors(probit):
    rows, row_of = probit.distinct_rows(np.array([-2.0, -0.5, 0.5, 2.0]), np.full(4, 0.7))
    assert (np.diff(rows[row_of] @ GRID) > 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert (rows >= UNLIKE * PRIOR).all()


@pytest.mark.parametrize("variance", [0.6, 0.8, 1.0])
@pytest.mark.parametrize("mean", [-1.5, 0.0, 0.75])
def test_derivatives_are_those_of_the_likelihood(probit, mean, variance):
    bins = np.arange(LOOKS.size)

    def log_likelihood(at: float) -> np.ndarray:
        return np.log(probit._rows_and_derivatives(np.array([at]), variance)[0][0] @ SEEN)

    cell = probit.locate(np.full(bins.size, mean), np.full(bins.size, variance), bins)
    found = probit.derivatives(cell)
    below, here, above = (log_likelihood(mean + step) for step in (-1e-3, 0.0, 1e-3))
    np.testing.assert_allclose(found.first, (above - below) / 2e-3, atol=1e-5)
    np.testing.assert_allclose(found.second, (above - 2 * here + below) / 1e-6, atol=1e-3)


def test_presence_follows_the_look_and_the_score(probit):
    presence = 0.1 * GRID[:, None] * np.ones(LOOKS.size)
    tables = probit.presence(presence * SEEN, presence**2 * SEEN)
    bins = np.arange(LOOKS.size)
    low, high = (
        tables.at(probit.locate(np.full(bins.size, mean), np.full(bins.size, 0.8), bins))
        for mean in (-1.0, 1.0)
    )
    assert (high.mean > low.mean).all()
    assert (np.diff(high.mean) > -1e-9).all()
    assert (high.slope > 0).all()
    assert (high.variance >= 0).all()
