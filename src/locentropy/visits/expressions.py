"""From visits to integer answers: the one set of Ibis expressions that every engine runs.

    visits ──► coded_locations  each location and its code, a number in the order of the md5 of the id's text
           └─► at_codes         the rows at these locations, with their codes
                 └─► pairs      (user, code, visits, first): one row for each user and location
                       ├─► answers: integers only; no logarithm, nothing that depends on the order of rows
                       └─► spread_pairs  (code, visits, locations, total, squares?): each pair with the number of
                             │           its user's locations and the sums of what their visits weigh
                             └─► with_shares  and the share of each, by an exact division

Ties are broken by code, which gives the same order on every engine, whatever its collation; and comparing numbers is
much cheaper than comparing hashes.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import pairwise
from operator import and_, or_
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.visits.time_kinds import WHAT, column_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.bounds import Keep
    from locentropy.core.locations import SquareCells
    from locentropy.core.shares import ShareRule
    from locentropy.visits.visits import MissingIds

_BLANKS: Final = (
    *(9, 11, 12, *range(0x1C, 0x21), 0x7F, 0x85, 0xA0, 0xAD, 0x1680, 0x180E, *range(0x2000, 0x2010)),
    *(*range(0x2028, 0x2030), *range(0x205F, 0x2070), 0x3000, 0xFEFF),
)
"""Invisible characters, by number: Spark reads a form feed, written into a query, as the letter f."""
_WHITE_SPACE: Final = "".join(rf"\x{c:02x}" if c < 0x80 else chr(c) for c in sorted((*_BLANKS, 10, 13)))
"""The same and line breaks, for a regular expression."""
_NO_ID: Final = ("nan", "null", "none", "na", "n/a")
"""What programs write for a missing id, in upper or lower case."""


def word_pattern(words: Sequence[str], optional: str = "") -> str:
    """A regular expression of some words, in upper or lower case, with or without blanks around."""
    either = "|".join("".join(map(_either_case, word)) for word in words)
    return f"^[{_WHITE_SPACE}]*({either}){optional}[{_WHITE_SPACE}]*$"


def _either_case(sign: str) -> str:
    cases = sorted({sign, *(each for each in (sign.lower(), sign.upper()) if len(each) == 1)})
    # By number, as signs of regular expressions may be: those beyond ASCII have no meaning there.
    signs = (each if each.isalnum() or ord(each) > 0x7F else rf"\x{ord(each):02x}" for each in cases)
    return f"[{''.join(signs)}]"


_MISSING: Final = word_pattern(_NO_ID, "?")
_LONGEST_WORD: Final = max(map(len, _NO_ID))
_FIRST: Final = (*_BLANKS, 10, 13, *map(ord, "nN"))
_LAST: Final = (*_BLANKS, 10, 13, *map(ord, "alneALNE"))
"""The first and last characters of texts that can match."""
_NO_LIMIT: Final = 1 << 62
"""More rows than any table has."""
_FAR: Final = 1000.0
"""Degrees."""
_VISIBLE: Final = (0x21, 0x7E)
"""The range of visible ASCII characters: between two of them a text is not blank and has no blank at an end."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def md5(text: str) -> str:
    """The md5 of a text, in hexadecimal; a built-in of DuckDB, Spark and PostgreSQL alike."""
    raise AssertionError("runs in the engine")


def id_columns(visits: ibis.Table) -> list[str]:
    """The columns that hold ids. Visits that a grid will locate have no location id."""
    return [role for role in ("user", "location") if role in visits.columns]


def with_ends(visits: ibis.Table) -> ibis.Table:
    """The rows with the numbers of the first and the last character of each id that is a text.

    Most conditions on texts are decided by these two. As columns they are computed once for all conditions.
    """
    texts = [role for role in id_columns(visits) if visits[role].type().is_string()]
    first = {f"{role}_first": visits[role].ascii_str() for role in texts}
    return visits.mutate(**first, **{f"{role}_last": visits[role].right(1).ascii_str() for role in texts})


