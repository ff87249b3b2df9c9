"""A ledger is rebuilt from files: what releases and attempts state is what the old ledger had charged."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import BudgetError, LedgerError, ReleaseError
from locentropy.core.strict_yaml import dump_document, read_document
from locentropy.ledger.rules import Account
from locentropy.privacy.guarantee import exact_text
from tests.publishing.making import LIMIT, MAY, PAID, PLACES, STAGED, Killed, ledger_in, public, visits_in

TIMED = "uid,venue,time\n" + "".join(
    f"u{user},{PLACES[user % 3]},2026-0{4 + user % 3}-03T12:00:00Z\n" for user in range(12)
)
TERMS: dict[str, Any] = {"delta": "1e-3"}


def rebuilt(folder: Path, *sources: str, **options: Any) -> le.Ledger:
    given = {"complete": True, **TERMS, **options}
    return le.rebuild_ledger(
        folder / "new.ledger",
        [folder / name for name in sources],
        "riders",
        given.pop("epsilon", 10),
        **given,
    )


def charged(book: Account) -> Any:
    """All that a ledger has charged, but for the order of its spends."""
    parts = sorted(
        (part.spend, part.cell or "", part.borders, *vars(part.charge).values()) for part in book.parts
    )
    return parts, book.person, book.closed, book.remaining


@pytest.fixture
def visits(tmp_path: Path) -> le.Visits:
    return visits_in(tmp_path)


def publish(
    visits: le.Visits, ledger: le.Ledger, name: str, mechanism: Any = LIMIT, **options: Any
) -> le.Release:
    places = options.pop("locations", None) or public()
    return le.publish(visits, mechanism, places, ledger=ledger, out=ledger.path.with_name(name), **options)


def killed(visits: le.Visits, ledger: le.Ledger, name: str, where: str, **options: Any) -> None:
    """An attempt that ends at a step, as by `kill -9`."""

    def end(*_: Any, **__: Any) -> Any:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, end)
        with pytest.raises(Killed):
            publish(visits, ledger, name, **options)


# --- releases ---


def test_a_ledger_of_sums_is_rebuilt_as_it_was(tmp_path: Path, visits: le.Visits) -> None:
    old = ledger_in(tmp_path)
    publish(visits, old, "may")
    publish(
        visits,
        old,
        "selected",
        le.Shares(epsilon=1.0),
        locations=le.SelectLocations(0.2, delta=1e-8, max_locations=2),
    )
    publish(visits, old, "gaussian", le.Shares(epsilon=1.0, delta=1e-8))
    new = rebuilt(tmp_path, "gaussian", "may", "selected")
    assert charged(new.read()) == charged(old.read())
    assert [spend.id for spend in new.history()] == [spend.id for spend in old.history()], "in their order"
    for name in ("may", "selected", "gaussian"):
        assert le.verify(tmp_path / name, new).ok


@pytest.mark.parametrize("composition", ["sum", "concentrated"])
def test_a_ledger_per_month_is_rebuilt_as_it_was(tmp_path: Path, composition: str) -> None:
    """Months, the person, ρ, several windows in one release, and levels."""
    visits = visits_in(tmp_path, TIMED)
    terms: dict[str, Any] = {
        "unit": "person-month", "zone": "UTC", "person_epsilon": 30, "person_delta": "1e-2",
        "large_epsilon": True, "composition": composition, **TERMS,
        **({"reserved_delta": "1e-4"} if composition == "concentrated" else {}),
    }  # fmt: skip
    old = le.Ledger.create(tmp_path / "city.ledger", "riders", 10, **terms)
    gaussian = le.Shares(epsilon=0.5, delta=1e-8)
    (tmp_path / "places.csv").write_text("id,kind\n" + "".join(f"{place},open\n" for place in PLACES))
    levels = le.PublicLocations(tmp_path / "places.csv", levels=("place", "kind"), location="id")
    publish(visits, old, "april", window=le.Window("2026-04", zone="UTC"))
    publish(visits, old, "span", gaussian, window=le.Window("2026-04/2026-07", zone="UTC"), windows="month")
    publish(visits, old, "levels", gaussian, locations=levels, window=le.Window("2026-05-03", zone="UTC"))
    new = rebuilt(tmp_path, "levels", "april", "span", **terms)
    assert charged(new.read()) == charged(old.read())
    for name in ("april", "span", "levels"):
        assert le.verify(tmp_path / name, new).ok


def test_later_releases_say_that_the_ledger_was_rebuilt(tmp_path: Path, visits: le.Visits) -> None:
    publish(visits, ledger_in(tmp_path), "may")
    new = rebuilt(tmp_path, "may")
    release = publish(visits, new, "june")
    assert le.verify(tmp_path / "june", new).ok
    manifest = " ".join((tmp_path / "june" / "manifest.yaml").read_text().split())
    assert "This ledger was rebuilt" in manifest
    assert "This ledger was rebuilt" in (tmp_path / "june" / "report.html").read_text()
    german = release.save(tmp_path / "juni", language="de") / "report.html"
    assert "wiederhergestellt" in german.read_text()
    assert "rebuilt" not in (tmp_path / "may" / "manifest.yaml").read_text()


def test_what_the_old_ledger_had_recorded_is_taken_over(tmp_path: Path, visits: le.Visits) -> None:
    old = ledger_in(tmp_path)
    first = publish(visits, old, "may")
    old.record_check()
    old.record_evaluation("compared")
    old.record_withdrawal(first.statement.release_id, "of the wrong month")
    publish(visits, old, "june")
    book = rebuilt(tmp_path, "may", "june").read()
    assert book.evaluations
    assert [check.before for check in book.input_checks] == [2], "before the release that says so"
    assert [each.release for each in book.withdrawals] == [first.statement.release_id]


def test_a_release_without_a_guarantee_closes_it(tmp_path: Path, visits: le.Visits) -> None:
    old = ledger_in(tmp_path)
    publish(visits, old, "may")
    publish(
        visits,
        old,
        "exact",
        le.paper.LimitCB(max_locations=3, max_visits=2, min_users=1, epsilon=1.0, accept_no_guarantee=True),
        not_private=True,
    )
    [exact] = [path.name for path in tmp_path.glob("exact*")]
    new = rebuilt(tmp_path, "may", exact)
    assert new.read().closed
    with pytest.raises(BudgetError, match="is closed"):
        new.spend(le.Guarantee.pure("0.1"), "more")


def test_a_release_without_a_ledger_or_of_another_is_refused(tmp_path: Path, visits: le.Visits) -> None:
    publish(visits, ledger_in(tmp_path), "may")
    le.publish(visits, LIMIT, public(), ledger=None, out=tmp_path / "uncounted")
    with pytest.raises(ReleaseError, match="without a ledger"):
        rebuilt(tmp_path, "may", "uncounted")
    for change in ({"epsilon": 9}, {"delta": "1e-6"}, {"composition": "concentrated"}):
        with pytest.raises(LedgerError, match="another ledger"):
            rebuilt(tmp_path, "may", **change)
    with pytest.raises(LedgerError, match="--unit is 'person' there, and 'person-month' in "):
        rebuilt(tmp_path, "may", unit="person-month", person_epsilon=10, person_delta="1e-3")
    assert not (tmp_path / "new.ledger").exists()


def forged(directory: Path, guarantee: le.Guarantee, **parameters: str) -> None:
    """State that less was paid, in all files, with every fingerprint made anew."""
    release = le.Release.load(directory)
    stated, note = release.statement, release.statement.ledger
    assert note is not None
    assert guarantee.epsilon is not None
    note = replace(note, spent_epsilon=exact_text(guarantee.epsilon), spent_delta=exact_text(guarantee.delta))
    cheaper = replace(
        stated,
        guarantee=replace(guarantee, public_inputs=stated.guarantee.public_inputs),
        ledger=note,
        parameters={**stated.parameters, **parameters},
    )
    for path in directory.iterdir():
        path.unlink()
    replace(release, statement=cheaper).save(directory)


GAUSSIAN = le.Shares(epsilon=1.0, delta=1e-8)
SELECTED = le.SelectLocations(0.2, delta=1e-8, max_locations=2)


@pytest.mark.parametrize(
    ("mechanism", "locations", "guarantee", "parameters", "words"),
    [
        (LIMIT, None, le.Guarantee.pure("0.001"), {}, "smaller ε"),
        (GAUSSIAN, None, replace(GAUSSIAN.guarantee, rho=Fraction(1, 10**6)), {}, "smaller ε"),
        (le.Shares(epsilon=1.0), SELECTED, le.Guarantee.approximate(1, "1e-8"), {}, "smaller ε"),
        (le.Shares(epsilon=1.0), SELECTED, le.Guarantee.pure("1.2"), {}, "smaller ε"),
        (le.Shares(epsilon=1.0), None, le.Guarantee.pure("0.1"), {"epsilon": "0.1"}, "other scales"),
    ],
    ids=["epsilon", "rho", "epsilon of a selection", "delta of a selection", "parameters too"],
)
def test_a_release_that_is_forged_to_look_cheaper_is_refused(
    tmp_path: Path,
    visits: le.Visits,
    mechanism: Any,
    locations: Any,
    guarantee: Any,
    parameters: Any,
    words: str,
) -> None:
    publish(visits, ledger_in(tmp_path), "may", mechanism, locations=locations)
    assert le.verify(tmp_path / "may").ok
    forged(tmp_path / "may", guarantee, **parameters)
    assert not le.verify(tmp_path / "may").ok
    with pytest.raises(ReleaseError, match=words):
        rebuilt(tmp_path, "may")
    assert not (tmp_path / "new.ledger").exists()


@pytest.mark.parametrize(
    ("cheaper", "words"),
    [
        ({"parameters": {"epsilon": "cheap"}}, "does not take the parameters"),
        ({"parameters": {"epsilon": "cheap"}, "software_version": "0.1.0"}, "does not take the parameters"),
        ({"mechanism": "Cheap", "built_in": False}, "Cheap is not installed here"),
        ({"built_in": False}, "Limit is not installed here"),
    ],
    ids=["parameters", "parameters of another version", "no mechanism", "another mechanism of that name"],
)
def test_a_release_whose_cost_cannot_be_checked_is_refused(
    tmp_path: Path, visits: le.Visits, cheaper: dict[str, Any], words: str
) -> None:
    """What its mechanism costs is then nobody's word but its own."""
    publish(visits, ledger_in(tmp_path), "may")
    release = le.Release.load(tmp_path / "may")
    parameters = {**release.statement.parameters, **cheaper.pop("parameters", {})}
    stated = replace(release.statement, parameters=parameters, **cheaper)
    for path in (tmp_path / "may").iterdir():
        path.unlink()
    replace(release, statement=stated).save(tmp_path / "may")
    forged(tmp_path / "may", le.Guarantee.pure("0.001"))
    with pytest.raises(ReleaseError, match=words):
        rebuilt(tmp_path, "may")
    assert not (tmp_path / "new.ledger").exists()


