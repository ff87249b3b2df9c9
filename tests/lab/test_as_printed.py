"""The paper's algorithms as printed: what they print, and that the checks of the privacy loss reject each fault.

docs/paper-errata.md quotes these numbers; a check that accepted one of these faults would be worth nothing.
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.evaluation.candidates import candidates
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.registry import described, installed_names, mechanism_class, mechanism_from
from locentropy.privacy.calibration import calibrate, lattice_scales
from locentropy.privacy.noise import LATTICE, OpenDPNoise
from locentropy.privacy.sensitivity import (
    global_sensitivity,
    local_sensitivity,
    supremum_from,
)
from locentropy.privacy.smooth import SmoothSensitivity
from locentropy_lab import as_printed
from locentropy_lab.audit.subjects import Recorder, crowd_queries
from locentropy_lab.zipf import ZipfVisits
from tests.mechanisms.guarantees import selective_delta
from tests.mechanisms.neighbours import entropy, every_crowd, joined, worst
from tests.mechanisms.recording import Measured
from tests.oracles.sensitivity import (
    BETA_OF_ONE_DELTA,
    CUT_ON_LOCAL,
    CUT_ON_LOCAL_DELTA,
    DELTA,
    GLOBAL,
    PUBLISHED_THEOREM_1_EXCESS,
)
from tests.privacy.loss import BothWays, Bounds, hockey_stick, one_way


def deltas(
    scales: np.ndarray,
    max_visits: int,
    epsilon: float,
    max_locations: int,
    users=range(19),
    cells: int = 2**16,
) -> list[BothWays]:
    """δ(ε) between real neighbours that differ in M locations of n and n + 1 users; scales[n] in nats.

    Discrete noise on the lattice stands in for the continuous noise of the paper; with scales of 10^4 lattice
    units and more the two differ by far less than what is asserted.
    """
    found = []
    for n in users:
        crowd, new = worst(max_visits, n)
        after = joined(crowd, new)
        pair = (
            round(entropy(crowd) * LATTICE),
            scales[n] * LATTICE,
            round(entropy(after) * LATTICE),
            scales[n + 1] * LATTICE,
        )
        found.append(hockey_stick([pair] * max_locations, epsilon, cells=cells))
    return found


def attained(found: list[BothWays]) -> float:
    return max(bounds.lower for bounds in found)


# --- Theorem 1 ----------------------------------------------------------------------------------------------------


def test_theorem_1_is_infinite_for_one_visit_and_close_above_the_truth_otherwise():
    assert as_printed.theorem_1(1) == math.inf
    assert global_sensitivity(1) == math.log(2)
    for max_visits in range(2, 2000):
        ratio = as_printed.theorem_1(max_visits) / global_sensitivity(max_visits)
        assert 1 - 1e-12 <= ratio <= 1 + PUBLISHED_THEOREM_1_EXCESS
    assert as_printed.theorem_1(20) == pytest.approx(GLOBAL[20], rel=PUBLISHED_THEOREM_1_EXCESS)


# --- Theorem 2 ----------------------------------------------------------------------------------------------------


def test_rejects_theorem_2_for_one_visit():
    """Two people, one visit each: without one of them the entropy falls by ln 2; the theorem allows ln 1.5."""
    printed = float(as_printed.theorem_2(1, 2))
    assert printed == pytest.approx(0.405, abs=5e-4)
    moved = [abs(entropy(after) - entropy(before)) for before, after in every_crowd(1, 1)]
    assert max(moved) == pytest.approx(math.log(2))
    assert max(moved) > printed
    for n in range(2, 50):
        assert entropy({1: n}) - entropy({1: n - 1}) > as_printed.theorem_2(1, n)


def test_theorem_2_for_more_visits_is_an_upper_bound_and_loose():
    users = np.arange(1, 3000)
    for max_visits in (2, 3, 5, 20, 50):
        assert (as_printed.theorem_2(max_visits, users) >= local_sensitivity(max_visits, users) - 1e-9).all()
    assert as_printed.theorem_2(5, 2) == pytest.approx(0.862, abs=5e-4)
    assert as_printed.theorem_2(5, 2) > global_sensitivity(5)
    assert as_printed.theorem_2(5, [0, 1]).tolist() == [0.0, math.log(2)]


# --- Algorithm 4 --------------------------------------------------------------------------------------------------


def plain_algorithm_4(
    max_visits: int, epsilon: float, delta: float, floor: float, largest: int
) -> list[float]:
    """Line by line as printed."""
    rate = epsilon / (2 * math.log(2 / delta))
    peak = max_visits / (math.log(max_visits) - 1) + 1

    def local(n: int) -> float:
        return float(as_printed.theorem_2(max_visits, n))

    smooth = [0.0] * (largest + 1)
    for n in range(1, largest + 1):
        for k in range(1, largest + 1):
            smooth[n] = max(smooth[n], math.exp(-k * rate) * max(local(n - k), local(n + k)))
            if math.exp(-k * rate) * as_printed.theorem_1(max_visits) < smooth[n] and n + k > peak:
                break
        if n > peak and local(n) < floor:
            smooth[n + 1 :] = [floor] * (largest - n)
            break
    return smooth


@pytest.mark.parametrize(
    ("max_visits", "epsilon", "floor"),
    [(1, 5.0, 0.05), (2, 1.0, 0.1), (5, 10.0, 0.05), (20, 5.0, 0.3), (20, 5.0, 1e-3)],
)
def test_algorithm_4_is_the_printed_one(max_visits, epsilon, floor):
    printed = plain_algorithm_4(max_visits, epsilon, DELTA, floor, 60)
    assert as_printed.algorithm_4(max_visits, epsilon, DELTA, floor, 60)[1:] == pytest.approx(
        printed[1:], rel=1e-12
    )


def test_rejects_a_loop_that_leaves_out_n_itself():
    """ε = 0.1, M = C = 5: S jumps by a quarter between one and two users; δ is 0.1567 there, at a promise of 1e-8."""
    smooth = as_printed.algorithm_4(5, 0.1, DELTA, largest=1000)
    assert smooth[1] / smooth[2] > math.exp(80 * as_printed.beta(0.1, DELTA))
    scales = 2 * 5 * smooth / 0.1
    assert attained(deltas(scales, 5, 0.1, 5)) > 0.15
    (fine,) = deltas(scales, 5, 0.1, 5, [1], cells=2**20)
    assert 0.1566 < fine.lower <= fine.upper < 0.1568


def test_the_loop_alone_does_no_harm_to_the_exact_local_sensitivity_there():
    """LS(5, 1) = LS(5, 2) = ln 2, so leaving out n itself leaves no jump: it takes the LS of Theorem 2 as well."""
    local = local_sensitivity(5, np.arange(1001))
    distance = np.abs(np.arange(1001)[:, None] - np.arange(1001))
    weight = np.where(distance >= 1, np.exp(-as_printed.beta(0.1, DELTA) * distance), 0.0)
    smooth = (local[:, None] * weight).max(axis=0)
    assert attained(deltas(2 * 5 * smooth / 0.1, 5, 0.1, 5)) < DELTA


def test_the_loop_is_below_the_local_sensitivity_it_smooths():
    users = np.arange(1, 1001)
    smooth = as_printed.algorithm_4(5, 5.0, DELTA, largest=1000)[1:]
    assert (smooth < as_printed.theorem_2(5, users)).mean() > 0.98


@pytest.mark.parametrize("max_locations", [1, 5])
def test_rejects_a_floor_where_the_local_sensitivity_is_small(max_locations):
    """C = 1, ε = 0.1: S falls from 0.0508 to 0.001 between two neighbours."""
    smooth = as_printed.algorithm_4(1, 0.1, DELTA, largest=2000)
    step = int(np.argmax(smooth[:-1] / smooth[1:]))
    assert step == 1000
    assert (smooth[step], smooth[step + 1]) == pytest.approx(CUT_ON_LOCAL, rel=5e-3)
    scales = 2 * max_locations * smooth / 0.1
    assert attained(deltas(scales, 1, 0.1, max_locations, [step])) > CUT_ON_LOCAL_DELTA


# --- Limit-SS -----------------------------------------------------------------------------------------------------


def test_rejects_the_beta_of_one_location():
    """With S as it should be, so that this is the only fault; ε = 10, M = 30, a promise of 1e-8."""
    smooth = SmoothSensitivity(5, as_printed.beta(10.0, DELTA))(np.arange(40))
    assert attained(deltas(2 * 30 * smooth / 10.0, 5, 10.0, 30)) > 500 * DELTA


@pytest.mark.parametrize("case", BETA_OF_ONE_DELTA)
def test_rejects_limit_ss_as_printed_as_a_whole(case):
    epsilon, max_locations = case
    scales = as_printed.limit_ss_scales(np.arange(40), epsilon, DELTA, max_locations, 5)
    assert attained(deltas(scales, 5, epsilon, max_locations)) > DELTA


@pytest.mark.parametrize(
    ("epsilon", "max_locations", "max_visits"), [(0.1, 5, 5), (0.1, 1, 1), (10.0, 30, 5)]
)
def test_accepts_what_is_shipped_where_the_printed_is_rejected(epsilon, max_locations, max_visits):
    calibration = calibrate(epsilon, DELTA, max_locations)
    smooth = SmoothSensitivity(max_visits, calibration.beta, 1e-3)
    scales = lattice_scales(calibration, smooth, np.arange(1100)) / LATTICE
    found = deltas(scales, max_visits, epsilon, max_locations, [*range(19), 999, 1000, 1001])
    assert all(bounds.upper <= DELTA for bounds in found)


def test_a_shrinking_scale_does_not_dominate_a_growing_one():
    """At ε ≥ 0 it is worse, at ε < 0 better: so a product of several needs a proof of its own."""
    scale, beta = 1e6, 0.3

    def delta(sign: int, epsilon: float) -> Bounds:
        return one_way([(0, scale, 0, scale * math.exp(-sign * beta))], epsilon)

    for epsilon in (0.05, 0.2, 0.5):
        assert delta(1, epsilon).lower > delta(-1, epsilon).upper
        assert delta(-1, -epsilon).lower > delta(1, -epsilon).upper


# --- Limit-CB -----------------------------------------------------------------------------------------------------


def test_rejects_the_output_set_of_limit_cb():
    """k users or k − 1: published or not, with certainty. δ = 1 at any ε."""
    k, seeds = 50, range(20)

    def published(users: int) -> float:
        """How often a location of so many users is published, by the algorithm's own decision."""
        runs = (as_printed.limit_cb(np.array([users]), np.array([1.0]), 1.0, 5, 5, k, seed) for seed in seeds)
        return float(np.mean([not np.isnan(run.entropy).any() for run in runs]))

    chances = [published(users) for users in (k - 1, k)]
    scale = float(as_printed.limit_cb_scale(1.0, 5, 5, k))
    release = [Measured([0], [scale * LATTICE], [chance]) for chance in chances]
    assert selective_delta(*release, 1000.0, 1).lower == 1.0


