"""A public list of places, from a file or a table in memory: ids, and optionally names and coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from locentropy.core.errors import BadRowsError, ParameterError, SourceError
from locentropy.core.locations import Locations
from locentropy.visits.column_types import cast_sql, column_kind, restore_id_type
from locentropy.visits.columns import AUTO, Choice, might_be_data_row, resolve_roles
from locentropy.visits.readers.resolve import resolve_source
from locentropy.visits.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.visits.columns import Roles


@dataclass(frozen=True, eq=False)
class PublicLocations:
    """A public list of places: where it is stored, the roles of its columns, and where it came from.

    The list must not have been made from the visits: a place that is listed because somebody was there reveals that
    they were. Published names and coordinates come from this list only.
    """

    source: Any
    """A CSV, TSV or Parquet file, a DuckDB database, a table in memory, or a plain list of ids."""
    location: Choice = AUTO
    """The column of location ids, the same ids as in the visits."""
    name: Choice = AUTO
    """The column of names; None to use none."""
    lat: Choice = AUTO
    """The column of latitudes, in degrees; None to use none."""
    lon: Choice = AUTO
    """The column of longitudes, in degrees; None to use none."""
    table: str | None = None
    """The table's name, if `source` is a DuckDB database with several."""
    provenance: str = "not stated"
    """Where the list came from, in the owner's words; published with the release."""

    def load(self) -> Locations:
        """Read the list."""
        if isinstance(self.source, list | tuple | pa.Array | pa.ChunkedArray):
            return Locations.of(self.source)
        import duckdb

        with duckdb.connect(config={"autoinstall_known_extensions": False}) as con:
            parts = resolve_source(con, Visits(self.source, table=self.table))
            if len(parts) > 1:
                raise ParameterError(
                    f"{self.source}: a public list must be one file, but these are {len(parts)}."
                )
            [part] = parts
            choices = {role: getattr(self, role) for role in ("location", "name", "lat", "lon")}
            if self.location is AUTO and len(part.columns) == 1:
                choices["location"] = part.columns[0]  # a list of one column is a list of ids
            hint = _columns_are(part.columns) if might_be_data_row(part.columns) else ""
            roles = resolve_roles(choices, part.columns, part.label, ("location",), hint, prefix="--places-")
            relation = part.bind(con, roles, drop_bad=False)
            stored = column_kind(relation.columns["location"].type_name)
            types = {"location": "BIGINT" if stored == "integer" else "VARCHAR", "name": "VARCHAR"}
            columns = ", ".join(
                f"{cast_sql(role, column, relation.columns[role], part.label, types.get(role))} AS {role}"
                for role, column in roles.items()
            )
            try:
                rows = con.sql(f"SELECT {columns} FROM {relation.sql}").to_arrow_table()  # noqa: S608  # names are quoted
            except duckdb.Error:
                raise SourceError(
                    f"{part.label}: cannot be read as a list of places. Is the file complete and UTF-8 text, and is "
                    "every quotation mark closed on its line?"
                ) from None
        return _as_locations(rows, part.label, roles, typed=not part.reads_once and stored != "big-integer")


def _columns_are(columns: Sequence[str]) -> str:
    """The columns' names, which may be shown: unlike those of the visits, they cannot be somebody's row."""
    return f" Its columns: {', '.join(map(repr, columns))}."


def _as_locations(rows: pa.Table, label: str, roles: Roles, *, typed: bool) -> Locations:
    if len(rows) == 0:
        raise SourceError(f"{label}: the list of places has no rows.")
    ids = rows["location"].combine_chunks()
    if ids.null_count:
        raise BadRowsError(f"{label}: some places of the list have no id. Give every place an id.")
    if len(ids.unique()) != len(ids):
        # How many is not said: if this is the table of visits by mistake, their number is private.
        raise BadRowsError(
            f"{label}: some places are named more than once. A list names each place once. Is this the table of "
            "visits? A list must not be made from the visits: a place that is listed because somebody was there tells "
            "that they were."
        )
    return Locations(
        restore_id_type(ids, typed=typed),
        rows["name"].combine_chunks() if "name" in rows.column_names else None,
        _degrees(rows, "lat", 90, label, roles),
        _degrees(rows, "lon", 180, label, roles),
    )


def _degrees(rows: pa.Table, role: str, limit: int, label: str, roles: Roles) -> NDArray[np.float64] | None:
    """Coordinates in degrees; NaN for a place without them."""
    if role not in rows.column_names:
        return None
    degrees: NDArray[np.float64] = rows[role].to_numpy()
    known = ~rows[role].is_null().to_numpy()
    if not (abs(degrees[known]) <= limit).all():
        raise BadRowsError(
            f"{label}: the {role} column {roles[role]!r} of the list holds values that are not numbers from -{limit} "
            f"to {limit}. Are decimals written with a point?"
        )
    return degrees
