"""The rows of each part, with the roles as columns, as a query for DuckDB.

Beside the roles, a row of texts says how it is written, where that can differ between rows: whether its time is a
number, or a day first, and which decimal mark its numbers have. The checks compare these (checks.py). It also says
whether its time is a date and, for a window, names no zone: such times may not fit (time_kinds.py).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from locentropy.visits import column_types
from locentropy.visits.column_types import column_kind
from locentropy.visits.spelled import spelled_sql, unless_word_sql
from locentropy.visits.sql import identifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locentropy.visits.columns import Roles
    from locentropy.visits.readers.base import Column, Part, Relation
    from locentropy.visits.visits import Visits

READING_LOG: Final = logging.getLogger("locentropy.reading")
"""How files are read, as far as that was recognised: before anything is counted or spent, and nothing of any row."""

_NUMBERS: Final = ("visits", "lat", "lon")


def select_rows(
    roles: Roles, parts: Sequence[Part], relations: Sequence[Relation], visits: Visits
) -> list[str]:
    """For each part, a query that gives its rows with the roles as columns."""
    id_types = column_types.id_types(roles, parts, relations, as_text=visits.spelling.text)
    times = [each.columns["time"] for each in relations if "time" in roles]
    times_as_text = any(map(_is_text, times))
    dates = any(column_types.is_date(each.type_name) for each in times)
    either_mark = visits.decimal is None and any(
        each.writing.decimal is None and _texts_of_numbers(each) for each in relations
    )

    def columns(part: Part, relation: Relation) -> Iterator[str]:
        writing = relation.writing.said(visits.decimal, visits.time_format)
        for role, name in roles.items():
            column = relation.columns[role]
            value = column_types.cast_sql(role, name, column, part.label, id_types.get(role), writing)
            if role in id_types:
                value = spelled_sql(value, visits.spelling)
            if role == "user":
                value = unless_word_sql(value, visits.missing_id_words)
            yield f"{value} AS {identifier(role)}"
        if times_as_text:
            time = relation.columns["time"]
            text = _is_text(time)
            yield f"{writing.is_number_sql(time.expression) if text else 'true'} AS time_is_number"
            yield f"{writing.day_first_sql(time.expression) if text else 'false'} AS time_is_day_first"
            if (visits.window or visits.time_type) is not None and visits.time_format is None:
                yield f"{writing.is_local_sql(time.expression) if text else 'false'} AS time_is_local"
        if times_as_text or dates:
            time = relation.columns["time"]
            typed = str(column_types.is_date(time.type_name)).lower()
            yield f"{writing.is_date_sql(time.expression) if _is_text(time) else typed} AS time_is_date"
        if either_mark:
            texts = _texts_of_numbers(relation)
            yield f"{_any_contains(texts, ',')} AS decimal_comma"
            yield f"{_any_contains(texts, '.')} AS decimal_point"

    return [
        f"SELECT {', '.join(columns(part, relation))} FROM {relation.sql}"
        for part, relation in zip(parts, relations, strict=True)
    ]


def described(roles: Roles, parts: Sequence[Part], relations: Sequence[Relation], visits: Visits) -> str:
    """How the rows are read, as far as that was recognised or said; empty if every column has its type.

    It follows from names, headers and formats alone, so it tells nothing of any row.
    """
    if not any(part.described for part in parts):
        return ""
    writing = relations[0].writing.said(visits.decimal, visits.time_format)
    read = {
        "numbers": any(map(_texts_of_numbers, relations)),
        "times": any("time" in each.columns and _is_text(each.columns["time"]) for each in relations),
    }
    written = [f"{what}: {how}" for what, how in writing.described.items() if read[what]]
    columns = ", ".join(f"{role} {name!r}" for role, name in roles.items())
    # Not which files: the screen is copied into reports, and their names may tell what nobody asked for.
    files = f"{len(parts):,} files, " if len(parts) > 1 else ""
    return "; ".join([f"read as {files}{parts[0].described}", f"columns: {columns}", *written]) + "."


def _is_text(column: Column) -> bool:
    return column_kind(column.type_name) == "text"


def _texts_of_numbers(relation: Relation) -> list[str]:
    """The expressions of columns that hold numbers as texts."""
    known = (relation.columns[role] for role in _NUMBERS if role in relation.columns)
    return [column.expression for column in known if _is_text(column)]


def _any_contains(texts: Sequence[str], mark: str) -> str:
    return " OR ".join(f"coalesce(contains({text}, '{mark}'), false)" for text in texts) or "false"
