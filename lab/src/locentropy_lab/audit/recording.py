"""A mechanism seen from the noise: made-up people go in, and what it wants noised, and how, is written down.

The law of a release is taken from what the mechanism asks of the noise, never from its formulas: so a wrong formula
shows. Everything that is published is computed from the answers to these questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pyarrow as pa

from locentropy.core.locations import Locations
from locentropy.core.share_profile import ShareProfile
from locentropy.core.visit_profile import VisitProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.queries import Queries
    from locentropy_lab.audit.subjects import Subject

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

Crowd = dict[int, int]
"""The users of one location: how many of them made 1, 2, … visits."""


def crowd_queries(crowds: Sequence[Crowd]) -> Queries:
    """Queries on made-up crowds, one for each location; they answer what mechanisms ask about places, and no more."""
    return cast("Queries", CrowdQueries(crowds))


class CrowdQueries:
    """Everyone is at one location only."""

    def __init__(self, crowds: Sequence[Crowd], ids: Sequence[str] | None = None) -> None:
        rows = [
            (at, visits, users) for at, crowd in enumerate(crowds) for visits, users in crowd.items() if users
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.locations = pa.array(ids or [f"{at:06}" for at in range(len(crowds))], pa.string())
        self._index, self._visits, self._users = (np.ascontiguousarray(each) for each in table.T)

    def profile(self, bounds: Bounds) -> VisitProfile:
        """Visits held to C; nobody is at more than one location, so M changes nothing."""
        visits = np.minimum(self._visits, bounds.max_visits)
        resolved = bounds.resolved(has_time=False)
        return VisitProfile.from_rows(self.locations, self._index, visits, self._users, resolved)

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        """Everyone is at one location, and has the largest share there."""
        presence = self._users * largest
        rows = (self._index, np.minimum(self._visits, max_visits), presence)
        by_share = (np.full_like(presence, largest), presence)
        asked = (unit, largest, max_visits)
        return ShareProfile.from_rows(self.locations, asked, rows, by_share, (self._visits, presence))


class Draw(NamedTuple):
    """One question to the noise: integers, and the scale of the noise of each."""

    values: Integers
    scales: Reals


class Recorder:
    """`Noise` that adds nothing, lets every coin fall the same way, and remembers what it was asked for."""

    private = False

    def __init__(self, *, coin: bool = False) -> None:
        self.coin = coin
        self.draws: list[Draw] = []
        self.chances: list[Reals] = []

    def laplace(self, values: Integers, scale: float) -> Integers:
        """The values as they are."""
        return self._noted(values, np.full(np.shape(values), float(scale)))

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """The values as they are."""
        return self._noted(values, scales)

    def bernoulli_each(self, probabilities: Reals) -> Booleans:
        """The same side of every coin."""
        self.chances.append(np.array(probabilities, dtype=np.float64))
        return np.full(np.shape(probabilities), self.coin)

    def _noted(self, values: Integers, scales: Reals) -> Integers:
        self.draws.append(Draw(np.array(values), np.array(scales, dtype=np.float64)))
        return self.draws[-1].values.copy()


@dataclass(frozen=True, eq=False)
class Law:
    """The law of a release: independent integers with discrete Laplace noise, each perhaps only shown by chance."""

    values: Integers
    """Everything that is noised, one after another."""
    scales: Reals
    """The scale of the noise of each."""
    chances: tuple[Fraction, ...] | None
    """With which probability each is shown; None where all are. What is shown with probability 0 has no value."""
    places: int
    """The locations that it is about."""

    @property
    def width(self) -> int:
        """How many integers each location has, where all of them belong to locations."""
        return self.values.size // max(1, self.places)


def law_of(subject: Subject, queries: Queries) -> Law:
    """What a mechanism asks of the noise about this data.

    Where it flips coins, it is run with all coins one way and then the other: what the coins decide is then shown in
    exactly one of the two runs.
    """
    listed = Locations(queries.locations)
    noise, shown = _run(subject, queries, listed, coin=False)
    if not noise.chances and shown.all():
        values, scales = _joined(noise)
        return Law(values, scales, None, len(listed))
    values, scales = np.zeros(len(listed), dtype=np.int64), np.ones(len(listed))
    for recorder, seen in ((noise, shown), _run(subject, queries, listed, coin=True)):
        if recorder.draws:
            values[seen], scales[seen] = _joined(recorder)
    # Coins that fall "no" show those whose likelier outcome it is to be shown; without coins there is no chance in it.
    tails = noise.chances[0].tolist() if noise.chances else [0.0] * len(listed)
    chances = [
        1 - Fraction(tail) if likely else Fraction(tail) for tail, likely in zip(tails, shown, strict=True)
    ]
    return Law(values, scales, tuple(chances), len(listed))


def _run(subject: Subject, queries: Queries, listed: Locations, *, coin: bool) -> tuple[Recorder, Booleans]:
    noise = Recorder(coin=coin)
    return noise, subject.shown(subject.ask(queries, listed, noise), listed)


def _joined(noise: Recorder) -> tuple[Integers, Reals]:
    return (
        np.concatenate([draw.values.ravel() for draw in noise.draws]),
        np.concatenate([draw.scales.ravel() for draw in noise.draws]),
    )
