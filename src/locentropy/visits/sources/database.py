"""A table of a DuckDB database file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from locentropy.core.errors import SourceError
from locentropy.visits.sources.part import Column, Relation, described
from locentropy.visits.sources.unchanged import Unchanged
from locentropy.visits.sql import identifier, literal

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Roles


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


def part(con: duckdb.DuckDBPyConnection, path: Path, table: str | None) -> DatabasePart:
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
