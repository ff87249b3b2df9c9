"""One pass: rows are counted as they come, and what was counted is checked, instead of every row before it is counted.

Claim: the pairs are those that checking every row (checks.py) and counting then would give, and these checks would have
refused nothing; or there are none, and nothing of the attempt is used.

Why: every check depends on one row only, and most conditions on one of its ids only. Rows that need a closer look for
another reason are counted under a code of their own (`UNUSUAL`), and those at locations that nobody asked for under
another (`UNLISTED`). Every user id is looked at once, wherever its rows are, and every listed id, by the conditions of
the checks. If anything is unusual, the two passes find out what it is. Rows without a user id are left out by their id,
as there.

User ids, which are texts, become numbers, for they are compared again and again: hashes, of which it is made sure that
no two ids have the same. They are as short as leaves room for a code beside them (`runs.Packing`), and the few ids that
would share one then are numbered -1, -2, … instead. That takes a pass over the ids, and the other one is over the rows:
text files, which are slow to read, are read once, and what is needed of them is stored, unless it had to be spilled.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ibis
import ibis.expr.datatypes as dt
import pyarrow as pa

from locentropy.core.errors import LocentropyError
from locentropy.visits import expressions as expression
from locentropy.visits.checks import log_left_out
from locentropy.visits.runs import CountedPairs, Extent, Packing, count_pairs

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
LONGEST: Final = 63
"""Bits of a number of 64 bits that has a sign."""
MOST_APART: Final = 1000
"""More ids that share a number make all numbers longer."""
_DOING: Final = "Counting visits"
_ROWS: Final = "rows_read_once"
_IDS: Final = "user_ids"
_PAIRS: Final = "numbered_pairs"


@ibis.udf.scalar.builtin(name="hash")  # type: ignore[untyped-decorator]
def _hash(text: str) -> dt.uint64:
    """A number for a text; the embedded engine's own."""
    raise AssertionError("runs in the engine")


def count_in_one_pass(
    engine: EmbeddedEngine,
    coded: ibis.Table,
    missing_ids: MissingIds,
    codes: int,
    *,
    first_times: bool,
    windows: int = 1,
) -> CountedPairs | None:
    """The pairs at the places of `coded`, each with its code or that of its group; None if anything is unusual.

    There are so many codes, from 0 on.
    """
    try:
        found = _counted(engine, coded, missing_ids, codes, first_times, windows)
    except LocentropyError:  # the two passes meet it again, and explain it
        found = None
    if found is None:
        engine.drop(_ROWS, _IDS, _PAIRS)
    return found


def _counted(
    engine: EmbeddedEngine,
    coded: ibis.Table,
    missing_ids: MissingIds,
    codes: int,
    first_times: bool,
    windows: int,
) -> CountedPairs | None:
    rows = _marked(engine, first_times=first_times)
    if rows is None or _any(engine, coded, unusual_id(coded, "location")):
        return None
    there = at_any_code(rows, coded)
    if windows > 1:  # a row without a time is in no window, and is unusual for that
        there = there.mutate(in_window=there.in_window.fill_null(0))
    if engine.reads_to_keep:
        rows = there = engine.materialize(_ROWS, there, _DOING)
    by_id = engine.materialize(_IDS, rows.group_by("user").aggregate(rows=rows.count()), "Checking")
    users = _numbered(engine, by_id, missing_ids, Packing.of(codes, windows).bits_of_users)
    engine.drop(_IDS)
    if users is None or users.left_out == users.rows:
        return None
    there = users.instead_of_ids(there, engine)
    there = there.filter(there.code != UNLISTED)
    counted = count_pairs(engine, there, codes, windows, name=_PAIRS, extent=users.extent)
    engine.drop(_ROWS)
    if _any(engine, counted.pairs, counted.pairs.code < 0):
        return None
    if users.left_out:  # told now that nobody else will tell it
        log_left_out(engine, users.left_out)
    return counted


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


