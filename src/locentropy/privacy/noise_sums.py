"""The law of a sum of noise: what it stays below, and with which probability. Public numbers alone.

Noise is independent and symmetric, so the law of a sum follows from the product φ of the characteristic functions. For
every |x| + |sum| < L

    P(sum ≤ x) = 1/2 + (2/π) · Σ_{k = 1, 3, 5, …} sin(kπx/L)·φ(kπ/L)/k

which is the Fourier series of a square wave, in its mean. It holds for one draw as for a million: no limit theorem is
needed. L is so large that a sum beyond it has probability below 1e-12; the series ends where its rest is below 1e-7.
Discrete noise is on a lattice so fine that the continuous laws stand for it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

NoiseKind = Literal["laplace", "gaussian"]

SURE: Final = 0.5 * (1 + math.erf(3 / math.sqrt(2)))
"""99.86 %: what Gaussian noise has below three standard deviations."""

_FARTHEST: Final = 25.0
"""L in standard deviations of the sum: that of one Laplace draw is beyond with probability e^(−25·√2)."""
_TERMS: Final = 2**14
_STEPS: Final = 45


def deviation(noise: NoiseKind, scales: tuple[float, ...], draws: int) -> float:
    """The standard deviation of the sum of so many draws of each scale."""
    each = math.sqrt(2) if noise == "laplace" else 1.0
    return each * math.sqrt(draws) * math.hypot(*scales)


@cache
def usual_most(noise: NoiseKind, scales: tuple[float, ...], draws: int) -> float:
    """What the sum stays below with probability `SURE`: 3 deviations if Gaussian, 4.18 for a single Laplace draw."""
    total = deviation(noise, scales, draws)
    if noise == "gaussian":
        return 3.0 * total
    weights = sum_weights(noise, tuple(scale / total for scale in scales), draws)
    low, high = 2.0, 6.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if chance_below(weights, middle) < SURE else (low, middle)
    return high * total


def sum_weights(noise: NoiseKind, scales: tuple[float, ...], draws: int) -> Reals:
    """φ(kπ/L)/k for odd k, of a sum whose deviation is 1."""
    odd = np.arange(1, 2 * _TERMS, 2, dtype=np.float64)
    squares = (odd * (math.pi / _FARTHEST)) ** 2
    if noise == "gaussian":
        logs = sum((scale**2 * squares / 2 for scale in scales), np.zeros(odd.size))
    else:
        logs = sum((np.log1p(scale**2 * squares) for scale in scales), np.zeros(odd.size))
    weights: Reals = np.exp(-draws * logs) / odd
    return weights


def chance_below(weights: Reals, at: float) -> float:
    """The probability that the sum with these weights is not above so many of its deviations."""
    odd = np.arange(1, 2 * weights.size, 2, dtype=np.float64)
    return 0.5 + 2 / math.pi * float(np.sin(odd * (math.pi * at / _FARTHEST)) @ weights)