def test_a_careless_edit_is_refused(tmp_path: Path, visits: le.Visits) -> None:
    publish(visits, ledger_in(tmp_path), "may")
    path = tmp_path / "may" / "details.yaml"
    path.write_text(path.read_text().replace("epsilon: '0.5'", "epsilon: '0.1'"))
    with pytest.raises(ReleaseError, match="is not as it was published"):
        rebuilt(tmp_path, "may")


def test_a_release_of_before_is_missed_by_the_sums_of_later_ones(tmp_path: Path, visits: le.Visits) -> None:
    old = ledger_in(tmp_path)
    for name in ("may", "june"):
        publish(visits, old, name)
    with pytest.raises(LedgerError, match=r"missing: after .*june, ε = 1 .* adds up to ε = 0\.5"):
        rebuilt(tmp_path, "june")
    new = rebuilt(tmp_path, "june", complete=False)
    assert new.remaining.epsilon == 0
    assert rebuilt(tmp_path, "june", "may").remaining == old.remaining


# --- attempts ---


@pytest.mark.parametrize("where", [PAID, STAGED], ids=["paid", "drawn"])
@pytest.mark.parametrize("monthly", [False, True])
def test_an_attempt_counts_as_spent_and_cannot_be_finished(tmp_path: Path, where: str, monthly: bool) -> None:
    visits = visits_in(tmp_path, TIMED)
    old = ledger_in(tmp_path, monthly=monthly)
    options: dict[str, Any] = {"window": MAY} if monthly else {}
    publish(visits, old, "may", **options)
    killed(visits, old, "june", where, **options)
    terms = {"unit": "person-month", "person_epsilon": 20, "person_delta": "1e-3", "large_epsilon": True}
    new = rebuilt(tmp_path, "may", ".june.publishing", **(terms if monthly else {}))
    assert charged(new.read()) == charged(old.read())
    before = new.read().remaining
    with pytest.raises(ReleaseError, match="it differs in ledger"):
        publish(visits, new, "june", **options)
    assert new.read().remaining == before
    assert not (tmp_path / "june").exists()


