"""Limit: noise for the most that one user can change any location.

Claim. Neighbours differ in all visits of one user. `Limit` is ε-differentially private, with no δ.

Why. After bounding, the user is in at most M locations and has at most C visits in each. No entropy moves by more
than GS(C), so the lattice points of all entropies together move by at most M·(⌈GS·2^20⌉ + 2), and discrete
Laplace noise of one scale, for which OpenDP's own privacy map says ε, covers that. Every location of a public list
is published, visited or not, so what is published and in which order says nothing. Proof: docs/proofs/limit.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from locentropy.core.bounds import Bounds
from locentropy.mechanisms.crossing import bounded_profile, is_private, of_listed, required
from locentropy.mechanisms.parameters import (
    LISTED,
    check_bounds,
    check_epsilon,
    check_max_users,
    make_plain,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import laplace_scale, lattice_sensitivity, to_lattice
from locentropy.privacy.sensitivity import global_sensitivity

if TYPE_CHECKING:
    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise


@dataclass(frozen=True)
class Limit:
    """The entropy of the bounded visits of every listed location, with the same noise for all."""

    epsilon: float
    """ε, for one user's whole record."""
    max_locations: int
    """M: a user counts in at most this many locations."""
    max_visits: int
    """C: a user counts with at most this many visits in each."""
    keep: Keep | None = None
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = None
    """A public bound on the number of users: published values are then at most its logarithm."""

    def __post_init__(self) -> None:
        call = f"{type(self).__name__}(epsilon=1.0, max_locations=5, max_visits=5)"
        make_plain(self)
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

    def estimate(self, queries: Queries, locations: Locations | None, noise: Noise) -> Estimates:
        """A value, a standard error and an interval for every location of the list."""
        places = required(locations, type(self).__name__)
        scale = self.scale  # refuses an impossible ε before anything is asked
        profile = bounded_profile(queries, Bounds(self.max_locations, self.max_visits, self.keep), places)
        noisy = noise.laplace(to_lattice(profile.entropy), scale)
        return of_listed(places, noisy, scale=scale, max_users=self.max_users, private=is_private(noise))
