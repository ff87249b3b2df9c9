"""Times in milliseconds in Parquet files that are no microseconds of 64 bits: bad rows, like others that are no times.

DuckDB brings milliseconds to microseconds as it reads, and stops at the first that does not fit. So files with such a
time are read by Arrow. Statistics in the file tell which these are; without them the column is read once more.
"""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from locentropy.visits.readers.base import Column, Relation
from locentropy.visits.sql import identifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Roles

_NAMES: Final = count()
_MOST: Final = (2**63 - 1) // 1000
"""Milliseconds that are as many microseconds as 64 bits hold."""


def holds_times_beyond(path: Path, column: str) -> bool:
    """Whether a column is of milliseconds, some of which are no microseconds of 64 bits."""
    with pq.ParquetFile(path) as file:
        paths = [file.schema.column(at).path for at in range(len(file.schema))]
        if column not in paths or not _in_milliseconds(file.schema.column(paths.index(column))):
            return False
        return any(not -_MOST <= each <= _MOST for each in _extremes(file, paths.index(column), column))


def with_times_beyond(
    con: duckdb.DuckDBPyConnection,
    read: str | None,
    paths: Sequence[Path],
    roles: Roles,
    columns: Mapping[str, Column],
) -> Relation:
    """Files with such times as one table whose columns are the roles, and others as they are read by `read`."""
    from pyarrow import dataset  # takes long to load

    tables = []
    if read is not None:
        tables.append(_select({role: columns[role].expression for role in roles}, columns, read))
    for path in paths:
        schema, source = pq.read_schema(path), f"parquet_{next(_NAMES)}"
        kinds = {name: schema.field(name).type for name in roles.values()}
        # Instants in UTC too: each becomes microseconds by itself.
        kinds[roles["time"]] = pa.timestamp("ms")
        con.register(source, dataset.dataset(path, schema=pa.schema(list(kinds.items())), format="parquet"))
        values = {role: identifier(name) for role, name in roles.items()}
        values["time"] = f"TRY_CAST({values['time']} AS TIMESTAMP)"
        tables.append(_select(values, columns, source))
    named = {role: Column(identifier(role), columns[role].type_name) for role in roles}
    return Relation(f"({' UNION ALL '.join(tables)})", named)


def _select(values: Mapping[str, str], columns: Mapping[str, Column], source: str) -> str:
    """The values of the roles, in the types of columns."""
    selected = (
        f"CAST({sql} AS {columns[role].type_name}) AS {identifier(role)}" for role, sql in values.items()
    )
    return f"SELECT {', '.join(selected)} FROM {source}"


def _in_milliseconds(column: Any) -> bool:
    kind = json.loads(column.logical_type.to_json())
    return bool(kind.get("timeUnit") == "milliseconds" and column.physical_type == "INT64")


def _extremes(file: pq.ParquetFile, at: int, name: str) -> Iterator[int]:
    """The least and the greatest number of each part of a column."""
    for group in range(file.num_row_groups):
        known = file.metadata.row_group(group).column(at).statistics
        if known is not None and known.has_min_max:
            yield from (known.min_raw, known.max_raw)
            continue
        for batch in file.iter_batches(row_groups=[group], columns=[name]):
            found = pc.min_max(batch.column(0).view(pa.int64()))
            yield from (each for each in (found["min"].as_py(), found["max"].as_py()) if each is not None)
