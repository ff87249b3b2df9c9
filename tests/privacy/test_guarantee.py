"""Guarantees add up exactly, never to more than their parts, and say what they mean."""

from __future__ import annotations

import math
import re
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import Guarantee, PublicInput, exact, total
from locentropy.privacy.rounding import exponential_above, exponential_below, group_delta, percent_up
from locentropy.privacy.strength import CERTAIN

inputs = st.lists(st.builds(PublicInput, st.sampled_from("MCk"), st.sampled_from("123")), max_size=3)
epsilons = st.decimals(0, 100, places=4)
private_guarantees = st.one_of(
    st.builds(Guarantee.pure, epsilons, inputs),
    st.builds(Guarantee.approximate, epsilons, st.decimals("0.0001", "0.2", places=4), inputs),
)
guarantees = st.one_of(
    private_guarantees, st.builds(Guarantee.none, st.sampled_from(["crowd", "test"]), inputs)
)


@given(guarantees, guarantees, guarantees)
def test_the_order_of_adding_does_not_show(a: Guarantee, b: Guarantee, c: Guarantee) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == total([c, a, b])
    assert a + Guarantee.pure(0) == a
    assert hash(a + b) == hash(b + a)


@given(private_guarantees, private_guarantees)
def test_epsilon_and_delta_add_up_exactly(a: Guarantee, b: Guarantee) -> None:
    both = a + b
    assert both.epsilon == a.epsilon + b.epsilon
    assert both.delta == a.delta + b.delta
    assert both.kind == ("approximate" if "approximate" in (a.kind, b.kind) else "pure")
    assert set(both.public_inputs) == {*a.public_inputs, *b.public_inputs}


@given(guarantees)
def test_anything_with_none_is_none(a: Guarantee) -> None:
    both = a + Guarantee.none("crowd blending")
    assert both.kind == "none"
    assert not both.private
    assert both.epsilon is None
    assert "crowd blending" in both.reasons


def test_ten_tenths_are_one() -> None:
    assert total([Guarantee.pure(0.1)] * 10) == Guarantee.pure(1)
    assert total([Guarantee.approximate(0.1, 1e-9)] * 10) == Guarantee.approximate(1, 1e-8)
    assert 0.1 + 0.1 + 0.1 != 0.3  # what floats would have said


def test_nothing_released_spends_nothing() -> None:
    assert total([]) == Guarantee.pure(0)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, -0.1, True, "a", "1/0", None, "1e9999999", "1E-9_999_999", "1e999"],
)
def test_what_is_no_epsilon_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Guarantee.pure(value)
    with pytest.raises(ParameterError, match="delta"):
        Guarantee.approximate(1.0, value)


@pytest.mark.parametrize("delta", [0, 1, 1.5])
def test_delta_is_between_zero_and_one(delta: float) -> None:
    with pytest.raises(ParameterError, match="delta"):
        Guarantee.approximate(1.0, delta)


def test_there_is_no_default_delta() -> None:
    with pytest.raises(TypeError):
        Guarantee.approximate(1.0)


def test_deltas_that_add_up_to_one_leave_no_guarantee() -> None:
    with pytest.raises(ParameterError, match="add up"):
        Guarantee.approximate(1, 0.5) + Guarantee.approximate(1, 0.5)


@pytest.mark.parametrize(
    "fields",
    [
        (1.0, Fraction(0)),
        (Fraction(1), 0.0),
        (Fraction(1), None),
        (Fraction(-1), Fraction(0)),
        (Fraction(1), Fraction(1)),
        (None, Fraction(0)),
        (None, Fraction(1, 2), (), ("why",)),
        (Fraction(1), Fraction(0), (), ("why",)),
    ],
)
def test_no_half_made_guarantee(fields: tuple[object, ...]) -> None:
    with pytest.raises(ParameterError):
        Guarantee(*fields)


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Guarantee.pure(1).epsilon = Fraction(0)


def test_numbers_as_they_were_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact("1/3") == Fraction(1, 3)
    assert exact(1e-8) == Fraction(1, 10**8)


