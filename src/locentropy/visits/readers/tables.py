"""Tables whose columns have types, read where they are: Parquet files, DuckDB databases, tables in memory."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from locentropy.core.errors import ColumnError, SourceError
from locentropy.visits.readers.base import Column, FileFingerprints, Relation, describe_columns
from locentropy.visits.readers.files import plain_link
from locentropy.visits.readers.objects import texts_of_objects
from locentropy.visits.readers.parquet_times import holds_times_beyond, with_times_beyond
from locentropy.visits.sql import confine, identifier, list_literal, literal

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Roles

_NAMES: Final = count()
_INSTANTS: Final = "TIMESTAMP WITH TIME ZONE"
"""The type of times with a zone, however the engine is given them."""


@dataclass(frozen=True)
class ParquetPart:
    """Parquet files with the same columns of the same types, read in place."""

    paths: tuple[Path, ...]
    files: tuple[Path, ...]
    """The same under plain names, for the engine."""
    layout: tuple[tuple[str, Column], ...]
    """Each column's name in the file, and how the engine refers to it: it renames columns whose names clash."""
    fingerprints: FileFingerprints

    reads_once = False
    described = ""
    hint = ""

    @property
    def label(self) -> str:
        """The path of the first file."""
        return str(self.paths[0])

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.layout]

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Select from the files in place."""
        layout = dict(self.layout)
        columns = {role: layout[name] for role, name in roles.items()}
        beyond = [file for file in self.files if "time" in roles and holds_times_beyond(file, roles["time"])]
        others = tuple(file for file in self.files if file not in beyond)
        if not beyond:
            return Relation(_read_parquet(self.files), columns)
        return with_times_beyond(con, _read_parquet(others) if others else None, beyond, roles, columns)


def parquet_parts(con: duckdb.DuckDBPyConnection, paths: list[Path], scratch: Path) -> list[ParquetPart]:
    """One part for each group of files with the same layout."""
    fingerprints = FileFingerprints.of(paths)
    groups: dict[tuple[tuple[str, Column], ...], dict[Path, Path]] = {}
    for path in paths:
        file = plain_link(path, scratch)
        groups.setdefault(_layout(con, path, file), {})[path] = file
    return [
        ParquetPart(tuple(group), tuple(group.values()), layout, fingerprints)
        for layout, group in groups.items()
    ]


def _layout(con: duckdb.DuckDBPyConnection, path: Path, file: Path) -> tuple[tuple[str, Column], ...]:
    import duckdb

    try:
        names = pq.read_schema(path).names
        types = describe_columns(con, _read_parquet((file,)))
        columns = [Column(identifier(name), type_name) for name, type_name in types.items()]
        return tuple(zip(names, columns, strict=True))
    # ValueError: names that are not text, or that Arrow and DuckDB read differently.
    except (duckdb.Error, pa.ArrowException, OSError, ValueError):
        raise SourceError(
            f"{path}: cannot be read as Parquet. Is it complete? Copy it again from where it came."
        ) from None


def _read_parquet(paths: tuple[Path, ...]) -> str:
    names = list_literal(glob.escape(str(path)) for path in paths)
    return f"read_parquet({names}, hive_partitioning=false)"


@dataclass(frozen=True)
class DatabasePart:
    """One table of a DuckDB database, or a view where its owner said so, read in place."""

    label: str
    relation: str
    types: dict[str, str]
    fingerprints: FileFingerprints
    computed: frozenset[str] = frozenset()
    """Columns that are expressions, which somebody else wrote, where no views are read: these are not, either."""

    reads_once = False
    described = ""
    hint = ""

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return list(self.types)

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Select from the table in place."""
        for name in roles.values():
            if name in self.computed:
                raise ColumnError(
                    f"{self.label}: the column {name!r} is computed by an expression in the database, and stored "
                    "columns are read. Store its values, as in a table made by CREATE TABLE … AS FROM …, and name "
                    "that; or, of visits of your own, say views=True (--views)."
                )
        return Relation(self.relation, {role: self._column(name) for role, name in roles.items()})

    def _column(self, name: str) -> Column:
        # A column may be declared to compare without case or accents; ids are compared as they are stored.
        exactly = ' COLLATE "C"' if self.types[name] == "VARCHAR" else ""
        return Column(f"({identifier(name)}{exactly})", self.types[name])


