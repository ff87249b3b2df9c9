"""The paper's algorithms as they are printed, faults included: formulas, and mechanisms to compare with.

Claim. None. Several of them do not give what the paper promises: docs/paper-errata.md has the list, with a
counterexample for each, and tests/lab/test_as_printed.py finds these in the functions below. The mechanisms say so:
their guarantee is none, and no measurement of theirs counts as private. Nothing of locentropy itself can reach them.

`locentropy evaluate --mechanism limit-as-printed` compares one on data of one's own. There the noise is on the lattice
that all mechanisms use; `noisy` adds floating-point noise from a public seed, as the paper's experiments did.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole, positive_integer
from locentropy.core.errors import ParameterError
from locentropy.core.estimates import Estimates, Method
from locentropy.mechanisms.base import Mechanism, bounded_profile, require_locations
from locentropy.mechanisms.listed_estimates import ENTROPY, measured_entropies
from locentropy.mechanisms.parameters import (
    HELP,
    LISTED,
    check_bounds,
    check_epsilon,
    check_fraction,
    check_min_users,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import LATTICE, from_lattice, to_lattice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Measurements
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.core.visit_profile import VisitProfile
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

FLOOR: Final = 1e-3
"""ξ of the paper's experiments."""

LARGEST_VISITS: Final = 10_000
"""Largest C of the mechanisms below: Algorithm 4 takes a table of that length."""


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
    max_visits: int, epsilon: float, delta: float, floor: float = FLOOR, largest: int = 100_000
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
    floor: float = FLOOR,
) -> Reals:
    """Algorithm 3, Limit-SS: M·2·SS(C, n)/ε for each n, also for locations of millions of users."""
    smooth = _smooth_to_floor(max_visits, epsilon, delta, floor)
    return 2.0 * max_locations * smooth[np.minimum(users, len(smooth) - 1)] / epsilon


@lru_cache(maxsize=1024)
def _smooth_to_floor(max_visits: int, epsilon: float, delta: float, floor: float) -> Reals:
    """Algorithm 4 up to where it has reached ξ for good; N must only be large enough for that."""
    if not floor > 0:
        raise ParameterError(f"floor={floor!r} must be above 0: Algorithm 4 ends where it is reached.")
    largest = 4 * max_visits
    while (smooth := algorithm_4(max_visits, epsilon, delta, floor, largest))[-1] != floor:
        largest *= 4
    return smooth


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


# --- mechanisms ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AsPrinted(Mechanism):
    """What the three have in common: bounds, noise of the paper's own scale, and no guarantee."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε as the paper has it; no budget, for no ε describes what comes out."""
    max_locations: int = parameter(HELP["max_locations"])
    """M: a user counts in at most this many locations."""
    max_visits: int = parameter(HELP["max_visits"])
    """C, from 2 on: a user counts with at most this many visits in each."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""

    reason: ClassVar[str]
    """Why it keeps no guarantee."""

    def __post_init__(self) -> None:
        call = (
            f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.example.items())})"
        )
        normalize_numpy_scalars(self)
        check_epsilon(call, self.epsilon)
        check_bounds(call, self.max_locations, self.max_visits, self.keep, LARGEST_VISITS)
        if self.max_visits < 2:
            raise ParameterError(
                f"max_visits={self.max_visits}: the sensitivity that the paper prints is infinite at C = 1. "
                f"For example: {call}"
            )
        self._check_own(call)

    def _check_own(self, call: str) -> None:
        """Check the parameters that the others do not have."""

    @property
    def guarantee(self) -> Guarantee:
        """None, and why."""
        return Guarantee.none(self.reason, public_inputs(self, LISTED))

    @property
    def bounds(self) -> Bounds:
        """M and C, and which locations are kept."""
        return Bounds(self.max_locations, self.max_visits, self.keep)

    def rehearse(self, queries: Queries) -> bool:
        """Ask for the bounded profile."""
        return bool(queries.profile(self.bounds).users.any())

    @abstractmethod
    def _scales(self, users: Integers) -> Reals:
        """The scale of the noise of each location, in nats."""

    def _published(self, profile: VisitProfile) -> NDArray[np.bool_] | None:
        """Which locations are published; None for all."""
        return None

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """A noisy entropy for every location that is published; never private."""
        listed = require_locations(locations, type(self).__name__)
        profile = bounded_profile(queries, self.bounds, listed)
        published = self._published(profile)
        shown = slice(None) if published is None else published
        scales = self._scales(profile.user_counts[shown]) * LATTICE
        noisy = noise.laplace_each(to_lattice(profile.entropy[shown]), scales)
        return measured_entropies(listed.ids, noisy, private=False, chosen=published)

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value for every location that was measured. Not clipped: the algorithms print nothing about that."""
        import pyarrow.compute as pc

        listed = require_locations(locations, type(self).__name__)
        entropy = np.full(len(listed), np.nan)
        at = pc.index_in(measurements.locations, value_set=listed.ids).to_numpy().astype(np.int64)
        entropy[at] = from_lattice(measurements.values[ENTROPY])
        return Estimates(listed.ids, entropy, "bounded", private=False)


