"""The visitor prior: how many visitors places have, as a law over n, learnt from the noisy presence of all places.

It starts as a weighted mean of many laws: of a population of places (all of them visited, or empty ones among them, or
small ones too), and of a shape (`visitor_shapes.py`), each moved to where its mean presence is the one observed.
Weights are by how well a law explains the noisy presence of all places, times how much it is believed. All laws count,
not the likeliest alone: at small ε the presence of all together is known well, and nearly nothing of how it is spread.
That goes above all for the share of empty places. There what is public decides: a list is mostly of places that
somebody visits, and cells that cover an area are often empty (`covering_cells.py`). Where more can be known,
expectation-maximisation with some smoothing takes the law from there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.noise_law import to_log_density
from locentropy.mechanisms.shares.estimator.visitor_shapes import (
    MovableShapes,
    poisson,
    poisson_visited,
    shape_beliefs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

WIDTH: Final = 0.06
"""Of a bin: in units of the noise for small looks, relative for large ones. Far below what noise blurs."""


class PresenceBins(NamedTuple):
    """The noisy presence of all places, in bins: the work then does not grow with their number."""

    middle: Reals
    """The mean look of each bin, ascending."""
    places: Integers
    """How many places are in it."""
    bin_of: NDArray[np.intp]
    """The bin of each place."""


def bin_presence(look: Reals, scale: float) -> PresenceBins:
    """Put noisy presence into bins; empty ones are left out."""
    key = np.rint(np.arcsinh(look / scale) / WIDTH).astype(np.int64)
    _, bin_of, places = np.unique(key, return_inverse=True, return_counts=True)
    middle = np.bincount(bin_of, weights=look) / places
    return PresenceBins(middle, places, bin_of)


def likelihood(presence: Reals, bins: PresenceBins, scale: float | Reals, noise: NoiseKind) -> Reals:
    """How likely each bin's look is at each presence, the likeliest counting 1: a further axis of bins."""
    off = presence[..., None] - bins.middle
    off /= scale
    logs = to_log_density(noise, off)
    logs -= logs.max(axis=tuple(range(presence.ndim)))
    return np.exp(logs, out=logs)


class Population(NamedTuple):
    """What places there are on a list."""

    visited: bool = False
    """Whether every place has a visitor, but for those that are `empty`; otherwise some have none by chance."""
    empty: float = 0.0
    """The part that is empty whatever the others have: water, or a place that was closed."""
    small: float = 0.0
    """The part that is small, such as homes."""


SMALL: Final = (0.2, 0.25, 0.2, 0.13, 0.09, 0.06, 0.04, 0.02, 0.01)
"""How likely a small place has 0, 1, 2, … visitors: a household and its guests."""
_SMALL_PARTS: Final = (0.3, 0.5, 0.7, 0.85)
_EMPTY_CELLS: Final = (0.1, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.93)
LISTED: Final[Mapping[Population, float]] = {
    Population(visited=True): 0.6,
    Population(): 0.2,
    **{Population(visited=True, empty=part): 0.02 for part in (0.15, 0.3, 0.5, 0.7, 0.85)},
    **{Population(small=part): 0.025 for part in _SMALL_PARTS},
}
"""Populations of a list of places, and how much each is believed: venues are listed because people come,"""
CELLS: Final[Mapping[Population, float]] = {
    Population(): 0.2,
    **{Population(visited=True, empty=part): 0.0875 for part in _EMPTY_CELLS},
    **{Population(small=part): 0.025 for part in _SMALL_PARTS},
}
"""and of cells that cover an area, whoever is there: any part of them may be empty."""
MISSED: Final = 0.1
"""A shape that comes no nearer to the observed mean than this, in nats, is believed less."""
_MOST_MISSED: Final = 10.0

UNFORESEEN: Final = 1e-4
"""How many places are of any size at all."""

SURE: Final = 0.05
"""The mean presence is taken as it is where it is known to this part; otherwise several are tried."""
USUAL_USERS: Final = (0.5, 1.2)
"""Users for each place of the list, and the spread of the logarithm, where nothing is known."""
_MEANS: Final = 7

