"""Ledgers with a unit per period: what is charged to a period, and to the person, never exceeds its cap."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core import civil_time
from locentropy.core.civil_time import intersection
from locentropy.core.errors import BudgetError, LedgerError, LocentropyError, ParameterError
from locentropy.core.windows import Window
from locentropy.ledger import store as ledger_store
from locentropy.ledger.accounts import Budget
from locentropy.ledger.entries import Entry
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.ledger.rules import Account
from locentropy.ledger.spending import spend_entries
from locentropy.ledger.terms import Terms
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.units import cell_label, cell_of

HALF = Guarantee.pure("0.5")
BERLIN = "Europe/Berlin"


def window(text: str, zone: str = BERLIN, **cut: Any) -> Window:
    return Window(text, zone=zone, **cut)


@pytest.fixture
def monthly(path: Path) -> Ledger:
    return Ledger.create(path, "riders", 1, unit="person-month", person_epsilon="2.5", zone=BERLIN)


# --- both accounts ---


def test_a_spend_is_charged_to_its_month_and_to_the_person(monthly: Ledger) -> None:
    monthly.spend(HALF, "first week", window=window("2026-05-01/2026-05-08"))
    monthly.spend(HALF, "mornings", window=window("2026-05", hours="07-10"))
    with pytest.raises(BudgetError, match=r"left of ε = 1, δ = 0 for 2026-05, of 'riders'"):
        monthly.spend(Guarantee.pure("0.01"), "more of May", window=window("2026-05-31"))
    monthly.spend(Guarantee.pure(1), "June", window=window("2026-06"))
    assert monthly.remaining == Budget(Fraction(1, 2), Fraction(0))
    assert monthly.remaining_in(window("2026-05")).epsilon == 0
    assert monthly.remaining_in(window("2026-07")).epsilon == Fraction(1, 2), "the person has less than July"
    with pytest.raises(BudgetError, match="somebody who is there in every month"):
        monthly.spend(Guarantee.pure(1), "July", window=window("2026-07"))
    monthly.spend(HALF, "July", window=window("2026-07"))
    assert monthly.remaining.epsilon == 0


def test_an_empty_period_costs_as_much_as_any_other(path: Path) -> None:
    ledger = Ledger.create(path, "riders", 1, unit="person-day", person_epsilon=1)
    ledger.spend(
        Guarantee.pure(1), "the day that Samoa left out", window=window("2011-12-30", "Pacific/Apia")
    )
    assert ledger.remaining.epsilon == 0


@pytest.mark.parametrize(
    ("unit", "inside", "across"),
    [
        ("person-day", ["2026-05-03"], ["2026-05", "2026-W18", "2026-05-03/2026-05-05"]),
        (
            "person-week",
            ["2026-W18", "2026-05-03", "2026-04-30/2026-05-04"],
            ["2026-05", "2026-05-03/2026-05-05"],
        ),
        (
            "person-month",
            ["2026-05", "2026-W20", "2026-05-30/2026-06-01"],
            ["2026-W18", "2026-05-31/2026-06-02"],
        ),
    ],
)
def test_windows_that_straddle_are_refused_with_the_reason(
    unit: Any, inside: list[str], across: list[str], path: Path
) -> None:
    ledger = Ledger.create(path, "riders", 1, unit=unit, person_epsilon=5)
    for text in inside:
        ledger.spend(Guarantee.pure("0.1"), "map", window=window(text))
    for text in across:
        for attempt in (ledger.settled, lambda each: ledger.spend(Guarantee.pure("0.1"), "map", window=each)):
            with pytest.raises(ParameterError, match=r"more than one.*twice as much.*For example: Window"):
                attempt(window(text))
    for attempt in (ledger.check, lambda each: ledger.spend(each, "map")):
        with pytest.raises(ParameterError, match="straddles every"):
            attempt(Guarantee.pure("0.1"))
    assert len(ledger.history()) == len(inside)


def test_a_person_ledger_takes_any_window(path: Path) -> None:
    ledger = Ledger.create(path, "riders", 1)
    for text in ("2026-W18", "2026-05", "2020-01-01/2026-01-01"):
        ledger.spend(Guarantee.pure("0.25"), "map", window=window(text))
    ledger.spend(Guarantee.pure("0.25"), "everything")
    assert ledger.remaining.epsilon == 0
    assert [str(part.window) for part in ledger.read().parts] == [
        "2026-W18, Europe/Berlin", "2026-05, Europe/Berlin", "2020-01-01/2026-01-01, Europe/Berlin", "None",
    ]  # fmt: skip


def test_without_a_guarantee_it_is_closed(monthly: Ledger) -> None:
    monthly.spend(Guarantee.none("exact"), "exact values")
    with pytest.raises(BudgetError, match="closed"):
        monthly.spend(HALF, "map", window=window("2026-05"))
    assert monthly.remaining_in(window("2026-05")).epsilon == 0


def test_an_id_stands_for_one_window(monthly: Ledger) -> None:
    own = new_id()
    made = monthly.spend(HALF, "map", spend_id=own, window=window("2026-05"))
    assert monthly.spend(HALF, "map", spend_id=own, window=window("2026-05-01/2026-06-01")) == made
    for other in (window("2026-06"), window("2026-05", hours="07-10"), window("2026-05", "UTC"), None):
        with pytest.raises(LedgerError, match="another window"):
            monthly.spend(HALF, "map", spend_id=own, window=other)


# --- zones ---


def test_the_zone_is_that_of_the_first_window(path: Path) -> None:
    ledger = Ledger.create(path, "riders", 1, unit="person-month", person_epsilon=5)
    assert ledger.read().calendar.zone is None
    ledger.spend(HALF, "map", window=window("2026-05"))
    for attempt in (ledger.settled, lambda each: ledger.spend(HALF, "map", window=each)):
        with pytest.raises(LedgerError, match=r"clock of Europe/Berlin.*--time-zone Europe/Berlin"):
            attempt(window("2026-06", "Asia/Tokyo"))
    assert len(ledger.history()) == 1


def test_the_zone_is_that_of_the_ledger(monthly: Ledger) -> None:
    with pytest.raises(LedgerError, match="Europe/Berlin"):
        monthly.spend(HALF, "map", window=window("2026-05", "as-written"))


def test_borders_stay_where_they_were_first_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new version of the time zone data: summer time is abolished, so that borders of months move by an hour."""
    ledger = Ledger.create(path, "riders", 1, unit="person-month", person_epsilon=9)
    ledger.spend(HALF, "June", window=ledger.settled(window("2026-06")))
    before = window("2026-06").instants
    monkeypatch.setattr(civil_time, "_offset", lambda zone, at: timedelta(hours=1))
    assert window("2026-06").instants != before
    assert ledger.settled(window("2026-06")).instants != before, (
        "an hour less, for the new calendar ends June later"
    )
    assert (
        intersection(ledger.settled(window("2026-06")).instants, before)
        == ledger.settled(window("2026-06")).instants
    )
    with pytest.raises(LedgerError, match="time zone data has changed"):
        ledger.spend(HALF, "June again", window=window("2026-06"))
    ledger.spend(HALF, "June again", window=ledger.settled(window("2026-06")))
    july = ledger.settled(window("2026-07"))
    assert intersection(july.instants, before) == ()
    ledger.spend(HALF, "July", window=july)
    ledger.spend(HALF, "May", window=ledger.settled(window("2026-05")))
    cells = {part.cell: part.borders for part in ledger.verify().parts}
    for one in cells:
        for other in cells:
            assert one == other or intersection(cells[one], cells[other]) == ()


