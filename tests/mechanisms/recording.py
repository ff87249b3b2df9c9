"""A mechanism seen from outside: made-up crowds go in, and what it asks of the noise is written down.

``measured`` gives, for each location, the integer that was noised, the scale it was noised with, and the probability that
it is published at all: the whole law of the release, taken from the mechanism and not from its formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.locations import Locations
from locentropy.core.shares import ShareRule
from locentropy.core.visit_profile import VisitProfile
from locentropy_lab.audit import subjects
from locentropy_lab.audit.subjects import Crowd


class CrowdQueries(subjects.CrowdQueries):
    """`Queries` on made-up crowds, which remember what they were asked."""

    def __init__(self, crowds: list[Crowd], ids: list[str] | None = None) -> None:
        super().__init__(crowds, ids)
        self.asked: list[Bounds | ShareRule] = []

    def profile(self, bounds: Bounds) -> VisitProfile:
        self.asked.append(bounds)
        return super().profile(bounds)

    def look(self, rule: ShareRule) -> np.ndarray:
        self.asked.append(rule)
        return super().look(rule)


class Recorder:
    """`Noise` that adds nothing, lets every coin fall the same way, and remembers what it was asked for."""

    private = False

    def __init__(self, coin: bool = False) -> None:
        self.coin = coin
        self.values = np.zeros(0, dtype=np.int64)
        self.scales = np.zeros(0)
        self.coins: np.ndarray | None = None

    def laplace(self, values, scale):
        return self.laplace_each(values, np.full(np.shape(values), float(scale)))

    def laplace_each(self, values, scales):
        assert self.values.size == 0, "one draw per release"
        self.values, self.scales = np.array(values), np.array(scales)
        return self.values.copy()

    def bernoulli_each(self, probabilities):
        assert self.coins is None, "one row of coins per release"
        self.coins = np.array(probabilities)
        return np.full(self.coins.shape, self.coin)


@dataclass(frozen=True)
class Measured:
    """The law of a release, location by location."""

    values: list[int]
    scales: list[float]
    chances: list[Fraction]
    """With which probability a location is published; its value and scale are meaningless where this is 0."""


def measured(mechanism, crowds: list[Crowd]) -> Measured:
    """Run the mechanism with all coins one way and then the other: each location is published in one of the runs."""
    queries = CrowdQueries(crowds)
    places = Locations(queries.locations)
    values, scales = np.zeros(len(crowds), dtype=np.int64), np.ones(len(crowds))
    for coin in (True, False):
        noise = Recorder(coin)
        shown = ~np.isnan(mechanism.estimate(mechanism.measure(queries, places, noise), places).entropy)
        values[shown], scales[shown] = noise.values, noise.scales
    tails = np.zeros(len(crowds)) if noise.coins is None else noise.coins
    small = [Fraction(float(tail)) for tail in tails]
    chances = [1 - tail if named else tail for tail, named in zip(small, shown, strict=True)]
    return Measured(values.tolist(), scales.tolist(), chances)
