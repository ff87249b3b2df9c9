"""The ledger's file: SQLite, append-only, and complete after a crash at any point.

- Rollback journal in DELETE mode, not a write-ahead log: between transactions the ledger is exactly one file, so
  that a copy of it is complete; and processes share no memory, which network file systems do not support.
- synchronous=EXTRA: beyond FULL, the folder is synced after the journal is removed. Otherwise a power cut could bring
  back the journal, and with it the state before the spend.
- Each entry holds a hash of the previous hash and its own text, and `head` holds the number of entries and the last
  hash: a changed, lost or reordered entry is detected. Whoever can write the file can compute new hashes, so this
  detects accidents and careless edits, not a determined forger. Hashes cover the ledger's own text, never the data.
- Triggers refuse changes, and a file whose triggers differ is not opened.
- Later versions have more tables: 2 for terms and parts, 3 for checks of the input, withdrawals and rebuilding. A file
  becomes one of a later version in the transaction that first needs it: nothing in it is rewritten but its version
  number, so a crash leaves the one or the other, and the software of earlier versions refuses it from then on. It is
  never copied: a copy would be a second budget.

The file is opened through SQLite only: closing any other handle to it would drop the locks of this process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import LedgerError
from locentropy.core.files import sync_folder
from locentropy.ledger.entries import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locentropy.ledger.entries import Kind

APPLICATION: Final = int.from_bytes(b"LELG", "big")
VERSION: Final = 3

COLUMNS: Final[dict[Kind, tuple[str, ...]]] = {
    "budget": ("id", "population", "epsilon", "delta", "software", "time"),
    "spend": ("id", "epsilon", "delta", "purpose", "software", "time"),
    "release": ("spend", "release", "state", "time"),
    "evaluation": ("note", "software", "time"),
}
"""The tables and their columns. Each also has `entry`, numbered over all tables, and `hash`."""

COLUMNS_2: Final[dict[Kind, tuple[str, ...]]] = {
    "rules": (
        "unit", "zone", "composition", "person_epsilon", "person_delta", "reserved_delta", "orders", "rhos",
        "software", "time",
    ),
    "part": (
        "spend", "epsilon", "delta", "rho", "rho_delta", "start", "end", "weekdays", "hours", "zone", "cell", "borders",
    ),
}  # fmt: skip
"""What version 2 has besides."""

COLUMNS_3: Final[dict[Kind, tuple[str, ...]]] = {
    "input_check": ("software", "time"),
    "withdrawal": ("release", "why", "software", "time"),
    "rebuild": ("software", "time"),
    "earlier": ("id", "release", "epsilon", "delta", "purpose", "software", "time"),
    "complete": ("software", "time"),
}
"""What version 3 has besides."""

_COLUMNS: Final = {1: COLUMNS, 2: COLUMNS | COLUMNS_2, 3: COLUMNS | COLUMNS_2 | COLUMNS_3}

_FIRST: Final = "0" * 64
_RESTORE: Final = (
    "Do not publish with it. Restore the newest copy, then compare it with what was published: "
    "locentropy ledger verify FILE --spend ID (docs/budget.md)."
)


_HEAD: Final = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, hash TEXT NOT NULL)"
)  # fmt: skip


def _tables(columns_of: Mapping[Kind, tuple[str, ...]]) -> list[str]:
    return [
        f"CREATE TABLE {table} (entry INTEGER PRIMARY KEY, "
        f"{', '.join(f'{_quoted(column)} TEXT NOT NULL' for column in columns)}, hash TEXT NOT NULL)"
        for table, columns in columns_of.items()
    ]


def _quoted(column: str) -> str:
    return f'"{column}"' if column == "end" else column  # a word of SQL


def _refuse(table: str, event: str, when: str = "1") -> str:
    return (
        f"CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table} WHEN {when} "
        f"BEGIN SELECT RAISE(ABORT, 'a ledger is only ever appended to'); END"
    )


def _head_triggers() -> list[str]:
    return [
        _refuse("head", "INSERT"),
        _refuse("head", "UPDATE", "NEW.one <> 1 OR NEW.entries <> OLD.entries + 1"),
        _refuse("head", "DELETE"),
    ]


def _triggers(tables: Iterable[Kind]) -> list[str]:
    made = []
    for table in tables:
        # INSERT OR REPLACE removes a row without firing the trigger on DELETE, so the number is checked here.
        made += [
            _refuse(table, "INSERT", "NEW.entry IS NOT (SELECT entries + 1 FROM head)"),
            _refuse(table, "UPDATE"),
            _refuse(table, "DELETE"),
        ]
    return made


class Store:
    """One transaction on the file."""

    def __init__(self, connection: sqlite3.Connection, path: Path, version: int) -> None:
        self._connection = connection
        self._path = path
        self._version = version

    def _migrate(self, version: int) -> None:
        """Make the tables of a later version. Of what is in the file only the version number is changed."""
        here = _COLUMNS[self._version]
        later = {kind: columns for kind, columns in _COLUMNS[version].items() if kind not in here}
        for statement in (*_tables(later), *_triggers(later)):
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {version}")
        self._version = version

    def read(self) -> list[Entry]:
        """All entries in their order; raise LedgerError if they are not as they were written."""
        rows: list[tuple[int, Kind, tuple[str, ...], str]] = []
        columns_of = _COLUMNS[self._version]
        for table, columns in columns_of.items():
            named = ", ".join(map(_quoted, columns))
            query = f"SELECT entry, {named}, hash FROM {table}"  # noqa: S608  # names from above
            rows += [(row[0], table, row[1:-1], row[-1]) for row in self._connection.execute(query)]
        rows.sort(key=lambda row: row[0])
        last, entries = _FIRST, []
        for number, (entry, table, values, digest) in enumerate(rows, start=1):
            last = _hash(last, number, table, values)
            if (entry, digest) != (number, last):
                raise LedgerError(
                    f"{self._path}: entry {number} is missing or not as it was written. {_RESTORE}"
                )
            entries.append(Entry(table, dict(zip(columns_of[table], values, strict=True))))
        if self._head() != (len(entries), last) or not entries or entries[0].kind != "budget":
            raise LedgerError(f"{self._path}: entries are missing at the end. {_RESTORE}")
        return entries

    def append(self, entry: Entry) -> None:
        """Write one entry after the last; the first one of a later version brings the file to it."""
        if (needed := _version_of(entry)) > self._version:
            self._migrate(needed)
        number, last = self._head()
        columns = _COLUMNS[self._version][entry.kind]
        values = tuple(entry.values[column] for column in columns)
        digest = _hash(last, number + 1, entry.kind, values)
        marks = ", ".join("?" * (len(columns) + 2))
        self._connection.execute(
            f"INSERT INTO {entry.kind} VALUES ({marks})",  # noqa: S608  # a name from above
            (number + 1, *values, digest),
        )
        self._connection.execute("UPDATE head SET entries = ?, hash = ?", (number + 1, digest))

    def check_pages(self) -> None:
        """Let SQLite check the whole file."""
        found = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != ("ok",):
            raise LedgerError(f"{self._path} is damaged. {_RESTORE}")

    def _head(self) -> tuple[int, str]:
        row: tuple[int, str] | None = self._connection.execute("SELECT entries, hash FROM head").fetchone()
        return row or (0, _FIRST)


def _version_of(entry: Entry) -> int:
    """The first version that has a table for it."""
    return min(version for version, columns_of in _COLUMNS.items() if entry.kind in columns_of)


def _hash(last: str, number: int, table: str, values: tuple[str, ...]) -> str:
    # Only a tampered row holds anything but text; repr makes its hash differ.
    text = json.dumps([last, number, table, *values], default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def create(path: Path, *first: Entry) -> None:
    """Create the file with its first entries: it appears complete or not at all, and never replaces another."""
    for taken in (path, *(path.with_name(path.name + ending) for ending in ("-journal", "-wal", "-shm"))):
        # SQLite would apply an old journal to a new file of that name.
        if os.path.lexists(taken):
            raise LedgerError(_exists(taken))
    if not path.parent.is_dir():
        raise LedgerError(f"{path}: the folder {path.parent} does not exist. Create it first.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)  # mode 0600
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be created: {error.strerror}. Choose a folder with write permission."
        ) from None
    os.close(handle)
    part = Path(name)
    try:
        with _translated(path), closing(_connect(part, wait=0.0)) as connection:
            _fill(connection, part, first)
        # Unlike a rename, a link never replaces a file that somebody else has created meanwhile.
        os.link(part, path)
    except FileExistsError:
        raise LedgerError(_exists(path)) from None
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be created: {error.strerror}. Choose a folder on a local disk."
        ) from None
    finally:
        part.unlink(missing_ok=True)
        part.with_name(part.name + "-journal").unlink(missing_ok=True)
    sync_folder(path.parent)


def _fill(connection: sqlite3.Connection, part: Path, first: tuple[Entry, ...]) -> None:
    # A ledger that needs nothing of a later version can be used by the software of version 1 as well.
    version = max(map(_version_of, first))
    _set_up(connection)
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(_HEAD)
    for statement in _tables(_COLUMNS[version]):
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (1, 0, ?)", (_FIRST,))
    for statement in (*_head_triggers(), *_triggers(_COLUMNS[version])):
        connection.execute(statement)
    store = Store(connection, part, version)
    for entry in first:
        store.append(entry)
    connection.execute("COMMIT")


@contextmanager
def transaction(path: Path, *, wait: float, write: bool) -> Iterator[Store]:
    """One transaction: committed to disk when the block ends, rolled back if it fails.

    A writer locks the ledger from before it reads until its entry is on disk, so nobody else can spend in between.
    """
    _check_file(path)
    with _translated(path), closing(_connect(path, wait)) as connection:
        _check_kind(connection, path)
        _set_up(connection)
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        version = _check_kind(
            connection, path
        )  # again: another process may have brought it to a later version meanwhile
        _check_schema(connection, path, version)
        # If the block raises, the connection is closed without COMMIT, which rolls back.
        yield Store(connection, path, version)
        connection.execute("COMMIT")


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    # mode=rw never creates a file: a mistyped path must not become an empty budget.
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=wait, isolation_level=None
    )


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
        raise sqlite3.OperationalError(
            "another program has switched the file to another journal mode and is using it"
        )
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the disk's own cache too


def _check_file(path: Path) -> None:
    try:
        status = path.stat()
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be opened: {error.strerror}. Is the name right? A population has one budget: only if it "
            f'has no ledger yet, create one: locentropy ledger create {path} --population "riders of the city" '
            "--epsilon 4 --delta 1e-6"
        ) from None
    if not stat.S_ISREG(status.st_mode):
        raise LedgerError(f"{path} is not a file. Name the ledger's file. For example: city.ledger")


def _check_kind(connection: sqlite3.Connection, path: Path) -> int:
    """The version; raise if the file is not a ledger, before anything else: others' databases must not be touched."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise LedgerError(_not_a_ledger(path))
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in _COLUMNS:
        raise LedgerError(
            f"{path} is a ledger of version {version}; this software reads versions up to {VERSION}. "
            "Use the version of locentropy that made it, or a newer one."
        )
    return version


