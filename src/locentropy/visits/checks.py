"""Checks of every row, before anything is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ibis

from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, SourceError
from locentropy.visits import expressions as expression
from locentropy.visits.column_types import HALVED
from locentropy.visits.private_log import PRIVATE_LOG, Dropped, log_dropped
from locentropy.visits.time_kinds import WHAT, column_of, remedy
from locentropy.visits.writing import TIME_EXAMPLE

if TYPE_CHECKING:
    from locentropy.core.windows import Window
    from locentropy.visits.engines.base import Engine
    from locentropy.visits.visits import BadRows, MissingIds, TimeType

_RULES: Final = {
    "user": "rows have no user id",
    "location": "rows have no location id",
    "time": "values are missing or are not times (such as 2026-01-31T08:00:00Z, 31.01.2026 08:00, or whole numbers)",
    "visits": "values are not whole numbers of at least 1",
    "lat": "values are not numbers, or are missing where a grid needs them",
    "lon": "values are not numbers, or are missing where a grid needs them",
}

_TIME_STYLE: Final = (
    f" If times are written in another way, say how: time_format=\"{TIME_EXAMPLE}\" (--time-format '{TIME_EXAMPLE}') "
    'for 31/01/2026 08:00, "%m/%d/%Y %I:%M %p" for 01/31/2026 8:00 AM.'
)
_TIME_ADVICE: Final = f"{_TIME_STYLE} Or use no times: time=None (--time '')."

_CONFUSING: Final = {
    "decimal": "texts that read as decimal numbers, such as 7.0 or 7e+00, which could be another spelling of 7",
    "broken": "texts that run over several lines, as after a stray quotation mark that swallows other people's rows",
    "padded": "texts with blanks before or after, which could be another spelling of the same id",
}


def check(
    engine: Engine,
    bad_rows: BadRows,
    missing_ids: MissingIds,
    *,
    ids_as_written: bool,
    refuse_empty: bool = True,
    window: Window | None = None,
    time_type: TimeType | None = None,
) -> ibis.Table:
    """The rows to count. Raise if the table would void the guarantee, or has bad rows and `bad_rows` is not "drop".

    Counts of bad rows and of rows without a user id go to the private log only. So does, unless `refuse_empty`, that no
    row can be used: one person's rows can decide that. A row that is left out for want of a user id decides nothing.
    """
    good = expression.without_bad_rows(engine.visits, missing_ids)
    engine.check_ids(missing_ids)
    counts = expression.check_counts(engine.visits, missing_ids, repeats_columns=engine.repeats_columns)
    row = engine.run(counts, "Checking").to_pylist()[0]
    if row["rows"] == 0:
        none = "the table has no rows" if window is None else f"no row is in the window {window}"
        _found_empty(SourceError(f"{engine.label}: {none}."), refuse=refuse_empty)
        return good
    left_out = row.get("left_out", 0)
    if left_out:
        log_left_out(engine, left_out)
    if left_out == row["rows"]:
        error = ColumnError(
            f"{engine.label}: the user column {engine.columns['user']!r} is empty: all ids are null, empty, or words "
            "such as nan."
        )
        _found_empty(error, refuse=refuse_empty)
        return good
    for role in expression.id_columns(engine.visits):
        if row[f"known_{role}"] == 0:
            _found_empty(
                ColumnError(
                    f"{engine.label}: the {role} column {engine.columns[role]!r} is empty: all ids are null."
                ),
                refuse=refuse_empty,
            )
    if not ids_as_written:
        _refuse_confusing_ids(engine, row, missing_ids)
    broken = {role: row[f"bad_{role}"] for role in _RULES if row.get(f"bad_{role}")}
    problems = {role: [_RULES[role]] for role in broken}
    advice = ""
    if "time" in broken:
        problems["time"], advice = _about_times(row, window, time_type)
    for role, count in broken.items():
        why = f"column {engine.columns[role]!r}: {'; '.join(problems[role])}"
        log_dropped(engine.label, Dropped(int(count), why, role, advice if role == "time" else ""))
    if broken and bad_rows == "drop" and _is_empty(engine, good):
        named = ", ".join(repr(engine.columns[role]) for role in broken)
        _found_empty(
            SourceError(
                f"{engine.label}: no row is left after dropping those that break a rule. Are the columns {named} "
                f"the right ones?{advice}"
            ),
            refuse=refuse_empty,
        )
    if broken and bad_rows == "fail":
        rules = expression.bad_rows(engine.visits, missing_ids)
        found = (
            f"{_find_bad_file(engine, rules[role], missing_ids)}: column {engine.columns[role]!r}: {problem}"
            for role in broken
            for problem in problems[role]
        )
        # Times in another style are usually so in most rows; dropping these would leave next to nothing.
        unread = 2 * broken.get("time", 0) > row["rows"] - left_out
        rest = f".{advice}" if unread else ', or drop such rows: bad_rows="drop" (--bad-rows drop).'
        raise BadRowsError("\n".join(("Some rows cannot be used.", *found, f"Fix them{rest}")))
    _compare_writing(engine, row, bad_rows)
    # Rows that were found to be good are not asked again, unless they may have become others in the meantime.
    return good if broken or left_out or not engine.rows_stay else engine.visits


def log_left_out(engine: Engine, rows: int) -> None:
    """Tell the private log how many rows are left out for want of a user id."""
    why = f"column {engine.columns['user']!r}: rows are left out because they have no user id"
    log_dropped(engine.label, Dropped(int(rows), why, "user"))


def _compare_writing(engine: Engine, row: dict[str, int], bad_rows: BadRows) -> None:
    """Ask for the option that says how texts are written, if rows differ in that.

    Each row was read by itself, and in the only way there is. Where bad rows fail, whoever made the table is asked all
    the same, since one style is more likely a mistake. Where they are dropped, one person's rows must not decide
    whether there is a release, so the private log is told.
    """
    found = []
    if row.get("times_as_numbers") and row.get("times_as_moments"):
        found.append(
            f"{engine.label}: the time column {engine.columns['time']!r} holds whole numbers in some rows and dates in "
            "others, which do not compare. Write all of them in the same way; or say which it is, and the others are "
            'bad rows: time_type="s" (--time-type s) for seconds since 1970, time_type="utc" (--time-type utc) for '
            "times in UTC."
        )
    if row.get("times_day_first") and row.get("times_otherwise"):
        found.append(
            f"{engine.label}: the time column {engine.columns['time']!r} has times as in 31.01.2026 08:00 in some rows "
            "and in another style in others. Write all of them in the same way; or say which it is, and the others are "
            "bad rows: time_format=\"%d.%m.%Y %H:%M\" (--time-format '%d.%m.%Y %H:%M')."
        )
    if row.get("decimal_commas") and row.get("decimal_points"):
        found.append(
            f"{engine.label}: numbers have a decimal comma in some rows and a point in others. Write all of them in "
            'the same way; or say which it is, and the others are bad rows: decimal="," (--decimal ,) or decimal="." '
            "(--decimal .)."
        )
    for words in found:
        if bad_rows == "fail":
            raise ColumnError(words)
        PRIVATE_LOG.info("%s", words)


def _is_empty(engine: Engine, rows: ibis.Table) -> bool:
    return bool(engine.run(rows.aggregate(rows=rows.count()), "Checking")["rows"][0].as_py() == 0)


def _about_times(
    row: dict[str, int], window: Window | None, time_type: TimeType | None
) -> tuple[list[str], str]:
    """What is wrong with the times that are bad, and what to do about it."""
    misfits = {name: row[column_of(name)] for name in WHAT if row.get(column_of(name))}
    told = [WHAT[name] for name in misfits]
    advice = "".join(f" {remedy(name, window, time_type)}" for name in misfits)
    if row["bad_time"] > sum(misfits.values()):
        told.append(_RULES["time"])
        advice += _TIME_ADVICE if window is None else _TIME_STYLE
    return told, advice


def _found_empty(error: LocentropyError, *, refuse: bool) -> None:
    """Raise the error, or write it to the private log."""
    if refuse:
        raise error
    PRIVATE_LOG.info("%s", error)


def _find_bad_file(engine: Engine, condition: ibis.Expr, missing_ids: MissingIds) -> str:
    """The label of a file with a row that meets a condition and is not left out."""
    if missing_ids == "drop":
        condition = condition & ~expression.no_user_id(engine.visits)
    return engine.find_bad_file(condition)


def _refuse_confusing_ids(engine: Engine, row: dict[str, int], missing_ids: MissingIds) -> None:
    for role, conditions in expression.confusing_ids(engine.visits).items():
        for name, condition in conditions.items():
            if row[f"{name}_{role}"]:
                broken = expression.bad_rows(engine.visits, missing_ids).values()
                file = _find_bad_file(engine, ibis.and_(condition, *(~each for each in broken)), missing_ids)
                raise ColumnError(
                    f"{file}: the {role} column {engine.columns[role]!r} holds "
                    f"{_CONFUSING[name]}. One person under two ids is protected only half. Fix the ids; or, if each is "
                    f'meant as it is written, say so: ids="text" (--ids text). {HALVED}'
                )
