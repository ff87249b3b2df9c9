"""Tables in memory (pandas, Polars, Arrow) and in DuckDB databases."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy.core.errors import ColumnError, SourceError
from locentropy.visits.column_types import identifier, literal
from locentropy.visits.readers.base import Column, Relation, described
from locentropy.visits.readers.files import Unchanged

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Roles

_NAMES: Final = count()


def is_frame(source: object) -> bool:
    """Whether this is a table in memory that we can read."""
    return _is(source, "pandas", "DataFrame") or _is(source, "polars", "LazyFrame") or _streams(source)


def _streams(source: object) -> bool:
    """Whether it speaks Arrow's C stream interface and has columns: a lone column does not."""
    is_table = hasattr(source, "columns") or hasattr(source, "schema")
    return is_table and hasattr(source, "__arrow_c_stream__")


def _is(source: object, library: str, name: str) -> bool:
    """Whether an object is of a library's class, or of one made from it, without importing the library."""
    return any(
        kind.__module__.partition(".")[0] == library and kind.__name__ == name
        for kind in type(source).__mro__
    )


@dataclass(frozen=True)
class FramePart:
    """A table in memory; only the columns that play a role are converted."""

    frame: Any
    label: str = field(init=False)

    reads_once = False
    hint = ""
    unchanged = Unchanged()

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
        """The columns' names; names that are not text cannot be asked for."""
        if _is(self.frame, "polars", "LazyFrame"):
            names = self.frame.collect_schema().names()
        elif isinstance(self.frame, pa.Table):
            names = self.frame.schema.names
        else:
            names = self.frame.columns
        return [name for name in names if isinstance(name, str)]

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Show the engine an Arrow table of the columns that play a role."""
        import duckdb

        chosen = self._chosen(list(roles.values()))
        table = pa.table({role: _column(chosen, name, self.label) for role, name in roles.items()})
        name = f"frame_{next(_NAMES)}"
        try:
            con.register(name, table)
            types = described(con, identifier(name))
        except duckdb.Error:
            raise ColumnError(
                f"{self.label}: a column has a type that the engine does not know: "
                f"{', '.join(f'{field.name} {field.type}' for field in table.schema)}. Cast it first."
            ) from None
        return Relation(identifier(name), {role: Column(identifier(role), types[role]) for role in types})

    def _chosen(self, names: list[str]) -> Any:
        """The columns that play a role, all at once: what is computed lazily may come in another order each time."""
        if _is(self.frame, "polars", "LazyFrame"):
            return self.frame.select(names).collect()
        return self.frame


def _column(frame: Any, name: str, label: str) -> Any:
    try:
        column = _arrow(frame, name)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise ColumnError(
            f"{label}: the column {name!r} mixes values of different types, or holds some that no type fits. One id "
            "must have one spelling: 7, '7' and 7.0 would be three users. Make the column all whole numbers or all "
            f"texts first, for example df[{name!r}] = df[{name!r}].astype('string')."
        ) from None
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _arrow(frame: Any, name: str) -> Any:
    if isinstance(frame, pa.Table):
        return frame.column(name)
    if type(frame).__module__.partition(".")[0] == "polars":
        return frame.select(name).to_arrow().column(0)
    column = pa.Array.from_pandas(frame[name])
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def frame_part(source: object) -> FramePart:
    """A table in memory as a part."""
    if not is_frame(source):
        raise SourceError(
            f"{type(source).__name__} is not a table that can be read. Give a path, a pandas, Polars or Arrow "
            'table, or an Ibis table. For example: Visits("checkins.parquet")'
        )
    return FramePart(source)


@dataclass(frozen=True)
class DatabasePart:
    """One table or view, read where it is."""

    label: str
    relation: str
    types: dict[str, str]
    unchanged: Unchanged

    reads_once = False
    hint = ""

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return list(self.types)

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Select from the table in place."""
        return Relation(self.relation, {role: self._column(name) for role, name in roles.items()})

    def _column(self, name: str) -> Column:
        # A column may be declared to compare without case or accents; ids are compared as they are stored.
        exactly = ' COLLATE "C"' if self.types[name] == "VARCHAR" else ""
        return Column(f"({identifier(name)}{exactly})", self.types[name])


def database_part(con: duckdb.DuckDBPyConnection, path: Path, table: str | None) -> DatabasePart:
    """The table of that name; where the database has only one table, its name may be left out."""
    import duckdb

    unchanged = Unchanged.of([path])
    try:
        con.execute(f"ATTACH {literal(str(path))} AS source_database (READ_ONLY)")
        rows = con.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = 'source_database' ORDER BY ALL"
        ).fetchall()
    except duckdb.Error:
        raise SourceError(
            f"{path}: cannot be opened as a DuckDB database. Is another program writing to it, or was it made "
            "by a newer DuckDB?"
        ) from None
    matching = [row for row in rows if table in (None, row[1], f"{row[0]}.{row[1]}")]
    if len(matching) != 1:
        names = ", ".join(name if schema == "main" else f"{schema}.{name}" for schema, name in rows) or "none"
        asked = "no table was named" if table is None else f"table={table!r} does not name exactly one table"
        raise SourceError(
            f'{path}: {asked}. Tables found: {names}. Name one: table="checkins" (--table checkins).'
        )
    schema, name = matching[0]
    relation = f"source_database.{identifier(schema)}.{identifier(name)}"
    label = f"{path}, table {name}"
    try:
        return DatabasePart(label, relation, described(con, relation), unchanged)
    except duckdb.Error:
        raise SourceError(f"{label}: cannot be read. If it is a view, does what it looks at exist?") from None
