"""The laws of Laplace and Gaussian noise of scale 1: all that the inference knows of the difference between them.

The noise is discrete, on a lattice so fine (2^-20 of a user's unit) that the continuous laws stand for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind

    Reals = NDArray[np.float64]


def deviation(noise: NoiseKind) -> float:
    """The standard deviation."""
    return math.sqrt(2) if noise == "laplace" else 1.0


def to_log_density(noise: NoiseKind, value: Reals) -> Reals:
    """The logarithm of the density, up to a constant, in the place of the values: these are large tables."""
    if noise == "laplace":
        np.abs(value, out=value)
    else:
        np.square(value, out=value)
        value /= 2
    return np.negative(value, out=value)


def chance_below(noise: NoiseKind, value: Reals) -> Reals:
    """The cumulative distribution function."""
    if noise == "gaussian":
        below: Reals = ndtr(value)
        return below
    tail = 0.5 * np.exp(-np.abs(value))
    return np.where(value < 0, tail, 1 - tail)


def usual_largest(noise: NoiseKind, count: int) -> float:
    """What the largest of so many reaches at least, nearly always."""
    if noise == "laplace":
        return math.log(count) - 2.0
    return max(math.sqrt(2 * math.log(max(count, 2))) - 1.0, 1.0)
