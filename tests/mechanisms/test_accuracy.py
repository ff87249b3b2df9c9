"""Errors and thresholds against figures found independently: C = M = 5, counts Zipf(2) on 1, 2, … cut at C."""

from __future__ import annotations

import math

import numpy as np
import pytest

from locentropy import LimitPTR
from locentropy.core.bounds import Bounds
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.paper import Limit, LimitCB, LimitSS

from .recording import CrowdQueries, measured

PEOPLE = 1_000_000
"""Published values are cut at the logarithm of this many users; the figures assume it."""

LIMIT = {(1.0, 10): 3.40, (1.0, 100): 3.65, (1.0, 1000): 3.79, (0.1, 1000): 6.47, (5.0, 100): 0.968}
LIMIT_SS = {(1.0, 10): 3.49, (1.0, 1000): 0.0235}
LIMIT_CB = {(1.0, 100): 0.367, (1.0, 1000): 0.365, (0.1, 1000): 3.18, (5.0, 100): 0.073}
"""Root of the mean squared error against the bounded entropy, by (ε, n); Limit-SS at its best split, CB at k = 50."""

PTR_HALF = {(5.0, 0.3): 111, (1.0, 0.5): 221, (0.1, 0.5): 1524}
"""By (ε, split): the n from which Limit-PTR publishes at least every other location; k = 50, δ = 1e-8."""


def crowds(users: int, many: int) -> CrowdQueries:
    chances = np.arange(1, 5) ** -2.0 / (math.pi**2 / 6)
    counts = np.random.default_rng(users).multinomial(users, [*chances, 1 - chances.sum()], size=many)
    return CrowdQueries([dict(enumerate(row.tolist(), start=1)) for row in counts])


def error(mechanism, users: int, many: int = 6000) -> float:
    queries = crowds(users, many)
    exact = queries.profile(Bounds(5, 5)).entropy
    found = mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), SimulatedNoise(1)),
        Locations(queries.locations),
    )
    return math.sqrt(float(((found.entropy - exact) ** 2).mean()))


@pytest.mark.parametrize(("case", "expected"), LIMIT.items())
def test_limit(case, expected):
    epsilon, users = case
    assert error(Limit(epsilon, max_locations=5, max_visits=5, max_users=PEOPLE), users) == pytest.approx(
        expected, rel=0.04
    )


@pytest.mark.parametrize(("case", "expected"), LIMIT_SS.items())
def test_limit_ss_at_its_best_split(case, expected):
    epsilon, users = case
    mechanisms = [
        LimitSS(epsilon, delta=1e-8, max_locations=5, max_visits=5, split=split, max_users=PEOPLE)
        for split in (0.5, 0.8, 0.9, 0.98)
    ]
    best = min(error(mechanism, users) for mechanism in mechanisms)
    assert best == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("case", "expected"), LIMIT_CB.items())
def test_limit_cb(case, expected):
    epsilon, users = case
    mechanism = LimitCB(
        epsilon, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True, max_users=PEOPLE
    )
    assert error(mechanism, users) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("case", "expected"), PTR_HALF.items())
def test_limit_ptr_publishes_half_from(case, expected):
    epsilon, split = case
    mechanism = LimitPTR(epsilon, delta=1e-8, max_locations=5, max_visits=5, min_users=50, split=split)
    chances = measured(mechanism, [{1: n} for n in range(expected + 2)]).chances
    assert next(n for n, chance in enumerate(chances) if chance >= 0.5) == expected
