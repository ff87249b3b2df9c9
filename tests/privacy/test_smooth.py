"""The smooth sensitivity covers the local one, never moves too fast, and is no larger than it must be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.sensitivity import CUT_ON_LOCAL

from locentropy.core.errors import ParameterError
from locentropy.privacy.sensitivity import local_sensitivity
from locentropy.privacy.smooth import SMALLEST_BETA, SmoothSensitivity, _tail, last_tabulated

if TYPE_CHECKING:
    from collections.abc import Callable

    Smooth = Callable[[np.ndarray], np.ndarray]

LIMIT = 2**52


def is_smooth(smooth: Smooth, beta: float, users: np.ndarray) -> bool:
    """Whether ln S moves by at most β between each n and n + 1; the logarithm itself is off by 1e-15."""
    step = np.abs(np.log(smooth(users)) - np.log(smooth(users + 1)))
    return bool((step <= beta + 4e-15).all())


def dominates(smooth: Smooth, max_visits: int, users: np.ndarray) -> bool:
    return bool((smooth(users) >= local_sensitivity(max_visits, users) - 2.0**-40).all())


def by_definition(max_visits: int, beta: float, users: np.ndarray, up_to: int) -> np.ndarray:
    """max_j LS(j)·e^(−β|n−j|) over j = 0..up_to, one n at a time."""
    j = np.arange(up_to + 1)
    local = local_sensitivity(max_visits, j)
    return np.array([(local * np.exp(-beta * np.abs(n - j))).max() for n in users])


def loop_from_one(max_visits: int, beta: float) -> Smooth:
    """The paper's Algorithm 4 without its stops: the maximum leaves out j = n."""

    def smooth(users: np.ndarray) -> np.ndarray:
        j = np.arange(int(users.max()) + 1001)
        local = local_sensitivity(max_visits, j)
        return np.array([(local * np.exp(-beta * np.abs(n - j)))[j != n].max() for n in users])

    return smooth


def cut_on_local(max_visits: int, beta: float, floor: float) -> Smooth:
    """The paper's Algorithm 4 in its stop: S becomes ξ as soon as LS < ξ, however large S still is."""
    whole = SmoothSensitivity(max_visits, beta)

    def smooth(users: np.ndarray) -> np.ndarray:
        return np.where(local_sensitivity(max_visits, users) < floor, floor, whole(users))

    return smooth


CASES = [(c, b) for c in (1, 2, 3, 4, 5, 20, 60) for b in (0.001, 0.025, 0.3, 2.0)]


@pytest.mark.parametrize(("max_visits", "beta"), CASES)
def test_is_the_definition_up_to_a_millionth(max_visits, beta):
    smooth = SmoothSensitivity(max_visits, beta)
    last = smooth.table_size
    users = np.unique(np.concatenate([np.arange(60), np.arange(max(last - 20, 0), last + 20), [last + 900]]))
    expected = by_definition(max_visits, beta, users, up_to=last + 3000)
    assert smooth(users) == pytest.approx(expected, rel=1e-6)
    assert (smooth(users) >= expected * (1 - 1e-9)).all()


@pytest.mark.parametrize(("max_visits", "beta"), CASES)
@pytest.mark.parametrize("floor", [0.0, 0.001, 0.2])
def test_is_smooth_and_dominates_from_no_users_to_beyond_the_table(max_visits, beta, floor):
    smooth = SmoothSensitivity(max_visits, beta, floor)
    users = np.arange(smooth.table_size + 3000)
    assert is_smooth(smooth, beta - 2.0**-41, users)
    assert dominates(smooth, max_visits, users)
    assert smooth(users).min() >= floor


@given(
    max_visits=st.integers(1, 200),
    beta=st.floats(1e-6, 4.0),
    floor=st.sampled_from([0.0, 1e-9, 1e-4, 0.05]),
    users=st.lists(st.integers(0, LIMIT), min_size=1, max_size=40),
)
def test_is_smooth_and_dominates_for_any_number_of_users(max_visits, beta, floor, users):
    smooth = SmoothSensitivity(max_visits, beta, floor)
    near = smooth.table_size + np.arange(-3, 40)
    everyone = np.concatenate([np.array(users), near[near >= 0]])
    assert is_smooth(smooth, beta - 2.0**-41, everyone)
    assert dominates(smooth, max_visits, everyone)


