"""How much ρ fits (ε, δ): never more than the formula allows, and hardly less."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from locentropy.core.errors import ParameterError
from locentropy.privacy import concentrated
from locentropy.privacy.concentrated import admissible_rho, rho_at

epsilons = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)
deltas = st.integers(1, 300).map(lambda power: Fraction(1, 10**power)) | st.fractions(
    Fraction(1, 10**9), 1 - Fraction(1, 10**6), max_denominator=10**9
)


def log_delta_at(rho: Fraction, epsilon: Fraction, order: Fraction) -> Decimal:
    """ln of the δ that ρ-zCDP has at ε by one order, with sixty digits: the statement, not the formula for ρ."""
    with localcontext() as context:
        context.prec = 60
        a, r, e = (Decimal(each.numerator) / Decimal(each.denominator) for each in (order, rho, epsilon))
        return (a - 1) * (a * r - e) + a * (1 - 1 / a).ln() - (a - 1).ln()


def ln(value: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return (Decimal(value.numerator) / Decimal(value.denominator)).ln()


def best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    return concentrated._best_order(epsilon, delta)


@pytest.mark.parametrize(
    ("epsilon", "rho"), [("1", 0.024355), ("2", 0.088152), ("4", 0.311064)], ids=["1", "2", "4"]
)
def test_values_known_from_elsewhere(epsilon: str, rho: float) -> None:
    found = float(admissible_rho(epsilon, "1e-6"))
    assert rho <= found < rho + 1e-6


@given(epsilons, deltas)
@settings(max_examples=examples(200))
def test_rho_is_admissible(epsilon: Fraction, delta: Fraction) -> None:
    """By the order that was chosen, ρ-zCDP has at most δ at ε: with sixty digits, and the next short ρ has more."""
    rho = admissible_rho(epsilon, delta)
    order = best_order(epsilon, delta)
    assert order > 1
    assert log_delta_at(rho, epsilon, order) <= ln(delta)
    assert rho * (1 + Fraction(2, 10**11)) > rho_at(epsilon, delta, order), "hardly less than it could be"


@given(epsilons, deltas, st.floats(-3, 8))
@settings(max_examples=examples(200))
def test_every_order_is_a_certificate_and_none_is_much_better(
    epsilon: Fraction, delta: Fraction, log_excess: float
) -> None:
    other = 1 + Fraction(math.exp(log_excess))
    at_other = rho_at(epsilon, delta, other)
    assert log_delta_at(at_other, epsilon, other) <= ln(delta)
    assert at_other <= admissible_rho(epsilon, delta) * (1 + Fraction(1, 10**6))


@given(epsilons, epsilons, deltas)
def test_more_epsilon_admits_more(one: Fraction, other: Fraction, delta: Fraction) -> None:
    less, more = sorted((one, other))
    assert admissible_rho(less, delta) <= admissible_rho(more, delta) * (1 + Fraction(1, 10**10))


@given(epsilons, deltas, deltas)
def test_more_delta_admits_more(epsilon: Fraction, one: Fraction, other: Fraction) -> None:
    less, more = sorted((one, other))
    assert admissible_rho(epsilon, less) <= admissible_rho(epsilon, more) * (1 + Fraction(1, 10**10))


@given(epsilons, deltas)
def test_rho_is_short(epsilon: Fraction, delta: Fraction) -> None:
    rho = admissible_rho(epsilon, delta)
    assert rho > 0
    digits = Decimal(rho.numerator) / Decimal(rho.denominator)
    assert len(digits.normalize().as_tuple().digits) <= 12


def test_numbers_are_read_as_they_were_written() -> None:
    assert (
        admissible_rho(0.1, 1e-8)
        == admissible_rho("0.1", "1e-8")
        == admissible_rho(Fraction(1, 10), Fraction(1, 10**8))
    )


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, "1e-8"), (-1, "1e-8"), (1, 0), (1, 1), (1, 2), (1, -1), ("nan", "1e-8")]
)
def test_what_cannot_be_a_guarantee_is_refused(epsilon: object, delta: object) -> None:
    with pytest.raises(ParameterError):
        admissible_rho(epsilon, delta)  # type: ignore[arg-type]


# --- planted: rounding towards the spender ------------------------------------------------------------------------


def above_the_truth(epsilon: Fraction, delta: Fraction) -> bool:
    """Whether ρ is more than the formula admits at the order that was chosen, to 55 digits."""
    rho, order = concentrated.rho_at(epsilon, delta, best_order(epsilon, delta)), best_order(epsilon, delta)
    short = admissible_rho(epsilon, delta)
    return log_delta_at(rho, epsilon, order) > ln(delta) or log_delta_at(short, epsilon, order) > ln(delta)


CASES = [
    (Fraction(e), Fraction(d)) for e in ("0.1", "1", "3.7", "10") for d in ("1e-6", "1e-8", "3e-9", "0.01")
]


def test_logarithms_rounded_towards_the_spender_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(above_the_truth(*case) for case in CASES)
    above, below = concentrated._ln_above, concentrated._ln_below
    monkeypatch.setattr(concentrated, "_ln_above", below)
    monkeypatch.setattr(concentrated, "_ln_below", above)
    assert all(above_the_truth(*case) for case in CASES)


def test_a_result_rounded_up_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    short = concentrated._short_below
    monkeypatch.setattr(concentrated, "_short_below", lambda rho: short(rho) * (1 + Fraction(1, 10**11)))
    assert all(above_the_truth(*case) for case in CASES)


def test_a_float_and_the_fraction_that_it_is_stored_as_are_two_numbers() -> None:
    """0.3 is read as it was written, 3/10; the fraction that a computer stores for it is a little less."""
    assert admissible_rho(0.3, 1e-8) == admissible_rho("0.3", "1e-8")
    less = Fraction(0.3)
    assert less == 0.3
    assert less < Fraction(3, 10)
    order = concentrated._best_order(less, Fraction("1e-8"))
    assert admissible_rho(less, 1e-8) <= concentrated.rho_at(less, Fraction("1e-8"), order)
