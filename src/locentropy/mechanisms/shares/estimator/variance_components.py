"""Variance components: how much of the spread between places each public attribute explains.

Method of moments from pairs of places, after Haseman and Elston (1972). Two places of one level share its effect, so
the product of their scores is expected to be the variance of that effect (and of whatever else they share). A place is
never paired with itself: an attribute with a level for every place has no pairs and says nothing. Noisy sums by level,
where they were asked, add one more equation for each level: the square of its deviation, less the noise.

Each level's equation weighs by its variance, large levels no more than their one effect is worth; a weak prior stands
for attributes in general, and no component is negative. Together they explain at most `MOST_EXPLAINED`.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.mechanisms.shares.estimator.effect_tree import nested_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

MOST_EXPLAINED: Final = 0.5
"""However well an attribute seems to predict, half of the spread stays with the places themselves."""


class MomentEquations:
    """Weighted least squares for the components: one equation for each level of each attribute, and the prior."""

    def __init__(self, expected: Reals) -> None:
        self.expected = expected
        # As sure of what is expected as of nothing: the standard deviation is the expected value itself.
        self._normal = np.diag(expected**-2.0)
        self._right = expected**-1.0

    def add(self, shared: Reals, value: Reals, deviation: Reals) -> None:
        """Equations shared @ components = value, level × attribute, of these standard deviations."""
        scaled = shared / deviation[:, None]
        self._normal = self._normal + scaled.T @ scaled
        self._right = self._right + scaled.T @ (value / deviation)

    def solve(self) -> Reals:
        """The components: none negative, together at most `MOST_EXPLAINED`."""
        from scipy.optimize import nnls  # takes a fifth of a second, and only lists with attributes need it

        root = np.linalg.cholesky(self._normal)
        components: Reals = nnls(root.T, np.linalg.solve(root, self._right))[0]
        return components * min(1.0, MOST_EXPLAINED / max(float(components.sum()), 1e-300))


def pair_equations(
    equations: MomentEquations, scores: Reals, reliability: float, levels: Sequence[Indices]
) -> None:
    """Add what pairs of places say.

    `scores` are expected scores given each place's own look, with mean 0; `reliability` is their variance. The product
    of two is expected to be the covariance of the true scores times the reliability squared, to first order.
    """
    scores = scores - scores.mean()
    places = [np.bincount(level_of) for level_of in levels]
    pairs = _shared_pairs(levels, places)
    for attribute, level_of in enumerate(levels):
        several = places[attribute] > 1
        if not several.any():
            continue
        own = pairs[attribute, attribute][several]
        sums, squares = np.bincount(level_of, scores), np.bincount(level_of, scores**2)
        value = (sums**2 - squares)[several] / (own * reliability**2)
        shared = np.stack([pairs[attribute, other][several] / own for other in range(len(levels))], axis=1)
        # The mean score of a level differs from its effect by chance of this variance.
        chance = 1 / (places[attribute][several] * reliability)
        equations.add(shared, value, np.sqrt(2.0) * (equations.expected[attribute] + chance))


def sum_equations(equations: MomentEquations, attribute: int, deviation: Reals, variance: Reals) -> None:
    """Add what noisy sums by level say: deviations of levels from what was expected, and the variance of their noise.

    What all levels have in common is left to the visitor prior.
    """
    spread = equations.expected[attribute] + variance
    centred = deviation - np.average(deviation, weights=1 / spread)
    shared = np.zeros((deviation.size, equations.expected.size))
    shared[:, attribute] = 1.0
    equations.add(shared, centred**2 - variance, np.sqrt(2.0) * spread)


def _shared_pairs(
    levels: Sequence[Indices], places: Sequence[NDArray[np.int64]]
) -> dict[tuple[int, int], Reals]:
    """For two attributes, the ordered pairs of places that share both, by level of the first."""
    pairs = {(at, at): each * (each - 1.0) for at, each in enumerate(places)}
    order = sorted(range(len(levels)), key=lambda at: places[at].size)
    for coarse, fine in combinations(order, 2):
        parent = nested_in(levels[fine], levels[coarse])
        if parent is not None:  # nothing to count: who shares the fine level shares both
            pairs[fine, coarse] = pairs[fine, fine]
            pairs[coarse, fine] = np.bincount(parent, pairs[fine, fine], places[coarse].size)
            continue
        width = places[fine].size
        key = np.sort(levels[coarse] * width + levels[fine])
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        both = np.diff(np.append(begins, key.size))
        common = both * (both - 1.0)
        pairs[coarse, fine] = np.bincount(key[begins] // width, common, places[coarse].size)
        pairs[fine, coarse] = np.bincount(key[begins] % width, common, width)
    return pairs
