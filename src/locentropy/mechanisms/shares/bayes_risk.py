"""The error that no reading of a noisy look can beat, for places whose crowds follow a supposed law.

A place has n visitors, n Poisson around a log-normal of a given mean and width; each visitor is at k places, so the
presence at the place is about n/k, and scatters; noise of a public scale is added. Whoever sees only that, and knows
the law, errs in ln n by the root of E[Var(ln n | look)]: the Bayes risk. What visits add to the split of entropy beyond
the number of visitors is a further deviation. All numbers here are supposed; none is read off data.

`family` is the set of laws that cities may follow, from even to steep: the range of risks over it is what a plan tells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind

    Reals = NDArray[np.float64]

WIDTHS: Final = (0.8, 1.3, 1.8)
"""Standard deviation of the logarithm of the crowds of a city's places, from even to steep."""
SPLITS: Final = (0.1, 0.5)
"""Nats: how far places of equal crowds differ in how their visits are split."""
PLACES_PER_PERSON: Final = (3.0, 8.0, 20.0)
"""Where nobody says how many places a person visits, between a few and dozens."""

BUSY: Final = 100
"""Visitors from which on a place is called busy here."""

_SCATTER: Final = 0.2
"""Standard deviation, in part, of the presence that visitors of one place bring, between places."""
_HARDLY_ANY: Final = 1e-4
_COPIES: Final = 12
_SMALL: Final = 30
GRID: Final = np.unique(np.r_[np.arange(_SMALL), np.round(_SMALL * 1.12 ** np.arange(130))])
"""Numbers of visitors: each small one, then in steps of an eighth."""


@dataclass(frozen=True)
class LookNoise:
    """The noise on the presence at a place, where one person's presence over all places is 1."""

    kind: NoiseKind
    scale: float
    cap: float
    """M: a person counts at a place with at most 1/M."""

    def shares(self, places_per_person: float) -> tuple[float, float]:
        """The mean presence that a visitor brings, and its mean square."""
        # People differ in how many places they have: log-normal of width 0.8, which visitors meet weighted by places.
        people = np.maximum(places_per_person * np.exp(0.8 * normal_quantiles(64) - 0.32), 1.0)
        weights = people / people.sum()
        share = people**-0.5 if self.kind == "gaussian" else 1 / np.maximum(people, self.cap)
        return float(weights @ share), float(weights @ share**2)


@dataclass(frozen=True)
class Risk:
    """Mean squared errors in nats², over all places."""

    error: float
    """What is left after the look."""
    spread: float
    """What one number for all places would leave."""
    busy: float
    """What is left at places with at least `BUSY` visitors; NaN where there are none."""
    split: float
    """Of the first two, what no look tells: how visits are split among visitors."""
    width: float
    """Of the law of crowds."""

    def after(self, part: float) -> float:
        """The error where earlier releases leave this part of what a look leaves open; they say nothing of splits."""
        return (self.error - self.split) * part + self.split


def family(noise: LookNoise, people_per_location: float, places_per_person: float | None) -> tuple[Risk, ...]:
    """The risk in every kind of city."""
    supposed = PLACES_PER_PERSON if places_per_person is None else (max(places_per_person, 1.0),)
    return tuple(
        risk(noise, people_per_location * each, each, width, split)
        for each in supposed
        for width in WIDTHS
        for split in SPLITS
    )


def risk(noise: LookNoise, visitors: float, places_per_person: float, width: float, split: float) -> Risk:
    """The risk where places have so many visitors on average."""
    crowds = _crowds(visitors, width)
    entropy = np.log(np.maximum(GRID, 1.0))
    joint = crowds[:, None] * look_law(noise, places_per_person)
    by_look = np.maximum(joint.sum(axis=0), 1e-300)
    mean = entropy @ joint / by_look
    variance = entropy**2 @ joint / by_look - mean**2
    # Nobody can split the visits of a place with one visitor.
    beyond = float(crowds @ np.minimum(split, split * entropy) ** 2)
    spread = float(crowds @ entropy**2 - (crowds @ entropy) ** 2)
    busy = joint[GRID >= BUSY]
    off = (mean - entropy[GRID >= BUSY, None]) ** 2
    at_busy = float((busy * off).sum() / busy.sum()) + split**2 if busy.sum() > _HARDLY_ANY else math.nan
    return Risk(float(by_look @ np.maximum(variance, 0.0)) + beyond, spread + beyond, at_busy, beyond, width)


@cache
def normal_quantiles(number: int) -> Reals:
    """Standard normal deviates, evenly spaced in probability."""
    normal = NormalDist()  # a plan does without SciPy, which takes longer to load than a plan to make
    return np.array([normal.inv_cdf((at + 0.5) / number) for at in range(number)])


@lru_cache(maxsize=256)
def _crowds(visitors: float, width: float) -> Reals:
    """How common each number of visitors is."""
    around = np.exp(math.log(visitors) - width**2 / 2 + width * normal_quantiles(200))
    few = around[around < _SMALL]
    counts = np.arange(4 * _SMALL)
    factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    poisson = np.exp(counts * np.log(few)[:, None] - few[:, None] - factorials).sum(axis=0)
    middles = (GRID[1:] + GRID[:-1]) / 2
    law = np.bincount(np.searchsorted(middles, counts), weights=poisson, minlength=GRID.size)
    # Of larger crowds, chance is a small part.
    law += np.bincount(np.searchsorted(middles, around[around >= _SMALL]), minlength=GRID.size)
    crowds: Reals = law / law.sum()
    return crowds


@lru_cache(maxsize=64)
def look_law(noise: LookNoise, places_per_person: float) -> Reals:
    """How likely each noisy look is at each number of visitors."""
    share, square = noise.shares(places_per_person)
    chance = GRID * max(square - share**2, 0.0)
    deviation = np.sqrt(chance + (_SCATTER * share * GRID) ** 2)
    presence = GRID[:, None] * share + deviation[:, None] * normal_quantiles(_COPIES)
    looks = noise.scale * np.r_[np.arange(-8, 8, 0.25), 8 * 1.08 ** np.arange(170)]
    off = (looks - np.maximum(presence, 0.0)[:, :, None]) / noise.scale
    density = np.exp(-np.abs(off) if noise.kind == "laplace" else -0.5 * off**2).mean(axis=1)
    density *= np.gradient(looks)
    # A crowd whose presence is beyond the last look, or between two, is read without error.
    total = density.sum(axis=1, keepdims=True)
    law: Reals = density / np.maximum(total, 1e-300)
    return law