def database_part(
    con: duckdb.DuckDBPyConnection, path: Path, table: str | None, prefix: str = "--", *, views: bool = False
) -> DatabasePart:
    """The table of that name. The name may be left out if the database has only one table.

    A view is a query that somebody else wrote. It is read only if `views` are, and even then no file but this one is
    opened from here on.
    """
    import duckdb

    fingerprints = FileFingerprints.of([path])
    try:
        con.execute(f"ATTACH {literal(str(path.absolute()))} AS source_database (READ_ONLY, TYPE duckdb)")
        confine(con)
        found = con.execute(
            "SELECT table_schema, table_name, table_type = 'BASE TABLE' FROM information_schema.tables "
            "WHERE table_catalog = 'source_database' ORDER BY ALL"
        ).fetchall()
    except duckdb.Error:
        raise SourceError(
            f"{path}: cannot be opened as a DuckDB database. Is another program writing to it, or was it made "
            "by a newer DuckDB?"
        ) from None
    rows = [(schema, name) for schema, name, is_table in found if is_table or views]
    asked_for = [row[:2] for row in found if table in (None, row[1], f"{row[0]}.{row[1]}")]
    matching = [row for row in asked_for if row in rows]
    if asked_for and not matching:
        raise _is_view(path, asked_for[0][1], prefix)
    if len(matching) != 1:
        names = ", ".join(name if schema == "main" else f"{schema}.{name}" for schema, name in rows) or "none"
        asked = "no table was named" if table is None else f"table={table!r} does not name exactly one table"
        raise SourceError(
            f'{path}: {asked}. Tables found: {names}. Name one: table="checkins" ({prefix}table checkins).'
        )
    schema, name = matching[0]
    relation = f"source_database.{identifier(schema)}.{identifier(name)}"
    label = f"{path}, table {name}"
    try:
        types = describe_columns(con, relation)
        computed = frozenset() if views else _computed_columns(con, schema, name)
        return DatabasePart(label, relation, types, fingerprints, computed)
    except duckdb.PermissionException:
        raise SourceError(
            f"{label}: is a view that reads other files, and no other file is opened for a view. Name those files "
            "instead of it, or make a table of it."
        ) from None
    except duckdb.Error:
        raise SourceError(
            f"{label}: cannot be read. If it is a view, do the tables that it reads exist?"
        ) from None


def _computed_columns(con: duckdb.DuckDBPyConnection, schema: str, table: str) -> frozenset[str]:
    found = con.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_catalog = 'source_database' "
        "AND table_schema = ? AND table_name = ? AND is_generated = 'ALWAYS'",
        [schema, table],
    ).fetchall()
    return frozenset(name for (name,) in found)


def _is_view(path: Path, name: str, prefix: str) -> SourceError:
    """A list is by somebody else more often than not, so for it there is no option."""
    what = f"{path}: {name} is a view: a query, which could read any file of yours."
    if prefix != "--":
        return SourceError(f"{what} Ask who made it for a table, or for CSV or Parquet.")
    return SourceError(
        f"{what} If you know what it does: views=True (--views). Or make a table of it, and name that: "
        f"CREATE TABLE {name}_rows AS FROM {name}"
    )