def without_ends(visits: ibis.Table) -> ibis.Table:
    """The rows without the columns that `with_ends` adds."""
    added = {f"{role}_{end}" for role in ("user", "location") for end in ("first", "last")}
    return visits.drop(*(name for name in visits.columns if name in added))


def _ends(visits: ibis.Table, role: str) -> tuple[Any, Any]:
    """The numbers of the first and the last character of a text, also beyond ASCII; 0 if it is empty."""
    if f"{role}_first" in visits.columns:
        return visits[f"{role}_first"], visits[f"{role}_last"]
    return visits[role].ascii_str(), visits[role].right(1).ascii_str()


def no_user_id(visits: ibis.Table) -> Any:
    """The condition under which a row has no user id: null, empty, or a word for "missing". Depends on this row only.

    The regular expression runs only where the ends, and of words without blanks the length, allow a match.
    """
    user = visits.user
    if not user.type().is_string():
        return user.isnull()
    first, last = _ends(visits, "user")
    is_word = user.re_search(_MISSING)
    short = first.isin(tuple(map(ord, "nN"))) & (user.length() <= _LONGEST_WORD)
    padded = _is_one_of(first, _FIRST).ifelse(_is_one_of(last, _LAST).ifelse(is_word, False), user == "")
    return user.isnull() | _visible(first, last).ifelse(short.ifelse(is_word, False), padded)


def bad_rows(visits: ibis.Table, missing_ids: MissingIds) -> dict[str, Any]:
    """For each rule, the condition under which a row breaks it. A rule depends on one row only.

    Where rows without a user id are left out, there is no rule for user ids.
    """
    rules: dict[str, Any] = {}
    for role in id_columns(visits):
        if role == "user" and missing_ids == "drop":
            continue
        column = visits[role]
        rules[role] = column.isnull()
        if column.type().is_string():
            rules[role] = rules[role] | _is_blank(column, _ends(visits, role)[0])
    if "time" in visits.columns:
        rules["time"] = visits.time.isnull()
    if "visits" in visits.columns:
        rules["visits"] = visits.visits.isnull() | (visits.visits < 1)
    for role in ("lat", "lon"):
        if role in visits.columns:
            # A visit with a location id may lack coordinates; but if it has any, they must be numbers.
            missing_is_bad = "location" not in visits.columns
            rules[role] = visits[role].isnan().fill_null(missing_is_bad)
    return rules


def confusing_ids(visits: ibis.Table) -> dict[str, dict[str, Any]]:
    """For each id column of texts, the conditions under which one id could have two spellings.

    They are asked of rows that break no rule: of a row that is dropped, nothing else matters.
    """
    texts = [role for role in id_columns(visits) if visits[role].type().is_string()]
    return {role: _confusing(visits[role], *_ends(visits, role)) for role in texts}


def _confusing(text: Any, first: Any, last: Any) -> dict[str, Any]:
    """Numbers written as 7.0, +7 or 7e+00; blanks at either end; line breaks.

    A regular expression on every row would take longer than everything else, so cheap tests come first. They are
    if-elses rather than "and"s, of which engines may evaluate both sides on every row.
    """
    ends_as_number = first.between(ord("+"), ord("9")) & last.between(ord("."), ord("9"))
    odd = text.contains(".") | text.contains("+") | text.contains("e-") | text.contains("E-")
    number = r"^[+-]?[0-9]+[.][0-9]*([eE][+-]?[0-9]+)?$|^[+-]?[0-9]+[eE][+-][0-9]+$|^[+][0-9]+$"
    at_an_end = _is_one_of(first, _BLANKS) | _is_one_of(last, _BLANKS)
    return {
        "decimal": ends_as_number.ifelse(odd.ifelse(text.re_search(number), False), False),
        "padded": _visible(first, last).ifelse(False, at_an_end & ~_is_blank(text, first)),
        "broken": text.contains("\n") | text.contains("\r"),
    }


