"""Resolves a source into the parts it is read from, and the columns they agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ColumnError, ParameterError
from locentropy.visits.columns import Roles, format_named, resolve
from locentropy.visits.readers import files, tables, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from locentropy.visits.readers.base import Part
    from locentropy.visits.visits import Visits

OF_TEXT_FILES: Final = ("format", "header", "columns", "delimiter")


def find_parts(con: duckdb.DuckDBPyConnection, visits: Visits) -> list[Part]:
    """The parts of a source that is a path, a folder, a pattern, or a table in memory."""
    if not visits.is_path:
        must_not_have(visits, ("table", *OF_TEXT_FILES), "a table in memory")
        return [tables.frame_part(visits.source)]
    paths = files.find(visits.source)
    kind = files.common_kind(paths)
    if kind != "duckdb":
        must_not_have(visits, ("table",), f"{paths[0]} ({kind})")
    if kind != "text":
        must_not_have(visits, OF_TEXT_FILES, f"{paths[0]} ({kind})")
    if kind == "parquet":
        return list(files.parquet_parts(con, paths))
    if kind == "duckdb":
        if len(paths) > 1:
            raise ParameterError(f"{visits.source}: one DuckDB database can be read at a time.")
        return [tables.database_part(con, paths[0], visits.table)]
    return list(
        text.parts(
            paths,
            known=None if visits.format is None else format_named(visits.format),
            said=text.Said(visits.header, visits.columns, visits.delimiter, visits.chosen),
        )
    )


def must_not_have(visits: Visits, options: Sequence[str], what: str) -> None:
    """Refuse options that are for another kind of source."""
    for option in options:
        if getattr(visits, option) is not None:
            kind = "DuckDB databases" if option == "table" else "text files"
            raise ParameterError(f"{option}={getattr(visits, option)!r} is for {kind}, not for {what}.")


def common_roles(visits: Visits, parts: Sequence[Part], required: Sequence[str]) -> Roles:
    """The column of each role, the same in all parts."""
    choices = visits.choices_for(required)
    roles = resolve(choices, parts[0].columns, parts[0].label, required, parts[0].hint)
    for part in parts[1:]:
        here = resolve(choices, part.columns, part.label, required, part.hint)
        if here != roles:
            raise ColumnError(
                f"{parts[0].label} and {part.label} do not have the same columns for {', '.join(roles)}. Files that "
                "are read together must name them alike."
            )
    return roles
