"""A budget is spent exactly, refused when it does not fit, and never given back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import BudgetError, LedgerError, ParameterError
from locentropy.ledger import spending
from locentropy.ledger.accounts import Budget
from locentropy.ledger.entries import Entry
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.ledger.rules import Account
from locentropy.privacy.guarantee import Guarantee

# --- sums ---


def test_ten_tenths_are_one(ledger: Ledger) -> None:
    for month in range(10):
        ledger.spend(Guarantee.pure(0.1), f"month {month}")
    assert ledger.remaining == Budget(Fraction(0), Fraction(1, 10**6))
    with pytest.raises(BudgetError, match="ε = 0, δ = 1e-6 left of ε = 1"):
        ledger.spend(Guarantee.pure("1e-30"), "a little more")


def test_a_spend_says_what_it_is(path: Path, ledger: Ledger) -> None:
    spend = ledger.spend(Guarantee.approximate("1/3", 1e-8), "map of May")
    assert spend == Ledger.open(path).history()[0]
    assert (spend.number, spend.epsilon, spend.delta) == (1, Fraction(1, 3), Fraction(1, 10**8))
    assert (spend.purpose, spend.software.split()[0]) == ("map of May", "locentropy")
    assert datetime.fromisoformat(spend.time).tzinfo is UTC
    assert spend.id != ledger.spend(Guarantee.pure(0), "nothing").id
    assert ledger.remaining.epsilon == Fraction(2, 3)


def test_an_id_stands_for_one_amount(ledger: Ledger) -> None:
    own = new_id()
    spend = ledger.spend(Guarantee.pure("1/4"), "map of May", spend_id=own)
    assert ledger.spend(Guarantee.pure("1/4"), "map of May", spend_id=own) == spend
    for other in (Guarantee.pure("1/2"), Guarantee.approximate("1/4", 1e-8)):
        with pytest.raises(LedgerError, match="another ε or δ"):
            ledger.spend(other, "map of May", spend_id=own)
    assert ledger.history() == (spend,)


def entries(spends: list[tuple[str, str]], total: tuple[str, str]) -> Iterator[Entry]:
    stamp = {"software": "test", "time": "now"}
    yield Entry(
        "budget", {"id": new_id(), "population": "us", "epsilon": total[0], "delta": total[1], **stamp}
    )
    for epsilon, delta in spends:
        yield Entry("spend", {"id": new_id(), "epsilon": epsilon, "delta": delta, "purpose": "x", **stamp})


amounts = st.tuples(
    st.decimals(0, 3, places=3).map(str) | st.fractions(0, 1, max_denominator=30).map(str),
    st.decimals(0, "0.5", places=8).map(str),
)


@given(st.lists(amounts, max_size=12))
def test_admits_exactly_what_the_plain_sums_allow(asked: list[tuple[str, str]]) -> None:
    first, *rest = entries(asked, ("2", "0.5"))
    book, epsilon, delta = Account("x", [first]), Fraction(0), Fraction(0)
    for entry, (more_epsilon, more_delta) in zip(rest, asked, strict=True):
        after = epsilon + Fraction(more_epsilon), delta + Fraction(more_delta)
        if after[0] <= 2 and after[1] <= Fraction(1, 2):
            book.add(entry)
            epsilon, delta = after
        else:
            with pytest.raises(BudgetError):
                book.add(entry)
        assert book.spent == Budget(epsilon, delta)
        assert book.remaining == Budget(2 - epsilon, Fraction(1, 2) - delta)


@given(st.lists(st.sampled_from("0.001 0.01 0.1 0.5 0.9".split()), min_size=1), st.randoms())
def test_a_refusal_changes_nothing_and_the_order_does_not_matter(asked: list[str], random: object) -> None:
    """Somebody who picks the next ε after each release never gets past the total."""
    book = Account("x", entries([], ("1", "0")))
    admitted = []
    for entry in list(entries([(epsilon, "0") for epsilon in asked], ("1", "0")))[1:]:
        try:
            book.add(entry)
            admitted.append(entry.values["epsilon"])
        except BudgetError:
            continue
    assert sum(map(Fraction, admitted)) == book.spent.epsilon <= 1
    random.shuffle(admitted)  # type: ignore[attr-defined]
    assert Account("x", entries([(epsilon, "0") for epsilon in admitted], ("1", "0"))).spent == book.spent


def test_digits_without_end_are_refused(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="fewer"):
        ledger.spend(Guarantee.pure(Fraction(1, 10**5000)), "x")
    for prime in (7, 11, 13):
        ledger.spend(Guarantee.pure(Fraction(1, prime**30)), "x")
    with pytest.raises(ParameterError, match="fewer"):
        ledger.spend(Guarantee.pure(Fraction(1, 17**30)), "x")
    assert len(ledger.history()) == 3
    assert str(ledger.remaining)


# --- refusals ---


def test_over_budget_names_what_is_left_and_what_would_fit(ledger: Ledger) -> None:
    ledger.spend(Guarantee.pure(0.75), "map of May")
    for attempt in (ledger.check, lambda guarantee: ledger.spend(guarantee, "map of June")):
        with pytest.raises(BudgetError) as refused:
            attempt(Guarantee.approximate(0.5, 1e-8))
        for words in (
            "ε = 0.5", "ε = 0.25, δ = 1e-6 left", "riders of the city", "never refunded", "can have at most ε = 0.25, δ = 1e-6",
        ):  # fmt: skip
            assert words in str(refused.value)
    ledger.check(Guarantee.approximate(0.25, 1e-8))
    with pytest.raises(BudgetError, match=r"can have at most ε = 0\.25, δ = 1e-6\.$"):
        ledger.check(Guarantee.approximate(0.1, 1e-5))
    assert len(ledger.history()) == 1


def test_an_empty_budget_offers_nothing(path: Path) -> None:
    ledger = Ledger.create(path, "riders", epsilon=1)
    with pytest.raises(
        BudgetError, match=r"No δ is left\. A mechanism without δ, such as shares, can have ε = 1"
    ):
        ledger.check(Guarantee.approximate(0.5, 1e-8))
    ledger.spend(Guarantee.pure(1), "all")
    with pytest.raises(BudgetError, match="locentropy ledger show"):
        ledger.spend(Guarantee.pure(0.5), "more")


def test_a_release_without_promise_closes_the_ledger(path: Path, ledger: Ledger) -> None:
    ledger.spend(Guarantee.pure(0.1), "map")
    spend = ledger.spend(Guarantee.none("exact values"), "exact values for the court")
    assert spend.epsilon is None
    assert Ledger.open(path).history()[-1] == spend
    assert ledger.read().closed
    assert ledger.remaining == Budget(Fraction(0), Fraction(0))
    for guarantee in (Guarantee.pure(0), Guarantee.pure(0.1), Guarantee.none("again")):
        with pytest.raises(BudgetError, match="closed"):
            ledger.check(guarantee)
        with pytest.raises(BudgetError, match="closed"):
            ledger.spend(guarantee, "more")
    ledger.record_release(spend.id, new_id(), "staged")
    ledger.record_evaluation("looked again")
    ledger.verify()


@pytest.mark.parametrize(
    ("population", "epsilon", "delta"),
    [
        ("", 1, 0),
        ("two\nlines", 1, 0),
        ("x" * 301, 1, 0),
        (None, 1, 0),
        ("riders", 0, 0),
        ("riders", -1, 0),
        ("riders", "inf", 0),
        ("riders", float("nan"), 0),
        ("riders", 1, 1),
        ("riders", 1, "much"),
        ("riders", Fraction(1, 10**5000), 0),
    ],
)
def test_a_budget_that_makes_no_sense(path: Path, population: str, epsilon: float, delta: float) -> None:
    with pytest.raises(ParameterError, match="or example: "):
        Ledger.create(path, population, epsilon, delta)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("purpose", ["", "  ", "two\nlines", "x" * 301, "\x1b[31m", None])
def test_a_purpose_is_one_readable_line(ledger: Ledger, purpose: str) -> None:
    with pytest.raises(ParameterError, match="purpose"):
        ledger.spend(Guarantee.pure(0.1), purpose)
    assert ledger.history() == ()


def test_only_guarantees_are_spent(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match=r"Guarantee\.pure"):
        ledger.spend(0.1, "x")  # type: ignore[arg-type]


def test_a_clock_that_jumps_back_does_not_matter(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for year in ("2040", "1970", "2026"):
        stamp = {"software": "test", "time": f"{year}-01-01T00:00:00+00:00"}
        monkeypatch.setattr(spending, "stamp", lambda stamp=stamp: stamp)
        ledger.spend(Guarantee.pure(0.1), year)
    assert [(spend.number, spend.purpose) for spend in ledger.history()] == [
        (1, "2040"),
        (2, "1970"),
        (3, "2026"),
    ]
    assert ledger.verify().remaining.epsilon == Fraction(7, 10)


# --- releases and evaluations ---


def test_one_release_for_one_spend(ledger: Ledger) -> None:
    spend, other = (ledger.spend(Guarantee.pure(0.1), "map") for _ in range(2))
    release = new_id()
    with pytest.raises(LedgerError, match=r"First.*staged"):
        ledger.record_release(spend.id, release, "published")
    for state in ("staged", "staged", "published", "published", "staged"):  # a retry may say it again
        ledger.record_release(spend.id, release, state)  # type: ignore[arg-type]
    assert [(known.spend, known.release, known.state) for known in ledger.releases()] == [
        (spend.id, release, "staged"),
        (spend.id, release, "published"),
    ]
    for wrong_spend, wrong_release in ((spend.id, new_id()), (other.id, release)):
        with pytest.raises(LedgerError, match="one spend pays for one release"):
            ledger.record_release(wrong_spend, wrong_release, "staged")
    with pytest.raises(LedgerError, match="restored backup"):
        ledger.record_release(new_id(), new_id(), "staged")
    with pytest.raises(ParameterError, match="published"):
        ledger.record_release(other.id, new_id(), "lost")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="hexadecimal"):
        ledger.record_release(other.id, "/data/visits.csv", "staged")


def test_checks_of_the_input_are_remembered_and_are_no_evaluations(path: Path, ledger: Ledger) -> None:
    ledger.spend(Guarantee.pure(0.1), "map")
    ledger.record_check()
    book = Ledger.open(path).verify()
    assert [check.before for check in book.input_checks] == [2]
    assert not ledger.tuned_unaccounted
    assert book.remaining == Budget(Fraction(9, 10), Fraction(1, 10**6)), "nothing is spent"


def test_evaluations_are_remembered(path: Path, ledger: Ledger) -> None:
    assert not ledger.tuned_unaccounted
    ledger.record_evaluation("compared three mechanisms")
    assert Ledger.open(path).tuned_unaccounted
    assert ledger.remaining.epsilon == 1
    with pytest.raises(ParameterError, match="note"):
        ledger.record_evaluation("")
