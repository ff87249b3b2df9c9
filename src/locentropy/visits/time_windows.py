"""Visits in a window: the rows whose time is one of its instants, by comparisons alone.

Claim: every engine keeps the same rows, those that Python's calendar puts into the window, and rows without a time,
which the checks then find. Whether a row is kept depends on this row only.

Why: the instants come from `core.civil_time`; an engine is asked nothing but whether a time is before another, with
constants in the type of its times: no calendar, no zone, no arithmetic. A window that weekdays and hours cut into n
pieces has 2n borders, and a time finds its place among them by halving, in about log₂(2n) comparisons.

What a time is must be known before it can be dated: times with a zone need a zone to be dated by, times without one
have their own clock (`as-written`), whole numbers have a unit. The column's type tells, and of texts the window's zone
and `time_type`, which are public: a text of another kind is no time. If the texts told, a row outside the window could
decide how, and whether, those within are read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.civil_time import AS_WRITTEN, merged
from locentropy.core.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from locentropy.core.windows import Window
    from locentropy.visits.engines.base import Clock, Engine
    from locentropy.visits.visits import TimeType

PER_MICROSECOND: Final = {"s": (1, 1_000_000), "ms": (1, 1_000), "us": (1, 1), "ns": (1_000, 1)}
"""Units of a whole number in microseconds, as a fraction."""
EPOCH: Final = {True: datetime(1970, 1, 1, tzinfo=UTC), False: datetime(1970, 1, 1)}
"""By whether it names a zone."""


def during(engine: Engine, window: Window, time_type: TimeType | None) -> ibis.Table:
    """The rows in a window, and those without a time."""
    visits, constant = _dated(engine, window, time_type)
    borders = [constant(border) for piece in window.instants for border in piece]
    return visits.filter(visits.time.isnull() | _is_inside(visits.time, borders))


def in_one_of(engine: Engine, windows: Sequence[Window], time_type: TimeType | None) -> ibis.Table:
    """The rows in one of several windows, with its position among them as `in_window`, and rows without a time.

    The windows have no instant in common, so that every row is in one of them at most.
    """
    pieces = sorted((piece, at) for at, window in enumerate(windows) for piece in window.instants)
    if any(one[1] > other[0] for (one, _), (other, _) in pairwise(pieces)):
        raise ParameterError("The windows of a release have no instant in common.", parameter="windows")
    visits, constant = _dated(engine, windows[0], time_type)
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


def _dated(
    engine: Engine, window: Window, time_type: TimeType | None
) -> tuple[ibis.Table, Callable[[datetime], Any]]:
    """The visits, with times that the window's zone can date, and how an instant is written in the type of these."""
    visits = engine.visits
    clock = engine.clock or _clock_of_texts(window, time_type)
    _check_clock(engine, window, clock, time_type)
    if engine.clock is None:
        visits = visits.mutate(time=_is_of(visits, clock).ifelse(visits.time, ibis.null("int64")))
    if visits.time.type().is_integer():
        # Texts that are not numbers were read as microseconds.
        unit = time_type if clock == "number" and time_type is not None else "us"
        return visits, lambda border: ibis.literal(_as_number(border, unit), "int64")
    aware = visits.time.type().timezone is not None
    return visits, lambda border: ibis.literal(border.replace(tzinfo=UTC if aware else None))


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


def _clock_of_texts(window: Window, time_type: TimeType | None) -> Clock:
    """What times that are written as texts must be, by what is public."""
    if time_type in PER_MICROSECOND:
        return "number"
    return "local" if time_type == "utc" or window.zone == AS_WRITTEN else "instant"


def _is_of(visits: ibis.Table, clock: Clock) -> Any:
    """Whether the text of a time is of a kind."""
    if clock == "number":
        return visits.time_is_number
    return ~visits.time_is_number & (visits.time_is_local if clock == "local" else ~visits.time_is_local)


def _check_clock(engine: Engine, window: Window, clock: Clock, time_type: TimeType | None) -> None:
    """Raise unless it is known which instants the times are, and the window's zone can date them."""
    where = f"{engine.label}: the time column {engine.columns['time']!r}"
    if clock == "mixed":
        raise ColumnError(
            f"{where} holds times of several kinds: whole numbers, times with a zone (2026-05-03T08:00:00Z) and times "
            "without one (2026-05-03T08:00:00) cannot be dated by one clock. Write all of them in the same way."
        )
    if clock == "number" and time_type not in PER_MICROSECOND:
        raise ColumnError(
            f'{where} holds whole numbers, of which a window must know the unit. Say it: time_type="s" (--time-type s) '
            "for seconds since 1970; or ms, us, ns."
        )
    if clock in ("local", "instant") and time_type in PER_MICROSECOND:
        raise ColumnError(
            f"{where} holds dates and times, not whole numbers. Leave out time_type={time_type!r} (--time-type)."
        )
    if clock == "local" and time_type is None and window.zone != AS_WRITTEN:
        raise ColumnError(
            f"{where} holds times without a zone. If they are the local times to date visits by, say so: "
            'zone="as-written" (--time-zone as-written). If they are in UTC: time_type="utc" (--time-type utc).'
        )
    instants = clock in ("number", "instant") or (clock == "local" and time_type == "utc")
    if instants and window.zone == AS_WRITTEN:
        raise ColumnError(
            f"{where} holds instants, and as-written is for times without a zone. Name the zone by whose calendar they "
            'are dated: zone="Europe/Berlin" (--time-zone Europe/Berlin).'
        )
