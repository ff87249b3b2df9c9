"""How the synthetic city changes over its days: seasons, holidays, fashions, openings, closings and a festival.

The usual day is drawn first, as in a city that stays as it is, and then changed: some visits are not made, those to a
place that is shut go to the nearest one of its kind, and the festival adds some. So a changing city has the same
people, places and habits as the one that does not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.datasets._people import Clock, Day, without_overlaps
from locentropy.datasets._places import KIND_NAMES
from locentropy.datasets._town import walks

if TYPE_CHECKING:
    from locentropy.datasets._people import Bools
    from locentropy.datasets._places import Floats, Ints, Places

VENUES: Final = ("cafe", "bakery", "restaurant", "bar", "shop", "gym", "museum", "cinema")
"""Kinds of places that open, close, and come in and out of fashion."""
TURNOVER: Final = 0.06
"""The share of venues that open in a year; as many others close."""
SHELTERED: Final = 3
"""The first so many places of each kind neither open nor close."""

FASHION: Final = 0.12
"""Standard deviation of the logarithm by which a venue's popularity moves in a month."""

SEASONS: Final[dict[str, tuple[int, float]]] = {
    "park": (200, 0.7),
    "cafe": (200, 0.2),
    "bar": (200, 0.25),
    "museum": (15, 0.5),
    "cinema": (15, 0.4),
    "library": (15, 0.4),
    "gym": (15, 0.5),
    "shop": (350, 0.3),
}
"""For kinds of places with a season: the day of the year when it is highest, and the part of all visits that is missing
half a year from it."""

HOLIDAY: Final = 14
"""Days that everybody is away in a year,"""
HOLIDAY_PEAK, HOLIDAY_SPREAD = 205, 35.0
"""around this day of the year, with this standard deviation in days."""

FESTIVAL_BEGINS, FESTIVAL_DAYS = (6, 20), 4
"""Month and day when the festival begins, in every year, and how long it lasts."""
FESTIVAL_GOERS: Final = 0.12
"""The share of people who go there on each of its days."""
FESTIVAL_CLOCK: Final = Clock(((15.0, 2.0, 1.0), (19.5, 1.5, 1.5)))

YEAR: Final = 365.25


class Change(NamedTuple):
    """Something that happens to one place; public."""

    location: int
    """The position of the place."""
    what: str
    """`opens`, `closes` or `festival`."""
    first_day: date
    """The first day on which it is open, or shut, or has the festival;"""
    last_day: date | None
    """the last day of a festival."""


