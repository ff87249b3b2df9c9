"""What a review found unpinned: each of these tests fails on a fault that once passed all the others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from locentropy.core.errors import ParameterError
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.paper.limit_cb import LimitCB
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.mechanisms.select import SelectLocations
from locentropy.privacy.calibration import calibrate, lattice_scales, log_mass
from locentropy.privacy.noise import LARGEST_SCALE, laplace_epsilon, laplace_scale, lattice_sensitivity
from locentropy.privacy.selection import SelectionCurve
from locentropy.privacy.sensitivity import local_sensitivity
from locentropy.privacy.smooth import SmoothSensitivity, _tail, last_tabulated
from tests.privacy.loss import hockey_stick


@pytest.mark.parametrize("split", [1e-12, 1e-9, 1e-7, 5e-324, 1 - 2**-53])
def test_limit_ss_refuses_before_any_data_what_the_noise_could_refuse_after_it(split: float) -> None:
    with pytest.raises(ParameterError):
        LimitSS(1.0, delta=1e-8, max_locations=5, max_visits=5, split=split)


@pytest.mark.parametrize(
    "arguments",
    [
        (1e-300, 1e-8, 5, 5),
        (5e-324, 1e-8, 5, 5),
        (10**400, 1e-8, 5, 5),
        (1e300, 1e-8, 5, 5),
        (1e-5, 1e-8, 100_000, 10_000),
    ],
)
def test_limit_ss_refuses_impossible_budgets_in_words(arguments: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError):
        LimitSS(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("floor", [True, 1e300, 10**400, -1, float("nan")])
def test_limit_ss_refuses_impossible_floors(floor: float) -> None:
    with pytest.raises(ParameterError):
        LimitSS(1.0, delta=1e-8, max_locations=5, max_visits=5, floor=floor)


@pytest.mark.parametrize("split", [1e-6, 0.5, 1 - 1e-6])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 100.0])
def test_what_limit_ss_accepts_the_noise_accepts_at_every_n(epsilon: float, split: float) -> None:
    try:
        mechanism = LimitSS(epsilon, delta=1e-8, max_locations=5, max_visits=5, split=split)
    except ParameterError:
        return
    scales = mechanism._scales(np.array([0, 1, 2, 10, 435, 436, 10**4, 10**7]))
    assert (scales > 0).all()
    assert (scales <= LARGEST_SCALE).all()


@pytest.mark.parametrize("max_visits", [1, 5, 20, 50])
@pytest.mark.parametrize("k", [1, 2, 5, 10, 30])
def test_limit_cb_covers_every_n_from_k_on(max_visits: int, k: int) -> None:
    largest = local_sensitivity(max_visits, np.arange(k, 5000)).max()
    expected = laplace_scale(5 * lattice_sensitivity(float(largest)), 1.0)
    scale = LimitCB(1.0, max_locations=5, max_visits=max_visits, min_users=k, accept_no_guarantee=True).scale
    assert scale == pytest.approx(expected, rel=1e-6)
    assert scale >= expected * (1 - 1e-9)


@pytest.mark.parametrize("max_visits", [1, 2, 3, 4, 5, 20])
def test_the_table_ends_at_or_above_the_tail(max_visits: int) -> None:
    last = last_tabulated(max_visits)
    smooth = SmoothSensitivity(max_visits, 16.0)  # so steep that nothing else can hold it up
    assert float(smooth(np.array([last]))[0]) >= float(_tail(max_visits, np.array([float(last)]))[0])


def test_a_selection_says_what_it_takes_as_public() -> None:
    selection = SelectLocations(0.2, delta=1e-8, max_locations=20)
    assert "selection_max_locations = 20" in str(selection.guarantee)
    both = selection.followed_by(Limit(1.0, max_locations=5, max_visits=5).guarantee)
    assert "not made from the visits" not in str(both)
    assert float(both.epsilon or 0) == 1.2


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_selection_takes_integers_of_any_width(dtype: type) -> None:
    curve = SelectionCurve(1.0, 1e-8, 5)
    users = np.array([0, 3, 100])
    assert curve.probability(users.astype(dtype)).tolist() == curve.probability(users).tolist()


def test_narrow_integers_do_not_overflow_in_a_calibration() -> None:
    assert calibrate(1.0, 1e-8, np.int8(100)) == calibrate(1.0, 1e-8, 100)  # type: ignore[arg-type]


def test_a_scale_that_is_zero_as_a_float_is_zero() -> None:
    from fractions import Fraction

    with pytest.raises(ParameterError):
        laplace_epsilon(1, Fraction(1, 10**400))  # type: ignore[arg-type]


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
