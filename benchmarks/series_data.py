"""The data sets of `series.py`: the same public list month after month, with the truth about each month.

Synthetic ones are years of a city that changes (`City(changing=True)`), which says what opens and closes when; some of
them keep a part of the visits only, as check-ins do, or gain people from month to month. The real one is of check-ins
of Gowalla in New York, from the file that LOCENTROPY_GOWALLA names, on a grid of 500 m: twelve months of strong growth.
"""

from __future__ import annotations

import math
import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import locentropy as le
from locentropy.core.queries import CachedQueries
from locentropy.datasets import City

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.privacy.noise import Noise

GOWALLA = os.environ.get("LOCENTROPY_GOWALLA")
GRID = le.Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)
GOWALLA_MONTHS = [*((2009, month) for month in (11, 12)), *((2010, month) for month in range(1, 11))]
TOWN_GRID = le.Grid(south=42.98, west=-31.035, north=43.02, east=-30.965, cell=200)
"""The invented town, with its river and a part of the sea."""
YEAR = 2025
BUSY = 60
"""Visitors in a month."""


@dataclass(frozen=True, eq=False)
class Period:
    """One month: queries that keep their answers, and the true values to compare with."""

    queries: CachedQueries
    truth: np.ndarray
    """The entropy of the visits of the month at each listed place; 0 for a place that nobody visited."""
    users: np.ndarray
    """The visitors of each place in the month."""


@dataclass(frozen=True, eq=False)
class Series:
    """A list of places, and its months in order."""

    name: str
    locations: le.mechanisms.Locations
    periods: list[Period]
    closings: dict[int, int]
    """The places that close for good: position, and the first month without them."""

    def answers(self, period: int, mechanism: le.Shares, noise: Noise) -> Answers:
        """The noisy answers that a release of this month would keep."""
        measured = mechanism.measure(self.periods[period].queries, self.locations, noise)
        return mechanism.answers(measured, self.locations)


@dataclass(frozen=True, eq=False)
class Source:
    """Visits with their times, the public list or grid, the months, and what closes."""

    visits: pa.Table
    locations: le.mechanisms.Locations | le.Grid
    months: list[tuple[int, int]]
    closings: dict[int, int]


def changing_city(
    people: int,
    places: int,
    seed: int = 0,
    habits: str = "usual",
    recorded: float = 1.0,
    first_users: float = 1.0,
    on_grid: bool = False,
    shut_busy: int = 0,
) -> Callable[[], Source]:
    """A year of a city of which a part of the visits is recorded, and at first only a part of the users.

    `shut_busy` places of at least BUSY visitors close besides, in each month from the third on.
    """

    def make() -> Source:
        made = City(people, places, 365, seed, date(YEAR, 1, 1), habits, changing=True)
        random = np.random.default_rng([seed, 77])
        # Users join at a constant rate of growth; at 1.0 all are there from the beginning.
        chance = np.maximum(random.random(people), first_users)
        joins = np.zeros(people) if first_users == 1.0 else 12 * (1 - np.log(chance) / math.log(first_users))
        visits = pa.concat_tables(_recorded(day, random, recorded, joins) for day in made.chunks())
        ids = made.places()["location"]
        position = {name: at for at, name in enumerate(ids.to_pylist())}
        closings = {
            position[each["location"]]: each["first_day"].month - 1
            for each in made.changes().to_pylist()
            if each["what"] == "closes"
        }
        months = [(YEAR, month) for month in range(1, 13)]
        if shut_busy:
            visits, closed = _without_busy(visits, ids, shut_busy, random)
            closings |= closed
        if on_grid:
            return Source(visits, TOWN_GRID, months, {})
        return Source(visits, le.mechanisms.Locations.of(ids), months, closings)

    return make


def _recorded(day: pa.Table, random: np.random.Generator, part: float, joins: np.ndarray) -> pa.Table:
    """A part of the visits of one day, by users who have joined: each in the month after this one."""
    joined = np.flatnonzero(joins < day["time"][0].as_py().month) + 1 if day.num_rows else np.zeros(0, int)
    here = np.isin(pc.utf8_slice_codeunits(day["user"], 1).cast(pa.int64()).to_numpy(), joined)
    return day.filter(pa.array(here & (random.random(day.num_rows) < part)))