@dataclass(frozen=True)
class Changes:
    """What changes over the days of a city."""

    places: Places
    start: date
    opens_on: Ints
    """For each place the number of the first day, counted from `start`, on which it is open,"""
    shut_from: Ints
    """and the first on which it is open no more."""
    fashion: Floats
    """For each month from that of `start`, and each place, the part of its visits that are made: month × place."""
    away_from: Ints
    """For each person the day of the year on which their holidays begin."""
    ground: int
    """The place of the festival: a park."""
    neighbours: dict[int, Ints]
    """For each place that opens or closes, the others of its kind, nearest first."""

    @classmethod
    def draw(
        cls, random: np.random.Generator, places: Places, people: int, start: date, days: int
    ) -> Changes:
        """Draw what happens to places and people in these days."""
        months = _first_days_of_months(start, days)
        opens_on, shut_from = _draw_turnover(random, places, months, days)
        parks = places.of_kind("park")
        # A park of middling appeal, which the festival makes far busier than it is.
        ground = int(parks[np.argsort(places.appeal[parks], kind="stable")[len(parks) // 2]])
        return cls(
            places=places,
            start=start,
            opens_on=opens_on,
            shut_from=shut_from,
            fashion=_draw_fashion(random, places, len(months) + 1),
            away_from=np.rint(random.normal(HOLIDAY_PEAK, HOLIDAY_SPREAD, people)).astype(np.int64) % 365,
            ground=ground,
            neighbours=_neighbours(places, np.flatnonzero((opens_on > 0) | (shut_from < days))),
        )

    def events(self, days: int) -> list[Change]:
        """Openings, closings and festivals within the first so many days, in order of time."""
        found = [
            Change(place, what, self.start + timedelta(days=day), None)
            for what, every, usual in (("opens", self.opens_on, 0), ("closes", self.shut_from, days))
            for place, day in enumerate(every.tolist())
            if day != usual
        ]
        end = self.start + timedelta(days=days - 1)
        for year in range(self.start.year, end.year + 1):
            first = date(year, *FESTIVAL_BEGINS)
            last = first + timedelta(days=FESTIVAL_DAYS - 1)
            if first <= end and last >= self.start:
                found.append(Change(self.ground, "festival", max(first, self.start), min(last, end)))
        return sorted(found, key=lambda each: (each.first_day, each.location))

    def lived(self, random: np.random.Generator, day: Day, number: int) -> Day:
        """The day as it is lived, given the usual one: `number` days after the start."""
        today = self.start + timedelta(days=number)
        made = random.random(len(day.person)) < self._chance(today)[day.place]
        person, place, second = (
            column[made & ~self._is_away(today)[day.person]] for column in (day.person, day.place, day.second)
        )
        place = self._where_open(place, number)
        opens, closes = 60 * self.places.opens[place], 60 * self.places.closes[place]
        in_time = (place >= 0) & (second >= opens) & (second < closes)
        columns = [(person[in_time], place[in_time], second[in_time]), self._festival(random, today)]
        return without_overlaps(*(np.concatenate(each) for each in zip(*columns, strict=True)))

    def _chance(self, today: date) -> Floats:
        """The part of the usual visits to each place that are made."""
        month = 12 * (today.year - self.start.year) + today.month - self.start.month
        chance: Floats = self.fashion[month].copy()
        for kind, (peak, depth) in SEASONS.items():
            off = 2 * np.pi * (today.timetuple().tm_yday - peak) / YEAR
            chance[self.places.of_kind(kind)] *= 1.0 - depth * (1.0 - np.cos(off)) / 2
        return chance

    def _is_away(self, today: date) -> Bools:
        return np.asarray((today.timetuple().tm_yday - self.away_from) % 365 < HOLIDAY)

    def _where_open(self, place: Ints, number: int) -> Ints:
        """Where visits lead: to the nearest place of the kind if the usual one is shut; −1 where there is none."""
        is_open = (self.opens_on <= number) & (number < self.shut_from)
        instead = np.arange(is_open.size)
        for shut in np.flatnonzero(~is_open).tolist():
            others = self.neighbours[shut]
            others = others[is_open[others]]
            instead[shut] = others[0] if others.size else -1
        return np.asarray(instead[place])

    def _festival(self, random: np.random.Generator, today: date) -> tuple[Ints, Ints, Ints]:
        first = date(today.year, *FESTIVAL_BEGINS)
        going = FESTIVAL_GOERS if 0 <= (today - first).days < FESTIVAL_DAYS else 0.0
        person = np.flatnonzero((random.random(self.away_from.size) < going) & ~self._is_away(today))
        place = np.full(person.size, self.ground)
        nobody_works = np.zeros(person.size, dtype=np.bool_)
        opens, closes = self.places.opens[place], self.places.closes[place]
        return person, place, FESTIVAL_CLOCK.choose(random, opens, closes, nobody_works)


def _first_days_of_months(start: date, days: int) -> list[int]:
    """The numbers of the days, after the first, on which a month begins."""
    return [number for number in range(1, days) if (start + timedelta(days=number)).day == 1]


def _draw_turnover(
    random: np.random.Generator, places: Places, months: list[int], days: int
) -> tuple[Ints, Ints]:
    """Draw which venues open and which close: leases begin and end with a month."""
    number = np.arange(places.kind.size)
    first_of_kind = np.searchsorted(places.kind, places.kind)  # places are ordered by kind
    venues = np.isin(places.kind, [KIND_NAMES.index(kind) for kind in VENUES])
    eligible = np.flatnonzero(venues & (number - first_of_kind >= SHELTERED) & (places.appeal > 0))
    count = min(round(TURNOVER * venues.sum() * len(months) / 12), eligible.size // 2)
    chosen = random.choice(eligible, 2 * count, replace=False)
    opens_on, shut_from = np.zeros(number.size, dtype=np.int64), np.full(number.size, days)
    if count:
        opens_on[chosen[:count]] = random.choice(months, count)
        shut_from[chosen[count:]] = random.choice(months, count)
    return opens_on, shut_from


def _draw_fashion(random: np.random.Generator, places: Places, months: int) -> Floats:
    """Draw a random walk of each venue's popularity, below its own highest."""
    walk = np.cumsum(FASHION * random.normal(size=(months, places.kind.size)), axis=0)
    walk *= np.isin(places.kind, [KIND_NAMES.index(kind) for kind in VENUES])
    return np.asarray(np.exp(walk - walk.max(axis=0)))


def _neighbours(places: Places, chosen: Ints) -> dict[int, Ints]:
    """For each chosen place, the others of its kind, nearest first."""
    found = {}
    for place in chosen.tolist():
        others = np.flatnonzero(places.kind == places.kind[place])
        others = others[others != place]
        at = np.array([place])
        distance = walks(places.x[at], places.y[at], places.x[others], places.y[others])[0]
        found[place] = others[np.argsort(distance, kind="stable")]
    return found
