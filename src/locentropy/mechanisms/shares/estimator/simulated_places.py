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
from scipy.special import ndtri

from locentropy.mechanisms.shares.estimator import octaves
from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES, fixed_deviates, spread_uniforms
from locentropy.mechanisms.shares.estimator.tilts import size_tilt, visit_tilt
from locentropy.mechanisms.shares.stages import RETURNING, SIZE_OCTAVES, VISIT_OCTAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

LARGE: Final = 256
"""Visitors beyond which expectations are used."""
STEP: Final = 1.15
"""Ratio of neighbours on the grid of n, from some n on."""
FADE: Final = 0.5
"""A user's presence at a place falls with their own visits to it as visits^-FADE: the weights of the look."""
LARGEST_TILT: Final = 2.0

_SIZES: Final = np.arange(SIZE_OCTAVES)


MIXED: Final = 48
"""The first so many copies are places where all kinds of visitors mix; at the others all come about equally often."""
ALIKE: Final = 0.8
"""Standard deviation of the octave of visits within such a place."""
STRATUM: Final[NDArray[np.intp]] = np.concatenate(
    [np.arange(MIXED) // 8, MIXED // 8 + np.arange(COPIES - MIXED) // 4]
)
"""Copies with about the same tilt, or the same level, of visits: a stratum of places that may be common or rare."""
ONE_KIND_STRATA: Final = 4
USUAL_STRATA: Final[NDArray[np.float64]] = np.concatenate([np.full(6, 0.85 / 6), np.full(4, 0.15 / 4)])
"""How common each is before anything is seen."""
_DEVIATES: Final = np.concatenate([ndtri((np.arange(MIXED) + 0.5) / MIXED), np.zeros(COPIES - MIXED)])
_LEVELS: Final = (np.arange(COPIES - MIXED) + 0.5) / (COPIES - MIXED)


def visitor_grid(most: int) -> Integers:
    """n = 0, 1, 2, … and then in steps of 15 %, up to `most`."""
    grid = list(range(9))
    while grid[-1] < most:
        grid.append(round(max(grid[-1] * STEP, grid[-1] + 1)))
    return np.array(grid, dtype=np.int64)


class VisitorLaws(NamedTuple):
    """Who comes to places of each size."""

    sizes: Reals
    """Presence of all by octave of the visitor's places; sums to one."""
    usual_visits: Reals
    """How often a visitor in the middle of `sizes` comes to a place, by octave; sums to one,"""
    visits: Reals
    """and to places of each n of the grid: n × octave,"""
    steepness: Reals
    """The tilt of visits for a visitor of each octave of places: who has more places comes more often."""
    size_tilts: Reals
    """The tilt of `sizes` at places of each n of the grid,"""
    size_scatter: Reals
    """its standard deviation among them,"""
    size_extra: Reals
    """and the logarithm of what the tilt does not explain: n × octave."""
    visit_scatter: float
    """The standard deviation among places of the tilt of visits."""


class Weighing(NamedTuple):
    """What a visitor counts for in the answers; public."""

    noise: NoiseKind
    cap: float
    many_from: int
    clear: float
    """The part of all rows that are at places asked for their split."""


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
    drawing = _Drawing.under(laws, weighing)
    first_large = min(int(np.searchsorted(grid, LARGE)), grid.size - 1)
    for at in range(1, first_large + 1):
        kinds = _Kinds.of_places(laws, at, at)
        drawing.draw(found, at, kinds, min(int(grid[at]), LARGE))
    if first_large + 1 < grid.size:
        drawing.extend(found, first_large, laws)
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


def presence_per_user(laws: VisitorLaws, weighing: Weighing) -> float:
    """The mean presence of a user in the look, all their places together."""
    drawing = _Drawing.under(laws, weighing)
    usual = _usual_visits(laws)
    look = (usual * drawing._tables()[0]).sum(axis=1)
    return float(laws.sizes @ (look * drawing.per_visitor))


def _usual_visits(laws: VisitorLaws) -> Reals:
    """How often a visitor of each octave of places comes to a place: octave × octave."""
    usual = laws.usual_visits * np.exp(visit_tilt(np.clip(laws.steepness, -LARGEST_TILT, LARGEST_TILT)))
    normal: Reals = usual / usual.sum(axis=1, keepdims=True)
    return normal


class _Kinds(NamedTuple):
    """The visitors of each copy of a place."""

    sizes: Reals
    """How likely a visitor is in each octave of places: copy × octave,"""
    visits: Reals
    """and of visits, for each octave of places: copy × octave × octave."""

    @classmethod
    def of_places(cls, laws: VisitorLaws, at: int, stream: int) -> _Kinds:
        """At places of the size with this position on the grid."""
        of_sizes = laws.size_tilts[at] + laws.size_scatter[at] * fixed_deviates(stream)
        sizes = laws.sizes * np.exp(size_tilt(of_sizes) + laws.size_extra[at])
        tilt = (laws.visit_scatter * _DEVIATES)[:, None] + laws.steepness
        visits = laws.visits[at] * np.exp(visit_tilt(np.clip(tilt, -LARGEST_TILT, LARGEST_TILT)))
        # Where all come about equally often, the place has a level of its own, as common as such visitors are.
        usual = (laws.sizes * np.exp(laws.size_extra[at]))[:, None] * visits[MIXED]
        reached = np.cumsum(usual.sum(axis=0)) / usual.sum()
        level = np.interp(_LEVELS, reached, np.arange(VISIT_OCTAVES) + 0.5)
        near = np.exp(-((np.arange(VISIT_OCTAVES) - level[:, None]) ** 2) / (2 * ALIKE**2))
        visits[MIXED:] *= near[:, None, :] + 1e-12
        return cls(sizes / sizes.sum(axis=1, keepdims=True), visits / visits.sum(axis=2, keepdims=True))


class _Moments(NamedTuple):
    """Mean and variance of a number of a user's place, by octave of the user's places."""

    mean: Reals
    variance: Reals

    @classmethod
    def of(cls, laws: Reals, values: Reals) -> _Moments:
        """Under laws of visits (row × octave), from values within the octaves (octave × quantile)."""
        mean = laws @ values.mean(axis=1)
        return cls(mean, np.maximum(laws @ (values**2).mean(axis=1) - mean**2, 0.0))


def _over_sum(own: Reals, others: Reals, weight: _Moments, octave: NDArray[np.intp]) -> Reals:
    """The mean of own / (own + the weights of the others), to second order in how these vary."""
    total = own + others * weight.mean[octave]
    return own / total * (1 + others * weight.variance[octave] / total**2)


def _over_norm(own: Reals, others: Reals, squared: _Moments, octave: NDArray[np.intp]) -> Reals:
    """The mean of own / the root of the sum of squares, in the same way."""
    total = own**2 + others * squared.mean[octave]
    return own / np.sqrt(total) * (1 + 0.375 * others * squared.variance[octave] / total**2)


class _Drawing(NamedTuple):
    """What a visitor of each octave counts for, and places made of such visitors."""

    weighing: Weighing
    per_visitor: Reals
    """Visitors for each unit of presence, by octave of places."""
    weight: _Moments
    """Of the weights of a user's places, by octave of the user's places: one's own is divided by the sum of all,"""
    squared: _Moments
    """and of their squares."""
    coming_back: Reals
    """The part of the places of a user where they return, by octave of places."""

    @classmethod
    def under(cls, laws: VisitorLaws, weighing: Weighing) -> _Drawing:
        usual, visits = _usual_visits(laws), octaves.visits_within()
        return cls(
            weighing,
            1 / octaves.mean_share(weighing.cap),
            _Moments.of(usual, visits**-FADE),
            _Moments.of(usual, visits ** (-2 * FADE)),
            usual @ (visits >= RETURNING).mean(axis=1),
        )

    def weights(self, octave: NDArray[np.intp], places: Reals, visits: Reals) -> tuple[Reals, Reals, Reals]:
        """The weights of visitors in the look, in the split and in the sums."""
        cap = self.weighing.cap
        # Of a returning visitor's other places, each is one to return to with this chance: 1 + a binomial number.
        chance = np.clip(self.weighing.clear * self.coming_back[octave], 1e-9, 1 - 1e-9)
        weight, others = visits**-FADE, places - 1
        share = np.minimum(_over_sum(weight, others, self.weight, octave), 1 / cap)
        if self.weighing.noise == "laplace":
            look = share
            back = np.minimum(-np.expm1(places * np.log1p(-chance)) / (places * chance), 1 / cap)
        else:
            look = np.minimum(_over_norm(weight, others, self.squared, octave), 1.0)
            mean, variance = 1 + others * chance, others * chance * (1 - chance)
            back = np.minimum((1 + 0.375 * variance / mean**2) / np.sqrt(mean), 1.0)
        return look, np.where(visits >= RETURNING, back, 0.0), share

    def draw(self, found: SimulatedPlaces, at: int, kinds: _Kinds, n: int) -> None:
        """Fill in places of n visitors, each drawn."""
        cap = self.weighing.cap
        chance = [spread_uniforms(n, 4 * at + stream).ravel() for stream in range(4)]
        copy = np.repeat(np.arange(COPIES), n)
        octave = _drawn(kinds.sizes * self.per_visitor, copy, chance[0])
        places = octaves.places(cap, chance[1], octave)
        often = _drawn(kinds.visits.reshape(-1, VISIT_OCTAVES), copy * SIZE_OCTAVES + octave, chance[2])
        visits = octaves.visits(chance[3], often)
        look, back, share = self.weights(octave, places, visits)
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

    def extend(self, found: SimulatedPlaces, first: int, laws: VisitorLaws) -> None:
        """Fill in places beyond `first` by expectation; what chance did there matters less with the square root."""
        tables = self._tables()
        base = self._expected(_Kinds.of_places(laws, first, first), tables)
        n = min(float(found.visitors[first]), LARGE)
        luck = [
            drawn[first] / (n * expected) - 1
            for drawn, expected in zip((found.presence, found.returning, found.summed), base[:3], strict=True)
        ]
        gap_luck = np.log(n) - found.entropy[first] - base.gap
        for at in range(first + 1, found.visitors.size):
            # The same copies: their deviates are those of `first`.
            kinds = _Kinds.of_places(laws, at, first)
            here = self._expected(kinds, tables)
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

    def _tables(self) -> tuple[Reals, ...]:
        """Mean weights in look, split and sums, by octave of places and octave of visits."""
        places = octaves.places_within(self.weighing.cap)[:, None, ::4, None]
        visits = octaves.visits_within()[None, :, None, ::4]
        octave = np.arange(SIZE_OCTAVES)[:, None, None, None]
        weights = self.weights(*np.broadcast_arrays(octave, places, visits))
        return tuple(each.mean(axis=(2, 3)) for each in weights)

    def _expected(self, kinds: _Kinds, tables: tuple[Reals, ...]) -> _Expected:
        visitors = kinds.sizes * self.per_visitor
        visitors /= visitors.sum(axis=1, keepdims=True)
        joint = visitors[:, :, None] * kinds.visits
        visits = octaves.visits_within()
        by_visits = joint.sum(axis=1)
        mean = by_visits @ visits.mean(axis=1)
        gap = by_visits @ (visits * np.log(visits)).mean(axis=1) / mean - np.log(mean)
        equal = joint / self.per_visitor[:, None]
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
