"""`locentropy demo`: the real thing, on invented people."""

from __future__ import annotations

import re
from pathlib import Path

import locentropy as le
from tests.cli.running import in_process as locentropy
from tests.publishing.making import names


def test_demo_twice(tmp_path: Path) -> None:
    for number, folder in enumerate((tmp_path / "demo", tmp_path / "demo-2"), start=1):
        done = locentropy("demo", "--people", 300, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "exact, NOT PRIVATE" in done.stdout
        assert re.search(r"Off by \d+\.\d\d nats over all places", done.stdout)
        assert "of the intervals hold the exact value" in " ".join(done.stdout.split())
        assert "Without the two months before it would be off by" in " ".join(done.stdout.split())
        assert "Left of the budget of somebody who is there in every month: ε = 1, δ = 0" in done.stdout
        assert "NOT PRIVATE" in done.stderr
        assert len(names(tmp_path)) == number, "each run has a folder of its own"
        assert names(folder) == [
            "2026-01",
            "2026-02",
            "2026-03",
            "changes.csv",
            "city.ledger",
            "districts.geojson",
            "places.csv",
            "visits.parquet",
        ]
        ledger = le.Ledger.open(folder / "city.ledger")
        assert len(ledger.history()) == 3
        report = le.verify(folder / "2026-03", ledger)
        assert report.ok
        assert not any("Not all was checked" in note for note in report.notes)
        release = le.Release.load(folder / "2026-03")
        page = (folder / "2026-03" / "report-2026-03.html").read_text()
        assert all(f">{month}</a>" in page for month in ("2026-01", "2026-02", "2026-03"))
        assert len(release) == 400, "visited or not"
        assert (release.statement.mechanism, release.statement.estimand) == ("Shares", "true")
    one, other = (tmp_path / name / "visits.parquet" for name in ("demo", "demo-2"))
    assert one.read_bytes() != other.read_bytes(), "other people each time"


def test_demo_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "city.ledger").write_text("not to be touched")
    assert locentropy("demo", "--people", 50, "--out", tmp_path / "mine").returncode == 0
    assert (tmp_path / "mine" / "city.ledger").read_text() == "not to be touched"
    assert names(tmp_path) == ["mine", "mine-2"]


def test_a_demo_that_cannot_be(tmp_path: Path) -> None:
    done = locentropy("demo", "--people", 0, cwd=tmp_path)
    assert done.returncode == 2
    assert "people" in done.stderr
    assert names(tmp_path) == []
