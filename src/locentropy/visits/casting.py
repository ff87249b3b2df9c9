"""From a column as it is stored to a column as the expressions want it, in DuckDB's SQL.

What cannot be read becomes a value that breaks a rule (null, or NaN for numbers that may be missing), so
that one place decides what happens to bad rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ColumnError
from locentropy.visits.kinds import MOST_VISITS_PER_ROW, Kind, kind_of, must_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.visits.columns import Roles
    from locentropy.visits.sources.part import Column, Part, Relation
    from locentropy.visits.visits import Ids

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
