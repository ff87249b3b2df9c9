"""Expected visitors: the rate λ of a place in a period, on a grid; its visitors n are Poisson around it.

Over periods it is the rate that stays or moves, not n: a place that expects three visitors has none now and then. The
visitor prior is about n, so it is taken apart: which law of λ, mixed over Poisson laws, gives it?
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import pdtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

STEP: Final = 0.14
"""Between neighbouring rates, in nats."""
SHUT: Final = 0.02
"""The lowest rate, which stands for a place that nobody visits."""
ROUNDS: Final = 60
SPREAD: Final = 0.05
"""Of expectation-maximisation: rounds, and the part of a law that moves to each neighbour in a round."""
_IMPOSSIBLE: Final = 1e-15


class Intensities(NamedTuple):
    """The grid of rates."""

    log_rates: Reals
    """ln λ, ascending; the first stands for a place that is shut."""
    to_counts: Reals
    """How likely each n of the visitor grid is at each rate: n × rate."""


def intensities(counts: Integers) -> Intensities:
    """The rates for a grid of n."""
    return _intensities(tuple(counts.tolist()))


@cache
def _intensities(counts: tuple[int, ...]) -> Intensities:
    log_rates = np.arange(math.log(SHUT), math.log(max(counts[-1], 2)), STEP)
    numbers = np.array(counts, dtype=np.float64)
    # A cell of the grid holds all n that are nearer to it than to its neighbours.
    last = np.floor((numbers[:-1] + numbers[1:]) / 2)
    reached = pdtr(last[:, None], np.exp(log_rates))
    ends = np.zeros((1, log_rates.size))
    to_counts = np.diff(np.concatenate([ends, reached, ends + 1]), axis=0)
    to_counts = np.maximum(to_counts, 0.0) + _IMPOSSIBLE
    to_counts /= to_counts.sum(axis=0)
    for each in (log_rates, to_counts):
        each.flags.writeable = False
    return Intensities(log_rates, to_counts)


def mixing_law(grid: Intensities, prior: Reals) -> Reals:
    """The law of λ under which n has about the given law: expectation-maximisation from a flat start, smoothed."""
    law = np.full(grid.log_rates.size, 1 / grid.log_rates.size)
    for _ in range(ROUNDS):
        law = law * (grid.to_counts.T @ (prior / (grid.to_counts @ law)))
        padded = np.concatenate([law[:1], law, law[-1:]])
        law = (1 - 2 * SPREAD) * law + SPREAD * (padded[:-2] + padded[2:])
        law /= law.sum()
    return law
