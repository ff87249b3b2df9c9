"""Limit-SS keeps (ε, δ) exactly on the lattice for the worst neighbours found, and published variants do not."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.oracles.sensitivity import (
    BETA,
    BETA_OF_ONE_DELTA,
    CUT_ON_LOCAL_DELTA,
    DELTA,
    LOOP_FROM_ONE_DELTA,
)
from tests.privacy.loss import BothWays, hockey_stick, one_way

from locentropy.core.errors import ParameterError
from locentropy.privacy.calibration import (
    SMALLEST_SCALE,
    calibrate,
    largest_beta,
    lattice_cost,
    lattice_scales,
    log_mass,
    shrinking_is_worst,
)
from locentropy.privacy.noise import LATTICE
from locentropy.privacy.sensitivity import largest_change, local_sensitivity
from locentropy.privacy.smooth import SmoothSensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable

# --- β --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "beta"), BETA.items())
def test_beta_of_continuous_noise(case, beta):
    max_locations, epsilon = case
    assert largest_beta(epsilon / 2, DELTA, max_locations) == pytest.approx(beta, rel=5e-4)


@pytest.mark.parametrize("case", BETA)
def test_the_lattice_costs_a_little(case):
    max_locations, epsilon = case
    continuous = largest_beta(epsilon / 2, DELTA, max_locations)
    assert 0.99 * continuous < calibrate(epsilon, DELTA, max_locations).beta < continuous


def survival(shape: int, at: Decimal) -> Decimal:
    """Of the gamma distribution, as a Poisson sum."""
    term, total = Decimal(1), Decimal(1)
    for i in range(1, shape):
        term *= at / i
        total += term
    return total * (-at).exp()


@pytest.mark.parametrize("max_locations", [1, 5, 30, 1000])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-8, 1e-3])
def test_mass_equals_the_difference_of_survival_functions(max_locations, epsilon, delta):
    """In 80 digits, where the difference does not cancel; for the largest budgets as well as the smallest."""
    half = epsilon / 2
    beta = largest_beta(half, delta, max_locations)
    with localcontext(prec=80):
        growth = Decimal(beta).exp()
        at = (Decimal(half) + max_locations * Decimal(beta)) / (growth - 1)
        exact = survival(max_locations, at) - Decimal(half).exp() * survival(max_locations, at * growth)
        assert abs(log_mass(half, beta, max_locations) - float(exact.ln())) < 1e-9
        assert exact < Decimal(delta)


@pytest.mark.parametrize("max_locations", [1, 2, 5, 30, 1000])
@pytest.mark.parametrize(
    ("epsilon", "split"),
    [(0.01, 0.5), (0.1, 0.5), (1.0, 0.5), (10.0, 0.5), (100.0, 0.5), (0.1, 0.95), (1.0, 0.95), (100.0, 0.95)],
)
@pytest.mark.parametrize("delta", [1e-15, 1e-8])
def test_all_of_delta_is_used(max_locations, epsilon, delta, split):
    """Neither the condition for the worst pattern nor the bisection leaves anything at small δ."""
    found = calibrate(epsilon, delta, max_locations, split=split)
    assert found.epsilon_1 + found.epsilon_2 == pytest.approx(epsilon, rel=1e-14)
    assert Fraction(found.epsilon_1) + Fraction(found.epsilon_2) < Fraction(repr(epsilon))
    scale = max(SMALLEST_SCALE, 2 * max_locations / found.epsilon_1)
    left = found.epsilon_2 - lattice_cost(found.beta, max_locations, scale)
    assert -1e-5 < log_mass(left, found.beta, max_locations) - math.log(delta) < 0


def test_beta_grows_with_epsilon_and_delta_and_falls_with_locations():
    assert largest_beta(0.5, 1e-8, 5) < largest_beta(0.6, 1e-8, 5)
    assert largest_beta(0.5, 1e-9, 5) < largest_beta(0.5, 1e-8, 5)
    assert largest_beta(0.5, 1e-8, 6) < largest_beta(0.5, 1e-8, 5)


# --- steps of the proof -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.3, 1.0, 17.0, 100.0, 12345.6])
def test_magnitude_of_discrete_noise_lies_between_shifted_exponentials(scale):
    k = np.arange(1, 400)
    tail = 2 / (1 + math.exp(-1 / scale)) * np.exp(-k / scale)  # of |K| ≥ k
    assert (tail <= np.exp(-(k - 0.5) / scale) * (1 + 1e-12)).all()
    below = 0.5 + 1 / (8 * scale)
    assert (tail >= np.exp(-(k - 1 + below) / scale) * (1 - 1e-12)).all()


@pytest.mark.parametrize("beta", [0.02, 0.4])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_smaller_move_of_the_scale_is_never_worse(beta, sign):
    scale = 1e6
    for epsilon in (-beta / 2, 0.0, beta / 2, beta, 3 * beta):
        worst = one_way([(0, scale, 0, scale * math.exp(-sign * beta))], epsilon)
        for part in (0.0, 0.3, 0.9):
            less = one_way([(0, scale, 0, scale * math.exp(-sign * part * beta))], epsilon)
            assert less.lower <= worst.upper


@pytest.mark.parametrize(("max_locations", "half"), [(1, 0.5), (2, 0.5), (5, 0.05), (5, 2.5), (12, 5.0)])
def test_all_scales_shrinking_is_the_worst_pattern(max_locations, half):
    """Proved; here seen, step by step: each scale turned from growing to shrinking adds to δ."""
    beta, scale = largest_beta(half, 1e-6, max_locations), 1e7
    assert shrinking_is_worst(half, beta, max_locations)
    before = 0.0
    for shrinking in range(max_locations + 1):
        pairs = [(0, scale, 0, scale * math.exp(-beta))] * shrinking
        pairs += [(0, scale, 0, scale * math.exp(beta))] * (max_locations - shrinking)
        mass = one_way(pairs, half)
        assert mass.upper >= before
        before = mass.lower
    exact = math.exp(log_mass(half, beta, max_locations))
    assert mass.lower <= exact <= mass.upper * (1 + 1e-9)


@pytest.mark.parametrize("max_locations", [2, 3, 4, 6])
@pytest.mark.parametrize("beta", [0.003, 0.05, 0.3, 1.2])
def test_shrinking_is_worst_as_soon_as_the_condition_holds(max_locations, beta):
    low, high = 0.0, 100.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if shrinking_is_worst(middle, beta, max_locations) else (middle, high)
    before = 0.0
    for shrinking in range(max_locations + 1):
        signs = [-1] * shrinking + [1] * (max_locations - shrinking)
        mass = one_way([(0, 1e7, 0, 1e7 * math.exp(sign * beta)) for sign in signs], high, cells=2**16)
        assert mass.upper >= before
        before = mass.lower


def room_beyond_the_bulk(epsilon_2: float, beta: float, shrinking: int, growing: int) -> float:
    """Condition (5) of the proof for one pattern of the other scales, written out: left minus right side."""
    growth, shrinkage = math.exp(beta) - 1, 1 - math.exp(-beta)
    mean = shrinking * (growth - beta) + growing * (beta - shrinkage)
    falls_from = mean + math.sqrt(3 * (shrinking * growth**2 + growing * shrinkage**2))
    decay, rest = 0.0, epsilon_2 + (shrinking - growing) * beta
    if shrinking == 0 and epsilon_2 >= growing * beta:
        return epsilon_2 - growing * beta
    if shrinking >= 1:
        falls_from = min(falls_from, (shrinking - 1) * growth + (growing - shrinking) * beta)
        decay = max(0.0, 1 / growth - (shrinking - 1) / rest) if rest > 0 else 0.0
    right = beta - growth * math.log(1 - math.exp(-beta * (1 + decay)) / (1 + (1 + decay) * growth))
    return epsilon_2 - falls_from - right


@pytest.mark.parametrize("max_locations", [2, 3, 5, 30])
@pytest.mark.parametrize("beta", [0.003, 0.05, 0.3, 1.2])
def test_the_condition_is_that_of_the_proof_for_every_pattern(max_locations, beta):
    for multiple in np.geomspace(0.3, 100, 200):
        half = multiple * beta
        room = [room_beyond_the_bulk(half, beta, j, max_locations - 1 - j) for j in range(max_locations)]
        if abs(min(room)) > 1e-6 * beta:
            assert shrinking_is_worst(half, beta, max_locations) == (min(room) > 0)


def test_where_shrinking_may_not_be_worst_beta_is_smaller():
    """At a large δ the condition decides, not δ; the budget is then not used up."""
    beta = largest_beta(0.05, 0.1, 5)
    assert log_mass(0.05, beta, 5) < math.log(0.01)
    assert shrinking_is_worst(0.05, beta, 5)
    assert not shrinking_is_worst(0.05, beta * 1.001, 5)


# --- scales -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_visits", [1, 3, 5, 60])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 100.0])
def test_scales_are_smooth_and_large_enough(max_visits, epsilon):
    calibration = calibrate(epsilon, DELTA, 5)
    smooth = SmoothSensitivity(max_visits, calibration.beta)
    users = np.concatenate([np.arange(20_000), 10**7 + np.arange(50)])
    scales = lattice_scales(calibration, smooth, users)
    step = np.abs(np.log(lattice_scales(calibration, smooth, users + 1) / scales))
    assert (step <= calibration.beta).all()
    assert (scales >= SMALLEST_SCALE).all()
    shift = largest_change(max_visits, users) * LATTICE + 1.001  # how far the lattice value can move
    assert (shift * 5 / calibration.epsilon_1 <= scales).all()
    assert (shift * 5 / calibration.epsilon_1 <= lattice_scales(calibration, smooth, users + 1)).all()


def test_refuses_a_sensitivity_that_is_not_smooth_enough():
    calibration = calibrate(1.0, DELTA, 5)
    with pytest.raises(ParameterError, match="beta"):
        lattice_scales(calibration, SmoothSensitivity(5, calibration.beta * 1.01), [3])
    assert lattice_scales(calibration, SmoothSensitivity(5, calibration.beta / 2), [3]).shape == (1,)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": math.inf}),
        ("delta", {"delta": 0.0}),
        ("delta", {"delta": 1.0}),
        ("max_locations", {"max_locations": 0}),
        ("max_locations", {"max_locations": 2.0}),
        ("max_locations", {"max_locations": 10**6}),
        ("split", {"split": 1.0}),
        ("smallest_scale", {"smallest_scale": 50.0}),
        ("smallest_scale", {"smallest_scale": math.inf}),
        ("ε₂", {"epsilon": 1e-7, "max_locations": 1000}),
    ],
)
def test_refuses_what_cannot_be_guaranteed(name, change):
    with pytest.raises(ParameterError, match=name):
        calibrate(**({"epsilon": 1.0, "delta": DELTA, "max_locations": 5} | change))


# --- the guarantee, exactly on the lattice ---------------------------------------------------------------------


def neighbours(shift: np.ndarray, scales: np.ndarray) -> set[int]:
    """The n → n + 1 that may be worst: large moves of the value for their noise, large moves of the noise.

    ``shift[n]`` is how far the value can move between n and n + 1 users, ``scales`` one longer.
    """
    move = np.log(scales[:-1] / scales[1:])
    ratio = shift / np.minimum(scales[:-1], scales[1:])
    return {int(np.argmax(ratio + weight * move)) for weight in (0.0, 5.0, 30.0, -5.0, -30.0)}


def worst(shift: np.ndarray, scales: np.ndarray, epsilon: float, max_locations: int) -> list[BothWays]:
    """δ(ε) between neighbours that differ in M locations of the same n, for each n that may be worst."""
    return [
        hockey_stick([(0, scales[n], int(shift[n]), scales[n + 1])] * max_locations, epsilon, cells=2**16)
        for n in neighbours(shift, scales)
    ]


def keeps(found: Iterable[BothWays], delta: float) -> bool:
    return all(bounds.upper <= delta for bounds in found)


def breaks(found: Iterable[BothWays], delta: float) -> bool:
    return any(bounds.lower > delta for bounds in found)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 10.0])
@pytest.mark.parametrize("max_locations", [1, 5, 30])
@pytest.mark.parametrize("max_visits", [1, 2, 5, 20])
def test_keeps_its_guarantee(epsilon, max_locations, max_visits):
    calibration = calibrate(epsilon, DELTA, max_locations)
    users = np.arange(3001)
    scales = lattice_scales(calibration, SmoothSensitivity(max_visits, calibration.beta), users)
    shift = np.floor(largest_change(max_visits, users[:-1]) * LATTICE + 2)
    assert keeps(worst(shift, scales, epsilon, max_locations), DELTA)


@pytest.mark.parametrize("split", [0.5, 0.95])
def test_the_guarantee_leaves_less_than_a_factor_of_three_for_one_location(split):
    calibration = calibrate(1.0, DELTA, 1, split=split)
    users = np.arange(3001)
    scales = lattice_scales(calibration, SmoothSensitivity(5, calibration.beta), users)
    shift = np.floor(largest_change(5, users[:-1]) * LATTICE + 2)
    found = worst(shift, scales, 1.0, 1)
    assert keeps(found, DELTA)
    assert breaks(found, DELTA / 3)


def published_beta(epsilon: float) -> float:
    return epsilon / (2 * math.log(2 / DELTA))


def published_local(max_visits: int, up_to: int) -> np.ndarray:
    """The paper's Theorem 2 for C ≥ 2 and n = 0..up_to: an upper bound, above even GS at n = 2."""
    log, users = math.log(max_visits), np.arange(2.0, up_to + 1.0)
    slope = log / (max_visits - 1)
    lowest = np.log(users - 1) - slope + math.log(slope) + 1
    decrease = [
        np.log(m / (m + max_visits)) + max_visits / (m + max_visits) * log for m in (users - 1, users)
    ]
    local = np.maximum(np.maximum(*decrease), np.log1p(np.exp(-lowest)))
    return np.concatenate([[0.0, math.log(2)], local])


