"""Windows of time: which visits a release is about, by when they began.

    Window("2026-05", zone="Europe/Berlin")                                  a calendar month
    Window("2026-W21", zone="Europe/Berlin")                                 an ISO week, from Monday
    Window("2026-05-03", zone="as-written")                                  a day
    Window("2026-05-01/2026-05-15", zone="UTC", weekdays="mon-fri", hours="07-10")
    Window("2026-01/2026-07", zone="UTC")                                    half a year: up to July, without it

A window is an interval of civil dates [start, end), optionally cut by weekdays and hours of the clock. It is public: it
says nothing about the data, and is published with the release. A visit is in the window of its beginning. Engines are
given its instants (`civil_time`), so neither their time zone data nor their calendars matter.
"""

from __future__ import annotations

import calendar
import itertools
import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from locentropy.core.civil_time import AS_WRITTEN, Intervals, check_zone, instants, intersection, merged
from locentropy.core.errors import ParameterError
from locentropy.core.language import ENGLISH

if TYPE_CHECKING:
    from locentropy.core.language import Words

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ALL_DAY: Final = ((0, 24),)
_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_MOST_PIECES: Final = 1200
"""Into how many pieces weekdays and hours may cut a window: engines are given each of them."""

_CALL: Final = 'Window("2026-05", zone="Europe/Berlin")'
_CUT: Final = 'Window("2026-05", zone="Europe/Berlin", weekdays="mon-fri", hours="07-10,16-19")'
_MONTH: Final = re.compile(r"(\d{4})-(\d{2})")
_WEEK: Final = re.compile(r"(\d{4})-W(\d{2})")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOURS: Final = re.compile(r"(\d{1,2})-(\d{1,2})")


@dataclass(frozen=True)
class Window:
    """An interval of civil dates, optionally cut by weekdays and hours."""

    text: str
    """`2026-05`, `2026-W21`, `2026-05-03`; or `2026-05-01/2026-05-15`, `2026-01/2026-07`: from where the first begins
    up to where the second does, which is not in it."""
    zone: str = field(kw_only=True)
    """Whose calendar and clock: an IANA name such as Europe/Berlin; or `as-written`, for times without a zone."""
    weekdays: str | None = field(default=None, kw_only=True)
    """Only these days of the week, such as `mon-fri` or `sat,sun`; None for all."""
    hours: str | None = field(default=None, kw_only=True)
    """Only these hours of the clock, such as `07-10` (from 7 up to 10 o'clock) or `07-10,16-19`; None for all."""
    within: Intervals | None = field(default=None, kw_only=True, repr=False)
    """Only instants in here: how a ledger keeps the periods as they were when it first used them."""

    def __post_init__(self) -> None:
        check_zone(self.zone)
        _ = self.dates
        object.__setattr__(self, "weekdays", _written_weekdays(_days(self.weekdays)))
        object.__setattr__(self, "hours", _written_hours(_ranges(self.hours)))
        if self._pieces_at_most > _MOST_PIECES:
            raise ParameterError(
                f"is cut by weekdays and hours into more than {_MOST_PIECES:,} pieces. Publish shorter windows.",
                parameter="window",
                value=self.text,
                example=_CUT,
            )

    @cached_property
    def dates(self) -> tuple[date, date]:
        """The first date, and the date after the last."""
        try:
            start, end = _dates(self.text)
        except (ValueError, OverflowError, TypeError, AttributeError):
            start = end = date.min
        if not start < end or not (start.year >= _FIRST_YEAR and end <= date(_LAST_YEAR + 1, 1, 1)):
            raise ParameterError(
                "is not a month (2026-05), an ISO week (2026-W21), a day (2026-05-03), or an interval of them "
                "(2026-05-01/2026-05-15, 2026-01/2026-07, without the last) between 1900 and 2199.",
                parameter="window",
                value=self.text,
                example=_CALL,
            )
        return start, end

    @property
    def start(self) -> date:
        """The first date."""
        return self.dates[0]

    @property
    def end(self) -> date:
        """The date after the last."""
        return self.dates[1]

    @property
    def mask(self) -> str:
        """The weekdays and hours that it is cut to; empty if it is whole."""
        return " ".join(each for each in (self.weekdays, self.hours) if each is not None)

    @cached_property
    def instants(self) -> Intervals:
        """The instants that are in it, in UTC; for `as-written`, the written times. May be empty: clocks skip days."""
        found = instants(self.zone, self._pieces())
        return found if self.within is None else intersection(found, self.within)

    @cached_property
    def civil(self) -> Intervals:
        """The times of the clock that are in it, as it shows them."""
        return merged(self._pieces())

    @property
    def label(self) -> str:
        """A text for names of files."""
        cut = self.mask.replace(" ", "-").replace(",", "+")
        return self.text.replace("/", "_") + (f"-{cut}" if cut else "")

    def in_words(self, say: Words = ENGLISH) -> str:
        """Which visits are counted, for readers."""
        start, last = self.start, self.end - timedelta(days=1)
        named = ", ".join(say("weekday", of=WEEKDAYS[day]) for day in _days(self.weekdays))
        shown = [
            say("window.hour", first=f"{first:02}:00", last=f"{end:02}:00")
            for first, end in _ranges(self.hours)
        ]
        return say(
            "window.visits",
            span=say("window.day", day=say.day(start))
            if start == last
            else say("window.days", first=say.day(start), last=say.day(last)),
            days="" if self.weekdays is None else say("window.weekdays", days=named),
            hours="" if self.hours is None else say("window.hours", hours=say("window.or").join(shown)),
            zone=say("window.as_written") if self.zone == AS_WRITTEN else say("window.zone", zone=self.zone),
        )

    def in_short(self, say: Words = ENGLISH) -> str:
        """As it was written, with the weekdays in the language of the reader."""
        mask = re.sub("[a-z]{3}", lambda day: say("weekday.short", of=day[0]), self.mask)
        zone = say("window.zone_as_written") if self.zone == AS_WRITTEN else self.zone
        return f"{self.text}{f' ({mask})' if mask else ''}, {zone}"

    def same_as(self, other: Window | None) -> bool:
        """Whether another has the same dates, weekdays, hours and zone, however it is written."""
        return other is not None and (self.dates, self.mask, self.zone) == (
            other.dates,
            other.mask,
            other.zone,
        )

    def __str__(self) -> str:
        return self.in_short()

    @property
    def _pieces_at_most(self) -> int:
        days = (self.end - self.start).days
        if self.hours is not None:
            return days * len(_ranges(self.hours))
        return days if self.weekdays is not None else 1

    def _pieces(self) -> list[tuple[datetime, datetime]]:
        """Civil intervals, in order."""
        start, end = (datetime.combine(each, time()) for each in self.dates)
        if not self.mask:
            return [(start, end)]
        days, ranges = _days(self.weekdays), _ranges(self.hours)
        every = (start + timedelta(days=n) for n in range((end - start).days))
        return [
            (day + timedelta(hours=first), day + timedelta(hours=last))
            for day in every
            if day.weekday() in days
            for first, last in ranges
        ]


