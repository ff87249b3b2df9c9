"""The people of the synthetic city, and how they spend a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from locentropy.datasets._town import walks

if TYPE_CHECKING:
    from locentropy.datasets._places import Floats, Ints, Places

Week = tuple[float, float, float, float, float, float, float]
"""A factor for each day, Monday first."""

Peak = tuple[float, float, float]
"""A popular time of day: the hour, its spread in hours, and its weight."""


@dataclass(frozen=True)
class Errand:
    """One reason to go out, to places of one kind."""

    kind: str
    rate: float
    """Probability that a person who does this at all does it on an average free day."""
    peaks: tuple[Peak, ...]
    """When, as far as the place is open."""
    reach: float
    """The distance in metres at which a place is e times less attractive."""
    loyalty: float
    """Probability that the person goes to their favourite place."""
    takers: float = 1.0
    """The share of people who do this at all."""
    busy: float = 0.6
    """The factor of the rate on a day of work or school."""
    week: Week = (1.0, 1.0, 1.0, 1.0, 1.2, 1.3, 1.0)
    """The factor of the rate by weekday."""


COMMUTE: Week = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.35)
NOT_ON_SUNDAY: Week = (0.9, 0.9, 0.9, 0.9, 1.2, 1.6, 0.0)
SERVICES: Week = (0.3, 0.3, 0.4, 0.3, 1.0, 0.8, 5.0)
WEEKEND: Week = (0.5, 0.4, 0.5, 0.6, 1.2, 2.2, 1.8)
WORKDAYS: Week = (1.2, 1.1, 1.1, 1.1, 1.0, 0.2, 0.0)

ERRANDS: tuple[Errand, ...] = (
    Errand("cafe", 0.30, ((8.3, 0.7, 1.0), (10.5, 1.0, 0.8), (15.5, 1.3, 1.0)), 450, 0.65, 0.8),
    Errand("bakery", 0.30, ((7.6, 0.7, 1.5), (10.0, 1.2, 0.6), (17.0, 0.7, 0.3)), 300, 0.80, 0.7, busy=0.8),
    Errand("restaurant", 0.20, ((12.6, 0.6, 1.0), (19.5, 0.9, 1.4)), 1000, 0.35, 0.9, week=WEEKEND),
    Errand("bar", 0.22, ((18.5, 0.8, 0.6), (21.3, 1.1, 1.2)), 700, 0.60, 0.5, busy=0.8, week=WEEKEND),
    Errand("shop", 0.25, ((11.0, 1.3, 1.0), (16.5, 1.4, 1.2)), 1300, 0.25, 0.95, week=NOT_ON_SUNDAY),
    Errand("supermarket", 0.35, ((10.3, 1.3, 0.8), (17.9, 1.1, 1.4)), 350, 0.80, week=NOT_ON_SUNDAY),
    Errand("gym", 0.40, ((7.0, 0.6, 0.6), (18.6, 1.1, 1.3)), 900, 0.95, 0.2, busy=0.9),
    Errand("park", 0.25, ((8.0, 1.0, 0.4), (15.5, 2.0, 1.2), (19.0, 1.0, 0.6)), 1500, 0.40, week=WEEKEND),
    Errand("museum", 0.03, ((11.5, 1.2, 1.0), (15.0, 1.2, 1.2)), 4000, 0.05, 0.8, busy=0.1, week=WEEKEND),
    Errand("library", 0.10, ((11.0, 1.5, 1.0), (16.5, 1.2, 1.2)), 1500, 0.80, 0.3, week=NOT_ON_SUNDAY),
    Errand("cinema", 0.04, ((17.0, 1.0, 0.5), (20.2, 0.7, 1.5)), 2500, 0.30, 0.8, week=WEEKEND),
    Errand("clinic", 0.03, ((9.5, 1.2, 1.2), (15.5, 1.2, 0.8)), 1500, 0.80, busy=0.3, week=WORKDAYS),
    Errand("worship", 0.15, ((10.0, 0.5, 1.5), (18.0, 0.6, 0.5)), 1500, 0.95, 0.25, week=SERVICES),
    Errand("station", 0.30, ((7.7, 0.7, 1.5), (11.0, 2.0, 0.4)), 900, 0.85, 0.7, busy=1.3, week=COMMUTE),
    Errand("station", 0.30, ((17.4, 0.8, 1.5), (20.5, 1.5, 0.4)), 1800, 0.60, 0.7, busy=1.3, week=COMMUTE),
    Errand("home", 0.07, ((15.5, 1.2, 0.6), (19.3, 1.0, 1.2)), 1500, 0.60, 0.9, week=WEEKEND),
)
"""The last is a visit to friends."""

WORK_PEAKS: tuple[Peak, ...] = ((8.3, 0.7, 1.0),)
HOME_PEAKS: tuple[Peak, ...] = ((18.2, 1.3, 1.0), (21.8, 0.9, 0.6))

Bools = npt.NDArray[np.bool_]

NO_WORK = -1
WORKERS, PUPILS = 0.58, 0.14
"""Shares of people; the others are free every day."""

WANDERLUST = 0.08
"""The share of choices that look at appeal alone and not at the distance."""

AT_WORK = 0.94
"""Probability of going to work or school on a working day."""

AT_HOME = 0.85
"""Probability that a person visits their own home on a day."""

FROM_WORK = 0.4
"""Probability that an errand on a working day starts at work."""

MINUTES_BETWEEN = 25
"""The least time between two visits of one person."""

# Minutes after midnight; during work or school, people hardly go elsewhere except over lunch.
WORK_STARTS, LUNCH_STARTS, LUNCH_ENDS, WORK_ENDS = 525, 715, 800, 990


@dataclass(frozen=True)
class Day:
    """The visits of one day in order of time."""

    person: Ints
    place: Ints
    second: Ints
    """Seconds after midnight."""


class Gravity:
    """Chooses places near a starting point: attraction falls exponentially with the distance."""

    def __init__(self, places: Places, starts: Ints, ends: Ints, pull: Floats, reach: float) -> None:
        distance = walks(places.x[starts], places.y[starts], places.x[ends], places.y[ends])
        weight = pull[ends] * np.exp(-distance / reach)
        weight /= weight.sum(axis=1, keepdims=True)
        weight = (1.0 - WANDERLUST) * weight + WANDERLUST * pull[ends] / pull[ends].sum()
        cumulative = np.cumsum(weight, axis=1)
        cumulative /= cumulative[:, -1:]
        self._ends = ends
        self._row_of = np.zeros(len(places.kind), dtype=np.int64)
        self._row_of[starts] = np.arange(len(starts))
        # Row r is shifted to r..r+1: all rows in one ascending sequence, searched in one go.
        self._cumulative = (cumulative + np.arange(len(starts))[:, None]).ravel()

    def choose(self, random: np.random.Generator, starts: Ints) -> Ints:
        """Draw a place for each start."""
        row = self._row_of[starts]
        # Kept a little below 1, so that adding the row cannot round up into the next one.
        uniform = random.random(len(starts)) * (1.0 - 2.0**-30)
        found = np.searchsorted(self._cumulative, row + uniform, side="right")
        return np.asarray(self._ends[found - row * len(self._ends)])


class Clock:
    """Chooses a time of day within opening hours, more often near the peaks."""

    def __init__(self, peaks: tuple[Peak, ...]) -> None:
        minute = np.arange(1440)
        hour = minute / 60.0
        density = np.full(1440, 1e-3)
        for at, spread, weight in peaks:
            density += weight / spread * np.exp(-0.5 * ((hour - at) / spread) ** 2)
        working = (minute >= WORK_STARTS) & (minute < WORK_ENDS)
        lunch = (minute >= LUNCH_STARTS) & (minute < LUNCH_ENDS)
        self._free = np.concatenate([[0.0], np.cumsum(density)])
        self._busy = np.concatenate([[0.0], np.cumsum(np.where(working & ~lunch, 0.02 * density, density))])

    def choose(self, random: np.random.Generator, opens: Ints, closes: Ints, busy: Bools) -> Ints:
        """Draw seconds after midnight, from opening to just before closing."""
        uniform = random.random(len(opens))
        second = np.empty(len(opens), dtype=np.int64)
        for cumulative, chosen in ((self._free, ~busy), (self._busy, busy)):
            low, high = cumulative[opens[chosen]], cumulative[closes[chosen]]
            level = low + uniform[chosen] * (high - low)
            second[chosen] = 60.0 * np.interp(level, cumulative, np.arange(1441.0))
        return np.clip(second, 60 * opens, 60 * closes - 1)


WORK_CLOCK, HOME_CLOCK = Clock(WORK_PEAKS), Clock(HOME_PEAKS)


@dataclass(frozen=True)
class Habit:
    """How each person does one errand."""

    errand: Errand
    chance: Floats
    """Probability that the person does it on an average free day."""
    favourite: Ints
    others: Gravity
    """Where the person goes if not to the favourite."""
    clock: Clock


@dataclass(frozen=True)
class People:
    """Everybody's home, work and habits."""

    places: Places
    home: Ints
    work: Ints
    """The place of work or school, or NO_WORK."""
    first_workday: Ints
    """The weekday (Monday is 0) on which five days of work begin, before two days off."""
    habits: list[Habit]

    def day(self, random: np.random.Generator, weekday: int) -> Day:
        """Draw all visits of one day."""
        working = (self.work != NO_WORK) & ((weekday - self.first_workday) % 7 < 5)
        busy = working & (random.random(len(self.home)) < AT_WORK)
        at_home = np.flatnonzero(random.random(len(self.home)) < AT_HOME)
        at_work = np.flatnonzero(busy)
        # The trip to work itself is not affected by being at work.
        not_yet_busy = np.zeros_like(busy)
        trips = [
            self._trip(random, WORK_CLOCK, at_work, self.work[at_work], not_yet_busy),
            self._trip(random, HOME_CLOCK, at_home, self.home[at_home], busy),
        ]
        trips += [self._errand(random, habit, weekday, busy) for habit in self.habits]
        return without_overlaps(*(np.concatenate(column) for column in zip(*trips, strict=True)))

    def _errand(
        self, random: np.random.Generator, habit: Habit, weekday: int, busy: Bools
    ) -> tuple[Ints, Ints, Ints]:
        chance = habit.chance * habit.errand.week[weekday] * np.where(busy, habit.errand.busy, 1.0)
        person = np.flatnonzero(random.random(len(chance)) < chance)
        from_work = busy[person] & (random.random(len(person)) < FROM_WORK)
        start = np.where(from_work, self.work[person], self.home[person])
        loyal = random.random(len(person)) < habit.errand.loyalty
        place = np.where(loyal, habit.favourite[person], habit.others.choose(random, start))
        return self._trip(random, habit.clock, person, place, busy)

    def _trip(
        self, random: np.random.Generator, clock: Clock, person: Ints, place: Ints, busy: Bools
    ) -> tuple[Ints, Ints, Ints]:
        opens, closes = self.places.opens[place], self.places.closes[place]
        return person, place, clock.choose(random, opens, closes, busy[person])


