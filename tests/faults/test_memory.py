"""Out of memory: the engine says so and nothing was spent; a process that is given none dies, and nothing is lost."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import EngineError
from tests.examples import at_night
from tests.faults.surroundings import PUBLISH, prepare
from tests.publishing.making import LIMIT, names
from tests.publishing.making import PLACES as LISTED

RUN = "from locentropy.cli.main import run; run()"


def test_the_engine(tmp_path: Path) -> None:
    draw, path = np.random.default_rng(0), tmp_path / "many.parquet"
    users = pa.array(draw.integers(0, 1_000_000, 2_000_000)).cast(pa.string())
    pq.write_table(pa.table({"user": users, "location": pa.array(LISTED * 500_000)}), path)
    ledger = le.Ledger.create(tmp_path / "city.ledger", "riders", 1)
    little = le.Resources(memory="5MB", threads=1)
    with pytest.raises(EngineError, match=r"many\.parquet: the engine ran out of memory.*--memory"):
        le.publish(
            le.Visits(path),
            LIMIT,
            le.PublicLocations(LISTED),
            out=tmp_path / "may",
            ledger=ledger,
            resources=little,
        )
    assert not ledger.history()
    assert names(tmp_path) == ["city.ledger", "many.parquet"]


@pytest.mark.parametrize("megabytes", [700, 1000, *at_night(400, 550, 850, 1250, 1500)])
def test_the_process(megabytes: int, tmp_path: Path) -> None:
    """Libraries that get no memory end the process in ways of their own, as the system does when it runs out."""
    prepare(tmp_path)
    limits = {resource.RLIMIT_AS: megabytes << 20, resource.RLIMIT_CORE: 0}

    def limited() -> None:
        for limit, value in limits.items():
            resource.setrlimit(limit, (value, value))

    command = [sys.executable, "-c", RUN, *PUBLISH, "--ledger", "city.ledger", "--out", "may"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limited
    ) as process:
        try:
            process.wait(60)
        except (
            subprocess.TimeoutExpired
        ):  # some library waits for memory: seldom, and then it is for people to stop it
            process.kill()
    ledger = le.Ledger.open(tmp_path / "city.ledger")
    assert len(ledger.verify().spends) <= 1
    if process.returncode != 0:
        assert "may" not in names(tmp_path)
        visits, places = le.Visits(tmp_path / "visits.csv"), le.PublicLocations(tmp_path / "places.csv")
        le.publish(
            visits,
            le.paper.Limit(0.5, max_locations=3, max_visits=2),
            places,
            out=tmp_path / "may",
            ledger=ledger,
        )
    assert len(ledger.verify().spends) == 1
    assert le.verify(tmp_path / "may", ledger).ok