def shortest_text(start: date, end: date) -> str:
    """The dates from one up to another as a window is written: a month, a week or a day if it is one."""
    for text in (f"{start:%Y-%m}", "{:04}-W{:02}".format(*start.isocalendar()[:2]), start.isoformat()):
        if _dates(text) == (start, end):
            return text
    return f"{start}/{end}"


def _dates(text: str) -> tuple[date, date]:
    """The dates of a window; raises ValueError for any other text."""
    first, slash, last = text.partition("/")
    start, end = _period(first)
    return (start, _period(last)[0]) if slash else (start, end)


def _period(text: str) -> tuple[date, date]:
    """The dates of a month, a week or a day."""
    if found := _MONTH.fullmatch(text):
        year, month = map(int, found.groups())
        start = date(year, month, 1)
        return start, start + timedelta(days=calendar.monthrange(year, month)[1])
    if found := _WEEK.fullmatch(text):
        start = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return start, start + timedelta(days=7)
    if not _DAY.fullmatch(text):
        raise ValueError
    start = date.fromisoformat(text)
    return start, start + timedelta(days=1)


def _days(text: str | None) -> tuple[int, ...]:
    """Weekdays by number, Monday is 0; a range may pass Sunday."""
    if text is None:
        return tuple(range(7))
    chosen: set[int] = set()
    try:
        for part in text.lower().split(","):
            first, dash, last = part.strip().partition("-")
            start = WEEKDAYS.index(first)
            count = (WEEKDAYS.index(last) - start) % 7 + 1 if dash else 1
            chosen |= {(start + n) % 7 for n in range(count)}
    except (ValueError, AttributeError):
        raise ParameterError(
            f"must be days of the week: {', '.join(WEEKDAYS)}; a range such as mon-fri, or several with commas.",
            parameter="weekdays",
            value=text,
            example=_CUT,
        ) from None
    return tuple(sorted(chosen))


def _written_weekdays(days: tuple[int, ...]) -> str | None:
    """The one way to write a set of weekdays."""
    if len(days) == len(WEEKDAYS):
        return None
    if len(days) > 1 and days[-1] - days[0] == len(days) - 1:
        return f"{WEEKDAYS[days[0]]}-{WEEKDAYS[days[-1]]}"
    return ",".join(WEEKDAYS[day] for day in days)


def _ranges(text: str | None) -> tuple[tuple[int, int], ...]:
    """Hours as [first, last), in order and not touching."""
    if text is None:
        return _ALL_DAY
    try:
        found = [_HOURS.fullmatch(part.strip()) for part in text.split(",")]
        pairs = sorted((int(each[1]), int(each[2])) for each in found if each is not None)
        if len(pairs) != len(found) or not all(0 <= a < b <= 24 for a, b in pairs):
            raise ValueError
        if any(a < b for (_, b), (a, _) in itertools.pairwise(pairs)):
            raise ValueError
    except (ValueError, AttributeError):
        raise ParameterError(
            "must be hours of the clock, such as 07-10 (from 7 up to 10 o'clock), or several with commas. Hours over "
            "midnight are written as two: 00-06,22-24.",
            parameter="hours",
            value=text,
            example=_CUT,
        ) from None
    joined: list[tuple[int, int]] = []
    for first, last in pairs:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def _written_hours(ranges: tuple[tuple[int, int], ...]) -> str | None:
    """The one way to write hours."""
    return None if ranges == _ALL_DAY else ",".join(f"{first:02}-{last:02}" for first, last in ranges)