def draw_people(random: np.random.Generator, places: Places, count: int) -> People:
    """Draw `count` people with homes, work and habits."""
    homes = places.of_kind("home")
    home = random.choice(homes, count, p=places.appeal[homes] / places.appeal[homes].sum())
    role = random.random(count)
    worker, pupil = role < WORKERS, (role >= WORKERS) & (role < WORKERS + PUPILS)
    employers, schools = np.flatnonzero(places.jobs > 0), places.of_kind("school")
    work = np.full(count, NO_WORK)
    work[worker] = Gravity(places, homes, employers, places.jobs, 2500.0).choose(random, home[worker])
    work[pupil] = Gravity(places, homes, schools, places.appeal, 800.0).choose(random, home[pupil])
    # Offices, workshops and schools close at the weekend; people who work in a venue have any two days off.
    weekly = np.isin(work, np.concatenate([places.of_kind(k) for k in ("office", "workshop", "school")]))
    first_workday = np.where(weekly, 0, random.integers(0, 7, count))
    habits = [_draw_habit(random, places, home, errand) for errand in ERRANDS]
    return People(places, home, work, first_workday, habits)


def _draw_habit(random: np.random.Generator, places: Places, home: Ints, errand: Errand) -> Habit:
    homes, ends = places.of_kind("home"), places.of_kind(errand.kind)
    favourite = Gravity(places, homes, ends, places.appeal, errand.reach).choose(random, home)
    # Keenness has mean 1 and a long tail: a few people come nearly every day.
    keenness = np.exp(random.normal(size=len(home)) - 0.5)
    takes_part = random.random(len(home)) < errand.takers
    chance = np.where(takes_part, np.minimum(errand.rate * keenness, 0.9), 0.0)
    everywhere = np.arange(len(places.kind))
    others = Gravity(places, everywhere, ends, places.fame, errand.reach)
    return Habit(errand, chance, favourite, others, Clock(errand.peaks))


def without_overlaps(person: Ints, place: Ints, second: Ints) -> Day:
    """Return the visits without those that begin too soon after another one of the same person."""
    order = np.lexsort((second, person))
    person, place, second = person[order], place[order], second[order]
    apart = np.ones(len(person), dtype=np.bool_)
    apart[1:] = (person[1:] != person[:-1]) | (np.diff(second) >= 60 * MINUTES_BETWEEN)
    person, place, second = person[apart], place[apart], second[apart]
    order = np.lexsort((person, second))
    return Day(person[order], place[order], second[order])
