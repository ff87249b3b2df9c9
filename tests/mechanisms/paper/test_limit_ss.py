"""Limit-SS refuses, before any data is read, every budget that its noise could refuse later."""

from __future__ import annotations

import pytest

from locentropy.core.errors import ParameterError
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.privacy.noise import LARGEST_SCALE
from tests.mechanisms.recording import measured


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
def test_limit_ss_refuses_impossible_budgets_in_words(arguments: tuple[float, float, int, int]) -> None:
    epsilon, delta, max_locations, max_visits = arguments
    with pytest.raises(ParameterError):
        LimitSS(epsilon, delta=delta, max_locations=max_locations, max_visits=max_visits)


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
    crowds = [{1: users} if users else {} for users in (0, 1, 2, 10, 435, 436, 10**4, 10**7)]
    assert all(0 < scale <= LARGEST_SCALE for scale in measured(mechanism, crowds).scales)
