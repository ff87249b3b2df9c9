"""The tables of a GeoPackage, an SQLite database that somebody else wrote: stored rows, and nothing that runs.

SQLite may hold views, triggers, virtual tables and computed columns, and files beside a database may change it. Here it
is taken into memory, so nothing else is opened; only tables that store their rows are read; SQLite is told to refuse
whatever a query does besides; and rows that are larger than their file, as made-up ones could be, end the reading.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from locentropy.visits.sql import identifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAGIC: Final = b"SQLite format 3\0"
_KINDS: Final = (b"GPKG", b"GP10", b"GP11")
_VERSIONS: Final = slice(18, 20)
"""Bytes that are 2 where further rows may wait in a file of their own, and 1 where they do not."""
_HEADER: Final = 8
_ENVELOPES: Final = {1: 32, 2: 48, 3: 48, 4: 64}
"""Bytes of a bounding box in a geometry, by its kind."""


class GeoPackageError(ValueError):
    """It is no GeoPackage, or what was asked for cannot be read."""


class GeoPackage:
    """The tables of one."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._connection = connection
        self._size = size

    def columns(self, table: str) -> list[str]:
        """The columns of a table; GeoPackageError unless it is one that stores its rows."""
        found = self._connection.execute(
            "SELECT type, rootpage FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", [table]
        ).fetchall()
        if len(found) != 1:
            raise GeoPackageError(f"there is no table {table!r}")
        [(kind, root)] = found
        if kind != "table" or not root:
            raise GeoPackageError(f"{table!r} is a view or a virtual table; only stored tables are read")
        listed = self._connection.execute(f"PRAGMA table_xinfo({identifier(table)})").fetchall()
        if any(hidden for *_, hidden in listed):
            raise GeoPackageError(f"{table!r} has computed columns; only stored ones are read")
        return [str(name) for _, name, *_ in listed]

    def rows(self, table: str, columns: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a table, in the order in which they are stored; all columns, if none are named."""
        there = self.columns(table)
        chosen = there if columns is None else list(columns)
        if not set(chosen) <= set(there):
            raise GeoPackageError(f"{table!r} lacks columns that it should have")
        names = ", ".join(map(identifier, chosen))
        rows, size = [], 0
        for row in self._connection.execute(f"SELECT {names} FROM {identifier(table)} NOT INDEXED"):  # noqa: S608  # quoted
            size += 1 + sum(len(value) for value in row if isinstance(value, bytes | str))
            if size > self._size:
                raise GeoPackageError(f"the rows of {table!r} are larger than the file")
            rows.append(row)
        return rows


@contextmanager
def opened_geopackage(content: bytes) -> Iterator[GeoPackage]:
    """The GeoPackage in a file; GeoPackageError if there is none, or if it is damaged."""
    if not content.startswith(_MAGIC) or content[68:72] not in _KINDS:
        raise GeoPackageError("it is not a GeoPackage")
    own = bytearray(content)
    own[_VERSIONS] = b"\1\1"
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(bytes(own))
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.set_authorizer(_allowed)
            yield GeoPackage(connection, len(content))
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise GeoPackageError(f"it cannot be read ({type(error).__name__})") from None


def _allowed(
    action: int, one: str | None, _two: str | None, _database: str | None, inside: str | None
) -> int:
    """Reading, but not on behalf of a view or a trigger; no function is called."""
    fine = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and inside is None)
    fine |= action == sqlite3.SQLITE_PRAGMA and one == "table_xinfo"
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY


def wkb_in(blob: object) -> bytes | None:
    """The well-known binary in a geometry of a GeoPackage: after its header, whose length its flags state."""
    if not isinstance(blob, bytes) or len(blob) < _HEADER:
        return None
    return blob[_HEADER + _ENVELOPES.get((blob[3] >> 1) & 7, 0) :]
