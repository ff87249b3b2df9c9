"""Stopped at a chosen moment by a signal: what was spent is not lost, and the same call finishes."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import LedgerError, ReleaseError
from locentropy.publishing.publish import ResumedWarning
from locentropy.release.measurements import KeptMeasurements, read_measurements
from tests.faults.surroundings import PUBLISH, prepare
from tests.forking import RUN, forked
from tests.publishing.making import names

AT = """
import os, signal, sys, threading
from importlib import import_module
number, module, owner, name = int(sys.argv[1]), *sys.argv[2:5]
held = import_module(module)
held = getattr(held, owner) if owner else held
real = getattr(held, name)
def stopped(*arguments, **options):
    os.kill(os.getpid(), number)
    return real(*arguments, **options)
setattr(held, name, stopped)
sys.argv[1:5] = []
from locentropy.cli.main import run
run()
"""
"""Runs a command, and sends its own process a signal when a function is called."""

MOMENTS = {
    "reading": ("locentropy.publishing.publish", "", "open_queries", 0),
    "counted": ("locentropy.publishing.publication", "Publication", "pay", 0),
    "spending": ("locentropy.ledger.store", "Store", "append", 0),
    "spent": ("locentropy.publishing.publish", "", "_cross", 1),
    "drawing": ("locentropy.publishing.draws", "DrawJournal", "append", 1),
    "measured": ("locentropy.publishing.publication", "Publication", "keep", 1),
    "drawn": ("locentropy.release.release", "Release", "of", 1),
    "writing": ("locentropy.release.files", "", "_write", 1),
    "whole": ("locentropy.release.files", "", "_name", 1),
    "staged": ("locentropy.publishing.publication", "", "finish", 1),
}
"""The function, and how many spends there are when it is called."""

LEFT = {
    "reading": set(),
    "counted": set(),
    "spending": {"publishing"},
    "spent": {"publishing", "draws"},
    "drawing": {"publishing", "draws"},
    "measured": {"publishing", "draws"},
    "drawn": {"publishing", "measurements"},
    "writing": {"publishing", "measurements"},
    "whole": {"publishing", "measurements"},
    "staged": {"publishing", "measurements", "staged"},
}
"""What an attempt that was stopped leaves beside its target, by the ends of the names."""


def again(folder: Path, ledger: le.Ledger) -> None:
    """The same call, from Python."""
    visits, places = le.Visits(folder / "visits.csv"), le.PublicLocations(folder / "places.csv")
    le.publish(
        visits, le.paper.Limit(0.5, max_locations=3, max_visits=2), places, out=folder / "may", ledger=ledger
    )


def assert_same_values(one: KeptMeasurements, other: KeptMeasurements) -> None:
    """The same noisy integers for each query."""
    left, right = one.measurements.values, other.measurements.values
    assert left.keys() == right.keys()
    assert all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.filterwarnings(f"ignore::{ResumedWarning.__module__}.{ResumedWarning.__name__}")
@pytest.mark.parametrize(
    ("moment", "number"),
    [(moment, signal.SIGINT) for moment in MOMENTS]
    + [("reading", signal.SIGTERM), ("spending", signal.SIGTERM), ("spending", signal.SIGKILL)]
    + [("whole", signal.SIGKILL)],
)
def test_publishing(moment: str, number: signal.Signals, tmp_path: Path) -> None:
    prepare(tmp_path)
    *where, spends = MOMENTS[moment]
    order = (*PUBLISH, "--ledger", "city.ledger", "--out", "may")
    done = forked(AT, int(number), *where, *order, cwd=tmp_path)
    killed = number == signal.SIGKILL
    assert done.returncode == (-number if killed else 128 + number), done.stderr
    assert "Traceback" not in done.stderr
    assert "may" not in names(tmp_path)
    ledger = le.Ledger.open(tmp_path / "city.ledger")
    assert len(ledger.verify().spends) == spends
    if not killed:
        assert ("Repeat the same call" in done.stderr) == (spends > 0 or moment == "spending")
        left = [name.rsplit(".", 1)[1] for name in names(tmp_path) if name.startswith(".may")]
        assert sorted(left) == sorted(LEFT[moment])
    kept = [read_measurements(path) for path in tmp_path.glob(".may.*.measurements")]
    assert len(kept) == (moment in ("drawn", "writing", "whole", "staged"))
    again(tmp_path, ledger)
    published = read_measurements(tmp_path / "may" / "measurements.parquet")
    for each in kept:
        assert each.release_id == published.release_id
        assert_same_values(each, published)
    assert len(ledger.verify().spends) == 1
    assert names(tmp_path) == ["city.ledger", "may", "places.csv", "visits.csv"]
    assert le.verify(tmp_path / "may", ledger).ok


STARTING = """
import os, signal, sys, threading
real, queries, number = threading.Thread.start, [], int(sys.argv.pop(1))
def start(self):
    real(self)
    queries.append(self)
    if len(queries) == number:
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread.start = start
from locentropy.cli.main import run
run()
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough rows that a query is still at work when it is interrupted."""
    draw, path = np.random.default_rng(0), tmp_path_factory.mktemp("many") / "many.parquet"
    users, places = draw.integers(0, 100_000, 3_000_000), draw.integers(0, 2000, 3_000_000)
    pq.write_table(pa.table({"user": users, "location": places}), path)
    return path


@pytest.mark.parametrize("query", [1, 2, 3])
def test_the_moment_a_query_starts(query: int, many: Path) -> None:
    """A query that nobody waits for would outlive the interpreter, which then aborts (exit code 134)."""
    done = forked(STARTING, query, "entropy", many)
    assert done.returncode == 128 + signal.SIGINT, done.stderr
    assert done.stderr == "Stopped; no half-written file was left behind.\n"


SWALLOWED = """
import os, signal, sys, time
from locentropy.visits import queries
real = queries.engine_for
def swallowing(*arguments, **options):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except BaseException:  # as native code does that calls Python and looks at no error
        print("swallowed", file=sys.stderr)
    return real(*arguments, **options)
