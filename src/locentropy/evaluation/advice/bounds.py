"""Choose M and C: how much bounding takes away, against how much noise it saves.

Two approximations, from public or noisy numbers alone:

    truncation   entropy grows like the logarithm of the visitors. Where people count in M places at most, the share
                 s = Σ min(m, M) / Σ m of all (person, place) pairs is kept, so values fall by about ln(1/s).
    noise        Moments is off by about 2.2·M/(ε·n) at a place of n counted users, for visits that are mostly few;
                 fitted to tests/oracles/moments.py (M = C = 5).

Places are taken to have users in proportion to 1/rank, the largest first, and M minimises the mean of the two squares
over the places of at least 20 users: smaller ones are noise at any M. This is a rule of thumb,
made with two data sets in view; `benchmarks/utility.py` prints the best bounds in hindsight for seven.

A larger C counts more visits, and needs more noise. So C is 5, unless people hardly ever make as many visits; the paper
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
"""M and C if nothing is known: the paper's defaults."""

UNCUT: Final = 0.95
"""A smaller C is chosen if this share of the people would lose nothing."""

TRIED_LOCATIONS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)

NOISE_PER_USER: Final = 2.2
"""√MSE of Moments times ε·n/M, at C = 5."""

COUNTED_FROM: Final = 20
"""Places of fewer users do not decide about M."""

SURE_MARGINS: Final = 3
"""A cell above this many margins is not empty (1 empty cell in 10,000 is)."""
CLEAR_MARGINS: Final = 1.5
"""A cell next to such a one is not empty above this many (1 empty cell in 200 is)."""


@dataclass(frozen=True)
class Habits:
    """How many people visit how many places, and how often."""

    places: tuple[tuple[float, float], ...] = ()
    """(number of places, people who visit so many) pairs."""
    visits: tuple[tuple[float, float], ...] = ()
    """(number of visits, people who visit no place more often) pairs."""
    source: str = ""
    """Where these numbers come from, for a sentence."""
    doubt: float = 0.0
    """How far noise may move the share of people up to some number of visits."""

    @property
    def n_users(self) -> float:
        """The number of people."""
        return sum(people for _, people in self.places)

    @property
    def locations_per_user(self) -> int | None:
        """How many places a person visits on average; None if unknown."""
        if self.n_users <= 0:
            return None
        return max(1, round(sum(places * people for places, people in self.places) / self.n_users))

    def kept(self, max_locations: int) -> float:
        """Return s, the share of (person, place) pairs that is kept if people count in at most M places."""
        whole = sum(places * people for places, people in self.places)
        return sum(min(places, max_locations) * people for places, people in self.places) / whole

    def uncut(self, max_visits: int) -> float:
        """Return the share of people who visited no place more than C times."""
        whole = sum(people for _, people in self.visits)
        uncut = sum(people for visits, people in self.visits if visits <= max_visits)
        return min(max(uncut / whole, 0.0), 1.0)  # noise may make either part negative


@dataclass(frozen=True)
class BoundsChoice:
    """M and C, and the errors that they cause."""

    max_locations: int
    max_visits: int
    truncation: float | None
    """About how far bounding lowers values, in nats; None if unknown."""
    noise: float | None
    """About how far noise moves the values of places with at least 20 users, in nats; None if unknown."""
    why: tuple[str, ...]


def supposed_habits(
    n_users: int | None, locations_per_user: int | None, visits_per_location: int | None
) -> Habits:
    """Return habits in which all people are alike, from public numbers."""
    weight = float(n_users or 1)
    return Habits(
        ((float(locations_per_user), weight),) if locations_per_user else (),
        ((float(visits_per_location), weight),) if visits_per_location else (),
        "by your own numbers",
    )


def measured_habits(activity: Activity) -> Habits:
    """Return the habits that noisy histograms show, without what does not stand out from noise.

    Cells beyond the last that stands out are taken as empty: noise there would look like people who were at thousands
    of places, and outweigh everybody else.
    """
    places = _cleaned(activity.places, activity.places_margin)
    # Of visits only the share of people up to C is used, in which noise cancels, so all cells are kept.
    ends = (*octave_ends(len(activity.visits)), math.inf)
    stands_out = max(activity.visits) > SURE_MARGINS * activity.visits_margin and sum(activity.visits) > 0
    visits = zip(ends, map(float, activity.visits), strict=True) if stands_out else ()
    return Habits(
        tuple(((low + high) / 2, people) for low, high, people in places),
        tuple(visits),
        "by the noisy histograms",
        CLEAR_MARGINS * activity.visits_margin / max(sum(activity.visits), 1),
    )


