"""How the budget is divided among levels: exactly, or not at all."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.core.levels import Levels, check_levels
from locentropy.mechanisms import level_parts
from locentropy.mechanisms.level_parts import divided
from locentropy.privacy.guarantee import exact, total

THREE = check_levels(["place", "district", "all"])
MOMENTS = {"max_locations": 3, "max_visits": 2}


def parts(mechanism: Any, levels: Levels = THREE) -> list[str]:
    return [str(each.guarantee.epsilon) for each in divided(mechanism, levels).values()]


def test_each_further_level_has_a_tenth() -> None:
    assert parts(le.Shares(1.0)) == ["4/5", "1/10", "1/10"]
    assert parts(le.Shares(1.0), check_levels(["place", "all"])) == ["9/10", "1/10"]
    assert parts(le.Moments(0.5, **MOMENTS)) == ["2/5", "1/20", "1/20"]
    with_delta = divided(le.Shares(1.0, delta=1e-8), THREE)
    assert [each.guarantee.delta for each in with_delta.values()] == [
        Fraction(8, 10**9),
        Fraction(1, 10**9),
        Fraction(1, 10**9),
    ]
    assert {each.max_users for each in divided(le.Shares(1.0, max_users=99), THREE).values()} == {99}  # type: ignore[attr-defined]


@given(
    st.decimals("0.02", "9.9", places=4),
    st.integers(2, 5),
    st.sampled_from([0, 1e-8, 3e-9, 2.5e-10]),
)
def test_parts_add_up_exactly(epsilon: Any, count: int, delta: float) -> None:
    names = check_levels([f"level {at}" for at in range(count)])
    whole = le.Shares(float(epsilon), delta=delta)
    made = divided(whole, names)
    spent = total(each.guarantee for each in made.values())
    assert (spent.epsilon, spent.delta) == (exact(float(epsilon)), exact(delta))
    assert all(each.guarantee.epsilon for each in made.values())


def test_owners_may_divide() -> None:
    assert parts(le.Shares(1.0), check_levels({"place": 0.7, "district": "0.2", "all": 0.1})) == [
        "7/10",
        "1/5",
        "1/10",
    ]
    for wrong in ({"place": 0.7, "all": 0.2}, {"place": 0.7, "all": 0.4}, {"place": 1, "all": 0}):
        with pytest.raises(
            ParameterError, match="must divide ε = 1: parts above 0 that add up to it exactly"
        ):
            divided(le.Shares(1.0), check_levels(wrong))
    with pytest.raises(ParameterError, match="finite number"):
        divided(le.Shares(1.0), check_levels({"place": "much", "all": "little"}))
    with pytest.raises(ParameterError, match="not be negative"):
        divided(le.Shares(1.0), check_levels({"place": "2", "all": "-1"}))


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(ParameterError, match="has none to divide"):
        divided(
            le.paper.LimitCB(1.0, max_locations=3, max_visits=2, min_users=5, accept_no_guarantee=True), THREE
        )
    with pytest.raises(ParameterError, match="do not add up to the whole exactly"):
        divided(le.Shares(0.12345678901234567), THREE)


def test_warnings_are_not_repeated_for_every_part() -> None:
    with pytest.warns(UserWarning, match="δ") as told:
        whole = le.Shares(1.0, delta=1e-3)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        divided(whole, THREE)


@pytest.mark.parametrize(
    "planted",
    [
        lambda whole, levels: [whole] * len(levels.names),
        lambda whole, levels: [Fraction(ceil(10 * part), 10) for part in _thirds(whole, levels)],
    ],
    ids=["each level gets the whole ε", "parts rounded up"],
)
def test_planted_divisions_are_refused(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_parts, "_by_rule", planted)
    with pytest.raises(ParameterError, match="do not add up to the whole exactly"):
        divided(le.Shares(1.0), THREE)


def _thirds(whole: Fraction, levels: Levels) -> list[Fraction]:
    return [whole / len(levels.names)] * len(levels.names)