def published_smooth(local: np.ndarray, beta: float, *, first: int) -> np.ndarray:
    """max over j with |n − j| ≥ first of LS(j)·e^(−β|n−j|)."""
    distance = np.abs(np.arange(len(local))[:, None] - np.arange(len(local)))
    return (local[:, None] * np.where(distance >= first, np.exp(-beta * distance), 0.0)).max(axis=0)


def of_each(scales: np.ndarray, max_visits: int, epsilon: float, max_locations: int) -> list[BothWays]:
    """δ(ε) between neighbours that differ in M locations of n and n + 1 users, n = 0..18."""
    shift = np.floor(largest_change(max_visits, np.arange(19)) * LATTICE)
    pairs = [(0, scales[n], int(shift[n]), scales[n + 1]) for n in range(19)]
    return [hockey_stick([pair] * max_locations, epsilon, cells=2**16) for pair in pairs]


def test_rejects_a_sensitivity_that_leaves_out_n_itself():
    """The paper's Algorithm 4 as printed, on its own Theorem 2: S jumps by a quarter next to n = 2."""
    epsilon, max_locations, max_visits = 0.1, 5, 5
    local = published_local(max_visits, 1000)
    for first, broken in [(1, True), (0, False)]:
        smooth = published_smooth(local, published_beta(epsilon), first=first)
        found = of_each(max_locations * smooth * LATTICE * 2 / epsilon, max_visits, epsilon, max_locations)
        assert breaks(found, LOOP_FROM_ONE_DELTA * 0.95) == broken
        assert breaks(found, DELTA) == broken


