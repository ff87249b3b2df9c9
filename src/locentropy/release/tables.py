"""The published table as Parquet and as CSV, and back.

With coordinates the Parquet file is a GeoParquet file: a further column, `geometry`, repeats them as points, or has the
outlines of zones and cells.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from locentropy.core.errors import ReleaseError
from locentropy.core.parquet import TooLargeError, read_bounded
from locentropy.release.level_words import level_words
from locentropy.release.outlines import bounds_of, has_outlines
from locentropy.release.statement import NOT_PRIVATE

if TYPE_CHECKING:
    from pathlib import Path

    from locentropy.release.statement import Statement

GEOMETRY: Final = "geometry"
"""The column that only the Parquet file has."""

_POINT: Final = np.dtype([("order", "u1"), ("type", "<u4"), ("x", "<f8"), ("y", "<f8")])
"""Well-known binary of a point: little endian (1), a point (1), longitude, latitude."""


KEY: Final = b"locentropy"
"""Of the Parquet file's metadata: what is said about the release, in short."""

_BLOCK: Final = 1 << 24
"""Bytes that the CSV reader takes at a time; no row may be longer."""


def parquet_of(table: pa.Table, statement: Statement, outlines: pa.Array | None = None) -> pa.Buffer:
    """The Parquet file, with what it says about itself in its metadata."""
    about = {KEY: json.dumps(summary(statement), ensure_ascii=False).encode()}
    if outlines is not None:
        about[b"geo"] = outlines_metadata(outlines)
        table = table.append_column(GEOMETRY, outlines.cast(pa.binary()))
    elif "lat" in table.column_names:
        about[b"geo"] = geo_metadata(table["lat"], table["lon"])
        table = table.append_column(GEOMETRY, points(table["lat"], table["lon"]))
    # Texts about places repeat, as their categories do. Ids and numbers do not, and looking takes most of the time.
    repeated = [
        name for name in table.column_names if pa.types.is_string(table[name].type) and name != "location"
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(about), sink, use_dictionary=repeated)
    return sink.getvalue()


def summary(statement: Statement) -> dict[str, str]:
    """What the Parquet file says about itself, for readers who have only this file."""
    marked = {} if statement.private else {"status": NOT_PRIVATE}
    return marked | {
        "release_id": statement.release_id,
        "title": statement.title,
        **({} if statement.part is None else {"level": level_words(statement)}),
        "guarantee": str(statement.guarantee),
        "mechanism": statement.mechanism,
        "estimand": statement.estimand,
        "unit": statement.entropy_unit,
        "more": "manifest.yaml and details.yaml, published with this file",
    }


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


def geo_metadata(lat: pa.ChunkedArray, lon: pa.ChunkedArray) -> bytes:
    """The value of the file's `geo` key."""
    column: dict[str, object] = {"encoding": "WKB", "geometry_types": ["Point"]}
    known = pc.and_(pc.is_valid(lat), pc.is_valid(lon))
    if pc.any(known, min_count=0).as_py():
        west, east = pc.min_max(lon.filter(known)).as_py().values()
        south, north = pc.min_max(lat.filter(known)).as_py().values()
        column["bbox"] = [west, south, east, north]
    geo = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
    return json.dumps(geo).encode()


def outlines_metadata(outlines: pa.Array | pa.ChunkedArray) -> bytes:
    """The value of the file's `geo` key where geometry is outlines; raises ReleaseError unless they can be read."""
    column = {"encoding": "WKB", "geometry_types": ["Polygon", "MultiPolygon"], "bbox": bounds_of(outlines)}
    geo = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
    return json.dumps(geo).encode()


def outlines_in(table: pa.Table, statement: Statement) -> pa.Array | None:
    """The outlines in a Parquet file, where the statement says that there are some."""
    if not has_outlines(statement) or GEOMETRY not in table.column_names:
        return None
    outlines = table[GEOMETRY].combine_chunks()
    bounds_of(outlines)
    return outlines


def csv_of(table: pa.Table) -> pa.Buffer:
    """The CSV file: texts in quotes, withheld values empty, every digit of a number.

    Texts are written as they are, also those that a spreadsheet would take for a formula: they are join keys, and a
    changed key joins nothing. The documentation and `verify` warn of them.
    """
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()


def read_parquet(path: Path) -> pa.Table:
    """The Parquet file with its geometry and metadata."""
    try:
        return _sound(read_bounded(path))
    except TooLargeError:
        raise ReleaseError(
            f"{path} unpacks to a table that is much larger than a release of its size."
        ) from None
    except Exception as error:  # a file may hold anything, and its reader may fail in any way
        raise ReleaseError(f"{path} cannot be read as a Parquet file: {type(error).__name__}.") from None


def read_csv(path: Path, schema: pa.Schema) -> pa.Table:
    """The CSV file, in the types of the Parquet file."""
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=schema,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return _sound(table)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ReleaseError(
            f"{path} cannot be read as the table of the Parquet file: {type(error).__name__}."
        ) from None


def _sound(table: pa.Table) -> pa.Table:
    """Check that names and texts are valid UTF-8: a file may hold anything."""
    table.validate(full=True)
    _ = table.column_names  # decoded on access
    return table


def published(table: pa.Table) -> pa.Table:
    """The table without what only the Parquet file has."""
    names = [name for name in table.column_names if name != GEOMETRY]
    return table.select(names).replace_schema_metadata(None)
