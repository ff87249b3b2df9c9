"""Visits of a window: the same rows whatever the times are stored as, and none that the calendar does not put there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core import civil_time
from locentropy.core.errors import BadRowsError, ColumnError, ParameterError, SourceError
from locentropy.core.window_split import split
from locentropy.visits import time_windows
from locentropy.visits.queries import exact_profile, open_queries
from locentropy.visits.visits import Visits
from tests.calendars import by_the_calendar, dates, hours, texts, weekdays, zones
from tests.examples import at_night, examples

MAY = le.Window("2026-05", zone="Europe/Berlin")


def around(window: le.Window, zone: str) -> list[datetime]:
    """Instants at the borders of a window and between them, to the microsecond; no two alike."""
    day = datetime(window.start.year, window.start.month, window.start.day, tzinfo=UTC)
    borders = [border for piece in window.instants for border in piece]
    aware = [each if each.tzinfo else each.replace(tzinfo=UTC) for each in borders[:40] + borders[-10:]]
    near = [each + n * timedelta(microseconds=1) for each in aware for n in (-1, 0, 1)]
    return sorted({*near, *(day + timedelta(minutes=47 * n) for n in range(-100, 150))})


def kept(visits: Visits, window: le.Window) -> set[int]:
    """The numbers of the rows that are counted: each row is at a place of its own."""
    with open_queries(visits.during(window), refuse_empty=False, first_times=False) as queries:
        found = queries.exact_profile()
        return {int(place) for place in found.locations.to_pylist()}


def table_of(times: pa.Array) -> pa.Table:
    return pa.table(
        {"user": ["a"] * len(times), "location": list(map(str, range(len(times)))), "time": times}
    )


def instants(zone: str | None = "UTC", unit: str = "us") -> Callable[[list[datetime]], pa.Array]:
    """Times as timestamps."""
    return lambda times: pa.array(times, pa.timestamp("us", "UTC")).cast(pa.timestamp(unit, zone), safe=False)


STORED: dict[str, tuple[Callable[[list[datetime]], pa.Array], str | None]] = {
    "timestamps in UTC": (instants(), None),
    "timestamps of another zone": (instants("Asia/Tokyo"), None),
    "nanoseconds": (instants(unit="ns"), None),
    "no zone, in UTC": (instants(None), "utc"),
    "ISO texts": (lambda times: pa.array([each.isoformat() for each in times]), None),
    "texts of offsets": (
        lambda times: pa.array([each.astimezone(ZoneInfo("America/New_York")).isoformat(" ") for each in times]),
        None,
    ),
    "texts in UTC": (lambda times: pa.array([each.replace(tzinfo=None).isoformat() for each in times]), "utc"),
    "microseconds": (
        lambda times: pa.array([(each - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) for each in times]),
        "us",
    ),
    "texts of microseconds": (
        lambda times: pa.array([str((each - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)) for each in times]),
        "us",
    ),
}  # fmt: skip


FORMATTED = {
    "day first, in UTC": ("%d/%m/%Y %H:%M:%S.%f", "utc"),
    "month first, by halves of the day": ("%m/%d/%Y %I:%M:%S.%f %p %z", None),
}
"""Times as texts in a said format."""


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATTED)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(zone=zones, day=dates, span=texts, days=weekdays, clock=hours)
def test_rows_of_a_window_by_a_time_format(
    form: str, zone: str, day: date, span: Any, days: str | None, clock: str | None
) -> None:
    window = le.Window(span(day), zone=zone, weekdays=days, hours=clock)
    times = around(window, zone)
    time_format, time_type = FORMATTED[form]
    expected = {n for n, at in enumerate(times) if by_the_calendar(window, at.astimezone(ZoneInfo(zone)))}
    table = table_of(pa.array([at.strftime(time_format) for at in times]))
    assert kept(Visits(table, time_format=time_format, time_type=time_type), window) == expected  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("stored", STORED)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(zone=zones, day=dates, form=texts, days=weekdays, clock=hours)
def test_rows_of_a_window(
    stored: str, zone: str, day: date, form: Any, days: str | None, clock: str | None
) -> None:
    window = le.Window(form(day), zone=zone, weekdays=days, hours=clock)
    times = around(window, zone)
    write, time_type = STORED[stored]
    expected = {n for n, at in enumerate(times) if by_the_calendar(window, at.astimezone(ZoneInfo(zone)))}
    assert kept(Visits(table_of(write(times)), time_type=time_type), window) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "write",
    [
        lambda times: pa.array(times, pa.timestamp("us")),
        lambda times: pa.array([each.isoformat() for each in times]),
        lambda times: pa.array([each.isoformat(" ") for each in times]),
        lambda times: pa.array([each.strftime("%d.%m.%Y %H:%M:%S") for each in times]),
    ],
    ids=["timestamps", "texts", "with a blank", "with dots"],
)
@settings(max_examples=4, deadline=None)
@given(day=dates, form=texts, days=weekdays, clock=hours)
def test_times_as_written(write: Any, day: date, form: Any, days: str | None, clock: str | None) -> None:
    window = le.Window(form(day), zone="as-written", weekdays=days, hours=clock)
    times = [each.replace(tzinfo=None) for each in around(window, "UTC")]
    expected = {n for n, at in enumerate(times) if by_the_calendar(window, at)}
    assert kept(Visits(table_of(write(times))), window) == expected


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
@given(away=st.integers(-3, 3), zone=zones)
@settings(max_examples=examples(5, nightly=50), deadline=None)
def test_whole_numbers_of_any_unit(unit: str, away: int, zone: str) -> None:
    """At the borders, where a number rounded the other way would fall on the wrong side."""
    window = le.Window("2026-05", zone=zone)
    size = {"s": 1, "ms": 10**3, "ns": 10**9}[unit]
    [(start, end)] = window.instants
    numbers = [int(border.timestamp()) * size + away for border in (start, end)]
    expected = {n for n, inside in enumerate((away >= 0, away < 0)) if inside}
    assert kept(Visits(table_of(pa.array(numbers)), time_type=unit), window) == expected  # type: ignore[arg-type]


def test_dates_are_times_as_written() -> None:
    days = [date(2026, 4, 30), date(2026, 5, 1), date(2026, 5, 31), date(2026, 6, 1)]
    as_written = le.Window("2026-05", zone="as-written")
    for times, refused in ((pa.array(days), ColumnError), (pa.array(list(map(str, days))), BadRowsError)):
        assert kept(Visits(table_of(times)), as_written) == {1, 2}
        with pytest.raises(refused, match=r"(?s)name no zone.*--time-type local"):
            kept(Visits(table_of(times)), MAY)
        for way in (le.Window("2026-05", zone="as-written"), MAY):
            assert kept(Visits(table_of(times), time_type="local"), way) == {1, 2}


def test_any_frame_and_file(tmp_path: Path) -> None:
    times = around(MAY, "Europe/Berlin")
    table = table_of(instants()(times))
    expected = {
        n for n, at in enumerate(times) if by_the_calendar(MAY, at.astimezone(ZoneInfo("Europe/Berlin")))
    }
    pq.write_table(table, tmp_path / "visits.parquet")
    table.to_pandas().to_csv(tmp_path / "visits.csv", index=False)
    for source in (
        table, table.to_pandas(), pl.from_arrow(table), tmp_path / "visits.parquet", tmp_path / "visits.csv",
    ):  # fmt: skip
        assert kept(Visits(source), MAY) == expected, type(source)
    assert isinstance(table.to_pandas(), pd.DataFrame)


# --- local times and a zone ---


@pytest.mark.parametrize(
    "write",
    [
        lambda times: pa.array(times, pa.timestamp("us")),
        lambda times: pa.array([each.isoformat() for each in times]),
        lambda times: pa.array([each.strftime("%d.%m.%Y %H:%M:%S") for each in times]),
    ],
    ids=["timestamps", "texts", "with dots"],
)
@settings(max_examples=examples(2), deadline=None)
@given(zone=zones, day=dates, form=texts, days=weekdays, clock=hours)
def test_local_times_are_compared_as_written(
    write: Any, zone: str, day: date, form: Any, days: str | None, clock: str | None
) -> None:
    window = le.Window(form(day), zone=zone, weekdays=days, hours=clock)
    written = replace(window, zone="as-written")
    times = [each.replace(tzinfo=None, microsecond=0) for each in around(written, "UTC")]
    expected = {n for n, at in enumerate(times) if by_the_calendar(written, at)}
    assert kept(Visits(table_of(write(times)), time_type="local"), window) == expected


def test_no_time_zone_data_moves_local_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what a ledger has kept of it: the borders of a date are those that are written."""
    times = [
        datetime(2026, 4, 30, 23, 59),
        datetime(2026, 5, 1),
        datetime(2026, 5, 31, 23, 59),
        datetime(2026, 6, 1),
    ]
    visits = Visits(table_of(pa.array(times)), time_type="local")
    shorter = replace(MAY, within=((MAY.instants[0][0] + timedelta(days=9), MAY.instants[0][1]),))
    assert kept(visits, MAY) == kept(visits, shorter) == {1, 2}
    monkeypatch.setattr(civil_time, "_offset", lambda zone, at: timedelta(hours=7))
    assert kept(visits, le.Window("2026-05", zone="Europe/Berlin")) == {1, 2}


