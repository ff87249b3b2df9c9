"""The contract of a reader: a source becomes parts, each with rows of one layout that DuckDB can select from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, Self

from locentropy.core.errors import SourceError
from locentropy.visits.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Roles

    Fingerprint = tuple[int, int, int, int, int]


DEFAULT_WRITING: Final = Writing()


class Part(Protocol):
    """Rows of one layout. A source of several files may have several parts."""

    @property
    def label(self) -> str:
        """The part's name in error messages."""

    @property
    def columns(self) -> list[str]:
        """The columns' names, in order."""

    @property
    def reads_once(self) -> bool:
        """Whether the rows must be loaded first, because reading them is slow or works only once."""

    @property
    def fingerprints(self) -> FileFingerprints:
        """Fingerprints of its files, recorded before reading; checked after the last row was read."""

    @property
    def described(self) -> str:
        """How it is read, as far as that was recognised or said; empty for tables whose columns have types."""

    @property
    def hint(self) -> str:
        """Advice to add to an error if no column has a usual name."""

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Make the rows selectable on a connection."""


@dataclass(frozen=True)
class Relation:
    """A part, ready to be selected from."""

    sql: str
    """The SQL that follows FROM."""

    columns: dict[str, Column]
    """The column of each role that has one."""

    writing: Writing = DEFAULT_WRITING
    """How numbers and times are written in its texts, as far as its format tells."""


@dataclass(frozen=True)
class Column:
    """A column as a query refers to it."""

    expression: str
    """SQL for its value."""

    type_name: str
    """Its DuckDB type."""


@dataclass(frozen=True)
class FileFingerprints:
    """File identities recorded before reading, to detect files that change while they are read.

    Rows are checked in one pass and counted in another. If a file changes in between, rows that were never checked
    would be counted.
    """

    entries: tuple[tuple[Path, Fingerprint], ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """Record the files as they are now."""
        return cls(tuple((path, _fingerprint(path)) for path in paths))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, (_, _, size, *_) in self.entries)

    def check(self) -> None:
        """Raise SourceError if a file is no longer what it was."""
        for path, recorded in self.entries:
            if _fingerprint(path) != recorded:
                raise SourceError(
                    f"{path}: was changed or replaced while it was read, so the rows counted are not the rows checked. "
                    "Run it again when nothing writes to the file, or read a copy."
                )


def describe_columns(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """The columns of a relation and their types, in order. The rows of DESCRIBE may come in any order."""
    found = con.sql(f"SELECT * FROM {relation}")
    return {name: str(type_name) for name, type_name in zip(found.columns, found.types, strict=True)}


def _fingerprint(path: Path) -> Fingerprint:
    """Device, inode, size, and the times (in nanoseconds) at which content and inode last changed."""
    try:
        status = path.stat()
    except OSError as error:
        raise SourceError(f"{path}: cannot be found any more ({error.strerror}).") from None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
