"""Files: folders, patterns, Parquet footers, and file identities recorded before reading."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq

from locentropy.core.errors import SourceError
from locentropy.visits.column_types import identifier, list_of
from locentropy.visits.readers.base import Column, Relation, described

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import duckdb

    from locentropy.visits.columns import Roles

Standing = tuple[int, int, int, int, int]
"""Device, inode, size, and when content and inode were last changed, in nanoseconds."""


@dataclass(frozen=True)
class Unchanged:
    """How files stood when they were first looked at."""

    standings: tuple[tuple[Path, Standing], ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """How files stand now."""
        return cls(tuple((path, _standing(path)) for path in paths))

    def check(self) -> None:
        """SourceError if a file does not stand as it did."""
        for path, standing in self.standings:
            if _standing(path) != standing:
                raise SourceError(
                    f"{path}: was changed or replaced while it was read, so what was checked is not what was counted. "
                    "Repeat the call when nobody writes to it, or read a copy."
                )


def _standing(path: Path) -> Standing:
    try:
        status = path.stat()
    except OSError as error:
        raise SourceError(f"{path}: cannot be looked at any more ({error.strerror}).") from None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _reading(paths: tuple[Path, ...]) -> str:
    names = list_of(glob.escape(str(path)) for path in paths)
    return f"read_parquet({names}, hive_partitioning=false)"


@dataclass(frozen=True)
class ParquetPart:
    """Parquet files with the same columns of the same types, read where they are."""

    paths: tuple[Path, ...]
    layout: tuple[tuple[str, Column], ...]
    """The name of each column in the file, and what the engine calls it: it renames those that clash."""
    unchanged: Unchanged

    reads_once = False
    hint = ""

    @property
    def label(self) -> str:
        """The first file stands for all."""
        return str(self.paths[0])

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.layout]

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Select from the files in place."""
        columns = dict(self.layout)
        return Relation(_reading(self.paths), {role: columns[name] for role, name in roles.items()})


def parquet_parts(con: duckdb.DuckDBPyConnection, paths: list[Path]) -> list[ParquetPart]:
    """The files, grouped by their layout."""
    unchanged = Unchanged.of(paths)
    groups: dict[tuple[tuple[str, Column], ...], list[Path]] = {}
    for path in paths:
        groups.setdefault(_layout(con, path), []).append(path)
    return [ParquetPart(tuple(group), layout, unchanged) for layout, group in groups.items()]


def _layout(con: duckdb.DuckDBPyConnection, path: Path) -> tuple[tuple[str, Column], ...]:
    import duckdb

    try:
        names = pq.read_schema(path).names
        types = described(con, _reading((path,)))
        columns = [Column(identifier(name), type_name) for name, type_name in types.items()]
        return tuple(zip(names, columns, strict=True))
    except (
        duckdb.Error,
        pa.ArrowException,
        OSError,
        ValueError,
    ):  # the last where names are no texts, or not alike
        raise SourceError(
            f"{path}: cannot be read as Parquet. Is it whole? Copy it again from where it came."
        ) from None


FileKind = Literal["parquet", "duckdb", "text"]

_ENDINGS: Final = (".parquet", ".pq", ".csv", ".tsv", ".tab", ".txt")
_GZIP_MAGIC: Final = b"\x1f\x8b"


def find(source: str | Path) -> list[Path]:
    """The files a path, a folder or a pattern stands for, in order of their names."""
    if not str(source).strip():
        raise SourceError('The source is empty. Give a path, for example: Visits("checkins.parquet")')
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            return _each_once(_in_folder(path))
        if path.is_file():
            return [path]
        if glob.has_magic(str(path)):
            names = glob.glob(str(path), recursive=True)  # noqa: PTH207  # the pattern may be absolute
            found = sorted(Path(name) for name in names if Path(name).is_file())
            if not found:
                raise SourceError(f"{source}: no file matches this pattern.")
            return _each_once(found)
        if path.exists():
            raise SourceError(f"{source}: is neither a file nor a folder.")
    except (OSError, RuntimeError) as error:  # no such home, a name too long, a folder that may not be read
        raise SourceError(f"{source}: cannot be looked into ({error}).") from None
    raise SourceError(
        f"{source}: no such file or folder. Give the path of a CSV, TSV or Parquet file, of a folder of them, "
        "or a pattern such as 'data/*.parquet'."
    )


def exists(source: str) -> bool:
    """Whether a text names something that is there."""
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False


def _in_folder(folder: Path) -> list[Path]:
    """The tables below a folder; names that begin with a dot or underscore are markers, not tables."""
    found = sorted(path for path in _below(folder) if _is_table(path))
    if not found:
        raise SourceError(
            f"{folder}: the folder has no table in it ({', '.join(_ENDINGS)}, or .gz of a text)."
        )
    return found


def _below(folder: Path) -> Iterator[Path]:
    """All that has a name for a table; a folder that cannot be read is an error, or its visits would be missing."""

    def stop(error: OSError) -> None:
        raise error

    for where, folders, names in os.walk(folder, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(where, name) for name in names if not name.startswith((".", "_")))


def _is_table(path: Path) -> bool:
    if not path.name.lower().removesuffix(".gz").endswith(_ENDINGS):
        return False
    if not path.is_file():
        raise SourceError(f"{path}: is called a table and is no file, or a link to none. Remove it.")
    return True


def _each_once(paths: list[Path]) -> list[Path]:
    """No file twice, by whatever links it is reached; and not a file beside its own compressed copy."""
    once = list({path.resolve(): path for path in reversed(paths)}.values())[::-1]
    for path in once:
        if path.with_name(f"{path.name}.gz") in once:
            raise SourceError(
                f"{path} and {path.name}.gz are both there: the same visits would count twice. Remove one of them, "
                "or use a pattern to choose."
            )
    return once


def file_kind(path: Path) -> FileKind:
    """What a file holds, by its first bytes rather than by its name."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise SourceError(f"{path}: cannot be opened ({error.strerror}).") from None
    if not head:
        raise SourceError(f"{path}: the file is empty.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if path.suffix.lower() in (".parquet", ".pq"):
        raise SourceError(f"{path}: is called Parquet but is not (it does not begin with PAR1).")
    return "text"


def common_kind(paths: list[Path]) -> FileKind:
    """What all the files hold; files of different kinds are not one table."""
    kinds = {path: file_kind(path) for path in paths}
    first = kinds[paths[0]]
    for path, kind in kinds.items():
        if kind != first:
            raise SourceError(
                f"{paths[0]} holds {first} and {path} holds {kind}: files read together must be of one kind. "
                "Use a pattern, such as 'data/*.parquet', to choose."
            )
    return first


def is_gzip(path: Path) -> bool:
    """Whether the file is compressed by gzip, by its first bytes."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP_MAGIC
