"""Column types: what a stored type can stand for, and the SQL that casts ids, times and numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from locentropy.visits.columns import Roles
    from locentropy.visits.readers.base import Column, Part, Relation
    from locentropy.visits.visits import Ids

Kind = Literal["integer", "big-integer", "text", "real", "moment", "other"]
"""`big-integer` may exceed 64 signed bits, so it travels as its text; `moment` is a date or a time."""

MOST_VISITS_PER_ROW: Final = 2**31 - 1
"""More visits in one pre-counted row than anybody makes; below it sums cannot overflow 64 bits."""

_INTEGERS: Final = frozenset("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER".split())
_BIG: Final = frozenset("UBIGINT HUGEINT UHUGEINT BIGNUM".split())


def kind_of(duckdb_type: str) -> Kind:
    """The kind of a DuckDB type, by its name."""
    name = duckdb_type.upper()
    if name in _INTEGERS:
        return "integer"
    if name in _BIG or re.fullmatch(r"DECIMAL\(\d+,\s*0\)", name):
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
    "user": "Ids are whole numbers or texts. Cast the column where it is made",
    "location": "Ids are whole numbers or texts. Cast the column where it is made",
    "time": "Times are timestamps, dates, whole numbers (such as Unix seconds) or texts (2026-01-31T08:00:00Z)",
    "visits": "Visits are whole numbers from 1",
    "lat": "Coordinates are numbers in degrees",
    "lon": "Coordinates are numbers in degrees",
}


def must_fit(role: str, column: str, kind: Kind, type_name: str, source: str) -> None:
    """Refuse a column whose type cannot play its role."""
    if kind in _ALLOWED[role]:
        return
    if kind == "real" and role in ("user", "location"):
        raise ColumnError(
            f"{source}: the {role} column {column!r} holds floating-point numbers ({type_name}). 7 and 7.0 could "
            "be two spellings of one id, and large ids lose digits. Make it a whole number or a text where "
            f"the table is made; in pandas: df[{column!r}] = df[{column!r}].astype('Int64')."
        )
    if "NULL" in type_name.upper():
        raise ColumnError(f"{source}: the {role} column {column!r} is empty: all its values are null.")
    # The type's first word only: the rest of it may list values of the data, as that of an ENUM does.
    word = type_name.partition("(")[0]
    raise ColumnError(f"{source}: the {role} column {column!r} has type {word}. {_ADVICE[role]}.")


def comparable(ids: pa.Array, *, as_text: bool, typed: bool) -> pa.Array:
    """Listed ids in the type that the engine compares by.

    Ids that were read as written (from text files) may be compared with numbers: 7 is written "7".
    """
    are_texts = pa.types.is_string(ids.type)
    if typed and are_texts != as_text:
        mine, theirs = ("texts", "whole numbers") if are_texts else ("whole numbers", "texts")
        raise ParameterError(
            f"The listed locations are {mine} but the visits' location ids are {theirs}: none would match. "
            'Give both the same type, or compare how they are written: ids="text" (--ids text).'
        )
    try:
        return ids.cast(pa.string() if as_text else pa.int64())
    except pa.ArrowInvalid:
        raise ParameterError("The listed locations hold numbers beyond 64 bits; the visits do not.") from None


def presented(ids: pa.Array, *, typed: bool) -> pa.Array:
    """Ids as they came in: those read as written are numbers again if every one of them is one."""
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


def in_order(ids: pa.Array) -> NDArray[np.int64]:
    """The place of each id in their order: by the length of its text and then byte by byte, as 0, 1, … are by value.

    Numbers too: whether ids are numbers or texts depends on all files, and so on other people's rows, but which of
    two ids a user keeps must not.
    """
    texts = ids.cast(pa.string())
    keyed = pa.table({"length": pc.utf8_length(texts), "id": texts})
    order = pc.sort_indices(keyed, [("length", "ascending"), ("id", "ascending")])
    places = np.empty(len(ids), dtype=np.int64)
    places[order.to_numpy()] = np.arange(len(ids))
    return places


def identifier(name: str) -> str:
    """A name as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def list_of(texts: Iterable[str]) -> str:
    """Texts as a list literal."""
    return "[" + ", ".join(map(literal, texts)) + "]"


_TSMC_TIME: Final = "'%a %b %d %H:%M:%S %z %Y'"


def id_types(roles: Roles, parts: Sequence[Part], relations: Sequence[Relation], ids: Ids) -> dict[str, str]:
    """BIGINT or VARCHAR for each id column: one type for all parts, or an error that names two of them."""
    return {
        role: _id_type(role, name, parts, relations, ids)
        for role, name in roles.items()
        if role in ("user", "location")
    }