def test_an_attempt_that_had_not_spent_yet_counts_as_spent(tmp_path: Path, visits: le.Visits) -> None:
    """The ledger that could tell is lost."""
    old = ledger_in(tmp_path)
    publish(visits, old, "may")
    killed(visits, old, "june", "locentropy.ledger.ledger.Ledger.spend")
    assert rebuilt(tmp_path, "may", ".june.publishing").remaining.epsilon == old.remaining.epsilon - Fraction(
        "0.5"
    )


def test_an_attempt_at_a_release_without_a_guarantee_closes_it(tmp_path: Path, visits: le.Visits) -> None:
    """It may have been drawn."""
    exact = le.paper.LimitCB(
        max_locations=3, max_visits=2, min_users=1, epsilon=1.0, accept_no_guarantee=True
    )
    killed(visits, ledger_in(tmp_path), "exact", PAID, mechanism=exact, not_private=True)
    [record] = [path.name for path in tmp_path.glob(".exact*.publishing")]
    assert rebuilt(tmp_path, record).read().closed


def test_an_attempt_and_its_release_are_charged_once(tmp_path: Path, visits: le.Visits) -> None:
    old = ledger_in(tmp_path)
    killed(visits, old, "may", PAID)
    record = (tmp_path / ".may.publishing").read_bytes()
    publish(visits, old, "may")
    (tmp_path / ".kept.publishing").write_bytes(record)
    (tmp_path / ".kept.publishing").chmod(0o600)
    new = rebuilt(tmp_path, ".kept.publishing", "may")
    assert charged(new.read()) == charged(old.read())
    assert [known.state for known in new.releases()] == ["staged", "published"]


