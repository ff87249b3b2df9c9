"""Limit-PTR: only locations of clearly more than k users, chosen privately.

Claim. Neighbours differ in all visits of one user. `LimitPTR` is (ε, δ)-differentially private: both which locations
appear and their values. It needs no public list.

Why. A location of n users is named with probability π(n − k), a curve that moves so slowly that naming costs
(ε_s, δ); up to k users it is never named. So where one user more or less leaves both neighbours a chance to name
the location, it has at least k + 1 users besides, and its entropy moves by at most D_k, the supremum of D(m) over
m ≥ k + 1: noise of scale M·D_k/ε_v makes the values cost ε_v. Where only one neighbour can name it, that happens
with probability π(1) ≤ δ/M, which δ pays for. ε = ε_s + ε_v exactly. Proof: docs/proofs/limit-ptr.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from locentropy.core.estimates import Method
from locentropy.mechanisms.base import BoundedMechanism, bounded_profile
from locentropy.mechanisms.expected_error import constant_noise
from locentropy.mechanisms.listed_estimates import ENTROPY, entropy_estimates, measured_entropies
from locentropy.mechanisms.parameters import (
    HELP,
    SELECTED,
    check_bounds,
    check_epsilon,
    check_fraction,
    check_max_users,
    check_min_users,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
    warn_of_large_delta,
)
from locentropy.privacy.guarantee import Guarantee, exact
from locentropy.privacy.noise import is_private, laplace_scale, lattice_sensitivity, to_lattice
from locentropy.privacy.selection import SelectionCurve
from locentropy.privacy.sensitivity import MAX_TABULATED_VISITS, supremum_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates, Measurements
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ErrorByUsers
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

_CALL = "LimitPTR(epsilon=1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50)"


@dataclass(frozen=True)
class LimitPTR(BoundedMechanism):
    """The entropy of the bounded visits of the locations that a private test finds to have many users."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε, for one user's whole record."""
    delta: float = parameter(HELP["delta"])
    """δ, for the same. There is no default: it should be far below one over the number of users, for a δ of that
    size would allow publishing one user's record as it is."""
    max_locations: int = parameter(HELP["max_locations"])
    """M: a user counts in at most this many locations."""
    max_visits: int = parameter(HELP["max_visits"])
    """C: a user counts with at most this many visits in each."""
    min_users: int = parameter("k: places of at most k people are never published.")
    """k: a location of at most this many users is never published; the more there are beyond it, the surer it is."""
    split: float = parameter("The part of ε for choosing places; the rest is for their values.", 0.5)
    """The part of ε for choosing locations; the rest is for their values."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = parameter(HELP["max_users"], None)
    """A public bound on the number of users: published values are then at most its logarithm."""

    name: ClassVar[str] = "limit-ptr"
    selects_locations: ClassVar[bool] = True
    compared: ClassVar[bool] = True
    queries: ClassVar[tuple[str, ...]] = (ENTROPY,)
    publishes_measurements: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Value]] = {
        "epsilon": "1.0",
        "delta": "1e-8",
        "max_locations": 5,
        "max_visits": 5,
        "min_users": 50,
    }
    method: ClassVar[Method] = Method(
        "A private test names locations of clearly more than min_users people; the entropy of those gets discrete "
        "Laplace noise of one scale, a public constant. The others are withheld.",
        columns=("std_error", "low", "high"),
        error_bars="constant",
        proof="docs/proofs/limit-ptr.md of locentropy",
    )

    def __post_init__(self) -> None:
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        check_fraction(_CALL, "delta", self.delta)
        check_fraction(_CALL, "split", self.split)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MAX_TABULATED_VISITS)
        check_min_users(_CALL, self.min_users, 0)
        check_max_users(_CALL, self.max_users)
        warn_of_large_delta(self.delta, self.max_users)
        _ = self.curve  # refuses a budget beyond what the curve's proof covers

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ)-differential privacy."""
        return Guarantee.approximate(self.epsilon, self.delta, public_inputs(self, SELECTED))

    @cached_property
    def budgets(self) -> tuple[Fraction, Fraction]:
        """(ε_s, ε_v), for choosing and for the values; as fractions, so that they add up to ε exactly."""
        whole = exact(self.epsilon)
        choosing = whole * exact(self.split, "split")
        return choosing, whole - choosing

    @cached_property
    def curve(self) -> SelectionCurve:
        """π: how likely a location is published, by its users beyond k; public."""
        return SelectionCurve(self.budgets[0], self.delta, self.max_locations)

    @cached_property
    def scale(self) -> float:
        """The scale of the noise in lattice units; public."""
        change = supremum_from(self.max_visits, self.min_users + 1)
        return laplace_scale(self.max_locations * lattice_sensitivity(change), self.budgets[1])

    def public_scales(self, locations: Locations | None) -> Mapping[str, float]:
        """The scale of the noise of the entropies."""
        return {ENTROPY: self.scale}

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """A noisy entropy for every location that is chosen."""
        scale = self.scale  # refuses an impossible ε before anything is asked
        profile = bounded_profile(queries, self.bounds, locations)
        named = self.curve.select(profile.user_counts - self.min_users, noise)
        noisy = noise.laplace(to_lattice(profile.entropy[named]), scale)
        return measured_entropies(
            profile.locations, noisy, private=is_private(noise), chosen=named, listed=locations is not None
        )

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value, a standard error and an interval for every location that is chosen."""
        return entropy_estimates(measurements, locations, scale=self.scale, max_users=self.max_users)

    def error_by_users(self) -> ErrorByUsers:
        """The same noise for all that is published, and how likely that is."""
        return constant_noise(
            self.scale, self.max_users, lambda users: self.curve.probability(users - self.min_users)
        )
