"""Column types: which types may play which role, and how ids, times and numbers are brought into one form.

A stored type is first reduced to a `Kind`. An id must keep one spelling on its way through, because one person under
two ids is protected only half: ids are compared as whole numbers or as texts, never as floating-point numbers. Times
are compared to the microsecond. What cannot be read becomes null or 0, which the checks of rows count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ColumnError, ColumnProblems, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Clock
    from locentropy.visits.readers.base import Column, Part, Relation
    from locentropy.visits.writing import Writing

Kind = Literal["integer", "big-integer", "text", "real", "moment", "other"]
"""`big-integer` may exceed 64 signed bits, so it is handled as text; `moment` is a date or a time."""

MAX_VISITS_PER_ROW: Final = 2**31 - 1
"""Largest number of visits in one pre-counted row; below it sums cannot overflow 64 bits."""

_INTEGERS: Final = frozenset("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER".split())
_BIG_INTEGERS: Final = frozenset("UBIGINT HUGEINT UHUGEINT BIGNUM".split())

_ALLOWED: Final[dict[str, tuple[Kind, ...]]] = {
    "user": ("integer", "big-integer", "text"),
    "location": ("integer", "big-integer", "text"),
    "time": ("integer", "big-integer", "text", "moment"),
    "visits": ("integer", "big-integer", "text", "real"),
    "lat": ("integer", "big-integer", "text", "real"),
    "lon": ("integer", "big-integer", "text", "real"),
    "name": ("integer", "big-integer", "text", "real", "moment", "other"),
}

_ADVICE: Final = {
    "user": "Ids are whole numbers or texts. Cast the column where the table is made",
    "location": "Ids are whole numbers or texts. Cast the column where the table is made",
    "time": "Times are timestamps, dates, whole numbers (such as Unix seconds) or texts (2026-01-31T08:00:00Z)",
    "visits": "Visits are whole numbers from 1",
    "lat": "Coordinates are numbers in degrees",
    "lon": "Coordinates are numbers in degrees",
}
HALVED: Final = (
    "Two spellings of one person are then two people, each protected half; trim and fold (--ids text,trim,fold) make "
    "one of those that differ only in blanks at an end or in capitals."
)
"""What it means to compare ids as they are written."""


def column_kind(duckdb_type: str) -> Kind:
    """The kind of a DuckDB type, by its name."""
    name = duckdb_type.upper()
    if name in _INTEGERS:
        return "integer"
    if name in _BIG_INTEGERS or re.fullmatch(r"DECIMAL\(\d+,\s*0\)", name):
        return "big-integer"
    if name.endswith("]"):
        return "other"
    if name in ("VARCHAR", "UUID") or name.startswith("ENUM"):
        return "text"
    if name in ("FLOAT", "DOUBLE") or name.startswith("DECIMAL"):
        return "real"
    if name == "DATE" or name.startswith("TIMESTAMP"):
        return "moment"
    return "other"


def check_type(role: str, column: str, kind: Kind, type_name: str, source: str) -> None:
    """Raise ColumnError if a column's type cannot play its role."""
    if kind in _ALLOWED[role]:
        return
    if kind == "real" and role in ("user", "location"):
        raise ColumnError(
            f"{source}: the {role} column {column!r} holds floating-point numbers ({type_name}). 7 and 7.0 could "
            "be two spellings of one id, and large ids lose digits. Make it a whole number or a text where "
            f"the table is made; in pandas: df[{column!r}] = df[{column!r}].astype('Int64')"
        )
    if "NULL" in type_name.upper():
        raise ColumnError(f"{source}: the {role} column {column!r} is empty: all its values are null.")
    # The type's first word only: the rest of it may list values of the data, as that of an ENUM does.
    word = type_name.partition("(")[0]
    raise ColumnError(f"{source}: the {role} column {column!r} has type {word}. {_ADVICE[role]}.")


