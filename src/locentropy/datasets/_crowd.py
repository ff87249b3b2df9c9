"""Variations of the city that differ from the usual one in a single way.

A model of all visitors together takes the visitors of each place for a fair sample of them: in how many places they
visit, and in how often they come back. In each of these cities that is wrong:

- `clustered`: people keep to the places of their own community, and communities differ much in how many places
  their members visit, so that the visitors of one place are alike;
- `homes`: most places are homes with one resident who is there daily, and a few guests who come once, so that one
  person makes most of the visits of a small place;
- `regulars`: at every venue some share of the visitors, from none to all, are regulars who make most of the visits.

All three share one simple model, `Crowd`: people have ties to some places, which they visit again and again, and
stroll to others. A variation decides who has a tie to which place, and where strolls lead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from locentropy.datasets._people import Clock, Day, without_overlaps

if TYPE_CHECKING:
    from locentropy.datasets._people import Peak, Week
    from locentropy.datasets._places import Floats, Ints, Places

Habits = Literal["usual", "clustered", "homes", "regulars"]

HOMES_FACTOR: Final[dict[str, float]] = {"homes": 8.0}
"""How many times more homes than usual there are for each venue."""

PLACES_PER_COMMUNITY = 40
MOST_PLACES_OF_A_MEMBER = 60
OUTINGS = 3.0
"""Outings a day of a member, however many places they have: with few places, each is visited often."""
BRIDGES = 0.01
"""Strolls a day of a member to places anywhere in town."""

RESIDENTS = (0.08, 0.77, 0.15)
"""The shares of homes with no, one and two residents."""
DAILY = 0.9
"""Visits a day of a resident."""
GUESTS = 0.1
"""Visits of guests a day at an average home."""

WITHOUT_REGULARS, ONLY_REGULARS = 0.2, 0.15
"""The share of venues with casual visitors only, and the share with regulars only."""
FEWEST_REGULARS, MOST_REGULARS = 0.03, 0.33
"""At other venues, the share of regulars among the visitors of four weeks lies between these."""
FREQUENCY, FREQUENCY_SPREAD = 1.0, 0.9
"""A regular's visits a day: the median, and the standard deviation of the logarithm."""
MOST_OFTEN = 6.0
"""Visits a day of one person to one place are at most this many on average."""

STROLL_PEAKS: tuple[Peak, ...] = ((10.5, 2.0, 1.0), (13.0, 1.5, 0.6), (18.0, 2.0, 1.2))
STROLL_WEEK: Week = (0.9, 0.9, 0.9, 0.9, 1.1, 1.3, 1.0)

OPEN_CLOCK = Clock(STROLL_PEAKS)


@dataclass(frozen=True)
class Ties:
    """Who visits which place again and again: columns with one entry for each pair of person and place."""

    person: Ints
    place: Ints
    rate: Floats
    """Visits of the person on an average day."""


@dataclass(frozen=True)
class Crowd:
    """Everybody's ties, and how they stroll."""

    places: Places
    ties: Ties
    strolls: Floats
    """Strolls of each person on an average day."""
    pull: Floats
    """How likely a stroll leads to each place, up to a factor; all 0 where nobody strolls."""

    def day(self, random: np.random.Generator, weekday: int) -> Day:
        """Draw all visits of one day."""
        paid = random.poisson(self.ties.rate)
        stroller, target = self._draw_strolls(random, weekday)
        person = np.concatenate([np.repeat(self.ties.person, paid), stroller])
        place = np.concatenate([np.repeat(self.ties.place, paid), target])
        opens, closes = self.places.opens[place], self.places.closes[place]
        nobody_works = np.zeros(len(place), dtype=np.bool_)
        return without_overlaps(person, place, OPEN_CLOCK.choose(random, opens, closes, nobody_works))

    def _draw_strolls(self, random: np.random.Generator, weekday: int) -> tuple[Ints, Ints]:
        number = random.poisson(self.strolls * STROLL_WEEK[weekday])
        person = np.repeat(np.arange(len(number)), number if self.pull.any() else 0)
        return person, choose(random, self.pull, len(person))


def choose(random: np.random.Generator, weight: Floats, count: int) -> Ints:
    """Draw `count` positions, each with a probability in proportion to its weight."""
    cumulative = np.cumsum(weight)
    # Kept a little below the total, so that a last place without weight is never found.
    level = random.random(count) * cumulative[-1] * (1.0 - 2.0**-30)
    return np.asarray(np.searchsorted(cumulative, level, side="right"))


def once_each(person: Ints, place: Ints, rate: Floats) -> Ties:
    """Return ties without repeats: of several between one person and one place, the first counts."""
    most = int(place.max(initial=0)) + 1
    _, first = np.unique(person * most + place, return_index=True)
    return Ties(person[first], place[first], rate[first])


