"""Folders and files that may not be read or written: refused in words, before anything is spent where it can be."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import locentropy as le
from locentropy.core.errors import LedgerError, LocentropyError, ReleaseError, SourceError
from locentropy.planning import plan_file
from locentropy.visits.private_log import write_private_log
from tests.faults.surroundings import NOBODY, prepare
from tests.publishing.making import LIMIT, names, public

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, who has no special rights")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of somebody without special rights, whom this process becomes; `closed` may not be written."""
    folder = Path(tempfile.mkdtemp(prefix="read-only-"))
    (folder / "closed").mkdir()
    (folder / "spill").mkdir()
    prepare(folder)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    (folder / "closed").chmod(0o555)
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "spill"))
    # Loads the libraries, which somebody else may not be allowed to read.
    publish(folder, out=None, ledger=None)
    plan_file.write(le.plan(le.Shares(1)), folder / "plan.yaml")
    os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)


def publish(folder: Path, **changes: Any) -> le.Release:
    call: dict[str, Any] = {
        "out": folder / "may",
        "ledger": folder / "city.ledger",
        "visits": folder / "visits.csv",
    }
    call |= changes
    return le.publish(le.Visits(call.pop("visits")), LIMIT, public(), **call)


def spends(folder: Path) -> int:
    return len(le.Ledger.open(folder / "city.ledger").history())


def test_the_target(folder: Path) -> None:
    with pytest.raises(
        ReleaseError, match=r"closed/may: nothing can be written beside it \(Permission denied\)"
    ):
        publish(folder, out=folder / "closed" / "may")
    assert spends(folder) == 0


def test_the_ledger(folder: Path) -> None:
    (folder / "closed").chmod(0o755)
    ledger = le.Ledger.create(folder / "closed" / "other.ledger", "riders", 1)
    (folder / "closed").chmod(0o555)
    with pytest.raises(LedgerError, match="permission"):
        publish(folder, ledger=ledger)
    assert not (folder / "may").exists(), "nothing is drawn without a spend"
    os.seteuid(0)  # who may
    for path in folder.glob(".may*"):
        os.chown(path, 0, 0)  # the record of an attempt is for who began it
    publish(folder, ledger=ledger)
    assert len(ledger.history()) == 1


def test_the_visits(folder: Path) -> None:
    (folder / "visits.csv").chmod(0)
    with pytest.raises(SourceError, match=r"visits\.csv: cannot be opened \(Permission denied\)"):
        publish(folder)
    assert spends(folder) == 0
    assert "may" not in names(folder)


def test_a_folder_of_visits(folder: Path) -> None:
    (folder / "days").mkdir(mode=0)
    with pytest.raises(LocentropyError, match="days"):
        publish(folder, visits=folder / "days")
    assert spends(folder) == 0


def test_where_it_would_spill(folder: Path) -> None:
    with pytest.raises((LocentropyError, OSError), match="closed"):
        publish(folder, resources=le.Resources(spill=folder / "closed"))
    assert spends(folder) == 0


def test_a_private_log_and_a_plan(folder: Path) -> None:
    with pytest.raises(LocentropyError, match="Permission denied"):
        write_private_log(folder / "closed" / "log")
    with pytest.raises(OSError, match="Permission denied"):
        plan_file.write(le.plan(le.Shares(1)), folder / "closed" / "plan.yaml")
    assert names(folder / "closed") == []