def test_limit_cb_as_printed_has_too_little_noise_for_small_thresholds():
    """C = 50, k = 5: LS(50, 5) as printed, against what 17 users with one visit each and one with 50 do."""
    printed = float(as_printed.limit_cb_scale(1.0, 1, 50, 5))
    assert printed < supremum_from(50, 4) - 0.1
    crowd, new = worst(50, 17)
    moved = abs(entropy(joined(crowd, new)) - entropy(crowd))
    assert moved > printed, "both sides of this pair have at least k users and are published"


def test_the_noise_of_limit_ss_falls_below_that_of_limit_cb_at_110_users_not_51():
    """The paper compares sensitivities and forgets the factor 2 of Limit-SS; C = 5, k = 50, ε = 5, δ = 1e-8."""
    users = np.arange(1, 400)
    cb = float(as_printed.limit_cb_scale(5.0, 5, 5, 50))
    smooth = SmoothSensitivity(5, as_printed.beta(5.0, DELTA))(users)
    less = 1 - 1e-9  # at n = k both are LS(k), up to rounding
    assert users[np.flatnonzero(5 * smooth / 5.0 < cb * less)[0]] == 51
    assert users[np.flatnonzero(2 * 5 * smooth / 5.0 < cb * less)[0]] == 110


# --- noise --------------------------------------------------------------------------------------------------------