# --- what it says -------------------------------------------------------------------------------------------


def test_sentences() -> None:
    public = [PublicInput("max_visits", "5"), PublicInput("max_locations", "20")]
    text = str(Guarantee.approximate(0.3, 1e-8, public))
    assert "ε = 0.3, δ = 1e-8" in text
    assert "one user's whole record" in text
    assert "add or remove one user" in text
    assert text.endswith("not protected: max_locations = 20; max_visits = 5.")
    assert "ε = 1," in str(Guarantee.pure(1))
    assert "δ" not in str(Guarantee.pure(1))
    assert "ε = 1/3" in str(Guarantee.pure("1/3"))
    assert str(Guarantee.none("shows crowds")).startswith("Not differentially private: shows crowds.")


def test_odds_of_a_pure_guarantee() -> None:
    belief = Guarantee.pure(1).belief()
    assert belief.most == pytest.approx(math.e / (1 + math.e))
    assert belief.least == pytest.approx(1 / (1 + math.e))
    assert belief.exceptions == 0
    assert Guarantee.pure(1).attacker_accuracy() == pytest.approx(belief.most)
    assert "at most 73.2 % and at least 26.8 %" in Guarantee.pure(1).explain()
    assert "at most 50 % and at least 50 %" in Guarantee.pure(0).explain()
    assert "think it practically certain, or practically impossible" in Guarantee.pure(1000).explain()


def test_odds_with_delta_name_the_exceptions() -> None:
    guarantee = Guarantee.approximate(1, 0.01)
    belief = guarantee.belief()
    assert belief.most == pytest.approx(2 * math.e / (1 + 2 * math.e))
    assert belief.exceptions == Fraction(2, 100)
    assert guarantee.attacker_accuracy() == pytest.approx((math.e + 0.01) / (1 + math.e))
    assert "probability of at most 0.02" in guarantee.explain()
    assert "nothing is promised" in guarantee.explain()


def test_odds_without_a_guarantee() -> None:
    assert Guarantee.none("why").belief().most == 1
    assert Guarantee.none("why").attacker_accuracy() == 1
    assert "certain" in Guarantee.none("why").explain()


@given(st.lists(st.integers(1, 50), min_size=2, max_size=6), st.data())
def test_belief_and_guess_hold_for_every_mechanism(weights: list[int], data: st.DataObject) -> None:
    """Any two distributions: take ε at random, δ as what they then need, and try every output."""
    size = len(weights)
    others = data.draw(st.lists(st.integers(1, 50), min_size=size, max_size=size))
    present = [Fraction(w, sum(weights)) for w in weights]
    absent = [Fraction(w, sum(others)) for w in others]
    epsilon = data.draw(st.sampled_from([0, 0.1, 0.5, 1, 2]))
    growth = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 10**14))

    def needed(p: list[Fraction], q: list[Fraction]) -> Fraction:
        return sum((max(Fraction(0), a - growth * b) for a, b in zip(p, q, strict=True)), Fraction(0))

    delta = max(needed(present, absent), needed(absent, present))
    guarantee = Guarantee.approximate(epsilon, delta) if delta else Guarantee.pure(epsilon)
    best = sum(max(a, b) for a, b in zip(present, absent, strict=True)) / 2
    assert float(best) <= guarantee.attacker_accuracy() + 1e-12
    belief = guarantee.belief(0.3)
    above = below = 0.0
    for a, b in zip(present, absent, strict=True):
        posterior = float(3 * a / (3 * a + 7 * b))
        above += float(max(a, b)) * (posterior > belief.most + 1e-12)
        below += float(max(a, b)) * (posterior < belief.least - 1e-12)
    assert max(above, below) <= float(belief.exceptions) + 1e-12


# --- two records of one person, and several people ------------------------------------------------------------


