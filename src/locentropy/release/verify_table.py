"""Verify the table: one table in Parquet and CSV, with the columns, geometry and metadata that a release may have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from locentropy.core.errors import ReleaseError
from locentropy.core.version import __version__
from locentropy.release.columns import MOST_NATS, check_table
from locentropy.release.details import get
from locentropy.release.outlines import has_outlines
from locentropy.release.reading import regular
from locentropy.release.tables import (
    GEOMETRY,
    KEY,
    geo_metadata,
    outlines_metadata,
    points,
    published,
    read_csv,
    read_parquet,
    summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locentropy.release.reading import Described
    from locentropy.release.statement import Statement


def by_this_version(statement: Statement) -> bool:
    """Whether this software would use the very same words; other versions may have others."""
    return statement.software_version == __version__


def table_problems(directory: Path, about: Described) -> Iterator[str]:
    """Compare the table of a level with what the details say of it, and its Parquet file with its CSV file."""
    found = read_parquet(regular(directory / about.names.parquet))
    table = published(found)
    check_table(table, about.statement)
    described = get(about.document, "table", dict)
    if get(described, "rows", int) != len(table):
        yield f"{about.names.parquet} has {len(table)} rows, and {about.names.details} speaks of {described['rows']}."
    if list(get(described, "columns", dict)) != table.column_names:
        yield f"{about.names.parquet} has other columns than {about.names.details} describes."
    yield from _geometry(found, about)
    yield from _summary(found.schema.metadata or {}, about)
    entropy = table["entropy"].to_numpy() * (np.log(2.0) if about.statement.entropy_unit == "bits" else 1.0)
    visitors = np.exp(np.minimum(entropy, MOST_NATS))
    if not np.allclose(visitors, table["effective_visitors"].to_numpy(), rtol=1e-9, atol=0, equal_nan=True):
        yield "effective_visitors is not e to the power of the entropy."
    if not read_csv(regular(directory / about.names.csv), table.schema).equals(table):
        yield f"{about.names.csv} and {about.names.parquet} hold different tables."


def _outlines(found: pa.Table, about: Described) -> Iterator[str]:
    """Check that every place has an outline that can be read, and that the metadata describe them."""
    try:
        expected = outlines_metadata(found[GEOMETRY])
    except (KeyError, ReleaseError):
        yield f"The geometry in {about.names.parquet} is not an outline for each place."
        return
    if (found.schema.metadata or {}).get(b"geo") != expected:
        yield f"The 'geo' metadata of {about.names.parquet} does not describe its outlines."


def _geometry(found: pa.Table, about: Described) -> Iterator[str]:
    if "lat" not in found.column_names:
        if GEOMETRY in found.column_names:
            yield f"{about.names.parquet} has a geometry without coordinates."
        return
    if has_outlines(about.statement):
        yield from _outlines(found, about)
        return
    expected = points(found["lat"], found["lon"])
    if GEOMETRY not in found.column_names or not found[GEOMETRY].equals(pa.chunked_array([expected])):
        yield f"The geometry in {about.names.parquet} is not that of lat and lon."
    if (found.schema.metadata or {}).get(b"geo") != geo_metadata(found["lat"], found["lon"]):
        yield f"The 'geo' metadata of {about.names.parquet} does not describe its coordinates."


def _summary(metadata: dict[bytes, bytes], about: Described) -> Iterator[str]:
    """Compare what the Parquet file says about itself with the details."""
    unknown = set(metadata) - {KEY, b"geo", b"ARROW:schema"}
    if unknown:
        yield f"{about.names.parquet} carries metadata that does not belong to a release."
    try:
        found = json.loads(metadata.get(KEY, b"null"))
    except (ValueError, RecursionError):
        found = None
    compared = dict if by_this_version(about.statement) else _ids
    if not isinstance(found, dict) or compared(found) != compared(summary(about.statement)):
        yield f"{about.names.parquet} says something else about itself than {about.names.details}."


def _ids(found: dict[str, str]) -> tuple[str | None, ...]:
    return tuple(found.get(key) for key in ("release_id", "mechanism", "estimand", "unit", "status"))