def check_types(
    roles: Roles,
    parts: Sequence[Part],
    relations: Sequence[Relation],
    problems: ColumnProblems,
    *,
    as_text: bool,
) -> None:
    """Add the problems of columns whose types cannot play their roles, or differ between parts."""
    for role, name in roles.items() if relations else ():
        with problems.caught():
            for part, relation in zip(parts, relations, strict=True):
                type_name = relation.columns[role].type_name
                check_type(role, name, column_kind(type_name), type_name, part.label)
            if role in ("user", "location"):
                _id_type(role, name, parts, relations, as_text)
            elif role == "time":
                check_time_types(roles, parts, relations)


def check_time_types(roles: Roles, parts: Sequence[Part], relations: Sequence[Relation]) -> None:
    """Raise ColumnError if the time column has timestamps in one part and numbers in another: they do not compare."""
    types = [_time_type(column_kind(relation.columns["time"].type_name)) for relation in relations]
    for part, time_type in zip(parts, types, strict=True):
        if time_type != types[0]:
            raise ColumnError(
                f"The time column {roles['time']!r} holds timestamps in one and numbers or texts in the other of "
                f"{parts[0].label} and {part.label}. Give it one type."
            )


def common_clock(roles: Roles, relations: Sequence[Relation], texts: Clock | None) -> Clock | None:
    """What the times of all parts are by their types; `texts` is what texts are, None if each tells by itself.

    None if some are such texts, or there are no times.
    """
    types = [relation.columns["time"].type_name for relation in relations if "time" in roles]
    clocks = {texts if column_kind(name) == "text" else _clock(name) for name in types}
    if len(clocks) == 1:
        return clocks.pop()
    return None if None in clocks or not clocks else "mixed"


def only_dates(roles: Roles, relations: Sequence[Relation], said: Writing) -> bool:
    """Whether the times of all parts are dates, by their types; `said` is how texts are written, if that was said."""
    types = [relation.columns["time"].type_name for relation in relations if "time" in roles]
    return bool(types) and all(
        said.only_dates if column_kind(name) == "text" else is_date(name) for name in types
    )


def is_date(type_name: str) -> bool:
    """Whether a type is that of dates without a time of day."""
    return type_name.upper() == "DATE"


def _clock(type_name: str) -> Clock | None:
    if column_kind(type_name) != "moment":
        return "number" if column_kind(type_name) in _ALLOWED["time"] else None
    name = type_name.upper()
    return "instant" if "TIME ZONE" in name or "TZ" in name else "local"


def id_types(
    roles: Roles, parts: Sequence[Part], relations: Sequence[Relation], *, as_text: bool
) -> dict[str, str]:
    """BIGINT or VARCHAR for each id column: one type for all parts, or an error that names two of them."""
    return {
        role: _id_type(role, name, parts, relations, as_text)
        for role, name in roles.items()
        if role in ("user", "location")
    }


def mixed_ids_error(role: str, name: str, numbers: str, texts: str) -> ColumnError:
    """The error for ids that are numbers in one file and texts in another."""
    return ColumnError(
        f"The {role} column {name!r} holds whole numbers in {numbers} and texts in {texts}. An id must have one "
        f'type, or one person becomes two. If 7 and "7" are the same id, say so: ids="text" (--ids text). {HALVED}'
    )


# Ids after they were read.


def to_engine_type(ids: pa.Array, *, as_text: bool, typed: bool) -> pa.Array:
    """Listed ids in the type by which the engine compares: texts or 64-bit integers.

    Ids that were read as written (`typed` is false: from text files) may be compared with numbers: 7 is written "7".
    """
    are_texts = pa.types.is_string(ids.type)
    if typed and are_texts != as_text:
        mine, theirs = ("texts", "whole numbers") if are_texts else ("whole numbers", "texts")
        raise ParameterError(
            f"The listed locations are {mine} but the visits' location ids are {theirs}: none would match. "
            'Give both the same type, or compare them as they are written: ids="text" (--ids text).'
        )
    try:
        return ids.cast(pa.string() if as_text else pa.int64())
    except pa.ArrowInvalid:
        raise ParameterError("The listed locations hold numbers beyond 64 bits; the visits do not.") from None


