"""Words about a guarantee follow its ε: none promises more than ε does, and none says what cannot be."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.strength import check_large_epsilon, is_large

EPSILONS = st.fractions(min_value=0, max_value=10_000)


@pytest.mark.parametrize(
    ("epsilon", "strength"),
    [
        (0, "strong"),
        (1, "strong"),
        ("1.0000001", "moderate"),
        (3, "moderate"),
        ("3.0000001", "weak"),
        (10, "weak"),
        ("10.0000001", "none to speak of"),
        (50, "none to speak of"),
        (10_000, "none to speak of"),
    ],
)
def test_each_threshold(epsilon: str, strength: str) -> None:
    guarantee = Guarantee.pure(epsilon)
    assert guarantee.strength == strength
    assert is_large(guarantee.epsilon) == (strength == "none to speak of")
    said = guarantee.explain_strength()
    assert ("hides hardly anything" in said) == is_large(guarantee.epsilon)
    assert (f"The guarantee is {strength}:" in said) != is_large(guarantee.epsilon)


def test_without_a_guarantee() -> None:
    assert Guarantee.none("why").strength == "none"
    assert "there is none" in Guarantee.none("why").explain_strength()


@pytest.mark.parametrize(("delta", "strength"), [("1e-8", "strong"), ("1e-3", "strong"), ("0.0011", "weak")])
def test_a_large_delta_is_not_strong(delta: str, strength: str) -> None:
    guarantee = Guarantee.approximate("0.5", delta)
    assert guarantee.strength == strength
    assert "and by δ = " in guarantee.explain_strength()


@given(EPSILONS)
def test_the_factor_is_never_understated(epsilon: Fraction) -> None:
    found = re.search(r"a factor of at most ([0-9,.]*[0-9])", Guarantee.pure(epsilon).explain_strength())
    if is_large(epsilon):
        assert found is None
    else:
        assert found is not None
        stated = float(found[1].replace(",", ""))
        assert math.exp(float(epsilon)) * (1 - 1e-12) <= stated <= math.exp(float(epsilon)) * 1.05 + 0.01


@given(EPSILONS, st.sampled_from(["0", "1e-9", "1e-3"]))
def test_nothing_is_at_most_100_or_at_least_0_percent(epsilon: Fraction, delta: str) -> None:
    guarantee = Guarantee(epsilon, Fraction(delta))
    said = guarantee.explain()
    assert "100 %" not in said
    assert "at least 0 %" not in said
    assert ("practically certain" in said) == (guarantee.for_replaced_record().belief().most > 0.999)


def test_a_large_epsilon_must_be_accepted() -> None:
    for epsilon in (None, Fraction(10)):
        check_large_epsilon(epsilon, accepted=False, of="a release", example="f()")
    check_large_epsilon(Fraction(11), accepted=True, of="a release", example="f()")
    with pytest.raises(ParameterError, match=r"large_epsilon=True .--large-epsilon.. For example: f"):
        check_large_epsilon(Fraction(101, 10), accepted=False, of="a release", example="f()")
    with pytest.raises(ParameterError, match="True or False"):
        check_large_epsilon(Fraction(1), accepted=1, of="a release", example="f()")  # type: ignore[arg-type]
