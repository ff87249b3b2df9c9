"""A disk that is full, a real one: an error that names what could not be written, and nothing is lost."""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import EngineError, LedgerError, ReleaseError
from locentropy.publishing.publication import ResumedWarning
from tests.faults.surroundings import PUBLISH, leave_free, prepare, small_disk
from tests.forking import locentropy
from tests.publishing.making import LIMIT, names, public, visits_in

FULL = "No space left on device"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    prepare(tmp_path)
    with small_disk(tmp_path / "disk", kilobytes=1024) as disk:
        yield disk


def test_no_room_for_anything_costs_nothing(disk: Path, tmp_path: Path) -> None:
    leave_free(disk, 0)
    call = (*PUBLISH, "--ledger", "city.ledger", "--out", "disk/may")
    done = locentropy(*call, cwd=tmp_path)
    assert done.returncode == ReleaseError.exit_code
    assert f"disk/may: nothing can be written beside it ({FULL})" in done.stderr
    assert "has begun" not in done.stderr
    assert not le.Ledger.open(tmp_path / "city.ledger").history()
    assert names(disk) == ["ballast"]


def test_what_is_told(disk: Path, tmp_path: Path) -> None:
    leave_free(disk, 8)
    done = locentropy(*PUBLISH, "--ledger", "city.ledger", "--out", "disk/may", cwd=tmp_path)
    assert done.returncode == 1
    assert re.search(rf"disk/\.may\..*: {FULL}", done.stderr), "what could not be written"
    assert "Repeat the same call" in done.stderr


@contextmanager
def _resuming() -> Iterator[None]:
    """That an attempt goes on with what an earlier one has drawn is not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumedWarning)
        yield


@pytest.mark.parametrize("kilobytes", [4, 8, 60])
def test_no_room_for_the_release(kilobytes: int, disk: Path, tmp_path: Path) -> None:
    ledger = le.Ledger.open(tmp_path / "city.ledger")

    def publish() -> None:
        le.publish(visits_in(tmp_path), LIMIT, public(), out=disk / "may", ledger=ledger)

    leave_free(disk, kilobytes)
    for _ in range(2):
        with _resuming(), pytest.raises(OSError, match=FULL) as failed:
            publish()
        assert "Repeat the same call" in failed.value.__notes__[0]
        [spend] = ledger.history()
        drawn = [name for name in names(disk) if name.startswith(f".may.{spend.id}.")]
        left = [name for name in names(disk) if name not in drawn]
        assert left == [".may.publishing", "ballast"], "no half of a release"
        assert all(name.endswith((".draws", ".measurements")) for name in drawn), drawn
    leave_free(disk, 500)
    with _resuming():
        publish()
    assert len(ledger.history()) == 1
    assert names(disk) == ["ballast", "may"]
    assert le.verify(disk / "may", ledger).ok


@pytest.mark.parametrize("kilobytes", [0, 4, 8])
def test_no_room_for_the_spend(kilobytes: int, disk: Path, tmp_path: Path) -> None:
    ledger = le.Ledger.create(disk / "small.ledger", "riders", 1)

    def publish() -> None:
        le.publish(visits_in(tmp_path), LIMIT, public(), out=tmp_path / "may", ledger=ledger)

    before = ledger.path.read_bytes()
    leave_free(disk, kilobytes)
    with pytest.raises(LedgerError, match=r"disk/small\.ledger cannot be read or written"):
        publish()
    assert names(disk) == ["ballast", "small.ledger"]
    assert ledger.path.read_bytes() == before
    assert not (tmp_path / "may").exists()
    leave_free(disk, 200)
    publish()
    assert len(ledger.verify().spends) == 1
    assert le.verify(tmp_path / "may", ledger).ok


@pytest.mark.parametrize(
    "command",
    [
        ("entropy", "visits.csv", "--out", "disk/exact.csv"),
        ("entropy", "visits.csv", "--out", "disk/exact.parquet"),
        ("check", "visits.csv", "--epsilon", "1", "--places", "places.csv", "--out", "disk/found.txt"),
        ("plan", "--epsilon", "1", "--n-locations", "4", "--out", "disk/plan.yaml"),
        ("ledger", "create", "disk/new.ledger", "--population", "riders", "--epsilon", "1"),
    ],
)
def test_other_commands_leave_nothing(command: tuple[str, ...], disk: Path, tmp_path: Path) -> None:
    leave_free(disk, 0)
    done = locentropy(*command, cwd=tmp_path)
    assert done.returncode in (1, LedgerError.exit_code)
    assert "Error: disk" in done.stderr, "it says where"
    assert "Traceback" not in done.stderr
    assert names(disk) == ["ballast"]


def test_no_room_to_spill(disk: Path, tmp_path: Path) -> None:
    """What the engine cannot keep in memory goes to disk; where that is full, nothing is spent."""
    users = pa.array(range(1_000_000))
    pq.write_table(pa.table({"user": users, "location": users}), tmp_path / "many.parquet")
    ledger = le.Ledger.open(tmp_path / "city.ledger")
    with pytest.raises(EngineError, match=r"many\.parquet.*(memory|space)"):
        le.publish(
            le.Visits(tmp_path / "many.parquet"),
            LIMIT,
            le.SelectLocations(0.5, delta=1e-6, max_locations=3),
            out=tmp_path / "may",
            ledger=ledger,
            resources=le.Resources(memory="30MB", threads=1, spill=disk),
        )
    assert not ledger.history()
    assert names(disk) == []
    assert "may" not in names(tmp_path)


def test_a_claim_that_is_written_by_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a claim would be taken for none by the retry, which would spend again."""
    prepare(tmp_path)
    ledger, pwrite = le.Ledger.open(tmp_path / "city.ledger"), os.pwrite

    def half(handle: int, content: bytes, at: int) -> int:
        return pwrite(handle, content[: len(content) // 2], at)

    call: dict[str, Any] = {"out": tmp_path / "may", "ledger": ledger}
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", half)
        with pytest.raises(ReleaseError, match=os.strerror(errno.ENOSPC)):
            le.publish(visits_in(tmp_path), LIMIT, public(), **call)
    assert not ledger.history()
    assert ".may.publishing" not in names(tmp_path)
