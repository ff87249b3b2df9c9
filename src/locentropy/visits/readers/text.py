"""Text files: separated by commas, semicolons, tabs or bars, with or without a header, optionally gzip.

Nothing is guessed from a sample of rows. Every field is read as text, so ids stay exactly as written ("007" stays
"007"). The layout comes from the header; without one from options and defaults alone, never from a row: a row belongs
to somebody, and must not decide how other people's rows are read.
"""

from __future__ import annotations

import csv
import glob
import os
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ParameterError, SourceError
from locentropy.visits.columns import is_usual_name
from locentropy.visits.readers.base import Column, FileFingerprints, Relation
from locentropy.visits.readers.encodings import UTF8, as_utf8, damaged, not_utf8, opened, recognised
from locentropy.visits.readers.files import is_gzip, plain_link
from locentropy.visits.readers.lines import sound_copy
from locentropy.visits.sql import list_literal, literal
from locentropy.visits.visits import DELIMITERS
from locentropy.visits.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Format, Roles

SWALLOWED: Final = "a field of several lines may be several rows"
"""The engine's error message for a field that may have swallowed rows."""

_MAX_FIRST_LINE: Final = 1 << 20
_MAX_LINE: Final = 1 << 21
"""Bytes. The engine's limit: it silently ignores a last line that is sixteen times as long."""
_EXCEL_MARK: Final = re.compile(r"sep=([,;|\t])\r?\n?", re.IGNORECASE)
"""A first line by which programs tell Excel the separator."""
_SHOWN: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MAX_COLUMNS: Final = 4096
"""More than any table of visits has. Each column costs the engine time and memory before the first row is read."""


@dataclass(frozen=True)
class TextOptions:
    """What the caller says about the layout of text files."""

    header: bool | None
    names: Sequence[str] | None
    delimiter: str | None
    encoding: str = UTF8
    drop_bad: bool = False
    """Whether rows that break a rule are dropped: then no row decides whether the file is read."""
    prefix: str = "--"
    """Begins the options about the file, for error messages."""

    @property
    def has_header(self) -> bool:
        """Whether the first line is a header: it is unless the columns are named, or it is said."""
        return self.names is None if self.header is None else self.header


@dataclass(frozen=True)
class Layout:
    """How the fields of a text file are laid out."""

    columns: tuple[str, ...]
    has_header: bool
    delimiter: str
    quote: str
    encoding: str
    lines_before: int = 0
    """Lines before the header that are none of the table."""


