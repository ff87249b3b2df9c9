"""People who have ties to some places and stroll to others: a plainer town than that of `_people`.

The variations of the city (`_habits`) are built of it, since each of them needs just one thing to be out of the
ordinary: who has a tie to which place, and where strolls lead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from locentropy.datasets._people import Clock, Day, without_overlaps

if TYPE_CHECKING:
    from locentropy.datasets._people import Peak, Week
    from locentropy.datasets._places import Floats, Ints, Places

MAX_SEED = 2**63 - 1


def stream(seed: int, *key: int) -> np.random.Generator:
    """The generator of this seed and key; streams of different keys are independent."""
    # The generator is named rather than left to NumPy's default, which may change.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


STROLL_PEAKS: tuple[Peak, ...] = ((10.5, 2.0, 1.0), (13.0, 1.5, 0.6), (18.0, 2.0, 1.2))
STROLL_WEEK: Week = (0.9, 0.9, 0.9, 0.9, 1.1, 1.3, 1.0)

OPEN_CLOCK = Clock(STROLL_PEAKS)


@dataclass(frozen=True)
class Ties:
    """Who comes again and again, and where: one entry for each person and place, column by column."""

    person: Ints
    place: Ints
    rate: Floats
    """How many visits the person pays on an average day."""


@dataclass(frozen=True)
class Crowd:
    """Everybody's ties, and how they stroll."""

    places: Places
    ties: Ties
    strolls: Floats
    """How many strolls each person takes on an average day."""
    pull: Floats
    """How likely a stroll leads to each place, up to a factor; all 0 where no stroll leads anywhere."""

    def day(self, random: np.random.Generator, weekday: int) -> Day:
        """All visits of one day."""
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
    """`count` positions, each as likely as its weight says."""
    cumulative = np.cumsum(weight)
    # A little less than all of it at most, so that no last place without weight is ever found.
    level = random.random(count) * cumulative[-1] * (1.0 - 2.0**-30)
    return np.asarray(np.searchsorted(cumulative, level, side="right"))


def once_each(person: Ints, place: Ints, rate: Floats) -> Ties:
    """Ties without repeats: of several between one person and one place, the first counts."""
    most = int(place.max(initial=0)) + 1
    _, first = np.unique(person * most + place, return_index=True)
    return Ties(person[first], place[first], rate[first])