def restore_id_type(ids: pa.Array, *, typed: bool) -> pa.Array:
    """Ids in the type they were stored in. Ids read as written become numbers if every one of them is a number."""
    if typed:
        return ids
    for number in (pa.int64(), pa.uint64()):
        try:
            numbers = ids.cast(number)
        except pa.ArrowInvalid:
            continue
        if numbers.cast(pa.string()).equals(ids):
            return numbers
    return ids


def id_ranks(ids: pa.Array) -> NDArray[np.int64]:
    """The rank of each id, by the length of its text and then byte by byte; for 0, 1, 2, … this is by value.

    Numbers are ranked by their text as well: whether ids are numbers or texts depends on all files, and so on other
    people's rows, but which of two ids a user keeps must not.
    """
    texts = ids.cast(pa.string())
    keyed = pa.table({"length": pc.utf8_length(texts), "id": texts})
    order = pc.sort_indices(keyed, [("length", "ascending"), ("id", "ascending")])
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[order.to_numpy()] = np.arange(len(ids))
    return ranks


# SQL for DuckDB.


def cast_sql(role: str, name: str, column: Column, label: str, id_type: str | None, writing: Writing) -> str:
    """The column in the type of its role; `id_type` is given for ids, `writing` is how texts are read."""
    kind = column_kind(column.type_name)
    check_type(role, name, kind, column.type_name, label)
    value = column.expression
    if id_type is not None:
        return f"CAST({value} AS {id_type})"
    if role == "time":
        if kind == "text":
            return writing.time_sql(value)
        # Moments are compared to the microsecond, which every engine supports, and those with a time zone in UTC
        # (in two steps: DuckDB 2.0 cannot cast nanoseconds with a time zone in one).
        zoned = f"TRY_CAST({value} AS TIMESTAMPTZ)" if "TZ" in column.type_name else value
        return f"TRY_CAST({zoned} AS {_time_type(kind)})"
    number = value
    if kind == "text":
        parsed = f"coalesce({writing.number_sql(value)}, 'nan'::DOUBLE)"
        number = f"CASE WHEN {value} IS NOT NULL THEN {parsed} END"
    return _visits_or_zero(number) if role == "visits" else f"CAST({number} AS DOUBLE)"


def _id_type(
    role: str, name: str, parts: Sequence[Part], relations: Sequence[Relation], as_text: bool
) -> str:
    types = [relation.columns[role].type_name for relation in relations]
    for part, type_name in zip(parts, types, strict=True):
        check_type(role, name, column_kind(type_name), type_name, part.label)
    is_text = [column_kind(type_name) == "text" for type_name in types]
    if not as_text and len(set(is_text)) > 1:
        numbers, texts = parts[is_text.index(False)], parts[is_text.index(True)]
        raise mixed_ids_error(role, name, numbers.label, texts.label)
    is_uuid = [type_name.upper() == "UUID" for type_name in types]
    if not as_text and len(set(is_uuid)) > 1:
        uuids, texts = parts[is_uuid.index(True)], parts[is_uuid.index(False)]
        raise ColumnError(
            f"The {role} column {name!r} holds UUIDs in {uuids.label} and texts in {texts.label}, where the same one "
            'may be in capitals. Give it one type, or, if all are written alike, say so: ids="text" (--ids text).'
        )
    return "BIGINT" if not as_text and all(column_kind(t) == "integer" for t in types) else "VARCHAR"


def _visits_or_zero(number: str) -> str:
    """A number of visits; 0, which the checks refuse, if it is not a whole number in 1..MAX_VISITS_PER_ROW."""
    valid = f"{number} BETWEEN 1 AND {MAX_VISITS_PER_ROW} AND {number} = floor({number})"
    return f"CASE WHEN {valid} THEN CAST({number} AS BIGINT) ELSE 0 END"


def _time_type(kind: Kind) -> str:
    return "TIMESTAMP" if kind == "moment" else "BIGINT"
