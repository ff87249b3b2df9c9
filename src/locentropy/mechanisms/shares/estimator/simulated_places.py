"""Simulated places of every size: what a place of n visitors looks like.

For every n on a grid, some dozens of places are made up. Each has visitors of its own kind: the laws of how many places
visitors have and how often they come are those of places of this size, tilted by a normal deviate of the place. That
gives the joint law of what can be seen with noise (presence, and presence of those who return) and of what is wanted
(entropy); for small n too, where no formula holds. Beyond `LARGE` visitors chance averages out, and expectations take
the place of draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator import octaves
from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES, fixed_deviates, spread_uniforms
from locentropy.mechanisms.shares.estimator.visitor_laws import Kinds
from locentropy.mechanisms.shares.estimator.visitor_weights import VisitorWeights
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.estimator.visitor_laws import VisitorLaws
    from locentropy.mechanisms.shares.estimator.visitor_weights import Weighing

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

LARGE: Final = 256
"""Visitors beyond which expectations are used."""
STEP: Final = 1.15
"""Ratio of neighbours on the grid of n, from some n on."""


def visitor_grid(most: int) -> Integers:
    """n = 0, 1, 2, … and then in steps of 15 %, up to `most`."""
    grid = list(range(9))
    while grid[-1] < most:
        grid.append(round(max(grid[-1] * STEP, grid[-1] + 1)))
    return np.array(grid, dtype=np.int64)


class SimulatedPlaces(NamedTuple):
    """Simulated places: n × copy."""

    visitors: Integers
    """n, the grid."""
    presence: Reals
    """In the look."""
    returning: Reals
    """Presence of those who return, in the split."""
    summed: Reals
    """In the sums by attribute, to which a user adds at most 1 in all."""
    entropy: Reals
    sizes: Reals
    """Equal-share presence by octave of places: n × copy × octave,"""
    visits: Reals
    """and by few or many places and octave of visits: n × copy × 2 × octave."""


def simulate_places(laws: VisitorLaws, weighing: Weighing, most: int) -> SimulatedPlaces:
    """Places of 0 to `most` visitors."""
    grid = visitor_grid(most)
    shape = (grid.size, COPIES)
    presence, returning, summed, entropy = np.zeros((4, *shape))
    sizes, visits = np.zeros((*shape, SIZE_OCTAVES)), np.zeros((*shape, 2, VISIT_OCTAVES))
    found = SimulatedPlaces(grid, presence, returning, summed, entropy, sizes, visits)
    drawing = _Drawing(weighing, VisitorWeights.under(laws, weighing), laws, laws.of_copies())
    first_large = _first_large(grid)
    for at in range(1, first_large + 1):
        drawing.draw(found, at, _drawn_visitors(grid, at))
    if first_large + 1 < grid.size:
        drawing.extend(found, first_large)
    # A cell of the grid stands for all n in it, as soon as there are others than its own.
    inside = STEP ** ((np.arange(COPIES) + 0.5) / COPIES - 0.5)
    inside = np.where(grid[:, None] >= 20, inside, 1.0)
    return found._replace(
        presence=found.presence * inside,
        summed=found.summed * inside,
        returning=found.returning * inside,
        entropy=found.entropy + np.where(grid[:, None] > 1, np.log(inside), 0.0),
        sizes=found.sizes * inside[:, :, None],
        visits=found.visits * inside[:, :, None, None],
    )


def _first_large(grid: Integers) -> int:
    """The position of the largest n whose visitors are drawn."""
    return min(int(np.searchsorted(grid, LARGE)), grid.size - 1)


def _drawn_visitors(grid: Integers, at: int) -> int:
    """How many are drawn for a place of the size with this position on the grid."""
    return min(int(grid[at]), LARGE)


def _chances(n: int, at: int) -> list[Reals]:
    """The chances of n visitors of each place of that size: for the octave of places, places, the octave of visits and
    visits.
    """
    return [spread_uniforms(n, 4 * at + stream).ravel() for stream in range(4)]


def prepare_chance(most: int) -> None:
    """Draw the chances of places of up to `most` visitors, which are kept: they are always the same."""
    grid = visitor_grid(most)
    for at in range(1, _first_large(grid) + 1):
        _chances(_drawn_visitors(grid, at), at)
        fixed_deviates(at)


class _Drawing(NamedTuple):
    """Places made of visitors."""

    weighing: Weighing
    weights: VisitorWeights
    laws: VisitorLaws
    of_copies: Reals

    def kinds(self, at: int, stream: int) -> Kinds:
        """The visitors of places of the size with this position on the grid."""
        return Kinds.of_places(self.laws, self.of_copies, at, stream)

    def draw(self, found: SimulatedPlaces, at: int, n: int) -> None:
        """Fill in places of n visitors, each drawn."""
        kinds = self.kinds(at, at)
        cap = self.weighing.cap
        chance = _chances(n, at)
        copy = np.repeat(np.arange(COPIES), n)
        octave = _drawn(kinds.sizes * self.weights.per_visitor, copy, chance[0])
        places = octaves.places(cap, chance[1], octave)
        often = _drawn(kinds.visits.reshape(-1, VISIT_OCTAVES), copy * SIZE_OCTAVES + octave, chance[2])
        visits = octaves.visits(chance[3], often)
        look, back, share = self.weights.of_visitors(octave, places, visits)
        equal = 1 / np.maximum(places, cap)
        found.presence[at] = look.reshape(COPIES, n).sum(axis=1)
        found.returning[at] = back.reshape(COPIES, n).sum(axis=1)
        found.summed[at] = share.reshape(COPIES, n).sum(axis=1)
        cell = copy * SIZE_OCTAVES + octave
        found.sizes[at] = np.bincount(cell, equal, COPIES * SIZE_OCTAVES).reshape(COPIES, -1)
        cell = (2 * copy + (octave >= self.weighing.many_from)) * VISIT_OCTAVES + often
        found.visits[at] = np.bincount(cell, equal, COPIES * 2 * VISIT_OCTAVES).reshape(COPIES, 2, -1)
        total = visits.reshape(COPIES, n).sum(axis=1)
        by_log = (visits * np.log(visits)).reshape(COPIES, n).sum(axis=1)
        found.entropy[at] = np.maximum(np.log(total) - by_log / total, 0.0) if n > 1 else 0.0

    def extend(self, found: SimulatedPlaces, first: int) -> None:
        """Fill in places beyond `first` by expectation; what chance did there matters less with the square root."""
        tables = self.weights.tables()
        base = self._expected(self.kinds(first, first), tables)
        n = min(float(found.visitors[first]), LARGE)
        luck = [
            drawn[first] / (n * expected) - 1
            for drawn, expected in zip((found.presence, found.returning, found.summed), base[:3], strict=True)
        ]
        gap_luck = np.log(n) - found.entropy[first] - base.gap
        for at in range(first + 1, found.visitors.size):
            # The same copies: their deviates are those of `first`.
            here = self._expected(self.kinds(at, first), tables)
            times = float(found.visitors[at])
            fading = (n / times) ** 0.5
            for drawn, expected, chance in zip(
                (found.presence, found.returning, found.summed), here[:3], luck, strict=True
            ):
                drawn[at] = times * expected * (1 + chance * fading)
            gap = np.maximum(here.gap + gap_luck * fading, 0.0)
            found.entropy[at] = np.maximum(np.log(times) - gap, 0.0)
            found.sizes[at] = times * here.sizes
            found.visits[at] = times * here.visits

    def _expected(self, kinds: Kinds, tables: tuple[Reals, ...]) -> _Expected:
        visitors = kinds.sizes * self.weights.per_visitor
        visitors /= visitors.sum(axis=1, keepdims=True)
        joint = visitors[:, :, None] * kinds.visits
        visits = octaves.visits_within()
        by_visits = joint.sum(axis=1)
        mean = by_visits @ visits.mean(axis=1)
        gap = by_visits @ (visits * np.log(visits)).mean(axis=1) / mean - np.log(mean)
        equal = joint / self.weights.per_visitor[:, None]
        many = self.weighing.many_from
        grouped = np.stack([equal[:, :many].sum(axis=1), equal[:, many:].sum(axis=1)], axis=1)
        look, back, summed = (np.maximum(np.einsum("cjk,jk->c", joint, table), 1e-300) for table in tables)
        return _Expected(look, back, summed, gap, equal.sum(axis=2), grouped)


class _Expected(NamedTuple):
    """For each visitor of each copy."""

    presence: Reals
    returning: Reals
    summed: Reals
    gap: Reals
    """ln n − H of a large place."""
    sizes: Reals
    visits: Reals


def _drawn(laws: Reals, row: NDArray[np.intp], chance: Reals) -> NDArray[np.intp]:
    """For each chance, the cell that the law in its row has reached there."""
    reached = np.cumsum(laws, axis=1)
    reached /= reached[:, -1:]
    rows = np.arange(len(laws))[:, None]
    cell = np.searchsorted((reached + rows).ravel(), chance * (1 - 1e-9) + row, side="right")
    within: NDArray[np.intp] = np.minimum(cell - row * laws.shape[1], laws.shape[1] - 1)
    return within
