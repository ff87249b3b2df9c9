"""Smoothing: the entropy of every place in the latest period, given the answers of that period and of earlier ones.

    read       what the answers of a period say, as in a release of its own (`estimator/inference.py`)
    filter     what earlier periods say of the visitors that each place has now (`rate_filter.py`)
    conclude   the posterior of every place, with that for its visitor prior
    change     whether the place rose, fell or closed (`change.py`)

Everything here sees noisy answers that were published, and public numbers: it costs no privacy, and equal answers give
equal values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from locentropy.core.errors import ParameterError
from locentropy.mechanisms.shares.estimator.inference import conclude, infer, read
from locentropy.mechanisms.shares.series.change import NONE
from locentropy.mechanisms.shares.series.pooled_attributes import pooled_leanings
from locentropy.mechanisms.shares.series.rate_filter import RateFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.attributes import Attribute
    from locentropy.mechanisms.shares.estimator.inference import Inferred, Reading
    from locentropy.mechanisms.shares.series.rate_filter import Step

    Reals = NDArray[np.float64]


class Smoothed(NamedTuple):
    """What a release of a series publishes of each place."""

    smoothed: Inferred
    """Entropy and error bars, given all periods."""
    alone: Inferred
    """The same from the answers of the latest period alone."""
    change: NDArray[np.str_]
    """`rose`, `fell` or `closed` where that is sure, else `none`."""
    change_probability: Reals
    """How likely that change is; where none is sure, how likely the likeliest one is."""
    since: NDArray[np.int64]
    """How many periods ago the change is against; 0 where there is none."""


def smooth(
    periods: Sequence[Answers], max_users: int, attributes: Sequence[Attribute] = (), *, cells: bool = False
) -> Smoothed:
    """The latest of successive periods, given all of them; all are about the same list.

    Attributes and `cells` are public things about it, as `infer` takes them.
    """
    if not periods:
        raise ParameterError("periods must hold the answers of one period at least, and holds none.")
    smoother = Smoother(max_users, attributes, cells=cells)
    for answers in periods[:-1]:
        smoother.skip(answers)
    return smoother.conclude(periods[-1])


class Smoother:
    """Periods one after another: each is skipped, or concluded upon given all before it."""

    def __init__(self, max_users: int, attributes: Sequence[Attribute] = (), *, cells: bool = False) -> None:
        self._max_users, self._attributes, self._cells = max_users, attributes, cells
        self._filter: RateFilter | None = None

    def skip(self, answers: Answers) -> None:
        """Remember what a period says, for later ones."""
        if answers.look.size:
            with threadpool_limits(1, user_api="blas"):
                self._advance(self._read(answers))

    def conclude(self, answers: Answers) -> Smoothed:
        """What is published of a period; it is remembered, too."""
        if answers.look.size == 0:
            return _unchanged(infer(answers, self._max_users, self._attributes))
        # One thread: the same rounding wherever it runs, as in `infer`.
        with threadpool_limits(1, user_api="blas"):
            reading = self._read(answers)
            alone = conclude(reading, self._max_users)
            step = self._advance(reading)
            if step is None:
                return _unchanged(alone)
            leanings = pooled_leanings(step.grid, reading, self._attributes, step.unseen, step.now)
            rows = step.visitor_priors(leanings)
            own = reading._replace(rows=rows, row_of=np.arange(len(rows)), leans_on=leanings.leans_on)
            return Smoothed(conclude(own, self._max_users), alone, *step.moves().told())

    def _read(self, answers: Answers) -> Reading:
        return read(answers, self._max_users, self._attributes, cells=self._cells)

    def _advance(self, reading: Reading) -> Step | None:
        """The step to this period; None to the first."""
        if self._filter is None:
            self._filter = RateFilter(reading)
            return None
        return self._filter.step(reading)


def _unchanged(alone: Inferred) -> Smoothed:
    """The first period: there is nothing to smooth it with."""
    places = alone.entropy.size
    nothing = np.zeros(places, dtype=np.int64)
    return Smoothed(alone, alone, np.full(places, NONE, dtype="<U6"), np.zeros(places), nothing)
