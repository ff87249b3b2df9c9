"""Interrupted attempts, and who may take them up: without an engine, for it has no part in this."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import BudgetError, LedgerError, ReleaseError
from locentropy.publishing import publication_file
from locentropy.publishing.publication import Publication
from locentropy.publishing.publish import ResumedWarning
from locentropy.publishing.request import Request
from locentropy.release.measurements import read_measurements
from tests.publishing.making import (
    LIMIT,
    LOCKED,
    MEASURED,
    PAID,
    PLACES,
    STAGED,
    Killed,
    Publishing,
    names,
    public,
)

NAMED = pa.table({"id": PLACES, "name": ["Bar", "Café", "Park", "Pier"]})


def own_file(path: Path, content: str) -> None:
    path.touch(mode=0o600)
    path.write_text(content)


class TestTakingUp:
    def test_nothing_was_begun(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(LOCKED)
        assert names(tmp_path) == [".may.publishing", "city.ledger"]
        again(
            mechanism=le.paper.Limit(0.25, max_locations=3, max_visits=2)
        )  # so another request is free to take its place
        assert [float(spend.epsilon or 0) for spend in ledger.history()] == [0.25]
        assert names(tmp_path) == ["city.ledger", "may"]

    def test_nothing_was_begun_and_the_retry_fails(
        self, cut: Callable[..., None], again: Publishing, tmp_path: Path
    ) -> None:
        cut(LOCKED)
        with pytest.raises(BudgetError):
            again(mechanism=le.paper.Limit(11, max_locations=3, max_visits=2), large_epsilon=True)
        assert names(tmp_path) == ["city.ledger"]

    def test_paid(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(PAID)
        [spend] = ledger.history()
        release = again()
        assert ledger.history() == (spend,)
        assert release.statement.ledger is not None
        assert release.statement.ledger.spend_id == spend.id
        assert names(tmp_path) == ["city.ledger", "may"]

    def test_paid_with_the_last_of_the_budget(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger
    ) -> None:
        cut(PAID, mechanism=le.paper.Limit(10, max_locations=3, max_visits=2))
        assert ledger.remaining.epsilon == 0
        again(mechanism=le.paper.Limit(10, max_locations=3, max_visits=2))
        assert len(ledger.history()) == 1

    def test_drawn(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(STAGED)
        [staged] = tmp_path.glob(".may.*.staged")
        drawn = (staged / "release.parquet").read_bytes()
        with pytest.warns(ResumedWarning, match="not read again"):
            again()
        assert (tmp_path / "may" / "release.parquet").read_bytes() == drawn
        assert len(ledger.history()) == 1
        assert le.verify(tmp_path / "may", ledger).ok
        assert names(tmp_path) == ["city.ledger", "may"]

    def test_drawn_without_a_ledger(
        self, cut: Callable[..., None], again: Publishing, tmp_path: Path
    ) -> None:
        cut(STAGED, ledger=None)
        with pytest.warns(ResumedWarning):
            again(ledger=None)
        assert names(tmp_path) == ["city.ledger", "may"]

    def test_named_but_not_noted(
        self, again: Publishing, ledger: le.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        noted = le.Ledger.record_release

        def dead(self: Any, spend: str, release: str, state: Any) -> None:
            if state == "published":
                raise Killed
            noted(self, spend, release, state)

        with monkeypatch.context() as patch:
            patch.setattr(le.Ledger, "record_release", dead)
            with pytest.raises(Killed):
                again()
        spend = ledger.history()[0].id
        assert names(tmp_path) == [f".may.{spend}.measurements", ".may.publishing", "city.ledger", "may"]
        with pytest.warns(ResumedWarning):
            again()
        assert [record.state for record in ledger.releases()] == ["staged", "published"]
        assert names(tmp_path) == ["city.ledger", "may"]

    def test_finishing_twice_changes_nothing(
        self, again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        release = again()
        assert release.statement.ledger is not None
        publication = Publication(
            tmp_path / "may", release.statement.ledger.spend_id, release.statement.release_id
        )
        before = ledger.path.read_bytes()
        publication.finish(ledger)
        publication.finish(ledger)
        assert ledger.path.read_bytes() == before


class TestRefusing:
    @pytest.mark.parametrize("step", [PAID, STAGED])
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"mechanism": le.paper.Limit(0.5, max_locations=3, max_visits=1)}, "parameters"),
            ({"exclude": le.PublicLocations(["bar"])}, "excluded"),
            ({"locations": le.PublicLocations(PLACES[:2])}, "list"),
            ({"about": le.About(title="Other")}, "title"),
            ({"locations": le.PublicLocations(PLACES, provenance="elsewhere")}, "provenance"),
            ({"entropy_unit": "bits"}, "unit"),
            ({"mechanism": le.paper.Baseline(0.5, max_locations=3, max_visits=2)}, "mechanism"),
            ({"about": le.About(description="Other")}, "description"),
            ({"locations": le.PublicLocations(NAMED, location="id", provenance="the register")}, "list"),
            ({"locations": le.Grid(0, 0, 1, 1, 50_000)}, "places"),
            ({"ledger": None}, "ledger"),
        ],
    )
    def test_another_request(
        self,
        step: str,
        change: dict[str, Any],
        words: str,
        cut: Callable[..., None],
        again: Publishing,
        ledger: le.Ledger,
        tmp_path: Path,
    ) -> None:
        """Above all: places that are excluded only now must not come out because they were drawn before."""
        cut(step)
        before = names(tmp_path)
        with pytest.raises(ReleaseError, match=f"differs in .*{words}.*give it up, remove"):
            again(**change)
        assert names(tmp_path) == before
        assert len(ledger.history()) == 1

    def test_another_ledger(self, cut: Callable[..., None], again: Publishing, tmp_path: Path) -> None:
        cut(PAID)
        other = le.Ledger.create(tmp_path / "other.ledger", "others", 4)
        with pytest.raises(ReleaseError, match="differs in ledger"):
            again(ledger=other)
        assert not other.history()

    def test_a_ledger_that_has_forgotten(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        old = ledger.path.read_bytes()
        cut(STAGED)
        ledger.path.write_bytes(old)
        with pytest.warns(ResumedWarning), pytest.raises(LedgerError, match="has no spend"):
            again()
        assert not (tmp_path / "may").exists()

    @pytest.mark.parametrize("harm", ["missing", "changed"])
    def test_a_staged_release_that_is_not_whole(
        self, harm: str, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(STAGED)
        [staged] = tmp_path.glob(".may.*.staged")
        if harm == "missing":
            (staged / "release.csv").unlink()
        else:
            (staged / "release.csv").write_text("")
        [kept] = tmp_path.glob(".may.*.measurements")
        measured = kept.read_bytes()
        with pytest.warns(ResumedWarning):
            again()  # computed again, from the same measurements
        assert le.verify(tmp_path / "may", ledger).ok
        assert (
            read_measurements(tmp_path / "may" / "measurements.parquet")
            .measurements.values["entropy"]
            .tolist()
            == read_measurements(pa.BufferReader(measured)).measurements.values["entropy"].tolist()
        )
        assert len(ledger.history()) == 1

    def test_measurements_that_are_gone(
        self, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(MEASURED)
        [kept] = tmp_path.glob(".may.*.measurements")
        kept.unlink()
        with pytest.raises(ReleaseError, match="two draws tell more than one"):
            again()
        assert len(ledger.history()) == 1

    def test_a_release_that_was_moved_away(
        self, again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        """Killed at the very end, and taken elsewhere: what is left must not pay for another draw."""
        again()
        record = ledger.releases()[0]
        (tmp_path / "may").rename(tmp_path / "shown")
        identity = Request(LIMIT, public()).identity(ledger)
        known = {"spend": record.spend, "release": record.release, "order": identity}
        own_file(tmp_path / ".may.publishing", json.dumps(known))
        with pytest.raises(ReleaseError, match="two draws tell more than one"):
            again()
        assert len(ledger.history()) == 1
        assert not (tmp_path / "may").exists()

    def test_a_mechanism_of_the_same_name_from_elsewhere(self) -> None:
        """Classes outside the package may be called like ours, or like each other."""
        elsewhere = type("Limit", (le.paper.Limit,), {"__module__": "elsewhere"})(
            0.5, max_locations=3, max_visits=2
        )
        ours, other = (Request(each, public()).identity(None) for each in (LIMIT, elsewhere))
        assert (ours["mechanism"], other["mechanism"]) == ("Limit", "elsewhere.Limit")
        assert ours["parameters"] == other["parameters"]

    def test_somebody_else_is_at_it(self, again: Publishing, ledger: le.Ledger, tmp_path: Path) -> None:
        own_file(tmp_path / ".may.publishing", "")
        with (tmp_path / ".may.publishing").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(ReleaseError, match="right now"):
                again()
        assert not ledger.history()


class TestFile:
    @pytest.mark.parametrize("kept", [0, 1, 40, 100])
    def test_cut_off_while_it_was_written(
        self, kept: int, cut: Callable[..., None], again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        cut(LOCKED)
        path = tmp_path / ".may.publishing"
        path.write_bytes(path.read_bytes()[:kept])
        again()
        assert names(tmp_path) == ["city.ledger", "may"]

    @pytest.mark.parametrize(
        "content",
        ["[]", "{}", '{"spend": "x", "release": "../../x", "order": {}}', json.dumps({"order": {}})],
    )
    def test_not_ours(self, content: str, again: Publishing, tmp_path: Path) -> None:
        own_file(tmp_path / ".may.publishing", content)
        with pytest.raises(ReleaseError, match="not a file that an interrupted attempt leaves"):
            again()

    def test_for_its_owner_only(self, cut: Callable[..., None], tmp_path: Path) -> None:
        cut(PAID)
        assert (tmp_path / ".may.publishing").stat().st_mode & 0o777 == 0o600

    def test_links_are_not_followed(self, again: Publishing, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_text("kept")
        (tmp_path / ".may.publishing").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(ReleaseError, match="it is not a plain file"):
            again()
        assert (tmp_path / "elsewhere").read_text() == "kept"

    def test_a_lock_on_a_file_that_is_gone_is_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The holder before us removes the file between our opening and our locking it."""
        path, opened = tmp_path / ".may.publishing", os.open
        removed = []

        def slow(name: Any, *arguments: Any) -> int:
            handle = opened(name, *arguments)
            if not removed:
                removed.append(path.unlink())
            return handle

        monkeypatch.setattr(os, "open", slow)
        handle = publication_file._locked(path, tmp_path / "may")
        assert os.path.samestat(os.fstat(handle), path.stat())
        os.close(handle)