def _id_type(role: str, name: str, parts: Sequence[Part], relations: Sequence[Relation], ids: Ids) -> str:
    types = [relation.columns[role].type_name for relation in relations]
    for part, type_name in zip(parts, types, strict=True):
        must_fit(role, name, kind_of(type_name), type_name, part.label)
    is_text = [kind_of(type_name) == "text" for type_name in types]
    if ids == "as-they-are" and len(set(is_text)) > 1:
        numbers, texts = parts[is_text.index(False)], parts[is_text.index(True)]
        raise mixed_ids(role, name, numbers.label, texts.label)
    is_uuid = [type_name.upper() == "UUID" for type_name in types]
    if ids == "as-they-are" and len(set(is_uuid)) > 1:
        uuids, texts = parts[is_uuid.index(True)], parts[is_uuid.index(False)]
        raise ColumnError(
            f"The {role} column {name!r} holds UUIDs in {uuids.label} and texts in {texts.label}, where the same one "
            'may be in capitals. Give it one type, or, if all are written alike, say so: ids="text" (--ids text).'
        )
    return "BIGINT" if ids != "text" and all(kind_of(t) == "integer" for t in types) else "VARCHAR"


def must_agree_on_time(roles: Roles, parts: Sequence[Part], relations: Sequence[Relation]) -> None:
    """Numbers and moments do not compare: refuse a time column that is one here and the other there."""
    if "time" not in roles:
        return
    types = [_time_type(kind_of(relation.columns["time"].type_name)) for relation in relations]
    for part, time_type in zip(parts, types, strict=True):
        if time_type != types[0]:
            raise ColumnError(
                f"The time column {roles['time']!r} holds timestamps in one and numbers or texts in the other of "
                f"{parts[0].label} and {part.label}. Give it one type."
            )


def mixed_ids(role: str, name: str, numbers: str, texts: str) -> ColumnError:
    """The error for ids that are numbers in one file and texts in another."""
    return ColumnError(
        f"The {role} column {name!r} holds whole numbers in {numbers} and texts in {texts}. An id must have one "
        'type, or one person becomes two. If 7 and "7" are the same there, say so: ids="text" (--ids text).'
    )


def cast(role: str, name: str, column: Column, label: str, id_type: str | None) -> str:
    """SQL for a column in its role."""
    kind = kind_of(column.type_name)
    must_fit(role, name, kind, column.type_name, label)
    value = column.expression
    if id_type is not None:
        return f"CAST({value} AS {id_type})"
    if role == "time":
        if kind == "text":
            return _time_of_text(value)
        # Moments are compared to the microsecond, which every engine can do, and those of a zone in UTC
        # (in two steps: DuckDB 2.0 cannot cast nanoseconds of a zone in one).
        zoned = f"TRY_CAST({value} AS TIMESTAMPTZ)" if "TZ" in column.type_name else value
        return f"TRY_CAST({zoned} AS {_time_type(kind)})"
    number = value
    if kind == "text":
        parsed = f"coalesce(TRY_CAST({value} AS DOUBLE), 'nan'::DOUBLE)"
        number = f"CASE WHEN {value} IS NOT NULL THEN {parsed} END"
    return _whole(number) if role == "visits" else f"CAST({number} AS DOUBLE)"


def _whole(number: str) -> str:
    """A number of visits; 0, which is none, for what is not whole or is beyond all reason."""
    reasonable = f"{number} BETWEEN 1 AND {MOST_VISITS_PER_ROW} AND {number} = floor({number})"
    return f"CASE WHEN {reasonable} THEN CAST({number} AS BIGINT) ELSE 0 END"


def _time_type(kind: Kind) -> str:
    return "TIMESTAMP" if kind == "moment" else "BIGINT"


def _microseconds(moment: str) -> str:
    """A moment as a number; words for infinity are no times."""
    return f"CASE WHEN isfinite({moment}) THEN epoch_us({moment}) END"


def _time_of_text(value: str) -> str:
    """ISO 8601 (without an offset: UTC), the format of TSMC 2014, or a whole number such as Unix seconds.

    DuckDB also reads words such as "epoch" and "infinity" as times; a time has a hyphen or a colon.
    """
    iso = _microseconds(f"TRY_CAST(CASE WHEN contains({value}, '-') THEN {value} END AS TIMESTAMPTZ)")
    tsmc = _microseconds(f"try_strptime(CASE WHEN contains({value}, ':') THEN {value} END, {_TSMC_TIME})")
    return f"coalesce({iso}, {tsmc}, {whole_number(value)})"


def is_number(time: Column) -> str:
    """SQL that tells whether a time is a number rather than a moment."""
    if kind_of(time.type_name) != "text":
        return "true"
    return f"{whole_number(time.expression)} IS NOT NULL"


def whole_number(value: str) -> str:
    """A text as a 64-bit integer if it is written as one would be, else null: "07" and "7.0" are not."""
    return (
        f"CASE WHEN CAST(TRY_CAST({value} AS BIGINT) AS VARCHAR) = {value} THEN CAST({value} AS BIGINT) END"
    )
