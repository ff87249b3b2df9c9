"""Small things to publish."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

import locentropy as le
from locentropy.core.window_split import pair_ids
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


MAY = le.Window("2026-05", zone="UTC")


def ledger_in(folder: Path, epsilon: Any = 10, delta: Any = "1e-3", *, monthly: bool = False) -> le.Ledger:
    """A ledger of people; or one per month, in which May has this budget and the person twice as much."""
    if not monthly:
        return le.Ledger.create(folder / "city.ledger", "riders", epsilon, delta)
    person = {"person_epsilon": 2 * epsilon, "person_delta": delta}
    return le.Ledger.create(
        folder / "city.ledger", "riders", epsilon, delta, unit="person-month", large_epsilon=True, **person
    )


@contextmanager
def counted_visits(*_: Any, windows: Any = (), **__: Any) -> Iterator[CrowdQueries]:
    """In the place of `open_queries`: what an engine would answer, without one; the same in every window."""
    crowds: list[Any] = [{1: 4, 2: 1}, {1: 6}, {2: 2}, {}]
    if windows:
        yield CrowdQueries(crowds * len(windows), ids=pair_ids(pa.array(PLACES), windows).to_pylist())
    else:
        yield CrowdQueries(crowds, ids=PLACES)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