def test_which_record_costs_twice_whether_there_is_one() -> None:
    """A belief of 50:50 between two records of one person can reach 88 %, not 73 %."""
    guarantee = Guarantee.pure(1)
    assert guarantee.belief().most == pytest.approx(0.7310585786300049)
    replaced = guarantee.for_replaced_record()
    assert replaced == Guarantee.pure(2)
    assert replaced.belief().most == pytest.approx(0.8807970779778823)
    said = guarantee.explain()
    assert (
        "after seeing this release, think it at most 73.2 % and at least 26.8 % likely. Between two" in said
    )
    assert "the bound is twice ε: a belief of 50 % in one of the two can become at most 88.1 % and" in said
    assert "any release" not in said


def test_two_records_with_delta() -> None:
    guarantee = Guarantee.approximate(1, "1e-8", [PublicInput("max_visits", "5")])
    replaced = guarantee.for_replaced_record()
    assert (replaced.epsilon, replaced.delta) == (2, Fraction("3.71829e-8")), (
        "1 + e = 3.718281828…, rounded up"
    )
    assert replaced.public_inputs == guarantee.public_inputs
    assert "probability of at most 7.43658e-8" in guarantee.explain()
    assert "it is ε = 2, δ = 3.71829e-8" in guarantee.explain_groups()
    assert "δ becomes δ·(e^(kε) − 1)/(e^ε − 1)" in guarantee.explain_groups()
    assert "δ" not in Guarantee.pure(1).explain_groups()


def test_large_delta_promises_nothing_between_two_records() -> None:
    guarantee = Guarantee.approximate(1, 0.3)
    assert not guarantee.for_replaced_record().private
    assert guarantee.explain().endswith("Between two possible records of one person nothing is promised.")
    assert "it is no bound at all" in guarantee.explain_groups()


@given(guarantees)
def test_a_group_of_one_is_one_person(guarantee: Guarantee) -> None:
    assert guarantee.for_group(1) == guarantee


def test_no_guarantee_for_one_is_none_for_more() -> None:
    assert Guarantee.none("why").for_group(3) == Guarantee.none("why")
    assert Guarantee.none("why").explain_groups() == "Nothing is promised to anybody."


@given(private_guarantees, st.integers(1, 40))
def test_group_bounds_are_never_understated(guarantee: Guarantee, size: int) -> None:
    """Against the sum, in fractions, of powers of a number below e^ε: the bound is above it, and not by much."""
    group = guarantee.for_group(size)
    growth = Fraction(below_exponential(guarantee.epsilon))
    least = guarantee.delta * sum((growth**i for i in range(size)), Fraction(0))
    if group.epsilon is None:
        assert least * (1 + Fraction(1, 10**4)) >= 1 or size * guarantee.epsilon > 10_000
        return
    assert group.epsilon == size * guarantee.epsilon
    assert least <= group.delta <= least * (1 + Fraction(1, 10**4))
    assert group.kind == guarantee.kind


def below_exponential(power: Fraction) -> Fraction:
    """A number just below e^power, by its series; independent of the code under test."""
    halvings = max(0, math.ceil(power)).bit_length()
    small = power / 2**halvings
    term, total = Fraction(1), Fraction(1)
    for i in range(1, 30):
        term *= small / i
        total += term
        total = Fraction(math.floor(total * 10**60), 10**60)
        term = Fraction(math.floor(term * 10**70), 10**70)
    for _ in range(halvings):
        total = Fraction(math.floor(total**2 * 10**60), 10**60)
    return total


@given(st.fractions(0, 60, max_denominator=10**6))
def test_bounds_of_the_exponential(power: Fraction) -> None:
    known = below_exponential(power)
    assert exponential_below(power) <= exponential_above(power) <= known * (1 + Fraction(1, 10**30))
    assert exponential_below(-power) <= 1 / known
    assert exponential_below(power) * exponential_below(-power) <= 1
    assert exponential_above(power) >= known


