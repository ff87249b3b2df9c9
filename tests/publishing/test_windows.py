"""Releases about a window: what they read, what they say, and what is charged for them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

import locentropy as le
from locentropy.core.errors import BudgetError, LedgerError, ParameterError, ReleaseError
from locentropy.privacy.concentrated import admissible_rho
from locentropy.publishing.publish import ResumedWarning
from locentropy.release.ledger_notes import note_words
from locentropy.visits.queries import open_queries
from tests.publishing.making import LIMIT, PAID, PLACES, Killed, names, public
from tests.release.registry_schema import SCHEMA

BERLIN = "Europe/Berlin"
MAY, JUNE = (le.Window(text, zone=BERLIN) for text in ("2026-05", "2026-06"))
ROWS = "uid,venue,time\n" + "".join(
    f"u{user},{PLACES[user % 3]},2026-05-{1 + user:02}T08:00:00+02:00\n" for user in range(12)
)


@pytest.fixture
def visits(tmp_path: Path) -> le.Visits:
    path = tmp_path / "visits.csv"
    path.write_text(ROWS)
    return le.Visits(path, user="uid")


@pytest.fixture
def monthly(tmp_path: Path) -> le.Ledger:
    return le.Ledger.create(
        tmp_path / "city.ledger", "riders", 1, unit="person-month", person_epsilon=3, zone=BERLIN
    )


def shares(epsilon: float = 1.0, delta: float = 0.0) -> le.Shares:
    return le.Shares(epsilon=epsilon, delta=delta, max_users=1000)


# --- what is read ---


def read_rows(monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[le.Window | None]:
    seen: list[le.Window | None] = []

    def watched(visits: le.Visits, **given: Any) -> Any:
        seen.append(visits.window)
        return open_queries(visits, **given)

    monkeypatch.setattr("locentropy.publishing.publish.open_queries", watched)
    le.publish(**options)
    return seen


@pytest.mark.parametrize("named", ["option", "visits", "both"])
def test_a_window_reaches_the_engine(
    named: str, visits: le.Visits, monthly: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = visits if named == "option" else visits.during(MAY)
    window = None if named == "visits" else MAY
    options = {
        "visits": chosen,
        "mechanism": LIMIT,
        "locations": public(),
        "ledger": monthly,
        "window": window,
    }
    assert read_rows(monkeypatch, **options) == [MAY]


def test_two_windows_contradict_each_other(visits: le.Visits, monthly: le.Ledger) -> None:
    with pytest.raises(ParameterError, match="already those of a window"):
        le.publish(visits.during(MAY), LIMIT, public(), ledger=monthly, window=JUNE)
    assert not monthly.history()


def test_an_empty_window_is_published_as_noise(visits: le.Visits, monthly: le.Ledger) -> None:
    release = le.publish(visits, LIMIT, public(), ledger=monthly, window=le.Window("2020-01", zone=BERLIN))
    assert release.to_arrow()["location"].to_pylist() == PLACES
    assert monthly.remaining.epsilon == Fraction(5, 2)


# --- what is said ---


def test_it_says_so_in_every_file(visits: le.Visits, monthly: le.Ledger, tmp_path: Path) -> None:
    release = le.publish(visits, shares(), public(), ledger=monthly, window=MAY, out=tmp_path / "may")
    assert names(tmp_path / "may") == [
        "datapackage.json", "details.yaml", "manifest.yaml", "measurements-2026-05.parquet", "release-2026-05.csv",
        "release-2026-05.parquet", "report-2026-05.html",
    ]  # fmt: skip
    assert release.statement.window == MAY
    assert release.statement.guarantee.unit == "person-month"
    found = le.verify(tmp_path / "may", ledger=monthly)
    assert found.ok, found
    manifest = yaml.safe_load((tmp_path / "may" / "manifest.yaml").read_text())
    Draft7Validator(SCHEMA).validate(manifest)
    said = manifest["deployment"]
    assert said["privacy_loss"]["privacy_unit"] == "Person and month"
    assert said["deployment_model"]["release_type"] == "Many releases"
    composed = " ".join(said["accounting"]["composition"].split())
    assert "ε = 1, δ = 0 of it are spent in 2026-05" in composed
    assert (
        "Somebody who is in the data in every month is guaranteed ε = 3, δ = 0 for all releases together"
        in composed
    )
    page = (tmp_path / "may" / "report-2026-05.html").read_text()
    for words in (
        "2026-05, Europe/Berlin",
        "Each month: ",
        "Somebody there in every month: ",
        "release-2026-05.csv",
    ):
        assert words in page
    assert (
        "visits that began from 2026-05-01 to 2026-05-31, both included, by the clock of Europe/Berlin"
        in page
    )


def test_a_person_ledger_says_person(visits: le.Visits, tmp_path: Path) -> None:
    ledger = le.Ledger.create(tmp_path / "person.ledger", "riders", 2)
    window = le.Window("2026-W18", zone=BERLIN, weekdays="mon-fri", hours="07-10")
    release = le.publish(visits, LIMIT, public(), ledger=ledger, window=window, out=tmp_path / "week")
    assert release.statement.guarantee.unit == "person"
    assert "release-2026-W18-mon-fri-07-10.csv" in names(tmp_path / "week")
    assert le.verify(tmp_path / "week", ledger=ledger).ok
    assert le.Release.load(tmp_path / "week").statement.window == window


def test_a_window_that_was_changed_is_found(visits: le.Visits, monthly: le.Ledger, tmp_path: Path) -> None:
    le.publish(visits, LIMIT, public(), ledger=monthly, window=MAY, out=tmp_path / "may")
    details = tmp_path / "may" / "details.yaml"
    details.write_text(
        details.read_text()
        .replace("text: 2026-05\n", "text: 2026-06\n")
        .replace("text: '2026-05'\n", "text: '2026-06'\n")
    )
    found = le.verify(tmp_path / "may", ledger=monthly)
    assert not found.ok


def test_another_ledger_is_found(visits: le.Visits, monthly: le.Ledger, tmp_path: Path) -> None:
    release = le.publish(visits, LIMIT, public(), ledger=monthly, window=MAY, out=tmp_path / "may")
    note = release.statement.ledger
    assert note is not None
    other = le.Ledger.create(
        tmp_path / "other", "riders", 1, unit="person-month", person_epsilon=9, zone=BERLIN, another=True
    )
    other.spend(LIMIT.guarantee, "the same id", spend_id=note.spend_id, window=JUNE)
    words = str(le.verify(tmp_path / "may", ledger=other))
    assert "another window" in words
    assert "another population or budget" in words


# --- what is refused ---


@pytest.mark.parametrize(
    ("window", "error", "words"),
    [
        (None, ParameterError, "straddles every month"),
        (le.Window("2026-W18", zone=BERLIN), ParameterError, "more than one month"),
        (le.Window("2026-05", zone="UTC"), LedgerError, "clock of Europe/Berlin"),
    ],
)
def test_refused_before_anything_is_read(
    window: Any,
    error: Any,
    words: str,
    visits: le.Visits,
    monthly: le.Ledger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("locentropy.publishing.publish.open_queries", None)
    with pytest.raises(error, match=words):
        le.publish(visits, LIMIT, public(), ledger=monthly, window=window)
    assert not monthly.history()


def test_the_fourth_month_is_refused(visits: le.Visits, monthly: le.Ledger) -> None:
    moments = le.Moments(1.0, max_locations=3, max_visits=2)
    for number in (1, 2, 3):
        le.publish(
            visits, moments, public(), ledger=monthly, window=le.Window(f"2026-{number:02}", zone=BERLIN)
        )
    with pytest.raises(BudgetError, match="there in every month"):
        le.publish(visits, moments, public(), ledger=monthly, window=MAY)
    with pytest.raises(BudgetError, match="2026-01"):
        le.publish(visits, LIMIT, public(), ledger=monthly, window=le.Window("2026-01-07", zone=BERLIN))


# --- retries ---


def test_a_retry_is_about_the_same_window(
    visits: le.Visits, monthly: le.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(PAID, killed)
        with pytest.raises(Killed):
            le.publish(visits, LIMIT, public(), ledger=monthly, window=MAY, out=tmp_path / "out")
    assert len(monthly.history()) == 1
    with pytest.raises(ReleaseError, match="differs in window"):
        le.publish(visits, LIMIT, public(), ledger=monthly, window=JUNE, out=tmp_path / "out")
    le.publish(visits, LIMIT, public(), ledger=monthly, window=MAY, out=tmp_path / "out")
    assert len(monthly.history()) == 1
    assert le.verify(tmp_path / "out", ledger=monthly).ok
    assert ResumedWarning


# --- in ρ ---


def test_a_ledger_in_rho_says_what_it_costs_and_what_holds_in_all(visits: le.Visits, tmp_path: Path) -> None:
    ledger = le.Ledger.create(
        tmp_path / "rho.ledger", "riders", 2, "1e-6", unit="person-month", person_epsilon=4, person_delta="1e-5",
        composition="concentrated",
    )  # fmt: skip
    release = le.publish(visits, shares(1.0, 1e-6), public(), ledger=ledger, window=MAY, out=tmp_path / "may")
    assert release.statement.guarantee.rho == admissible_rho(1, "1e-6")
    found = le.verify(tmp_path / "may", ledger=ledger)
    assert found.ok, found
    manifest = yaml.safe_load((tmp_path / "may" / "manifest.yaml").read_text())
    Draft7Validator(SCHEMA).validate(manifest)
    said = manifest["deployment"]
    assert said["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    stated = said["privacy_loss"]["privacy_parameters"]
    assert stated["epsilon"] == 1
    assert stated["rho"] >= admissible_rho(1, "1e-6")
    composed = " ".join(said["accounting"]["composition"].split())
    assert "Sums of ρ" in composed
    assert (
        "guaranteed ε = 4, δ = 0.00001 for all releases" in composed
        or "δ = 1e-5 for all releases" in composed
    )
    assert le.Release.load(tmp_path / "may").statement == release.statement


def test_where_rho_may_fail_the_kind_of_guarantee_is_not_the_one_without_failures(
    visits: le.Visits, tmp_path: Path
) -> None:
    """A private selection has a δ of its own, which no ρ covers."""
    ledger = le.Ledger.create(
        tmp_path / "rho.ledger", "riders", 3, "1e-5", composition="concentrated", reserved_delta="1e-6"
    )
    selection = le.SelectLocations(0.5, delta=1e-7, max_locations=3)
    release = le.publish(visits, shares(1.0, 1e-6), selection, ledger=ledger, out=tmp_path / "all")
    assert release.statement.guarantee.rho_delta == Fraction("1e-7")
    said = yaml.safe_load((tmp_path / "all" / "manifest.yaml").read_text())["deployment"]
    assert said["dp_variant"]["variant_name"] == "Approximate DP"
    assert set(said["privacy_loss"]["privacy_parameters"]) == {"epsilon", "delta"}
    assert "but for a probability of" in " ".join(said["accounting"]["composition"].split())


def test_a_page_never_says_that_more_is_spent_than_there_is(visits: le.Visits, tmp_path: Path) -> None:
    """Pure releases are admitted by sums of ε where these are less; then ρ is not what counts."""
    ledger = le.Ledger.create(tmp_path / "rho.ledger", "riders", 1, "1e-6", composition="concentrated")
    release = le.publish(visits, shares(1.0), public(), ledger=ledger, out=tmp_path / "all")
    assert release.statement.ledger is not None
    words = note_words(release.statement.ledger)
    assert "after this release ε = 1, δ = 0 of it are spent" in words
    assert "ρ = 0.5" not in words


def test_in_a_ledger_of_sums_gaussian_noise_costs_its_own_epsilon_and_delta(
    visits: le.Visits, tmp_path: Path
) -> None:
    ledger = le.Ledger.create(tmp_path / "sum.ledger", "riders", 2, "1e-5")
    release = le.publish(visits, shares(1.0, 1e-6), public(), ledger=ledger, out=tmp_path / "all")
    assert (ledger.remaining.epsilon, ledger.remaining.delta) == (1, Fraction(9, 10**6))
    said = yaml.safe_load((tmp_path / "all" / "manifest.yaml").read_text())["deployment"]
    assert said["dp_variant"]["variant_name"] == "Approximate DP"
    assert set(said["privacy_loss"]["privacy_parameters"]) == {"epsilon", "delta"}
    assert le.verify(tmp_path / "all", ledger=ledger).ok
    assert release.statement.guarantee.rho is not None


def test_without_a_guarantee_it_is_marked_and_closes_the_ledger(
    visits: le.Visits, monthly: le.Ledger, tmp_path: Path
) -> None:
    exact = le.paper.LimitCB(epsilon=1, max_locations=2, max_visits=2, min_users=3, accept_no_guarantee=True)
    le.publish(visits, exact, None, ledger=monthly, window=MAY, out=tmp_path / "may", not_private=True)
    [found] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert "release-2026-05.NOT-PRIVATE.csv" in names(found)
    assert le.verify(found, ledger=monthly).ok
    with pytest.raises(BudgetError, match="closed"):
        le.publish(visits, LIMIT, public(), ledger=monthly, window=JUNE)
