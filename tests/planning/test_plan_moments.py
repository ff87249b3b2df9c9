"""What a plan says of Moments: errors that simulation keeps below and reaches, words that fit, a file that holds it."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from locentropy import Moments
from locentropy.core.bounds import Bounds
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.moments.expected_error import moments_errors, moments_noise
from locentropy.paper import Limit
from locentropy.planning import Plan, plan
from tests.mechanisms.recording import CrowdQueries

MECHANISMS = [
    Moments(1.0, max_locations=5, max_visits=5),
    Moments(0.1, max_locations=5, max_visits=5, max_users=10_000),
    Moments(1.0, max_locations=5, max_visits=1),
    Moments(2.0, max_locations=5, max_visits=50),
    Moments(5.0, max_locations=20, max_visits=20),
]


def laws(max_visits: int) -> list[np.ndarray]:
    """How the visits of a user may be spread."""
    visits = np.arange(1, max_visits + 1)
    once, always, twice = (np.eye(max_visits)[at] for at in (0, -1, min(1, max_visits - 1)))
    found = [once, always, twice, visits**-2.0, visits**-1.0, np.ones(max_visits)]
    found += [share * always + (1 - share) * once for share in (0.01, 0.02, 0.1, 0.5)]
    return [law / law.sum() for law in found]


def simulated(mechanism: Moments, users: int, law: np.ndarray) -> tuple[float, float]:
    """The mean error of places of so many users, and five standard deviations of it."""
    counts = np.random.default_rng(users).multinomial(users, law, size=3000)
    queries = CrowdQueries([dict(enumerate(row.tolist(), start=1)) for row in counts])
    exact = queries.profile(Bounds(mechanism.max_locations, mechanism.max_visits)).entropy
    found = mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), SimulatedNoise(3)),
        Locations(queries.locations),
    ).entropy
    errors = np.abs(found - exact)
    return float(errors.mean()), 5 * float(errors.std()) / math.sqrt(len(errors))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("users", [1, 4, 60, 1000])
def test_simulated_errors_keep_below_and_reach_the_expected_one(mechanism: Moments, users: int) -> None:
    told = mechanism.expected_error(Supposed()).rows_at([users])[0].error
    found = [simulated(mechanism, users, law) for law in laws(mechanism.max_visits)]
    assert all(error <= told * 1.01 + slack for error, slack in found)
    worst, slack = max(found)
    assert worst + slack >= 0.8 * told


def test_far_out_errors_fall_as_one_over_the_users() -> None:
    errors = moments_errors(MECHANISMS[0], np.array([2**20, 2**25, 2**30]))
    assert errors[:-1] / errors[1:] == pytest.approx([32, 32], rel=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_noise_is_that_of_the_first_order(mechanism: Moments) -> None:
    """At places of users of one visit each and noise so small that nothing is cut, on average."""
    users = 10**7
    draws = SimulatedNoise(4).laplace(np.zeros((200_000, 2), dtype=np.int64), mechanism.scale)
    visits, logs = mechanism.table.moments(draws).T
    most = math.log(mechanism.max_visits)
    full = np.linspace(0, 1, 200)
    counts = 1 + full * (mechanism.max_visits - 1)
    slopes = full * mechanism.max_visits * most / counts
    expected = max(
        float(np.abs((1 + a) * visits - logs).mean()) / (c * users)
        for a, c in zip(slopes, counts, strict=True)
    )
    assert moments_noise(mechanism, np.array([users]))[0] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_useful_from_is_where_it_begins_for_good(mechanism: Moments) -> None:
    found = mechanism.expected_error(Supposed())
    start = found.useful_from
    assert start is not None
    assert start > 1
    later = found.rows_at([start, start + 1, 2 * start, 50 * start])
    assert later
    assert all(row.useful for row in later)
    assert not found.rows_at([start - 1])[0].useful


def test_more_epsilon_means_less_error_and_smaller_places() -> None:
    plans = [
        plan(Moments(epsilon, max_locations=5, max_visits=5)).expected
        for epsilon in (0.1, 0.5, 1.0, 4.0, 20.0)
    ]
    for less, more in itertools.pairwise(plans):
        assert all(b.error < a.error for a, b in zip(less.rows, more.rows, strict=True))
        assert (more.useful_from or math.inf) <= (less.useful_from or math.inf)


def test_beyond_small_places_it_is_better_than_limit() -> None:
    ours, limit = (
        plan(Moments(1.0, max_locations=5, max_visits=5)).expected.rows,
        plan(Limit(1.0, max_locations=5, max_visits=5)).expected.rows,
    )
    assert all(a.error < b.error for a, b in zip(ours, limit, strict=True))
    assert (plan(Moments(1.0, max_locations=5, max_visits=5)).expected.useful_from or math.inf) < 30
    assert plan(Limit(1.0, max_locations=5, max_visits=5)).expected.useful_from is None


def test_nobody_at_a_place_and_one_user_at_most() -> None:
    assert plan(Moments(1.0, max_locations=5, max_visits=5), users_per_location=0).expected.share_useful == 0
    alone = plan(Moments(1.0, max_locations=5, max_visits=5, max_users=1)).expected
    assert [row.users for row in alone.rows] == [1]
    assert alone.rows[0].error == pytest.approx(0)


def test_a_plan_in_words_and_as_json() -> None:
    made = plan(Moments(1.0, max_locations=5, max_visits=5), n_locations=14_058, users_per_location=5)
    text = str(made)
    assert "moments (epsilon 1.0, max_locations 5, max_visits 5)" in text
    assert "two sums of visits" in text
    assert "its own error bar" in text
    assert len(text.splitlines()) < 25
    answer = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert answer["expected_error"]["noise_scale"] is None, "there is no one scale of noise on the entropies"
    assert answer["mechanism"]["name"] == "moments"


def test_a_plan_file_holds_it(tmp_path) -> None:
    made = plan(
        Moments(0.3, max_locations=5, max_visits=7, keep="first", max_users=9000), selection=(0.2, 1e-8, 20)
    )
    made.to_yaml(tmp_path / "plan.yaml")
    again = Plan.from_yaml(tmp_path / "plan.yaml")
    assert again == made
    assert again.guarantee == made.guarantee
