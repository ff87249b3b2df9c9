"""Executors that are killed while they count: the profile is the same, and nothing is spent twice.

Where all of Spark is killed there is nothing to go on with: an error says so.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.shares import ShareRule
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS
from locentropy.visits.engines.spark import SparkEngine

from . import agreeing


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two executors in processes of their own, on loopback, with one core each."""
    agreeing.require_java()
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": agreeing.SHORT_LIVED_JAVA,
        "spark.local.dir": str(tmp_path),
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", agreeing.SHORT_LIVED_JAVA)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def executors() -> list[psutil.Process]:
    """The executors that this process started, by way of Java."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # one that ends while it is looked at
            if "CoarseGrainedExecutorBackend" in " ".join(each.cmdline()):
                found.append(each)
    return found


def kill_one() -> None:
    victims = executors()
    assert victims, "there is an executor to kill"
    os.kill(victims[0].pid, signal.SIGKILL)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits"
    path.mkdir()
    table, size = agreeing.sparse(agreeing.SOME), agreeing.SOME // 4
    for part in range(4):
        pq.write_table(table.slice(part * size, size), path / f"{part}.parquet")
    return path


def test_an_executor_killed_while_it_works(cluster: Any, visits: Path) -> None:
    """A thread waits for tasks to run, and kills one executor under them; then once more."""
    killed: list[int] = []
    over = threading.Event()

    def killer() -> None:
        while not over.is_set() and len(killed) < 2:
            tracker = cluster.sparkContext.statusTracker()
            running = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if (
                any(info is not None and info.numActiveTasks > 0 for info in running)
                and len(executors()) == 2
            ):
                kill_one()
                killed.append(1)
                over.wait(3)
            time.sleep(0.05)

    bounds = [le.private.Bounds(5, 5), le.private.Bounds(2, 3, "lowest-id")]
    rule = ShareRule(2**20, 2**20, LOOK_WEIGHTS)
    with le.private.open_queries(le.Visits(visits)) as embedded:
        expected = [*embedded.profiles(bounds), embedded.look(rule)]
    thread = threading.Thread(target=killer, daemon=True)
    thread.start()
    try:
        with le.private.open_queries(le.Visits(visits), resources=le.Resources(session=cluster)) as queries:
            found = [*queries.profiles(bounds), queries.look(rule)]
    finally:
        over.set()
        thread.join()
    assert killed, "an executor was killed while it worked"
    for mine, theirs in zip(found[:-1], expected[:-1], strict=True):
        assert mine.equals(theirs)  # type: ignore[arg-type]
    assert np.array_equal(found[-1], expected[-1])  # type: ignore[arg-type]


def test_what_a_dead_executor_held_is_counted_again_and_paid_once(
    cluster: Any, visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pairs are in the executors' memory when one dies, between two queries of one release."""
    keep, killed = SparkEngine.materialize, []

    def keep_and_lose(self: SparkEngine, name: str, expression: Any, doing: str) -> Any:
        kept = keep(self, name, expression, doing)
        if name == "pairs":
            self.run(kept.aggregate(rows=kept.count()), doing)
            kill_one()
            killed.append(name)
        return kept

    monkeypatch.setattr(SparkEngine, "materialize", keep_and_lose)
    book = le.Ledger.create(tmp_path / "city.ledger", "the city", epsilon=1)
    places = le.PublicLocations(pa.table({"location": list(range(1, 10_001))}))
    le.publish(
        le.Visits(visits),
        le.Shares(0.5),
        places,
        out=tmp_path / "may",
        ledger=book,
        resources=le.Resources(session=cluster),
    )
    assert killed == ["pairs"]
    assert book.read().spent.epsilon == Fraction(1, 2)


WITHOUT_JAVA = """
import psutil
from locentropy.cli.entry import run
from locentropy.visits.engines.spark import SparkEngine

real = SparkEngine.materialize

def materialize(*given):
    for each in psutil.Process().children(recursive=True):
        if each.name() == "java":
            each.kill()
            each.wait()
    return real(*given)

SparkEngine.materialize = materialize
run()
"""


def test_java_killed_in_the_middle(visits: Path, tmp_path: Path) -> None:
    """As a system does that runs out of memory: an error that says so, and nothing is spent."""
    agreeing.require_java()
    book = le.Ledger.create(tmp_path / "city.ledger", "the city", epsilon=1)
    pq.write_table(pa.table({"location": list(range(1, 101))}), tmp_path / "places.parquet")
    command = [sys.executable, "-c", WITHOUT_JAVA, "publish", str(visits), "--engine", "spark"]
    command += ["--memory", "1GB", "--places", str(tmp_path / "places.parquet"), "--epsilon", "1"]
    command += ["--ledger", str(tmp_path / "city.ledger"), "--out", str(tmp_path / "may")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 6, done.stderr
    assert f"{visits}: Spark ended in the middle of its work" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert book.read().spent.epsilon == 0
    assert not (tmp_path / "may").exists()