# --- an oracle: who was there when, by the hour ---


def entries(unit: str, caps: tuple[str, str], zone: str | None) -> Iterator[Entry]:
    stamp = {"software": "test", "time": "now"}
    yield Entry("budget", {"id": new_id(), "population": "us", "epsilon": caps[0], "delta": "0", **stamp})
    total = Budget(Fraction(caps[0]), Fraction(0))
    terms = Terms.made(total, unit, zone, "sum", (caps[1], None), 0)
    yield Entry("rules", {**terms.as_values(), **stamp})


def charged_by_the_hour(
    unit: Any, zone: str, spends: list[tuple[Window, Fraction]]
) -> tuple[Counter[str], Fraction]:
    """What each cell is charged for the spends, by looking at every hour of a quarter; and what a person is always."""
    cells: Counter[str] = Counter()
    start = datetime(2026, 3, 20, 0, 30, tzinfo=UTC)
    hours = [start + timedelta(hours=n) for n in range(24 * 60)]
    for read, epsilon in spends:
        seen = [at for at in hours if read.start <= at.astimezone(ZoneInfo(read.zone)).date() < read.end]
        touched = {cell_label(unit, at.astimezone(ZoneInfo(zone)).date()) for at in seen}
        for cell in touched:
            cells[cell] += epsilon * (1 if len(touched) == 1 else 2)  # type: ignore[assignment]
    return cells, sum((epsilon for _, epsilon in spends), Fraction(0))