@dataclass(frozen=True)
class FramePart:
    """A table in memory. Only the columns with a role are converted."""

    frame: Any
    ids_as_text: bool = False
    """Whether ids are compared as they are written; if not, one of another type is refused."""
    label: str = field(init=False)

    reads_once = False
    described = ""
    hint = ""
    fingerprints = FileFingerprints()

    def __post_init__(self) -> None:
        library = type(self.frame).__module__.partition(".")[0]
        object.__setattr__(self, "label", f"the {library} table")
        if not (
            _is(self.frame, "pandas", "DataFrame") or library == "polars" or isinstance(self.frame, pa.Table)
        ):
            object.__setattr__(self, "frame", self._as_arrow())

    def _as_arrow(self) -> pa.Table:
        try:
            return pa.table(self.frame)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise SourceError(f"{self.label} cannot be read as an Arrow table.") from None

    @property
    def columns(self) -> list[str]:
        """The columns' names. Names that are not text are left out: nobody can ask for them."""
        if _is(self.frame, "polars", "LazyFrame"):
            names = self.frame.collect_schema().names()
        elif isinstance(self.frame, pa.Table):
            names = self.frame.schema.names
        else:
            names = self.frame.columns
        return [name for name in names if isinstance(name, str)]

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Register an Arrow table of the columns with a role."""
        import duckdb

        frame = self._collected(list(roles.values()))
        columns = {
            role: _arrow_column(frame, name, self.label)
            if role in ("user", "location") and not self.ids_as_text
            else _each_by_itself(frame, name, self.label)
            for role, name in roles.items()
        }
        coarse = "time" in columns and _is_coarse_instant(columns["time"].type)
        if coarse:
            columns["time"] = _in_utc(columns["time"])
        table = pa.table(columns)
        name = f"frame_{next(_NAMES)}"
        try:
            con.register(name, table)
            types = describe_columns(con, identifier(name))
        except duckdb.Error:
            raise ColumnError(
                f"{self.label}: a column has a type that the engine does not support: "
                f"{', '.join(f'{field.name} {field.type}' for field in table.schema)}. Cast it first."
            ) from None
        if coarse:
            types["time"] = _INSTANTS
        return Relation(identifier(name), {role: Column(identifier(role), types[role]) for role in types})

    def _collected(self, names: list[str]) -> Any:
        """The columns with a role, computed together: a lazy frame may give another row order each time."""
        if _is(self.frame, "polars", "LazyFrame"):
            return self.frame.select(names).collect()
        return self.frame


def frame_part(source: object, *, ids_as_text: bool = False) -> FramePart:
    """A table in memory as a part; raise SourceError if it is not a table that can be read."""
    if not (_is(source, "pandas", "DataFrame") or _is(source, "polars", "LazyFrame") or _streams(source)):
        raise SourceError(
            f"{type(source).__name__} is not a table that can be read. Give a path, a pandas, Polars or Arrow "
            'table, or an Ibis table. For example: Visits("checkins.parquet")'
        )
    return FramePart(source, ids_as_text)


def _is(source: object, library: str, name: str) -> bool:
    """Whether an object is an instance of a library's class, without importing the library."""
    return any(
        kind.__module__.partition(".")[0] == library and kind.__name__ == name
        for kind in type(source).__mro__
    )


def _streams(source: object) -> bool:
    """Whether an object has Arrow's C stream interface and columns; a single column has only the former."""
    is_table = hasattr(source, "columns") or hasattr(source, "schema")
    return is_table and hasattr(source, "__arrow_c_stream__")


def _each_by_itself(frame: Any, name: str, label: str) -> Any:
    """A column; of Python objects each as a text by itself, so that none decides how others are read."""
    texts = None if isinstance(frame, pa.Table) else texts_of_objects(frame, name)
    return _arrow_column(frame, name, label) if texts is None else pa.chunked_array([texts])


def _is_coarse_instant(kind: pa.DataType) -> bool:
    """Whether a type is that of instants in seconds or milliseconds, of which one out of range stops the engine."""
    return pa.types.is_timestamp(kind) and kind.tz is not None and kind.unit in ("s", "ms")


def _in_utc(column: Any) -> Any:
    """Instants as times of a clock in UTC, which the engine brings to microseconds one by one."""
    kind = pa.timestamp(column.type.unit)
    return pa.chunked_array([each.view(kind) for each in column.chunks], kind)


def _arrow_column(frame: Any, name: str, label: str) -> Any:
    try:
        column = _to_arrow(frame, name)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise ColumnError(
            f"{label}: the column {name!r} mixes values of different types, or holds some that no type fits. One id "
            "must have one spelling: 7, '7' and 7.0 would be three users. Make the column all whole numbers or all "
            f"texts first, for example: df[{name!r}] = df[{name!r}].astype('string')"
        ) from None
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _to_arrow(frame: Any, name: str) -> Any:
    if isinstance(frame, pa.Table):
        return frame.column(name)
    if type(frame).__module__.partition(".")[0] == "polars":
        return frame.select(name).to_arrow().column(0)
    column = pa.Array.from_pandas(frame[name])
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
