"""Visits at the cells of a map: one rule in Python, called where the rows are.

Squares are found by arithmetic in SQL. For anything else, point in polygon or hexagons, every engine calls the same
`Locator`, so results are the same bit for bit and no engine needs an extension: DuckDB calls it on Arrow batches in
this process, Spark on Arrow batches on its executors, and other backends send their distinct coordinates here.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.core.locations import Locator


def located(locator: Locator, lat: Any, lon: Any) -> pa.Array:
    """The position of each pair of an Arrow column of latitudes and one of longitudes; null where there is none."""
    positions = locator.positions(_degrees(lat), _degrees(lon))
    return pa.array(positions, pa.int64(), mask=positions < 0)


def located_by(locator: Locator) -> Callable[[Any, Any], pa.Array]:
    """The function that DuckDB calls on Arrow batches, in several threads.

    One batch at a time: threads that took turns within a batch, at every call into a library, would wait for each
    other most of the time.
    """
    one_at_a_time = threading.Lock()

    def function(lat: Any, lon: Any) -> pa.Array:
        with one_at_a_time:
            return located(locator, lat, lon)

    return function


def located_batches(locator: Locator, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of visits with the position as their location, without rows that are at none. Runs on executors."""
    for batch in batches:
        positions = located(locator, batch.column("lat"), batch.column("lon"))
        kept = batch.select([name for name in batch.schema.names if name not in ("location", "lat", "lon")])
        yield kept.append_column("location", positions).filter(positions.is_valid())


def engine_function(name: str) -> Any:
    """A function of two numbers that the engine knows by this name, for use in expressions."""
    import ibis  # not on executors, which import this module and need not have it

    def function(lat: float, lon: float) -> int:
        raise AssertionError("runs in the engine")

    function.__name__ = name
    return ibis.udf.scalar.builtin(function, name=name, signature=((float, float), int))


def _degrees(column: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """A column as an array of its own, NaN for null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    degrees: NDArray[np.float64] = whole.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return degrees
