"""Visits in a window: the rows whose time is one of its instants, by comparisons alone.

Claim: every engine keeps the same rows, those that Python's calendar puts into the window, and rows without a time,
which the checks then find. Whether a row is kept depends on this row only.

Why: the instants come from `core.civil_time`; an engine is asked nothing but whether a time is before another, with
constants in the type of its times: no calendar, no zone, no arithmetic. A window that weekdays and hours cut into n
pieces has 2n borders, and a time finds its place among them by halving, in about log₂(2n) comparisons.

Which times can be dated is told by `time_kinds`. Times without a zone that are local (`time_type="local"`, or the zone
`as-written`) are compared as they are written with civil dates and hours: no zone is asked, so an hour that the zone's
clock repeats or skips is an hour like others, and each written time is in one day, week and month.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.civil_time import merged
from locentropy.core.errors import ParameterError
from locentropy.visits.time_kinds import PER_MICROSECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locentropy.core.civil_time import Intervals
    from locentropy.core.windows import Window
    from locentropy.visits.visits import TimeType

EPOCH: Final = {True: datetime(1970, 1, 1, tzinfo=UTC), False: datetime(1970, 1, 1)}
"""By whether it names a zone."""


def during(visits: ibis.Table, window: Window, time_type: TimeType | None) -> ibis.Table:
    """The rows in a window, and those without a time; other times fit (`time_kinds`)."""
    constant = _constant(visits, time_type)
    borders = [constant(border) for piece in _pieces(window, time_type) for border in piece]
    return visits.filter(visits.time.isnull() | _is_inside(visits.time, borders))


def in_one_of(visits: ibis.Table, windows: Sequence[Window], time_type: TimeType | None) -> ibis.Table:
    """The rows in one of several windows, with its position among them as `in_window`, and rows without a time.

    The windows have no instant in common, so that every row is in one of them at most.
    """
    pieces = sorted((piece, at) for at, window in enumerate(windows) for piece in _pieces(window, time_type))
    if any(one[1] > other[0] for (one, _), (other, _) in pairwise(pieces)):
        raise ParameterError("The windows of a release have no instant in common.", parameter="windows")
    constant = _constant(visits, time_type)
    borders = [constant(border) for piece in merged(each for each, _ in pieces) for border in piece]
    kept = visits.filter(visits.time.isnull() | _is_inside(visits.time, borders))
    begins = [constant(start) for (start, _), _ in pieces]
    return kept.mutate(in_window=_numbered(kept.time, begins, [at for _, at in pieces]))


def _numbered(time: Any, begins: Sequence[Any], numbers: Sequence[int]) -> Any:
    """The number of the piece that a time is in, which begins last before it; found by halving."""
    if len(numbers) < 2:
        return ibis.literal(numbers[0] if numbers else 0, "int64")
    middle = len(numbers) // 2
    return (time < begins[middle]).ifelse(
        _numbered(time, begins[:middle], numbers[:middle]), _numbered(time, begins[middle:], numbers[middle:])
    )


def _pieces(window: Window, time_type: TimeType | None) -> Intervals:
    """What is in a window: written times if these are local, else instants."""
    return window.civil if time_type == "local" else window.instants


def _constant(visits: ibis.Table, time_type: TimeType | None) -> Callable[[datetime], Any]:
    """How an instant is written in the type of the times."""
    if visits.time.type().is_integer():
        # Texts that are not numbers were read as microseconds.
        unit = time_type if time_type in PER_MICROSECOND else "us"
        return lambda border: ibis.literal(_as_number(border, unit), "int64")
    aware = visits.time.type().timezone is not None
    return lambda border: ibis.literal(border.replace(tzinfo=UTC if aware else None))


def _is_inside(time: Any, borders: Sequence[Any]) -> Any:
    """Whether a time is in a piece; borders are the first and the last of each. Plain comparisons let engines skip."""
    if not borders:
        return ibis.literal(False)
    inside = (time >= borders[0]) & (time < borders[-1])
    return inside & _among(time, borders[1:-1], 1) if len(borders) > 2 else inside


def _among(time: Any, borders: Sequence[Any], before: int) -> Any:
    """Whether an odd number of borders is at or before the time: some of these, and `before` that are known to be."""
    if not borders:
        return ibis.literal(before % 2 == 1)
    middle = len(borders) // 2
    return (time < borders[middle]).ifelse(
        _among(time, borders[:middle], before), _among(time, borders[middle + 1 :], before + middle + 1)
    )


def _as_number(border: datetime, unit: str) -> int:
    """The least whole number that is not before a border."""
    since = border - EPOCH[border.tzinfo is not None]
    microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    times, per = PER_MICROSECOND[unit]
    return -(-microseconds * times // per)
