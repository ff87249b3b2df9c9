"""The data sets of `utility.py`: visits, the public list, and the truth about it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import locentropy as le
from locentropy.core.queries import CachedQueries
from locentropy.datasets import City
from locentropy_lab.zipf import ZipfVisits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOWALLA = os.environ.get("LOCENTROPY_GOWALLA")
PEOPLE, PLACES = 20_000, 3000
BUSY = 20
"""Places with at least this many visitors are called busy."""

TWIN_VISITORS = 200
TWINS = {
    "10 regulars of 61 visits, people of the city": ("city-even", "city-ruled"),
    "40 regulars of 20 visits, people of these two places": ("own-even", "own-ruled"),
}
"""Pairs of places with the same visitors: one visited evenly, one mostly by regulars."""

Source = tuple[le.Visits, "le.mechanisms.Locations | None"]


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


def gowalla(_: Path) -> Source:
    assert GOWALLA is not None
    # The list is that of the data, as in the paper, and is taken as known.
    return le.Visits(GOWALLA), None


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


SETS: dict[str, Callable[[Path], Source]] = {
    "sparse": zipf(100_000),
    "sparse-1m": zipf(1_000_000),
    "gowalla": gowalla,
    "city": city("usual"),
    "clustered": city("clustered"),
    "homes": city("homes"),
    "regulars": city("regulars"),
}
"""Each is made anew, so that no file of an older version is used."""


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
            yield DataSet(name, CachedQueries(queries), listed, exact.entropy, exact.user_counts)
