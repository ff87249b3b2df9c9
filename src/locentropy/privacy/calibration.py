"""Noise for Limit-SS: how smooth the sensitivity must be for M data-dependent scales to stay within (ε, δ).

Claim. Neighbours differ in one user, hence in at most M locations; at each of them n changes by one, the lattice
value by at most ε₁/M of either scale, and the scale by a factor within e^±β. With the β of ``calibrate`` and the
scales of ``lattice_scales``, independent discrete Laplace noise on the integers is (ε, δ)-differentially private,
whether the user is added or removed.

Why. ε₁ pays for the changed values. ε₂ pays for the changed scales: their loss is that between M exponential
variables and the same with other rates, where all M scales shrinking by e^−β is the worst case; its δ has a
closed form of positive terms. The lattice costs a little of ε₂. Proof: docs/proofs/limit-ss.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.checks import positive_integer
from locentropy.core.errors import ParameterError
from locentropy.privacy.noise import LATTICE
from locentropy.privacy.smooth import SMALLEST_BETA, SmoothSensitivity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

ROUNDING_UNITS = 2
"""Lattice units added to a sensitivity: one for rounding two values, one for the rounding errors of logarithms."""

SMALLEST_SCALE = 100.0
"""Smallest noise scale in lattice units, about 10^-4 nats: below it the lattice would cost much of ε₂."""

MAX_LOCATIONS = 100_000
"""Largest M supported: the sum for δ has M terms."""

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-12, 1e4
"""The range of ε₂, and of ε, for which the sum for δ neither overflows nor loses precision."""

SMALLEST_SPLIT = 1e-6
"""Smallest part of ε for either the values or the scales."""

_LARGEST_BETA = 16.0  # a scale that may change by a factor of nine million is not smoothed at all
_LOG_MARGIN = 2.0**-20  # subtracted from ln δ: covers the float error of the sum for δ many times


@dataclass(frozen=True)
class Calibration:
    """What Limit-SS needs to draw its noise, and what it was derived from. All of it is public."""

    epsilon: float
    """ε in total."""
    delta: float
    """δ."""
    max_locations: int
    """M, the most locations of a user after bounding."""
    epsilon_1: float
    """ε₁, spent on changed values."""
    epsilon_2: float
    """ε₂, the rest, spent on changed scales; ε₁ + ε₂ ≤ ε."""
    beta: float
    """β, rounded down."""
    smallest_scale: float
    """No scale is below this, in lattice units."""


def calibrate(
    epsilon: float,
    delta: float,
    max_locations: int,
    *,
    split: float = 0.5,
    smallest_scale: float = SMALLEST_SCALE,
) -> Calibration:
    """Split ε into ε₁ = split·ε and ε₂, and find the largest β that ε₂ and δ allow on the lattice.

    split = 0.5 suits locations with few users; 0.9 to 0.98 almost halves the noise where n is large.
    """
    _check_budget(epsilon, delta, max_locations)
    max_locations = int(max_locations)  # NumPy's small integers would overflow in products
    if not (isinstance(split, float) and SMALLEST_SPLIT <= split <= 1.0 - SMALLEST_SPLIT):
        raise ParameterError(
            f"must be a float from {SMALLEST_SPLIT:g} to {1 - SMALLEST_SPLIT:g}.",
            parameter="split",
            value=split,
            example="calibrate(1.0, 1e-8, 5, split=0.5)",
        )
    if not (math.isfinite(smallest_scale) and smallest_scale >= SMALLEST_SCALE):
        raise ParameterError(
            f"must be finite and at least {SMALLEST_SCALE:g} lattice units.",
            parameter="smallest_scale",
            value=smallest_scale,
            example="calibrate(1.0, 1e-8, 5, smallest_scale=100.0)",
        )
    epsilon_1 = split * epsilon
    # The subtracted part makes ε₁ + ε₂ ≤ ε exact, also for the ε as written: as a float, 0.1 is a little more.
    epsilon_2 = epsilon - epsilon_1 - epsilon * 2.0**-50
    beta = largest_beta(
        epsilon_2, delta, max_locations, scale=max(smallest_scale, ROUNDING_UNITS * max_locations / epsilon_1)
    )
    return Calibration(epsilon, delta, max_locations, epsilon_1, epsilon_2, beta, smallest_scale)


def largest_beta(epsilon_2: float, delta: float, max_locations: int, *, scale: float = math.inf) -> float:
    """The largest β for which M scales, each changing by e^±β, cost at most (ε₂, δ); rounded down.

    ``scale`` is the smallest noise scale in lattice units; infinity gives the β of continuous noise.
    """
    _check_budget(epsilon_2, delta, max_locations)

    def affordable(beta: float) -> bool:
        left = epsilon_2 - lattice_cost(beta, max_locations, scale)
        return (
            left > 0.0
            and shrinking_is_worst(left, beta, max_locations)
            and log_mass(left, beta, max_locations) <= math.log(delta) - _LOG_MARGIN
        )

    low, high = SMALLEST_BETA, _LARGEST_BETA
    if not affordable(low):
        raise ParameterError(
            f"There is no usable noise for ε₂ = {epsilon_2!r}, δ = {delta!r} and M = {max_locations!r}: raise ε or δ, "
            "or lower M.",
            example="calibrate(1.0, 1e-8, 5)",
        )
    # Invariant: low is affordable. Nothing is assumed about what lies between, so the answer is always safe.
    while high / low > 1.0 + 2.0**-32:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if affordable(middle) else (low, middle)
    return low


def lattice_scales(
    calibration: Calibration,
    sensitivity: SmoothSensitivity,
    users: ArrayLike,
) -> Floats:
    """Scale of the discrete Laplace noise, in lattice units, for locations of ``users`` = n users each.

    b(n) = max(M·(S(n)·2^20 + 2)/ε₁, smallest_scale). A function of n: private, as n is.
    """
    if sensitivity.beta > calibration.beta:
        raise ParameterError(
            f"The sensitivity's beta={sensitivity.beta!r} must be at most the calibration's {calibration.beta!r}.",
            example="SmoothSensitivity(5, calibrate(1.0, 1e-8, 5).beta)",
        )
    units = sensitivity(users) * LATTICE + ROUNDING_UNITS
    return np.maximum(calibration.max_locations * units / calibration.epsilon_1, calibration.smallest_scale)


def lattice_cost(beta: float, max_locations: int, scale: float) -> float:
    """The part of ε₂ that the lattice costs: M·(e^β − 1)·(1/(2b) + 1/(4b²)), b the smallest scale."""
    return max_locations * math.expm1(beta) * (0.5 / scale + 0.25 / scale**2)


def shrinking_is_worst(epsilon_2: float, beta: float, max_locations: int) -> bool:
    """A sufficient condition for "all M scales shrink" to have the largest δ among all patterns of ±β.

    For each number j of shrinking scales among the other M−1, ε₂ must lie beyond the point from which the density of
    their loss falls, by a margin that is larger the slower it falls. Always true for M = 1.
    """
    growth, shrinkage = math.expm1(beta), -math.expm1(-beta)
    shrinking = np.arange(max_locations, dtype=np.float64)  # j
    growing = max_locations - 1.0 - shrinking
    # Two points from which the density falls: mean + √3 deviations; and, if any scale shrinks, the point from which
    # their gamma density falls even if the growing ones contribute their maximum.
    mean = shrinking * (growth - beta) + growing * (beta - shrinkage)
    falls_from = mean + np.sqrt(3.0 * (shrinking * growth**2 + growing * shrinkage**2))
    gamma = shrinking >= 1.0
    falls_from[gamma] = np.minimum(
        falls_from[gamma], (shrinking[gamma] - 1.0) * growth + (growing - shrinking)[gamma] * beta
    )
    rest = epsilon_2 + (shrinking - growing) * beta
    gamma &= rest > 0.0
    decay = np.zeros(max_locations)
    decay[gamma] = np.maximum(0.0, 1.0 / growth - (shrinking[gamma] - 1.0) / rest[gamma])
    needed = beta - growth * np.log1p(-np.exp(-beta * (1.0 + decay)) / (1.0 + (1.0 + decay) * growth))
    enough = epsilon_2 - falls_from >= needed * (1.0 + 2.0**-30)  # covers the rounding errors of these lines
    # If none shrinks, the others' loss is at most (M−1)β: below ε₂, a growing scale is never worse.
    enough[0] |= epsilon_2 >= growing[0] * beta * (1.0 + 2.0**-30)
    return bool(enough.all())


def log_mass(epsilon_2: float, beta: float, max_locations: int) -> float:
    """ln δ at ε₂ when all M scales shrink by e^−β.

    δ = SF(x) − e^(ε₂)·SF(x·e^β), SF the survival function of Gamma(M), x = (ε₂ + Mβ)/(e^β − 1); written as
    e^(−x)·Σ_{i<M} x^i/i!·(1 − e^(−(M−i)β)) it has positive terms only, so nothing cancels, however small δ is.
    """
    at = (epsilon_2 + max_locations * beta) / math.expm1(beta)
    power, log_factorial = _powers(max_locations)
    terms = power * math.log(at) - at - log_factorial + np.log(-np.expm1((power - max_locations) * beta))
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum()))


@lru_cache(maxsize=8)
def _powers(max_locations: int) -> tuple[Floats, Floats]:
    power = np.arange(max_locations, dtype=np.float64)
    return power, np.array([math.lgamma(i + 1.0) for i in power])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_budget(epsilon: float, delta: float, max_locations: int) -> None:
    if not (_is_number(epsilon) and SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON):
        raise ParameterError(
            f"must be a number from {SMALLEST_EPSILON:g} to {LARGEST_EPSILON:g}.",
            parameter="epsilon",
            value=epsilon,
            example="calibrate(1.0, 1e-8, 5)",
        )
    if not (_is_number(delta) and 0.0 < delta < 1.0):
        raise ParameterError(
            "must be a number above 0 and below 1.",
            parameter="delta",
            value=delta,
            example="calibrate(1.0, 1e-8, 5)",
        )
    positive_integer("max_locations", max_locations, "calibrate(1.0, 1e-8, 5)")
    if max_locations > MAX_LOCATIONS:
        raise ParameterError(
            f"must be at most {MAX_LOCATIONS}.",
            parameter="max_locations",
            value=max_locations,
            example="calibrate(1.0, 1e-8, 5)",
        )