def draw_crowd(random: np.random.Generator, places: Places, count: int, habits: Habits) -> Crowd:
    """Draw `count` people with these habits."""
    draw = {"clustered": _draw_clustered, "homes": _draw_homes, "regulars": _draw_regulars}[habits]
    return draw(random, places, count)


def _draw_clustered(random: np.random.Generator, places: Places, count: int) -> Crowd:
    community = _draw_communities(random, places)
    sizes = np.bincount(community)
    # From one place to most of them, uniform on a logarithmic scale.
    largest = np.minimum(sizes, MOST_PLACES_OF_A_MEMBER)
    typical = largest ** random.random(len(sizes))
    members = choose(random, np.exp(np.log(sizes) + 0.5 * random.normal(size=len(sizes))), count)
    wanted = np.rint(typical[members] * np.exp(0.15 * random.normal(size=count)))
    wanted = np.clip(wanted, 1, largest[members]).astype(np.int64)
    person, place = _draw_own_places(random, places, community, members, wanted)
    keenness = np.exp(0.3 * random.normal(size=len(person)))
    rate = np.minimum(OUTINGS / wanted[person] * keenness, MOST_OFTEN)
    return Crowd(places, once_each(person, place, rate), np.full(count, BRIDGES), places.appeal)


def _draw_communities(random: np.random.Generator, places: Places) -> Ints:
    """Draw the community of each place: some places are centres, and each place belongs to the nearest one."""
    number = max(1, len(places.kind) // PLACES_PER_COMMUNITY)
    middle = random.choice(len(places.kind), number, replace=False)
    distance = np.hypot(places.x[:, None] - places.x[middle], places.y[:, None] - places.y[middle])
    # Numbered without gaps, in case two centres are on the same spot.
    return np.unique(distance.argmin(axis=1), return_inverse=True)[1]


def _draw_own_places(
    random: np.random.Generator, places: Places, community: Ints, members: Ints, wanted: Ints
) -> tuple[Ints, Ints]:
    """Draw as many places of their community for each member as they want, attractive ones more often."""
    people, chosen = [], []
    for number in range(int(community.max()) + 1):
        own, member = np.flatnonzero(community == number), np.flatnonzero(members == number)
        # Exponential waiting times with the appeal as rate: the places with the shortest ones are a draw by weight
        # without repeats.
        wait = random.exponential(size=(len(member), len(own))) / np.maximum(places.appeal[own], 1e-3)
        row, rank = np.nonzero(np.arange(len(own)) < wanted[member][:, None])
        people.append(member[row])
        chosen.append(own[np.argsort(wait, axis=1)[row, rank]])
    return np.concatenate(people), np.concatenate(chosen)


def _draw_homes(random: np.random.Generator, places: Places, count: int) -> Crowd:
    homes = places.of_kind("home")
    residents = random.choice(len(RESIDENTS), len(homes), p=RESIDENTS)
    # People without a home live out of town and come for the day.
    home = random.permutation(np.repeat(homes, residents))[:count]
    ties = once_each(np.arange(len(home)), home, np.full(len(home), DAILY))
    strolls = _draw_strolls(random, count, 0.5)
    pull = places.appeal / _without(places.appeal, homes).sum()
    # The number of guests at an average home does not depend on the number of people, up to a limit.
    invited = min(0.5, GUESTS * len(homes) / strolls.sum())
    pull[homes] = invited / (1.0 - invited) * places.appeal[homes] / places.appeal[homes].sum()
    return Crowd(places, ties, strolls, pull)


def _draw_regulars(random: np.random.Generator, places: Places, count: int) -> Crowd:
    number = len(places.kind)
    strolls = _draw_strolls(random, count, 0.5)
    # Squared, so that there are many small venues besides the large ones.
    pull = places.appeal**2
    visitors = 28.0 * strolls.sum() * pull / pull.sum()
    nature = random.random(number)
    share = FEWEST_REGULARS * (MOST_REGULARS / FEWEST_REGULARS) ** random.random(number)
    share[nature < WITHOUT_REGULARS] = 0.0
    closed = nature > 1.0 - ONLY_REGULARS
    share[closed] = MOST_REGULARS
    regulars = np.rint(np.minimum(visitors * share / (1.0 - share), count)).astype(np.int64)
    place = np.repeat(np.arange(number), regulars)
    person = random.integers(0, count, len(place))
    rate = FREQUENCY * np.exp(FREQUENCY_SPREAD * random.normal(size=len(place)))
    ties = once_each(person, place, np.minimum(rate, MOST_OFTEN))
    return Crowd(places, ties, strolls, np.where(closed, 0.0, pull))


def _draw_strolls(random: np.random.Generator, count: int, mean: float) -> Floats:
    """Draw the strolls a day of each person: a long tail around the mean."""
    return mean * np.exp(random.normal(size=count) - 0.5)


def _without(weight: Floats, positions: Ints) -> Floats:
    """Return the weights with those at some positions set to 0."""
    rest = weight.copy()
    rest[positions] = 0.0
    return rest