def _is_blank(text: Any, first: Any) -> Any:
    """Whether a text is empty or consists of ASCII blanks; ids of other blanks are refused as confusing."""
    blank = _is_one_of(first, _BLANKS).ifelse(text.re_search(r"^[\x09-\x0d\x20]*$"), text == "")
    return first.between(*_VISIBLE).ifelse(False, blank)


def _is_one_of(number: Any, numbers: tuple[int, ...]) -> Any:
    """Whether a number is one of some, as comparisons with ranges: a long list DuckDB would join with every row."""
    return _in_ranges(number.op(), numbers)


@lru_cache(maxsize=256)
def _in_ranges(number: Any, numbers: tuple[int, ...]) -> Any:
    """The same of an operation, cached: conditions ask it of one column again and again, and it is slow to build."""
    number = number.to_expr()
    ranges: list[list[int]] = []
    for each in sorted(numbers):
        if ranges and each == ranges[-1][1] + 1:
            ranges[-1][1] = each
        else:
            ranges.append([each, each])
    return reduce(or_, (number.between(low, high) for low, high in ranges))


def _visible(first: Any, last: Any) -> Any:
    return first.between(*_VISIBLE) & last.between(*_VISIBLE)


def check_counts(visits: ibis.Table, missing_ids: MissingIds, *, repeats_columns: bool = False) -> ibis.Table:
    """One row of counts: all rows, rows left out, and of the others known ids, broken rules and confusing ids.

    `repeats_columns` is for engines that would compute a column anew wherever it is used: behind a limit, which no
    table reaches, they compute it once.
    """

    def computed(table: ibis.Table) -> ibis.Table:
        return table.limit(_NO_LIMIT) if repeats_columns else table

    # What many conditions need is a column, computed once for each row.
    visits = computed(with_ends(visits))
    visits = visits.mutate(left_out=no_user_id(visits) if missing_ids == "drop" else ibis.literal(False))
    unbroken = (~broken for broken in bad_rows(visits, missing_ids).values())
    visits = computed(visits.mutate(sound=reduce(and_, unbroken, ~visits.left_out)))
    kept = ~visits.left_out
    conditions = {"left_out": visits.left_out}
    for role in id_columns(visits):
        conditions[f"known_{role}"] = kept & visits[role].notnull()
    for role, broken in bad_rows(visits, missing_ids).items():
        conditions[f"bad_{role}"] = kept & broken
    for role, confusing in confusing_ids(visits).items():
        for name, condition in confusing.items():
            conditions[f"{name}_{role}"] = condition & visits.sound
    if "time_is_number" in visits.columns:
        known = kept & visits.time.notnull()
        conditions["times_as_numbers"] = known & visits.time_is_number
        conditions["times_as_moments"] = known & ~visits.time_is_number
        conditions["times_day_first"] = known & visits.time_is_day_first
        conditions["times_otherwise"] = known & ~visits.time_is_day_first
    for misfit in WHAT:
        if column_of(misfit) in visits.columns:
            conditions[column_of(misfit)] = kept & visits[column_of(misfit)]
    if "decimal_comma" in visits.columns:
        conditions["decimal_commas"] = kept & visits.decimal_comma
        conditions["decimal_points"] = kept & visits.decimal_point
    counts = {"rows": visits.count()} | {name: each.sum() for name, each in conditions.items()}
    return visits.aggregate(**{name: count.fill_null(0).cast("int64") for name, count in counts.items()})


def with_user_ids(visits: ibis.Table, missing_ids: MissingIds) -> ibis.Table:
    """The rows that have a user id; all rows if missing ids are to be kept."""
    return visits.filter(~no_user_id(visits)) if missing_ids == "drop" else visits


