"""Windows that every engine must cut alike: across changes of the clock, for every type of time, to the microsecond."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError
from locentropy.core.window_split import split
from locentropy.visits.queries import open_queries
from tests.calendars import by_the_calendar

from .agreeing import Stored

WINDOWS = [
    le.Window("2026-10-25", zone="Europe/Berlin"),
    le.Window("2026-10-25", zone="Europe/Berlin", hours="02-03"),
    le.Window("2026-03-29", zone="Europe/Berlin", hours="01-04"),
    le.Window("2010-11-07", zone="America/St_Johns"),
    le.Window("2026-W14", zone="Australia/Lord_Howe", weekdays="sat-sun", hours="00-06,22-24"),
    le.Window("2026-01-01/2026-04-01", zone="America/New_York", weekdays="mon-fri", hours="07-10,16-19"),
    le.Window("1960-07", zone="Asia/Kathmandu"),
    le.Window("2011-12-30", zone="Pacific/Apia"),
]


def instants(window: le.Window) -> list[datetime]:
    """At the borders and between them."""
    borders = [border for piece in window.instants for border in piece]
    aware = [each if each.tzinfo else each.replace(tzinfo=UTC) for each in borders[:30] + borders[-30:]]
    day = datetime(window.start.year, window.start.month, window.start.day, tzinfo=UTC)
    near = [each + n * timedelta(microseconds=1) for each in aware for n in (-1, 0, 1)]
    return sorted({*near, *(day + timedelta(minutes=31 * n) for n in range(-90, 150))})


def rows(visits: le.Visits, window: le.Window, here: le.Resources) -> set[int]:
    """The numbers of the rows that are counted: each row is at a place of its own."""
    with open_queries(visits.during(window), resources=here, refuse_empty=False) as queries:
        return set(queries.exact_profile().locations.to_pylist())


def table_of(times: pa.Array) -> pa.Table:
    return pa.table({"user": [1] * len(times), "location": list(range(len(times))), "time": times})


def check(stored: Stored, here: le.Resources) -> None:
    """Timestamps with a zone, without one, in UTC without one, and whole numbers."""
    for window in WINDOWS:
        times = instants(window)
        shown = [at.astimezone(ZoneInfo(window.zone)) for at in times]
        expected = {n for n, at in enumerate(shown) if by_the_calendar(window, at)}
        aware = stored(table_of(pa.array(times, pa.timestamp("us", "UTC"))))
        assert rows(aware, window, here) == expected, window
    naive = pa.array([at.replace(tzinfo=None) for at in times], pa.timestamp("us"))
    visits = stored(table_of(naive))
    assert rows(replace(visits, time_type="utc"), window, here) == expected
    seconds = [at.replace(microsecond=0) for at in instants(WINDOWS[1])]
    clock = [at.astimezone(ZoneInfo(WINDOWS[1].zone)) for at in seconds]
    numbers = stored(table_of(pa.array([int(at.timestamp()) for at in seconds], pa.int64())))
    expected = {n for n, at in enumerate(clock) if by_the_calendar(WINDOWS[1], at)}
    assert rows(replace(numbers, time_type="s"), WINDOWS[1], here) == expected
    check_as_written(stored, here)
    check_local(stored, here)
    check_several(stored, here)


def check_several(stored: Stored, here: le.Resources) -> None:
    """Every row in the window that its date is in; borders are on days of 23 and 25 hours."""
    zone = "Europe/Berlin"
    span = le.Window("2026-03-28/2026-04-01", zone=zone, hours="00-04,23-24")
    windows = split(span, "day")
    times = sorted({at for window in windows for at in instants(window)})
    visits = stored(table_of(pa.array(times, pa.timestamp("us", "UTC"))))
    places = list(range(len(times)))
    with open_queries(visits.during(span), locations=places, windows=windows, resources=here) as queries:
        found = {row["location"] for row in queries.exact_profile().to_arrow().to_pylist()}
    clock = [at.astimezone(ZoneInfo(zone)) for at in times]
    assert found == {
        f"{at.date()} {n}" for n, at in enumerate(clock) for window in windows if by_the_calendar(window, at)
    }


def check_local(stored: Stored, here: le.Resources) -> None:
    """Times without a zone by the dates and hours of a named one, as they are written: on days of 23 and 25 hours."""
    zone = "Europe/Berlin"
    span = le.Window("2026-03-28/2026-04-01", zone=zone, hours="00-04,23-24")
    windows = split(span, "day")
    # Among them 02:30 on 29 March, which the clock of Berlin skipped.
    times = sorted({at.replace(tzinfo=None) for window in windows for at in instants(window)})
    visits = replace(stored(table_of(pa.array(times, pa.timestamp("us")))), time_type="local")
    expected = {n for n, at in enumerate(times) if by_the_calendar(span, at)}
    assert rows(visits, span, here) == expected
    places = list(range(len(times)))
    with open_queries(visits.during(span), locations=places, windows=windows, resources=here) as queries:
        found = {row["location"] for row in queries.exact_profile().to_arrow().to_pylist()}
    assert found == {f"{times[n].date()} {n}" for n in expected}
    aware = stored(table_of(pa.array(times, pa.timestamp("us", "UTC"))))
    with pytest.raises(ColumnError, match="name a zone"):
        rows(replace(aware, time_type="local"), span, here)


def check_as_written(stored: Stored, here: le.Resources) -> None:
    """Times without a zone by their own clock, and what cannot be dated."""
    window = le.Window("2026-10", zone="as-written", weekdays="sat,sun", hours="02-03")
    times = [at.replace(tzinfo=None) for at in instants(window)]
    visits = stored(table_of(pa.array(times, pa.timestamp("us"))))
    assert rows(visits, window, here) == {n for n, at in enumerate(times) if by_the_calendar(window, at)}
    with pytest.raises(ColumnError, match=r"name no zone.*time_type=\"local\""):
        rows(visits, WINDOWS[0], here)
    holes = stored(table_of(pa.array([*times[:3], None], pa.timestamp("us"))))
    with pytest.raises(BadRowsError, match="time"):
        rows(holes, window, here)
