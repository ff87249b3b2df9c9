"""Civil time as instants: when a clock on the wall of a time zone shows a time in some interval.

Claim: `instants(zone, pieces)` is the set of all instants t at which the zone's clock shows a time in `pieces`, to the
microsecond. An hour that the clock repeats is in it twice, an hour that it skips not at all; so civil dates are
disjoint sets of instants that leave none out, also where a day has 23 or 25 hours or its midnight comes twice.

Why: the clock shows t + offset(t), and the offset is constant between its changes. Within each stretch of constant
offset the instants are the pieces, moved back by it. Changes are found by looking at the offset every `_STEP` and
halving where it differs; no zone has had two changes within `_STEP` (a test looks at all of them).

The clock is Python's `zoneinfo`, asked here and nowhere else: engines compare instants, and know nothing of zones.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Interval = tuple[datetime, datetime]
"""[start, end). Instants are in UTC; times as they are written have no zone."""
Intervals = tuple[Interval, ...]
"""Disjoint, in order, and not touching each other."""

AS_WRITTEN: Final = "as-written"
"""The zone of times that name none: whatever clock wrote them."""

_ZONE: Final = re.compile(r"UTC|[A-Z][A-Za-z_]+(/[A-Z][A-Za-z0-9_+-]+){1,2}")
"""Of the IANA names those of places, and UTC; not `localtime`, which is another zone on every machine."""
_STEP: Final = timedelta(hours=12)
_SECOND: Final = timedelta(seconds=1)
_MARGIN: Final = timedelta(days=2)
"""More than any zone is away from UTC."""


def check_zone(zone: object) -> str:
    """The name of a time zone, or `as-written`; raises ParameterError for anything else."""
    if zone == AS_WRITTEN:
        return AS_WRITTEN
    try:
        if not isinstance(zone, str) or not _ZONE.fullmatch(zone):
            raise ValueError
        return ZoneInfo(zone).key
    except (ValueError, OSError, KeyError):
        raise ParameterError(
            'is not the IANA name of a time zone, such as Europe/Berlin or UTC; nor "as-written", for times that '
            "are written without a zone.",
            parameter="zone",
            value=zone,
            example='Window("2026-05", zone="Europe/Berlin")',
        ) from None


def instants(zone: str, pieces: Sequence[Interval]) -> Intervals:
    """The instants at which the zone's clock shows a time in the pieces, which are in order; of `as-written` these."""
    if zone == AS_WRITTEN or not pieces:
        return merged(pieces)
    return merged(
        (max(start, since + offset) - offset, min(end, until + offset) - offset)
        for since, until, offset in _stretches(ZoneInfo(zone), pieces[0][0], pieces[-1][1])
        for start, end in ((start.replace(tzinfo=UTC), end.replace(tzinfo=UTC)) for start, end in pieces)
        if start < until + offset and since + offset < end
    )


def _stretches(zone: ZoneInfo, first: datetime, last: datetime) -> list[tuple[datetime, datetime, timedelta]]:
    """Since when, until when, and how far ahead of UTC the clock is; around a span of civil time."""
    since, end = first.replace(tzinfo=UTC) - _MARGIN, last.replace(tzinfo=UTC) + _MARGIN
    found: list[tuple[datetime, datetime, timedelta]] = []
    at, offset = since, _offset(zone, since)
    while at < end:
        following = min(at + _STEP, end)
        if (other := _offset(zone, following)) != offset:
            change = _change(zone, at, following)
            found.append((since, change, offset))
            since, offset = change, other
        at = following
    return [*found, (since, end, offset)]


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The instant of the change between two instants with different offsets; changes happen at whole seconds."""
    earlier, low, high = _offset(zone, before), 0, int((after - before) / _SECOND)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, before + middle * _SECOND) == earlier:
            low = middle
        else:
            high = middle
    return before + high * _SECOND


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    offset = at.astimezone(zone).utcoffset()
    assert offset is not None  # noqa: S101  # zones always have one
    return offset


def merged(intervals: Iterable[Interval]) -> Intervals:
    """The union of intervals, in order."""
    union: list[Interval] = []
    for start, end in sorted(each for each in intervals if each[0] < each[1]):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return tuple(union)


def intersection(one: Intervals, other: Intervals) -> Intervals:
    """What is in both."""
    return merged((max(a, c), min(b, d)) for a, b in one for c, d in other if a < d and c < b)


def difference(one: Intervals, other: Intervals) -> Intervals:
    """What is in the first and not in the other."""
    left = list(one)
    for start, end in other:
        cut = ((a, min(b, start)) for a, b in left), ((max(a, end), b) for a, b in left)
        left = [each for side in cut for each in side if each[0] < each[1]]
    return merged(left)


def written(intervals: Intervals) -> str:
    """Intervals as text: `2026-04-30T22:00:00Z/2026-05-31T22:00:00Z`, several with commas between."""
    return ",".join("/".join(_text(border) for border in each) for each in intervals)


def read_intervals(text: str, zone: str) -> Intervals:
    """Intervals of a zone from their text; raises ValueError if it is not one that `written` makes."""
    found = tuple(
        (datetime.fromisoformat(start), datetime.fromisoformat(end))
        for start, _, end in (each.partition("/") for each in text.split(",") if text)
    )
    aware = zone != AS_WRITTEN
    if any((border.tzinfo is not None) != aware for each in found for border in each):
        raise ValueError("not intervals of this zone")
    if written(found) != text or merged(found) != found:
        raise ValueError("not intervals")
    return found


def _text(border: datetime) -> str:
    return border.isoformat().replace("+00:00", "Z")
