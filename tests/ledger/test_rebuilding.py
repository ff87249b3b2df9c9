"""A ledger that was lost is rebuilt: nothing is forgotten, counted twice, or admitted before its owner says that is all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import BudgetError, LedgerError
from locentropy.core.windows import Window
from locentropy.ledger import store as ledger_store
from locentropy.ledger.accounts import Charge
from locentropy.ledger.entries import Entry, new_id, stamp
from locentropy.ledger.ledger import Ledger
from locentropy.ledger.rebuilding import Earlier, rebuilt_entries, stated_terms
from locentropy.ledger.rules import Account
from locentropy.ledger.spending import spend_entries
from locentropy.privacy.guarantee import Guarantee
from tests.examples import at_night

TENTH = Guarantee.pure("0.1")
MONTHLY: dict[str, Any] = {"unit": "person-month", "person_epsilon": 3, "zone": "UTC"}
MAY, JUNE = Window("2026-05", zone="UTC"), Window("2026-06", zone="UTC")


def earlier_of(ledger: Ledger, **changes: Any) -> list[Earlier]:
    """What the releases of a ledger state, each right after its spend."""
    book, found, done = ledger.read(), [], Charge()
    for spend in book.spends:
        parts = [part for part in book.parts if part.spend == spend.id]
        done = sum((part.charge for part in parts), done)
        cells = [part.cell for part in parts]
        paid = {known.id for known in book.spends[: spend.number]}
        there = [part.charge for part in book.parts if part.spend in paid and part.cell in cells]
        found.append(
            Earlier(
                f"release {spend.number}",
                spend.id,
                spend.purpose,
                parts[0].guarantee if parts else Guarantee.none("exact"),
                tuple(part.window for part in parts) or (None,),
                stated_terms(book),
                next((known.release for known in book.releases if known.spend == spend.id), ""),
                done,
                Charge() if cells == [None] else sum(there, Charge()),
                **changes,
            )
        )
    return found


def published(ledger: Ledger, guarantee: Guarantee, window: Window | None = None) -> str:
    spend, release = ledger.spend(guarantee, "map", window=window), new_id()
    for state in ("staged", "published"):
        ledger.record_release(spend.id, release, state)  # type: ignore[arg-type]
    return release


@pytest.fixture
def old(tmp_path: Path) -> Ledger:
    """A ledger of ε = 1 with two releases, and a spend whose release was never finished."""
    made = Ledger.create(tmp_path / "old.ledger", "riders", 1, "1e-6")
    for _ in range(2):
        published(made, TENTH)
    made.spend(Guarantee.approximate("0.2", "1e-7"), "not finished")
    return made


def rebuilt(old: Ledger, name: str = "new.ledger", **options: Any) -> Ledger:
    given = options.pop("earlier", None) or earlier_of(old)
    return Ledger.rebuild(old.path.with_name(name), given, "riders", 1, "1e-6", **options)


# --- what is taken over ---


def test_spends_are_kept_under_their_ids_and_the_ledger_has_an_id_of_its_own(old: Ledger) -> None:
    new, before = rebuilt(old, complete=True), old.read()
    book = new.verify(spend.id for spend in before.spends)
    assert book.id != before.id
    assert [(spend.id, spend.epsilon, spend.delta) for spend in book.spends] == [
        (spend.id, spend.epsilon, spend.delta) for spend in before.spends
    ]
    assert (book.remaining, book.person) == (before.remaining, before.person)
    new.spend(Guarantee.pure("0.6"), "the rest")
    with pytest.raises(BudgetError, match="Nothing is left"):
        new.spend(TENTH, "more")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["2026-04", "2026-05-03", "2026-05", "2026-06/2026-06-15"]),
            st.sampled_from(["0.05", "0.1", "1/7"]),
            st.booleans(),
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_a_rebuilt_ledger_has_charged_exactly_what_the_old_one_had(
    spends: list[tuple[str, str, bool]], in_rho: bool
) -> None:
    """Every period, the person, ρ and the reserve: by replaying what releases state, in any order."""
    terms = {"unit": "person-month", "zone": "UTC", "person_epsilon": 9, "person_delta": "1e-4"}
    composition = {"composition": "concentrated", "reserved_delta": "5e-6"} if in_rho else {}
    first = _first(**terms, **composition)
    old = Account("old", first)
    earlier = []
    for text, epsilon, gaussian in spends:
        cost = Guarantee.approximate(epsilon, "1e-7")
        if gaussian:
            cost = Guarantee.concentrated(epsilon, "1e-7", Fraction(1, 100_000))
        spend, window = new_id(), Window(text, zone="UTC")
        for entry in spend_entries(old, spend, cost, "map", window):
            old.add(entry)
        earlier.append(Earlier(text, spend, "map", cost, (window,), stated_terms(old), new_id(), old.person))
    new = Account("new", [*first, Entry("rebuild", stamp())])
    entries = list(rebuilt_entries(new, reversed(earlier), complete=True))
    again = Account("again", [*first, Entry("rebuild", stamp()), *entries])
    for book in (new, again):
        assert (book.person, book.remaining, book.complete) == (old.person, old.remaining, True)
        for month in ("2026-04", "2026-05", "2026-06", "2026-07"):
            assert book.charged_in(month) == old.charged_in(month)
            assert book.left_in(month) == old.left_in(month)


def _first(**terms: Any) -> list[Entry]:
    from locentropy.ledger.ledger import _first_entries

    return _first_entries(Path("x"), "riders", 4, "1e-5", **terms)


def test_the_same_release_named_twice_is_charged_once(old: Ledger) -> None:
    given = earlier_of(old)
    copy = [replace(each, source=f"copy of {each.source}") for each in given]
    attempt = replace(given[0], source=".release.publishing", release="")
    assert rebuilt(old, earlier=[attempt, *given, *copy], complete=True).remaining == old.remaining
    changed = [*given, replace(given[0], guarantee=Guarantee.pure("0.01"))]
    with pytest.raises(LedgerError, match="another cost"):
        rebuilt(old, "second.ledger", earlier=changed, another=True)
    with pytest.raises(LedgerError, match="two releases"):
        rebuilt(old, "second.ledger", earlier=[*given, replace(given[0], release=new_id())], another=True)
    assert not old.path.with_name("second.ledger").exists()


def test_closed_tuned_checked_and_withdrawn_are_taken_over(old: Ledger) -> None:
    tuned = earlier_of(old, tuned=True, input_checked=True, withdrawn=((old.releases()[0].release, "wrong"),))
    book = rebuilt(old, earlier=tuned, complete=True).verify()
    assert book.evaluations
    assert book.input_checks
    assert [(each.release, each.why) for each in book.withdrawals] == [(old.releases()[0].release, "wrong")]
    old.spend(Guarantee.none("exact"), "exact values")
    closed = rebuilt(old, "closed.ledger", complete=True, another=True)
    assert closed.read().closed
    with pytest.raises(BudgetError, match="is closed"):
        closed.spend(TENTH, "more")


def test_what_two_copies_have_paid_for_is_charged_in_full_and_then_nothing_is_admitted(old: Ledger) -> None:
    copy = Ledger.open(shutil.copy(old.path, old.path.with_name("copy.ledger")))
    for each, epsilon in ((old, "0.5"), (copy, "0.4")):
        published(each, Guarantee.pure(epsilon))
    book = rebuilt(old, earlier=[*earlier_of(old), *earlier_of(copy)], complete=True).verify()
    assert book.person.epsilon == Fraction("1.3")
    assert book.remaining.epsilon == 0
    with pytest.raises(BudgetError, match="exceeds the budget"):
        Ledger(old.path.with_name("new.ledger")).spend(Guarantee.pure("0.001"), "more")


def test_a_month_that_two_copies_have_overspent_leaves_nothing_for_others(tmp_path: Path) -> None:
    """Releases state what holds for every month: it would be false of this one."""
    old = Ledger.create(tmp_path / "old.ledger", "riders", 1, **MONTHLY)
    copy = Ledger.open(shutil.copy(old.path, tmp_path / "copy.ledger"))
    for each in (old, copy):
        published(each, Guarantee.pure("0.6"), MAY)
    given = [*earlier_of(old), *earlier_of(copy)]
    new = Ledger.rebuild(tmp_path / "new.ledger", given, "riders", 1, complete=True, **MONTHLY)
    assert new.remaining_in(JUNE).epsilon == 0
    with pytest.raises(BudgetError, match="exceeds the budget"):
        new.spend(TENTH, "June", window=JUNE)


def test_borders_of_a_month_that_have_moved_since_stay_where_they_were_read(tmp_path: Path) -> None:
    """Another version of the time zone data: what May read is charged to May, and no instant is in two months."""
    berlin = MONTHLY | {"zone": "Europe/Berlin"}
    old = Ledger.create(tmp_path / "old.ledger", "riders", 1, **berlin)
    # As if Berlin had been an hour further east: instants as a release of then states them.
    east = {month: Window(month, zone="Europe/Athens").instants for month in ("2026-05", "2026-06")}
    moved = [
        Earlier(
            month,
            new_id(),
            "map",
            TENTH,
            (_WithInstants.of(month, pieces),),
            stated_terms(old.read()),
            new_id(),
        )
        for month, pieces in east.items()
    ]
    new = Ledger.rebuild(tmp_path / "new.ledger", moved, "riders", 1, complete=True, **berlin)
    borders = {part.cell: part.borders for part in new.verify().parts}
    assert borders["2026-06"][0][0] == east["2026-06"][0][0], "where June began for its release"
    assert borders["2026-05"][-1][1] == borders["2026-06"][0][0]


class _WithInstants(Window):
    """A window whose instants are those of other time zone data."""

    @classmethod
    def of(cls, text: str, pieces: Any) -> Window:
        made = cls(text, zone="Europe/Berlin")
        made.__dict__["instants"] = pieces
        return made


# --- nothing is admitted before it is complete ---


def test_nothing_is_admitted_before_it_is_complete(old: Ledger) -> None:
    new = rebuilt(old)
    assert (new.remaining.epsilon, new.remaining.delta) == (0, 0)
    for attempt in (lambda: new.spend(TENTH, "map"), lambda: new.check(TENTH)):
        with pytest.raises(BudgetError, match="--complete"):
            attempt()
    assert len(new.history()) == 3
    assert rebuilt(old, complete=True).path == new.path, "the same call, with complete"
    new.spend(TENTH, "map")
    with pytest.raises(LedgerError, match="complete ledger"):
        rebuilt(old, complete=True)


def test_what_is_missing_can_be_added_until_it_is_complete(old: Ledger) -> None:
    given = earlier_of(old)
    rebuilt(old, earlier=given[:1])
    new = rebuilt(old, earlier=given)
    assert [spend.id for spend in new.history()] == [spend.id for spend in old.history()]
    with pytest.raises(LedgerError, match="were not named now"):
        rebuilt(old, earlier=given[:1], complete=True)
    assert not new.read().complete


def test_it_cannot_be_completed_while_a_release_states_that_more_was_spent(old: Ledger) -> None:
    first, second, _ = earlier_of(old)
    for number, lacking in enumerate(([second], [replace(first, withdrawn=((new_id(), "wrong"),))])):
        name = f"new{number}.ledger"
        with pytest.raises(LedgerError, match="missing"):
            rebuilt(old, name, earlier=lacking, complete=True, another=True)
        assert not old.path.with_name(name).exists()
    assert rebuilt(old, earlier=[first, second], complete=True).remaining.epsilon == Fraction("0.8")


def test_a_month_of_which_something_is_missing_cannot_be_completed(tmp_path: Path) -> None:
    old = Ledger.create(tmp_path / "old.ledger", "riders", 1, **MONTHLY)
    for window in (MAY, JUNE, MAY):
        published(old, Guarantee.pure("0.4"), window)
    first, june, second = earlier_of(old)
    # Its person's sum is stated too low, so only that of May shows it.
    lacking = [june, replace(second, person=Charge())]
    with pytest.raises(LedgerError, match=r"missing: after release 3, ε = 0\.8"):
        Ledger.rebuild(tmp_path / "new.ledger", lacking, "riders", 1, complete=True, **MONTHLY)
    new = Ledger.rebuild(
        tmp_path / "new.ledger", [first, june, second], "riders", 1, complete=True, **MONTHLY
    )
    assert new.remaining_in(MAY) == old.remaining_in(MAY)


@pytest.mark.parametrize("kind", ["earlier", "spend"])
def test_a_forged_entry_outside_its_place_breaks_the_rules(old: Ledger, kind: Any) -> None:
    """Earlier spends come before a ledger is complete, and its own after it."""
    new = rebuilt(old, complete=kind == "earlier")
    values = {"id": new_id(), "epsilon": "0.01", "delta": "0", "purpose": "x", "release": "", **stamp()}
    with ledger_store.transaction(new.path, wait=0, write=True) as store:
        store.append(Entry(kind, values))
    with pytest.raises(LedgerError, match="rules forbid"):
        new.verify()


def test_nothing_that_was_begun_under_the_earlier_ledger_is_finished(old: Ledger) -> None:
    new = rebuilt(old, complete=True)
    begun = old.history()[-1]
    for attempt in (
        lambda: new.spend(Guarantee.approximate("0.2", "1e-7"), "not finished", spend_id=begun.id),
        lambda: new.record_release(begun.id, new_id(), "staged"),
    ):
        with pytest.raises(LedgerError, match="cannot be finished"):
            attempt()


# --- what belongs together ---


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"unit": "person-month"}, "--unit is 'person-month' there, and 'person' in "),
        ({"population": "others"}, "--population is 'others' there"),
        ({"epsilon": "4"}, "--epsilon is '4' there, and '1' in "),
        ({"person_epsilon": "4"}, "--person-epsilon is '4' there, and 'none' in "),
        ({"composition": "concentrated"}, "composition"),
    ],
)
def test_releases_of_another_ledger_are_refused(old: Ledger, terms: dict[str, str], words: str) -> None:
    first, *others = earlier_of(old)
    other = replace(first, terms={**first.terms, **terms})
    with pytest.raises(LedgerError, match=words):
        rebuilt(old, earlier=[other, *others])
    assert not old.path.with_name("new.ledger").exists()


def test_a_second_ledger_that_is_rebuilt_from_the_same_spends_must_be_meant(old: Ledger) -> None:
    rebuilt(old, complete=True)
    with pytest.raises(LedgerError, match=r"two budgets.*--another"):
        rebuilt(old, "second.ledger", earlier=earlier_of(old)[:1])
    assert rebuilt(old, "second.ledger", another=True).read().rebuilt


def test_a_ledger_that_was_not_rebuilt_or_has_another_budget_is_left_alone(old: Ledger) -> None:
    with pytest.raises(LedgerError, match="complete ledger"):
        rebuilt(old, "old.ledger")
    new = rebuilt(old)
    before = new.path.read_bytes()
    with pytest.raises(LedgerError, match="another population or budget"):
        Ledger.rebuild(new.path, earlier_of(old), "riders", 2, "1e-6")
    assert new.path.read_bytes() == before


# --- killed, and raced ---

ONCE_MORE = """
import pickle, sys
from locentropy.core.errors import LocentropyError
from locentropy.ledger.ledger import Ledger
path, given = sys.argv[1], pickle.load(open(sys.argv[2], "rb"))
print("ready", flush=True)
sys.stdin.readline()
try:
    Ledger.rebuild(path, given, "riders", 1, "1e-6", complete="complete" in sys.argv)
