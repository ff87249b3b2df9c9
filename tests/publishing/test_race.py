"""Many processes at once: never more than the budget, never two in one directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import locentropy as le
from tests.examples import at_night
from tests.publishing.making import MAY, names
from tests.publishing.test_crash import ROOT


def raced(folder: Path, targets: int, how: str) -> dict[str, int]:
    """How often each exit code occurred."""
    command = [sys.executable, "-m", "tests.publishing.racing", str(folder), str(targets), how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    codes: dict[str, int] = json.loads(done.stdout)
    return codes


@pytest.mark.parametrize("how", ["monthly", *at_night("counted", "engine")])
def test_sixteen_race_for_ten(how: str, tmp_path: Path) -> None:
    assert raced(tmp_path, 16, how) == {"0": 10, "7": 6}
    ledger = le.Ledger.open(tmp_path / "city.ledger")
    book = ledger.verify()
    assert book.remaining_in(MAY).epsilon == 0
    assert book.remaining.epsilon == (5 if how == "monthly" else 0), "the person, who has ten, has five left"
    made = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(made) == len(ledger.history()) == 10
    assert all(le.verify(path, ledger).ok for path in made)
    assert names(tmp_path) == sorted(["city.ledger", "visits.csv", *(path.name for path in made)])


@pytest.mark.parametrize("how", ["counted", *at_night("monthly", "engine")])
def test_sixteen_race_for_one_directory(how: str, tmp_path: Path) -> None:
    assert raced(tmp_path, 1, how) == {"0": 1, "9": 15}
    ledger = le.Ledger.open(tmp_path / "city.ledger")
    assert len(ledger.history()) == 1, "who comes too late spends nothing"
    assert le.verify(tmp_path / "release-0", ledger).ok
    assert names(tmp_path) == ["city.ledger", "release-0", "visits.csv"]
