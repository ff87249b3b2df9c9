"""Ledgers that count in ρ: exact sums, one conversion, and never more than what was said when they were made."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.errors import BudgetError, LedgerError
from locentropy.core.windows import Window
from locentropy.ledger import store as ledger_store
from locentropy.ledger.accounts import Budget, Cap, Charge
from locentropy.ledger.entries import Entry
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.ledger.rules import Account
from locentropy.ledger.spending import spend_entries
from locentropy.ledger.terms import Terms
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.concentrated import admissible_rho, certified_rho, rho_at
from locentropy.privacy.guarantee import Guarantee

TOTAL = (Fraction(4), Fraction(1, 10**6))
STAMP = {"software": "s", "time": "t"}


def gaussian(rho: Fraction) -> Guarantee:
    """A part of Gaussian noise; its own (ε, δ) is not what is charged."""
    return Guarantee(Fraction(3), Fraction(1, 10**7), rho=rho)


def account(epsilon: str = "4", delta: str = "1e-6", reserved: str = "0", **options: Any) -> Account:
    budget = Entry(
        "budget", {"id": new_id(), "population": "us", "epsilon": epsilon, "delta": delta, **STAMP}
    )
    total = Budget(Fraction(epsilon), Fraction(delta))
    unit, person = options.get("unit", "person"), options.get("person", (None, None))
    terms = Terms.made(total, unit, "UTC", "concentrated", person, reserved)
    return Account("x", [budget, Entry("rules", {**terms.as_values(), **STAMP})])


def spend(book: Account, guarantee: Guarantee, window: Window | None = None) -> bool:
    try:
        for entry in spend_entries(book, new_id(), guarantee, "map", window):
            book.add(entry)
    except BudgetError:
        book._pending.clear()
        return False
    return True


# --- the file ---


def test_twelve_months_of_gaussian_noise_fit_where_sums_would_refuse(tmp_path: Path) -> None:
    each = Shares(epsilon=1.0, delta=1e-6, max_users=10_000).guarantee
    assert each.rho == admissible_rho(1, "1e-6")
    plain = Ledger.create(tmp_path / "plain", "riders", 4, "1e-5")
    in_rho = Ledger.create(tmp_path / "rho", "riders", 4, "1e-6", composition="concentrated", another=True)
    admitted = {}
    for ledger in (plain, in_rho):
        months = 0
        while months < 30:
            try:
                ledger.spend(each, f"month {months}")
            except BudgetError:
                break
            months += 1
        admitted[ledger.path.name] = months
    assert admitted == {"plain": 4, "rho": 12}
    assert in_rho.read().spent.epsilon == 12, "the plain sum, which nothing is compared with"
    left = in_rho.remaining
    assert left.rho == admissible_rho(4, "1e-6") - 12 * each.rho  # type: ignore[operator]
    with pytest.raises(
        BudgetError, match=r"asks for ε = 1, δ = 1e-6 \(ρ = 0\.024.*has ρ = 0\.0187.* left of ε = 4"
    ):
        in_rho.spend(each, "the thirteenth")


def test_the_rule_is_fixed_when_the_ledger_is_made(tmp_path: Path) -> None:
    ledger = Ledger.create(
        tmp_path / "rho", "riders", 4, "1e-6", composition="concentrated", reserved_delta="1e-7"
    )
    terms = ledger.read().terms
    [proved] = terms.certificates
    assert proved.rho <= rho_at(Fraction(4), Fraction(9, 10**7), proved.order)
    assert (proved.order, proved.rho) == certified_rho(4, "9e-7")
    cap, person = terms.caps(ledger.read().total)
    assert (cap.rho, cap.reserved, person) == (proved.rho, Fraction(1, 10**7), None)


@pytest.mark.parametrize(
    "changed",
    [{"rhos": "0.4"}, {"orders": "3"}, {"orders": "1"}, {"rhos": ""}, {"rhos": "0", "orders": "20"}],
)
def test_a_rho_that_does_not_convert_is_refused(changed: dict[str, str]) -> None:
    terms = Terms.made(Budget(*TOTAL), "person", None, "concentrated", (None, None), 0)
    budget = Entry("budget", {"id": new_id(), "population": "us", "epsilon": "4", "delta": "1e-6", **STAMP})
    with pytest.raises(LedgerError):
        Account("x", [budget, Entry("rules", {**terms.as_values(), **STAMP, **changed})])


def test_a_ledger_that_counts_sums_never_counts_rho(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "plain", "riders", 4, "1e-6")
    ledger.spend(Guarantee.pure(1), "map")
    terms = Terms.made(Budget(*TOTAL), "person", None, "concentrated", (None, None), 0)
    with ledger_store.transaction(ledger.path, wait=0, write=True) as store:
        store.append(Entry("rules", {**terms.as_values(), **STAMP}))
    with pytest.raises(LedgerError, match="how it counts"):
        ledger.read()


# --- charges ---


def test_what_each_kind_of_part_is_charged() -> None:
    assert Charge.of(Guarantee.pure(1)) == Charge(Fraction(1), Fraction(0), Fraction(1, 2), Fraction(0))
    approximate = Guarantee.approximate("0.2", "1e-8")
    assert Charge.of(approximate).rho == Fraction(2, 100)
    assert Charge.of(approximate).rho_delta == Fraction(1, 10**8)
    assert Charge.of(gaussian(Fraction(1, 50))).rho == Fraction(1, 50)
    assert Charge.of(gaussian(Fraction(1, 50))).rho_delta == 0, "its δ is in the cap"


def test_a_selection_before_gaussian_noise_is_charged_its_own() -> None:
    selection = SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20)
    shares = Shares(epsilon=1.0, delta=1e-6, max_users=10_000)
    both = selection.followed_by(shares.guarantee)
    assert (both.epsilon, both.delta) == (Fraction(12, 10), Fraction(101, 10**8))
    assert both.concentrated_cost == (shares.guarantee.rho + Fraction(2, 100), Fraction(1, 10**8))  # type: ignore[operator]
    assert not spend(account(), both), "no δ was reserved for it"
    assert spend(account(reserved="1e-7"), both)


def test_the_reserve_is_a_limit_of_its_own() -> None:
    book = account(reserved="2e-8")
    part = Guarantee.approximate("0.01", "1e-8")
    assert [spend(book, part) for _ in range(3)] == [True, True, False]
    assert spend(book, gaussian(Fraction(1, 100))), "Gaussian noise does not need it"


def test_pure_parts_alone_may_go_by_their_sum() -> None:
    """Laplace noise by sums beats ρ for few releases; after that either rule holds for all that was published."""
    book = account()
    assert [spend(book, Guarantee.pure(1)) for _ in range(5)] == [True] * 4 + [False]
    mixed = account()
    assert spend(mixed, gaussian(Fraction(1, 1000)))
    assert not spend(mixed, Guarantee.pure(1)), "no longer pure alone, and ρ = 1/2 is more than fits"
    late = account()
    assert spend(late, Guarantee.pure(1))
    assert not spend(late, gaussian(Fraction(1, 1000))), "ρ = 1/2 has been used up by the sum"


def test_both_accounts_are_counted_in_rho() -> None:
    month = admissible_rho(1, "1e-7")
    book = account("1", "1e-7", unit="person-month", person=(2, "1e-6"))
    person = admissible_rho(2, "1e-6")
    windows = [Window(f"2026-{number:02}", zone="UTC") for number in range(1, 13)]
    assert spend(book, gaussian(month), windows[0])
    assert not spend(book, gaussian(Fraction(1, 10**9)), windows[0])
    admitted = 1 + sum(spend(book, gaussian(month), each) for each in windows[1:])
    assert admitted == person // month
    assert book.remaining.rho == person - admitted * month


parts = st.one_of(
    st.sampled_from(["0.05", "0.3", "1"]).map(Guarantee.pure),
    st.sampled_from(["0.001", "0.02", "0.1"]).map(lambda rho: gaussian(Fraction(rho))),
    st.tuples(st.sampled_from(["0.05", "0.3"]), st.sampled_from(["1e-8", "4e-8"])).map(
        lambda each: Guarantee.approximate(*each)
    ),
)


@settings(deadline=None)
@given(st.lists(parts, max_size=20))
def test_admits_exactly_what_the_rule_allows(asked: list[Guarantee]) -> None:
    book = account(reserved="1e-7")
    cap = admissible_rho(4, "9e-7")
    rho = delta = epsilon = Fraction(0)
    pure = True
    for part in asked:
        cost, up_to = (part.rho, Fraction(0)) if part.rho is not None else (part.epsilon**2 / 2, part.delta)  # type: ignore[operator]
        alone = pure and part.delta == 0 and epsilon + part.epsilon <= 4  # type: ignore[operator]
        fits = alone or (rho + cost <= cap and delta + up_to <= Fraction(1, 10**7))  # type: ignore[operator]
        assert spend(book, part) == fits
        if fits:
            rho, delta, epsilon = rho + cost, delta + up_to, epsilon + part.epsilon  # type: ignore[operator]
            pure = pure and part.delta == 0
    left = book.remaining
    if left.epsilon:
        assert spend(book, Guarantee.pure(left.epsilon)), "what is said to be left can be spent"
        assert not spend(book, Guarantee.pure(Fraction(1, 10**4)))


# --- oracles ---


@pytest.mark.parametrize(("epsilon", "rho"), [("1", "0.024355"), ("2", "0.088152"), ("4", "0.311064")])
def test_numbers_known_beforehand(epsilon: str, rho: str) -> None:
    assert 0 <= admissible_rho(epsilon, "1e-6") - Fraction(rho) < Fraction(2, 10**6)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4", "9"])
@pytest.mark.parametrize("releases", [1, 12, 365])
def test_dp_accounting_agrees(epsilon: str, releases: int) -> None:
    """All of ρ*, spent on Gaussian noise in equal parts: its Rényi accountant finds hardly less than ε, exact ones less."""
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    delta = 1e-6
    order, rho = certified_rho(epsilon, delta)

    def spent(share: Fraction) -> Any:
        deviation = math.sqrt(1 / (2 * float(share)))
        return accounting.SelfComposedDpEvent(accounting.GaussianDpEvent(deviation), releases)

    orders = [float(order) * factor for factor in (0.98, 0.99, 0.999, 1.0, 1.001, 1.01, 1.02)]
    found = RdpAccountant(orders).compose(spent(rho / releases)).get_epsilon(delta)
    assert found <= float(epsilon) * (1 + 1e-9)
    more = RdpAccountant(orders).compose(spent(rho * Fraction(101, 100) / releases)).get_epsilon(delta)
    assert more > float(epsilon)
    exact = PLDAccountant().compose(spent(rho / releases)).get_epsilon(delta)
    assert exact <= float(epsilon)


@pytest.mark.parametrize(
    "scales",
    [(2.0, 2.0, 32.0), (2.0, 4.0, 8.0, 2.0), (4.0,) * 9, (1.0,), (16.0, 2.0, 2.0, 16.0), (8.0,) * 33],
)
def test_opendp_has_the_same_filter(scales: tuple[float, ...]) -> None:
    """Until it refuses: then it stops. Its sums are floats, so these are numbers that floats hold exactly."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    odometer = dp.c.make_fully_adaptive_composition(*space, dp.zero_concentrated_divergence())
    whole = Fraction(1, 4)
    queryable = dp.c.make_privacy_filter(odometer, d_in=1, d_out=float(whole))(0)
    cap, charged = Cap(Fraction(1), Fraction(1, 10**6), whole), Charge()
    refused = False
    for scale in scales:
        noise = dp.m.make_gaussian(*space, scale=scale)
        charged += Charge.of(gaussian(Fraction(noise.map(1))))
        refused = not cap.admits(charged)
        if refused:
            with pytest.raises(dp.OpenDPException, match="exceed privacy budget"):
                queryable(noise)
            break
        queryable(noise)
    assert refused


def test_a_spend_is_not_taken_for_one_with_another_rho(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", 4, "1e-6", composition="concentrated")
    own = new_id()
    ledger.spend(gaussian(Fraction(1, 100)), "map", own)
    ledger.spend(gaussian(Fraction(1, 100)), "map", own)
    with pytest.raises(LedgerError, match="another ρ"):
        ledger.spend(gaussian(Fraction(1, 50)), "map", own)
    assert len(ledger.history()) == 1