asked_windows = st.builds(
    lambda day, days, zone: Window(
        f"{datetime(2026, 3, 24) + timedelta(days=day):%Y-%m-%d}/{datetime(2026, 3, 24) + timedelta(days=day + days):%Y-%m-%d}",
        zone=zone,
    ),
    st.integers(0, 20),
    st.integers(1, 9),
    st.sampled_from([BERLIN, BERLIN, "Pacific/Kiritimati", "America/Los_Angeles"]),
)
asked = st.tuples(asked_windows, st.sampled_from(["0.1", "0.3", "0.5", "1"]).map(Fraction))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["person-day", "person-week", "person-month"]), st.lists(asked, max_size=14))
def test_no_hour_is_charged_beyond_the_cap(unit: Any, requests: list[tuple[Window, Fraction]]) -> None:
    account = Account("x", entries(unit, ("1", "3"), None))
    admitted: list[tuple[Window, Fraction]] = []
    for read, epsilon in requests:
        try:
            for entry in spend_entries(account, new_id(), Guarantee.pure(epsilon), "map", read):
                account.add(entry)
        except LocentropyError:
            account._pending.clear()
            continue
        admitted.append((read, epsilon))
    zone = admitted[0][0].zone if admitted else BERLIN
    cells, always = charged_by_the_hour(unit, zone, admitted)
    assert max(cells.values(), default=0) <= 1
    assert always <= 3
    assert {cell: account.charged_in(cell).epsilon for cell in cells} == cells
    assert account.person.epsilon == always


