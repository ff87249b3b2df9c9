"""The data sets of `utility.py`: visits, the public list, and the truth about it.

Some are made up: the paper's Sparse, and cities of this library. Real ones are check-ins of Gowalla, from the file that
LOCENTROPY_GOWALLA names, and of two cities of Foursquare with the category of each place, from the folder that
LOCENTROPY_CITIES names (<city>_visits.csv.gz with user and location, <city>_places.csv.gz with location and category);
some of them thinned to a part of their people, since no city has all of its people in a table, and one on a grid of
which most cells are empty. The public list is that of the data, as in the paper, and is taken as known.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import locentropy as le
from locentropy.core.queries import CachedQueries
from locentropy.datasets import City
from locentropy_lab.zipf import ZipfVisits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOWALLA = os.environ.get("LOCENTROPY_GOWALLA")
CITIES = os.environ.get("LOCENTROPY_CITIES")
PEOPLE, PLACES = 20_000, 3000
BUSY, LARGE = 20, 100
"""Places with at least this many visitors are called busy, and large."""
GRID = le.Grid(south=40.60, west=-74.10, north=40.85, east=-73.85, cell=250)
"""New York: the visits of the Gowalla file lie in a quarter of it."""

TWIN_VISITORS = 200
TWINS = {
    "10 regulars of 61 visits, people of the city": ("city-even", "city-ruled"),
    "40 regulars of 20 visits, people of these two places": ("own-even", "own-ruled"),
}
"""Pairs of places with the same visitors: one visited evenly, one mostly by regulars."""

Source = tuple[le.Visits, Any]
"""Visits, and the public list, a grid, or None."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """Queries that keep their answers, and the true values to compare with."""

    name: str
    queries: CachedQueries
    locations: le.mechanisms.Locations
    truth: np.ndarray
    """The entropy of all visits to each listed place; 0 for a place that nobody visited."""
    users: np.ndarray
    """The visitors of each place."""

    @property
    def busy(self) -> np.ndarray:
        return self.users >= BUSY

    @property
    def large(self) -> np.ndarray:
        return self.users >= LARGE

    def restricted_to(self, chosen: np.ndarray) -> DataSet:
        """The same visits as if the public list had only these places."""
        locations = le.mechanisms.Locations.of(self.locations.ids.take(pa.array(chosen)))
        queries = CachedQueries(self.queries.restricted_to(locations))
        return DataSet(self.name, queries, locations, self.truth[chosen], self.users[chosen])


def zipf(users: int) -> Callable[[Path], Source]:
    def make(folder: Path) -> Source:
        data = ZipfVisits(users=users)
        data.write(folder / "visits.parquet")
        return le.Visits(folder / "visits.parquet"), le.mechanisms.Locations.of(
            np.arange(1, data.locations + 1)
        )

    return make


def city(habits: str) -> Callable[[Path], Source]:
    def make(folder: Path) -> Source:
        made = City(people=PEOPLE, places=PLACES, habits=habits)
        made.write(folder)
        return le.Visits(folder / "visits.parquet"), le.mechanisms.Locations.of(made.places()["location"])

    return make


def gowalla(part: float = 1.0, on_grid: bool = False) -> Callable[[Path], Source]:
    def make(_: Path) -> Source:
        assert GOWALLA is not None
        if part == 1.0:
            return le.Visits(GOWALLA), GRID if on_grid else None
        return le.Visits(_thinned(csv.read_csv(GOWALLA).select(["user", "location"]), part)), None

    return make


def foursquare(city: str, part: float = 1.0, attribute: str | None = None) -> Callable[[Path], Source]:
    def make(_: Path) -> Source:
        assert CITIES is not None
        rows = csv.read_csv(Path(CITIES) / f"{city}_visits.csv.gz").select(["user", "location"])
        rows = _thinned(rows, part) if part < 1.0 else rows
        listed = csv.read_csv(Path(CITIES) / f"{city}_places.csv.gz")
        listed = listed.filter(pc.is_in(listed["location"], value_set=rows["location"].unique()))
        listed = listed.combine_chunks().sort_by("location")
        ids = listed["location"].combine_chunks()
        if attribute is None:
            return le.Visits(rows), le.mechanisms.Locations(ids)
        attributes = {attribute: listed[attribute].combine_chunks()}
        return le.Visits(rows), le.mechanisms.Locations(ids, attributes=attributes)

    return make


def valleybike(_: Path) -> Source:
    """Trip ends at the stations of bikes for hire: a short list, of people with two or three places each."""
    assert CITIES is not None
    return le.Visits(str(Path(CITIES) / "valleybike_stations.csv.gz"), visits="visits"), None


def of_files(name: str, visits: str, places: str) -> None:
    """Add a city whose visits and public list are in files with columns of usual names."""
    SETS[name] = lambda _: (le.Visits(visits), le.PublicLocations(places))


def _thinned(rows: pa.Table, part: float) -> pa.Table:
    """The visits of a part of the people, drawn from a public seed."""
    people = np.unique(rows["user"].to_numpy())
    kept = people[np.random.default_rng(0).random(people.size) < part]
    return rows.filter(pc.is_in(rows["user"], value_set=pa.array(kept)))


def twins(_: Path) -> Source:
    """The city, and pairs of further places with the same visitors, whose visits are split differently."""
    made = City(people=PEOPLE, places=PLACES)
    counted = made.visits().group_by(["user", "location"]).aggregate([("time", "count")])
    counted = counted.rename_columns(["user", "location", "visits"])
    people = np.sort(counted["user"].unique().to_numpy(zero_copy_only=False))
    some = people[:: len(people) // TWIN_VISITORS][:TWIN_VISITORS]
    own = np.array([f"twin-{number}" for number in range(TWIN_VISITORS)])
    added = [_pair(some, 4, 10, 61, "city"), _pair(own, 5, 40, 20, "own")]
    table = pa.concat_tables([counted, *(each.cast(counted.schema) for each in added)])
    names = [name for pair in TWINS.values() for name in pair]
    return le.Visits(table), le.mechanisms.Locations.of([*made.places()["location"].to_pylist(), *names])


def _pair(visitors: np.ndarray, even: int, regulars: int, visits: int, name: str) -> pa.Table:
    """One place that all visit equally often, and one with some regulars among people who come once."""
    ruled = np.ones(visitors.size, dtype=np.int64)
    ruled[:regulars] = visits
    return pa.table(
        {
            "user": np.tile(visitors, 2),
            "location": np.repeat([f"{name}-even", f"{name}-ruled"], visitors.size),
            "visits": np.concatenate([np.full(visitors.size, even), ruled]),
        }
    )


SYNTHETIC: dict[str, Callable[[Path], Source]] = {
    "sparse": zipf(100_000),
    "sparse-1m": zipf(1_000_000),
    "city": city("usual"),
    "clustered": city("clustered"),
    "homes": city("homes"),
    "regulars": city("regulars"),
}
REAL: dict[str, Callable[[Path], Source]] = {
    "gowalla": gowalla(),
    "jakarta": foursquare("jakarta"),
    "sao-paulo": foursquare("sao_paulo"),
    "valleybike": valleybike,
}
MADE_UP = ("city", "clustered", "homes", "regulars")
"""Invented cities, one of each kind of habits."""
DERIVED: dict[str, Callable[[Path], Source]] = {
    "gowalla-30": gowalla(0.3),
    "jakarta-10": foursquare("jakarta", 0.1),
    "sao-paulo-30": foursquare("sao_paulo", 0.3),
    "gowalla-grid": gowalla(on_grid=True),
}
"""Real cities with 10 % or 30 % of their people, and on a grid."""
WITH_ATTRIBUTE: dict[str, Callable[[Path], Source]] = {
    "jakarta+category": foursquare("jakarta", attribute="category"),
    "sao-paulo+category": foursquare("sao_paulo", attribute="category"),
    "jakarta-10+category": foursquare("jakarta", 0.1, "category"),
    "sao-paulo-30+category": foursquare("sao_paulo", 0.3, "category"),
}
"""The same places, with a public attribute declared."""
SETS = SYNTHETIC | REAL | DERIVED | WITH_ATTRIBUTE
"""Each is made anew, so that no file of an older version is used."""


def without_attribute(name: str) -> str:
    """The name of the same data set without its attribute."""
    return name.split("+")[0]


def missing(name: str) -> str | None:
    """Why a data set cannot be had; None if it can."""
    if name.startswith("gowalla"):
        return None if GOWALLA else "LOCENTROPY_GOWALLA names no file"
    if name.startswith(("jakarta", "sao-paulo", "valleybike")):
        return None if CITIES else "LOCENTROPY_CITIES names no folder"
    return None


@contextmanager
def open_data(name: str) -> Iterator[DataSet]:
    """Make a data set in a temporary folder, and open it."""
    with TemporaryDirectory() as folder:
        visits, locations = (SETS | {"twins": twins})[name](Path(folder))
        with le.private.open_queries(
            visits, locations=locations, resources=le.Resources(threads=1)
        ) as queries:
            exact = queries.exact_profile()
            listed = le.mechanisms.Locations.of(queries.locations)
            if isinstance(locations, le.mechanisms.Locations):
                assert listed.ids.equals(locations.ids)
                listed = locations
            elif isinstance(
                locations, le.Grid | le.PublicLocations
            ):  # as it is published: with what is known of it
                known = locations.locations() if isinstance(locations, le.Grid) else locations.load()
                assert listed.ids.equals(known.ids)
                listed = known
            yield DataSet(name, CachedQueries(queries), listed, exact.entropy, exact.user_counts)
