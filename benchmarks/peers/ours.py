"""Ours: a full `publish` with a ledger and all files but the page, by one mechanism.

No peer draws a page, so a blank one takes its place. The time that drawing noise took is also given by itself: it is
the price of privacy, whoever pays it.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
from turn import EPSILON, C, M, take_turn

import locentropy as le
from locentropy.privacy.noise import OpenDPNoise
from locentropy.release import files

MECHANISMS = {
    "limit": le.paper.Limit(EPSILON, max_locations=M, max_visits=C),
    "moments": le.Moments(EPSILON, max_locations=M, max_visits=C),
    "shares": le.Shares(EPSILON),
}


class NoiseClock:
    """Counts the time inside every draw."""

    seconds = 0.0

    def __init__(self) -> None:
        for name in ("laplace", "laplace_each", "gaussian", "bernoulli_each"):
            setattr(OpenDPNoise, name, self._timed(getattr(OpenDPNoise, name)))

    def _timed(self, draw: Any) -> Any:
        def timed(*given: Any) -> Any:
            began = time.perf_counter()
            drawn = draw(*given)
            self.seconds += time.perf_counter() - began
            return drawn

        return timed


def main(mechanism: str, folder: Path) -> None:
    patch.object(files, "_page", lambda release: b"").start()
    clock, number = NoiseClock(), itertools.count(1)
    ledger = le.Ledger.create(folder / "ledger", "nobody: these visits are made up", epsilon=10)

    def publish(visits: str, places: str) -> Path:
        clock.seconds = 0.0
        out = folder / f"release-{next(number)}"
        le.publish(
            le.Visits(visits), MECHANISMS[mechanism], le.PublicLocations(places), out=out, ledger=ledger
        )
        return out

    def write(out: Path, path: str) -> None:
        report = le.verify(out, ledger)
        assert report.ok, report
        pq.write_table(le.Release.load(out).to_arrow(), path)

    take_turn(publish, write, ["locentropy", "duckdb", "opendp"], lambda: {"noise_seconds": clock.seconds})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1], Path(scratch))
