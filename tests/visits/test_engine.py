"""The embedded engine: the same answer under any resources, progress, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy_lab.zipf import ZipfVisits
from tests.examples import at_night

SETTINGS = {
    "one thread": le.Resources(threads=1),
    "two threads": le.Resources(threads=2),
    "half a gigabyte": le.Resources(threads=2, memory="500MB"),
    "little memory": le.Resources(threads=1, memory="100MB"),
}


def answers(
    visits: le.Visits, resources: le.Resources, locations: pa.Array | None = None
) -> list[le.private.VisitProfile]:
    with le.private.open_queries(visits, resources=resources, locations=locations) as queries:
        bounds = [le.private.Bounds(5, 5), le.private.Bounds(20, 10), le.private.Bounds(5, 5, "lowest-id")]
        return [*queries.profiles(bounds), queries.exact_profile()]


@pytest.fixture(scope="module")
def sparse() -> pa.Table:
    return ZipfVisits.sparse().table()


@pytest.fixture(scope="module")
def expected(sparse: pa.Table) -> list[le.private.VisitProfile]:
    return answers(le.Visits(sparse), le.Resources())


@pytest.mark.parametrize("setting", SETTINGS)
def test_sparse_is_the_same_under_any_resources(
    setting: str, sparse: pa.Table, expected: list[le.private.VisitProfile]
) -> None:
    for mine, theirs in zip(answers(le.Visits(sparse), SETTINGS[setting]), expected, strict=True):
        assert mine.equals(theirs)


def test_sparse_is_the_same_with_ids_as_texts(sparse: pa.Table) -> None:
    texts = pa.table(
        {name: sparse[name].cast(pa.string()) for name in ("user", "location")} | {"visits": sparse["visits"]}
    )
    numbers = pa.array(range(1, 10_001))
    found = answers(le.Visits(texts), le.Resources(), numbers.cast(pa.string()))
    expected = answers(le.Visits(sparse), le.Resources(), numbers)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.to_arrow().drop_columns("location").equals(theirs.to_arrow().drop_columns("location"))
        assert (mine.index == theirs.index).all()


def test_gowalla_is_the_same_under_any_resources(gowalla: Path) -> None:
    expected = answers(le.Visits(gowalla), le.Resources())
    for resources in SETTINGS.values():
        for mine, theirs in zip(answers(le.Visits(gowalla), resources), expected, strict=True):
            assert mine.equals(theirs)


def test_progress_is_reported(sparse: pa.Table) -> None:
    seen: list[tuple[str, float | None]] = []
    le.private.profile(
        le.Visits(sparse), le.private.Bounds(5, 5), progress=lambda doing, part: seen.append((doing, part))
    )
    assert {doing for doing, _ in seen} >= {"Checking", "Counting visits", "Bounding and counting"}
    assert all(part is None or 0 <= part <= 1 for _, part in seen)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough rows that counting them under little memory takes seconds and spills."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    with pq.ParquetWriter(path, pa.schema([("user", pa.int64()), ("location", pa.int64())])) as writer:
        for start in range(0, 20_000_000, 1_000_000):
            user = pa.array(np.arange(start, start + 1_000_000))
            writer.write_table(pa.table({"user": user, "location": user}))
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, *at_night(signal.SIGHUP)])
def test_interrupting_leaves_nothing_behind(number: signal.Signals, large: Path, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    options = [
        "--memory",
        "300MB",
        "--threads",
        "1",
        "--spill",
        str(spill),
        "--out",
        str(tmp_path / "out.csv"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", "from locentropy.cli.main import run; run()", "entropy", str(large), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(600):
        if process.poll() is not None or list(spill.rglob("*.tmp")):
            break
        time.sleep(0.05)
    assert process.poll() is None, "it was still at work"
    assert [folder.stat().st_mode & 0o777 for folder in spill.iterdir()] == [0o700], (
        "spilled rows are private"
    )
    process.send_signal(number)
    process.send_signal(number)  # an impatient second one must not get in the way of cleaning up
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert list(spill.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spill"]
