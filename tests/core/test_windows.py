"""Windows are what Python's own calendar says, in every zone and across every change of its clock."""

from __future__ import annotations

import itertools
import zoneinfo
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, _zoneinfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from locentropy.core import civil_time
from locentropy.core.civil_time import difference, instants, intersection, merged, read_intervals, written
from locentropy.core.errors import ParameterError
from locentropy.core.windows import Window, shortest_text
from tests.calendars import by_the_calendar, dates, hours, month, texts, weekdays, zones


def holds(window: Window, at: datetime) -> bool:
    return any(start <= at < end for start, end in window.instants)


@given(zones, dates, texts, weekdays, hours, st.data())
@example("Europe/Berlin", date(2026, 3, 29), str, None, "02-03", None)
@example("Europe/Berlin", date(2026, 10, 25), str, None, "02-03", None)
@example("America/St_Johns", date(2010, 11, 7), str, None, None, None)
@example("Pacific/Apia", date(2011, 12, 30), str, None, None, None)
def test_an_instant_is_in_a_window_if_the_clock_says_so(
    zone: str, day: date, form: object, days: str | None, clock: str | None, data: st.DataObject | None
) -> None:
    window = Window(form(day), zone=zone, weekdays=days, hours=clock)  # type: ignore[operator]
    borders = [border for piece in window.instants for border in piece][:60]
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    tried = [each + step * timedelta(microseconds=1) for each in borders for step in (-1, 0, 1)]
    tried += [noon + timedelta(minutes=15 * n) for n in range(-160, 160)]
    if data is not None:
        tried += [
            noon + timedelta(microseconds=n) for n in data.draw(st.lists(st.integers(-(10**13), 10**13)))
        ]
    for at in tried:
        assert holds(window, at) == by_the_calendar(window, at.astimezone(ZoneInfo(zone))), at


@given(dates, texts, weekdays, hours, st.integers(-(10**13), 10**13))
def test_times_as_written_are_their_own_clock(
    day: date, form: object, days: str | None, clock: str | None, away: int
) -> None:
    window = Window(form(day), zone="as-written", weekdays=days, hours=clock)  # type: ignore[operator]
    at = datetime(day.year, day.month, day.day) + timedelta(microseconds=away)
    assert holds(window, at) == by_the_calendar(window, at)


@given(zones, dates)
def test_days_make_up_months_and_leave_no_instant_out(zone: str, day: date) -> None:
    whole = Window(month(day), zone=zone)
    days = (whole.end - whole.start).days
    each = [Window(str(whole.start + timedelta(days=n)), zone=zone).instants for n in range(days)]
    assert merged(piece for pieces in each for piece in pieces) == whole.instants
    for one, other in itertools.pairwise(each):
        assert intersection(one, other) == ()


def test_days_of_23_25_and_no_hours() -> None:
    def length(text: str, zone: str) -> timedelta:
        return sum((b - a for a, b in Window(text, zone=zone).instants), timedelta())

    assert length("2026-03-29", "Europe/Berlin") == timedelta(hours=23)
    assert length("2026-10-25", "Europe/Berlin") == timedelta(hours=25)
    assert length("2026-10-25", "as-written") == timedelta(hours=24)
    assert length("2011-12-30", "Pacific/Apia") == timedelta(), "the day that Samoa left out"
    # Set back at one minute past midnight, so this day began, ended and began again.
    assert len(Window("2010-11-07", zone="America/St_Johns").instants) == 2


def test_the_step_is_shorter_than_any_time_between_two_changes() -> None:
    """Otherwise two changes that cancel out could be overlooked."""
    shortest = []
    for key in zoneinfo.available_timezones():
        zone = _zoneinfo.ZoneInfo.no_cache(key)  # in Python, for it has a list of its changes
        changes = [
            at
            for at, before, after in zip(zone._trans_utc[1:], zone._ttinfos, zone._ttinfos[1:], strict=False)
            if before.utcoff != after.utcoff
        ]
        shortest += [later - sooner for sooner, later in itertools.pairwise(changes)]
    assert timedelta(seconds=min(shortest)) > 2 * civil_time._STEP


