"""Limit and Baseline: noise for the most that one user can change any location.

Claim. Neighbours differ in all visits of one user. `Limit` is ε-differentially private, with no δ.

Why. After bounding, the user is in at most M locations and has at most C visits in each. No entropy moves by more
than GS(C), so the lattice points of all entropies together move by at most M·(⌈GS·2^20⌉ + 2), and discrete
Laplace noise of one scale, for which OpenDP's own privacy map says ε, covers that. Every location of a public list
is published, visited or not, so what is published and in which order says nothing. Proof: docs/proofs/limit.md.

`Baseline` is `Limit` with bounds so wide that hardly anybody is cut: M_max locations and C_max visits, public constants
chosen before looking at the data, such as the 100 and 1000 of the paper. A user beyond them is cut to them all the
same, because a guarantee must hold for everybody; the data's own maxima never set the noise, because one user
decides them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from locentropy.core.estimates import Method
from locentropy.mechanisms.base import BoundedMechanism, bounded_profile, require_locations
from locentropy.mechanisms.expected_error import constant_noise
from locentropy.mechanisms.listed_estimates import ENTROPY, entropy_estimates, measured_entropies
from locentropy.mechanisms.parameters import (
    HELP,
    LISTED,
    check_bounds,
    check_epsilon,
    check_max_users,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import is_private, laplace_scale, lattice_sensitivity, to_lattice
from locentropy.privacy.sensitivity import global_sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates, Measurements
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ErrorByUsers
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise


@dataclass(frozen=True)
class Limit(BoundedMechanism):
    """The entropy of the bounded visits of every listed location, with the same noise for all."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε, for one user's whole record."""
    max_locations: int = parameter(HELP["max_locations"])
    """M: a user counts in at most this many locations."""
    max_visits: int = parameter(HELP["max_visits"])
    """C: a user counts with at most this many visits in each."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = parameter(HELP["max_users"], None)
    """A public bound on the number of users: published values are then at most its logarithm."""

    name: ClassVar[str] = "limit"
    compared: ClassVar[bool] = True
    queries: ClassVar[tuple[str, ...]] = (ENTROPY,)
    publishes_measurements: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Value]] = {"epsilon": "1.0", "max_locations": 5, "max_visits": 5}
    method: ClassVar[Method] = Method(
        "Each location's entropy gets discrete Laplace noise of one scale, a public constant set by the most that one "
        "person, within the bounds, can change all entropies together.",
        columns=("std_error", "low", "high"),
        error_bars="constant",
        proof="docs/proofs/limit.md of locentropy",
    )

    def __post_init__(self) -> None:
        call = f"{type(self).__name__}(epsilon=1.0, max_locations=5, max_visits=5)"
        normalize_numpy_scalars(self)
        check_epsilon(call, self.epsilon)
        check_bounds(call, self.max_locations, self.max_visits, self.keep)
        check_max_users(call, self.max_users)

    @property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy."""
        return Guarantee.pure(self.epsilon, public_inputs(self, LISTED))

    @cached_property
    def scale(self) -> float:
        """The scale of the noise in lattice units; public."""
        return laplace_scale(
            self.max_locations * lattice_sensitivity(global_sensitivity(self.max_visits)), self.epsilon
        )

    def public_scales(self, locations: Locations | None) -> Mapping[str, float]:
        """The scale of the noise of the entropies."""
        return {ENTROPY: self.scale}

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """A noisy entropy for every location of the list."""
        listed = require_locations(locations, type(self).__name__)
        scale = self.scale  # refuses an impossible ε before anything is asked
        profile = bounded_profile(queries, self.bounds, listed)
        noisy = noise.laplace(to_lattice(profile.entropy), scale)
        return measured_entropies(listed.ids, noisy, private=is_private(noise))

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value, a standard error and an interval for every location of the list."""
        return entropy_estimates(measurements, locations, scale=self.scale, max_users=self.max_users)

    def error_by_users(self) -> ErrorByUsers:
        """The same noise for every number of users."""
        return constant_noise(self.scale, self.max_users)


@dataclass(frozen=True)
class Baseline(Limit):
    """`Limit` with bounds that are meant to cut nobody: `Baseline(1.0, max_locations=100, max_visits=1000)`."""

    name: ClassVar[str] = "baseline"
    compared: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Value]] = {"epsilon": "1.0", "max_locations": 100, "max_visits": 1000}
