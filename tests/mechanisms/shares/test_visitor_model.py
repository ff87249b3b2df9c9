"""The visitor model: laws are laws, nobody is at a place twice, and bands hold what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator.visitor_model import _Fitting, at_each_n, fit_visitors
from locentropy.mechanisms.shares.measurements import ShareQueries

from .made_up import of_people, population

MOST = 100_000
ASKED = {"laplace": ShareQueries(2.0), "gaussian": ShareQueries(2.0, 1e-8)}


def city(noise: str, seed: int = 0):
    rows = population(np.random.default_rng(seed), 4000, 800, 1.2)
    return rows, of_people(*rows, 800, ASKED[noise], seed + 1)


@pytest.fixture(scope="module", params=list(ASKED))
def fitted(request):
    rows, answers = city(request.param)
    return rows, answers, fit_visitors(answers, MOST)


def test_laws_are_laws(fitted):
    _, _, found = fitted
    assert found.prior.sum() == pytest.approx(1)
    assert (found.prior >= 0).all()
    assert found.laws.sizes.sum() == pytest.approx(1)
    assert found.laws.visits.sum(axis=1) == pytest.approx(1)
    assert found.common.mean() == pytest.approx(1)
    assert (found.common > 0).all()


def test_nobody_is_used_up_at_small_places_and_no_octave_exceeds_its_users(fitted):
    _, answers, found = fitted
    extra = found.laws.size_extra
    assert (extra <= 1e-9).all()
    assert extra[1] == pytest.approx(0, abs=0.05)
    # Once more the number of visitors of each octave, of places as large as all users together.
    fitting = _Fitting(answers, MOST)
    rate = fitting.sizes / fitting.share
    users = fitting.users * fitting.told_sizes
    at = int(np.searchsorted(fitting.grid, 0.9 * users.sum()))
    there = rate * np.exp(fitting.laws().size_extra[at])
    there *= fitting.grid[at] / there.sum()
    assert (there <= 1.3 * users + 1).all()


def test_the_number_of_rows_is_found(fitted):
    rows, answers, found = fitted
    listed = answers.look.size
    expected = float(found.prior @ found.simulated.visitors) * listed
    assert expected == pytest.approx(rows[0].size, rel=0.25)


def test_what_bands_are_foreseen_to_hold_is_what_they_hold(fitted):
    _, answers, _ = fitted
    fitting = _Fitting(answers, MOST)
    for _ in range(3):
        fitting.read_looks()
        fitting.fit_sizes()
        fitting.fit_visits()
        fitting.learn_strata()
    fitting.read_looks()
    held, middle = fitting._by_band(answers.visit_edges, fitting.now.simulated.visits)
    law = held.sum(axis=1) / held.sum(axis=(1, 2))[:, None]
    assert law == pytest.approx(fitting.told_bands, abs=0.06)
    assert (np.diff(middle) > 0).all()


def test_the_mean_over_copies_is_weighted():
    seen = np.random.default_rng(0).random((5, 64, 3))
    assert at_each_n(seen, np.ones(64)) == pytest.approx(seen.mean(axis=1))
    weights = np.random.default_rng(1).random((5, 64))
    assert at_each_n(seen, weights) == pytest.approx((seen * weights[:, :, None]).mean(axis=1))


@pytest.mark.parametrize("noise", list(ASKED))
def test_where_the_noise_is_finer_than_bins_it_does_not_choose_among_simulated_places(noise):
    """Planted: hardly any noise. Without a blur, one or two of the copies nearest to a busy place's look decide."""
    rows = population(np.random.default_rng(3), 4000, 200, 1.0)
    answers = of_people(*rows, 200, ShareQueries(200.0, {"laplace": 0, "gaussian": 1e-8}[noise]), 4)
    found = fit_visitors(answers, MOST)
    busiest = found.bins.bin_of[np.argmax(np.bincount(rows[1], minlength=200))]
    weight = found.prior[:, None] * found.common * found.seen[:, :, busiest]
    assert weight.sum() ** 2 / (weight**2).sum() > 8