# --- making one ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "person-year"}, "person-month"),
        ({"unit": "person-month"}, "person_epsilon is needed"),
        ({"unit": "person-month", "person_epsilon": "0.5"}, "person_epsilon=0.5 must not be below"),
        ({"unit": "person-month", "person_epsilon": 2, "delta": "1e-8"}, "person_delta is needed"),
        (
            {"unit": "person-month", "person_epsilon": 2, "delta": "1e-8", "person_delta": "1e-9"},
            "must not be below",
        ),
        (
            {"unit": "person-month", "person_epsilon": 2, "person_delta": 1},
            "person_delta=1.0 must be below 1",
        ),
        ({"person_epsilon": 2}, "for ledgers with a unit per period"),
        ({"person_delta": 0}, "for ledgers with a unit per period"),
        ({"zone": "Berlin"}, "IANA"),
        ({"composition": "advanced"}, "sum, concentrated"),
        ({"composition": "concentrated"}, "delta must be above 0"),
        (
            {"composition": "concentrated", "delta": "1e-6", "reserved_delta": "1e-6"},
            "reserved_delta must be below",
        ),
        ({"reserved_delta": "1e-9", "delta": "1e-6"}, "concentrated"),
    ],
)
def test_terms_that_make_no_sense(path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Ledger.create(path, "riders", 1, **options)
    assert not path.exists()


def test_a_large_epsilon_for_a_period_must_be_said(path: Path) -> None:
    with pytest.raises(ParameterError, match="large_epsilon"):
        Ledger.create(path, "riders", 11, unit="person-month", person_epsilon=20)
    with pytest.raises(ParameterError, match="somebody who is always in the data hides hardly anything"):
        Ledger.create(path, "riders", 1, unit="person-month", person_epsilon=12)
    made = Ledger.create(path, "riders", 1, unit="person-month", person_epsilon=12, large_epsilon=True)
    assert made.remaining.epsilon == 12


# --- migration ---


def rows(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables}


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_ledger_of_the_first_version_migrates_with_its_first_window(used: Ledger) -> None:
    before, told = rows(used.path), used.read()
    used.spend(Guarantee.pure("0.01"), "all times")
    assert version(used.path) == 1, "nothing of the second version was needed"
    used.spend(Guarantee.pure("0.01"), "May", window=window("2026-05"))
    assert version(used.path) == 2
    after = rows(used.path)
    for table in ("budget", "spend", "release", "evaluation"):
        assert after[table][: len(before[table])] == before[table], "entries and hashes are untouched"
    assert set(after) - set(before) == {"rules", "part"}
    book = used.verify(spend.id for spend in told.spends)
    assert book.unit == "person"
    assert book.spent.epsilon == told.spent.epsilon + Fraction(2, 100)
    assert book.releases == told.releases
    used.spend(Guarantee.pure("0.01"), "all times again")
    used.record_evaluation("and so on")
    assert used.verify().calendar.zone == BERLIN


@pytest.mark.parametrize("about", [None, "2026-05"])
def test_a_ledger_of_any_version_migrates_with_its_first_check_of_the_input(
    used: Ledger, about: str | None
) -> None:
    if about is not None:
        used.spend(Guarantee.pure("0.01"), "May", window=window(about))
    before, told = rows(used.path), used.read()
    used.record_check()
    assert version(used.path) == ledger_store.VERSION == 3
    after = rows(used.path)
    for table in set(before) - {"head"}:
        assert after[table] == before[table], "entries and hashes are untouched"
    book = used.verify(spend.id for spend in told.spends)
    assert (book.spent, book.releases) == (told.spent, told.releases)
    used.spend(Guarantee.pure("0.01"), "June", window=window("2026-06"))
    assert used.verify().calendar.zone == BERLIN


def test_software_of_the_first_version_refuses_it(used: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    used.spend(Guarantee.pure("0.01"), "May", window=window("2026-05"))
    monkeypatch.setattr(ledger_store, "_COLUMNS", {1: ledger_store.COLUMNS})
    with pytest.raises(LedgerError, match="version 2"):
        used.read()


def test_a_refused_spend_does_not_migrate(used: Ledger) -> None:
    before = used.path.read_bytes()
    for attempt in (
        lambda: used.spend(Guarantee.pure(5), "too much", window=window("2026-05")),
        lambda: used.spend(Guarantee.pure("0.1"), "two\nlines", window=window("2026-05")),
        lambda: used.check(Guarantee.pure("0.1"), window("2026-05")),
    ):
        try:
            attempt()
        except LocentropyError:
            continue
    assert used.path.read_bytes() == before


@pytest.mark.parametrize("unit", ["person-day", "person-month"])
def test_a_person_ledger_never_becomes_one_per_period(used: Ledger, unit: str) -> None:
    total = used.read().total
    terms = Terms.made(total, unit, BERLIN, "sum", (9, "1e-6"), 0)
    forged = Entry("rules", {**terms.as_values(), "software": "s", "time": "t"})
    with ledger_store.transaction(used.path, wait=0, write=True) as store:
        store.append(forged)
    with pytest.raises(LedgerError, match=r"rules forbid.*keeps its unit"):
        used.read()


def test_terms_are_set_once(monthly: Ledger) -> None:
    again = Entry("rules", {**Terms().as_values(), "software": "s", "time": "t"})
    with ledger_store.transaction(monthly.path, wait=0, write=True) as store:
        store.append(again)
    with pytest.raises(LedgerError, match="set once"):
        monthly.read()


# --- forged entries with right hashes ---


def part_entry(ledger: Ledger, own: str, text: str = "2026-05", **changed: str) -> Entry:
    made = spend_entries(ledger.read(), own, HALF, "map", window(text))
    return Entry("part", {**made[0].values, **changed})


def spend_entry(own: str, epsilon: str = "0.5") -> Entry:
    return Entry(
        "spend", {"id": own, "epsilon": epsilon, "delta": "0", "purpose": "x", "software": "", "time": ""}
    )


OWN = new_id()


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda ledger: [spend_entry(OWN)], "does not have the parts"),
        (lambda ledger: [part_entry(ledger, OWN)], "spend of its last part"),
        (lambda ledger: [part_entry(ledger, OWN), spend_entry(OWN, "0.1")], "does not have the parts"),
        (lambda ledger: [part_entry(ledger, OWN), spend_entry(new_id())], "does not have the parts"),
        (lambda ledger: [part_entry(ledger, OWN), part_entry(ledger, new_id())], "followed by its spend"),
        (lambda ledger: [part_entry(ledger, OWN, cell="2026-06"), spend_entry(OWN)], "does not lie in its cell"),
        (lambda ledger: [part_entry(ledger, OWN, end="2026-06-02"), spend_entry(OWN)], "more than one month"),
        (lambda ledger: [part_entry(ledger, OWN, zone="UTC"), spend_entry(OWN)], "clock of Europe/Berlin"),
        (lambda ledger: [part_entry(ledger, OWN, start="May"), spend_entry(OWN)], "cannot be read"),
        (lambda ledger: [part_entry(ledger, OWN, borders="x"), spend_entry(OWN)], "cannot be read"),
        (lambda ledger: [part_entry(ledger, OWN, borders="2026-05-01T00:00:00/2026-06-01T00:00:00"), spend_entry(OWN)],
         "cannot be read"),
        (lambda ledger: [part_entry(ledger, OWN, text="2026-06", borders=part_entry(ledger, OWN).values["borders"]),
                         spend_entry(OWN)], "first used"),
        (lambda ledger: [part_entry(ledger, OWN), Entry("evaluation", {"note": "n", "software": "", "time": ""})],
         "followed by its spend"),
    ],
)  # fmt: skip
def test_forged_parts_break_the_rules(monthly: Ledger, forge: Any, words: str) -> None:
    monthly.spend(Guarantee.pure("0.1"), "map", window=window("2026-05"))
    forged = forge(monthly)
    with ledger_store.transaction(monthly.path, wait=0, write=True) as store:
        for entry in forged:
            store.append(entry)
    with pytest.raises(LedgerError, match=f"rules forbid.*{words}"):
        monthly.verify()


def test_parts_refuse_changes(monthly: Ledger) -> None:
    monthly.spend(HALF, "map", window=window("2026-05"))
    before = monthly.path.read_bytes()
    for statement in (
        "UPDATE part SET cell = '2026-06'",
        "DELETE FROM part",
        "UPDATE rules SET unit = 'person'",
    ):
        with (
            closing(sqlite3.connect(monthly.path)) as connection,
            pytest.raises(sqlite3.IntegrityError, match="appended"),
        ):
            connection.execute(statement)
    assert monthly.path.read_bytes() == before


def test_a_copy_is_read_alike(monthly: Ledger) -> None:
    monthly.spend(HALF, "map", window=window("2026-05", weekdays="sat-sun", hours="07-10"))
    copied = Ledger.open(shutil.copy(monthly.path, monthly.path.with_name("copy")))
    [part] = copied.read().parts
    assert part.window == window("2026-05", weekdays="sat-sun", hours="07-10")
    assert part.cell == cell_of("person-month", part.window) == "2026-05"
    assert part.borders == window("2026-05").instants