def without_bad_rows(visits: ibis.Table, missing_ids: MissingIds) -> ibis.Table:
    """The rows that are not left out for want of a user id, and break no rule."""
    known = with_user_ids(with_ends(visits), missing_ids)
    rules = bad_rows(known, missing_ids).values()
    return without_ends(known.filter([~broken for broken in rules]) if rules else known)


def in_squares(visits: ibis.Table, grid: SquareCells) -> ibis.Table:
    """The visits within a grid, with the number of their cell as the location."""
    up = (_on_earth(visits.lat) - grid.south) / grid.lat_step
    across = (_on_earth(visits.lon) - grid.west) / grid.lon_step
    inside = (up >= 0) & (up < grid.rows) & (across >= 0) & (across < grid.columns)
    # Far outside, the distance does not fit an integer: it is replaced before the cast.
    row, column = (inside.ifelse(distance, -1.0).floor().cast("int64") for distance in (up, across))
    numbered = visits.mutate(location=row * grid.columns + column)
    return numbered.filter(row >= 0)


def _on_earth(degrees: Any) -> Any:
    """A coordinate, or one outside every grid: PostgreSQL stops where a quotient is too large for its type."""
    return degrees.between(-_FAR, _FAR).ifelse(degrees, _FAR)


def coded_locations(locations: ibis.Table) -> ibis.Table:
    """Each location of a table with its code: its rank by the md5 of the id's text.

    The text itself is the second key: texts with the same md5 can be constructed, and their order must not depend on
    the order of rows.
    """
    distinct = locations.select("location").distinct()
    text = distinct.location.cast("string")
    return distinct.mutate(code=ibis.row_number().over(order_by=[md5(text), text]).cast("int32"))


def coded_members(members: ibis.Table, coded: ibis.Table) -> ibis.Table:
    """Each place of a group with the code of its group; `members` has the location and the group of each."""
    return members.inner_join(coded.rename(group="location"), "group").select("location", "code")


def code_in(code: Any, window: Any, windows: int) -> Any:
    """The code of a location in one of several windows; also of arrays of numbers."""
    return (code * windows) + window


def at_codes(visits: ibis.Table, coded: ibis.Table) -> ibis.Table:
    """The rows at locations that have a code, with it."""
    return visits.inner_join(coded, "location")


def pairs(there: ibis.Table, windows: int = 1) -> ibis.Table:
    """Visits and, of rows with a time, its first, of each user at each code.

    Several locations may have one code, where places are grouped: they are one from here on, for everything is counted
    by user and code. Where visits are numbered by window, a code stands for a location in a window (`code_in`).
    """
    there = _at_windows(there, windows)
    answers = {"visits": (there.visits.sum() if "visits" in there.columns else there.count())}
    if "time" in there.columns:
        answers["first"] = there.time.min()
    return there.group_by(["user", "code"]).aggregate(**answers)


def coded_rows(there: ibis.Table, windows: int = 1) -> ibis.Table:
    """The user and the code of every row: where these are in order, `runs.py` reads the same pairs off them."""
    there = _at_windows(there, windows)
    return there.select(user=there.user.cast("int64"), code=there.code)


def _at_windows(there: ibis.Table, windows: int) -> ibis.Table:
    if windows < 2:
        return there
    return there.mutate(code=code_in(there.code, there.in_window, windows).cast("int32"))


def pairs_by_group(pairs: ibis.Table, members: ibis.Table) -> ibis.Table:
    """Pairs of users and groups; `members` has the code of each place and of its group.

    Visits add up and the first time is the earliest, so these are the pairs of visits that were read by group.
    """
    there = pairs.inner_join(members, "code")
    answers = {"visits": there.visits.sum()}
    if "first" in pairs.columns:
        answers["first"] = there.first.min()
    return there.group_by(["user", "group"]).aggregate(**answers).rename(code="group")