ROUNDS: Final = 80
PULL: Final = 0.2
PULL_PLACES: Final = 30.0
"""Expectation-maximisation is held back to the start by this part, and by so many places' worth."""


class Total(NamedTuple):
    """What is known of all presence together."""

    value: float
    """The best estimate."""
    deviation: float
    """Its standard deviation."""
    other: float
    """The estimate from the profile alone, which owes nothing to the looks,"""
    other_deviation: float
    """and its standard deviation."""
    per_user: float
    """The presence of a user."""


def learn_visitor_prior(
    grid: Integers,
    presence: Reals,
    seen: Reals,
    places: Integers,
    total: Total,
    most: float,
    *,
    cells: bool = False,
) -> Reals:
    """The law of n: one probability for each n of the grid.

    `presence` is the mean presence at each n, `seen` the likelihood of each bin's look at each n, `places` how many
    places each bin has; no place has more presence than about `most`. Places may be `cells` that cover an area.
    """
    populations = CELLS if cells else LISTED
    laws, beliefs = _believed_laws(grid, presence, total, int(places.sum()), most, populations)
    fit = np.log(np.maximum(laws @ seen, 1e-300)) @ places + beliefs
    start = np.exp(fit - fit.max()) @ laws
    # Nothing is impossible: a place that no law foresees is still read.
    start = start / start.sum() + UNFORESEEN / grid.size
    return _improved(start / start.sum(), seen, places)


def _believed_laws(
    grid: Integers,
    presence: Reals,
    total: Total,
    listed: int,
    most: float,
    populations: Mapping[Population, float],
) -> tuple[Reals, Reals]:
    """Every shape in every population, with every possible mean presence: law × n, and the logarithm of its belief."""
    counts = tuple(grid.tolist())
    by_chance = MovableShapes.over(poisson(counts), presence, most)
    visited = MovableShapes.over(poisson_visited(counts), presence, most)
    laws, beliefs = [], []
    for mean, mean_belief in _mean_presences(total, listed):
        for population, belief in populations.items():
            apart = np.zeros(grid.size)
            apart[: len(SMALL)] = population.small * np.array(SMALL)
            apart[0] += population.empty
            others = 1 - population.small - population.empty
            rest = max(mean - float(apart @ presence), 0.1 * mean) / others
            main, missed = (visited if population.visited else by_chance).with_mean(rest)
            laws.append(others * main + apart)
            off = np.minimum(np.abs(missed) / MISSED, _MOST_MISSED)
            beliefs.append(np.log(shape_beliefs() * belief) + mean_belief - off**2 / 2)
    return np.concatenate(laws), np.concatenate(beliefs)


def _mean_presences(total: Total, listed: int) -> Iterator[tuple[float, float]]:
    """Mean presences of a place to try, and the logarithm of how much each is believed before the looks are used."""
    if total.deviation < SURE * total.value:
        yield total.value / listed, 0.0
        return
    low = max(0.02, (total.value - 2 * total.deviation) / listed)
    high = max(0.1, 1.5 * low, (total.value + 2.5 * total.deviation) / listed)
    usual, spread = USUAL_USERS
    usual *= total.per_user
    for mean in np.exp(np.linspace(math.log(low), math.log(high), _MEANS)).tolist():
        off = (mean * listed - total.other) / total.other_deviation
        yield mean, -(off**2) / 2 - (math.log(mean / usual) / spread) ** 2 / 2


def _improved(start: Reals, seen: Reals, places: Integers) -> Reals:
    """Expectation-maximisation, smoothed over neighbours and pulled to the start."""
    pull = PULL + PULL_PLACES / places.sum()
    law = start
    for _ in range(ROUNDS):
        law = law * (seen @ (places / np.maximum(law @ seen, 1e-300)))
        law = law / law.sum() + pull * start
        around = np.concatenate([law[1:2], law[1:], law[-1:]])
        law[1:] = 0.1 * around[:-2] + 0.8 * around[1:-1] + 0.1 * around[2:]
        law /= law.sum()
    return law
