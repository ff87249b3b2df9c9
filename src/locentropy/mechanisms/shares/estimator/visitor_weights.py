"""What a visitor counts for in the answers: their share in the look, in the split and in the sums.

A user's share at a place is their weight there over the sum of all their weights (with a δ, over the root of the sum of
squares). Of the visitors of a simulated place only the weight there is drawn. Of the weights at the user's other places
mean and variance are known, by the laws of how often people come, and the share follows to second order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator import octaves
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS, RETURNING, SIZE_OCTAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind
    from locentropy.mechanisms.shares.estimator.visitor_laws import VisitorLaws

    Reals = NDArray[np.float64]

_LOOK_WEIGHTS: Final = np.array(LOOK_WEIGHTS) / LOOK_WEIGHTS[0]


class Weighing(NamedTuple):
    """What a visitor counts for in the answers; public."""

    noise: NoiseKind
    cap: float
    many_from: int
    clear: float
    """The part of all rows that are at places asked for their split."""


def _look_weight(visits: Reals) -> Reals:
    """The weight in the look of so many visits, one visit being 1."""
    weight: Reals = _LOOK_WEIGHTS[np.minimum(visits, _LOOK_WEIGHTS.size).astype(np.intp) - 1]
    return weight


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


class VisitorWeights(NamedTuple):
    """What a visitor of each octave of places counts for."""

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
    def under(cls, laws: VisitorLaws, weighing: Weighing) -> VisitorWeights:
        """Where people come as often as these laws say."""
        usual, visits = laws.of_visitors(), octaves.visits_within()
        weight = _look_weight(visits)
        return cls(
            weighing,
            1 / octaves.mean_share(weighing.cap),
            _Moments.of(usual, weight),
            _Moments.of(usual, weight**2),
            usual @ (visits >= RETURNING).mean(axis=1),
        )

    def of_visitors(
        self, octave: NDArray[np.intp], places: Reals, visits: Reals
    ) -> tuple[Reals, Reals, Reals]:
        """The weights of visitors in the look, in the split and in the sums."""
        cap = self.weighing.cap
        # Of a returning visitor's other places, each is one to return to with this chance: 1 + a binomial number.
        chance = np.clip(self.weighing.clear * self.coming_back[octave], 1e-9, 1 - 1e-9)
        weight, others = _look_weight(visits), places - 1
        share = np.minimum(_over_sum(weight, others, self.weight, octave), 1 / cap)
        if self.weighing.noise == "laplace":
            look = share
            back = np.minimum(-np.expm1(places * np.log1p(-chance)) / (places * chance), 1 / cap)
        else:
            look = np.minimum(_over_norm(weight, others, self.squared, octave), 1.0)
            mean, variance = 1 + others * chance, others * chance * (1 - chance)
            back = np.minimum((1 + 0.375 * variance / mean**2) / np.sqrt(mean), 1.0)
        return look, np.where(visits >= RETURNING, back, 0.0), share

    def tables(self) -> tuple[Reals, ...]:
        """Mean weights in look, split and sums, by octave of places and octave of visits."""
        places = octaves.places_within(self.weighing.cap)[:, None, ::4, None]
        visits = octaves.visits_within()[None, :, None, ::4]
        octave = np.arange(SIZE_OCTAVES)[:, None, None, None]
        weights = self.of_visitors(*np.broadcast_arrays(octave, places, visits))
        return tuple(each.mean(axis=(2, 3)) for each in weights)

    def presence_per_user(self, laws: VisitorLaws) -> float:
        """The mean presence of a user in the look, all their places together."""
        look = (laws.of_visitors() * self.tables()[0]).sum(axis=1)
        return float(laws.sizes @ (look * self.per_visitor))
