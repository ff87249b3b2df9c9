"""`locentropy reproduce` as people and scripts run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.forking import locentropy


@pytest.fixture(autouse=True)
def no_gowalla(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCENTROPY_GOWALLA", raising=False)


def test_on_screen(tmp_path: Path) -> None:
    done = locentropy("reproduce", "fig1", "fig3", "--fast", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sensitivity grows with C" in done.stdout
    assert "holds corrected only" in done.stdout
    assert "Skipped: fig3" in done.stderr
    assert "LOCENTROPY_GOWALLA" in done.stderr
    assert "1 million users, not 10 million" in done.stderr
    folder = tmp_path / "reproduction"
    assert {path.name for path in (folder / "figures").iterdir()} == {"fig1.png", "fig1.svg"}
    assert {path.name for path in (folder / "numbers").iterdir()} == {"fig1.parquet", "fig1.csv"}
    assert "<svg" in (folder / "index.html").read_text()
    again = locentropy("reproduce", "fig1", "fig2", "--fast", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "fig1: Global sensitivity by C (1 of 2, was finished)" in again.stderr
    told = json.loads(again.stdout)
    assert told["claims"][0]["verdict"] == "holds corrected only"
    assert told == json.loads((folder / "verdicts.json").read_text())


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    for arguments, code, words in (
        (("fig99",), 2, "fig99"),
        (("fig1", "--out", "mine"), 2, "--out reproduction-2"),
        (("fig1", "--gowalla", "nowhere.txt"), 3, "nowhere.txt: there is no such file"),
    ):
        done = locentropy("reproduce", *arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    assert (tmp_path / "mine" / "index.html").read_text() == "mine"
    assert not (tmp_path / "reproduction").exists()