@pytest.mark.parametrize("change", ["no charge", "no ledger", "parts", "cheaper", "not a record"])
def test_an_attempt_whose_cost_is_not_known_is_refused(
    tmp_path: Path, visits: le.Visits, change: str
) -> None:
    killed(visits, ledger_in(tmp_path), "june", PAID)
    path = tmp_path / ".june.publishing"
    record = json.loads(path.read_bytes())
    if change == "no charge":  # as earlier versions wrote it
        del record["charge"]
    elif change == "no ledger":
        record["order"]["ledger"] = "none"
    elif change == "parts":
        record["charge"]["parts"] = [{"epsilon": "0.001"}]
    elif change == "cheaper":
        record["charge"]["parts"][0]["epsilon"] = "0.001"
    path.write_text("a,b\n1,2\n" if change == "not a record" else json.dumps(record))
    words = {"no ledger": "that a ledger pays for", "not a record": "that a ledger pays for"}
    with pytest.raises(ReleaseError, match=words.get(change, "does not state what its attempt cost")):
        rebuilt(tmp_path, ".june.publishing")
    assert not (tmp_path / "new.ledger").exists()


def test_an_attempt_of_before_is_finished_as_it_was(tmp_path: Path, visits: le.Visits) -> None:
    """Its record does not say what it is charged, and is not asked for it while its ledger is there."""
    old = ledger_in(tmp_path)
    killed(visits, old, "may", PAID)
    path = tmp_path / ".may.publishing"
    record = json.loads(path.read_bytes())
    del record["charge"]
    path.write_text(json.dumps(record))
    publish(visits, old, "may")
    assert le.verify(tmp_path / "may", old).ok
    assert len(old.history()) == 1


# --- withdrawals ---


def test_a_withdrawal_is_said_by_later_releases_alone(tmp_path: Path, visits: le.Visits) -> None:
    old = ledger_in(tmp_path)
    first = publish(visits, old, "may", about=le.About(title="Map of May"))
    old.record_withdrawal(first.statement.release_id, "of the wrong week")
    release = publish(visits, old, "june")
    german = release.save(tmp_path / "juni", language="de") / "report.html"
    for path, words in (
        (tmp_path / "june" / "manifest.yaml", "withdrawn or replaced an earlier release, “Map of May”"),
        (tmp_path / "june" / "report.html", "of the wrong week"),
        (german, "zurückgezogen oder ersetzt"),
    ):
        assert words in " ".join(path.read_text().split())
    read = le.Release.load(tmp_path / "june").statement.ledger
    assert read is not None
    assert [(each.title, each.why) for each in read.withdrawn] == [("Map of May", "of the wrong week")]
    for name in ("may", "june"):
        report = le.verify(tmp_path / name, old)
        assert report.ok
        assert any("of the wrong week" in note for note in report.notes) == (name == "may")


def test_a_forged_list_of_withdrawn_releases_is_an_error_in_words(tmp_path: Path, visits: le.Visits) -> None:
    publish(visits, ledger_in(tmp_path), "may")
    path = tmp_path / "may" / "details.yaml"
    document = read_document(path)
    document["ledger"]["withdrawn"] = [{"release": "../..", "title": "x", "why": "y"}] * 2
    path.write_bytes(dump_document(document, "forged"))
    with pytest.raises(ReleaseError, match="hexadecimal"):
        le.Release.load(tmp_path / "may")
    document["ledger"]["withdrawn"] = [{}] * 2000
    path.write_bytes(dump_document(document, "forged"))
    with pytest.raises(ReleaseError, match="withdrawn"):
        le.Release.load(tmp_path / "may")
