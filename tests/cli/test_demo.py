"""`locentropy demo`: the real thing, on invented people."""

from __future__ import annotations

import re
from pathlib import Path

import locentropy as le
from tests.cli.running import Done
from tests.cli.running import in_process as locentropy
from tests.publishing.making import names


def test_demo_twice(tmp_path: Path) -> None:
    """Beside a folder that is in use, and the second time beside the first."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "city.ledger").write_text("not to be touched")
    folder = tmp_path / "mine-2"
    done = demo(tmp_path)
    assert "exact, NOT PRIVATE" in done.stdout
    assert re.search(r"Off by \d+\.\d\d nats over all places", done.stdout)
    assert "of the intervals hold the exact value" in " ".join(done.stdout.split())
    assert "Without the two months before it would be off by" in " ".join(done.stdout.split())
    assert "Left of the budget of somebody who is there in every month: ε = 1, δ = 0" in done.stdout
    assert "NOT PRIVATE" in done.stderr
    assert names(tmp_path) == ["mine", "mine-2"]
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
    demo(tmp_path)
    assert names(tmp_path) == ["mine", "mine-2", "mine-3"], "each run has a folder of its own"
    assert (tmp_path / "mine" / "city.ledger").read_text() == "not to be touched"
    one, other = (tmp_path / name / "visits.parquet" for name in ("mine-2", "mine-3"))
    assert one.read_bytes() != other.read_bytes(), "other people each time"


def demo(folder: Path) -> Done:
    done = locentropy("demo", "--people", 150, "--out", "mine", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_a_demo_that_cannot_be(tmp_path: Path) -> None:
    done = locentropy("demo", "--people", 0, cwd=tmp_path)
    assert done.returncode == 2
    assert "people" in done.stderr
    assert names(tmp_path) == []
