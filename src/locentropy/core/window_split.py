"""A span of time cut into windows: one release about each place in each month, week or day.

    split(Window("2026-01/2026-07", zone="Europe/Berlin"), "month")       six windows, from 2026-01 to 2026-06

Locations are then pairs of a place and a window (`in_windows`). Both are public. The id of a pair is the window as it
is written, a blank, and the id of the place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, Literal, get_args

from locentropy.core.errors import ParameterError
from locentropy.core.windows import Window, shortest_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from locentropy.core.locations import Locations

Period = Literal["day", "week", "month"]

MAX_WINDOWS: Final = 400
"""A year of days, and some."""
_CALL: Final = (
    'publish(visits, Shares(epsilon=1.0), PublicLocations("places.csv"), ledger="city.ledger", '
    'window=Window("2026-01/2026-07", zone="as-written"), windows="month")'
)


@dataclass(frozen=True, eq=False)
class PlaceWindows:
    """Where locations are pairs of a place and a window: of each its place and its window."""

    ids: pa.Array
    """The id of each place."""
    windows: tuple[Window, ...]
    """All windows, in order; the pairs of one follow those of another."""

    @property
    def n_places(self) -> int:
        """How many places there are in each window."""
        return len(self.ids) // len(self.windows)

    def dates(self) -> tuple[pa.Array, pa.Array]:
        """For each pair the first date of its window, and the date after the last."""
        import numpy as np
        import pyarrow as pa

        def repeated(days: list[date]) -> pa.Array:
            return pa.array(np.repeat(np.array(days, dtype="datetime64[D]"), self.n_places), pa.date32())

        return (
            repeated([each.start for each in self.windows]),
            repeated([each.end for each in self.windows]),
        )


def split(window: Window | None, period: object) -> tuple[Window, ...]:
    """The windows of a span, each a whole day, week or month; weekdays and hours are those of the span.

    Raises ParameterError for a span that does not consist of at least two of them.
    """
    if period not in get_args(Period):
        raise ParameterError(
            f"is not one of {', '.join(get_args(Period))}.", parameter="windows", value=period, example=_CALL
        )
    if window is None:
        raise ParameterError(
            f"cuts a span of time into {period}s, and there is none. Name it: window=… (--window 2026-01/2026-07).",
            parameter="windows",
            value=period,
            example=_CALL,
        )
    dates = list(_periods(window, str(period)))
    if len(dates) > MAX_WINDOWS:
        raise ParameterError(
            f"is more than {MAX_WINDOWS} {period}s. Publish shorter spans, one after another.",
            parameter="window",
            value=window.text,
            example=_CALL,
        )
    if len(dates) < 2 or dates[0][0] != window.start or dates[-1][1] != window.end:
        raise ParameterError(
            f"must begin and end where a {period} does, and be at least two of them, to be cut into {period}s.",
            parameter="window",
            value=window.text,
            example=_CALL,
        )
    return tuple(replace(window, text=shortest_text(start, end)) for start, end in dates)


def _periods(window: Window, period: str) -> Iterator[tuple[date, date]]:
    """The periods that the span meets; no more than it takes to see that they are too many."""
    start = window.start
    if period == "month":
        start = start.replace(day=1)
    elif period == "week":
        start -= timedelta(days=start.weekday())
    for _ in range(MAX_WINDOWS + 2):
        if start >= window.end:
            return
        days = 1 if period == "day" else 7
        end = start + timedelta(days=days)
        if period == "month":
            end = (start + timedelta(days=31)).replace(day=1)
        yield start, end
        start = end


def pair_ids(ids: pa.Array, windows: Sequence[Window]) -> pa.Array:
    """The ids of pairs of a window and a place, all places of the first window first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = ids.cast(pa.string())
    return pa.concat_arrays([pc.binary_join_element_wise(each.text, texts, " ") for each in windows])


def in_windows(places: Locations, windows: Sequence[Window]) -> Locations:
    """The list of pairs of a place and a window; what the list says of a place, it says of each of its pairs."""
    import numpy as np
    import pyarrow as pa

    count = len(windows)

    def every(values: pa.Array) -> pa.Array:
        return pa.concat_arrays([values] * count)

    return replace(
        places,
        ids=pair_ids(places.ids, windows),
        names=None if places.names is None else every(places.names),
        lat=None if places.lat is None else np.tile(places.lat, count),
        lon=None if places.lon is None else np.tile(places.lon, count),
        attributes={name: every(values) for name, values in places.attributes.items()},
        columns={name: every(values) for name, values in places.columns.items()},
        # Which places make up a group is asked of the list itself, when visits are read.
        members=None,
        outlines=None if places.outlines is None else every(places.outlines),
        in_windows=PlaceWindows(every(places.ids), tuple(windows)),
    )
