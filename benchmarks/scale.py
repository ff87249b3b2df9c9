"""How a whole `publish` grows with the table: 1, 10 and 100 million rows, on one machine and on Spark.

    python benchmarks/scale.py --input texts csv numbers             # Shares, on DuckDB and on Spark
    python benchmarks/scale.py --engine duckdb --mechanisms by-hand shares
    python benchmarks/scale.py --engine spark --input texts --rows 1000000
    python benchmarks/scale.py --engine duckdb --input numbers --mechanisms by-hand limit shares
    python benchmarks/scale.py --page

Tables are those of benchmarks/profiles.py: a tenth as many users as rows and a hundredth as many places, both by Zipf's
law; all places are listed. `--input` says how they are stored (inputs.py): whole numbers in Parquet, text ids in
Parquet, or text ids in CSV (on DuckDB alone); files are made once, and those of 100 million rows take 14 GB. DuckDB may
use 2 GB, and a local Spark two threads and 4 GB. Each release is made in a process of its own, after one of a tiny
table, and written to disk with everything but its page, unless `--page` asks for it. `noise` is the part of the seconds
that drawing noise took, `read` the part from the file to exact counts; `by-hand` is the query of peers/duckdb_query.py
under the same limit, on DuckDB. `growth` is the factor from the row above; ten times the rows are ten times the people
and places. Processor time is shown beside wall-clock time, which other work on the machine lengthens.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import duckdb
import psutil

from inputs import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

SETTINGS = {
    "duckdb": {"memory": "2GB"},
    "spark": {"engine": "spark", "memory": "4GB", "threads": 2},
}
ROWS = [1_000_000, 10_000_000, 100_000_000]
MECHANISMS = ["by-hand", "limit", "moments", "shares"]


def used() -> float:
    """Seconds of the processor, of this process and of those below it: Spark is one."""
    here = psutil.Process()
    times = [each.cpu_times() for each in (here, *here.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def peak() -> float:
    """The most memory, in MB, that each of these processes ever had, added up."""
    here = psutil.Process()
    status = [Path(f"/proc/{each.pid}/status").read_text() for each in (here, *here.children(recursive=True))]
    return (
        sum(
            int(line.split()[1]) for text in status for line in text.splitlines() if line.startswith("VmHWM:")
        )
        / 1024
    )


def turn(rows: int, mechanism: str, engine: str, stored: str, *, page: bool) -> None:
    """One release, or the query by hand, in this process; prints what it took."""
    noise: list[float] = []
    counted: list[float] = []
    answer = (
        by_hand(stored)
        if mechanism == "by-hand"
        else release(mechanism, engine, stored, noise, counted, page)
    )
    answer(10_000)
    noise.clear()
    counted.clear()
    clock, processor = time.perf_counter(), used()
    answer(rows)
    seconds = time.perf_counter() - clock
    took = {"seconds": seconds, "processor": used() - processor, "noise": sum(noise)}
    took["read"] = counted[-1] - clock if counted else seconds
    print(json.dumps(took | {"peak": peak()}))


def by_hand(stored: str) -> Callable[[int], object]:
    """The same question without privacy, on DuckDB."""
    sys.path.append(str(Path(__file__).parent / "peers"))
    from duckdb_query import QUERY, TIES

    def query(rows: int) -> pa.Table:
        visits, _ = INPUTS[stored].files(rows)
        with tempfile.TemporaryDirectory() as folder:
            config = {"memory_limit": SETTINGS["duckdb"]["memory"], "temp_directory": folder}
            with duckdb.connect(config=config) as con:
                return con.sql(QUERY.replace("VISITS", visits).replace("TIE", TIES["id"])).to_arrow_table()

    return query


def release(
    mechanism: str, engine: str, stored: str, noise: list[float], counted: list[float], page: bool
) -> Callable[[int], object]:
    """A release; `noise` gets the seconds of each draw, `counted` when exact counts were there."""
    import locentropy as le
    from locentropy.privacy.noise import OpenDPNoise
    from locentropy.publishing import publish as publishing
    from locentropy.release import files

    if not page:  # `patch` fails if there is no such function any more
        patch.object(files, "_page", lambda release: b"").start()

    def laplace(self: OpenDPNoise, *args: Any, draw: Any = OpenDPNoise.laplace) -> Any:
        began = time.perf_counter()
        drawn = draw(self, *args)
        noise.append(time.perf_counter() - began)
        return drawn

    def rehearse(*args: Any, original: Any = publishing._rehearse) -> None:
        original(*args)
        counted.append(time.perf_counter())

    OpenDPNoise.laplace, publishing._rehearse = laplace, rehearse
    chosen = {
        "limit": le.paper.Limit(1.0, max_locations=5, max_visits=5, max_users=10**8),
        "moments": le.Moments(1.0, max_locations=5, max_visits=5, max_users=10**8),
        "shares": le.Shares(1.0, max_users=10**8),
    }[mechanism]

    def publish(rows: int) -> None:
        visits, places = INPUTS[stored].files(rows)
        with tempfile.TemporaryDirectory() as folder:
            listed, resources = le.PublicLocations(places), le.Resources(**SETTINGS[engine], spill=folder)
            le.publish(
                le.Visits(visits), chosen, listed, out=f"{folder}/may", resources=resources, ledger=None
            )

    return publish


def table(engine: str, stored: str, mechanisms: list[str], counts: list[int], *, page: bool) -> None:
    """Print the table of an engine and a way to store the visits."""
    settings = ", ".join(f"{key} {value}" for key, value in SETTINGS[engine].items() if key != "engine")
    print(f"\n{INPUTS[stored].title}; {engine} ({settings}){'; with the page' if page else ''}\n")
    print(
        "| mechanism | rows | seconds | growth | of these reading | noise | processor seconds | growth | peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for mechanism in mechanisms:
        before: dict[str, float] | None = None
        for rows in counts:
            INPUTS[stored].files(rows)
            command = [sys.executable, __file__, "--turn", str(rows), mechanism, "--engine", engine]
            command += ["--input", stored, *(["--page"] if page else [])]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(done.stderr)
            took: dict[str, float] = json.loads(done.stdout)
            growth = [
                "" if before is None else f"× {took[key] / before[key]:.1f}"
                for key in ("seconds", "processor")
            ]
            print(
                f"| {mechanism} | {rows:,} | {took['seconds']:.1f} | {growth[0]} | {took['read']:.1f} | "
                f"{took['noise']:.1f} | {took['processor']:.1f} | {growth[1]} | {took['peak']:,.0f} |",
                flush=True,
            )
            before = took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--mechanisms", nargs="+", default=["shares"], choices=MECHANISMS)
    parser.add_argument("--engine", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--input", nargs="+", default=["texts", "csv"], choices=list(INPUTS))
    parser.add_argument("--page", action="store_true", help="draw the page too")
    parser.add_argument("--turn", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.turn:
        turn(int(chosen.turn[0]), chosen.turn[1], chosen.engine[0], chosen.input[0], page=chosen.page)
        return
    for engine in chosen.engine:
        for stored in (each for each in chosen.input if (engine, each) != ("spark", "csv")):
            table(engine, stored, chosen.mechanisms, chosen.rows, page=chosen.page)


if __name__ == "__main__":
    main()
