"""The paper's algorithms as they are printed, faults included, to compare its figures with. Never for publication.

Several of them do not give what the paper promises: docs/paper-errata.md has the list, with a counterexample for
each, and tests/lab/reproduction/test_as_printed.py finds these in the functions below. What this package publishes with
is in `mechanisms/`, which cannot reach this module. The noise is floating-point Laplace noise from a public seed, and
every result says that it is not private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.checks import check_whole, positive_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrintedEstimates:
    """Noisy entropies by the paper's recipe."""

    entropy: Reals
    """In nats; NaN where a location is thrown away. Not clipped."""

    private: bool = False
    """Never."""


def theorem_1(max_visits: int) -> float:
    """Global sensitivity: max{ln 2, ln C − ln(ln C) − 1}. Infinite at C = 1, where the value is ln 2."""
    positive_integer("max_visits", max_visits, "theorem_1(max_visits=5)")
    if max_visits == 1:
        return math.inf
    log = math.log(max_visits)
    return max(math.log(2.0), log - math.log(log) - 1.0)


def theorem_2(max_visits: int, users: ArrayLike) -> Reals:
    """Local sensitivity of a location of n ≥ 1 users; 0 for n ≤ 0, which the paper does not define.

    Too small for C = 1, where it leaves out that users may go; an upper bound for C ≥ 2.
    """
    positive_integer("max_visits", max_visits, "theorem_2(max_visits=5, users=[1, 2])")
    n = np.asarray(users, dtype=np.float64)
    if max_visits == 1:
        local = np.log1p(1.0 / np.maximum(n, 1.0))
    else:
        several = np.maximum(n, 2.0)
        slope = math.log(max_visits) / (max_visits - 1)
        least = np.log(several - 1.0) - slope + math.log(slope) + 1.0  # the entropy of the others, at least
        local = np.log1p(np.exp(-least))
        for others in (several - 1.0, several):
            total = others + max_visits
            local = np.maximum(local, np.log(others / total) + max_visits / total * math.log(max_visits))
        local = np.where(n == 1.0, math.log(2.0), local)
    return np.where(n >= 1.0, local, 0.0)


def beta(epsilon: float, delta: float) -> float:
    """β = ε/(2 ln(2/δ)): that of one location, however many a user may be in."""
    return epsilon / (2.0 * math.log(2.0 / delta))


def algorithm_4(
    max_visits: int, epsilon: float, delta: float, floor: float = 1e-3, largest: int = 100_000
) -> Reals:
    """Smooth sensitivity for n = 0..`largest`; entry 0, which the paper does not define, is that of n = 1.

    The loop over distances starts at 1, so LS(n) itself is left out; and from the first n past the peak with
    LS(n) < ξ on, the result is ξ, however large it was just before.
    """
    check_whole("algorithm_4(5, 1.0, 1e-8, largest=1000)", "largest", largest, 1, 2**31 - 1)
    decay, top, peak = beta(epsilon, delta), theorem_1(max_visits), _peak(max_visits)
    local = theorem_2(max_visits, np.arange(2 * largest + 1))
    n = np.arange(largest + 1)
    ends = np.flatnonzero((n >= 1) & (n > peak) & (local[: largest + 1] < floor))
    last = int(ends[0]) if len(ends) else largest
    smooth = np.full(largest + 1, floor)
    smooth[1 : last + 1] = 0.0
    going = n[1 : last + 1]  # those n whose inner loop has not stopped
    for distance in range(1, largest + 1):
        weight = math.exp(-distance * decay)
        nearest = np.maximum(local[np.maximum(going - distance, 0)], local[going + distance])
        smooth[going] = np.maximum(smooth[going], weight * nearest)
        going = going[(weight * top >= smooth[going]) | (going + distance <= peak)]
        if not len(going):
            break
    smooth[0] = smooth[1]
    return smooth


def limit_scale(epsilon: float, max_locations: int, max_visits: int) -> float:
    """Algorithms 1 and 2, Baseline and Limit: M·ΔH/ε."""
    return max_locations * theorem_1(max_visits) / epsilon


def limit_ss_scales(
    users: Integers,
    epsilon: float,
    delta: float,
    max_locations: int,
    max_visits: int,
    floor: float = 1e-3,
) -> Reals:
    """Algorithm 3, Limit-SS: M·2·SS(C, n)/ε for each n."""
    # N must only be large enough to be past the peak of LS and all n
    largest = max(4 * max_visits, int(np.max(users, initial=0)))
    smooth = algorithm_4(max_visits, epsilon, delta, floor, largest)
    return 2.0 * max_locations * smooth[users] / epsilon


def limit_cb_scale(epsilon: float, max_locations: int, max_visits: int, min_users: ArrayLike) -> Reals:
    """Algorithm 5, Limit-CB: M·LS(C, k)/ε, for one k or a whole grid of them."""
    return max_locations * theorem_2(max_visits, min_users) / epsilon


def limit_cb(
    users: Integers,
    entropy: Reals,
    epsilon: float,
    max_locations: int,
    max_visits: int,
    min_users: int,
    seed: int,
) -> PrintedEstimates:
    """Algorithm 5 as a whole: locations of at least k users with noise, the others thrown away."""
    scale = limit_cb_scale(epsilon, max_locations, max_visits, min_users)
    return noisy(entropy, scale, seed, np.asarray(users) >= min_users)


def noisy(entropy: Reals, scale: ArrayLike, seed: int, published: ArrayLike = True) -> PrintedEstimates:
    """Entropy plus floating-point Laplace noise from a public seed; NaN where a location is not published.

    Shapes broadcast, so a column of scales and of thresholds gives a grid: one draw for each of its rows.
    """
    values, scales, shown = np.broadcast_arrays(entropy, scale, published)
    noise = np.random.default_rng(seed).laplace(size=values.shape)
    return PrintedEstimates(np.where(shown, values + scales * noise, np.nan))


def _peak(max_visits: int) -> float:
    """C/(ln C − 1) + 1, beyond which the local sensitivity falls, for C ≥ 3; below 1 for C ≤ 2."""
    return max_visits / (math.log(max_visits) - 1.0) + 1.0
