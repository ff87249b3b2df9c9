"""Visits at the cells of a map: one rule in Python, called where the rows are.

Squares are found by arithmetic in SQL. For anything else, point in polygon or hexagons, every engine calls the same
`Locator`, so results are the same bit for bit and no engine needs an extension: rows stream through it as Arrow
batches, in this process with DuckDB and on the executors with Spark. Other backends send their distinct coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.core.locations import Locator


def located(locator: Locator, lat: Any, lon: Any) -> pa.Array:
    """The position of each pair of an Arrow column of latitudes and one of longitudes; null where there is none."""
    positions = locator.positions(_degrees(lat), _degrees(lon))
    return pa.array(positions, pa.int64(), mask=positions < 0)


def located_batches(locator: Locator, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of visits with the position as their location, without rows that are at none."""
    for batch in batches:
        positions = located(locator, batch.column("lat"), batch.column("lon"))
        kept = batch.select([name for name in batch.schema.names if name not in ("location", "lat", "lon")])
        yield kept.append_column("location", positions).filter(positions.is_valid())


def _degrees(column: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """A column as an array of its own, NaN for null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    degrees: NDArray[np.float64] = whole.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return degrees
