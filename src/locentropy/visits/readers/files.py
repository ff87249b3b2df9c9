"""Files: which files a path, a folder or a pattern stands for, and what kind of table each holds."""

from __future__ import annotations

import glob
import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from locentropy.core.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

FileKind = Literal["parquet", "duckdb", "text", "JSON lines", "workbook"]

_ENDINGS: Final = (".parquet", ".pq", ".csv", ".tsv", ".tab", ".txt", ".jsonl", ".ndjson")
"""In a folder. Workbooks are read by their own names only: many lie about that are no tables."""
_JSON_LINES: Final = (".jsonl", ".ndjson", ".json")
_TEXT: Final = (".csv", ".tsv", ".tab", ".txt", *_JSON_LINES)
"""What is named so is text, whatever its first bytes are: they may be somebody's row."""
_WORKBOOKS: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_LINKS: Final = count()
_GZIP_MAGIC: Final = b"\x1f\x8b"
_WORKBOOK_MAGIC: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""A zip archive, and the compound files of Excel before 2007."""


def find_files(source: str | Path) -> list[Path]:
    """The files that a path, a folder or a pattern stands for, sorted by name."""
    if not str(source).strip():
        raise SourceError('The source is empty. Give a path, for example: Visits("checkins.parquet")')
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            return _without_duplicates(_in_folder(path))
        if path.is_file():
            return [path]
        if glob.has_magic(str(path)):
            names = glob.glob(str(path), recursive=True)  # noqa: PTH207  # the pattern may be absolute
            found = sorted(Path(name) for name in names if Path(name).is_file())
            if not found:
                raise SourceError(f"{source}: no file matches this pattern.")
            return _without_duplicates(found)
        if path.exists():
            raise SourceError(f"{source}: is neither a file nor a folder.")
    except (
        OSError,
        RuntimeError,
    ) as error:  # unknown home, a name too long, a folder without read permission
        raise SourceError(f"{source}: cannot be read ({error}).") from None
    raise SourceError(
        f"{source}: no such file or folder. Give the path of a CSV, TSV, JSON lines or Parquet file, of a folder of "
        "them, or a pattern such as 'data/*.parquet'."
    )


def exists(source: str) -> bool:
    """Whether a text is the path of something that exists."""
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False


def common_kind(paths: list[Path]) -> FileKind:
    """The kind of table in all the files; raise SourceError if they differ."""
    kinds = {path: file_kind(path) for path in paths}
    first = kinds[paths[0]]
    for path, kind in kinds.items():
        if kind != first:
            raise SourceError(
                f"{paths[0]} holds {first} and {path} holds {kind}: files read together must be of one kind. "
                "Use a pattern, such as 'data/*.parquet', to choose."
            )
    return first


def file_kind(path: Path) -> FileKind:
    """The kind of table in a file: text by its name, and others by their first bytes."""
    name = path.name.lower().removesuffix(".gz")
    text: FileKind = "JSON lines" if name.endswith(_JSON_LINES) else "text"
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise SourceError(f"{path}: cannot be opened ({error.strerror}).") from None
    if name.endswith(_TEXT):
        return text
    if head.startswith(b"PAR1"):
        return "parquet"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if path.suffix.lower() in (".parquet", ".pq"):
        raise SourceError(f"{path}: is named as a Parquet file but is not one (it does not begin with PAR1).")
    if path.suffix.lower() in _WORKBOOKS and head.startswith(_WORKBOOK_MAGIC):
        return "workbook"
    return text


def is_gzip(path: Path) -> bool:
    """Whether the file is compressed with gzip: by its first bytes, unless it is named as plain text."""
    if path.name.lower().endswith(_TEXT):
        return False
    with path.open("rb") as file:
        return file.read(2) == _GZIP_MAGIC


def is_plain(path: Path) -> bool:
    """Whether the engine takes a name for itself and no pattern. On Windows no name has these signs but brackets."""
    return os.sep != "/" or not set(str(path)) & set("*?[\\")


def plain_link(path: Path, scratch: Path) -> Path:
    """The file, under a plain name if its own is none. A name from the root on begins like no address.

    Of a name with its signs escaped the engine lists the folders, and fails at names in them that begin with a
    backslash.
    """
    path = path.absolute()
    if is_plain(path):
        return path
    link = scratch / f"link-{next(_LINKS)}{'.gz' if is_gzip(path) else '.txt'}"
    link.symlink_to(path.resolve())
    return link


def _in_folder(folder: Path) -> list[Path]:
    """The tables below a folder. Names that begin with a dot or an underscore are markers, not tables."""
    found = sorted(path for path in _below(folder) if _is_table(path))
    if not found:
        raise SourceError(
            f"{folder}: the folder contains no table ({', '.join(_ENDINGS)}, or .gz of a text file)."
        )
    return found


def _below(folder: Path) -> Iterator[Path]:
    """Every file below a folder. A folder that cannot be read is an error: its visits would be missing."""

    def stop(error: OSError) -> None:
        raise error

    for where, folders, names in os.walk(folder, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(where, name) for name in names if not name.startswith((".", "_")))


def _is_table(path: Path) -> bool:
    if not path.name.lower().removesuffix(".gz").endswith(_ENDINGS):
        return False
    if not path.is_file():
        raise SourceError(f"{path}: is named as a table but is not a file, or is a broken link. Remove it.")
    return True


def _without_duplicates(paths: list[Path]) -> list[Path]:
    """Each file once, even if several links lead to it; raise if a file is there with its compressed copy."""
    once = list({path.resolve(): path for path in reversed(paths)}.values())[::-1]
    for path in once:
        if path.with_name(f"{path.name}.gz") in once:
            raise SourceError(
                f"{path} and {path.name}.gz are both there: the same visits would count twice. Remove one of them, "
                "or use a pattern to choose."
            )
    return once
