"""Effects of nested levels: a Gaussian tree, solved exactly in one pass up and one down.

The value of a level is the value of the level it lies in plus an effect of its own: a street in its quarter in its
city, or a kind of restaurant among restaurants. An attribute that is not nested in another is a tree of depth one.
Places hang on the finest levels; each says something about its value, as a precision and a precision-weighted mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]


class Information(NamedTuple):
    """What is known of values, in natural parameters: precision, and precision times mean."""

    precision: Reals
    weighted: Reals

    def and_also(self, other: Information) -> Information:
        """Both, of which neither knows what the other says."""
        return Information(self.precision + other.precision, self.weighted + other.weighted)


class Values(NamedTuple):
    """Posterior mean and variance of the value of each level."""

    mean: Reals
    variance: Reals


def total_by_level(level_of: Indices, values: Reals, size: int) -> Reals:
    """The sum of the values of the places of each of `size` levels."""
    return np.bincount(level_of, values, size).astype(np.float64, copy=False)


def nested_in(fine: Indices, coarse: Indices) -> Indices | None:
    """The coarse level in which each fine one lies; None if one of them lies in several."""
    parent = np.zeros(int(fine.max()) + 1, dtype=np.intp)
    parent[fine] = coarse
    return parent if bool((parent[fine] == coarse).all()) else None


@dataclass(frozen=True, eq=False)
class EffectTree:
    """Nested levels, coarsest first."""

    leaf_of: Indices
    """The finest level of each place."""
    parents: tuple[Indices, ...]
    """For every depth but the first, the level above each level."""
    sizes: tuple[int, ...]
    """How many levels each depth has."""
    attributes: tuple[int, ...]
    """Which attribute each depth is."""

    @classmethod
    def forest(cls, levels: Sequence[Indices]) -> tuple[EffectTree, ...]:
        """As few trees as come of putting attributes one below another, from the coarsest to the finest.

        Nested attributes must be in one tree: what one of them explains the other does too, and only together is it
        known which places say how much about whom.
        """
        trees: list[EffectTree] = []
        for at in sorted(range(len(levels)), key=lambda at: (int(levels[at].max()), at)):
            size = int(levels[at].max()) + 1
            for number, tree in enumerate(trees):
                parent = nested_in(levels[at], tree.leaf_of)
                if parent is not None:
                    trees[number] = cls(
                        levels[at], (*tree.parents, parent), (*tree.sizes, size), (*tree.attributes, at)
                    )
                    break
            else:
                trees.append(cls(levels[at], (), (size,), (at,)))
        return tuple(trees)

    def gathered(self, precision: Reals, weighted: Reals) -> Information:
        """What all places say about the finest levels."""
        size = self.sizes[-1]
        return Information(*(total_by_level(self.leaf_of, part, size) for part in (precision, weighted)))

    def posterior(self, told: Sequence[Information | None], variances: Reals) -> tuple[Values, ...]:
        """The values at every depth, given what is told about the levels of each, and the variances of effects."""
        up: list[Information] = []
        below: Information | None = None
        for depth in reversed(range(len(self.sizes))):
            precision, weighted = np.zeros(self.sizes[depth]), np.zeros(self.sizes[depth])
            for each in (told[depth], below):
                if each is not None:
                    precision, weighted = precision + each.precision, weighted + each.weighted
            up.insert(0, Information(precision, weighted))
            if depth:
                passed = self._passed_up(up[0], float(variances[depth]))
                parent, size = self.parents[depth - 1], self.sizes[depth - 1]
                below = Information(*(total_by_level(parent, part, size) for part in passed))
        values: list[Values] = []
        for depth, size in enumerate(self.sizes):
            mean, variance = np.zeros(size), np.zeros(size)
            if depth:
                # The value above, without what it heard from this level.
                parent = self.parents[depth - 1]
                passed = self._passed_up(up[depth], float(variances[depth]))
                above = Values(*(part[parent] for part in values[-1]))
                left = np.maximum(1 / above.variance - passed.precision, 1e-9)
                mean, variance = (above.mean / above.variance - passed.weighted) / left, 1 / left
            variance = variance + variances[depth]
            precision = 1 / variance + up[depth].precision
            values.append(Values((mean / variance + up[depth].weighted) / precision, 1 / precision))
        return tuple(values)

    @staticmethod
    def _passed_up(told: Information, variance: float) -> Information:
        """What is known of a value says this about the value above, from which it differs by an effect."""
        shrink = 1 / (1 + variance * told.precision)
        return Information(told.precision * shrink, told.weighted * shrink)
