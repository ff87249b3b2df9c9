"""GeoParquet without a library for geometry: points as well-known binary, and the file's `geo` metadata.

https://geoparquet.org/releases/v1.1.0/ ; without a `crs` the coordinates are longitude and latitude in WGS 84.
"""

from __future__ import annotations

import json
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

GEOMETRY: Final = "geometry"

_POINT: Final = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])
"""Well-known binary of a point: little endian (1), a point (1), longitude, latitude."""


def points(lat: pa.ChunkedArray, lon: pa.ChunkedArray) -> pa.Array:
    """Points as well-known binary; null where a coordinate is."""
    records = np.empty(len(lat), _POINT)
    records["order"], records["type"] = 1, 1
    for name, column in (("x", lon), ("y", lat)):
        records[name] = pc.fill_null(column, 0.0).to_numpy()
    fixed = pa.Array.from_buffers(
        pa.binary(_POINT.itemsize), len(records), [None, pa.py_buffer(records.tobytes())]
    )
    known = pc.and_(pc.is_valid(lat), pc.is_valid(lon)).combine_chunks()
    return pc.if_else(known, fixed.cast(pa.binary()), pa.scalar(None, pa.binary()))


def metadata(lat: pa.ChunkedArray, lon: pa.ChunkedArray) -> bytes:
    """The value of the file's `geo` key."""
    column: dict[str, object] = {"encoding": "WKB", "geometry_types": ["Point"]}
    known = pc.and_(pc.is_valid(lat), pc.is_valid(lon))
    if pc.any(known, min_count=0).as_py():
        west, east = pc.min_max(lon.filter(known)).as_py().values()
        south, north = pc.min_max(lat.filter(known)).as_py().values()
        column["bbox"] = [west, south, east, north]
    geo = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
    return json.dumps(geo).encode()