class _Users(NamedTuple):
    """How user ids become numbers, and how many rows they have."""

    bits: int
    """Of a number."""
    apart: pa.Array
    """The longest numbers of the ids that would share one of so many bits: they are numbered -1, -2, … instead."""
    missing: list[int]
    """The numbers of ids that are missing."""
    rows: int
    left_out: int
    """Rows whose id is missing."""

    @property
    def extent(self) -> Extent:
        """What is known of the rows ahead."""
        return Extent(-len(self.apart), 2**self.bits - 1, self.rows)

    def instead_of_ids(self, there: ibis.Table, engine: EmbeddedEngine) -> ibis.Table:
        """The rows with numbers for user ids, without those whose id is missing."""
        user = _number(there.user, self.bits)
        numbered = there.mutate(user=user)
        if len(self.apart):
            below = pa.array(range(-len(self.apart), 0), pa.int64())
            apart = engine.upload("apart", pa.table({"longest": self.apart, "number": below}))
            both = there.mutate(user=user, longest=_number(there.user, LONGEST)).left_join(apart, "longest")
            numbered = both.mutate(user=both.number.fill_null(both.user)).select(there.columns)
        return numbered.filter(~numbered.user.isin(self.missing)) if self.missing else numbered


def _numbered(engine: EmbeddedEngine, by_id: ibis.Table, missing_ids: MissingIds, bits: int) -> _Users | None:
    """The numbers of users, of so many bits if that will do; None if an id is unusual, or two share even the longest.

    `by_id` has each id, and how many rows it has.
    """
    by_id = expression.with_ends(by_id)
    missing = expression.no_user_id(by_id) if missing_ids == "drop" else ibis.literal(False)
    looked_at = by_id.select(
        "rows",
        missing=missing,
        unusual=~missing & unusual_id(by_id, "user"),
        number=_number(by_id.user, bits),
        longest=_number(by_id.user, LONGEST),
    )
    found = looked_at.aggregate(
        ids=looked_at.count(),
        numbers=looked_at.number.nunique(),
        unusual=looked_at.unusual.any().fill_null(True),
        rows=looked_at.rows.sum(),
        left_out=looked_at.missing.ifelse(looked_at.rows, 0).sum(),
    )
    row = engine.run(found, "Checking").to_pylist()[0]
    if row["unusual"]:  # or there are no ids
        return None
    apart = pa.array([], pa.int64())
    if row["numbers"] < row["ids"]:
        distinct = looked_at.aggregate(numbers=looked_at.longest.nunique())
        if engine.run(distinct, "Checking")["numbers"][0].as_py() < row["ids"]:
            return None
        shared = looked_at.group_by("number").aggregate(ids=looked_at.count())
        sharing = looked_at.semi_join(shared.filter(shared.ids > 1), "number").select("longest")
        apart = engine.run(sharing.limit(MOST_APART + 1), "Checking")["longest"].combine_chunks()
        if len(apart) > MOST_APART:
            bits, apart = LONGEST, apart[:0]
    users = _Users(bits, apart, [], int(row["rows"]), int(row["left_out"]))
    if users.left_out:
        ids = users.instead_of_ids(by_id.filter(missing), engine).select("user")
        users = users._replace(missing=engine.run(ids, "Checking")["user"].to_pylist())
    return users


def _number(text: Any, bits: int) -> Any:
    """A number of so many bits for a text, null among them. Two texts may have the same one: see `_numbered`."""
    # Ibis takes what is shifted for an integer with a sign, and would leave out a cast to one.
    return (_hash(text) >> (64 - bits)).cast("uint64").cast("int64")


def _any(engine: EmbeddedEngine, table: ibis.Table, condition: Any) -> bool:
    """Whether a row of a table meets a condition."""
    return bool(engine.run(table.filter(condition).limit(1), _DOING).num_rows)
