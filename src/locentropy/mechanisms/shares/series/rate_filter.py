"""The filter: what is known of the rate of every place, period after period.

    foresee    the law of each place's rate before its new answers are seen, from all earlier ones
    update     the same after they are seen: Bayes' rule

A forward filter of a hidden Markov chain, exact on its grid (Rabiner 1989). What public attributes say of a place comes
from all answers of other places (`pooled_attributes.py`); it is applied at the end and not remembered, so that nothing
counts twice.

Places with the same answers share a likelihood, so that of a period is a small table; laws are per place, in single
precision, and worked on in blocks.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.mechanisms.shares.series.change import LONG, compare, compare_neighbours
from locentropy.mechanisms.shares.series.intensities import (
    Intensities,
    intensities,
    mixing_law,
)
from locentropy.mechanisms.shares.series.transitions import common_factor, learn_transition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.estimator.inference import Reading
    from locentropy.mechanisms.shares.estimator.split_evidence import SplitEvidence
    from locentropy.mechanisms.shares.series.change import Moves
    from locentropy.mechanisms.shares.series.pooled_attributes import Leanings
    from locentropy.mechanisms.shares.series.transitions import Transition

    Indices = NDArray[np.intp]
    Reals = NDArray[np.float64]
    Laws = NDArray[np.float32]

BLOCK: Final = 4096
"""Places at a time."""
CELLS: Final = 128
"""Cells of places with the same answers at a time."""
LEARNERS: Final = 4000
"""What all places have in common is learnt from about so many places."""


class Period(NamedTuple):
    """What the answers of a period say of rates."""

    seen: Reals
    """How likely the answers of each cell are at each rate: rate × cell,"""
    cell_of: Indices
    """and the cell of each place."""
    anew: Reals
    """The law of the rates of all places: rate × 1."""
    look: Reals

    @classmethod
    def of(cls, reading: Reading, grid: Intensities) -> Period:
        """From what Shares reads in the answers."""
        cells = reading.evidence.cells
        seen = grid.to_counts.T @ _likelihood(reading.evidence)
        highest = seen.max(axis=0)
        # Answers that no simulated place could give say nothing.
        seen = np.where(highest > 0, seen / np.maximum(highest, 1e-300), 1.0)
        places = np.bincount(reading.row_of, minlength=len(reading.rows))
        law = mixing_law(grid, places @ reading.rows / places.sum())
        return cls(seen, cells.cell_of, law[:, None], reading.evidence.answers.look)

    def learners(self) -> Indices:
        """Places to learn from: all, or some of every look."""
        step = max(1, self.look.size // LEARNERS)
        return np.argsort(self.look, kind="stable")[step // 2 :: step]

    def seen_at(self, places: Indices) -> Reals:
        """The likelihood at each of some places: rate × place."""
        return self.seen[:, self.cell_of[places]]


class RateFilter:
    """The laws of the rates of all places, given the answers so far."""

    def __init__(self, first: Reading) -> None:
        self.grid = intensities(first.evidence.fitted.simulated.visitors)
        period = Period.of(first, self.grid)
        laws = np.empty((self.grid.log_rates.size, period.look.size), dtype=np.float32)
        for places in _blocks(period.look.size):
            laws[:, places] = _normal(period.anew * period.seen_at(places))
        self.laws: Laws = laws
        self.unseen = period.anew
        self.earlier: deque[Laws] = deque(maxlen=LONG)
        self.growths: deque[float] = deque(maxlen=LONG)

    def step(self, reading: Reading) -> Step:
        """Go on to the next period."""
        period = Period.of(reading, self.grid)
        if period.look.size != self.laws.shape[1]:
            raise ParameterError(
                f"All periods must be about one list, not of {self.laws.shape[1]} and of {period.look.size} places."
            )
        learners = period.learners()
        transition = learn_transition(
            self.grid.log_rates,
            self.laws[:, learners].astype(np.float64),
            period.anew,
            period.seen_at(learners),
        )
        before, laws = self.laws, np.empty_like(self.laws)
        for places in _blocks(period.look.size):
            foreseen = transition.foresee(before[:, places].astype(np.float64), period.anew)
            laws[:, places] = _normal(foreseen * period.seen_at(places))
        self.unseen = _normal(transition.foresee(self.unseen, period.anew))
        self.earlier.append(before)
        self.growths.append(transition.growth)
        self.laws = laws
        long_ago = self.earlier[0] if len(self.earlier) == LONG else None
        return Step(
            self.grid, period, transition, before, laws, self.unseen[:, 0], long_ago, sum(self.growths)
        )


class Step(NamedTuple):
    """One step of the filter: what is foreseen of a period, and how it differs from earlier ones."""

    grid: Intensities
    period: Period
    transition: Transition
    before: Laws
    """The laws one period ago,"""
    now: Laws
    """now,"""
    unseen: Reals
    """that of a place of which nothing was ever seen,"""
    long_ago: Laws | None
    """and LONG periods ago,"""
    long_growth: float
    """since when all places together grew by this, in nats."""

    def visitor_priors(self, leanings: Leanings) -> Reals:
        """What earlier periods, and its attributes, say of the visitors of each place in this one: place × n."""
        learners = self.period.learners()
        # Laws that lean on attributes are narrower; together they must still fit what was seen.
        factor = common_factor(
            self.grid.log_rates,
            self._foreseen(learners, leanings),
            self.period.anew[:, 0],
            self.period.seen_at(learners),
        )
        rows = np.empty((self.period.look.size, len(self.grid.to_counts)))
        for places in _blocks(len(rows)):
            foreseen = _normal(factor[:, None] * self._foreseen(places, leanings))
            rows[places] = _normal(self.grid.to_counts @ foreseen).T
        return rows

    def _foreseen(self, places: Indices, leanings: Leanings) -> Reals:
        """The laws of the rates of some places before their answers of this period are seen."""
        law = self.transition.foresee(self.before[:, places].astype(np.float64), self.period.anew)
        return _normal(law * leanings.factors[:, leanings.row_of[places]])

    def moves(self) -> Moves:
        """How likely each place's rate has moved since the period before, or since LONG periods ago."""
        found = []
        for places in _blocks(self.period.look.size):
            seen = self.period.seen_at(places)
            before = self.before[:, places].astype(np.float64)
            moves = compare_neighbours(self.grid.log_rates, self.transition, before, self.period.anew, seen)
            if self.long_ago is not None:
                then, now = (each[:, places].astype(np.float64) for each in (self.long_ago, self.now))
                moves = moves.or_since(compare(self.grid.log_rates, self.long_growth, then, now), LONG)
            found.append(moves)
        return found[0].joined(found)


def _likelihood(evidence: SplitEvidence) -> Reals:
    """How likely the answers of each cell of places are at each n: n × cell."""
    cells = evidence.cells.places.size
    blocks = (np.arange(start, min(start + CELLS, cells)) for start in range(0, cells, CELLS))
    return np.concatenate([evidence.weights(each).mean(axis=1) for each in blocks], axis=1)


def _blocks(places: int) -> Iterator[Indices]:
    for start in range(0, places, BLOCK):
        yield np.arange(start, min(start + BLOCK, places))


def _normal(laws: Reals) -> Reals:
    normal: Reals = laws / np.maximum(laws.sum(axis=0), 1e-300)
    return normal
