"""`locentropy verify` as people and scripts run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from locentropy.ledger.ledger import Ledger

from ..release.making import release
from .running import in_process as locentropy


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return release(title="[red]Markup[/red]").save(tmp_path / "out")


def test_a_whole_release(directory: Path) -> None:
    done = locentropy("verify", directory)
    assert done.returncode == 0, done.stderr
    assert "whole, and its files agree" in done.stdout
    assert "ε = 0.3" in done.stdout
    assert "no ledger" in done.stderr


def test_a_changed_release(directory: Path, tmp_path: Path) -> None:
    (directory / "release.csv").write_text("[bold]\x1b[31mhacked")
    ledger = Ledger.create(tmp_path / "city.ledger", "riders", epsilon=4)
    done = locentropy("verify", directory, "--ledger", ledger.path, "--json")
    assert done.returncode == 9
    said = json.loads(done.stdout)
    assert said["ok"] is False
    assert {check["name"] for check in said["checks"] if check["problems"]} == {
        "fingerprints",
        "table",
        "ledger",
    }
    shown = locentropy("verify", directory)
    assert shown.returncode == 9
    assert "BAD  fingerprints" in shown.stdout
    assert "do not rely" in shown.stderr
    assert "\x1b" not in shown.stdout + shown.stderr


def test_what_cannot_be_looked_at(directory: Path, tmp_path: Path) -> None:
    nothing = locentropy("verify", tmp_path / "none")
    assert nothing.returncode == 9
    assert nothing.stderr.count("is not a directory. For example: locentropy verify release") == 1
    assert nothing.stdout == ""
    missing = locentropy("verify", directory, "--ledger", tmp_path / "none")
    assert missing.returncode == 8
    assert "Traceback" not in missing.stderr
    assert "--ledger" in locentropy("verify", "--help").stdout
