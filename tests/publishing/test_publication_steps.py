"""What comes before what, and what an attempt that was taken up still knows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.bounds import Bounds
from locentropy.core.errors import BudgetError, EngineError, LedgerError, ReleaseError
from locentropy.core.visit_profile import VisitProfile
from locentropy.privacy.guarantee import Guarantee
from locentropy.publishing import publication_file
from locentropy.publishing import publish as story
from locentropy.publishing.publish import ResumedWarning
from tests.mechanisms.recording import CrowdQueries
from tests.publishing.making import LIMIT, PAID, PLACES, STAGED, Killed, Publishing, names

Cut = Callable[..., None]
NOT_TOLD = "locentropy.ledger.ledger.Ledger.record_release"
HALF_WRITTEN = "locentropy.release.files._write"


class TestDrawnOnce:
    def test_what_was_drawn_by_an_attempt_that_took_another_up(
        self, cut: Cut, again: Publishing, ledger: le.Ledger, tmp_path: Path
    ) -> None:
        """The ledger was not told; that it was drawn is in its file alone."""
        cut(PAID)
        cut(NOT_TOLD)
        [kept] = tmp_path.glob(".may.*.measurements")
        kept.unlink()
        with pytest.raises(ReleaseError, match="two draws tell more than one"):
            again()
        assert len(ledger.history()) == 1

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")])
    def test_stopped_while_the_file_is_told(
        self,
        error: BaseException,
        again: Publishing,
        ledger: le.Ledger,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """It has heard that all is drawn, and the process is stopped before it knows that it has."""
        append = publication_file._append

        def stopped(handle: int, line: bytes) -> None:
            append(handle, line)
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(publication_file, "_append", stopped)
            with pytest.raises(type(error)):
                again()
        with pytest.warns(ResumedWarning):
            again()
        assert len(ledger.history()) == 1
        assert le.verify(tmp_path / "may", ledger).ok

    def test_without_a_ledger(self, cut: Cut, again: Publishing, tmp_path: Path) -> None:
        cut(STAGED, ledger=None)
        [staged] = tmp_path.glob(".may.*.staged")
        shutil.rmtree(staged)
        [kept] = tmp_path.glob(".may.*.measurements")
        kept.unlink()
        with pytest.raises(ReleaseError, match="two draws tell more than one"):
            again(ledger=None)

    @pytest.mark.parametrize("name", ["may", "may[1]", "ma?"])
    def test_half_of_a_release_is_the_beginning_of_one(
        self, name: str, again: Publishing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Numbers may be in it: no other request takes its place."""

        def dead(*_: Any, **__: Any) -> None:
            raise Killed

        out = tmp_path / name
        with monkeypatch.context() as patch:
            patch.setattr(HALF_WRITTEN, dead)
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # the dead remove nothing
            with pytest.raises(Killed):
                again(out=out, ledger=None)
        # Without a ledger nothing else tells of it.
        with pytest.raises(ReleaseError, match="differs in entropy_unit"):
            again(out=out, ledger=None, entropy_unit="bits")
        with pytest.warns(ResumedWarning):
            assert len(again(out=out, ledger=None)) == len(PLACES)


class TestBeforeTheSpend:
    """Whatever fails here costs nothing and leaves nothing."""

    @pytest.fixture(autouse=True)
    def nothing_is_spent(self, again: Publishing, ledger: le.Ledger, tmp_path: Path) -> Iterator[None]:
        yield
        assert not ledger.history()
        assert names(tmp_path) == ["city.ledger"]

    def test_a_budget_that_is_too_small_shows_before_anything_is_read(
        self, again: Publishing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(story, "open_queries", _unread)
        with pytest.raises(BudgetError):
            again(mechanism=le.paper.Limit(11, max_locations=3, max_visits=2), large_epsilon=True)

    def test_a_ledger_that_may_not_be_written_too(
        self, again: Publishing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(story, "open_queries", _unread)
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(LedgerError, match="is not writable"):
            again()

    def test_whoever_reports_can_stop_it_at_the_last_moment(self, again: Publishing) -> None:
        def stop(doing: str, _: float | None) -> None:
            if doing == "Drawing noise":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            again(progress=stop)

    def test_a_selection_is_rehearsed(self, again: Publishing, monkeypatch: pytest.MonkeyPatch) -> None:
        class NoRoom(CrowdQueries):
            def profile(self, bounds: Bounds) -> VisitProfile:
                if bounds.max_visits == 1:
                    raise EngineError("no room for the selection's counts")
                return super().profile(bounds)

        @contextmanager
        def without_room(*_: Any, **__: Any) -> Iterator[CrowdQueries]:
            yield NoRoom([{1: 4}, {2: 3}], ids=PLACES[:2])

        monkeypatch.setattr(story, "open_queries", without_room)
        with pytest.raises(EngineError, match="no room"):
            again(locations=le.SelectLocations(0.5, delta=1e-6, max_locations=3))


def _unread(*_: Any, **__: Any) -> Any:
    raise AssertionError("nothing is read")


def test_the_file_is_on_disk_before_the_spend(again: Publishing, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, sync_folder, spend = os.fsync, publication_file.sync_folder, le.Ledger.spend

    def synced(handle: int) -> None:
        done.append(f"sync {Path(f'/proc/self/fd/{handle}').readlink().name}")
        sync(handle)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(
        publication_file, "sync_folder", lambda folder: (done.append("sync folder"), sync_folder(folder))
    )
    monkeypatch.setattr(
        le.Ledger, "spend", lambda *given, **more: (done.append("spend"), spend(*given, **more))[1]
    )
    again()
    assert done.index("sync .may.publishing") < done.index("sync folder") < done.index("spend")


def test_a_line_that_was_not_written_whole_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ".may.publishing"
    path.write_text("{}")
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, content, at: write(handle, content[:3], at))
    handle = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(OSError, match="No space left"):
            publication_file._append(handle, b"drawn")
        assert publication_file._DRAWN not in path.read_bytes().split(b"\n")
    finally:
        os.close(handle)


def test_a_release_tells_of_its_ledger_as_it_was_after_its_own_spend(
    cut: Cut, again: Publishing, ledger: le.Ledger
) -> None:
    ledger.spend(Guarantee.pure(1), "before")
    cut(PAID)
    ledger.spend(Guarantee.pure(2), "in between")
    note = again().statement.ledger
    assert note is not None
    assert note.spent_epsilon == f"{1 + LIMIT.epsilon}"


def test_a_release_that_is_complete_is_said_to_be(
    again: Publishing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(le.Release, "load", stopped)
        with pytest.raises(KeyboardInterrupt) as caught:
            again()
    assert caught.value.__notes__ == [f"The release is published and complete: {tmp_path / 'may'}"]
    assert le.verify(tmp_path / "may").ok