@given(private_guarantees, st.floats(0.001, 0.999))
def test_beliefs_are_never_understated(guarantee: Guarantee, prior: float) -> None:
    belief = guarantee.belief(prior)
    factor = below_exponential(guarantee.epsilon) * (2 if guarantee.delta else 1)
    before = Fraction(prior)
    assert Fraction(belief.most) >= before * factor / (before * factor + 1 - before)
    assert Fraction(belief.least) <= before / (before + (1 - before) * factor)
    best = (below_exponential(guarantee.epsilon) + guarantee.delta) / (
        1 + below_exponential(guarantee.epsilon)
    )
    assert Fraction(guarantee.attacker_accuracy()) >= best


@pytest.mark.parametrize("epsilon", ["1e-200", "1e-30", "0.001", "3", "4999"])
def test_extreme_groups(epsilon: str) -> None:
    delta = group_delta(exact(epsilon), Fraction(1, 10**9), 2)
    if epsilon == "4999":
        assert delta is None
    else:
        assert 2e-9 < delta < 2.2e-8
    assert group_delta(exact(epsilon), Fraction(1, 10**9), 10**9) is None
    assert Guarantee.pure(epsilon).for_group(10**9).epsilon == exact(epsilon) * 10**9
    assert Guarantee.approximate(0, 1e-9).for_group(7).delta == Fraction(7, 10**9)


@pytest.mark.parametrize("size", [0, -1, 1.0, True, None, "2"])
def test_groups_that_are_none_are_refused(size: object) -> None:
    with pytest.raises(ParameterError, match="size"):
        Guarantee.pure(1).for_group(size)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=4), st.data())
def test_two_steps_hold_for_every_mechanism(weights: list[int], data: st.DataObject) -> None:
    """Any three distributions in a row, ε at random and δ as each step needs: the two ends keep the bound of two."""
    laws = [weights, *(data.draw(st.lists(st.integers(1, 50), min_size=len(weights), max_size=len(weights)))
                       for _ in range(2))]  # fmt: skip
    laws = [[Fraction(w, sum(law)) for w in law] for law in laws]
    epsilon = data.draw(st.sampled_from([0, 0.1, 0.5, 1, 2]))

    def needed(p: list[Fraction], q: list[Fraction], growth: Fraction) -> Fraction:
        return sum((max(Fraction(0), a - growth * b) for a, b in zip(p, q, strict=True)), Fraction(0))

    growth = exponential_below(exact(epsilon))
    delta = max(
        needed(*pair, growth)
        for a, b in ((0, 1), (1, 2))
        for pair in ((laws[a], laws[b]), (laws[b], laws[a]))
    )
    two = (Guarantee.approximate(epsilon, delta) if delta else Guarantee.pure(epsilon)).for_replaced_record()
    if two.epsilon is not None:
        whole = exponential_above(two.epsilon)
        assert max(needed(laws[0], laws[2], whole), needed(laws[2], laws[0], whole)) <= two.delta


@pytest.mark.parametrize("prior", [0, 1, -1, math.nan])
def test_a_prior_is_a_probability(prior: float) -> None:
    with pytest.raises(ParameterError, match="prior"):
        Guarantee.pure(1).belief(prior)


def test_the_pages_state_these_numbers() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "guarantee.md").read_text(encoding="utf-8")

    def row(name: str) -> list[str]:
        [line] = re.findall(rf"^\| {name} \| (.*%.*|0[.]1.*) \|$", text, re.M)
        return line.split(" | ")

    def said(guarantee: Guarantee) -> str:
        most = guarantee.belief().most
        return percent_up(most) if most < CERTAIN else "practically certain"

    promised = [Guarantee.pure(epsilon) for epsilon in row("ε")]
    assert row("that she is in the data") == [said(each) for each in promised]
    assert row("which of two records is hers") == [said(each.for_replaced_record()) for each in promised]
    how_much = (docs / "budget.md").read_text(encoding="utf-8").partition("## How much")[2].partition("##")[0]
    found = re.findall(r"([\d.]+ %) at (?:ε = )?([\d.]*\d)", how_much.partition("Between two")[2])
    assert len(found) >= 3
    for shown, epsilon in found:
        assert shown == percent_up(Guarantee.pure(epsilon).for_replaced_record().belief().most)