def _check_schema(connection: sqlite3.Connection, path: Path, version: int) -> None:
    found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master")]
    columns = _COLUMNS[version]
    if sorted(map(str, found)) != sorted([_HEAD, *_tables(columns), *_head_triggers(), *_triggers(columns)]):
        raise LedgerError(f"{path}: its tables or triggers have been changed. {_RESTORE}")


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Replace SQLite's errors by what they mean for a ledger."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter if a message quotes a damaged table
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        raise LedgerError(_MESSAGES.get(code, _MESSAGES[sqlite3.SQLITE_CORRUPT])(path)) from None


def _exists(path: Path) -> str:
    return (
        f"{path} already exists. A budget is created once for a population: use it as it is, or choose another name "
        "for the ledger of another population."
    )


def _not_a_ledger(path: Path) -> str:
    return f"{path} is not a ledger of locentropy. Name the file that `locentropy ledger create` made."


def _busy(path: Path) -> str:
    return (
        f"{path} is in use by another process, which did not finish in time. Nothing was written. Try again."
    )


def _unwritable(path: Path) -> str:
    return (
        f"{path} cannot be read or written, so nothing may be published from this attempt. A ledger needs permission "
        "to read and write its file and its folder, and space on the disk."
    )


_MESSAGES: Final = {
    sqlite3.SQLITE_CORRUPT: lambda path: f"{path} is damaged. {_RESTORE}",
    sqlite3.SQLITE_NOTADB: _not_a_ledger,
    sqlite3.SQLITE_BUSY: _busy,
    sqlite3.SQLITE_READONLY: _unwritable,
    sqlite3.SQLITE_CANTOPEN: _unwritable,
    sqlite3.SQLITE_PERM: _unwritable,
    sqlite3.SQLITE_FULL: _unwritable,
    sqlite3.SQLITE_IOERR: _unwritable,
}