except LocentropyError as error:
    sys.exit(error.exit_code)
print("done", flush=True)
"""


def command(old: Ledger, name: str, *more: str) -> list[str]:
    import pickle

    stated = old.path.with_name("stated")
    stated.write_bytes(
        pickle.dumps([replace(each, terms=dict(each.terms), windows=(None,)) for each in earlier_of(old)])
    )
    return [sys.executable, "-c", ONCE_MORE, str(old.path.with_name(name)), str(stated), *more]


@pytest.mark.parametrize("call", ["pwrite64", *at_night("fdatasync", "unlink", "link")])
@pytest.mark.parametrize("begun", [False, True], ids=["a new one", "one that is not complete"])
def test_killed_at_every_write_it_is_as_it_was_or_whole(old: Ledger, call: str, begun: bool) -> None:
    new = old.path.with_name("new.ledger")
    trace = ["strace", "-f", "-o", "/dev/null", "-P", str(new), "-P", f"{new}-journal", "-P", str(new.parent)]
    if not begun:
        trace = trace[:4]  # it is written under a name of its own, before it has this one
    for when in range(1, 200):
        if begun and not new.exists():
            rebuilt(old)
        spec = ["-e", f"inject={call}:signal=KILL:when={when}"]
        done = subprocess.run(
            [*trace, *spec, *command(old, "new.ledger", "complete")],
            input="\n", capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        if shutil.which("strace") is None or "ready" not in done.stdout:
            pytest.skip("needs strace, and the permission to use it")
        if new.exists():
            book = Ledger(new).verify(spend.id for spend in old.history())
            assert book.remaining == (
                old.remaining if book.complete else replace(old.remaining, epsilon=0, delta=0)
            )
            assert book.complete or begun
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        if new.exists() and Ledger(new).read().complete:
            new.unlink()
    # One that is there already gets no name by a link.
    assert when > 1 or (begun and call == "link"), "it was killed at least once"
    assert Ledger(new).read().complete


def test_of_two_that_complete_at_once_one_does(old: Ledger) -> None:
    rebuilt(old)
    started = [
        subprocess.Popen(command(old, "new.ledger", "complete"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    codes = []
    for process in started:
        process.communicate(timeout=120)
        codes.append(process.returncode)
    assert sorted(codes) == [0, 8]
    book = Ledger(old.path.with_name("new.ledger")).verify()
    assert [spend.id for spend in book.spends] == [spend.id for spend in old.history()], "charged once"
    assert book.complete


# --- planted faults: each of these tests would pass if the rule were not there ---


def _forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    from locentropy.ledger import ledger as module

    true = rebuilt_entries
    monkeypatch.setattr(
        module,
        "rebuilt_entries",
        lambda account, earlier, complete: true(account, list(earlier)[:-1], complete=complete),
    )


def _counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    from locentropy.ledger import rebuilding

    true = rebuilding._once_each
    monkeypatch.setattr(
        rebuilding,
        "_once_each",
        lambda account, earlier: [
            copy
            for each in true(account, earlier)
            for copy in (each, replace(each, spend=new_id(), release=new_id()))
        ],
    )


def _admits_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Account, "why_nothing", property(lambda self: None))


@pytest.mark.parametrize(
    ("fault", "found_by"),
    [
        (_forgets, test_spends_are_kept_under_their_ids_and_the_ledger_has_an_id_of_its_own),
        (_counts_twice, test_spends_are_kept_under_their_ids_and_the_ledger_has_an_id_of_its_own),
        (_admits_at_once, test_nothing_is_admitted_before_it_is_complete),
    ],
    ids=["a spend forgotten", "a release counted twice", "admitted before it is complete"],
)
def test_a_planted_fault_is_found(
    fault: Callable[[pytest.MonkeyPatch], None],
    found_by: Callable[[Ledger], None],
    old: Ledger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, LedgerError, pytest.fail.Exception)):
        found_by(old)


# --- withdrawals ---


def test_a_withdrawal_is_noted_once_and_refunds_nothing(old: Ledger) -> None:
    release, left = old.releases()[0].release, old.remaining
    old.record_withdrawal(release, "of the wrong month")
    book = old.verify()
    assert [(each.release, each.why, each.before) for each in book.withdrawals] == [
        (release, "of the wrong month", 4)
    ]
    assert book.remaining == left
    with pytest.raises(LedgerError, match="already"):
        old.record_withdrawal(release, "again")
    with pytest.raises(LedgerError, match="not paid for"):
        old.record_withdrawal(new_id(), "unknown")


def test_a_disk_that_is_full_leaves_no_half_of_a_rebuilt_ledger(
    old: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = ledger_store.Store.append

    def fails(store: ledger_store.Store, entry: Entry) -> None:
        if entry.kind == "complete":
            raise OSError(28, os.strerror(28))
        append(store, entry)

    monkeypatch.setattr(ledger_store.Store, "append", fails)
    with pytest.raises((OSError, LedgerError)):
        rebuilt(old, complete=True)
    assert not old.path.with_name("new.ledger").exists()