def test_every_written_time_is_in_one_day_one_week_and_one_month() -> None:
    """Also those that the clock of the zone skipped or showed twice: else one visit would be charged to two periods."""
    clock = [datetime(2026, 3, 28) + timedelta(minutes=10 * n) for n in range(-30, 330)]
    clock += [datetime(2026, 10, 25) + timedelta(minutes=10 * n) for n in range(-30, 330)]
    visits = Visits(table_of(pa.array(clock)), time_type="local")
    for period in ("day", "week", "month"):
        span = le.Window("2026-03/2026-11" if period != "week" else "2026-W10/2026-W48", zone="Europe/Berlin")
        places = list(map(str, range(len(clock))))
        with open_queries(visits.during(span), locations=places, windows=split(span, period)) as queries:
            found = [row["location"] for row in queries.exact_profile().to_arrow().to_pylist()]
        assert len(found) == len(set(found)) == len(clock)


def test_who_was_first_by_the_written_clock(tmp_path: Path) -> None:
    """In the hour that is shown twice too: 02:50 is after 02:10, whichever of the two it was."""
    (tmp_path / "v.csv").write_text("user,location,time\na,late,25.10.2026 02:50\na,early,25.10.2026 02:10\n")
    visits = Visits(tmp_path / "v.csv", time_type="local").during(le.Window("2026-10", zone="Europe/Berlin"))
    for each in (visits, replace(visits, window=None)):
        with open_queries(each) as queries:
            found = queries.profile(le.private.Bounds(1, 1, keep="first")).to_arrow().to_pylist()
        assert [row["location"] for row in found] == ["early"]


