"""Choosing M and C: how much bounding takes away, against how much noise it saves.

Two rough laws, from public or noisy numbers alone:

    truncation   entropy grows like the logarithm of the visitors. Where people count in M places at most, the share
                 s = Σ min(m, M) / Σ m of all (person, place) pairs is left, so values fall by about ln(1/s).
    noise        Moments is off by about 2.2·M/(ε·n) at a place of n counted users, for visits that are mostly few;
                 it was fitted to tests/oracles/moments.py (M = C = 5).

Places are taken to have users in proportion to 1/rank, the largest first, and M minimises the mean of the two squares
over the places of at least 20 users: smaller ones are noise at any M. A rule of thumb,
made while looking at two data sets; `benchmarks/utility.py` prints the best bounds in hindsight for seven.

A larger C counts more visits, and takes more noise. So C is 5, unless people hardly ever make as many visits; the paper
says at most 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.number_format import counted, nats, percent
from locentropy.mechanisms.survey import octave_ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.survey import Activity

    Reals = NDArray[np.float64]

USUAL_PLACES: Final = 5
USUAL_VISITS: Final = 5
"""M and C where nothing is known: the paper's defaults."""

UNCUT: Final = 0.95
"""A smaller C is taken where this share of the people would lose nothing."""

CANDIDATES: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)

NOISE_PER_USER: Final = 2.2
"""√MSE of Moments times ε·n/M, at C = 5."""

COUNTED_FROM: Final = 20
"""Places of fewer users do not decide about M."""

SURE: Final = 3
CLEAR: Final = 1.5
"""A cell is surely not empty from this many margins on (1 empty one in 10,000 seems so), and clear of noise beside such
a cell from fewer on (1 in 200)."""


@dataclass(frozen=True)
class Habits:
    """People by how many places they go to, and by their most visits to one place: (number, people) pairs."""

    places: tuple[tuple[float, float], ...] = ()
    visits: tuple[tuple[float, float], ...] = ()
    source: str = ""
    """Where this comes from, as the end of a sentence."""
    doubt: float = 0.0
    """How far the share of people up to some number of visits may be off, because of noise."""

    @property
    def people(self) -> float:
        """How many there are."""
        return sum(people for _, people in self.places)

    def kept(self, max_locations: int) -> float:
        """s: the share of (person, place) pairs that is left where everybody counts in M places at most."""
        whole = sum(places * people for places, people in self.places)
        return sum(min(places, max_locations) * people for places, people in self.places) / whole

    def uncut(self, max_visits: int) -> float:
        """The share of people with no place that they went to more than C times."""
        whole = sum(people for _, people in self.visits)
        uncut = sum(people for visits, people in self.visits if visits <= max_visits)
        return min(max(uncut / whole, 0.0), 1.0)  # noise may make either part negative


@dataclass(frozen=True)
class BoundsChoice:
    """M and C, and what they cost."""

    max_locations: int
    max_visits: int
    truncation: float | None
    """About how far bounding lowers values, in nats; None where nobody knows."""
    noise: float | None
    """About how far noise moves the values of places with at least 20 users, in nats; None where nobody knows."""
    why: tuple[str, ...]


def habits_supposed(
    n_users: int | None, locations_per_user: int | None, visits_per_location: int | None
) -> Habits:
    """Everybody like the one person that public numbers describe."""
    weight = float(n_users or 1)
    return Habits(
        ((float(locations_per_user), weight),) if locations_per_user else (),
        ((float(visits_per_location), weight),) if visits_per_location else (),
        "by your own numbers",
    )


def habits_seen(activity: Activity) -> Habits:
    """What noisy histograms show; what does not stand out from noise is left out.

    Beyond the last cells that stand out all is taken as empty: noise there would stand for people who were at thousands
    of places, and outweigh everybody.
    """
    places = _cleaned(activity.places, activity.places_margin)
    # Of visits only the share of people up to C is used, in which noise cancels: all cells, as they are.
    ends = (*octave_ends(len(activity.visits)), math.inf)
    seen = max(activity.visits) > SURE * activity.visits_margin and sum(activity.visits) > 0
    visits = zip(ends, map(float, activity.visits), strict=True) if seen else ()
    return Habits(
        tuple(((low + high) / 2, people) for low, high, people in places),
        tuple(visits),
        "by the noisy histograms",
        CLEAR * activity.visits_margin / max(sum(activity.visits), 1),
    )


