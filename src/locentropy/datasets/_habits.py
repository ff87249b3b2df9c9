"""Variations of the city that are unlike the usual one in a single way.

A model that looks at all visitors together takes the visitors of each place for a fair sample of them: as far as
the number of places they visit goes, and how often they come back. In each of these cities that is wrong:

- `clustered`: people keep to the places of their own community, and communities differ much in how many places
  their members visit, so that the visitors of one place are alike;
- `homes`: most places are homes with one resident who is there daily, and a few guests who come once, so that small
  places are ruled by one person;
- `regulars`: at every venue some share of the visitors, from none to all, are regulars who make most of the visits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from locentropy.datasets._crowd import Crowd, choose, once_each

if TYPE_CHECKING:
    from locentropy.datasets._places import Floats, Ints, Places

Habits = Literal["usual", "clustered", "homes", "regulars"]

HOMES_FACTOR: Final[dict[str, float]] = {"homes": 8.0}
"""How many times more homes than usual there are for each venue."""

PLACES_PER_COMMUNITY = 40
MOST_PLACES_OF_A_MEMBER = 60
OUTINGS = 3.0
"""Members go out this often a day, however many places they have: who has few is there often."""
BRIDGES = 0.01
"""Strolls a day of a member to places anywhere in town."""

RESIDENTS = (0.08, 0.77, 0.15)
"""The shares of homes with no, one and two residents."""
DAILY = 0.9
"""Visits a day of a resident."""
GUESTS = 0.1
"""Visits of guests a day at an average home."""

WITHOUT_REGULARS, ONLY_REGULARS = 0.2, 0.15
"""The shares of venues that have none but casual visitors, and no casual ones."""
FEWEST_REGULARS, MOST_REGULARS = 0.03, 0.33
"""Elsewhere, the share of regulars among the visitors of four weeks lies between these."""
FREQUENCY, FREQUENCY_SPREAD = 1.0, 0.9
"""A regular's visits a day: the median, and the standard deviation of the logarithm."""
MOST_OFTEN = 6.0
"""Visits a day of one person to one place are at most this many on average."""


def draw_crowd(random: np.random.Generator, places: Places, count: int, habits: Habits) -> Crowd:
    """`count` people with these habits."""
    draw = {"clustered": _draw_clustered, "homes": _draw_homes, "regulars": _draw_regulars}[habits]
    return draw(random, places, count)


def _draw_clustered(random: np.random.Generator, places: Places, count: int) -> Crowd:
    community = _draw_communities(random, places)
    sizes = np.bincount(community)
    # From one place to most of them, on a scale of ratios.
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
    """The community of each place: that of the nearest of some places in the middle of one."""
    number = max(1, len(places.kind) // PLACES_PER_COMMUNITY)
    middle = random.choice(len(places.kind), number, replace=False)
    distance = np.hypot(places.x[:, None] - places.x[middle], places.y[:, None] - places.y[middle])
    # Numbered without gaps, should two of them stand on the same spot.
    return np.unique(distance.argmin(axis=1), return_inverse=True)[1]


def _draw_own_places(
    random: np.random.Generator, places: Places, community: Ints, members: Ints, wanted: Ints
) -> tuple[Ints, Ints]:
    """As many places of their community for all members as they want, attractive ones more often."""
    people, chosen = [], []
    for number in range(int(community.max()) + 1):
        own, member = np.flatnonzero(community == number), np.flatnonzero(members == number)
        # Places that come up after exponential times, at rates of their appeal: the first few are a draw by weight
        # without repeats.
        wait = random.exponential(size=(len(member), len(own))) / np.maximum(places.appeal[own], 1e-3)
        row, rank = np.nonzero(np.arange(len(own)) < wanted[member][:, None])
        people.append(member[row])
        chosen.append(own[np.argsort(wait, axis=1)[row, rank]])
    return np.concatenate(people), np.concatenate(chosen)


def _draw_homes(random: np.random.Generator, places: Places, count: int) -> Crowd:
    homes = places.of_kind("home")
    residents = random.choice(len(RESIDENTS), len(homes), p=RESIDENTS)
    # Whoever finds no home lives out of town and comes for the day.
    home = random.permutation(np.repeat(homes, residents))[:count]
    ties = once_each(np.arange(len(home)), home, np.full(len(home), DAILY))
    strolls = _draw_strolls(random, count, 0.5)
    pull = places.appeal / _without(places.appeal, homes).sum()
    # As many guests at an average home however many people there are, as long as they can come.
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
    """Strolls a day of each person: a long tail around their mean."""
    return mean * np.exp(random.normal(size=count) - 0.5)


def _without(weight: Floats, positions: Ints) -> Floats:
    """The weights with those at some positions set to 0."""
    rest = weight.copy()
    rest[positions] = 0.0
    return rest