def ranked(pairs: ibis.Table, keep: Keep, by_id: ibis.Table | None = None) -> ibis.Table:
    """Each pair with its rank, from 0, among the pairs of the same user. Depends on no other user.

    `by_id` has the rank of each code by its id, for `keep="lowest-id"`: engines sort texts differently.
    """
    if keep == "first":
        order = [pairs.first, pairs.code]
    elif keep == "most-visited":
        order = [pairs.visits.desc(), pairs.code]
    else:
        pairs = pairs.inner_join(by_id, "code")
        order = [pairs.by_id]
    return pairs.mutate(rank=ibis.row_number().over(group_by=pairs.user, order_by=order))


def bounded_counts(ranked: ibis.Table, max_locations: Sequence[int], max_visits: int) -> ibis.Table:
    """Users by (code, step, visits): `step` i holds the pairs kept under max_locations[i] but not [i−1].

    The rows of steps 0..i together are the profile under the i-th bound, so one pass serves all bounds.
    """
    kept = ranked.filter(ranked.rank < max_locations[-1])
    step = ibis.literal(0)
    for bound in max_locations[:-1]:
        step = step + (kept.rank >= bound).ifelse(1, 0)  # not every backend casts booleans to numbers
    grouped = kept.group_by(
        code=kept.code, step=step.cast("int64"), visits=ibis.least(kept.visits, max_visits).cast("int64")
    )
    return grouped.aggregate(users=kept.count())


def exact_counts(pairs: ibis.Table) -> ibis.Table:
    """Users by (code, visits), without bounds."""
    return pairs.group_by(["code", "visits"]).aggregate(users=pairs.count())


def users_by_locations(pairs: ibis.Table) -> ibis.Table:
    """Users by the number of their locations."""
    each = pairs.group_by("user").aggregate(locations=pairs.count())
    return each.group_by("locations").aggregate(users=each.count())


def users_by_largest_visits(pairs: ibis.Table) -> ibis.Table:
    """Users by their largest number of visits to one location."""
    each = pairs.group_by("user").aggregate(visits=pairs.visits.max())
    return each.group_by("visits").aggregate(users=each.count())


def spread_pairs(pairs: ibis.Table, weights: Sequence[int], *, squares: bool = True) -> ibis.Table:
    """Each pair, without its user, with this user's number of locations and sums of what their visits weigh.

    `weights` are those of 1, 2, … visits; more visits weigh as much as the last. `squares` says whether squares of
    weights are added up as well. Depends on no other user. Counting and joining back takes DuckDB between half as long
    as a window over users and about as long.
    """
    weighed = pairs.select("user", "code", "visits", weight=_weight(pairs.visits, weights))
    sums = {"locations": weighed.count(), "total": weighed.weight.sum()}
    if squares:
        sums["squares"] = (weighed.weight * weighed.weight).sum()
    each = weighed.group_by("user").aggregate(**{name: value.cast("int64") for name, value in sums.items()})
    return weighed.inner_join(each, "user").select("code", "visits", *sums)


def spread_by_once(runs: ibis.Table, weights: Sequence[int], *, squares: bool = True) -> ibis.Table:
    """The same of pairs that have the number of their user's locations and of those with one visit: see `runs.py`.

    `weights` are those of one visit and of more, or of any number.
    """
    locations, once = runs.locations.cast("int64"), runs.once.cast("int64")

    def added_up(one: int, more: int) -> Any:
        return (locations * more + once * (one - more)).cast("int64")

    one, more = weights[0], weights[-1]
    sums = {"locations": locations, "total": added_up(one, more)}
    if squares:
        sums["squares"] = added_up(one * one, more * more)
    return runs.select("code", "visits", **sums)


def weighing(pairs: ibis.Table, weights: Sequence[int]) -> ibis.Table:
    """The pairs whose visits weigh anything."""
    return pairs.filter(_weight(pairs.visits, weights) > 0)


