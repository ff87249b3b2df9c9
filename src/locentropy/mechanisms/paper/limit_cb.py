"""Limit-CB: only locations of at least k users, without any guarantee.

Claim. None. `LimitCB` is the paper's algorithm and is **not** differentially private, for any ε and δ < 1: a location
of exactly k users is published, and without one of them it is not, so readers who see it know that all k were there.
Nor does it keep the crowd-blending privacy that the paper states, once users may be in two locations.
Counterexamples: docs/proofs/limit-cb.md. `LimitPTR` replaces it, with a guarantee.

The noise is that of `Limit` for sup over n ≥ k of LS(C, n); the paper takes LS(C, k), which is less than that
supremum for k below the peak of LS.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.core.estimates import Method
from locentropy.mechanisms.base import BoundedMechanism, bounded_profile
from locentropy.mechanisms.expected_error import constant_noise
from locentropy.mechanisms.listed_estimates import entropy_estimates, measured_entropies
from locentropy.mechanisms.parameters import (
    COUNTED,
    HELP,
    check_bounds,
    check_epsilon,
    check_max_users,
    check_min_users,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import laplace_scale, lattice_sensitivity, to_lattice
from locentropy.privacy.sensitivity import MAX_TABULATED_VISITS, supremum_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates, Measurements
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ErrorByUsers
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

_CALL = "LimitCB(epsilon=1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True)"

REASON = (
    "which locations Limit-CB publishes is decided without noise, so one user alone can make a location appear "
    "or vanish, and every reader of the release can tell"
)


@dataclass(frozen=True)
class LimitCB(BoundedMechanism):
    """The entropy of locations of at least k users, without any guarantee."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """Sets the noise of the values. It is not a privacy budget: no ε describes this release."""
    max_locations: int = parameter(HELP["max_locations"])
    """M: a user counts in at most this many locations."""
    max_visits: int = parameter(HELP["max_visits"])
    """C: a user counts with at most this many visits in each."""
    min_users: int = parameter("k: places of fewer people are withheld.")
    """k: locations of fewer users are withheld."""
    accept_no_guarantee: bool = parameter("Needed: it protects nobody.", False)
    """Must be set to True; the error says why."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = parameter(HELP["max_users"], None)
    """A public bound on the number of users: published values are then at most its logarithm."""

    name: ClassVar[str] = "limit-cb"
    selects_locations: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Value]] = {
        "epsilon": "1.0",
        "max_locations": 5,
        "max_visits": 5,
        "min_users": 50,
        "accept_no_guarantee": True,
    }
    method: ClassVar[Method] = Method(
        "Locations of at least min_users people, counted without noise, are published; their entropy gets discrete "
        "Laplace noise. The choice of locations gives people away.",
        proof="none: counterexamples are in docs/proofs/limit-cb.md of locentropy",
    )

    def __post_init__(self) -> None:
        if self.accept_no_guarantee is not True:
            raise ParameterError(
                f"must be True, because LimitCB is not differentially private: {REASON}. LimitPTR is, and selects "
                "places as well. To compare with the paper, say that you accept no guarantee.",
                parameter="accept_no_guarantee",
                value=self.accept_no_guarantee,
                example=_CALL,
            )
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MAX_TABULATED_VISITS)
        check_min_users(_CALL, self.min_users, 1)
        check_max_users(_CALL, self.max_users)

    @property
    def guarantee(self) -> Guarantee:
        """None, and why."""
        return Guarantee.none(REASON, public_inputs(self, COUNTED))

    @cached_property
    def scale(self) -> float:
        """The scale of the noise in lattice units."""
        # sup over n ≥ k of LS(n) = max(D(n−1), D(n)) is the supremum of D from k−1 on
        change = supremum_from(self.max_visits, self.min_users - 1)
        return laplace_scale(self.max_locations * lattice_sensitivity(change), self.epsilon)

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """A noisy entropy for every location of at least k users; never private."""
        scale = self.scale
        profile = bounded_profile(queries, self.bounds, locations)
        crowded = profile.user_counts >= self.min_users
        noisy = noise.laplace(to_lattice(profile.entropy[crowded]), scale)
        return measured_entropies(
            profile.locations, noisy, private=False, chosen=crowded, listed=locations is not None
        )

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value, without an error bar, for every location that was measured."""
        return entropy_estimates(measurements, locations, scale=None, max_users=self.max_users)

    def error_by_users(self) -> ErrorByUsers:
        """The same noise for every number of users from k on; nothing is published below."""
        return constant_noise(
            self.scale, self.max_users, lambda users: (users >= self.min_users).astype(np.float64)
        )