@pytest.mark.parametrize("max_locations", [1, 5])
def test_rejects_a_floor_on_the_local_sensitivity(max_locations):
    epsilon, floor = 0.1, 0.001
    users = np.arange(3001)
    smooth = SmoothSensitivity(1, published_beta(epsilon))(users)
    cut = np.where(local_sensitivity(1, users) < floor, floor, smooth)
    cut[0] = smooth[0]
    scales = max_locations * cut * LATTICE * 2 / epsilon
    shift = np.floor(largest_change(1, users[:-1]) * LATTICE)
    assert breaks(worst(shift, scales, epsilon, max_locations), CUT_ON_LOCAL_DELTA)
    kept = max_locations * np.maximum(smooth, floor) * LATTICE * 2 / epsilon
    assert not breaks(worst(shift, kept, epsilon, max_locations), DELTA)


@pytest.mark.parametrize(("case", "delta"), BETA_OF_ONE_DELTA.items())
def test_finds_what_the_beta_of_one_location_costs(case, delta):
    """The paper's β with n itself included: the guarantee of 1e-8 is broken in all cases but the first."""
    epsilon, max_locations = case
    smooth = published_smooth(published_local(5, 1000), published_beta(epsilon), first=0)
    found = of_each(max_locations * smooth * LATTICE * 2 / epsilon, 5, epsilon, max_locations)
    assert breaks(found, delta * 0.8)
    assert breaks(found, DELTA) == (delta > DELTA)


