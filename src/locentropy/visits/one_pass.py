"""One pass: rows are counted as they come, and what was counted is checked, instead of every row before it is counted.

Claim: the pairs are those that checking every row (checks.py) and counting then would give, and these checks would have
refused nothing; or there are none, and nothing of the attempt is used.

Why: every check depends on one row only, and most conditions on one of its ids only. Rows that need a closer look for
another reason are counted under a code of their own (`UNUSUAL`). So are those at locations that nobody asked for
(`UNLISTED`), because the ids of their users are checked, too. Afterwards every user id is looked at once, and every
listed id, by the conditions that the checks have. If anything is unusual, the two passes find out what it is. Rows
without a user id are left out by their id, as there.

User ids that are texts become numbers on the way, for whatever follows compares them again and again.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.errors import LocentropyError
from locentropy.visits import expressions as expression
from locentropy.visits.checks import log_left_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.visits.engines.base import EmbeddedEngine
    from locentropy.visits.visits import MissingIds

UNUSUAL: Final = -1
"""The code of rows that need a closer look;"""
UNLISTED: Final = -2
"""and of rows at locations without a code."""

_STYLES: Final = ("time_is_number", "time_is_day_first")
_MARKS: Final = ("decimal_comma", "decimal_point")
_DOING: Final = "Counting visits"


def pairs_in_one_pass(
    engine: EmbeddedEngine,
    coding: ibis.Table,
    coded: ibis.Table,
    missing_ids: MissingIds,
    *,
    first_times: bool,
    windows: int = 1,
) -> ibis.Table | None:
    """The pairs at the locations of `coded`; None if anything is unusual, or there is nothing to count.

    `coding` has the ids that were asked for: those of places, or of the groups whose codes are given to places.
    """
    try:
        rows = _marked(engine, first_times=first_times)
        if rows is None or _any(engine, coding, unusual_id(coding, "location")):
            return None
        there = at_any_code(rows, coded)
        counted = engine.materialize("counted", expression.pairs(there, windows), _DOING)
        # A row without a time is in no window, and its code is null.
        unusual = counted.code.isnull() | counted.code.between(UNUSUAL * windows, -1)
        found = None
        if not _any(engine, counted, unusual):
            named = _by_number if counted.user.type().is_string() else _by_id
            found = named(engine, counted, missing_ids, rows_are_visits="visits" not in rows.columns)
    except LocentropyError:  # the two passes meet it again, and explain it
        found = None
    if found is None:
        engine.drop("counted", "users")
    return found


def _marked(engine: EmbeddedEngine, *, first_times: bool) -> ibis.Table | None:
    """The rows with what is counted of them, and whether they need a closer look; None if there are none."""
    rows = engine.visits
    writing = [name for name in (*_STYLES, *_MARKS) if name in rows.columns]
    style = engine.first_row(writing) if writing else {}
    if style is None:
        return None
    counted = ("user", "location", "visits", "in_window", *(("time",) if first_times else ()))
    return rows.select([name for name in counted if name in rows.columns], unusual=unusual_row(rows, style))


def unusual_row(rows: ibis.Table, style: Mapping[str, bool]) -> Any:
    """Whether a row needs a closer look, whatever its ids are: it breaks a rule, or is written in another style."""
    ids = expression.id_columns(rows)
    broken = [rule for role, rule in expression.bad_rows(rows, "keep").items() if role not in ids]
    other = [rows[name] != style[name] for name in _STYLES if name in style]
    if "decimal_comma" in style:
        other.append(rows.decimal_point if style["decimal_comma"] else rows.decimal_comma)
    return reduce(or_, (*broken, *other), ibis.literal(False)).fill_null(True)


def unusual_id(table: ibis.Table, role: str) -> Any:
    """Whether an id breaks a rule or could have two spellings."""
    condition = expression.bad_rows(table, "keep")[role]
    return reduce(or_, expression.confusing_ids(table).get(role, {}).values(), condition).fill_null(True)


def at_any_code(rows: ibis.Table, coded: ibis.Table) -> ibis.Table:
    """All rows: with their code, or with one that says why they have none."""
    there = rows.left_join(coded, "location")
    elsewhere = unusual_id(there, "location").ifelse(UNUSUAL, UNLISTED)
    code = there.unusual.ifelse(UNUSUAL, there.code.isnull().ifelse(elsewhere, there.code))
    return there.mutate(code=code.cast("int32")).drop("unusual", "location_right")


def _by_id(
    engine: EmbeddedEngine, counted: ibis.Table, missing_ids: MissingIds, *, rows_are_visits: bool
) -> ibis.Table | None:
    """The pairs at codes, of users whose ids are numbers."""
    missing = counted.user.isnull()
    if _any(engine, counted, missing):
        known = counted.filter(~missing)
        if missing_ids != "drop" or not rows_are_visits or not _log_left_out(engine, counted, known):
            return None
    # It is a table already, so nothing is stored twice; the few rows without a code are passed over each time.
    return counted.filter((counted.code >= 0) & ~missing)


def _by_number(
    engine: EmbeddedEngine, counted: ibis.Table, missing_ids: MissingIds, *, rows_are_visits: bool
) -> ibis.Table | None:
    """The pairs at codes, of users whose ids are texts, with numbers in place of these. Their order means nothing."""
    ids = counted.select("user").distinct()
    missing = expression.no_user_id(ids) if missing_ids == "drop" else ibis.literal(False)
    looked_at = ids.mutate(missing=missing, unusual=~missing & unusual_id(ids, "user"))
    users = engine.materialize("users", looked_at.mutate(number=ibis.row_number()), _DOING)
    if _any(engine, users, users.unusual):
        return None
    known = counted.inner_join(users.filter(~users.missing), "user")
    if _any(engine, users, users.missing) and (
        not rows_are_visits or not _log_left_out(engine, counted, known)
    ):
        return None
    listed = known.filter(known.code >= 0)
    numbered = listed.drop("user", "missing", "unusual").rename(user="number")
    pairs = engine.materialize("pairs", numbered, _DOING)
    engine.drop("counted", "users")
    return pairs


def _log_left_out(engine: EmbeddedEngine, counted: ibis.Table, known: ibis.Table) -> int:
    """Tell the private log how many rows are left out for want of a user id; return how many are not."""
    every, kept = (_total(engine, each) for each in (counted, known))
    if kept:
        log_left_out(engine, every - kept)
    return kept


def _total(engine: EmbeddedEngine, pairs: ibis.Table) -> int:
    total = pairs.aggregate(rows=pairs.visits.sum().fill_null(0).cast("int64"))
    return int(engine.run(total, _DOING)["rows"][0].as_py())


def _any(engine: EmbeddedEngine, table: ibis.Table, condition: Any) -> bool:
    """Whether a row of a table meets a condition."""
    return bool(engine.run(table.filter(condition).limit(1), _DOING).num_rows)