def test_the_checks_reject_a_maximum_that_leaves_out_n_itself():
    beta = 5 / (2 * math.log(2 / 1e-8))
    users = np.arange(1, 2000)
    faulty = loop_from_one(5, beta)
    short = faulty(users) < local_sensitivity(5, users)
    assert not dominates(faulty, 5, users)
    assert short.mean() > 0.98
    assert dominates(SmoothSensitivity(5, beta), 5, users)


def test_the_checks_reject_a_floor_on_the_local_sensitivity():
    beta = 0.1 / (2 * math.log(2 / 1e-8))
    faulty = cut_on_local(1, beta, 0.001)
    users = np.arange(990, 1010)
    values = faulty(users)
    drop = int(np.argmin(np.diff(values)))
    assert (values[drop], values[drop + 1]) == pytest.approx(CUT_ON_LOCAL, rel=0.005)
    assert not is_smooth(faulty, beta, users)
    assert is_smooth(SmoothSensitivity(1, beta, 0.001), beta, users)


@pytest.mark.parametrize("max_visits", [1, 2, 3, 4, 5, 8, 14, 15, 60, 200, 1000, 10_000])
def test_the_tail_falls_and_is_log_convex(max_visits):
    last = last_tabulated(max_visits)
    users = np.unique(np.geomspace(last, 100 * last + 10_000, 4000).astype(int)).astype(float)
    log = np.log(_tail(max_visits, users))
    slope = np.diff(log) / np.diff(users)
    assert (slope < 0).all()
    assert (np.diff(slope) >= -1e-12 / users[1:-1]).all()
    assert (_tail(max_visits, users) >= local_sensitivity(max_visits, users.astype(int)) - 1e-15).all()


def test_the_table_depends_on_the_bound_alone():
    assert SmoothSensitivity(5, 0.01).table_size == SmoothSensitivity(5, 2.0, 0.1).table_size
    smooth = SmoothSensitivity(5, 0.025)
    alone = [float(smooth(n)) for n in (0, 3, 36, 37, 38, 10**7)]
    assert smooth([0, 3, 36, 37, 38, 10**7]).tolist() == alone


def test_no_users_still_get_noise():
    for max_visits in (1, 5, 60):
        smooth = SmoothSensitivity(max_visits, 0.1)
        assert smooth(0) >= math.log(2) * math.exp(-0.1)


def test_the_floor_is_taken_after_smoothing():
    smooth, floored = SmoothSensitivity(5, 0.025), SmoothSensitivity(5, 0.025, 0.01)
    users = np.arange(0, 5000)
    assert (floored(users) == np.maximum(smooth(users), 0.01)).all()


def test_equal_parameters_are_equal_and_the_table_cannot_be_changed():
    smooth = SmoothSensitivity(5, 0.025)
    assert smooth == SmoothSensitivity(5, 0.025, 0.0)
    assert hash(smooth) == hash(SmoothSensitivity(5, 0.025))
    smooth([1, 2])[:] = 0.0
    assert smooth(1) > 0.0
    with pytest.raises(ValueError, match="read-only"):
        smooth._table[0] = 1.0


@pytest.mark.parametrize("beta", [0.0, -1.0, math.nan, math.inf, SMALLEST_BETA / 2])
def test_refuses_a_beta_that_floats_cannot_keep(beta):
    with pytest.raises(ParameterError, match="beta"):
        SmoothSensitivity(5, beta)


@pytest.mark.parametrize("floor", [-0.1, math.nan, math.inf])
def test_refuses_a_floor_that_is_none(floor):
    with pytest.raises(ParameterError, match="floor"):
        SmoothSensitivity(5, 0.1, floor)


@pytest.mark.parametrize("max_visits", [1, 2, 3, 4, 5, 20])
def test_the_table_ends_at_or_above_the_tail(max_visits: int) -> None:
    last = last_tabulated(max_visits)
    smooth = SmoothSensitivity(max_visits, 16.0)  # so steep that nothing else can hold it up
    assert float(smooth(np.array([last]))[0]) >= float(_tail(max_visits, np.array([float(last)]))[0])
