"""How far a published value is off on average, by the number n of users who count at a place.

The noise X is discrete Laplace of scale b on the lattice; with r = e^(−1/b),

    E|X| = 2r/(1 − r²),    E min(X⁺, a) = r(1 − r^a)/(1 − r²) for whole a ≥ 0.

A published value is cut to what is possible: not below 0, and not above U = ln(max_users) where that is given. A place
of bounded entropy h is hence off by E min(X⁻, h) + E min(X⁺, U − h) on average. h is private; a place of n users has
some h in [0, ln n], and the sum is largest at h = min(ln n, U/2). That largest value is the expected error given here:
a bound for every place of n users. It leaves out the rounding to the lattice, 2^-21 at most.

n and h are not read off anything: these are functions, evaluated at numbers that somebody made up.

Moments adds its noise to something else than the entropy; its errors are in `moments_accuracy`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from locentropy.mechanisms.limit_cb import LimitCB
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.limit_ss import LimitSS
from locentropy.mechanisms.moments import Moments
from locentropy.planning.moments_accuracy import moments_errors, moments_noise
from locentropy.privacy.calibration import lattice_scales
from locentropy.privacy.noise import LATTICE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.select_locations import SelectLocations

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]


def mean_noise(mechanism: Any, users: Integers) -> Reals:
    """The mean size of the noise in nats, at each number of users, before a value is cut to what is possible."""
    if isinstance(mechanism, Moments):
        return moments_noise(mechanism, users)
    return expected_noise(noise_scales(mechanism, users))


def mean_errors(mechanism: Any, users: Integers) -> Reals:
    """The largest expected |published − bounded entropy|, in nats, among all places of so many users."""
    if isinstance(mechanism, Moments):
        return moments_errors(mechanism, users)
    return expected_errors(noise_scales(mechanism, users), users, mechanism.max_users)


def noise_scales(mechanism: Any, users: Integers) -> Reals:
    """b, in lattice units, of the noise on an entropy of so many users. Only that of Limit-SS depends on them."""
    if isinstance(mechanism, LimitSS):
        return lattice_scales(mechanism.calibration, mechanism.sensitivity, users)
    return np.full(users.shape, float(mechanism.scale))


def chances(mechanism: Any, selection: SelectLocations | None, users: Integers) -> Reals:
    """How likely a place of so many users is published."""
    if selection is not None:
        return selection.curve.probability(users)
    if isinstance(mechanism, LimitPTR):
        return mechanism.curve.probability(users - mechanism.min_users)
    if isinstance(mechanism, LimitCB):
        return (users >= mechanism.min_users).astype(np.float64)
    return np.ones(users.shape)


def expected_noise(scales: Reals) -> Reals:
    """E|X| in nats."""
    return 2.0 * _one_side(scales)


def expected_errors(scales: Reals, users: Integers, max_users: int | None) -> Reals:
    """The largest expected |published − bounded entropy|, in nats, among all places of so many users."""
    most = math.inf if max_users is None else math.log(max_users)
    entropy = np.minimum(_largest_entropy(users), most / 2)
    widths = scales / LATTICE
    below, above = -np.expm1(-entropy / widths), -np.expm1(-(most - entropy) / widths)
    errors: Reals = _one_side(scales) * (below + above)
    return errors


def guess_errors(users: Integers) -> Reals:
    """How far ln(n)/2 can be off: the middle of what is possible, the best guess of who knows n and nothing else."""
    return _largest_entropy(users) / 2


def _one_side(scales: Reals) -> Reals:
    """E X⁺ = r/(1 − r²), in nats."""
    return np.exp(-1.0 / scales) / -np.expm1(-2.0 / scales) / LATTICE


def _largest_entropy(users: Integers) -> Reals:
    """ln n, and 0 where nobody is."""
    return np.log(np.maximum(users, 1))
