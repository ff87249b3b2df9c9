"""Resolving a source: the parts it is read from, and the columns they agree on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ColumnError, ColumnProblems, ParameterError
from locentropy.visits.columns import AUTO, Roles, format_named, resolve_roles
from locentropy.visits.readers import files, json_lines, tables, text, workbooks
from locentropy.visits.readers.encodings import UTF8, encoding_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Choice
    from locentropy.visits.readers.base import Part
    from locentropy.visits.visits import Visits

TEXT_OPTIONS: Final = ("format", "header", "columns", "delimiter", "encoding")
"""The options of `Visits` that apply to text files only."""

WRITING_OPTIONS: Final = ("decimal", "time_format")
"""The options of `Visits` that say how numbers and times are written, where they are texts."""

TYPED_ONLY: Final = "where times and numbers must have their types. Leave it out"
"""Why engines refuse these that are asked to read no texts: each would read them in its own way."""

_APPLIES_TO: Final = {
    "table": "DuckDB databases and workbooks",
    "views": "DuckDB databases",
    "decimal": "numbers that are texts",
    "time_format": "times that are texts",
}
_OF_THE_LIST: Final = (
    " If the list of places is meant, say so: PublicLocations(…, {option}=…) (--places-{option})."
)


def resolve_source(
    con: duckdb.DuckDBPyConnection,
    visits: Visits,
    scratch: Path,
    choices: Mapping[str, Choice] | None = None,
    prefix: str = "--",
) -> list[Part]:
    """The parts of a source that is a path, a folder, a pattern or a table in memory.

    `scratch` is a folder that only its owner can read, for as long as the parts are read. `choices` are those of each
    role; None of a public list, whose rows may say which columns there are. `prefix` begins the options about this
    source, for error messages.
    """
    if not visits.is_path:
        reject_options(visits, ("table", "views", *TEXT_OPTIONS), "a table in memory")
        return [tables.frame_part(visits.source, ids_as_text=visits.spelling.text)]
    paths = files.find_files(visits.source)
    kind = files.common_kind(paths)
    if kind != "duckdb":
        reject_options(visits, ("views",), f"{paths[0]} ({kind})")
    if kind not in ("duckdb", "workbook"):
        reject_options(visits, ("table",), f"{paths[0]} ({kind})")
    if kind != "text":
        reject_options(visits, TEXT_OPTIONS, f"{paths[0]} ({kind})")
    if kind == "parquet":
        return list(tables.parquet_parts(con, paths, scratch))
    if kind == "duckdb":
        if len(paths) > 1:
            raise ParameterError(f"{visits.source}: only one DuckDB database can be read at a time.")
        return [tables.database_part(con, paths[0], visits.table, prefix, views=visits.views)]
    if kind == "workbook":
        return [workbooks.workbook_part(path, visits.table, prefix) for path in paths]
    if kind == "JSON lines":
        drop = visits.bad_rows == "drop"
        if choices is not None and choices["time"] is AUTO and visits.window is None:
            choices = {**choices, "time": None}  # times that nothing asks for are read where they are named
        return list(json_lines.json_lines_parts(con, paths, choices, scratch=scratch, drop_bad=drop))
    drop = visits.bad_rows == "drop"
    options = text.TextOptions(visits.header, visits.columns, visits.delimiter, drop_bad=drop, prefix=prefix)
    if visits.format is not None:
        reject_options(visits, ("encoding",), f"the format {visits.format}, which has its own")
        return list(text.published_parts(paths, format_named(visits.format), options, scratch))
    encoding = encoding_named(visits.encoding or UTF8)
    return list(text.text_parts(paths, replace(options, encoding=encoding), scratch))


def reject_options(visits: Visits, options: Sequence[str], what: str) -> None:
    """Raise ParameterError if an option is given that does not apply to this kind of source."""
    for option in options:
        if getattr(visits, option) != getattr(type(visits), option):  # the default
            kind = _APPLIES_TO.get(option, "text files")
            alone = _OF_THE_LIST if option in ("encoding", "delimiter") else ""
            raise ParameterError(
                f"is for {kind}, not for {what}.{alone.format(option=option)}",
                parameter=option,
                value=getattr(visits, option),
            )


def common_roles(
    visits: Visits, parts: Sequence[Part], required: Sequence[str], problems: ColumnProblems | None = None
) -> Roles:
    """The column of each role, the same in all parts; as far as there are none of the problems, if these are given."""
    choices = visits.choices_for(required)
    roles = resolve_roles(
        choices, parts[0].columns, parts[0].label, required, parts[0].hint, problems=problems
    )
    for part in () if problems is not None and problems.found else parts[1:]:
        here = resolve_roles(choices, part.columns, part.label, required, part.hint)
        if here != roles:
            raise ColumnError(
                f"{parts[0].label} and {part.label} do not have the same columns for {', '.join(roles)}. Files that "
                "are read together must use the same column names."
            )
    return roles