def _weight(visits: Any, weights: Sequence[int]) -> Any:
    """What a number of visits weighs: the first weight, and whatever is added to it with more visits."""
    weight: Any = ibis.literal(weights[0], "int32")
    for at, (before, after) in enumerate(pairwise(weights), start=2):
        if after != before:
            weight = weight + (visits >= at).ifelse(ibis.literal(after - before, "int32"), 0)
    # Engines give sums of small constants small types, in which products overflow. Ibis takes the sum for one of 64
    # bits, and would leave out a cast to what it is already.
    return weight.cast("int32").cast("int64")


def with_shares(spread: ibis.Table, rule: ShareRule) -> ibis.Table:
    """Each pair with its share by the rule, rounded down: see core/shares.py."""
    weight = ibis.literal(1, "int64") if rule.equal else _weight(spread.visits, rule.weights)
    if rule.norm == "l1":
        whole = spread.locations if rule.equal else spread.total
    else:
        whole = root_above(spread.locations if rule.equal else spread.squares)
    # At least 1, for users all of whose rows weigh nothing: they have nothing to divide.
    whole = ibis.greatest(whole, 1)
    share = ibis.least(quotient(weight * rule.unit, whole), rule.largest).cast("int64")
    return spread.mutate(share=share)


def quotient(number: Any, divisor: Any) -> Any:
    """⌊number/divisor⌋ of positive 64-bit integers, exactly, where it is below 2^52 and number + divisor below 2^62.

    Engines divide integers differently: some round, some truncate, some go through floats. So this asks little of
    them. The quotient of doubles is off by less than one half, so its floor is off by at most one, and that is put
    right with integers: the largest q with q·divisor ≤ number.
    """
    near = (number.cast("float64") / divisor.cast("float64")).floor().cast("int64")
    over = (near * divisor > number).ifelse(1, 0)
    under = ((near + 1) * divisor <= number).ifelse(1, 0)
    return near - over + under


def root_above(number: Any) -> Any:
    """The smallest integer above 0 whose square is at least an integer below 2^61; put right in the same way."""
    near = ibis.greatest(number.cast("float64").sqrt().ceil().cast("int64"), 1)
    under = (near * near < number).ifelse(1, 0)
    over = ((near > 1) & ((near - 1) * (near - 1) >= number)).ifelse(1, 0)
    return near + under - over


def presence_by_location(shared: ibis.Table) -> ibis.Table:
    """The sum of shares by code."""
    return shared.group_by("code").aggregate(presence=shared.share.sum())


def presence_by_cell(
    spread: ibis.Table, rule: ShareRule, bands: ibis.Table, places: Sequence[int], visits: Sequence[int]
) -> ibis.Table:
    """The sum of shares by band of the location, cell of the user's number of locations, and cell of visits.

    Pairs that are alike in all that decides upon share and cell are counted first: there are few kinds of them, so that
    shares and cells of these cost next to nothing.
    """
    banded = spread.inner_join(bands, "code")
    decides = {"locations"} if rule.equal else {"visits", "locations", "total", "squares"} & {*spread.columns}
    alike = banded.group_by(["band", *sorted(decides | ({"visits"} if visits else set()))])
    shared = with_shares(alike.aggregate(rows=banded.count()), rule)
    cells = shared.mutate(
        place_cell=_cell(shared.locations, places),
        visit_cell=_cell(shared.visits, visits) if visits else ibis.literal(0, "int64"),
        presence=shared.share * shared.rows,
    )
    grouped = cells.group_by(["band", "place_cell", "visit_cell"])
    return grouped.aggregate(presence=cells.presence.sum())


def _cell(number: Any, thresholds: Sequence[int]) -> Any:
    """How many of the thresholds a number has reached."""
    cell = ibis.literal(0, "int64")
    for threshold in thresholds:
        cell = cell + (number >= threshold).ifelse(1, 0)  # not every backend casts booleans to numbers
    return cell.cast("int64")
