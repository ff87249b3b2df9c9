"""Posterior and split evidence, against sums over every simulated place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator import posterior as module
from locentropy.mechanisms.shares.estimator.noise_law import to_log_density
from locentropy.mechanisms.shares.estimator.posterior import posterior
from locentropy.mechanisms.shares.estimator.split_evidence import (
    MISMATCH,
    SplitEvidence,
    _possible_strata,
    make_cells,
)
from locentropy.mechanisms.shares.estimator.visitor_laws import ONE_KIND_STRATA, STRATUM
from locentropy.mechanisms.shares.estimator.visitor_model import BLUR, fit_visitors
from locentropy.mechanisms.shares.measurements import ShareQueries

from .made_up import of_people, population

MOST = 20_000


@pytest.fixture(scope="module", params=[(2.0, 0), (2.0, 1e-8)], ids=["laplace", "gaussian"])
def evidence(request) -> SplitEvidence:
    rows = population(np.random.default_rng(1), 2000, 300, 1.2)
    answers = of_people(*rows, 300, ShareQueries(*request.param), 2)
    fitted = fit_visitors(answers, MOST)
    return SplitEvidence.fit(answers, fitted, make_cells(answers, fitted.bins.bin_of))


def weight_of_every_place(evidence: SplitEvidence, at: int, prior: np.ndarray) -> np.ndarray:
    """How likely each simulated place is, for the place at a position: n × copy."""
    answers, fitted, cells = evidence.answers, evidence.fitted, evidence.cells
    simulated = fitted.simulated
    middle = fitted.bins.middle[fitted.bins.bin_of[at]]
    spread = 2.0 if answers.noise == "laplace" else 1.0
    scale = np.sqrt(answers.look_scale**2 + (BLUR * simulated.presence) ** 2 / spread)
    logs = to_log_density(answers.noise, (middle - simulated.presence) / scale) - np.log(scale)
    split = cells.split[cells.cell_of[at]]
    if not np.isnan(split):
        mean = evidence.level * simulated.returning
        scale = np.sqrt(answers.split_scale**2 + (MISMATCH * mean) ** 2 / spread)
        logs = logs + to_log_density(answers.noise, (split - mean) / scale) - np.log(scale)
    weight = np.exp(logs - logs.max()) * fitted.common * prior[:, None]
    return weight / weight.sum()


def test_the_posterior_is_the_sum_over_every_simulated_place(evidence):
    draw = np.random.default_rng(2)
    rows = np.stack([evidence.fitted.prior, draw.dirichlet(np.ones(evidence.fitted.prior.size))])
    row_of = draw.integers(0, 2, 300)
    found = posterior(evidence, rows, row_of, math.log(MOST))
    simulated = evidence.fitted.simulated
    for at in draw.choice(300, 25, replace=False):
        weight = weight_of_every_place(evidence, at, rows[row_of[at]])
        mean = (weight * simulated.entropy).sum()
        assert found.entropy[at] == pytest.approx(mean, abs=1e-6)
        assert found.variance[at] == pytest.approx((weight * (simulated.entropy - mean) ** 2).sum(), abs=1e-6)
        # At most so much lies outside, between two steps of the distribution function.
        assert weight[simulated.entropy < found.low[at] - 0.1].sum() <= module.TAIL + 1e-9
        assert weight[simulated.entropy > found.high[at] + 0.1].sum() <= module.TAIL + 1e-9


def test_the_upper_end_reaches_every_crowd_that_could_look_so_low(evidence):
    largest = module.largest_entropy(evidence.answers, evidence.fitted)
    assert (np.diff(largest) >= -1e-9).all()
    assert (largest >= 0).all()


def test_cells_keep_every_place_and_are_few(evidence):
    cells, answers = evidence.cells, evidence.answers
    assert cells.places.sum() == answers.look.size
    assert (np.bincount(cells.cell_of, minlength=cells.places.size) == cells.places).all()
    assert (cells.bin_of[cells.cell_of] == evidence.fitted.bins.bin_of).all()
    asked = np.isin(np.arange(answers.look.size), answers.split_at)
    assert (np.isnan(cells.split[cells.cell_of]) == ~asked).all()


@pytest.mark.parametrize("simulated", [0.06, 0.4, 0.8])
def test_possible_strata_are_laws(simulated):
    shares, belief, widths = _possible_strata(simulated)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares > 0).all()
    assert shares.shape == (belief.size, STRATUM.max() + 1)
    assert widths.shape == belief.shape


def test_tilts_simulated_as_they_vary_are_all_equally_common():
    shares, _, widths = _possible_strata(0.4)
    mixed = shares[widths == 0.4][:, : STRATUM.max() + 1 - ONE_KIND_STRATA]
    assert mixed == pytest.approx(np.broadcast_to(mixed[:, :1], mixed.shape))


def test_the_level_is_near_one_where_people_follow_the_model(evidence):
    assert evidence.level == pytest.approx(1, abs=0.25)
