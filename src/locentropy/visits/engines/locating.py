"""Visits at the cells of a map: one rule in Python, called where the rows are.

Squares are found by arithmetic in SQL. For anything else, point in polygon or hexagons, every engine calls the same
`Locator`, so results are the same bit for bit and no engine needs an extension: rows stream through it as Arrow
batches, in this process with DuckDB and on the executors with Spark. Other backends send their distinct coordinates.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.core.locations import Locator

_MAX_THREADS: Final = 4


def located(locator: Locator, lat: Any, lon: Any) -> pa.Array:
    """The position of each pair of an Arrow column of latitudes and one of longitudes; null where there is none."""
    positions = locator.positions(_degrees(lat), _degrees(lon))
    return pa.array(positions, pa.int64(), mask=positions < 0)


def located_batches(locator: Locator, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of visits with the position as their location, without rows that are at none."""
    return map(partial(_located_batch, locator), batches)


def located_ahead(
    locator: Locator, batches: Iterable[pa.RecordBatch], threads: int
) -> Iterator[pa.RecordBatch]:
    """The same by several threads, each with a batch of its own.

    NumPy and Shapely let other threads run while they compute. More than a few would wait for the interpreter, and
    batches that are under way take memory that the engine knows nothing of.
    """
    threads = min(threads, _MAX_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[pa.RecordBatch]] = deque()
        for batch in batches:
            ahead.append(pool.submit(_located_batch, locator, batch))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _located_batch(locator: Locator, batch: pa.RecordBatch) -> pa.RecordBatch:
    positions = located(locator, batch.column("lat"), batch.column("lon"))
    kept = batch.select([name for name in batch.schema.names if name not in ("location", "lat", "lon")])
    return kept.append_column("location", positions).filter(positions.is_valid())


def _degrees(column: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """A column as an array of its own, NaN for null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    degrees: NDArray[np.float64] = whole.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return degrees
