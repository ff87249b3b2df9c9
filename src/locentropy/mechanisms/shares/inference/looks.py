"""Looks: the noisy presence of all places, put into bins so that the work does not grow with their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

WIDTH: Final = 0.06
"""Of a bin: in units of the noise for small looks, relative for large ones. Far below what noise blurs."""


class Looks(NamedTuple):
    """The looks by bin."""

    middle: Reals
    """The mean look of each bin, ascending."""
    places: Integers
    """How many places are in it."""
    bin_of: NDArray[np.intp]
    """The bin of each place."""


def binned(look: Reals, scale: float) -> Looks:
    """Bins of looks, empty ones left out."""
    key = np.rint(np.arcsinh(look / scale) / WIDTH).astype(np.int64)
    _, bin_of, places = np.unique(key, return_inverse=True, return_counts=True)
    middle = np.bincount(bin_of, weights=look) / places
    return Looks(middle, places, bin_of)


def likelihood(presence: Reals, looks: Looks, scale: float) -> Reals:
    """How likely each bin's look is at each presence, the likeliest counting 1: presence × bin."""
    away: Reals = np.abs(presence[:, None] - looks.middle) / scale
    away -= away.min(axis=0)
    np.exp(-away, out=away)
    return away
