"""Small things to publish."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import locentropy as le
from tests.mechanisms.recording import CrowdQueries

Publishing = Callable[..., le.Release]
LOCKED, PAID = "locentropy.publishing.publish._measure", "locentropy.publishing.publish._cross"
MEASURED = "locentropy.publishing.publish._infer"
STAGED = "locentropy.publishing.publication.finish"
"""Where an attempt is when it gets to a step: nothing begun, paid for, measured, staged."""

PLACES = ["bar", "cafe", "park", "pier"]
LIMIT = le.paper.Limit(epsilon=0.5, max_locations=3, max_visits=2)
ROWS = "uid,venue\n" + "".join(
    f"u{user},{PLACES[user % 3]}\nu{user},{PLACES[user % 2]}\n" for user in range(12)
)


class Killed(BaseException):
    """Stands for SIGKILL where all that it would leave is left."""


def public() -> le.PublicLocations:
    return le.PublicLocations(PLACES, provenance="the register")


def visits_in(folder: Path, rows: str = ROWS) -> le.Visits:
    path = folder / "visits.csv"
    path.write_text(rows)
    return le.Visits(path)


def ledger_in(folder: Path, epsilon: Any = 10, delta: Any = "1e-3") -> le.Ledger:
    return le.Ledger.create(folder / "city.ledger", "riders", epsilon, delta)


@contextmanager
def counted_visits(*_: Any, **__: Any) -> Iterator[CrowdQueries]:
    """In the place of `open_queries`: what an engine would answer, without one."""
    yield CrowdQueries([{1: 4, 2: 1}, {1: 6}, {2: 2}, {}], ids=PLACES)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
