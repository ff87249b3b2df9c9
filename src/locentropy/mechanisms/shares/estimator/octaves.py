"""What a cell of the histograms stands for: octaves of a user's places, and of their visits to one place.

Within an octave, whole numbers are evenly spread in the logarithm.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

WITHIN: Final[NDArray[np.float64]] = (np.arange(64) + 0.5) / 64
"""Quantiles at which a mean over an octave is taken."""


def places(cap: float, quantile: Reals, octave: NDArray[np.intp]) -> Reals:
    """The number of places of a user in an octave: ≤ M, ≤ 2M, ≤ 4M, …"""
    low = cap * 2.0 ** (np.clip(octave, 1, SIZE_OCTAVES - 1) - 1)
    drawn = np.minimum(np.ceil(low * 2.0**quantile * (1 - 1e-12)), np.floor(2 * low))
    return np.where(octave == 0, 1.0, drawn)


def visits(quantile: Reals, octave: NDArray[np.intp]) -> Reals:
    """The visits of a user in an octave: 1, 2, 3–4, 5–8, …"""
    low = np.where(octave > 0, 2.0 ** (np.maximum(octave, 1) - 1) + 1, 1.0)
    high = 2.0**octave + 1
    return np.floor(low * (high / low) ** quantile)


@cache
def places_within(cap: float) -> Reals:
    """Places of users in each octave at the quantiles `WITHIN`: octave × quantile."""
    octave = np.repeat(np.arange(SIZE_OCTAVES)[:, None], WITHIN.size, axis=1)
    return places(cap, np.broadcast_to(WITHIN, octave.shape), octave)


@cache
def visits_within() -> Reals:
    """Visits of users in each octave at the quantiles `WITHIN`: octave × quantile."""
    octave = np.repeat(np.arange(VISIT_OCTAVES)[:, None], WITHIN.size, axis=1)
    return visits(np.broadcast_to(WITHIN, octave.shape), octave)


def mean_share(cap: float) -> Reals:
    """The mean equal share of a visitor from each octave: its presence over this is how many visitors it has."""
    shares: Reals = (1.0 / np.maximum(places_within(cap), cap)).mean(axis=1)
    return shares


def possible_sizes(cap: float, listed: int) -> int:
    """How many of the first octaves of places anybody can be in: nobody is at more places than the list has."""
    begins = np.concatenate([[0.0], cap * 2.0 ** np.arange(SIZE_OCTAVES - 1)])
    return int(np.count_nonzero(begins < listed))