def test_local_is_said_of_times_without_a_zone() -> None:
    """Without a window too."""
    aware = table_of(pa.array([datetime(2026, 5, 3, tzinfo=UTC)], pa.timestamp("us", "UTC")))
    numbers = table_of(pa.array([7]))
    for table, words in ((aware, "name a zone.*--time-type"), (numbers, "whole numbers")):
        for visits in (Visits(table, time_type="local"), Visits(table, time_type="local").during(MAY)):
            with pytest.raises(ColumnError, match=f"'time': its times {words}|'time': its .*{words}"):
                exact_profile(visits)
    mixed = table_of(pa.array(["2026-05-03T08:00:00", "2026-05-03T08:00:00Z"]))
    assert kept(Visits(mixed, time_type="local", bad_rows="drop"), MAY) == {0}
    with pytest.raises(BadRowsError, match="'time': times name a zone"):
        exact_profile(Visits(mixed, time_type="local"))


# --- refusals ---


def test_a_row_without_a_time_is_a_bad_row() -> None:
    times = pa.array([datetime(2026, 5, 3, tzinfo=UTC), None], pa.timestamp("us", "UTC"))
    with pytest.raises(BadRowsError, match="time"):
        kept(Visits(table_of(times)), MAY)
    assert kept(Visits(table_of(times), bad_rows="drop"), MAY) == {0}


