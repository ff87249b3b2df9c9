"""Visit laws: the ways in which a place's visitors may differ in how often they come.

Entropy is ln n less what the visitors' differences take away. Whether a place is everybody's now and then, or ruled
by regulars, is its visit law: how likely a visitor's number of visits is in each octave. Several are offered,
and the split decides how common each law is: the visits profile of all presence, tilted towards few or many visits;
and laws of their own: log-normal ones of any middle, narrow (all come equally often) to wide, and a few regulars among
passers-by.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

TILTS: Final = (-0.9, -0.45, -0.2, 0.0, 0.2, 0.45, 0.9)
"""Octaves of visits become more likely by e^tilt each."""
TILT_SPREAD: Final = 0.35
"""How far places are tilted, before anything is known."""
MIDDLES: Final = (0.0, 1.0, 2.0, 3.0)
WIDTHS: Final = (0.25, 0.9, 1.6)
"""Of ln visits, in the log-normal laws."""
REGULARS: Final = (0.05, 0.15, 0.4)
REGULAR_VISITS: Final = (2.2, 3.6)
"""The part of regulars among passers-by, and the logarithm of how often they come."""
LIKE_ALL: Final = 0.5
"""How many places are like the profile of all, tilted or not, before anything is known."""
RARE: Final = 0.003
"""Laws that are rarer than this to begin with are left out."""
_ROUNDS: Final = 30


class VisitLaws(NamedTuple):
    """Laws over octaves of visits, a row each, and how common each is before the split is looked at."""

    laws: Reals
    common: Reals


def visit_laws(profile: Reals) -> VisitLaws:
    """Laws that together look like the visits profile."""
    tilts = np.array(TILTS)
    tilted = profile * np.exp(tilts[:, None] * np.arange(profile.size))
    tilted /= tilted.sum(axis=1, keepdims=True)
    bell = np.exp(-(tilts**2) / (2 * TILT_SPREAD**2))
    others = _laws_of_their_own(profile.size)
    laws = np.concatenate([tilted, others])
    common = np.concatenate([LIKE_ALL * bell / bell.sum(), (1 - LIKE_ALL) * _mixed(others, profile)])
    kept = common > RARE
    return VisitLaws(laws[kept], common[kept] / common[kept].sum())


def _laws_of_their_own(octaves: int) -> Reals:
    """Laws that owe nothing to the profile."""
    middling = [_log_normal(middle, width, octaves) for middle in MIDDLES for width in WIDTHS]
    passing = _log_normal(0.0, 0.4, octaves)
    ruled = [
        (1 - part) * passing + part * _log_normal(often, 0.6, octaves)
        for part in REGULARS
        for often in REGULAR_VISITS
    ]
    return np.array(middling + ruled)


def _mixed(laws: Reals, profile: Reals) -> Reals:
    """Weights that make the laws together look like the profile: a few rounds of expectation and maximisation."""
    weights = np.full(len(laws), 1.0 / len(laws))
    for _ in range(_ROUNDS):
        weights = weights * (laws @ (profile / (weights @ laws)))
        weights /= weights.sum()
    return weights


def _log_normal(middle: float, width: float, octaves: int) -> Reals:
    """A log-normal number of visits, rounded, by octave."""
    ends = [math.log(2.0**at + 0.5) for at in range(octaves - 1)]
    below = [0.5 * (1 + math.erf((end - middle) / (width * math.sqrt(2)))) for end in ends]
    law: Reals = np.maximum(np.diff([0.0, *below, 1.0]), 1e-12)
    normal: Reals = law / law.sum()
    return normal