@pytest.mark.parametrize("shift", [timedelta(0), timedelta(hours=1), timedelta(days=3)])
def test_a_planted_step_that_is_too_long_is_noticed(
    shift: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two changes eight months apart, overlooked together by a step of a year."""
    monkeypatch.setattr(civil_time, "_STEP", timedelta(days=366) + shift)
    window = Window("2026-07-01", zone="Europe/Berlin")
    months = Window("2026-01-01/2026-12-31", zone="Europe/Berlin", hours="12-13")
    noon = datetime(2026, 7, 1, 10, 30, tzinfo=UTC)
    assert not holds(months, noon), "12:30 in summer"
    assert window.instants


# --- writing ---


@pytest.mark.parametrize(
    "text",
    ["2026", "2026-5", "2026-13", "2026-W54", "2026-02-30", "05-2026", "2026-05-03/2026-05-03", "2026-05-03/", "",
     "2026-05-03/2026-05-01", "1899-12", "2200-01", "2026-06/2026-05", "20260503", "2026-W21-1", None, 2026],
)  # fmt: skip
def test_what_is_no_window(text: object) -> None:
    with pytest.raises(ParameterError, match=r"2026-W21.*For example: Window\("):
        Window(text, zone="UTC")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "zone", ["Berlin", "localtime", "Europe/Atlantis", "", None, "/etc/passwd", "right/UTC", "Europe"]
)
def test_what_is_no_zone(zone: object) -> None:
    with pytest.raises(ParameterError, match="IANA"):
        Window("2026-05", zone=zone)  # type: ignore[arg-type]


@pytest.mark.parametrize("hours", ["7", "10-07", "22-06", "07-25", "07-10,09-12", "07:00-10:00", ""])
def test_what_are_no_hours(hours: str) -> None:
    with pytest.raises(ParameterError, match="hours"):
        Window("2026-05", zone="UTC", hours=hours)


@pytest.mark.parametrize("days", ["monday", "mon-", "", "mo-fr", "mon;tue"])
def test_what_are_no_weekdays(days: str) -> None:
    with pytest.raises(ParameterError, match="weekdays"):
        Window("2026-05", zone="UTC", weekdays=days)


def test_one_window_is_written_in_one_way() -> None:
    def cut(days: str | None, hours: str | None) -> Window:
        return Window("2026-05", zone="UTC", weekdays=days, hours=hours)

    assert cut("mon-sun", "0-24") == cut(None, None) == cut("sun-sat", "00-12,12-24")
    assert cut("fri,sat", "7-8,8-10") == cut("sat,fri", "07-10")
    assert cut("fri-mon", "07-10").mask == "mon,fri,sat,sun 07-10"
    assert cut("mon-fri", "07-10,16-19").label == "2026-05-mon-fri-07-10+16-19"
    assert Window("2026-05-01/2026-05-15", zone="UTC").label == "2026-05-01_2026-05-15"


def test_too_many_pieces_are_refused() -> None:
    with pytest.raises(ParameterError, match="pieces"):
        Window("2000-01-01/2020-01-01", zone="UTC", hours="07-10")
    assert len(Window("1900-01-01/2200-01-01", zone="Europe/Berlin").instants) == 1


@given(dates, texts)
def test_the_shortest_text(day: date, form: object) -> None:
    window = Window(form(day), zone="UTC")  # type: ignore[operator]
    short = shortest_text(window.start, window.end)
    assert Window(short, zone="UTC").dates == window.dates
    assert len(short) <= len(window.text)
    assert window.same_as(Window(short, zone="UTC"))
    assert not window.same_as(Window(short, zone="Etc/GMT+5"))


def test_words() -> None:
    window = Window("2026-05", zone="Europe/Berlin", weekdays="sat-sun", hours="07-10")
    assert window.in_words() == (
        "visits that began from 2026-05-01 to 2026-05-31, both included, on Saturday, Sunday only, when the clock shows "
        "07:00 up to 10:00, by the clock of Europe/Berlin"
    )


# --- intervals ---

borders = st.integers(0, 40).map(lambda n: datetime(2026, 5, 1, tzinfo=UTC) + timedelta(hours=n))
some = st.lists(st.tuples(borders, borders)).map(merged)


@given(some, some)
def test_sets_of_instants(one: civil_time.Intervals, other: civil_time.Intervals) -> None:
    def within(pieces: civil_time.Intervals) -> set[int]:
        start = datetime(2026, 5, 1, tzinfo=UTC)
        return {n for n in range(41) if any(a <= start + timedelta(hours=n) < b for a, b in pieces)}

    assert within(intersection(one, other)) == within(one) & within(other)
    assert within(difference(one, other)) == within(one) - within(other)
    assert read_intervals(written(one), "UTC") == one


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "2026-05-01/2026-06-01",
        "2026-05-01T00:00:00Z/2026-04-01T00:00:00Z",
        "2026-05-01T00:00:00/2026-06-01T00:00:00",
        "2026-05-01T00:00:00/2026-06-01T00:00:00Z",
        ",",
    ],
)
def test_what_are_no_intervals(text: str) -> None:
    with pytest.raises(ValueError, match=r"intervals|isoformat"):
        read_intervals(text, "UTC")


def test_naive_and_aware_are_kept_apart() -> None:
    written_times = Window("2026-05", zone="as-written").instants
    assert written(written_times) == "2026-05-01T00:00:00/2026-06-01T00:00:00"
    assert instants("UTC", list(written_times)) == Window("2026-05", zone="UTC").instants
