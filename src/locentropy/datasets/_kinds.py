"""What there is in the synthetic city, and what people go there for."""

from __future__ import annotations

from dataclasses import dataclass

Week = tuple[float, float, float, float, float, float, float]
"""A factor for each day, Monday first."""

Peak = tuple[float, float, float]
"""A popular time of day: the hour, its spread in hours, and its weight."""


@dataclass(frozen=True)
class Kind:
    """One kind of place."""

    name: str
    """Also the beginning of the identifiers: `cafe-007`."""
    share: float
    """Its share of all places, relative to the others."""
    central: float
    """1 when all of them follow the bustle of the centre, 0 when they follow where people live."""
    hours: tuple[tuple[str, str], ...]
    """The opening hours that such places choose from, never over midnight."""
    spread: float
    """How unequal their appeal is: the standard deviation of its logarithm."""
    jobs: float = 0.0
    """How many jobs one of average appeal offers, relative to the others."""


ALWAYS = (("00:00", "23:59"),)

KINDS: tuple[Kind, ...] = (
    Kind("home", 130, 0.05, ALWAYS, 0.5),
    Kind("office", 34, 0.75, (("07:00", "19:00"), ("07:30", "18:30"), ("06:30", "20:00")), 0.9, jobs=5),
    Kind("workshop", 14, 0.10, (("06:00", "18:00"), ("07:00", "17:30")), 0.8, jobs=5),
    Kind("school", 8, 0.15, (("07:30", "17:00"),), 0.3, jobs=2),
    Kind("cafe", 36, 0.60, (("07:00", "18:00"), ("08:00", "19:00"), ("07:30", "22:00")), 0.9, jobs=0.5),
    Kind("bakery", 14, 0.25, (("06:00", "14:00"), ("06:30", "18:00")), 0.6, jobs=0.5),
    Kind("restaurant", 36, 0.65, (("11:30", "22:30"), ("11:00", "23:00"), ("17:30", "23:30")), 0.9, jobs=1),
    Kind("bar", 22, 0.75, (("17:00", "23:30"), ("16:00", "23:45"), ("18:00", "23:59")), 1.0, jobs=0.5),
    Kind("shop", 40, 0.65, (("09:30", "18:30"), ("10:00", "19:00"), ("09:00", "18:00")), 1.1, jobs=0.4),
    Kind("supermarket", 12, 0.20, (("07:00", "21:00"), ("08:00", "20:00")), 0.5, jobs=1.5),
    Kind("gym", 9, 0.40, (("06:00", "22:30"), ("07:00", "22:00")), 0.7, jobs=0.5),
    Kind("park", 12, 0.20, (("06:00", "22:00"),), 1.0),
    Kind("museum", 6, 0.80, (("10:00", "18:00"), ("10:00", "17:00")), 0.9, jobs=1),
    Kind("library", 4, 0.40, (("09:00", "19:00"), ("10:00", "18:00")), 0.5, jobs=0.7),
    Kind("cinema", 4, 0.70, (("14:00", "23:30"),), 0.6, jobs=0.7),
    Kind("clinic", 8, 0.35, (("08:00", "18:00"), ("07:30", "19:00")), 0.6, jobs=2),
    Kind("worship", 8, 0.35, (("07:00", "20:00"), ("08:00", "21:00")), 0.7, jobs=0.1),
    Kind("station", 8, 0.30, (("05:00", "23:59"),), 0.4, jobs=0.5),
)


@dataclass(frozen=True)
class Errand:
    """One reason to go out, to places of one kind."""

    kind: str
    rate: float
    """How likely a person who does this at all does it on an average free day."""
    peaks: tuple[Peak, ...]
    """When, as far as the place is open."""
    reach: float
    """The distance in metres at which a place is e times less attractive."""
    loyalty: float
    """How often it is the person's own favourite place."""
    takers: float = 1.0
    """The share of people who do this at all."""
    busy: float = 0.6
    """How much of it is left on a day of work or school."""
    week: Week = (1.0, 1.0, 1.0, 1.0, 1.2, 1.3, 1.0)
    """How it goes through the week."""


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
