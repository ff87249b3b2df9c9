"""Mechanisms by name: what is written down makes the same mechanism again."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy import LimitPTR, Moments, Shares
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.parameters import read_parameters
from locentropy.mechanisms.registry import (
    default_mechanism,
    described,
    mechanism_class,
    mechanism_from,
    mechanism_names,
    required_parameters,
)
from locentropy.paper import Baseline, Limit, LimitCB, LimitSS

from .recording import CrowdQueries

MADE = {
    "shares": Shares(0.3, max_users=100_000),
    "moments": Moments(0.7, max_locations=5, max_visits=20, keep="most-visited", max_users=100_000),
    "baseline": Baseline(0.1, max_locations=100, max_visits=1000),
    "limit": Limit(1, max_locations=5, max_visits=5, keep="first", max_users=100_000),
    "limit-ss": LimitSS(0.3, delta=1e-8, max_locations=5, max_visits=5, floor=0.002, split=0.9),
    "limit-ptr": LimitPTR(5.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50, split=0.3),
    "limit-cb": LimitCB(1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True),
}


def test_every_mechanism_has_a_name() -> None:
    assert tuple(MADE) == mechanism_names()
    assert default_mechanism() == "shares"
    assert [mechanism_class(name).name for name in MADE] == list(MADE)


@pytest.mark.parametrize("name", MADE)
def test_a_description_makes_an_equal_mechanism(name: str) -> None:
    mechanism = MADE[name]
    again = mechanism_from(*described(mechanism))
    assert described(mechanism)[0] == name
    assert type(again) is type(mechanism)
    assert again == mechanism
    assert again.guarantee == mechanism.guarantee
    as_texts = {key: str(value).lower() for key, value in described(mechanism)[1].items()}
    assert mechanism_from(name, as_texts) == mechanism


@pytest.mark.parametrize("name", MADE)
def test_the_example_is_a_correct_call(name: str) -> None:
    example = mechanism_class(name).example
    assert type(mechanism_from(name, example)) is type(MADE[name])
    assert set(required_parameters(name)) <= set(example)


@pytest.mark.parametrize("name", MADE)
def test_the_estimand_is_known_before_it_is_estimated(name: str) -> None:
    mechanism = mechanism_from(name, mechanism_class(name).example)
    queries = CrowdQueries([{1: 40, 2: 3}] * 40)
    made = mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), SimulatedNoise(1)),
        Locations(queries.locations),
    )
    assert mechanism.estimand == made.estimand
    assert {
        column for column in ("std_error", "low", "high", "entropy_busy") if getattr(made, column) is not None
    } == set(mechanism.method.columns)


@given(st.floats(min_value=1e-6, max_value=1000))
def test_epsilon_survives_to_the_last_digit(epsilon: float) -> None:
    mechanism = Limit(epsilon, max_locations=5, max_visits=5)
    again = mechanism_from(*described(mechanism))
    assert again.guarantee == mechanism.guarantee


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("gauss", {}, "shares, moments, baseline, limit, limit-ss, limit-ptr, limit-cb"),
        (
            "shares",
            {"epsilon": 1.0, "min_users": 5},
            "shares takes no parameter 'min_users'; it takes epsilon, delta, max_users, counts",
        ),
        ("shares", {}, "needs epsilon"),
        ("limit", {"epsilon": 1.0, "colour": 3}, "epsilon, max_locations, max_visits, keep, max_users"),
        ("limit", {"epsilon": 1.0}, "needs max_locations, max_visits"),
        ("limit-ss", {"epsilon": "1"}, "needs delta"),
        ("moments", {"epsilon": 1.0, "max_locations": 5}, "needs max_visits"),
        ("moments", {"epsilon": 1.0, "max_locations": 5, "max_visits": 101}, "max_visits=101"),
        ("limit", {"epsilon": "much", "max_locations": 5, "max_visits": 5}, "decimal number"),
        (
            "limit",
            {"epsilon": "0.1000000000000000000001", "max_locations": 5, "max_visits": 5},
            "more digits",
        ),
        ("limit", {"epsilon": "1e999999999", "max_locations": 5, "max_visits": 5}, "decimal number"),
        ("limit", {"epsilon": "1e999", "max_locations": 5, "max_visits": 5}, "finite"),
        ("limit", {"epsilon": "-1", "max_locations": 5, "max_visits": 5}, "negative"),
        ("limit", {"epsilon": "0", "max_locations": 5, "max_visits": 5}, "above 0"),
        ("limit", {"epsilon": "nan", "max_locations": 5, "max_visits": 5}, "decimal number"),
        ("limit", {"epsilon": "1", "max_locations": "five", "max_visits": 5}, "whole number"),
        ("limit", {"epsilon": "1", "max_locations": "0x5", "max_visits": 5}, "whole number"),
        ("limit-cb", {**LimitCB.example, "accept_no_guarantee": "yes"}, "true or false"),
        (
            "limit-cb",
            {**LimitCB.example, "accept_no_guarantee": "false"},
            "not differentially private",
        ),
    ],
)
def test_what_is_wrong_is_said(name: str, parameters: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError) as raised:
        mechanism_from(name, parameters)
    assert words in str(raised.value)


def test_an_unregistered_mechanism_is_described_by_its_own_name() -> None:
    @dataclass(frozen=True)
    class Mine(Limit):
        name = "mine"

    assert described(Mine(1.0, max_locations=5, max_visits=5)) == (
        "mine", {"epsilon": "1.0", "max_locations": 5, "max_visits": 5},
    )  # fmt: skip
    with pytest.raises(ParameterError, match="Unknown mechanism 'mine'"):
        mechanism_from("mine", {"epsilon": 1.0})


def test_texts_are_read_as_written() -> None:
    assert read_parameters(LimitSS, {"epsilon": "1", "delta": "1e-8", "max_locations": "7"}) == {
        "epsilon": 1, "delta": 1e-8, "max_locations": 7,
    }  # fmt: skip