def test_bad_rows_of_another_month_do_not_matter() -> None:
    table = pa.table(
        {
            "user": ["a", "b"],
            "location": ["1", None],
            "time": pa.array([datetime(2026, 5, 3), datetime(2026, 6, 3)], pa.timestamp("us", "UTC")),
        }
    )
    assert kept(Visits(table), MAY) == {1}
    with pytest.raises(BadRowsError, match="location"):
        kept(Visits(table), le.Window("2026-06", zone="UTC"))


def test_an_empty_window_is_no_error_where_publishing_must_not_tell() -> None:
    table = table_of(instants()([datetime(2026, 5, 3, tzinfo=UTC)]))
    june = le.Window("2026-06", zone="UTC")
    assert kept(Visits(table), june) == set()
    with pytest.raises(SourceError, match="no row is in the window 2026-06, UTC"):
        exact_profile(Visits(table).during(june))


@pytest.mark.parametrize(
    ("times", "window", "time_type", "words"),
    [
        (pa.array([1]), MAY, None, r"time_type=\"s\""),
        (pa.array([datetime(2026, 5, 3)]), MAY, None, r"'time': its times name no zone.*--time-type local"),
        (pa.array([datetime(2026, 5, 3)]), MAY, "s", "Leave out time_type='s'"),
    ],
)
def test_times_that_cannot_be_dated(times: Any, window: le.Window, time_type: Any, words: str) -> None:
    with pytest.raises(ColumnError, match=words):
        kept(Visits(table_of(times), time_type=time_type), window)


AS_WRITTEN_MAY = le.Window("2026-05", zone="as-written")


@pytest.mark.parametrize(
    ("text", "window", "time_type", "words"),
    [
        ("1", MAY, None, r'time_type="s"'),
        ("2026-05-03", MAY, None, 'time_type="utc"'),
        ("2026-05-03T08:00:00", MAY, None, "--time-type local"),
        ("2026-05-03T08:00:00 ", MAY, None, "--time-type local"),
        ("2026-05-03T08:00:00\t", MAY, None, "are not times"),
        ("03.05.2026 08:00", MAY, None, "--time-type local"),
        ("2026-05-03T08:00:00Z", MAY, "s", "not whole numbers"),
        ("03.05.2026", MAY, "s", "not whole numbers"),
        ("2026-05-03T08:00:00Z", MAY, "utc", "name a zone"),
        ("2026-05-03T08:00:00Z", MAY, "local", "name a zone"),
        ("7", MAY, "local", "whole numbers"),
        ("2026-05-03T08:00:00+02", AS_WRITTEN_MAY, None, "--time-zone Europe/Berlin"),
        ("7", AS_WRITTEN_MAY, None, "--time-zone Europe/Berlin"),
    ],
)
def test_a_text_of_another_kind_is_no_time(text: str, window: le.Window, time_type: Any, words: str) -> None:
    """What is public decides which kind a window takes, so that no row decides how another is read."""
    written = window is AS_WRITTEN_MAY or time_type in ("utc", "local")
    right = "1777800000" if time_type == "s" else "2026-05-03T08:00:00" + ("" if written else "Z")
    with pytest.raises(BadRowsError, match=words):
        kept(Visits(table_of(pa.array([text])), time_type=time_type), window)
    both = Visits(table_of(pa.array([right, text])), time_type=time_type, bad_rows="drop")
    assert kept(both, window) == {0}
    with pytest.raises(BadRowsError):
        kept(replace(both, bad_rows="fail"), window)


TIMES = ("2026-03-03T08:00:00", "2026-03-03T08:00:00Z", "7", "2026-05-03T08:00:00 ", "once")
IDS = ("7", "07", "seven", "7.0")
OFTEN = [*((time, "seven") for time in TIMES), *((TIMES[0], each) for each in IDS if each != "seven")]
SELDOM = [pair for pair in product(TIMES, IDS) if pair not in OFTEN]


