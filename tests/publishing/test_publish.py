"""The story from visits to a release: its order, what it refuses, and what it leaves behind."""

from __future__ import annotations

import errno
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import (
    BadRowsError,
    BudgetError,
    ColumnError,
    LedgerError,
    ParameterError,
    ReleaseError,
    SourceError,
)
from locentropy.publishing import pay_and_measure as driver
from locentropy.publishing import publication as publications
from locentropy.publishing import publish as story
from locentropy.publishing.chosen_locations import ExcludeWarning
from locentropy.publishing.publish import ResumedWarning
from tests.publishing.making import LIMIT, PLACES, ROWS, ledger_in, names, public, visits_in

PTR = le.LimitPTR(epsilon=8, delta=1e-4, max_locations=2, max_visits=2, min_users=2)
CB = le.paper.LimitCB(epsilon=1, max_locations=2, max_visits=2, min_users=3, accept_no_guarantee=True)


@pytest.fixture
def ledger(tmp_path: Path) -> le.Ledger:
    return ledger_in(tmp_path)


@pytest.fixture
def visits(tmp_path: Path) -> le.Visits:
    return visits_in(tmp_path)


class TestRelease:
    def test_every_listed_place_and_no_other(self, tmp_path: Path, ledger: le.Ledger) -> None:
        visits = visits_in(tmp_path, ROWS + "u1,elsewhere\n" * 3)
        release = le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
        assert release.to_arrow()["location"].to_pylist() == PLACES
        assert "pier" not in ROWS, "unvisited, and there"
        assert le.verify(tmp_path / "may", ledger).ok
        assert names(tmp_path) == ["city.ledger", "may", "visits.csv"]
        assert [record.state for record in ledger.releases()] == ["staged", "published"]
        [spend] = ledger.history()
        assert (spend.epsilon, spend.delta, spend.purpose) == (Fraction(1, 2), 0, "Location entropy")

    def test_the_statement_is_complete(self, tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
        ledger.spend(le.Guarantee.pure(1), "earlier")
        about = le.About(title="Map of May", curator="City", region="Here", publication_date="2026-11-15")
        release = le.publish(visits, LIMIT, public(), ledger=ledger, about=about, entropy_unit="bits")
        said = release.statement
        assert (said.title, said.curator, said.region, said.entropy_unit) == (
            "Map of May",
            "City",
            "Here",
            "bits",
        )
        assert said.ledger is not None
        assert (said.ledger.spent_epsilon, said.ledger.total_epsilon) == ("1.5", "10")
        assert (said.locations_source, said.locations_provenance) == ("public list", "the register")
        assert said.expected_error is not None
        assert "nats" in said.expected_error
        assert ledger.history()[-1].purpose == "Map of May"
        release.save(tmp_path / "may")
        assert le.verify(tmp_path / "may", ledger).ok

    def test_a_look_at_the_exact_data_is_told(self, visits: le.Visits, ledger: le.Ledger) -> None:
        assert not le.publish(visits, LIMIT, public(), ledger=ledger).statement.tuned_unaccounted
        ledger.record_evaluation("compared")
        assert le.publish(visits, LIMIT, public(), ledger=ledger).statement.tuned_unaccounted

    def test_a_check_of_the_input_is_told_by_later_releases_alone(
        self, tmp_path: Path, visits: le.Visits, ledger: le.Ledger
    ) -> None:
        def publish(name: str) -> tuple[str, str, str]:
            release = le.publish(visits, LIMIT, public(), ledger=ledger, out=tmp_path / name)
            assert not release.statement.tuned_unaccounted
            assert le.verify(tmp_path / name, ledger).ok
            german = release.save(tmp_path / f"{name}-de", language="de")
            files = [
                tmp_path / name / "manifest.yaml",
                tmp_path / name / "report.html",
                german / "report.html",
            ]
            texts = [" ".join(file.read_text().split()) for file in files]
            return texts[0], texts[1], texts[2]

        first = publish("first")
        ledger.record_check()
        told = "its owner compared ids, dates and dropped rows with the exact data; no result was computed."
        for said, before, words in zip(publish("second"), first, (told, told, "abgeglichen"), strict=True):
            assert words in said
            assert words not in before
        assert le.verify(tmp_path / "first", ledger).ok, "what comes later changes nothing of it"

    def test_without_a_ledger(self, tmp_path: Path, visits: le.Visits) -> None:
        release = le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=None)
        assert release.statement.ledger is None
        assert names(tmp_path) == ["may", "visits.csv"]

    def test_a_path_will_do_for_a_ledger(self, visits: le.Visits, ledger: le.Ledger) -> None:
        le.publish(visits, LIMIT, public(), ledger=str(ledger.path))
        assert len(ledger.history()) == 1

    @pytest.mark.parametrize("rows", [4, 60])
    def test_a_grid_has_rows_of_its_own(self, rows: int, tmp_path: Path) -> None:
        table = pa.table(
            {
                "user": list(range(rows)),
                "lat": [40.70 + 0.001 * (n % 9) for n in range(rows)],
                "lon": [-74.0] * rows,
            }
        )
        grid = le.Grid(40.70, -74.01, 40.71, -73.99, cell=500)
        release = le.publish(le.Visits(table), LIMIT, grid, out=tmp_path / "may", ledger=None)
        assert len(release) == grid.rows * grid.columns == 12
        assert release.to_arrow().column_names[:4] == ["location", "name", "lat", "lon"]
        less = le.publish(le.Visits(table), LIMIT, grid, exclude=le.PublicLocations([0, 7]), ledger=None)
        assert less.to_arrow()["location"].to_pylist() == [1, 2, 3, 4, 5, 6, 8, 9, 10, 11]
        assert "excluded" in less.statement.locations_source
        assert le.verify(tmp_path / "may").ok

    def test_selection_follows_its_curve(self, tmp_path: Path, ledger: le.Ledger) -> None:
        crowd = {"full": 400, "single": 1}
        table = pa.table(
            {
                "user": [n for users in crowd.values() for n in range(users)],
                "location": [place for place, users in crowd.items() for _ in range(users)],
            }
        )
        chosen = le.SelectLocations(epsilon=0.5, delta=1e-6, max_locations=1)
        assert chosen.curve.probability(pa.array([400, 1]).to_numpy()).round(5).tolist() == [1, 0]
        release = le.publish(le.Visits(table), LIMIT, chosen, out=tmp_path / "may", ledger=ledger)
        assert release.to_arrow()["location"].to_pylist() == ["full"]
        [spend] = ledger.history()
        assert (spend.epsilon, spend.delta) == (1, Fraction(1, 10**6))
        assert le.verify(tmp_path / "may", ledger).ok
        with pytest.warns(ExcludeWarning, match="private log"):
            without = le.publish(
                le.Visits(table), LIMIT, chosen, exclude=le.PublicLocations(["full"]), ledger=None
            )
        assert len(without) == 0, "excluded before anything was selected"

    @pytest.mark.parametrize("mechanism", [LIMIT, PTR])
    def test_nothing_may_be_selected(self, mechanism: Any, tmp_path: Path, ledger: le.Ledger) -> None:
        table = pa.table({"user": [1, 2], "location": ["a", "b"]})
        chosen = le.SelectLocations(epsilon=0.5, delta=1e-6, max_locations=1) if mechanism is LIMIT else None
        release = le.publish(le.Visits(table), mechanism, chosen, out=tmp_path / "may", ledger=ledger)
        assert len(release) == 0
        assert le.verify(tmp_path / "may", ledger).ok

    def test_ids_of_every_kind_survive(self, tmp_path: Path) -> None:
        odd = ['"', "a,b", "line\nbreak", "tab\t", "NaN", "null", "=1+1", "ß…", "\u202e", "0"]
        table = pa.table(
            {"user": list(range(400)) * len(odd), "location": [i for i in odd for _ in range(400)]}
        )
        mechanism = le.LimitPTR(epsilon=90, delta=1e-4, max_locations=10, max_visits=2, min_users=2)
        release = le.publish(
            le.Visits(table, ids="text"), mechanism, out=tmp_path / "may", ledger=None, large_epsilon=True
        )
        assert set(release.to_arrow()["location"].to_pylist()) == set(odd)
        assert le.verify(tmp_path / "may").ok


