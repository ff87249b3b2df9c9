"""What kind of value a column holds, whatever its engine calls the type."""

from __future__ import annotations

import re
from typing import Final, Literal

from locentropy.core.errors import ColumnError

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
