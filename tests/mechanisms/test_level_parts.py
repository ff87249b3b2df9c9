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


SIZES = [1000, 8, 1]


def parts(mechanism: Any, levels: Levels = THREE, sizes: Any = SIZES) -> list[float]:
    return [float(each.guarantee.epsilon or 0) for each in divided(mechanism, levels, sizes).values()]


def test_parts_are_as_cube_roots_of_the_numbers_of_locations() -> None:
    """The roots are 10, 2 and 1: of 94 hundredths 72.3, 14.5 and 7.2, and 2 for each."""
    assert parts(le.Shares(1.0)) == [0.75, 0.16, 0.09]
    assert parts(le.Shares(1.0), check_levels(["place", "all"]), [1000, 1]) == [0.9, 0.1]
    assert parts(le.Moments(0.5, **MOMENTS)) == [0.375, 0.08, 0.045]
    assert parts(le.Shares(1.0), sizes=[1, 1, 1]) == [0.34, 0.33, 0.33]
    assert parts(le.Shares(1.0), sizes=[10**12, 1, 1]) == [0.96, 0.02, 0.02]
    assert parts(le.Shares(1.0), sizes=[1, 10**12, 1]) == [0.03, 0.95, 0.02], "each level has something"
    for sizes in ([], [1000, 8]):
        with pytest.raises(ParameterError, match="must be the number of locations of each level"):
            divided(le.Shares(1.0), THREE, sizes)


@given(st.integers(0, 10**40))
def test_cube_roots_are_exact(number: int) -> None:
    root = level_parts._cube_root(number)
    assert root**3 <= number < (root + 1) ** 3


def test_each_further_level_has_a_tenth_of_delta() -> None:
    with_delta = divided(le.Shares(1.0, delta=1e-8), THREE, SIZES)
    assert [each.guarantee.delta for each in with_delta.values()] == [
        Fraction(8, 10**9),
        Fraction(1, 10**9),
        Fraction(1, 10**9),
    ]
    assert {each.max_users for each in divided(le.Shares(1.0, max_users=99), THREE, SIZES).values()} == {99}  # type: ignore[attr-defined]


@given(
    st.decimals("0.1", "9.9", places=4),
    st.lists(st.integers(1, 10**7), min_size=2, max_size=5),
    st.sampled_from([0, 1e-8, 3e-9, 2.5e-10]),
)
def test_parts_add_up_exactly(epsilon: Any, sizes: list[int], delta: float) -> None:
    names = check_levels([f"level {at}" for at in range(len(sizes))])
    whole = le.Shares(float(epsilon), delta=delta)
    made = divided(whole, names, sizes)
    spent = total(each.guarantee for each in made.values())
    assert (spent.epsilon, spent.delta) == (exact(float(epsilon)), exact(delta))
    assert all(each.guarantee.epsilon for each in made.values())


def test_owners_may_divide() -> None:
    told = check_levels({"place": 0.7, "district": "0.2", "all": 0.1})
    assert parts(le.Shares(1.0), told, sizes=()) == [0.7, 0.2, 0.1]
    for wrong in ({"place": 0.7, "all": 0.2}, {"place": 0.7, "all": 0.4}, {"place": 1, "all": 0}):
        with pytest.raises(
            ParameterError, match="must divide ε = 1: parts above 0 that add up to it exactly"
        ):
            divided(le.Shares(1.0), check_levels(wrong))
    with pytest.raises(ParameterError, match="as a number above 0"):
        divided(le.Shares(1.0), check_levels({"place": "much", "all": "little"}))
    with pytest.raises(ParameterError, match="as a number above 0"):
        divided(le.Shares(1.0), check_levels({"place": "2", "all": "-1"}))


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(ParameterError, match="has none to divide"):
        divided(
            le.paper.LimitCB(1.0, max_locations=3, max_visits=2, min_users=5, accept_no_guarantee=True), THREE
        )
    with pytest.raises(ParameterError, match="do not add up to the whole exactly"):
        divided(le.Shares(0.12345678901234567), THREE, SIZES)
    with pytest.raises(
        ParameterError, match=r"would leave ε = 0.0009 for the level 'all', which Shares does not take"
    ):
        divided(le.Shares(0.01), THREE, SIZES)


def test_warnings_are_not_repeated_for_every_part() -> None:
    with pytest.warns(UserWarning, match="δ") as told:
        whole = le.Shares(1.0, delta=1e-3)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        divided(whole, THREE, SIZES)


@pytest.mark.parametrize(
    "planted",
    [
        lambda whole, levels, sizes: [whole] * len(levels.names),
        lambda whole, levels, sizes: [Fraction(ceil(10 * part), 10) for part in _thirds(whole, levels)],
    ],
    ids=["each level gets the whole ε", "parts rounded up"],
)
def test_planted_divisions_are_refused(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_parts, "_by_rule", planted)
    with pytest.raises(ParameterError, match="do not add up to the whole exactly"):
        divided(le.Shares(1.0), THREE, SIZES)


def _thirds(whole: Fraction, levels: Levels) -> list[Fraction]:
    return [whole / len(levels.names)] * len(levels.names)
