"""The paper's three data sets: Sparse and Dense are drawn, Gowalla is read from a file of the user's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ColumnError, SourceError
from locentropy.visits.columns import BY_ID
from locentropy.visits.engines.base import Resources
from locentropy.visits.visits import Visits
from locentropy_lab.reproduction.data_counts import Chunk, count
from locentropy_lab.zipf import USERS_PER_CHUNK, ZipfVisits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locentropy.visits.engines.base import Progress
    from locentropy_lab.reproduction.data_counts import DataCounts
    from locentropy_lab.reproduction.settings import Settings

SPARSE: Final = "sparse"
DENSE: Final = "dense"
GOWALLA: Final = "gowalla"

NEW_YORK: Final = {"lat": (40.6991117951, 40.7965600333), "lon": (-74.0270912647, -73.9228093667)}
"""The box in which Gowalla's check-ins are those of the paper."""


_COUNTED: Final = 2
"""Which counts are kept of a data set: another number where other things are counted."""


def identity(name: str, settings: Settings, gowalla: Path | None) -> dict[str, Any]:
    """What decides the counts of a data set: results are kept under it."""
    told: dict[str, Any] = {
        "data": name,
        "m": settings.all_m,
        "c": settings.most_visits,
        "epsilons": (*settings.epsilons, settings.epsilon),
        "counted": _COUNTED,
    }
    if name == GOWALLA:
        assert gowalla is not None  # noqa: S101  # asked for only where there is a file
        return told | {"file": hashlib.sha256(gowalla.read_bytes()).hexdigest()}
    return told | {
        "users": _users(name, settings), "locations": settings.locations, "seed": settings.data_seed
    }  # fmt: skip


def counted(name: str, settings: Settings, gowalla: Path | None, progress: Progress) -> DataCounts:
    """Draw or read a data set and count it."""
    if name == GOWALLA:
        assert gowalla is not None  # noqa: S101
        progress("Counting Gowalla", None)
        return _gowalla(gowalla, settings, progress)
    data = ZipfVisits(_users(name, settings), settings.locations, seed=settings.data_seed)
    chunks = -(-data.users // USERS_PER_CHUNK)
    done = 0

    def counted_one() -> None:
        nonlocal done
        done += 1
        progress(f"Counting {name.capitalize()}", done / chunks)

    progress(f"Counting {name.capitalize()}", 0.0)
    ids = np.arange(1, settings.locations + 1)
    return count(name, _chunks(data), ids, settings, "most-visited", counted_one)


def _users(name: str, settings: Settings) -> int:
    return settings.dense_users if name == DENSE else settings.sparse_users


def _chunks(data: ZipfVisits) -> Iterator[Chunk]:
    for table in data.chunks():
        totals = table.group_by("user").aggregate([("visits", "sum")])["visits_sum"]
        yield Chunk(Visits(table), pc.max(totals).as_py())


def _gowalla(path: Path, settings: Settings, progress: Progress) -> DataCounts:
    table = new_york(path, progress)
    ids = np.sort(table["location"].unique().to_numpy())
    totals = table.group_by("user").aggregate([([], "count_all")])["count_all"]
    return count(GOWALLA, [Chunk(Visits(table), pc.max(totals).as_py())], ids, settings, "first")


def new_york(path: Path, progress: Progress | None = None) -> pa.Table:
    """The check-ins of a Gowalla file that lie within the paper's box, as (user, time, location).

    Takes SNAP's original text file, or an extract of it with named columns.
    """
    from locentropy.visits.engines.duckdb import DuckDBEngine

    original = path.name.removesuffix(".gz").endswith(".txt")
    visits = Visits(path, format="gowalla" if original else None)
    try:
        opened = DuckDBEngine(visits, (*BY_ID, "time", "lat", "lon"), Resources(), progress)
    except ColumnError as error:
        raise SourceError(
            f"{error} Expected SNAP's loc-gowalla_totalCheckins.txt.gz, or a table with the columns user, time, lat, "
            "lon, location."
        ) from None
    with opened as engine:
        rows = engine.visits
        for role, (low, high) in NEW_YORK.items():
            rows = rows.filter(rows[role].between(low, high))
        table = engine.run(rows.select("user", "time", "location"), "Cutting out New York")
    if not len(table):
        raise SourceError(f"{path}: no check-in lies within New York.")
    return _with_numbers(table, path)


def _with_numbers(table: pa.Table, path: Path) -> pa.Table:
    """With locations as numbers, whose order is that of the paper's experiments; text files hold them as texts."""
    try:
        numbers = pc.cast(table["location"], pa.int64())
    except pa.ArrowInvalid:
        raise SourceError(f"{path}: the locations of Gowalla are whole numbers, and these are not.") from None
    return table.set_column(table.schema.get_field_index("location"), "location", numbers)
