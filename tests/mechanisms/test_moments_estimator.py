"""What is read from noisy moments: intervals that hold, and the closed forms behind them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy import Moments
from locentropy.core.bounds import Bounds
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.moments.estimator import MomentsEstimator, noise_quantiles, tail
from locentropy.privacy.moments import MomentsTable
from locentropy.privacy.noise import LATTICE

from .recording import CrowdQueries, Recorder
from .spread import LAWS, crowds, estimated

# --- intervals --------------------------------------------------------------------------------------------------


def coverage(mechanism, queries: CrowdQueries, seed: int = 2) -> float:
    exact_entropy = queries.profile(Bounds(mechanism.max_locations, mechanism.max_visits)).entropy
    found = estimated(mechanism, queries, seed)
    return float(((found.low <= exact_entropy) & (exact_entropy <= found.high)).mean())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_hold_the_entropy_for_every_number_of_users(epsilon, law):
    for users in (0, 1, 2, 5, 10, 100, 1000):
        assert coverage(Moments(epsilon, max_locations=5, max_visits=5), crowds(users, 4000, law)) >= 0.95


@pytest.mark.parametrize("max_visits", [1, 2, 3, 30, 100])
def test_intervals_hold_for_other_bounds(max_visits):
    draw = np.random.default_rng(4)
    for users in (0, 1, 30, 20_000):
        law = np.arange(1, max_visits + 1) ** -1.5
        counts = draw.multinomial(users, law / law.sum(), size=4000)
        queries = CrowdQueries([dict(enumerate(row.tolist(), start=1)) for row in counts])
        assert coverage(Moments(1.0, max_locations=5, max_visits=max_visits), queries) >= 0.95


@pytest.mark.parametrize("users", [1, 10, 100, 1000])
def test_intervals_hold_with_noise_of_a_few_lattice_points(users):
    mechanism = Moments(2e6, max_locations=5, max_visits=5)
    assert mechanism.scale < 3
    assert coverage(mechanism, crowds(users, 2000)) >= 0.95


def test_intervals_hold_where_the_rounding_of_the_table_is_more_than_the_noise():
    mechanism = Moments(1000.0, max_locations=1, max_visits=100)
    queries = CrowdQueries([{v: 10**9} for v in range(1, 101)] * 5)
    found = estimated(mechanism, queries)
    exact_entropy = queries.profile(Bounds(1, 100)).entropy
    assert (
        np.abs(found.entropy - exact_entropy) > 20 * mechanism.estimator.deviation(np.zeros(1)) / 10**9
    ).any()
    assert coverage(mechanism, queries) >= 0.95


@pytest.mark.parametrize("fault", ["scale", "_rounding", "_reach"])
def test_intervals_that_are_too_short_are_seen(fault, monkeypatch):
    mechanism, queries = Moments(1.0, max_locations=5, max_visits=5), crowds(1000, 4000)
    true = MomentsEstimator(mechanism.table, mechanism.scale)
    if fault == "scale":
        mechanism.__dict__["estimator"] = MomentsEstimator(mechanism.table, mechanism.scale * 0.9)
    elif fault == "_reach":
        true.__dict__["_reach"] = true._reach * 0.9
        mechanism.__dict__["estimator"] = true
    else:
        mechanism, queries = (
            Moments(1000.0, max_locations=1, max_visits=100),
            CrowdQueries([{v: 10**9} for v in range(1, 101)] * 5),
        )
        mechanism.estimator.__dict__["_rounding"] = 0.0
    assert coverage(mechanism, queries) < 0.95


@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_large_locations_are_as_short_as_they_can_be(law):
    """Of noise of this law 95 % lie within some 2.1 to 2.3 standard deviations."""
    mechanism = Moments(1.0, max_locations=5, max_visits=5)
    queries = crowds(20_000, 300, law)
    found = estimated(mechanism, queries)
    profile = queries.profile(Bounds(5, 5))
    deviation = (
        mechanism.estimator.deviation(profile.visit_logs / profile.visit_counts) / profile.visit_counts
    )
    assert np.median((found.high - found.low) / deviation) == pytest.approx(2 * 2.2, rel=0.06)
    assert np.median(found.std_error / deviation) == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("law", LAWS)
def test_standard_errors_do_not_boast(epsilon, law):
    """Where there are users enough to tell anything, the typical error is not above what is said."""
    for users in (20, 100, 1000):
        queries = crowds(users, 3000, law)
        found = estimated(Moments(epsilon, max_locations=5, max_visits=5), queries)
        off = found.entropy - queries.profile(Bounds(5, 5)).entropy
        assert math.sqrt((off**2).mean()) <= 1.05 * math.sqrt((found.std_error**2).mean())


def test_the_reading_is_a_function_of_the_noisy_pair_and_of_public_numbers():
    """Two crowds that noise made the same pair of: the same reading, error bars included."""

    class Fixed(Recorder):
        def laplace(self, values, scale):
            return np.array([[10**8, -(10**7)]] * len(values))

    shown = []
    for crowd in ({1: 400, 2: 30}, {}, {5: 1}):
        queries = CrowdQueries([crowd])
        table = (
            Moments(1.0, max_locations=3, max_visits=5)
            .estimate(
                Moments(1.0, max_locations=3, max_visits=5).measure(
                    queries, Locations(queries.locations), Fixed()
                ),
                Locations(queries.locations),
            )
            .to_arrow()
        )
        shown.append(table.drop(["location"]).to_pylist())
    assert shown[0] == shown[1] == shown[2]


far = st.integers(-(2**61), 2**61)


@given(
    st.lists(st.tuples(far, far), min_size=1, max_size=20),
    st.integers(1, 100),
    st.sampled_from([None, 1, 50]),
)
def test_readings_are_finite_ordered_and_possible(pairs, max_visits, max_users):
    estimator = MomentsEstimator(MomentsTable(max_visits, LATTICE), 5.0 * LATTICE, max_users)
    found = estimator.estimate(np.array(pairs, dtype=np.int64))
    assert all(np.isfinite(column).all() for column in found)
    assert (found.low >= 0).all()
    assert (found.low <= found.entropy).all()
    assert (found.entropy <= found.high).all()
    assert (found.std_error >= 0).all()
    if max_users:
        assert (found.high <= math.log(max_users)).all()


def test_readings_do_not_depend_on_who_else_is_read():
    estimator = Moments(1.0, max_locations=5, max_visits=5).estimator
    points = np.random.default_rng(5).integers(-(10**8), 10**9, (70_000, 2))
    whole = estimator.estimate(points)
    for at in (0, 65_535, 65_536, 69_999):
        alone = estimator.estimate(points[at : at + 1])
        assert [column[0] for column in alone] == pytest.approx([column[at] for column in whole], rel=1e-12)


def test_one_location_that_nobody_visits():
    queries = CrowdQueries([{}])
    found = estimated(Moments(1.0, max_locations=5, max_visits=5), queries)
    assert found.low.tolist() == [0.0]
    assert len(found) == 1


def test_no_location_at_all_has_no_reading():
    assert [
        column.size
        for column in Moments(1.0, max_locations=5, max_visits=5).estimator.estimate(
            np.zeros((0, 2), dtype=np.int64)
        )
    ] == [0] * 4


# --- the parts of a reading ---------------------------------------------------------------------------------------


@given(st.floats(-100, 300), st.floats(-300, 900), st.integers(2, 100), st.floats(1, 400), st.floats(0, 1))
def test_nothing_possible_is_nearer_than_the_projection(visits, logs, max_visits, other, share):
    """Near in the coordinates that were noised."""
    table = MomentsTable(max_visits)
    estimator = MomentsEstimator(table, 1.0)
    point = table.matrix @ [visits, logs]
    found = np.array(estimator.projected(point[None])).ravel()
    most = math.log(max_visits)
    assert found[0] >= 1 - 1e-9
    assert -1e-9 <= found[1] <= most * found[0] * (1 + 1e-9) + 1e-9
    reached = np.linalg.norm(table.matrix @ found - point)
    rival = np.linalg.norm(table.matrix @ [other, share * most * other] - point)
    assert reached <= rival * (1 + 1e-9) + 1e-6


def test_projecting_in_other_coordinates_is_worse():
    """Cutting S alone to what is possible lets go of the noise that c and S have in common."""
    mechanism, queries = Moments(1.0, max_locations=5, max_visits=5), crowds(100, 4000, "once")
    noisy = SimulatedNoise(1).laplace(np.tile(100 * mechanism.table.rows[0], (4000, 1)), mechanism.scale)
    visits, logs = mechanism.table.moments(noisy).T
    visits = np.maximum(visits, 1.0)
    cut = np.log(visits) - np.clip(logs / visits, 0.0, math.log(5))
    ours = estimated(mechanism, queries).entropy
    assert ((cut - math.log(100)) ** 2).mean() > 2 * ((ours - math.log(100)) ** 2).mean()


@pytest.mark.parametrize("ratio", [0.0, 1e-9, 0.3, 0.999, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("size", [0.0, 0.5, 3.0, 8.0])
def test_the_tail_of_two_laplace_numbers(ratio, size):
    """Against the sum over slices of the first of them."""
    at = (np.arange(200_000) + 0.5) / 200_000
    first = -np.log(at)  # |Z₁| at equal steps of probability
    if ratio == 0:
        expected = float((first > size).mean())
    else:
        beyond = np.exp(-np.abs(first - size) / ratio) / 2
        above = np.where(first > size, 1 - beyond, beyond)
        expected = float((above + np.exp(-(first + size) / ratio) / 2).mean())
    assert tail(np.array([size]), np.array([ratio]))[0] == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.4, -1.0), (1.0, 1.0), (3.0, 2.0)])
@pytest.mark.parametrize("scale", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("risk", [0.005, 0.045])
def test_quantiles_hold_for_discrete_noise(weights, scale, risk):
    """Against the exact law of two discrete numbers; and not by much more than the lattice takes."""
    points = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    law = np.exp(-np.abs(points) / scale)
    law /= law.sum()
    sums = np.abs(weights[0] * points[:, None] + weights[1] * points).ravel()
    mass = np.outer(law, law).ravel()
    reach = noise_quantiles(np.array([weights]), scale, risk)[0]
    assert mass[sums > reach].sum() <= risk
    assert mass[sums > reach - 2 * np.abs(weights).sum() - 1e-9].sum() >= risk


@pytest.mark.parametrize("max_visits", [2, 3, 5, 10, 30, 100])
def test_chords_lie_above_the_quantiles(max_visits):
    """The quantile is a norm of the weights, hence convex along the slopes; the intervals rest on it."""
    table = MomentsTable(max_visits, LATTICE)
    slopes = np.linspace(0, math.log(max_visits), 501)
    weights = np.stack([1 + slopes, -np.ones(501)], axis=1) @ table.inverse
    for risk in (0.005, 0.045):
        reach = noise_quantiles(weights, LATTICE, risk)
        for gap in (1, 10, 100):
            chords = (reach[: -2 * gap] + reach[2 * gap :]) / 2
            assert (reach[gap:-gap] <= chords * (1 + 1e-12)).all()


def test_nothing_that_passes_both_tests_is_outside_the_interval():
    """What is said to be the range is at least that: no (c, a) that passes both tests, looked for one by one, lies outside it."""
    mechanism = Moments(1.0, max_locations=5, max_visits=5)
    estimator = mechanism.estimator
    draw = np.random.default_rng(8)
    for _ in range(60):
        centre = draw.uniform(0, 300) * np.array([1.0, draw.uniform(0, math.log(5))])
        point = mechanism.table.matrix @ centre + draw.laplace(size=2) * mechanism.scale
        slopes = draw.uniform(0, math.log(5), 4000)
        visits = np.exp(draw.uniform(0, 7, 4000))
        noisy_visits, noisy_logs = mechanism.table.moments(point)
        reach = noise_quantiles(
            np.stack([1 + slopes, -np.ones(4000)], axis=1) @ mechanism.table.inverse, mechanism.scale, 0.045
        )
        passes = np.abs((1 + slopes) * noisy_visits - noisy_logs - visits) <= reach
        away = np.abs(point - np.stack([visits, visits * slopes], axis=1) @ mechanism.table.matrix.T).sum(
            axis=1
        )
        passes &= away <= estimator._radius
        entropy = np.maximum(np.log(visits) - slopes, 0.0)[passes]
        found = estimator.estimate(point[None])
        if len(entropy):
            assert found.low[0] <= entropy.min() + 1e-9
            assert entropy.max() <= found.high[0] + 1e-9
