"""A synthetic city: people with homes, work and habits, and places with opening hours.

Town, places and people are invented. The coordinates lie in the open Atlantic, so that no real place can be
mistaken for one of these. Every person has a home shared with neighbours, most have work or school, and all have
favourite places nearby that they visit again and again, besides others that they try. So there is everything that
location entropy tells apart: stations and parks that everybody passes, venues with a few regulars who make most of
the visits, homes of a handful of people, and listed places that nobody visits. Other habits (`_crowd.py`) make cities
in which the visitors of a place differ from the visitors of all places together, to test statistics on. A city may also
change (`_changes.py`), to publish every month.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.files import atomic_write, made_folder
from locentropy.datasets._changes import Changes
from locentropy.datasets._crowd import HOMES_FACTOR, Habits, draw_crowd
from locentropy.datasets._districts import district_of, districts_geojson
from locentropy.datasets._people import Day, People, draw_people
from locentropy.datasets._places import KIND_NAMES, KINDS, Places, draw_places
from locentropy.datasets.random_stream import MAX_SEED, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

FEWEST_PLACES = len(KINDS)
"""A city has at least one place of each kind."""

MOST_PLACES = 5000
"""The distances between all places are kept in memory: 200 MB for this many."""

VISITS_SCHEMA = pa.schema(
    [
        ("user", pa.string()),
        ("time", pa.timestamp("us")),
        ("location", pa.string()),
        ("lat", pa.float64()),
        ("lon", pa.float64()),
    ]
)

FILES = ("visits.parquet", "places.csv", "districts.geojson")
"""What a city is written to: the visits, and what is public about it."""

CHANGES_FILE = "changes.csv"
"""The further file of a city that changes: what happens to which place; public."""

_PLACES_STREAM, _PEOPLE_STREAM, _DAYS_STREAM, _CHANGES_STREAM, _CHANGED_DAYS_STREAM = range(5)


@dataclass(frozen=True, init=False, repr=False)
class City:
    """A city in which people visit places for some days: `City(people=3000, places=400)`.

    Equal parameters give equal data. The places depend only on their number, on the seed, and on whether the habits
    are `homes`.
    """

    people: int
    """How many people; a few of them may make no visit."""
    place_count: int
    """How many places there are in all, homes included: the parameter `places`."""
    days: int
    """How many days the data covers."""
    seed: int
    """The random seed."""
    start: date
    """The first day."""
    habits: Habits
    """How people choose where to go: `usual`; `clustered`, in communities that keep to places of their own; `homes`,
    where most places are homes of one resident and a few guests; or `regulars`, who make most of the visits of the
    venues that have them. In the last three the visitors of a place are far from a fair sample of all."""
    changing: bool
    """Whether the city changes over its days: kinds of places have seasons, venues open, close and come in and out of
    fashion, people go on holiday, and in June there is a festival. `changes()` says what happens to which place."""

    def __init__(
        self,
        people: int = 3000,
        places: int = 400,
        days: int = 28,
        seed: int = 0,
        start: date = date(2025, 3, 3),
        habits: Habits = "usual",
        changing: bool = False,
    ) -> None:
        call = "City(people=3000, places=400, days=28, seed=0)"
        check_whole(call, "people", people, 1, 10**7)
        check_whole(call, "places", places, FEWEST_PLACES, MOST_PLACES)
        check_whole(call, "days", days, 1, 3660)
        check_whole(call, "seed", seed, 0, MAX_SEED)
        _check_start(start, days)
        _check_habits(habits)
        _check_changing(changing)
        # `places` is also the method that returns their table, so the field has another name.
        fields = {"people": people, "place_count": places, "days": days, "seed": seed}
        for name, value in (fields | {"start": start, "habits": habits, "changing": changing}).items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        numbers = f"people={self.people}, places={self.place_count}, days={self.days}, seed={self.seed}"
        return f"City({numbers}, start={self.start!r}, habits={self.habits!r}, changing={self.changing})"

    def places(self) -> pa.Table:
        """Return the public list of places, visited or not.

        Columns `location` (such as "cafe-007"), `name`, `kind`, `lat`, `lon`, `opens` and `closes` as HH:MM (no place
        is open over midnight), and `district`.
        """
        places = self._places
        return pa.table(
            {
                "location": places.location,
                "name": places.name,
                "kind": [KIND_NAMES[kind] for kind in places.kind],
                "lat": places.lat,
                "lon": places.lon,
                "opens": [_clock_text(minutes) for minutes in places.opens.tolist()],
                "closes": [_clock_text(minutes) for minutes in places.closes.tolist()],
                "district": district_of(places.lat, places.lon),
            }
        )

    def districts(self) -> dict[str, Any]:
        """Return the public map of districts as GeoJSON: polygons with a `name`, the same for every city.

        A place is in the district that its `district` names.
        """
        return districts_geojson()

    def changes(self) -> pa.Table:
        """Return what happens to single places, in order of time; nothing in a city that does not change.

        Columns `location`, `what` (`opens`, `closes` or `festival`), and `first_day` and `last_day`: a place that opens
        is shut before its first day, one that closes is shut from it on, and a festival has a last day too. Openings
        and closings are on the first of a month. Public, as `places` is.
        """
        events = self._changes.events(self.days) if self.changing else []
        return pa.table(
            {
                "location": pa.array([self._places.location[each.location] for each in events], pa.string()),
                "what": pa.array([each.what for each in events], pa.string()),
                "first_day": pa.array([each.first_day for each in events], pa.date32()),
                "last_day": pa.array([each.last_day for each in events], pa.date32()),
            }
        )

    def visits(self) -> pa.Table:
        """Return all visits in order of time, one row each.

        Columns `user` (such as "p01234"), `time`, `location`, and `lat` and `lon` of the place.
        """
        return pa.concat_tables(self.chunks())

    def chunks(self) -> Iterator[pa.Table]:
        """Yield the visits day by day, in tables like that of `visits`."""
        width = max(5, len(str(self.people)))
        users = pa.array([f"p{number:0{width}}" for number in range(1, self.people + 1)])
        places, people = self._places, self._townsfolk
        locations = pa.array(places.location)
        for index in range(self.days):
            today = self.start + timedelta(days=index)
            day = people.day(stream(self.seed, _DAYS_STREAM, index), today.weekday())
            if self.changing:
                day = self._changes.lived(stream(self.seed, _CHANGED_DAYS_STREAM, index), day, index)
            time = np.datetime64(today, "us") + day.second.astype("timedelta64[s]")
            columns = [
                users.take(pa.array(day.person)),
                pa.array(time, pa.timestamp("us")),
                locations.take(pa.array(day.place)),
                places.lat[day.place],
                places.lon[day.place],
            ]
            yield pa.table(columns, schema=VISITS_SCHEMA)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that `write` makes."""
        return (*FILES, CHANGES_FILE) if self.changing else FILES

    def write(self, folder: str | PathLike[str], progress: Callable[[float], object] | None = None) -> None:
        """Write `visits.parquet`, `places.csv` and `districts.geojson` into a folder, created if it is missing.

        A city that changes has a further file, `changes.csv`.

        All files appear together when they are complete, and replace files of these names; nothing else in the folder
        is touched. `progress` is called with the fraction done after each day.
        """
        target = Path(folder)
        files = [target / name for name in self.files]
        if (target.exists() and not target.is_dir()) or any(file.is_dir() for file in files):
            raise ParameterError(
                f"folder={str(folder)!r}: expected a folder that can hold {', '.join(self.files)}. "
                "For example: City().write('city')"
            )
        with made_folder(target), atomic_write(*files) as [visits_part, places_part, districts_part, *others]:
            pyarrow.csv.write_csv(self.places(), places_part)
            for changes_part in others:
                pyarrow.csv.write_csv(self.changes(), changes_part)
            Path(districts_part).write_text(json.dumps(self.districts()) + "\n", encoding="utf-8")
            with pq.ParquetWriter(visits_part, VISITS_SCHEMA) as writer:
                for index, chunk in enumerate(self.chunks(), start=1):
                    writer.write_table(chunk)
                    if progress is not None:
                        progress(index / self.days)

    @cached_property
    def _places(self) -> Places:
        homes = HOMES_FACTOR.get(self.habits, 1.0)
        return draw_places(stream(self.seed, _PLACES_STREAM), self.place_count, homes)

    @cached_property
    def _townsfolk(self) -> _Townsfolk:
        if self.habits == "usual":
            return self._people
        return draw_crowd(stream(self.seed, _PEOPLE_STREAM), self._places, self.people, self.habits)

    @cached_property
    def _people(self) -> People:
        return draw_people(stream(self.seed, _PEOPLE_STREAM), self._places, self.people)

    @cached_property
    def _changes(self) -> Changes:
        random = stream(self.seed, _CHANGES_STREAM)
        return Changes.draw(random, self._places, self.people, self.start, self.days)


class _Townsfolk(Protocol):
    """What `City` needs of its people."""

    def day(self, random: np.random.Generator, weekday: int) -> Day:
        """All visits of one day."""
        ...


def _check_start(start: object, days: int) -> None:
    # A datetime is a date in Python, but has a time of day, which means nothing here.
    if type(start) is not date or not date(1970, 1, 1) <= start <= date.max - timedelta(days=days):
        raise ParameterError(
            "must be a date from 1970 on.",
            parameter="start",
            value=start,
            example="City(people=3000, start=date(2025, 3, 3))",
        )


def _check_habits(habits: object) -> None:
    if habits not in get_args(Habits):
        raise ParameterError(
            f"is not one of {', '.join(get_args(Habits))}.",
            parameter="habits",
            value=habits,
            example='City(people=3000, habits="regulars")',
        )


def _check_changing(changing: object) -> None:
    if not isinstance(changing, bool):
        raise ParameterError(
            "must be True or False.",
            parameter="changing",
            value=changing,
            example="City(people=3000, days=365, changing=True)",
        )


def _clock_text(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
