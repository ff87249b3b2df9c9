"""JSON lines (NDJSON): one object on each line. Every value is read as a text, as it is written.

Text files say in their header which columns there are; here every line says it of itself, and a line is somebody's
row. So a column is recognised by its name only if every line has it. A usual name that some lines have and others have
not is asked about: columns that the caller names are looked up in each line by itself.
"""

from __future__ import annotations

import codecs
import glob
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import BadRowsError, ColumnError, SourceError
from locentropy.visits.columns import AUTO, USUAL_NAMES
from locentropy.visits.person_column import normalized
from locentropy.visits.readers.base import Column, FileFingerprints, Relation
from locentropy.visits.readers.encodings import damaged, opened
from locentropy.visits.readers.files import is_gzip
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
        return BadRowsError(
            f"{self.path}: a line cannot be read as an object of JSON. JSON lines have one whole object on each line, "
            f"in UTF-8. Fix the file{advice}."
        )

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Take the value of each key as a text; keys that a line lacks are null."""
        columns = {
            role: Column(f"json_extract_string(json, {_json_path(name)})", "VARCHAR")
            for role, name in roles.items()
        }
        # Lines that cannot be read are null where they are dropped; a line that holds no object is one of them.
        unread = "false" if drop_bad else "error('a line is not an object')"
        is_object = f"CASE WHEN json_type(json) = 'OBJECT' THEN true ELSE {unread} END"
        return Relation(f"(FROM {_read(self.path, ignore_errors=drop_bad)} WHERE {is_object})", columns)


def json_lines_parts(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    choices: Mapping[str, Choice] | None,
    *,
    drop_bad: bool,
) -> list[JsonLinesPart]:
    """One part for each file."""
    fingerprints = [FileFingerprints.of([path]) for path in paths]
    for path in paths:
        _refuse_byte_order_mark(path)
    return [
        JsonLinesPart(path, _columns(con, path, choices, drop_bad=drop_bad), seen)
        for path, seen in zip(paths, fingerprints, strict=True)
    ]


def _columns(
    con: duckdb.DuckDBPyConnection, path: Path, choices: Mapping[str, Choice] | None, *, drop_bad: bool
) -> list[str]:
    """The keys that every line has, and those that the caller named and some line has; without `choices` all."""
    import duckdb

    objects = f"(FROM {_read(path, ignore_errors=drop_bad)} WHERE json_type(json) = 'OBJECT')"
    try:
        rows = con.execute(
            f"SELECT key, count(*), (SELECT count(*) FROM {objects}) FROM "
            f"(SELECT unnest(list_distinct(json_keys(json))) AS key FROM {objects}) GROUP BY key ORDER BY key "
            f"LIMIT {_MAX_COLUMNS + 1}"
        ).fetchall()
    except duckdb.Error:
        raise JsonLinesPart(path, [], FileFingerprints()).unreadable_line(drop=drop_bad) from None
    if len(rows) > _MAX_COLUMNS:
        raise SourceError(
            f"{path}: the lines have more than {_MAX_COLUMNS:,} different keys. Is it a table of visits?"
        )
    named = {choice for choice in (choices or {}).values() if isinstance(choice, str)}
    if not rows and named:
        return sorted(named)  # a table without rows: whether somebody is in it decides nothing
    if not rows:
        raise SourceError(
            f"{path}: has no line with an object in it. JSON lines have one object on each line."
        )
    if choices is None:
        return [key for key, _, _ in rows]
    everywhere = [key for key, lines, all_lines in rows if lines == all_lines]
    for key, lines, all_lines in rows:
        for role, choice in choices.items():
            if (
                choice is AUTO
                and lines != all_lines
                and key not in named
                and normalized(key) in USUAL_NAMES[role]
            ):
                raise ColumnError(
                    f"{path}: some lines have {key!r}, a usual name of the {role} column, and others have not, so it "
                    f"is not taken by its name. Say whether it is meant: {role}={key!r} (--{role} {key}); or that no "
                    f"column is: {role}=None (--{role} '')."
                )
    return [*everywhere, *(key for key, lines, all_lines in rows if lines != all_lines and key in named)]


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


def _json_path(key: str) -> str:
    """A path to a key of the object itself, which may hold any characters."""
    return literal('$."' + re.sub(r'(["\\])', r"\\\1", key) + '"')