@dataclass(frozen=True)
class TextPart:
    """One text file."""

    path: Path
    layout: Layout
    fingerprints: FileFingerprints
    no_location: str | None = None
    """The location id that stands for "unknown place", read as missing."""
    copy: Path | None = None
    """What is read in its place: the file as UTF-8, its sound lines, or a link with a plain name."""
    encoding: str = UTF8
    """The encoding of the file itself."""
    prefix: str = "--"

    reads_once = True

    @property
    def label(self) -> str:
        """The file's path."""
        return str(self.path)

    @property
    def reads_fast(self) -> bool:
        """Whether to read it twice takes less time than to store its rows."""
        return not is_gzip(self.copy or self.path)

    @property
    def hint(self) -> str:
        """Advice for unknown column names: a first row that was taken for a header, or fields that were not parted."""
        parted = f" {other_delimiter(self.prefix)}" if len(self.layout.columns) == 1 else ""
        return parted + (
            " If the first line is not a header, name the columns in order, such as "
            'columns=["user", "location", "time"] (--columns user,location,time).'
            if self.layout.has_header
            else ""
        )

    @property
    def described(self) -> str:
        """How the file is read."""
        return f"{self.encoding}, fields separated by {_SHOWN[self.layout.delimiter]}"

    @property
    def columns(self) -> list[str]:
        """The columns' names, from the header or as given."""
        return list(self.layout.columns)

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Read every field as text. Columns are addressed by position, so odd names do no harm."""
        layout, file = self.layout, self.copy or self.path
        fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.columns)))
        options = {
            "auto_detect": "false",
            "columns": "{" + fields + "}",
            "header": str(layout.has_header).lower(),
            "delim": literal(layout.delimiter),
            "quote": literal(layout.quote),
            "escape": literal(layout.quote),
            "nullstr": "''",
            "skip": str(layout.lines_before),
            "encoding": literal(layout.encoding),
            "compression": literal("gzip" if is_gzip(file) else "none"),
        }
        if drop_bad:
            options |= {"ignore_errors": "true", "store_rejects": "true", "rejects_limit": "0"}
        files = list_literal([glob.escape(str(file))])
        sql = f"read_csv({files}, {', '.join(f'{key}={value}' for key, value in options.items())})"
        if layout.quote:
            sql = f"(FROM {sql} WHERE {_no_swallowed_rows(layout)})"
        positions = {role: layout.columns.index(name) for role, name in roles.items()}
        columns = {role: Column(f"c{i}", "VARCHAR") for role, i in positions.items()}
        if self.no_location is not None and "location" in columns:
            unknown = f"nullif({columns['location'].expression}, {literal(self.no_location)})"
            columns["location"] = Column(unknown, "VARCHAR")
        # Where semicolons or tabs separate, as in what Excel writes in countries with decimal commas, commas are free
        # to be decimal marks.
        return Relation(sql, columns, Writing(None if layout.delimiter in ";\t" else "."))


def text_parts(paths: Sequence[Path], options: TextOptions, scratch: Path) -> list[TextPart]:
    """One part for each file, laid out as its header or the caller says."""
    parts = []
    for path, seen in zip(paths, _recorded(paths, drop_bad=options.drop_bad), strict=True):
        copy = None
        if options.encoding != UTF8:
            how = {"has_header": options.has_header, "drop_bad": options.drop_bad}
            copy = as_utf8(path, options.encoding, scratch, options.prefix, **how)
        layout = _layout(_File(path, copy or path, prefix=options.prefix), options)
        if options.drop_bad:
            copy = _sound(path, copy or path, layout, scratch) or copy
        copy = copy or plain_link(path, scratch)
        parts.append(
            TextPart(path, layout, seen, copy=copy, encoding=options.encoding, prefix=options.prefix)
        )
    return parts


def other_delimiter(prefix: str) -> str:
    """Advice where fields were not parted."""
    return (
        f"If the fields are separated by another character, name it: delimiter=';' ({prefix}delimiter ';')."
    )


def published_parts(
    paths: Sequence[Path], published: Format, options: TextOptions, scratch: Path
) -> list[TextPart]:
    """One part for each file of a published format."""
    fingerprints = _recorded(paths, drop_bad=options.drop_bad)
    if (options.header, options.names, options.delimiter) != (None, None, None):
        raise ParameterError(
            "A published format has its own columns: leave out header, columns and delimiter."
        )
    # In published dumps tabs never occur inside a field, and quotes have no meaning.
    layout = Layout(published.columns, False, "\t", "", published.encoding)
    for path in paths if not options.drop_bad else ():
        _check_field_count(path, _first_row(_File(path, path), layout), published.columns, options.prefix)
    return [
        TextPart(
            path,
            layout,
            seen,
            published.no_location,
            copy=(_sound(path, path, layout, scratch) if options.drop_bad else None)
            or plain_link(path, scratch),
            encoding=published.encoding,
        )
        for path, seen in zip(paths, fingerprints, strict=True)
    ]


def _sound(path: Path, content: Path, layout: Layout, scratch: Path) -> Path | None:
    header = layout.lines_before + 1 if layout.has_header else 0
    return sound_copy(path, content, layout.delimiter, layout.quote, scratch, header)


def _no_swallowed_rows(layout: Layout) -> str:
    """A condition that is true for every row, or stops the query.

    A field that begins with a stray quotation mark continues, across the rows of other people, to the next mark that
    ends a field. Whoever can write such a field, in any column, can make other people's rows disappear, and so has
    unbounded influence. Each swallowed row shows as a line break followed by a separator.
    """
    breaks = " OR ".join(
        f"contains(c{i}, chr({code}))" for i in range(len(layout.columns)) for code in (10, 13)
    )
    pattern = literal(rf"[\r\n](?s:.*)[{layout.delimiter}]")
    swallowed = " OR ".join(
        f"coalesce(regexp_matches(c{i}, {pattern}), false)" for i in range(len(layout.columns))
    )
    # The cheap test comes first, in a CASE: for an AND the engine may evaluate both sides on every row.
    return (
        f"CASE WHEN {breaks} THEN CASE WHEN {swallowed} THEN error('{SWALLOWED}') ELSE true END ELSE true END"
    )


def _recorded(paths: Sequence[Path], *, drop_bad: bool) -> list[FileFingerprints]:
    """The fingerprints of the files, before anything is read from them."""
    fingerprints = [FileFingerprints.of([path]) for path in paths]
    for path in paths if not drop_bad else ():
        _check_last_line(path)
    return fingerprints


@dataclass(frozen=True)
class _File:
    """A file that is read, and what it is called in messages."""

    path: Path
    """The file as the caller knows it."""
    content: Path
    """The same as UTF-8."""
    lines_before: int = 0
    """Lines before the first one of the table."""
    prefix: str = "--"


def _layout(file: _File, options: TextOptions) -> Layout:
    if not options.has_header:
        return _layout_without_header(file, options)
    path, line = file.path, _first_line(file, UTF8)
    marked = _EXCEL_MARK.fullmatch(line)
    if marked is not None:
        file = replace(file, lines_before=1)
        line = _first_line(file, UTF8)
    known = options.delimiter or (marked and marked[1]) or _delimiter_by_name(path)
    layout = Layout((), True, known or _delimiter_of_header(line), '"', UTF8, file.lines_before)
    row = _first_row(file, layout)
    if options.names is not None:
        _check_field_count(path, row, options.names, options.prefix)
        return replace(layout, columns=tuple(options.names))
    return replace(layout, columns=tuple(name.strip() for name in row))


def _layout_without_header(file: _File, options: TextOptions) -> Layout:
    """The layout that options and defaults give. The first line is a row like others, and somebody's.

    Where bad rows fail, it may be one, and is looked at for a better error.
    """
    path = file.path
    if options.names is None:
        raise ParameterError(
            f"{path}: a file without a header needs names for its columns, in order, such as "
            'columns=["user", "location", "time"] (--columns user,location,time). If its first line is a header, say '
            "so: header=True (--header)."
        )
    delimiter = options.delimiter or _delimiter_by_name(path) or ","
    layout = Layout(tuple(options.names), False, delimiter, '"', UTF8)
    if options.drop_bad or _is_empty(file):
        return layout
    row = _first_row(file, layout)
    _check_field_count(path, row, options.names, options.prefix)
    if options.header is None and any(is_usual_name(cell) for cell in row):
        raise ParameterError(
            f"{path}: columns are named, but the first line looks like a header. If it is one, say so, and it is "
            "skipped: header=True (--header). If it is a visit: header=False (--no-header)."
        )
    return layout


def _is_empty(file: _File) -> bool:
    with suppress(OSError, EOFError, zlib.error), opened(file.content) as content:
        return not content.read(1)
    return False


def _delimiter_by_name(path: Path) -> str | None:
    return "\t" if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) else None


def _delimiter_of_header(line: str) -> str:
    """The separator that occurs most often in a header."""
    unquoted = re.sub(r'"(?:[^"]|"")*"', "", line)
    return max(DELIMITERS, key=unquoted.count)


def _first_row(file: _File, layout: Layout) -> list[str]:
    path, line = file.path, _first_line(file, layout.encoding).rstrip("\r\n")
    if line.count(layout.delimiter) >= _MAX_COLUMNS:
        raise SourceError(
            f"{path}: the first line has more than {_MAX_COLUMNS:,} fields. Is it a table of visits, one visit a line?"
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


def _first_line(file: _File, encoding: str) -> str:
    path = file.path
    try:
        with opened(file.content) as content:
            for _ in range(file.lines_before):
                content.readline(_MAX_FIRST_LINE)
            line = content.readline(_MAX_FIRST_LINE).decode(encoding).removeprefix("\ufeff")
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, error) from None
    except UnicodeDecodeError:
        raise SourceError(not_utf8(path, file.prefix)) from None
    if "\0" in line:
        raise SourceError(
            not_utf8(path, file.prefix)
            if (recognised(path) or "").startswith("utf-16")
            else f"{path}: is not text (it contains zero bytes). CSV, TSV and Parquet files can be read."
        )
    if not line.strip():
        raise SourceError(f"{path}: the file is empty, or begins with an empty line.")
    return line


def _check_last_line(path: Path) -> None:
    """Raise SourceError for a last line that the engine would silently ignore.

    Lines further up that are too long make the engine fail by itself. The end of a compressed file is not checked: it
    would have to be decompressed first.
    """
    if is_gzip(path):
        return
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _MAX_LINE))
        end = file.read(_MAX_LINE)
    if len(end) == _MAX_LINE and not re.search(rb"[\r\n]", end[:-2]):
        raise SourceError(
            f"{path}: the last line is longer than {_MAX_LINE >> 20} MB. Is it a table of visits, one visit a line?"
        )


def _check_field_count(path: Path, row: Sequence[str], names: Sequence[str], prefix: str) -> None:
    if len(row) != len(names):
        raise ParameterError(
            f"{path}: the first line has {len(row)} fields, but {len(names)} columns are expected: "
            f"{', '.join(names)}. {other_delimiter(prefix)}"
        )