def test_rejects_the_beta_of_one_location_with_the_exact_sensitivity_too():
    epsilon, max_locations = 10.0, 30
    smooth = SmoothSensitivity(5, published_beta(epsilon))(np.arange(30))
    found = of_each(max_locations * smooth * LATTICE * 2 / epsilon, 5, epsilon, max_locations)
    assert breaks(found, 1000 * DELTA / 2)


# --- the measure itself -----------------------------------------------------------------------------------------


def summed(pairs: list[tuple[int, float, int, float]], epsilon: float, reach: int = 700) -> float:
    """δ(ε) by adding up over all outputs of one or two locations."""
    y = np.arange(-reach, reach + 1)
    p, q = np.ones(1), np.ones(1)
    for value, scale, other, other_scale in pairs:
        here = np.exp(-np.abs(y - value) / scale) * math.tanh(0.5 / scale)
        there = np.exp(-np.abs(y - other) / other_scale) * math.tanh(0.5 / other_scale)
        p, q = np.outer(p, here).ravel(), np.outer(q, there).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


@pytest.mark.parametrize(
    ("pairs", "epsilon"),
    [
        ([(0, 10.0, 7, 11.0)], 0.5),
        ([(0, 10.0, 0, 11.0)], 0.05),
        ([(3, 20.0, -4, 15.0)], 0.3),
        ([(0, 9.0, 40, 7.0)], 2.0),
        ([(0, 0.5, 1, 0.5)], 1.9),
        ([(0, 10.0, 7, 11.0), (5, 12.0, 2, 10.0)], 0.8),
        ([(0, 10.0, 7, 10.0), (0, 10.0, 7, 10.0)], 1.0),
    ],
)
def test_bounds_hold_the_sum_over_all_outputs(pairs, epsilon):
    bounds = hockey_stick(pairs, epsilon)
    swapped = [(c, d, a, b) for a, b, c, d in pairs]
    for exact, found in [
        (summed(pairs, epsilon), bounds.forward),
        (summed(swapped, epsilon), bounds.backward),
    ]:
        assert found.lower <= exact <= found.upper
        assert found.upper - found.lower <= 1e-3 * found.upper + 1e-9