queries.engine_for = swallowing
from locentropy.cli.main import run
run()
"""

ADVISE = ("advise", "visits.csv", "--places", "places.csv", "--epsilon", "0.5", "--spend", "0.1")
COMMANDS = {
    "publish": (*PUBLISH, "--ledger", "city.ledger", "--out", "may"),
    "advise": (*ADVISE, "--ledger", "city.ledger"),
    "entropy": ("entropy", "visits.csv", "--ledger", "city.ledger"),
    "evaluate": ("evaluate", "visits.csv", "--places", "places.csv", "--ledger", "city.ledger"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_request_that_a_library_swallows_is_heard_before_anything_is_spent(
    command: str, tmp_path: Path
) -> None:
    prepare(tmp_path)
    before = names(tmp_path)
    done = forked(SWALLOWED, *COMMANDS[command], cwd=tmp_path)
    told = done.stderr.splitlines()
    assert "swallowed" in told
    assert told[-1] == "Stopped; no half-written file was left behind."
    assert done.stdout == ""
    assert done.returncode == 128 + signal.SIGINT
    ledger = le.Ledger.open(tmp_path / "city.ledger").verify()
    assert not ledger.spends
    assert not ledger.evaluations
    assert names(tmp_path) == before


def test_numbers_that_are_drawn_and_gone_are_not_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the ledger could not be told of them; and what is put back is what is published."""
    prepare(tmp_path)
    ledger = le.Ledger.open(tmp_path / "city.ledger")

    def fails(*_: object) -> None:
        raise LedgerError("damaged after the draw")

    with monkeypatch.context() as damaged:
        damaged.setattr(le.Ledger, "record_release", fails)
        with pytest.raises(LedgerError):
            again(tmp_path, ledger)
    [kept] = tmp_path.glob(".may.*.measurements")
    drawn = read_measurements(kept)
    kept.rename(tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match="not drawn again"):
        again(tmp_path, ledger)
    (tmp_path / "elsewhere").rename(kept)
    with pytest.warns(ResumedWarning):
        again(tmp_path, ledger)
    assert_same_values(drawn, read_measurements(tmp_path / "may" / "measurements.parquet"))
    assert len(ledger.verify().spends) == 1


def test_a_dry_run_tells_of_an_attempt_that_was_stopped(tmp_path: Path) -> None:
    prepare(tmp_path)
    *where, _ = MOMENTS["spent"]
    order = (*PUBLISH, "--ledger", "city.ledger", "--out", "may")
    assert forked(AT, int(signal.SIGINT), *where, *order, cwd=tmp_path).returncode == 130
    same = forked(RUN, *order, "--dry-run", cwd=tmp_path)
    assert same.returncode == 0
    assert "has begun and is not finished" in same.stderr
    assert "is free" not in same.stderr
    assert "After this release" not in same.stdout
    other = forked(RUN, *order, "--dry-run", "--entropy-unit", "bits", cwd=tmp_path)
    assert other.returncode == 9
    assert "differs in entropy_unit" in other.stderr
    again(tmp_path, le.Ledger.open(tmp_path / "city.ledger"))
    assert len(le.Ledger.open(tmp_path / "city.ledger").verify().spends) == 1
