"""Kinds of times: which of them fit, by what is public and by their column's stored type alone.

    instant   names its zone: 2026-05-03T08:00:00Z
    local     names none, and is what a clock showed: 2026-05-03T08:00:00
    number    counts seconds, milliseconds, … since 1970
    date      is local, without a time of day

What a time is must be known before it can be dated. The column's type says so; or else the window and `time_type` say
which kind is meant, and a value of another kind is a bad row, whatever other rows hold. If the values decided, a row
outside a window could decide how, and whether, those within it are read. A date stands for its midnight, unless hours
of the clock matter, or who was where first: then it is a bad row too.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, Literal

import ibis

from locentropy.core.civil_time import AS_WRITTEN
from locentropy.core.errors import ColumnError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.windows import Window
    from locentropy.visits.engines.base import Clock, Engine
    from locentropy.visits.visits import TimeType, Visits

PER_MICROSECOND: Final = {"s": (1, 1_000_000), "ms": (1, 1_000), "us": (1, 1), "ns": (1_000, 1)}
"""Units of a whole number in microseconds, as a fraction."""

Misfit = Literal["unzoned", "zoned", "number", "moment", "date"]
"""Why a time does not fit."""

WHAT: Final[dict[Misfit, str]] = {
    "unzoned": "times name no zone",
    "zoned": "times name a zone",
    "number": "times are whole numbers, of which the unit is not said",
    "moment": "times are not whole numbers",
    "date": "dates have no time of day",
}
_ZONE: Final = (
    'Name the zone by whose calendar visits are dated: zone="Europe/Berlin" (--time-zone Europe/Berlin).'
)


def fitting(engine: Engine, visits: Visits, *, first_times: bool) -> ibis.Table:
    """The rows of an engine, without times that do not fit, and with a column for each reason why some might not.

    Raises ColumnError if no time fits, by the column's type. `first_times` is whether it matters who was where first.
    """
    rows = engine.visits
    if "time" not in rows.columns:
        return rows
    window, time_type = visits.window, visits.time_type
    check_clock(engine, visits, first_times=first_times)
    reasons = _of_texts(rows, _wanted(window, time_type)) if engine.clock is None else {}
    if _by_clock(window, first_times) and "time_is_date" in rows.columns:
        reasons["date"] = rows.time_is_date
    return _without(rows, reasons) if reasons else rows


def column_of(misfit: Misfit) -> str:
    """The column that says whether a time does not fit for this reason."""
    return f"time_misfit_{misfit}"


def remedy(misfit: Misfit, window: Window | None, time_type: TimeType | None) -> str:
    """What to do about times that do not fit."""
    if misfit == "unzoned":
        zone = "" if window is None else f" of {window.zone}"
        return (
            f'If they are local times{zone}: time_type="local" (--time-type local). If they are in UTC: '
            'time_type="utc" (--time-type utc).'
        )
    if misfit == "date":
        if window is not None and window.hours is not None:
            return "Leave out the hours of the window (--hours)."
        return (
            'To keep of a person what was visited most often, rather than first: keep="most-visited" '
            "(--keep most-visited). Or use no times: time=None (--time '')."
        )
    if misfit == "number":
        said = 'Say what they count since 1970: time_type="s" (--time-type s) for seconds; or ms, us, ns.'
    else:
        said = "" if time_type is None else f"Leave out time_type={time_type!r} (--time-type)."
    return f"{said} {_ZONE}".strip() if window is not None and window.zone == AS_WRITTEN else said


def _by_clock(window: Window | None, first_times: bool) -> bool:
    """Whether the time of day matters."""
    return first_times or (window is not None and window.hours is not None)


def _wanted(window: Window | None, time_type: TimeType | None) -> Clock | None:
    """The kind of times that is meant; None for any."""
    if time_type is not None:
        return "number" if time_type in PER_MICROSECOND else "local"
    if window is None:
        return None
    return "local" if window.zone == AS_WRITTEN else "instant"


def check_clock(engine: Engine, visits: Visits, *, first_times: bool = False) -> None:
    """Raise ColumnError unless times of the column's type fit. Texts may."""
    if "time" not in engine.columns:
        return
    window, time_type = visits.window, visits.time_type
    where = f"{engine.label}: the time column {engine.columns['time']!r}"
    wanted, clock = _wanted(window, time_type), engine.clock
    if window is not None and window.zone == AS_WRITTEN and time_type not in (None, "local"):
        raise ColumnError(
            f"{where}: time_type={time_type!r} (--time-type) says that its times are instants, and as-written is for "
            f"times without a zone. {_ZONE}"
        )
    if clock == "mixed" and wanted is not None:
        raise ColumnError(
            f"{where} holds times of several kinds: whole numbers, times with a zone (2026-05-03T08:00:00Z) and times "
            "without one (2026-05-03T08:00:00) cannot be dated by one clock. Write all of them in the same way."
        )
    misfit = _misfit(clock, wanted)
    if misfit == "zoned" and time_type == "utc":
        misfit = None  # it is for times whose type does not tell
    if misfit is None and _by_clock(window, first_times) and engine.only_dates:
        misfit = "date"
    if misfit is not None:
        raise ColumnError(f"{where}: its {WHAT[misfit]}. {remedy(misfit, window, time_type)}")


def _misfit(clock: Clock | None, wanted: Clock | None) -> Misfit | None:
    """Why times of one kind are not of another."""
    if wanted is None or clock in (None, "mixed", wanted):
        return None
    if clock == "number":
        return "number"
    if wanted == "number":
        return "moment"
    return "zoned" if clock == "instant" else "unzoned"


def _of_texts(rows: ibis.Table, wanted: Clock | None) -> dict[Misfit, Any]:
    """The conditions under which times that are texts do not fit."""
    if wanted is None:
        return {}
    number = rows.time_is_number
    if wanted == "number":
        return {"moment": ~number}
    if wanted == "local":
        return {"number": number, "zoned": ~number & ~rows.time_is_local}
    return {"number": number, "unzoned": ~number & rows.time_is_local}


def _without(rows: ibis.Table, reasons: Mapping[Misfit, Any]) -> ibis.Table:
    """The rows without times to which a condition applies."""
    found = {column_of(name): rows.time.notnull() & each for name, each in reasons.items()}
    none = ibis.null(rows.time.type())
    return rows.mutate(time=reduce(or_, reasons.values()).ifelse(none, rows.time), **found)
