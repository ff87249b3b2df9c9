"""Windows for tests, and what Python's own calendar says about them: the definition, without a word of the code."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from hypothesis import strategies as st

from locentropy.core.windows import WEEKDAYS, Window

# Clocks that change at midnight, by half an hour, back over midnight, by a whole day, and not at all.
ZONES = [
    "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
    "America/Sao_Paulo", "Asia/Gaza", "Africa/Casablanca", "Asia/Kolkata", "UTC", "Etc/GMT+5", "Atlantic/Azores",
]  # fmt: skip
zones = st.sampled_from(ZONES)
dates = st.dates(date(1990, 1, 1), date(2037, 12, 1))
weekdays = st.none() | st.sets(st.sampled_from(WEEKDAYS), min_size=1).map(",".join)
hours = st.none() | st.tuples(st.integers(0, 23), st.integers(1, 12)).map(
    lambda pair: f"{pair[0]:02}-{min(24, sum(pair)):02}"
)


def month(day: date) -> str:
    return f"{day:%Y-%m}"


def week(day: date) -> str:
    return "{}-W{:02}".format(*day.isocalendar())


def interval(day: date) -> str:
    return f"{day}/{day + timedelta(days=1 + day.day % 9)}"


texts = st.sampled_from([month, week, str, interval])


def by_the_calendar(window: Window, shown: datetime) -> bool:
    """Whether a time on the clock is in the window: the definition, without a word of the code."""
    day, text = shown.date(), window.text
    if "/" in text:
        first, _, last = text.partition("/")
        inside = first <= day.isoformat() < last
    elif "W" in text:
        inside = week(day) == text
    else:
        inside = day.isoformat().startswith(text)
    chosen = window.weekdays or ",".join(WEEKDAYS)
    if "-" in chosen:
        first, _, last = chosen.partition("-")
        chosen = ",".join(WEEKDAYS[WEEKDAYS.index(first) : WEEKDAYS.index(last) + 1])
    ranges = [tuple(map(int, each.split("-"))) for each in (window.hours or "00-24").split(",")]
    return (
        inside
        and WEEKDAYS[day.weekday()] in chosen.split(",")
        and any(a <= shown.hour < b for a, b in ranges)
    )
