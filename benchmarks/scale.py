"""How a whole `publish` grows with the table: from 1 to 100 million rows on one machine, and on Spark.

    python benchmarks/scale.py                     # embedded: 1, 10 and 100 million rows; engine limited to 2 GB
    python benchmarks/scale.py --engine spark      # local Spark, two threads: 1 and 10 million rows
    python benchmarks/scale.py --rows 100000000 --mechanisms shares

Tables are those of benchmarks/profiles.py: a tenth as many users as rows and a hundredth as many places, both by Zipf's
law; all places are listed. Each release is made in a process of its own, after one of a tiny table, and written to
disk with everything but its page. `noise` is the part of the seconds that drawing noise took, `read` the part from the
file to exact counts. `growth` is the factor from the row above; ten times the rows are ten times the people and places.
Processor time is shown beside wall-clock time, which other work on the machine lengthens.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from profiles import make

SETTINGS = {
    "duckdb": {"memory": "2GB"},
    "spark": {"engine": "spark", "memory": "4GB", "threads": 2},
}
ROWS = {"duckdb": [1_000_000, 10_000_000, 100_000_000], "spark": [1_000_000, 10_000_000]}


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


def turn(rows: int, mechanism: str, engine: str) -> None:
    """One release, in this process; prints what it took."""
    import pyarrow as pa

    import locentropy as le
    from locentropy.privacy.noise import OpenDPNoise
    from locentropy.publishing import publish as publishing
    from locentropy.release import files

    # The page is not part of this measurement; `patch` fails if there is no such function any more.
    patch.object(files, "_page", lambda release: b"").start()
    noise: list[float] = []
    counted: list[float] = []

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

    def release(rows: int) -> None:
        places = le.PublicLocations(pa.table({"location": pa.array(range(max(rows // 100, 1)))}))
        with tempfile.TemporaryDirectory() as folder:
            resources = le.Resources(**SETTINGS[engine])
            le.publish(
                le.Visits(make(rows)), chosen, places, out=f"{folder}/may", resources=resources, ledger=None
            )

    release(10_000)
    noise.clear()
    clock, processor = time.perf_counter(), used()
    release(rows)
    took = {"seconds": time.perf_counter() - clock, "processor": used() - processor}
    took |= {"noise": sum(noise), "read": counted[-1] - clock}
    print(json.dumps(took | {"peak": peak()}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument(
        "--mechanisms", nargs="+", default=["limit", "shares"], choices=["limit", "moments", "shares"]
    )
    parser.add_argument("--engine", default="duckdb", choices=list(SETTINGS))
    parser.add_argument("--turn", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.turn:
        turn(int(chosen.turn[0]), chosen.turn[1], chosen.engine)
        return
    settings = ", ".join(f"{key} {value}" for key, value in SETTINGS[chosen.engine].items())
    print(f"{chosen.engine} ({settings})\n")
    print(
        "| mechanism | rows | seconds | growth | of these reading | noise | processor seconds | growth | peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for mechanism in chosen.mechanisms:
        before: dict[str, float] | None = None
        for rows in chosen.rows or ROWS[chosen.engine]:
            make(rows)
            command = [sys.executable, __file__, "--turn", str(rows), mechanism, "--engine", chosen.engine]
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


if __name__ == "__main__":
    main()
