"""Text files: comma or tab separated, with or without a header, also compressed by gzip.

Nothing is guessed from a sample of rows: every field is read as text, so that ids come in exactly as
they are written ("007" stays "007"), and what a column holds is decided over all of its rows. How fields are laid out
comes from a header, or from what the caller says: never from a row, which is somebody's visit, and which would
decide how everybody else's are read.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import zlib
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ParameterError, SourceError
from locentropy.visits.column_types import list_of, literal
from locentropy.visits.columns import is_usual
from locentropy.visits.readers.base import Column, Relation
from locentropy.visits.readers.files import Unchanged, is_gzip
from locentropy.visits.visits import DELIMITERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Format, Roles

SWALLOWED: Final = "a field of several lines may be several rows"
"""What the engine stops with where a field may have swallowed rows."""

_LONGEST_LINE: Final = 1 << 20
_LONGEST_ROW: Final = 1 << 21
"""Bytes, of the engine; of one that is sixteen times as long at the end of a file it says nothing."""
_MOST_COLUMNS: Final = 4096
"""More than any table of visits has; each costs the engine time and memory before the first row is read."""


@dataclass(frozen=True)
class Layout:
    """How the fields of a text file are laid out."""

    columns: tuple[str, ...]
    has_header: bool
    delimiter: str
    quote: str
    encoding: str


@dataclass(frozen=True)
class Said:
    """What the caller says about the layout of text files."""

    header: bool | None
    names: Sequence[str] | None
    delimiter: str | None
    chosen: Sequence[str]
    """The columns that were named as user, location, …"""


@dataclass(frozen=True)
class TextPart:
    """One text file."""

    path: Path
    layout: Layout
    unchanged: Unchanged
    no_location: str | None = None

    reads_once = True

    @property
    def label(self) -> str:
        """The file's path."""
        return str(self.path)

    @property
    def hint(self) -> str:
        """Columns that nobody recognises may be a first row that was taken for a header."""
        return (
            " Is the first line no header? Say what the columns are, in order: columns=[...] (--columns a,b,c)."
            if self.layout.has_header
            else ""
        )

    @property
    def columns(self) -> list[str]:
        """The columns' names, from the header or as given."""
        return list(self.layout.columns)

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Read every field as text; columns are addressed by position, so odd names do no harm."""
        layout = self.layout
        fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.columns)))
        options = {
            "auto_detect": "false",
            "columns": "{" + fields + "}",
            "header": str(layout.has_header).lower(),
            "delim": literal(layout.delimiter),
            "quote": literal(layout.quote),
            "escape": literal(layout.quote),
            "nullstr": "''",
            "encoding": literal(layout.encoding),
            "compression": literal("gzip" if is_gzip(self.path) else "none"),
        }
        if drop_bad:
            options |= {"ignore_errors": "true", "store_rejects": "true", "rejects_limit": "0"}
        files = list_of([glob.escape(str(self.path))])
        sql = f"read_csv({files}, {', '.join(f'{key}={value}' for key, value in options.items())})"
        if layout.quote:
            sql = f"(FROM {sql} WHERE {_swallows_nothing(layout)})"
        positions = {role: layout.columns.index(name) for role, name in roles.items()}
        columns = {role: Column(f"c{i}", "VARCHAR") for role, i in positions.items()}
        if self.no_location is not None and "location" in columns:
            unknown = f"nullif({columns['location'].expression}, {literal(self.no_location)})"
            columns["location"] = Column(unknown, "VARCHAR")
        return Relation(sql, columns)


def _swallows_nothing(layout: Layout) -> str:
    """A condition that holds for every row, or stops the query.

    A field that begins with a stray quotation mark goes on, over the rows of other people, to the next mark that ends
    a field: whoever can write such a field, in whatever column, can make others vanish, and has no bounded influence.
    Each row that is swallowed shows as a line break with a separator somewhere behind it.
    """
    breaks = " OR ".join(
        f"contains(c{i}, chr({code}))" for i in range(len(layout.columns)) for code in (10, 13)
    )
    pattern = literal(rf"[\r\n](?s:.*)[{layout.delimiter}]")
    swallowed = " OR ".join(
        f"coalesce(regexp_matches(c{i}, {pattern}), false)" for i in range(len(layout.columns))
    )
    # The cheap look first, and as a choice: of an "and" the engine may work out both sides for every row.
    return (
        f"CASE WHEN {breaks} THEN CASE WHEN {swallowed} THEN error('{SWALLOWED}') ELSE true END ELSE true END"
    )


def parts(
    paths: Sequence[Path],
    *,
    known: Format | None,
    said: Said,
) -> list[TextPart]:
    """The files, each with its layout."""
    unchanged = [Unchanged.of([path]) for path in paths]
    for path in paths:
        _must_end_in_lines(path)
    if known is not None:
        if (said.header, said.names, said.delimiter) != (None, None, None):
            raise ParameterError(
                "A published format has its own columns: leave out header, columns and delimiter."
            )
        # Published dumps are plain: tabs never occur inside a field and quotes mean nothing.
        layout = Layout(known.columns, False, "\t", "", known.encoding)
        for path in paths:
            _must_have_fields(path, _first_row(path, layout), known.columns)
        return [
            TextPart(path, layout, seen, known.no_location)
            for path, seen in zip(paths, unchanged, strict=True)
        ]
    return [TextPart(path, _layout(path, said), seen) for path, seen in zip(paths, unchanged, strict=True)]


def _layout(path: Path, said: Said) -> Layout:
    line = _first_line(path, "utf-8")
    layout = Layout(
        (), True, said.delimiter or _delimiter_by_name(path) or _delimiter_of_header(line), '"', "utf-8"
    )
    header = said.header
    if header is None:
        header = said.names is None and _looks_like_header(_first_row(path, layout), said.chosen)
    if not header:
        layout = replace(
            layout, has_header=False, delimiter=said.delimiter or _delimiter_by_name(path) or ","
        )
    row = _first_row(path, layout)
    if said.names is not None:
        _must_have_fields(path, row, said.names)
        if not header and any(is_usual(cell) for cell in row):
            raise ParameterError(
                f"{path}: columns are named, but the first line looks like a header of its own. If it is one, say "
                "so and it is passed over: header=True (--header)."
            )
        return replace(layout, columns=tuple(said.names))
    if not header:
        raise ParameterError(
            f"{path}: a file without a header needs names for its columns, in order, such as "
            'columns=["user", "location", "time"] (--columns user,location,time). If its first line is a header, say '
            "so: header=True (--header)."
        )
    return replace(layout, columns=tuple(name.strip() for name in row))


def _looks_like_header(row: Sequence[str], chosen: Sequence[str]) -> bool:
    """A header holds a name that the caller chose, or at least no number."""
    return any(cell.strip() in chosen for cell in row) or not any(map(_is_number, row))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _delimiter_by_name(path: Path) -> str | None:
    return "\t" if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) else None


def _delimiter_of_header(line: str) -> str:
    """The separator that is most frequent in it."""
    unquoted = re.sub(r'"(?:[^"]|"")*"', "", line)
    return max(DELIMITERS, key=unquoted.count)


def _first_line(path: Path, encoding: str) -> str:
    try:
        with gzip.open(path) if is_gzip(path) else path.open("rb") as file:
            line = file.readline(_LONGEST_LINE).decode(encoding).removeprefix("\ufeff")
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is not whole"
        raise SourceError(f"{path}: cannot be read ({reason}).") from None
    except UnicodeDecodeError as error:
        raise SourceError(not_utf8(path, error.object[:4])) from None
    if "\0" in line:
        raise SourceError(
            f"{path}: is not text (it contains zero bytes). CSV, TSV and Parquet files are read."
        )
    if not line.strip():
        raise SourceError(f"{path}: the file is empty, or begins with an empty line.")
    return line


def _must_end_in_lines(path: Path) -> None:
    """Refuse a last line that the engine would pass over without a word; one further up it complains about itself.

    Of a compressed file only the first line is known before all is read.
    """
    if is_gzip(path):
        return
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST_ROW))
        end = file.read(_LONGEST_ROW)
    if len(end) == _LONGEST_ROW and not re.search(rb"[\r\n]", end[:-2]):
        raise SourceError(
            f"{path}: the last line is longer than {_LONGEST_ROW >> 20} MB. Is it a table of visits, one visit a line?"
        )


def not_utf8(path: Path, begins: bytes = b"") -> str:
    """What to do about a file that is not UTF-8 text, by its first bytes where they are known."""
    if begins.startswith(b"PK"):
        return f"{path}: is a workbook or an archive. Save the sheet as CSV, or unpack the archive."
    if begins.startswith(b"\x89PNG"):
        return f"{path}: is a picture. CSV, TSV and Parquet files are read."
    encoding = "utf-16" if begins[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin1"
    converted = path.with_name(f"{path.name.partition('.')[0]}-utf8.csv")
    command = f"iconv -f {encoding} -t utf-8 {quote(str(path))} > {quote(str(converted))}"
    return f"{path}: is not UTF-8 text. If it is a table in another encoding, convert it: {command}"


def _first_row(path: Path, layout: Layout) -> list[str]:
    line = _first_line(path, layout.encoding).rstrip("\r\n")
    if line.count(layout.delimiter) >= _MOST_COLUMNS:
        raise SourceError(
            f"{path}: the first line has more than {_MOST_COLUMNS:,} fields. Is it a table of visits, one visit a line?"
        )
    if not layout.quote:
        return line.split(layout.delimiter)
    try:
        return next(csv.reader([line], delimiter=layout.delimiter, quotechar=layout.quote))
    except csv.Error:
        raise SourceError(
            f"{path}: the first line cannot be read as a row. Do lines end in a line feed, and are fields shorter than "
            "131,072 characters?"
        ) from None


def _must_have_fields(path: Path, row: Sequence[str], names: Sequence[str]) -> None:
    if len(row) != len(names):
        raise ParameterError(
            f"{path}: the first line has {len(row)} fields, but {len(names)} columns are expected: "
            f"{', '.join(names)}. Is it another kind of file, or separated otherwise? Then say by what: "
            "delimiter=';' (--delimiter ';')."
        )