def test_rejects_floating_point_noise():
    """A published value close to 0 tells that the entropy is exactly 0.

    From an entropy of ln 2 it can only be reached by subtracting numbers of nearly the same size, which
    leaves a multiple of 2^-53; from 0 it has all its digits.
    """
    many = 400_000
    scale = as_printed.limit_scale(5.0, 5, 5)

    def small_and_fine(exact: float) -> int:
        published = as_printed.noisy(np.full(many, exact), scale, seed=1).entropy
        small = published[np.abs(published) < 2.0**-10]
        return int((np.rint(small * 2.0**53) != small * 2.0**53).sum())

    assert small_and_fine(math.log(2)) == 0
    assert small_and_fine(0.0) > 100


def test_noise_comes_from_a_seed_and_is_never_private():
    first, again, other = (as_printed.noisy(np.ones(5), 2.0, seed) for seed in (1, 1, 2))
    assert first.entropy.tolist() == again.entropy.tolist() != other.entropy.tolist()
    assert not first.private


def test_a_grid_of_thresholds_in_one_call():
    users, exact = np.array([5, 30, 80]), np.array([1.0, 2.0, 3.0])
    thresholds = np.array([10, 20, 50])
    scales = as_printed.limit_cb_scale(1.0, 5, 5, thresholds)
    grid = as_printed.noisy(exact, scales[:, None], 1, users >= thresholds[:, None]).entropy
    assert grid.shape == (3, 3)
    assert (~np.isnan(grid)).tolist() == [[False, True, True], [False, True, True], [False, False, True]]


