"""JSON lines (NDJSON): one object on each line. Every value is read as a text, as it is written.

Text files say in their header which columns there are; here every line says it of itself, and a line is somebody's
row. So keys are never looked for in visits: they are those that the caller names, or else the fixed names of the
roles, `user`, `location` and so on. A line that lacks one of the latter is a bad row, for the keys may be others. The
rows of a public list are public, and say which columns there are.
"""

from __future__ import annotations

import codecs
import glob
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import BadRowsError, SourceError
from locentropy.visits.columns import AUTO
from locentropy.visits.readers.base import Column, FileFingerprints, Relation
from locentropy.visits.readers.encodings import damaged, opened
from locentropy.visits.readers.files import is_gzip, plain_link
from locentropy.visits.readers.lines import sound_copy
from locentropy.visits.sql import literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Choice, Roles

_MAX_COLUMNS: Final = 4096


@dataclass(frozen=True)
class JsonLinesPart:
    """One file of JSON lines."""

    path: Path
    columns: list[str]
    fingerprints: FileFingerprints
    file: Path
    """The same under a plain name, for the engine."""
    assumed: tuple[str, ...] = ()
    """Those that nobody named: every line must have them."""

    reads_once = True
    described = "JSON lines"
    hint = ""

    @property
    def label(self) -> str:
        """The file's path."""
        return str(self.path)

    def unreadable_line(self, *, drop: bool) -> BadRowsError:
        """The error for a line that holds no object, without its content, which is somebody's visit."""
        advice = "" if drop else ', or drop such lines: bad_rows="drop" (--bad-rows drop)'
        others = (
            f" Or it lacks {' or '.join(map(repr, self.assumed))}: these names are looked up unless you name "
            f'others, such as {self.assumed[0]}="key" (--{self.assumed[0]} key).'
            if self.assumed
            else ""
        )
        return BadRowsError(
            f"{self.path}: a line cannot be read as an object of JSON. JSON lines have one whole object on each line, "
            f"in UTF-8.{others} Fix the file{advice}."
        )

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Take the value of each key as a text; keys that a line lacks are null, and visits are then 1."""
        columns = {
            role: Column(f"json_extract_string(json, {_pointer(name)})", "VARCHAR")
            for role, name in roles.items()
        }
        if "visits" in roles:
            found, value = f"json_exists(json, {_pointer(roles['visits'])})", columns["visits"].expression
            columns["visits"] = Column(f"CASE WHEN {found} THEN {value} ELSE '1' END", "VARCHAR")
        lines = _read(self.file, ignore_errors=drop_bad)
        if drop_bad:  # one that is no object lacks every id and number, and is a bad row for that
            return Relation(
                f"(SELECT CASE WHEN json_type(json) = 'OBJECT' THEN json END AS json FROM {lines})", columns
            )
        has_keys = "".join(f" AND json_exists(json, {_pointer(key)})" for key in self.assumed)
        unread = "error('a line is not an object with its keys')"
        sound = f"CASE WHEN json_type(json) = 'OBJECT'{has_keys} THEN true ELSE {unread} END"
        return Relation(f"(FROM {lines} WHERE {sound})", columns)


def json_lines_parts(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    choices: Mapping[str, Choice] | None,
    *,
    scratch: Path,
    drop_bad: bool,
) -> list[JsonLinesPart]:
    """One part for each file. `choices` are those of each role that is used; None of a public list."""
    fingerprints = [FileFingerprints.of([path]) for path in paths]
    for path in paths if not drop_bad else ():
        _refuse_byte_order_mark(path)
    named = {role: choice for role, choice in (choices or {}).items() if isinstance(choice, str)}
    assumed = [role for role, choice in (choices or {}).items() if choice is AUTO]
    # Any line that is too long would stop the engine. It takes a byte order mark for a part of the first line.
    copies = [sound_copy(path, path, "", "", scratch, mark=b"") if drop_bad else None for path in paths]
    plain = [copy or plain_link(path, scratch) for path, copy in zip(paths, copies, strict=True)]
    return [
        JsonLinesPart(
            path,
            _keys(con, path, file) if choices is None else [*named.values(), *assumed],
            seen,
            file,
            tuple(role for role in assumed if role != "visits"),
        )
        for path, seen, file in zip(paths, fingerprints, plain, strict=True)
    ]


def _keys(con: duckdb.DuckDBPyConnection, path: Path, file: Path) -> list[str]:
    """All keys of the lines of a public list."""
    import duckdb

    objects = f"(FROM {_read(file, ignore_errors=False)} WHERE json_type(json) = 'OBJECT')"
    try:
        rows = con.execute(
            f"SELECT DISTINCT unnest(json_keys(json)) AS key FROM {objects} ORDER BY key LIMIT {_MAX_COLUMNS + 1}"
        ).fetchall()
    except duckdb.Error:
        raise JsonLinesPart(path, [], FileFingerprints(), file).unreadable_line(drop=False) from None
    if len(rows) > _MAX_COLUMNS:
        raise SourceError(
            f"{path}: the lines have more than {_MAX_COLUMNS:,} different keys. Is it a table, one object a line?"
        )
    if not rows:
        raise SourceError(
            f"{path}: has no line with an object in it. JSON lines have one object on each line."
        )
    return [key for (key,) in rows]


def _refuse_byte_order_mark(path: Path) -> None:
    """The engine would take it for a part of the first line, which is then not JSON, and somebody's."""
    try:
        with opened(path) as file:
            begins = file.read(3)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, error) from None
    if begins.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError(
            f"{path}: begins with a byte order mark. JSON lines are UTF-8 without one: write it again."
        )


def _read(path: Path, *, ignore_errors: bool) -> str:
    compression = "gzip" if is_gzip(path) else "none"
    return (
        f"read_ndjson_objects({literal(glob.escape(str(path)))}, compression='{compression}', "
        f"ignore_errors={str(ignore_errors).lower()})"
    )


def _pointer(key: str) -> str:
    """A pointer to a key of the object itself, whatever its characters: in a path, * would stand for all keys."""
    return literal("/" + key.replace("~", "~0").replace("/", "~1"))
