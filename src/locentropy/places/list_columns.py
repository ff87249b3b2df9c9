"""Columns of a public list: which of them a release carries, and in which types.

Those that the owner names, and no others: a register may hold a contact's telephone number beside the opening year.
What a release cannot carry is refused if it is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ColumnError
from locentropy.core.public_columns import MAX_COLUMNS, quoted, why_no_column
from locentropy.visits.column_types import column_kind
from locentropy.visits.person_column import USUAL as USUAL_PERSON
from locentropy.visits.person_column import normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from locentropy.visits.columns import Roles
    from locentropy.visits.readers.base import Column
    from locentropy.visits.writing import DecimalMark

COLUMN: Final = "column_"
"""With its number, what a public column is called while the list is read; its own name may be anything."""

_SQL_TYPES: Final = {"integer": "BIGINT", "big-integer": "VARCHAR", "text": "VARCHAR", "real": "DOUBLE"}
_REAL: Final = r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$"
_MINUS_ZERO: Final = r"^-0(\.0*)?$"
_DAY: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def column_roles(
    named: Collection[str], columns: Sequence[str], roles: Roles, used: Collection[str], label: str
) -> dict[str, str]:
    """The named columns that travel into the release as they are, in the order of the list.

    Not those with a role, and those used as attribute or group, which are published anyway. Raises ColumnError if one
    is not there, if its name cannot be that of a published column, or if there are too many.
    """
    missing = next((name for name in named if name not in columns), None)
    if missing is not None:
        raise ColumnError(
            f"{label}: publish_columns names {missing!r} (--publish-column {quoted(missing)}), which is not a column "
            f"of the list. Its columns: {', '.join(map(repr, columns))}."
        )
    known = {*roles.values(), *used}
    found = [name for name in columns if name in named and name not in known]
    refused = {name: reason for name in found if (reason := _why_refused(name)) is not None}
    if refused:
        raise _refusal(refused, label)
    folded = [name.casefold() for name in (*found, *used)]
    twins = [name for name in found if folded.count(name.casefold()) > 1]
    if twins:
        raise ColumnError(
            f"{label}: the columns {' and '.join(map(repr, twins))} differ at most by upper and lower case from each "
            "other or from one that is used, and a table has one of them. Name one, or rename them in the list."
        )
    if len(found) + len(used) > MAX_COLUMNS:
        raise ColumnError(
            f"{label}: {len(found) + len(used)} columns are to be published besides ids, names and coordinates, and a "
            f"release carries at most {MAX_COLUMNS}. Name fewer."
        )
    return {f"{COLUMN}{number}": name for number, name in enumerate(found)}


def left_out(columns: Sequence[str], published: Collection[str]) -> tuple[str, ...]:
    """The columns of a list that no option names; one without a name, as pandas writes its index, is no column."""
    return tuple(name for name in columns if name not in published and name.strip())


def columns_sql(declared: Mapping[str, str], found: Mapping[str, Column], label: str) -> dict[str, str]:
    """How each column is read; ColumnError for types that a release does not carry."""
    made, refused = {}, {}
    for role, name in declared.items():
        expression = _column_sql(found[role])
        if expression is None:
            # The type's first word only: the rest of it may be long.
            word = found[role].type_name.partition("(")[0]
            refused[name] = (
                f"it has type {word}, and must be texts, whole numbers, numbers, days, or true and false"
            )
        else:
            made[role] = expression
    if refused:
        raise _refusal(refused, label)
    return made


def column_values(values: pa.Array, *, as_written: bool, decimal: DecimalMark | None = ".") -> pa.Array:
    """The values of a column in their type; what was read as written, from a text file, gets one if all values fit."""
    if pa.types.is_floating(values.type):
        return pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
    return typed_texts(values, decimal) if as_written and pa.types.is_string(values.type) else values


def typed_texts(texts: pa.Array, decimal: DecimalMark | None = ".") -> pa.Array:
    """Texts as whole numbers, numbers, days, or true and false, if every one of them is written as one.

    Nothing that tells two values apart is lost: 007 stays a text, and so do all if 1.1 and 1.10 are both there. Without
    a decimal mark, a column may have points or commas, but not both.
    """
    known = texts.drop_null()
    if not len(known):
        return texts
    for kind in (_as_integers, *_REALS[decimal], _as_days, _as_flags):
        if (typed := kind(texts, known)) is not None:
            return typed
    return texts


def _as_integers(texts: pa.Array, known: pa.Array) -> pa.Array | None:
    if not _all_match(known, r"^(0|-?[1-9][0-9]{0,18})$"):
        return None
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _as_reals(texts: pa.Array, known: pa.Array) -> pa.Array | None:
    if not _all_match(known, _REAL) or pc.any(pc.match_substring_regex(known, _MINUS_ZERO)).as_py():
        return None
    numbers = texts.cast(pa.float64())
    return numbers if len(pc.unique(numbers)) == len(pc.unique(texts)) else None


def _as_reals_with_comma(texts: pa.Array, known: pa.Array) -> pa.Array | None:
    if pc.any(pc.match_substring(known, ".")).as_py():
        return None
    points, known = (pc.replace_substring(each, ",", ".") for each in (texts, known))
    return _as_reals(points, known)


_REALS: Final[dict[str | None, tuple[Callable[[pa.Array, pa.Array], pa.Array | None], ...]]] = {
    ".": (_as_reals,),
    ",": (_as_reals_with_comma,),
    None: (_as_reals, _as_reals_with_comma),
}


def _as_days(texts: pa.Array, known: pa.Array) -> pa.Array | None:
    if not _all_match(known, _DAY):
        return None
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        return None


def _as_flags(texts: pa.Array, known: pa.Array) -> pa.Array | None:
    written = set(pc.unique(known).to_pylist())
    for true, false in (("true", "false"), ("True", "False"), ("TRUE", "FALSE")):
        if written <= {true, false}:
            return pc.equal(texts, true)
    return None


def _all_match(texts: pa.Array, pattern: str) -> bool:
    matched: Any = pc.all(pc.match_substring_regex(texts, pattern)).as_py()
    return bool(matched)


def _column_sql(column: Column) -> str | None:
    kind, name = column_kind(column.type_name), column.type_name.upper()
    if kind in _SQL_TYPES:
        return f"CAST({column.expression} AS {_SQL_TYPES[kind]})"
    if name in ("BOOLEAN", "DATE"):
        return column.expression
    return f"CAST({column.expression} AS VARCHAR)" if "NULL" in name else None


def _why_refused(name: str) -> str | None:
    if normalized(name) in USUAL_PERSON:
        return "it is called as people are in tables of visits, and nothing about people is public"
    return why_no_column(name)


def _refusal(refused: Mapping[str, str], label: str) -> ColumnError:
    reasons = "; ".join(f"{name!r}: {reason}" for name, reason in refused.items())
    return ColumnError(
        f"{label}: some columns of the list are named to be published, and cannot be. {reasons}."
    )