def test_wide_noise_is_of_the_asked_scale():
    drawn = as_printed.noisy(np.zeros(20_000), 7.0, 3).entropy
    assert np.abs(drawn).mean() == pytest.approx(7.0, rel=0.05)


# --- mechanisms ---------------------------------------------------------------------------------------------------

NAMES = ("limit-as-printed", "limit-ss-as-printed", "limit-cb-as-printed")
CROWDS = [{1: 4, 2: 3}, {1: 60, 5: 20}, {}, {3: 49}, {2: 700}]
USERS = np.array([7, 80, 0, 49, 700])


def made(name: str, **changed: object) -> as_printed.AsPrinted:
    mechanism = mechanism_from(name, {**mechanism_class(name).example, **changed})
    assert isinstance(mechanism, as_printed.AsPrinted)
    return mechanism


def recorded(mechanism: as_printed.AsPrinted) -> Recorder:
    queries, noise = crowd_queries(CROWDS), Recorder()
    mechanism.measure(queries, Locations(queries.locations), noise)
    return noise


def test_they_are_found_by_name_and_are_no_mechanisms_of_the_product() -> None:
    assert set(NAMES) <= set(installed_names())
    for name in NAMES:
        mechanism = made(name)
        assert mechanism.name == name
        assert not mechanism.is_built_in
        assert mechanism_from(*described(mechanism)) == mechanism
        assert not mechanism.compared


@pytest.mark.parametrize("name", NAMES)
def test_they_promise_nothing_and_publish_refuses_them(name: str) -> None:
    mechanism = made(name)
    assert not mechanism.guarantee.private
    queries = crowd_queries(CROWDS)
    listed = Locations(queries.locations)
    measured = mechanism.measure(queries, listed, OpenDPNoise())
    assert not measured.private
    assert not mechanism.estimate(measured, listed).private
    visits = le.Visits(pa.table({"user": [1, 2], "location": ["a", "a"]}))
    with pytest.raises(le.LocentropyError, match="not_private"):
        le.publish(visits, mechanism, le.PublicLocations(["a"]), ledger=None)


def test_their_noise_has_the_scales_of_the_paper() -> None:
    [limit] = recorded(made("limit-as-printed")).draws
    assert limit.scales == pytest.approx(np.full(5, as_printed.limit_scale(1.0, 5, 5) * LATTICE))
    [smooth] = recorded(made("limit-ss-as-printed")).draws
    printed = as_printed.limit_ss_scales(USERS, 1.0, DELTA, 5, 5)
    assert smooth.scales == pytest.approx(printed * LATTICE)
    [crowd] = recorded(made("limit-cb-as-printed")).draws
    assert crowd.scales == pytest.approx(np.full(2, as_printed.limit_cb_scale(1.0, 5, 5, 50) * LATTICE))


@pytest.mark.parametrize("name", NAMES)
def test_values_are_noisy_entropies_and_are_not_clipped(name: str) -> None:
    mechanism, queries = made(name), crowd_queries(CROWDS * 40)
    listed = Locations(queries.locations)
    estimates = mechanism.estimate(mechanism.measure(queries, listed, SimulatedNoise(1)), listed)
    assert estimates.locations.equals(listed.ids)
    shown = ~np.isnan(estimates.entropy)
    assert shown.tolist() == ([True] * 200 if "cb" not in name else [False, True, False, False, True] * 40)
    if name != "limit-cb-as-printed":
        assert estimates.entropy.min() < 0
    silent = mechanism.estimate(mechanism.measure(queries, listed, Recorder()), listed).entropy
    assert silent[shown][:1] == pytest.approx([entropy(CROWDS[int(np.flatnonzero(shown)[0])])], abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_beyond_what_is_printed_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=r"max_visits=1.*infinite at C = 1.*For example"):
        made(name, max_visits=1)
    for wrong in ({"epsilon": 0.0}, {"max_locations": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            made(name, **wrong)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_compared_by_evaluate(name: str) -> None:
    table = ZipfVisits(users=300, locations=40, max_places=20, max_visits=9).table()
    listed = le.PublicLocations(list(range(1, 41)))
    evaluation = le.evaluate(le.Visits(table), candidates([name], ["5"]), listed, seeds=2)
    [compared] = evaluation.compared
    assert compared.label == name
    assert compared.scores["published"].mean > 0


def test_smoothing_ends_where_the_floor_is_reached() -> None:
    with pytest.raises(ParameterError, match="floor=0"):
        as_printed.limit_ss_scales(np.array([1]), 1.0, DELTA, 5, 5, floor=0)