def _cleaned(cells: tuple[int, ...], margin: int) -> list[tuple[float, float, float]]:
    """Return (lowest, highest, people) of the cells up to the last that stands out from noise."""
    ends = [0, *octave_ends(len(cells)), 2 * octave_ends(len(cells))[-1]]
    last = max((at for at, number in enumerate(cells) if number > SURE_MARGINS * margin), default=-1)
    while 0 <= last < len(cells) - 1 and cells[last + 1] > CLEAR_MARGINS * margin:
        last += 1
    return [
        (ends[at] + 1.0, float(ends[at + 1]), float(number))
        for at, number in enumerate(cells[: last + 1])
        if number > 0
    ]


def choose_bounds(
    epsilon: float, n_locations: int | None, n_users: int | None, habits: Habits
) -> BoundsChoice:
    """Choose the M with the least truncation and noise together, and a C that cuts few people."""
    visits, why_visits = _choose_visits(habits)
    most = min(n_locations or TRIED_LOCATIONS[-1], TRIED_LOCATIONS[-1])
    if not habits.places:
        usual = min(USUAL_PLACES, most)
        why = f"M = {usual} is the usual choice if it is unknown how many places people visit."
        return BoundsChoice(usual, visits, None, None, (why, why_visits))
    if n_locations is None or n_users is None:
        reach = math.ceil(max(places for places, _ in habits.places))
        chosen = min(USUAL_PLACES, reach, most)
        lost = abs(math.log(habits.kept(chosen)))
        why = f"M = {chosen}: without the numbers of places and people, noise and truncation cannot be compared."
        return BoundsChoice(chosen, visits, lost, None, (why, why_visits))
    tried = {
        m: _errors(float(epsilon), m, n_locations, n_users, habits)
        for m in (*(each for each in TRIED_LOCATIONS if each < most), most)
    }
    best = min(tried, key=lambda m: sum(error**2 for error in tried[m]))
    truncation, noise = tried[best]
    kept = habits.kept(best)
    effect = (
        "cuts nobody"
        if kept == 1
        else f"keeps {percent(kept)} of all pairs of person and place, and lowers values by about {nats(truncation)} "
        "nats"
    )
    why = (
        f"M = {best} has the least predicted error among those tried, {habits.source}: counting people in at most "
        f"{counted(best, 'place')} {effect}; noise, which grows with M, moves the values of places with at least "
        f"{COUNTED_FROM} users by about {nats(noise)} nats."
    )
    return BoundsChoice(best, visits, truncation, noise, (why, why_visits))


def _errors(
    epsilon: float, max_locations: int, n_locations: int, n_users: int, habits: Habits
) -> tuple[float, float]:
    """Return truncation and noise, in nats."""
    share = habits.kept(max_locations)
    sizes = _users_of_places(n_locations, n_users, habits)
    largest = math.log(max(n_users, 2)) / 2  # values are cut to what is possible, so errors are hardly larger
    noise = np.minimum(NOISE_PER_USER * max_locations / (epsilon * share * sizes), largest)
    return abs(math.log(share)), math.sqrt(float(np.mean(noise**2)))


def _users_of_places(n_locations: int, n_users: int, habits: Habits) -> Reals:
    """Return users of the places that decide, in proportion to 1/rank; the largest place alone if none has 20."""
    pairs = sum(places * number for places, number in habits.places)
    ranks = np.unique(np.geomspace(1, n_locations, 400).astype(np.int64))
    harmonic = math.log(n_locations) + 0.5772 + 0.5 / n_locations
    sizes = np.minimum(pairs / (harmonic * ranks), float(n_users))
    kept = sizes >= COUNTED_FROM
    width = np.diff(ranks, append=n_locations + 1)
    if not kept.any():
        return np.maximum(sizes[:1], 1.0)
    # Ranks are sampled on a logarithmic scale: repeat each in proportion to the ranks that it stands for.
    shares = np.maximum(1, np.rint(1000 * width[kept] / width[kept].sum())).astype(np.int64)
    repeated: Reals = np.repeat(sizes[kept], shares)
    return repeated


def _choose_visits(habits: Habits) -> tuple[int, str]:
    usual = f"C = {USUAL_VISITS} is the usual choice; no other did much better in measurements."
    if not habits.visits:
        return USUAL_VISITS, usual
    enough = [c for c in range(1, USUAL_VISITS) if habits.uncut(c) - habits.doubt >= UNCUT]
    if not enough:
        return USUAL_VISITS, usual
    return enough[0], (
        f"C = {enough[0]}: for at least {100 * UNCUT:.0f} % of the people, {habits.source}, nothing is cut, and a "
        "smaller C needs less noise."
    )