def _method(algorithm: str) -> Method:
    return Method(
        f"{algorithm} as the paper prints it, faults included, for comparison only.",
        post_processing="Nothing: values may be negative. Published values are clipped",
        proof="none: docs/paper-errata.md of locentropy has a counterexample for each fault",
    )


@dataclass(frozen=True)
class LimitAsPrinted(AsPrinted):
    """Algorithm 2 with the sensitivity of Theorem 1."""

    name: ClassVar[str] = "limit-as-printed"
    example: ClassVar[Mapping[str, Value]] = {"epsilon": "1.0", "max_locations": 5, "max_visits": 5}
    method: ClassVar[Method] = _method("Algorithm 2, Limit,")
    reason: ClassVar[str] = (
        "the noise leaves no room for rounding, and in the paper it is floating-point noise, whose last digits tell "
        "values apart"
    )

    def _scales(self, users: Integers) -> Reals:
        return np.full(len(users), limit_scale(self.epsilon, self.max_locations, self.max_visits))


@dataclass(frozen=True)
class LimitSSAsPrinted(AsPrinted):
    """Algorithm 3 with the smooth sensitivity of Algorithm 4."""

    delta: float = parameter(HELP["delta"])
    """δ as the paper has it."""

    name: ClassVar[str] = "limit-ss-as-printed"
    example: ClassVar[Mapping[str, Value]] = {
        "epsilon": "1.0",
        "delta": "1e-8",
        "max_locations": 5,
        "max_visits": 5,
    }
    method: ClassVar[Method] = _method("Algorithm 3, Limit-SS,")
    reason: ClassVar[str] = (
        "the smooth sensitivity that the paper prints jumps between neighbours, and its β is that of one location "
        "however many a user may be in"
    )

    def _check_own(self, call: str) -> None:
        check_fraction(call, "delta", self.delta)

    def _scales(self, users: Integers) -> Reals:
        return limit_ss_scales(users, self.epsilon, self.delta, self.max_locations, self.max_visits)


@dataclass(frozen=True)
class LimitCBAsPrinted(AsPrinted):
    """Algorithm 5 with the local sensitivity of Theorem 2 at k users."""

    min_users: int = parameter("k: places of fewer people are withheld.")
    """k: locations of fewer users are withheld."""

    name: ClassVar[str] = "limit-cb-as-printed"
    example: ClassVar[Mapping[str, Value]] = {
        "epsilon": "1.0",
        "max_locations": 5,
        "max_visits": 5,
        "min_users": 50,
    }
    method: ClassVar[Method] = _method("Algorithm 5, Limit-CB,")
    reason: ClassVar[str] = (
        "which locations are published is decided without noise, so one user alone can make a location appear or vanish"
    )

    def _check_own(self, call: str) -> None:
        check_min_users(call, self.min_users, 1)

    def _scales(self, users: Integers) -> Reals:
        scale = limit_cb_scale(self.epsilon, self.max_locations, self.max_visits, self.min_users)
        return np.full(len(users), float(scale))

    def _published(self, profile: VisitProfile) -> NDArray[np.bool_]:
        return np.asarray(profile.user_counts >= self.min_users)