def _cleaned(cells: tuple[int, ...], margin: int) -> list[tuple[float, float, float]]:
    """(lowest, highest, people) of the cells up to the last that stands out from noise."""
    ends = [0, *octave_ends(len(cells)), 2 * octave_ends(len(cells))[-1]]
    last = max((at for at, number in enumerate(cells) if number > SURE * margin), default=-1)
    while 0 <= last < len(cells) - 1 and cells[last + 1] > CLEAR * margin:
        last += 1
    return [
        (ends[at] + 1.0, float(ends[at + 1]), float(number))
        for at, number in enumerate(cells[: last + 1])
        if number > 0
    ]


def choose_bounds(epsilon: float, locations: int | None, people: int | None, habits: Habits) -> BoundsChoice:
    """M where truncation and noise together are least, and C where few people are cut."""
    visits, why_visits = _choose_visits(habits)
    most = min(locations or CANDIDATES[-1], CANDIDATES[-1])
    if not habits.places:
        usual = min(USUAL_PLACES, most)
        why = f"M = {usual} is the usual choice where nobody knows how many places people go to."
        return BoundsChoice(usual, visits, None, None, (why, why_visits))
    if locations is None or people is None:
        reach = math.ceil(max(places for places, _ in habits.places))
        chosen = min(USUAL_PLACES, reach, most)
        lost = abs(math.log(habits.kept(chosen)))
        why = f"M = {chosen}: without the numbers of places and people, noise cannot be weighed against truncation."
        return BoundsChoice(chosen, visits, lost, None, (why, why_visits))
    tried = {
        m: _costs(float(epsilon), m, locations, people, habits)
        for m in (*(each for each in CANDIDATES if each < most), most)
    }
    best = min(tried, key=lambda m: sum(cost**2 for cost in tried[m]))
    truncation, noise = tried[best]
    kept = habits.kept(best)
    taken = (
        "cuts nobody"
        if kept == 1
        else f"keeps {percent(kept)} of all pairs of person and place and lowers values by some {nats(truncation)} nats"
    )
    why = (
        f"M = {best} has the least predicted error among those tried, {habits.source}: counting people in at most "
        f"{counted(best, 'place')} {taken}; noise, which grows with M, moves the values of places with at least "
        f"{COUNTED_FROM} users by about {nats(noise)} nats."
    )
    return BoundsChoice(best, visits, truncation, noise, (why, why_visits))


def _costs(
    epsilon: float, max_locations: int, locations: int, people: int, habits: Habits
) -> tuple[float, float]:
    """Truncation and noise, in nats; squares are what adds up."""
    share = habits.kept(max_locations)
    sizes = _sizes(locations, people, habits)
    largest = math.log(max(people, 2)) / 2  # a value that is cut to what is possible is not off by much more
    noise = np.minimum(NOISE_PER_USER * max_locations / (epsilon * share * sizes), largest)
    return abs(math.log(share)), math.sqrt(float(np.mean(noise**2)))


def _sizes(locations: int, people: int, habits: Habits) -> Reals:
    """Users of the places that count, in proportion to 1/rank; the largest place alone if none has twenty."""
    pairs = sum(places * number for places, number in habits.places)
    ranks = np.unique(np.geomspace(1, locations, 400).astype(np.int64))
    harmonic = math.log(locations) + 0.5772 + 0.5 / locations
    sizes = np.minimum(pairs / (harmonic * ranks), float(people))
    kept = sizes >= COUNTED_FROM
    width = np.diff(ranks, append=locations + 1)
    if not kept.any():
        return np.maximum(sizes[:1], 1.0)
    # Ranks are sampled ever more thinly: repeat each in proportion to the ranks that it stands for.
    shares = np.maximum(1, np.rint(1000 * width[kept] / width[kept].sum())).astype(np.int64)
    repeated: Reals = np.repeat(sizes[kept], shares)
    return repeated


def _choose_visits(habits: Habits) -> tuple[int, str]:
    usual = f"C = {USUAL_VISITS} is the usual choice; where it was measured, none did much better."
    if not habits.visits:
        return USUAL_VISITS, usual
    enough = [c for c in range(1, USUAL_VISITS) if habits.uncut(c) - habits.doubt >= UNCUT]
    if not enough:
        return USUAL_VISITS, usual
    return enough[0], (
        f"C = {enough[0]}: for at least {100 * UNCUT:.0f} % of the people, {habits.source}, nothing is cut, and a "
        "smaller C takes less noise."
    )
