"""Overview: what publishing would find in a table of visits. Exact, and for the owner of the data alone.

The rows are read, put into the window and checked as publishing does it, by the same code. What is answered are totals
over all places: no result of any place is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError
from locentropy.core.locations import Cells, Locations
from locentropy.visits import expressions as expression
from locentropy.visits.checks import check
from locentropy.visits.columns import BY_COORDINATES, BY_ID
from locentropy.visits.counting import at_cells, integers, keep_window, listed_keys
from locentropy.visits.engines.base import engine_for
from locentropy.visits.near_misses import NearMiss, near_misses
from locentropy.visits.private_log import Dropped, dropped_rows
from locentropy.visits.time_kinds import PER_MICROSECOND
from locentropy.visits.time_windows import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import ibis

    from locentropy.core.windows import Window
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Engine, Progress, Resources
    from locentropy.visits.visits import Visits

MOST_COMPARED: Final = 100_000
"""So many unlisted ids are compared with those of the list."""
_DOING: Final = "Checking the input"


@dataclass(frozen=True, eq=False, repr=False)
class AtPlaces:
    """How visits and places fit. Private."""

    visits: int
    """At the places."""
    elsewhere: int
    """Visits at no such place."""
    places: int
    """Of the list, or cells."""
    visited: int
    """Those of them that have a visit."""
    unlisted: int | None = None
    """How many other ids visits have; None of cells, where visits have none."""
    near: tuple[NearMiss, ...] = ()
    """Other ids that a listed one equals but for its spelling."""
    examples: tuple[str, ...] = ()
    """A few other ids that no listed one equals."""
    swapped: int = 0
    """Visits that would be in cells if latitude were longitude; asked only where none are."""


@dataclass(frozen=True, eq=False, repr=False)
class Overview:
    """What a table of visits holds, as publishing would read it. Private."""

    rows: int
    """All that were read."""
    outside: int
    """Rows outside the window."""
    used: int
    """Rows that would be counted, wherever they are."""
    dropped: tuple[Dropped, ...]
    """Why others would be dropped."""
    people: int
    """Users of the rows that are used."""
    visits: int
    """Visits of these rows."""
    days: tuple[date, date] | None
    """The first and the last day of all rows, in the window or not; None if there are no times, or not their unit."""
    at: AtPlaces | None
    """How they fit the places; None where these are selected from the visits, and nothing is excluded."""
    refused: str | None
    """Why publishing would refuse the table."""

    @property
    def left_out(self) -> int:
        """Rows in the window that are dropped."""
        return self.rows - self.outside - self.used


def overview(
    visits: Visits,
    places: Locations | Cells | None,
    excluded: Locations | None,
    *,
    first_times: bool,
    resources: Resources,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
    windows: Sequence[Window] = (),
) -> Overview:
    """Read a table of visits as publishing would, and add up what it holds.

    `places` are those of the public list, not grouped, or cells; `first_times` is as for `open_queries`.
    """
    asked = (places, excluded, first_times, resources, progress)
    try:
        return _read(visits, *asked, when_open, windows)
    except BadRowsError as error:
        if visits.bad_rows == "drop":
            raise
        found = _read(replace(visits, bad_rows="drop"), *asked, lambda columns: None, windows)
        return replace(found, refused=str(error))


def _read(
    visits: Visits,
    places: Locations | Cells | None,
    excluded: Locations | None,
    first_times: bool,
    resources: Resources,
    progress: Progress | None,
    when_open: Callable[[Roles], None],
    windows: Sequence[Window],
) -> Overview:
    required = visits.required_with(BY_COORDINATES if isinstance(places, Cells) else BY_ID)
    # Times that publishing does not read decide nothing, but their days are told.
    without = visits if first_times else visits.without_unused_times()
    with (
        dropped_rows() as dropped,
        _opened((visits, without), required, resources, progress, dropped) as engine,
    ):
        when_open(engine.columns)
        every = engine.visits
        never = None if excluded is None else visits.spelling.spelled(excluded.ids.cast(pa.string()))
        keys, unlike = (None, None) if isinstance(places, Cells) else _keys(engine, visits, places, never)
        if without is not visits:
            engine.keep_only(every.drop(*(name for name in every.columns if name.startswith("time"))))
        keep_window(engine, visits, windows, first_times=first_times)
        engine.store_source()
        refused, good = _checked(engine, visits)
        unread = sum(each.rows for each in dropped if each.role is None)
        rows, inside = (_one(engine, table, rows=table.count())["rows"] for table in (every, engine.visits))
        used = _one(engine, good, rows=good.count(), people=good.user.nunique(), visits=_visits(good))
        days = _days(engine, every, visits.time_type)
        at: AtPlaces | None = None
        if isinstance(places, Cells):
            at = _in_cells(engine, good, places, excluded)
        elif keys is not None:
            at = _at_ids(engine, good, keys, never)
        engine.free_source()
    return Overview(
        rows + unread,
        rows - inside,
        used["rows"],
        tuple(dropped),
        used["people"],
        used["visits"],
        days,
        at,
        unlike or refused,
    )


def _opened(
    choices: tuple[Visits, Visits],
    required: Sequence[str],
    resources: Resources,
    progress: Progress | None,
    dropped: list[Dropped],
) -> Engine:
    """The visits with their times; or else those without the times that publishing does not read."""
    visits, without = choices
    try:
        return engine_for(visits, required, resources, progress)
    except ColumnError:
        if without is visits:
            raise
    dropped.clear()  # of the first attempt
    return engine_for(without, required, resources, progress)


def _checked(engine: Engine, visits: Visits) -> tuple[str | None, ibis.Table]:
    """Why publishing would refuse the rows, if it would; and the rows that break no rule."""
    try:
        good = check(
            engine,
            visits.bad_rows,
            visits.missing_ids,
            ids_as_written=visits.spelling.text,
            refuse_empty=False,
            window=visits.window,
            time_type=visits.time_type,
        )
    except BadRowsError:
        raise
    except LocentropyError as error:
        return str(error), expression.without_bad_rows(engine.visits, visits.missing_ids)
    return None, good


def _visits(rows: ibis.Table) -> Any:
    return (rows.visits.sum() if "visits" in rows.columns else rows.count()).fill_null(0).cast("int64")


def _one(engine: Engine, table: ibis.Table, **asked: Any) -> dict[str, int]:
    """One row of numbers about a table."""
    [row] = engine.run(table.aggregate(**asked), _DOING).to_pylist()
    return {name: int(value or 0) for name, value in row.items()}


def _days(engine: Engine, rows: ibis.Table, time_type: str | None) -> tuple[date, date] | None:
    """The first and the last day, as far as it is known what times are."""
    if "time" not in rows.columns:
        return None
    known, unit = rows.filter(rows.time.notnull()), time_type if time_type in PER_MICROSECOND else None
    if "time_is_number" in known.columns:
        known = known.filter(known.time_is_number if unit else ~known.time_is_number)
        unit = unit or "us"  # texts that are not numbers were read as microseconds
    found = engine.run(known.aggregate(first=known.time.min(), last=known.time.max()), _DOING)
    first, last = (_day(found[name], unit) for name in ("first", "last"))
    return None if first is None or last is None else (first, last)


def _day(found: pa.ChunkedArray, unit: str | None) -> date | None:
    """The day of the one time of a column. A timestamp may be of a year that Python does not know."""
    if pa.types.is_timestamp(found.type):
        found, unit = found.cast(pa.timestamp("us", found.type.tz), safe=False).cast(pa.int64()), "us"
    time = found[0].as_py()
    if not isinstance(time, int) or unit is None:
        return time if isinstance(time, date) else None
    times, per = PER_MICROSECOND[unit]
    try:
        return (EPOCH[False] + timedelta(microseconds=time * per // times)).date()
    except OverflowError:
        return date.max if time > 0 else date.min


def _keys(
    engine: Engine, visits: Visits, places: Locations | None, never: pa.Array | None
) -> tuple[pa.Array | None, str | None]:
    """The ids that visits are compared with, and why publishing would refuse that, if it would.

    Where they are of another type they are compared as they are written, for near misses; and so are those to exclude,
    where places are selected.
    """
    if places is None:
        return never, None
    try:
        return listed_keys(engine, visits, places), None
    except ParameterError as error:
        return places.ids.cast(pa.string()), str(error)


def _at_ids(engine: Engine, good: ibis.Table, keys: pa.Array, never: pa.Array | None) -> AtPlaces:
    """How visits at places with ids fit; those that are excluded are not named."""
    visited = good.group_by("location").aggregate(visits=_visits(good))
    if pa.types.is_string(keys.type):
        visited = visited.mutate(location=visited.location.cast("string"))
    visited = engine.materialize("visited", visited, _DOING)
    at = engine.upload("listed", pa.table({"location": keys}))
    there, elsewhere = visited.semi_join(at, "location"), visited.anti_join(at, "location")
    inside, outside = (
        _one(engine, each, ids=each.count(), visits=each.visits.sum()) for each in (there, elsewhere)
    )
    ids = elsewhere.select("location").order_by("location").limit(MOST_COMPARED)
    excluded = set() if never is None else set(never.to_pylist())
    found = map(str, engine.run(ids, _DOING)["location"].to_pylist())
    unlisted = [each for each in found if each not in excluded]
    near = near_misses(unlisted, keys.to_pylist()) if pa.types.is_string(keys.type) else []
    missed = {each.unlisted for each in near}
    return AtPlaces(
        inside["visits"],
        outside["visits"],
        len(keys),
        inside["ids"],
        outside["ids"],
        tuple(near),
        tuple(each for each in unlisted if each not in missed)[:3],
    )


def _in_cells(engine: Engine, good: ibis.Table, cells: Cells, excluded: Locations | None) -> AtPlaces:
    """The same of cells, to which visits belong by their coordinates."""
    ids = cells.locations().ids
    codes = np.arange(len(ids))
    kept = codes if excluded is None else cells.locations().positions_without(excluded)

    def there(rows: ibis.Table) -> Any:
        at = at_cells(engine, rows, cells, codes)
        found = engine.run(at.group_by("code").aggregate(visits=_visits(at)), _DOING)
        return found.filter(pc.is_in(found["code"].cast(pa.int64()), value_set=pa.array(kept)))

    found = there(good)
    inside, every = int(integers(found, "visits").sum()), _one(engine, good, visits=_visits(good))["visits"]
    swapped = 0
    if not inside and every:
        swapped = int(integers(there(good.mutate(lat=good.lon, lon=good.lat)), "visits").sum())
    return AtPlaces(inside, every - inside, len(kept), len(found), swapped=swapped)
