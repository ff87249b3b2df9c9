"""Ours as people run it: the whole command, from starting Python to the last file, page and ledger included."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from turn import EPSILON, take_turn

import locentropy as le


def main(mechanism: str, folder: Path) -> None:
    number = itertools.count(1)
    ledger = folder / "ledger"
    le.Ledger.create(ledger, "nobody: these visits are made up", epsilon=10)

    def publish(visits: str, places: str) -> Path:
        out = folder / f"release-{next(number)}"
        command = [sys.executable, "-m", "locentropy", "publish", visits, "--places", places]
        command += [
            "--mechanism",
            mechanism,
            "--epsilon",
            str(EPSILON),
            "--ledger",
            str(ledger),
            "--out",
            str(out),
        ]
        subprocess.run(command, check=True, capture_output=True)
        return out

    def write(out: Path, path: str) -> None:
        report = le.verify(out, le.Ledger.open(ledger))
        assert report.ok, report
        pq.write_table(le.Release.load(out).to_arrow(), path)

    take_turn(publish, write, ["locentropy", "duckdb", "opendp"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1], Path(scratch))
