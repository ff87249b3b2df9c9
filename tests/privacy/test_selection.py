"""The selection curve keeps every inequality of differential privacy, exactly, and names as many as it can."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import OpenDPNoise
from locentropy.privacy.selection import SelectionCurve, selection_probabilities

CASES = [
    (1.5, 1e-8, 5),
    (0.5, 1e-8, 5),
    (0.05, 1e-8, 5),
    (1.0, 1e-12, 30),
    (0.01, 1e-6, 1),
    (20.0, 1e-8, 1),
    (90.0, 1e-30, 1),
    (90.0, 0.4, 1),
    (3.0, 0.3, 2),
    (0.1, 0.5, 1),
    (0.1, 0.7, 1),
    (0.1, 0.999999, 1),
    (1e-4, 0.01, 1),
    (0.7, 1e-150, 3),
]


def below_exp(exponent: Fraction) -> Fraction:
    """A rational number just below e^exponent."""
    wide = Context(prec=100)
    ratio = wide.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(wide.exp(ratio)) * (1 - Fraction(1, 10**90))


def exact_table(curve: SelectionCurve) -> list[Fraction]:
    """The probabilities of the coins that are really flipped, from below the threshold to past the end."""
    tail, named = curve.coins(np.arange(-2, curve.certain_from + 3))
    small = [Fraction(float(chance)) for chance in tail]
    return [1 - chance if likely else chance for chance, likely in zip(small, named, strict=True)]


def broken(table: list[Fraction], epsilon: float, delta: float, max_locations: int) -> list[int]:
    """Where neighbouring entries break (ε/M, δ/M)-differential privacy of one coin; both ways, both sides."""
    growth = below_exp(Fraction(str(epsilon)) / max_locations)
    slip = Fraction(str(delta)) / max_locations
    return [
        at
        for at, (p, q) in enumerate(pairwise(table))
        if not (
            q <= growth * p + slip
            and p <= growth * q + slip
            and 1 - p <= growth * (1 - q) + slip
            and 1 - q <= growth * (1 - p) + slip
        )
    ]


@pytest.mark.parametrize("case", CASES)
def test_every_inequality_holds_exactly(case: tuple[float, float, int]) -> None:
    table = exact_table(SelectionCurve(*case))
    assert table[:3] == [0, 0, 0]  # up to the threshold nothing is named
    assert table[-1] == 1
    assert broken(table, *case) == []


@settings(deadline=None, max_examples=examples(60))
@given(st.floats(0.02, 60), st.floats(1e-30, 0.9), st.integers(1, 50))
def test_every_inequality_holds_for_any_parameters(epsilon: float, delta: float, max_locations: int) -> None:
    if epsilon / max_locations < 0.02:
        max_locations = 1
    curve = SelectionCurve(epsilon, delta, max_locations)
    assert broken(exact_table(curve), epsilon, delta, max_locations) == []


def test_a_curve_too_long_to_check_whole_is_right_where_it_bends() -> None:
    epsilon, delta, max_locations = 1e-3, 1e-12, 30
    curve = SelectionCurve(epsilon, delta, max_locations)
    assert 1_000_000 < curve.certain_from < 1_500_000
    turn, end = curve._shape.turn, curve.certain_from
    for start in (-2, 1000, turn // 2, turn - 300, end - 300):
        tail, named = curve.coins(np.arange(start, start + 600))
        small = [Fraction(float(chance)) for chance in tail]
        table = [1 - chance if likely else chance for chance, likely in zip(small, named, strict=True)]
        assert broken(table, epsilon, delta, max_locations) == []


def recursion(epsilon: float, delta: float, max_locations: int) -> np.ndarray:
    """The recursion as it is written, in plain floats."""
    e, d = epsilon / max_locations, delta / max_locations
    table = [0.0]
    while table[-1] < 1:
        p = table[-1]
        table.append(min(math.exp(e) * p + d, 1 - math.exp(-e) * (1 - p - d), 1.0))
    return np.array(table)


@pytest.mark.parametrize("case", CASES[:6])
def test_the_curve_is_the_recursion(case: tuple[float, float, int]) -> None:
    table, optimal = selection_probabilities(*case), recursion(*case)
    assert abs(table.size - optimal.size) <= 1
    rows = min(table.size, optimal.size)
    share = case[0] / case[2]
    # At most 1/4096 of a user behind: the curve grows by at most a factor e^(e/4096) in that time.
    assert np.all(table[:rows] <= optimal[:rows] * (1 + 1e-9) + 1e-14)
    assert np.all(1 - table[:rows] <= (1 - optimal[:rows]) * math.exp(share / 4000) + case[1] / 1000 + 1e-12)


@pytest.mark.parametrize(
    ("epsilon", "share", "users"), [(5, "0.3", 111), (1, "0.5", 221), (0.1, "0.5", 1524)]
)
def test_half_the_locations_are_named_at(epsilon: float, share: str, users: int) -> None:
    threshold = 50
    curve = SelectionCurve(Fraction(str(epsilon)) * Fraction(share), 1e-8, max_locations=5)
    chances = curve.probability(np.arange(3000) - threshold)
    assert int(np.argmax(chances >= 0.5)) == users


# --- planted faults -----------------------------------------------------------------------------------------


def test_off_by_one_is_rejected() -> None:
    case = (0.5, 1e-8, 5)
    table = exact_table(SelectionCurve(*case))
    assert broken(table[:3] + table[4:], *case)  # π(1) skipped
    middle = len(table) // 2
    assert broken(table[:middle] + table[middle + 1 :], *case)
    assert broken([*table[:-4], Fraction(1)], *case)  # certain too early


def test_delta_not_divided_is_rejected() -> None:
    epsilon, delta, max_locations = 0.5, 1e-8, 5
    wrong = exact_table(SelectionCurve(Fraction("0.5") / 5, Fraction("1e-8"), 1))  # d = δ, not δ/M
    assert broken(wrong, epsilon, delta, max_locations)


def test_epsilon_not_divided_is_rejected() -> None:
    wrong = exact_table(SelectionCurve(0.5, Fraction("1e-8") / 5, 1))
    assert broken(wrong, 0.5, 1e-8, 5)


@pytest.mark.parametrize("factor", [1 + 1e-9, 1 - 1e-9])
def test_a_hair_in_one_entry_is_rejected(factor: float) -> None:
    case = (0.5, 1e-8, 5)
    table = exact_table(SelectionCurve(*case))
    for at in (5, 60, 120):
        planted = table.copy()
        planted[at] *= Fraction(factor)
        assert broken(planted, *case)


def test_the_corners_keep_all_digits() -> None:
    """A turn so close to 1 that 1 − π, taken from a float, would have lost four digits or more."""
    slip = (1 - 1e-12) / (math.exp(30) + 1)
    curve = SelectionCurve(30.0, slip, 1)
    shape = curve._shape
    wide = Context(prec=120)
    rate, first = Decimal(shape.rate), Decimal(slip * (1 - 2.0**-40))
    growth = wide.subtract(wide.exp(rate), Decimal(1))
    top = Fraction(wide.subtract(wide.exp(wide.multiply(rate, Decimal(shape.turn))), Decimal(1)))
    left = 1 - Fraction(first) * top / Fraction(growth)
    assert shape.turn == 2
    assert shape.named[0]
    assert 0 < left < Fraction(1, 10**11)
    assert abs(Fraction(shape.corners[0]) / left - 1) < Fraction(1, 10**15)
    assert broken(exact_table(curve), 30.0, slip, 1) == []


# --- the two-user-record view -------------------------------------------------------------------------------


def test_composition_over_all_locations_of_one_user() -> None:
    """Exact (ε, δ) of the joint coins of M locations, on the worst neighbours: every location at the same n."""
    epsilon, delta, max_locations = 1.2, 0.05, 3
    table = exact_table(SelectionCurve(epsilon, delta, max_locations))
    growth = below_exp(Fraction(str(epsilon)))
    for p, q in pairwise(table):
        for first, second in ((p, q), (q, p)):
            excess = Fraction(0)
            for heads in range(max_locations + 1):
                ways = math.comb(max_locations, heads)
                one = first**heads * (1 - first) ** (max_locations - heads)
                two = second**heads * (1 - second) ** (max_locations - heads)
                excess += ways * max(Fraction(0), one - growth * two)
            assert excess <= Fraction(str(delta))


# --- use ----------------------------------------------------------------------------------------------------


def test_select_follows_the_curve() -> None:
    curve = SelectionCurve(0.5, 1e-8, 5)
    middle = int(np.argmax(curve.probability(np.arange(400)) >= 0.5))
    users = np.repeat([-7, 0, middle, middle - 20, curve.certain_from, 10**12], 50_000)
    named = curve.select(users, OpenDPNoise()).reshape(6, -1).mean(axis=1)
    assert named[0] == named[1] == 0
    assert named[4] == named[5] == 1
    chances = curve.probability(np.array([middle, middle - 20]))
    # Hoeffding: off by more than 0.0121 with probability below 1e-6.
    assert np.all(np.abs(named[2:4] - chances) < 0.0121)


def test_any_shape_and_no_locations() -> None:
    curve = SelectionCurve(0.5, 1e-8, 5)
    assert curve.probability(np.array([[1, 2], [3, 400]])).shape == (2, 2)
    assert curve.probability(np.array([], dtype=np.int64)).shape == (0,)
    assert curve.probability(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [1.0]


def test_the_guarantee_is_the_whole_budget() -> None:
    assert SelectionCurve(0.5, 1e-8, 5).guarantee == Guarantee.approximate(0.5, 1e-8)


def test_a_table_too_long_is_refused() -> None:
    with pytest.raises(ParameterError, match="probability"):
        selection_probabilities(1e-6, 1e-12, 30)
    # The curve itself is no trouble.
    assert SelectionCurve(1e-6, 1e-12, 30).probability(np.array([10**12])).tolist() == [1.0]


@pytest.mark.parametrize(
    ("epsilon", "delta", "max_locations"),
    [
        (0, 1e-8, 5),
        (-1, 1e-8, 5),
        (math.nan, 1e-8, 5),
        (math.inf, 1e-8, 5),
        (1e-12, 1e-8, 5),
        (1000.0, 1e-8, 1),
        (1.0, 0.0, 5),
        (1.0, 1.0, 1),
        (1.0, -1e-8, 5),
        (1.0, 5e-324, 5),
        (1.0, 1e-8, 0),
        (1.0, 1e-8, 2.5),
        (True, 1e-8, 5),
    ],
)
def test_nonsense_is_refused(epsilon: float, delta: float, max_locations: int) -> None:
    with pytest.raises(ParameterError, match=r"SelectionCurve\(|Guarantee\."):
        SelectionCurve(epsilon, delta, max_locations)


def test_counts_must_be_whole() -> None:
    with pytest.raises(ParameterError, match="integers"):
        SelectionCurve(0.5, 1e-8, 5).probability(np.array([1.5]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_selection_takes_integers_of_any_width(dtype: type) -> None:
    curve = SelectionCurve(1.0, 1e-8, 5)
    users = np.array([0, 3, 100])
    assert curve.probability(users.astype(dtype)).tolist() == curve.probability(users).tolist()