@pytest.mark.parametrize("pair", [*OFTEN, *at_night(*SELDOM)], ids=" of ".join)
def test_a_row_outside_the_window_decides_nothing(pair: tuple[str, str], tmp_path: Path) -> None:
    """Nor whether there is an answer: other periods have budgets of their own."""
    time, ids = pair
    (tmp_path / "may.csv").write_text("user,location,time\n1,1,2026-05-03T08:00:00Z\n")
    visits = Visits(tmp_path, bad_rows="drop")
    assert kept(visits, MAY) == {1}
    (tmp_path / "march.csv").write_text(f"user,location,time\n{ids},{ids},{time}\n")
    assert kept(visits, MAY) == {1}


@pytest.mark.parametrize(
    ("times", "time_type"),
    [(instants()([datetime(2026, 5, 3, tzinfo=UTC)]), None), (pa.array([1]), "s"), (pa.array([datetime(2026, 5, 3)]), "utc")],
)  # fmt: skip
def test_instants_are_not_as_written(times: Any, time_type: Any) -> None:
    with pytest.raises(ColumnError, match="Name the zone"):
        kept(Visits(table_of(times), time_type=time_type), le.Window("2026-05", zone="as-written"))


@pytest.mark.parametrize(("form", "time"), [("%d/%m/%Y", "03/05/2026"), ("%d/%m/%Y%z", "03/05/2026+0200")])
def test_what_a_said_format_is_does_not_depend_on_rows(form: str, time: str) -> None:
    """A time in another style is a bad row: it cannot make the whole column one of several kinds."""
    odd = pa.array([time, "2026-05-03T08:00:00Z", "7", "03.05.2026"])
    as_written, named = le.Window("2026-05", zone="as-written"), MAY
    right, wrong = (named, as_written) if "z" in form else (as_written, named)
    assert kept(Visits(table_of(odd), time_format=form, bad_rows="drop"), right) == {0}
    for times in (odd, odd.slice(1)):
        with pytest.raises(ColumnError, match=r"--time-zone|--time-type local"):
            kept(Visits(table_of(times), time_format=form, bad_rows="drop"), wrong)


def test_files_with_and_without_zones(tmp_path: Path) -> None:
    for name, zone in (("a", "UTC"), ("b", None)):
        pq.write_table(
            table_of(instants(zone)([datetime(2026, 5, 3, tzinfo=UTC)])), tmp_path / f"{name}.parquet"
        )
    with pytest.raises(ColumnError, match="several kinds"):
        kept(Visits(tmp_path), MAY)
    assert exact_profile(Visits(tmp_path)).locations.to_pylist() == ["0"], "without a window both are read"


def test_a_window_needs_a_column_of_times() -> None:
    table = table_of(instants()([datetime(2026, 5, 3, tzinfo=UTC)]))
    for visits in (Visits(table.drop(["time"])), Visits(table, time=None)):
        with pytest.raises(ColumnError, match=r"no time column.*--time began"):
            kept(visits, MAY)


def test_visits_are_of_one_window() -> None:
    visits = Visits("checkins.csv").during(MAY)
    assert visits.during(MAY).window == MAY
    with pytest.raises(ParameterError, match="already"):
        visits.during(le.Window("2026-06", zone="Europe/Berlin"))
    with pytest.raises(ParameterError, match="Window"):
        Visits("checkins.csv", window="2026-05")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="time_type"):
        Visits("checkins.csv", time_type="days")  # type: ignore[arg-type]


def test_a_planted_border_that_is_included_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: with `<=` for `<` the first instant of June counts in May."""
    times = [border for piece in MAY.instants for border in piece]
    table = table_of(instants()(times))
    assert kept(Visits(table), MAY) == {0}

    def faulty(time: Any, borders: Any) -> Any:
        return (time >= borders[0]) & (time <= borders[-1])

    monkeypatch.setattr(time_windows, "_is_inside", faulty)
    assert kept(Visits(table), MAY) == {0, 1}
