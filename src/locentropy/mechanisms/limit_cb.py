"""Limit-CB: only locations of at least k users, and no promise to any of them.

Claim. None. `LimitCB` is the paper's algorithm and is **not** differentially private, for any ε and δ < 1: a location
of exactly k users is published, and without one of them it is not, so whoever sees it knows that all k were there. Nor
does it keep the crowd-blending privacy that the paper states, once users may be in two locations.
Counterexamples: docs/proofs/limit-cb.md. `LimitPTR` is the replacement that keeps a promise.

The noise is that of `Limit` for sup over n ≥ k of LS(C, n); the paper takes LS(C, k), which is less than that
supremum for k below the peak of LS.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.crossing import bounded_profile, of_chosen
from locentropy.mechanisms.parameters import (
    COUNTED,
    check_bounds,
    check_epsilon,
    check_max_users,
    check_min_users,
    make_plain,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import laplace_scale, lattice_sensitivity, to_lattice
from locentropy.privacy.sensitivity import MAX_VISITS, supremum_from

if TYPE_CHECKING:
    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise

_CALL = "LimitCB(epsilon=1.0, max_locations=5, max_visits=5, min_users=50, accept_no_guarantee=True)"

REASON = (
    "which locations Limit-CB publishes is decided without noise, so one user alone can make a location appear "
    "or vanish, and whoever sees the release can tell"
)


@dataclass(frozen=True)
class LimitCB:
    """The entropy of locations of at least k users, without any guarantee."""

    epsilon: float
    """Sets the noise of the values. It is not a privacy budget: no ε describes this release."""
    max_locations: int
    """M: a user counts in at most this many locations."""
    max_visits: int
    """C: a user counts with at most this many visits in each."""
    min_users: int
    """k: locations of fewer users are withheld."""
    accept_no_guarantee: bool = False
    """Must be set to True; the error says why."""
    keep: Keep | None = None
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = None
    """A public bound on the number of users: published values are then at most its logarithm."""

    def __post_init__(self) -> None:
        if self.accept_no_guarantee is not True:
            raise ParameterError(
                f"accept_no_guarantee={self.accept_no_guarantee!r}: LimitCB is not differentially private, because "
                f"{REASON}. Use LimitPTR(epsilon=1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=50), "
                f"or, to compare with the paper: {_CALL}"
            )
        make_plain(self)
        check_epsilon(_CALL, self.epsilon)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MAX_VISITS)
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

    def estimate(self, queries: Queries, locations: Locations | None, noise: Noise) -> Estimates:
        """A value for every location of at least k users; never marked private, and without error bars."""
        scale = self.scale
        profile = bounded_profile(queries, Bounds(self.max_locations, self.max_visits, self.keep), locations)
        crowded = profile.user_counts >= self.min_users
        noisy = noise.laplace(to_lattice(profile.entropy[crowded]), scale)
        return of_chosen(
            profile.locations,
            crowded,
            noisy,
            listed=locations is not None,
            scale=None,
            max_users=self.max_users,
            private=False,
        )