class TestNotPrivate:
    def test_marks_everything_and_closes_the_ledger(
        self, tmp_path: Path, visits: le.Visits, ledger: le.Ledger
    ) -> None:
        release = le.publish(visits, CB, out=tmp_path / "may", ledger=ledger, not_private=True)
        assert not release.statement.private
        assert set(release.to_arrow()["not_private"].to_pylist()) == {"NOT PRIVATE"}
        target = tmp_path / "may.NOT-PRIVATE"
        assert all("NOT-PRIVATE" in name for name in names(target))
        assert "outside the list" not in (target / "manifest.NOT-PRIVATE.yaml").read_text(), "there is none"
        assert ledger.read().closed
        assert le.verify(target, ledger).ok
        with pytest.raises(BudgetError, match="closed"):
            le.publish(visits, LIMIT, public(), ledger=ledger)

    def test_must_be_said(self, visits: le.Visits, ledger: le.Ledger) -> None:
        with pytest.raises(ParameterError, match="--not-private"):
            le.publish(visits, CB, public(), ledger=ledger)
        with pytest.raises(ParameterError, match="leave it out"):
            le.publish(visits, LIMIT, public(), ledger=ledger, not_private=True)
        assert not ledger.history()


class TestRefusals:
    """Whatever is refused spends nothing and leaves nothing."""

    @pytest.mark.parametrize(
        ("change", "error", "words"),
        [
            ({"locations": None}, ParameterError, "three ways"),
            ({"locations": ["bar"]}, ParameterError, "three ways"),
            ({"locations": le.PublicLocations("nowhere.csv")}, SourceError, "nowhere.csv"),
            ({"exclude": ["bar"]}, ParameterError, "PublicLocations"),
            ({"exclude": le.PublicLocations(["BAR"])}, ParameterError, "same way"),
            ({"exclude": le.PublicLocations(PLACES)}, ParameterError, "nothing to publish"),
            ({"entropy_unit": "bans"}, ParameterError, "bits"),
            (
                {
                    "mechanism": le.paper.Limit(epsilon=11, max_locations=3, max_visits=2),
                    "large_epsilon": True,
                },
                BudgetError,
                "Over budget",
            ),
            (
                {"mechanism": le.paper.Limit(0.5, max_locations=3, max_visits=2, keep="first")},
                ColumnError,
                "time",
            ),
            ({"ledger": "nowhere.ledger"}, LedgerError, "ledger create"),
            ({"out": "no/where/may"}, ReleaseError, "folder that"),
            ({"out": "."}, ReleaseError, "already there"),
            ({"out": "visits.csv"}, ReleaseError, "already there"),
            ({"out": "/"}, ReleaseError, "no directory of its own"),
            ({"out": "m" * 230}, ReleaseError, "too long a name"),
            ({"out": os.fsdecode(b"may-\xff")}, ReleaseError, "not UTF-8"),
            ({"visits": "visits.csv"}, ParameterError, "which column is what"),
            ({"visits": le.Visits("nowhere.csv")}, SourceError, "nowhere.csv"),
            ({"visits": le.Visits("visits.csv", user="who")}, ColumnError, "who"),
        ],
    )
    def test_spends_nothing_and_leaves_nothing(
        self,
        change: dict[str, Any],
        error: type[Exception],
        words: str,
        tmp_path: Path,
        visits: le.Visits,
        ledger: le.Ledger,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        call = {"visits": visits, "mechanism": LIMIT, "locations": public(), "out": "may", "ledger": ledger}
        with pytest.raises(error, match=words):
            le.publish(**(call | change))
        assert not ledger.history()
        assert names(tmp_path) == ["city.ledger", "visits.csv"]

    @pytest.mark.parametrize("ending", ["u9\n", "u9,\n", 'u9,"bar\n'])
    def test_a_malformed_last_line(self, ending: str, tmp_path: Path, ledger: le.Ledger) -> None:
        visits = visits_in(tmp_path, ROWS * 500 + ending)
        with pytest.raises((BadRowsError, SourceError)):
            le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
        assert not ledger.history()
        assert names(tmp_path) == ["city.ledger", "visits.csv"]

    def test_a_file_system_of_its_own(
        self, tmp_path: Path, visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing can be renamed onto it, which would show only after the spend."""
        (tmp_path / "may").mkdir()
        monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "may")
        with pytest.raises(ReleaseError, match="may/release"):
            le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
        assert not ledger.history()

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ({"region": "two\nlines"}, "region"),
            ({"sector": "Sports"}, "Healthcare"),
            ({"publication_date": "soon"}, "2026-11-15"),
            ({"curator": ""}, "curator"),
        ],
    )
    def test_words_that_cannot_be_published(self, words: dict[str, Any], told: str) -> None:
        with pytest.raises(ParameterError, match=told):
            le.About(**words)

    def test_titles_are_what_the_ledger_takes(self) -> None:
        with pytest.raises(ParameterError, match="300"):
            le.About(title="t" * 301)

    def test_an_occupied_target_costs_nothing(
        self, tmp_path: Path, visits: le.Visits, ledger: le.Ledger
    ) -> None:
        le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
        with pytest.raises(ReleaseError, match="may-2"):
            le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
        assert len(ledger.history()) == 1


def test_the_profile_is_there_before_the_spend(
    tmp_path: Path, visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    asked, paid = driver.CachedQueries.profile, publications.Publication.pay
    real = story.open_queries

    def opened(*arguments: Any, **options: Any) -> Any:
        told.append("read")
        return real(*arguments, **options)

    def profile(self: Any, bounds: Any) -> Any:
        told.append("known" if bounds in self._profiles else "computed")
        return asked(self, bounds)

    def pay(self: Any, *arguments: Any) -> Any:
        told.append("spend")
        return paid(self, *arguments)

    monkeypatch.setattr(story, "open_queries", opened)
    monkeypatch.setattr(driver.CachedQueries, "profile", profile)
    monkeypatch.setattr(publications.Publication, "pay", pay)
    le.publish(visits, LIMIT, public(), ledger=ledger)
    assert told == ["read", "computed", "spend", "known"]


def test_a_full_disk_after_the_spend(
    tmp_path: Path, visits: le.Visits, ledger: le.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("locentropy.release.files._write", full)
        with pytest.raises(OSError, match="No space") as failed:
            le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
    assert "Repeat the same call" in failed.value.__notes__[0]
    [spend] = ledger.history()
    kept = f".may.{spend.id}.measurements"
    assert names(tmp_path) == [kept, ".may.publishing", "city.ledger", "visits.csv"]
    with pytest.warns(ResumedWarning):
        le.publish(visits, LIMIT, public(), out=tmp_path / "may", ledger=ledger)
    assert len(ledger.history()) == 1
    assert names(tmp_path) == ["city.ledger", "may", "visits.csv"]


def test_the_rule_for_bad_rows_is_told_and_not_their_number(tmp_path: Path, ledger: le.Ledger) -> None:
    path = visits_in(tmp_path, ROWS + ",bar\n" * 7).source
    release = le.publish(
        le.Visits(path, bad_rows="drop"), LIMIT, public(), out=tmp_path / "may", ledger=ledger
    )
    assert release.statement.parameters["bad_rows"] == "drop"
    manifest = (tmp_path / "may" / "manifest.yaml").read_text()
    assert "Rows that break a rule" in " ".join(manifest.split())
    assert le.verify(tmp_path / "may", ledger).ok


class TestNothingButNoise:
    """What could only publish noise is refused before it costs anything, if that is asked for (test_existence.py)."""

    def test_a_list_that_matches_no_visit(self, tmp_path: Path, visits: le.Visits, ledger: le.Ledger) -> None:
        others = le.PublicLocations(["BAR", "CAFE"])
        with pytest.raises(SourceError, match="No visit is at any of the places"):
            le.publish(visits, LIMIT, others, out=tmp_path / "may", ledger=ledger, refuse_empty=True)
        assert not ledger.history()
        assert names(tmp_path) == ["city.ledger", "visits.csv"]

    def test_rows_that_are_all_dropped(self, tmp_path: Path, ledger: le.Ledger) -> None:
        path = visits_in(tmp_path, "uid,venue,time\nu1,bar,soon\nu2,bar,later\n").source
        with pytest.raises(SourceError, match="no row is left"):
            le.publish(le.Visits(path, bad_rows="drop"), LIMIT, public(), ledger=ledger, refuse_empty=True)
        assert not ledger.history()
