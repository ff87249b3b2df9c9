"""The privacy loss: against sums over all outputs, exact where it says so, and never optimistic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from locentropy_lab.audit.privacy_loss import Component, PrivacyLoss, components, exact_loss
from locentropy_lab.audit.subjects import Law

OUTPUTS = np.arange(-300, 305)


def law(value: int, scale: float, chance: float = 1.0) -> np.ndarray:
    """All probabilities of one coordinate; the last is "not shown"."""
    shown = chance * math.tanh(0.5 / scale) * np.exp(-np.abs(OUTPUTS - value) / scale)
    return np.append(shown, 1 - chance)


def true_delta(found: list[Component], epsilon: float) -> float:
    one = [law(each.value, each.scale, float(each.chance)) for each in found]
    other = [law(each.other, each.other_scale, float(each.other_chance)) for each in found]
    p, q = one[0], other[0]
    for more, less in zip(one[1:], other[1:], strict=True):
        p, q = np.outer(p, more).ravel(), np.outer(q, less).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


CASES = {
    "values": [Component(0, 9.0, 4, 9.0)],
    "two values": [Component(0, 9.0, 4, 9.0), Component(3, 9.0, 0, 9.0)],
    "scales": [Component(0, 9.0, 0, 7.0)],
    "values and scales": [Component(0, 8.0, 3, 9.0), Component(1, 9.0, 0, 8.0)],
    "chances": [Component(0, 1.0, 0, 1.0, Fraction(1, 5), Fraction(3, 10))] * 2,
    "only one can show it": [Component(0, 1.0, 0, 1.0, Fraction(1, 100), Fraction(0))] * 2,
    "chances and values": [Component(0, 9.0, 4, 9.0, Fraction(1, 2), Fraction(2, 5))] * 2,
    "certain and likely": [Component(0, 9.0, 4, 9.0, Fraction(1), Fraction(9, 10))],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("turned", [False, True])
def test_bounds_hold_the_sum_over_all_outputs(case: str, turned: bool) -> None:
    found = [each.turned() for each in CASES[case]] if turned else CASES[case]
    loss = PrivacyLoss.between(found, cells=2**14)
    for epsilon in (0.0, 0.05, 0.3, 0.6, 1.0):
        truth = true_delta(found, epsilon)
        lower, upper = loss.delta(epsilon)
        assert lower - 1e-12 <= truth <= upper + 1e-12
        assert upper - lower < 1e-3, "or they say nothing"


@pytest.mark.parametrize("case", CASES)
def test_epsilon_is_where_delta_is_met(case: str) -> None:
    loss = PrivacyLoss.between(CASES[case], cells=2**14)
    for delta in (1e-3, 0.02):
        lower, upper = loss.epsilon(delta)
        assert lower <= upper
        if math.isinf(upper):
            assert true_delta(CASES[case], 50.0) > delta * 0.99
        else:
            assert true_delta(CASES[case], upper) <= delta + 1e-12
        if 0 < lower < math.inf:
            assert true_delta(CASES[case], lower * (1 - 1e-6)) > delta * (1 - 1e-3) - 1e-12


def test_a_small_delta_is_exact_where_only_chance_decides() -> None:
    """δ = 10^-8 over twenty places, all of it used: rounding may not be taken for a fault, nor hide one."""
    tenth = Fraction(1, 10**8) / 20
    spent = PrivacyLoss.between([Component(0, 1.0, 0, 1.0, tenth, Fraction(0))] * 20)
    assert spent.epsilon(1e-8).upper < 1e-7, "what is added for rounding, and no more"
    over = PrivacyLoss.between([Component(0, 1.0, 0, 1.0, tenth * Fraction(1001, 1000), Fraction(0))] * 20)
    assert math.isinf(over.epsilon(1e-8).lower)


def test_the_exact_loss_is_exact_and_only_there_where_it_is_one() -> None:
    third = Component(0, 3.0, 1, 3.0)
    assert exact_loss([third] * 3) == 1
    assert exact_loss([]) == 0
    assert exact_loss([third, Component(0, 3.0, 1, 4.0)]) is None
    assert exact_loss([Component(0, 3.0, 1, 3.0, Fraction(1, 2))]) is None
    assert exact_loss(None) is None


def test_laws_of_another_shape_are_told_apart() -> None:
    one, two = (Law(np.arange(many), np.ones(many), None, many) for many in (1, 2))
    assert components(one, two) is None
    assert components(two, two) == []
    assert components(one, Law(np.arange(1), np.ones(1), (Fraction(1, 2),), 1)) is None