def _without_busy(
    visits: pa.Table, ids: pa.ChunkedArray, each_month: int, random: np.random.Generator
) -> tuple[pa.Table, dict[int, int]]:
    """The visits without those to some busy places after they closed; and which closed when."""
    place = pc.index_in(visits["location"], ids.combine_chunks()).to_numpy()
    month = pc.month(visits["time"]).to_numpy().astype(np.int64) - 1
    user = visits["user"].combine_chunks().dictionary_encode().indices.to_numpy()
    closed: dict[int, int] = {}
    open_still = np.ones(len(place), dtype=bool)
    for number in range(2, 12):
        here = np.unique(np.stack([place, user])[:, (month == number - 1) & open_still], axis=1)[0]
        busy = np.flatnonzero(np.bincount(here, minlength=len(ids)) >= BUSY)
        busy = np.setdiff1d(busy, list(closed))
        for shut in random.choice(busy, min(each_month, busy.size), replace=False).tolist():
            closed[shut] = number
            open_still &= ~((place == shut) & (month >= number))
    return visits.filter(pa.array(open_still)), closed


def gowalla_grid() -> Source:
    assert GOWALLA is not None
    rows = csv.read_csv(GOWALLA).select(["user", "time", "lat", "lon"])
    rows = rows.set_column(1, "time", rows["time"].cast(pa.timestamp("us", "UTC")))
    return Source(rows, GRID, GOWALLA_MONTHS, {})


SETS: dict[str, Callable[[], Source]] = {
    "year": changing_city(5000, 1000, recorded=0.03),
    "gowalla-grid": gowalla_grid,
    "year-busy": changing_city(20_000, 1000, seed=1, recorded=0.03),
    "year-closings": changing_city(20_000, 1000, seed=3, recorded=0.03, shut_busy=4),
    "year-every-visit": changing_city(3000, 400, seed=2),
}
"""About 10 visitors of a place in a month in the first two, 40 in the next two, in the latter of which busy places
close every month; in the last everybody has dozens of places, and so counts for little at each."""
FRESH: dict[str, Callable[[], Source]] = {
    "fresh-usual": changing_city(1500, 400, seed=101),
    "fresh-sparse": changing_city(3000, 600, seed=102, recorded=0.03),
    "fresh-clustered": changing_city(2000, 500, seed=103, habits="clustered", recorded=0.3),
    "fresh-regulars": changing_city(1500, 500, seed=104, habits="regulars", recorded=0.3),
    "fresh-large": changing_city(20_000, 800, seed=106, recorded=0.03),
    "fresh-growing": changing_city(3000, 500, seed=105, recorded=0.1, first_users=0.1),
    "fresh-grid": changing_city(3000, 500, seed=107, recorded=0.1, first_users=0.05, on_grid=True),
}
"""Other years, on which constants were chosen."""


def missing(name: str) -> str | None:
    """Why a data set cannot be had; None if it can."""
    return "LOCENTROPY_GOWALLA names no file" if name.startswith("gowalla") and not GOWALLA else None


@contextmanager
def open_series(name: str) -> Iterator[Series]:
    """Make a data set, and open its months."""
    source = (SETS | FRESH)[name]()
    times = source.visits["time"]
    month_of = (12 * pc.year(times).to_numpy() + pc.month(times).to_numpy()).astype(np.int64)
    with ExitStack() as stack:
        periods = []
        for year, month in source.months:
            rows = source.visits.filter(pa.array(month_of == 12 * year + month)).drop_columns("time")
            columns = (
                ("user", "lat", "lon") if isinstance(source.locations, le.Grid) else ("user", "location")
            )
            queries = stack.enter_context(
                le.private.open_queries(
                    le.Visits(rows.select(columns)),
                    locations=source.locations,
                    resources=le.Resources(threads=1),
                )
            )
            exact = queries.exact_profile()
            listed = le.mechanisms.Locations.of(queries.locations)
            periods.append(Period(CachedQueries(queries), exact.entropy, exact.user_counts))
        if isinstance(source.locations, le.Grid):  # as it is published: cells lean on cells nearby
            assert listed.ids.equals(source.locations.locations().ids)
            listed = source.locations.locations()
        yield Series(name, listed, periods, source.closings)
