"""A ledger that is damaged, moved or timed by a clock that jumps, as publishing meets it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import LedgerError
from locentropy.ledger import entries
from locentropy.publishing import publish as story
from locentropy.publishing.publication import Publication
from tests.publishing.making import LIMIT, counted_visits, ledger_in, names, public


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "open_queries", counted_visits)


def publish(folder: Path, ledger: le.Ledger, name: str = "may") -> le.Release:
    return le.publish(le.Visits("unread.csv"), LIMIT, public(), out=folder / name, ledger=ledger)


def overwritten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[2000:] = bytes(len(content) - 2000)
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE = [overwritten, cut, emptied, Path.unlink]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_before(damage: Callable[[Path], None], tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path)
    damage(ledger.path)
    with pytest.raises(LedgerError, match=r"city\.ledger"):
        publish(tmp_path, ledger)
    assert set(names(tmp_path)) <= {"city.ledger"}, "nothing was begun"


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_between_the_check_and_the_spend(
    damage: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a spend nothing is drawn; with the ledger put back, the same call finishes."""
    ledger = ledger_in(tmp_path)
    whole, pay = ledger.path.read_bytes(), Publication.pay

    def late(self: Publication, *arguments: Any) -> Any:
        damage(ledger.path)
        return pay(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Publication, "pay", late)
        patch.setattr(story, "_cross", None)  # to draw would fail in another way
        with pytest.raises(LedgerError, match=r"city\.ledger") as failed:
            publish(tmp_path, ledger)
    assert "Repeat the same call" in failed.value.__notes__[0]
    assert "may" not in names(tmp_path)
    ledger.path.write_bytes(whole)
    publish(tmp_path, ledger)
    assert len(ledger.verify().spends) == 1
    assert le.verify(tmp_path / "may", ledger).ok


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_after_the_draw(
    damage: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn is not published before the ledger knows of it, and is published once that is back."""
    ledger, stage = ledger_in(tmp_path), Publication.stage
    whole: list[bytes] = []

    def late(self: Publication, *release: Any) -> None:
        stage(self, *release)
        whole.append(ledger.path.read_bytes())
        damage(ledger.path)

    with monkeypatch.context() as patch:
        patch.setattr(Publication, "stage", late)
        with pytest.raises(LedgerError, match=r"city\.ledger"):
            publish(tmp_path, ledger)
    assert "may" not in names(tmp_path)
    ledger.path.write_bytes(whole[0])
    with pytest.warns(story.ResumedWarning):
        publish(tmp_path, ledger)
    assert len(ledger.verify().spends) == 1
    assert le.verify(tmp_path / "may", ledger).ok


@pytest.mark.parametrize("year", [1, 1970, 2038, 9999])
def test_a_clock_that_jumps(year: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are notes for people. What counts is the order of entries."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(year, 1, 1, tzinfo=UTC)

    ledger = ledger_in(tmp_path)
    publish(tmp_path, ledger, "before")
    with monkeypatch.context() as patch:
        patch.setattr(entries, "datetime", Clock)
        publish(tmp_path, ledger, "meanwhile")
    publish(tmp_path, ledger, "after")
    book = ledger.verify()
    assert [spend.number for spend in book.spends] == [1, 2, 3]
    assert float(book.spent.epsilon) == 1.5
    assert str(year) in book.spends[1].time
    for name in ("before", "meanwhile", "after"):
        assert le.verify(tmp_path / name, ledger).ok
        assert str(book.spends[1].time) not in (tmp_path / name / "details.yaml").read_text()