def test_pure_laplace_noise_has_no_delta_at_its_epsilon():
    pairs = [(0, 10.0, 5, 10.0)] * 4
    assert hockey_stick(pairs, 2.0 + 1e-3).upper < 1e-9
    assert hockey_stick(pairs, 1.9).lower > 1e-3


def test_narrow_integers_do_not_overflow_in_a_calibration() -> None:
    assert calibrate(1.0, 1e-8, np.int8(100)) == calibrate(1.0, 1e-8, 100)  # type: ignore[arg-type]


def test_scales_of_limit_ss_are_never_below_100_lattice_units() -> None:
    calibration = calibrate(1e4, 1e-3, 1, split=0.9)
    smooth = SmoothSensitivity(1, calibration.beta)
    assert lattice_scales(calibration, smooth, np.array([10**7])).min() == 100.0
    with pytest.raises(ParameterError, match="100"):
        calibrate(1.0, 1e-8, 5, smallest_scale=99.0)


@pytest.mark.parametrize(
    ("max_locations", "epsilon", "beta"), [(1, 0.5, 0.2), (1, 0.5, 0.1), (5, 0.5, 0.2), (5, 1.0, 0.3)]
)
def test_why_scales_must_not_be_small_on_the_lattice(max_locations: int, epsilon: float, beta: float) -> None:
    """At half a lattice unit the true δ of moving scales is 16 % or more above that of continuous noise; at 210 it
    is the same to within what the bounds of the loss resolve."""
    continuous = math.exp(log_mass(epsilon, beta, max_locations))

    def excess(scale: float) -> tuple[float, float]:
        loss = hockey_stick([(0, scale, 0, scale * math.exp(-beta))] * max_locations, epsilon).forward
        return loss.lower / continuous - 1, loss.upper / continuous - 1

    low, high = excess(0.5)
    assert 0.16 < low <= high < 0.45
    low, high = excess(210.0)
    assert -2e-3 < low <= high < 2e-3
