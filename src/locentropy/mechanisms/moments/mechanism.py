"""Moments: noise on the two sums that entropy is made of, instead of on entropy itself.

Claim. Neighbours differ in all visits of one user. `Moments` is ε-differentially private, with no δ.

Why. After bounding, the user is in at most M locations and has 1..C visits in each. Each location has two integers,
sums over its users of a fixed table with a pair for each number of visits; so the user moves the integers of all
locations together by at most M times the largest pair of the table, in ℓ₁, and discrete Laplace noise of one scale,
for which OpenDP's own privacy map says ε, covers that. Integers are added up exactly: there is nothing to round.
Every location of a public list is published, visited or not. Entropy and error bars are computed from the noisy
integers. Proof: docs/proofs/moments.md.

Why it is good. One user changes entropy by up to ln 2 at a small location, and `Limit` must noise all locations for
that. The sums of a large location are as easy to hide one user in as those of a small one, and say its entropy far
better.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from locentropy.core.estimates import Estimates, Measurements, Method, NoisyPresence
from locentropy.mechanisms.base import BoundedMechanism, bounded_profile, require_locations
from locentropy.mechanisms.expected_error import ErrorByUsers
from locentropy.mechanisms.moments.estimator import MomentsEstimator
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
from locentropy.privacy.moments import MAX_MOMENTS_VISITS, MomentsTable
from locentropy.privacy.noise import LATTICE, is_private, laplace_scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.bounds import Keep
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

_CALL = "Moments(epsilon=1.0, max_locations=5, max_visits=5)"


@dataclass(frozen=True)
class Moments(BoundedMechanism):
    """The entropy of the bounded visits of every listed location, from noisy sums of visits."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε, for one user's whole record."""
    max_locations: int = parameter(HELP["max_locations"])
    """M: a user counts in at most this many locations."""
    max_visits: int = parameter(HELP["max_visits"])
    """C: a user counts with at most this many visits in each; 100 at most."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = parameter(HELP["max_users"], None)
    """A public bound on the number of users: published values are then at most its logarithm."""

    name: ClassVar[str] = "moments"
    compared: ClassVar[bool] = True
    queries: ClassVar[tuple[str, ...]] = ("sums",)
    publishes_measurements: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Value]] = {"epsilon": "1.0", "max_locations": 5, "max_visits": 5}
    method: ClassVar[Method] = Method(
        "Two whole numbers at each location, sums over its people of a fixed public table with a pair for each number "
        "of visits, get discrete Laplace noise of one scale, a public constant set by the most that one person, within "
        "the bounds, can change all of them together. Entropy and error bars are computed from the noisy pairs.",
        columns=("std_error", "low", "high"),
        error_bars="noise",
        post_processing="Each noisy pair is moved to the nearest one that visits can make, near in the sense of the "
        "noise; entropy, its standard error and an interval follow from it. Values and ends of intervals are clipped",
        rounding="Only whole numbers get noise; the table was rounded to whole numbers before its largest pair was "
        "taken.",
        proof="docs/proofs/moments.md of locentropy",
    )

    def __post_init__(self) -> None:
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MAX_MOMENTS_VISITS)
        check_max_users(_CALL, self.max_users)

    @property
    def guarantee(self) -> Guarantee:
        """ε-differential privacy."""
        return Guarantee.pure(self.epsilon, public_inputs(self, LISTED))

    @cached_property
    def table(self) -> MomentsTable:
        """What a user of 1..C visits adds to the two integers of a location; public."""
        return MomentsTable(self.max_visits, unit=LATTICE)

    @cached_property
    def scale(self) -> float:
        """The scale of the noise in lattice units; public."""
        return laplace_scale(self.max_locations * self.table.sensitivity, self.epsilon)

    @cached_property
    def estimator(self) -> MomentsEstimator:
        """What turns noisy integers into entropies; made of public numbers."""
        return MomentsEstimator(self.table, self.scale, self.max_users)

    def public_scales(self, locations: Locations | None) -> Mapping[str, float]:
        """The scale of the noise of the sums."""
        return {"sums": self.scale}

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """A noisy pair of sums for every location of the list."""
        listed = require_locations(locations, type(self).__name__)
        scale = self.scale  # refuses an impossible ε before anything is asked
        profile = bounded_profile(queries, self.bounds, listed)
        sums = self.table.sums(profile.index, profile.visits, profile.users, len(profile))
        return Measurements(listed.ids, {"sums": noise.laplace(sums, scale)}, is_private(noise))

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value, a standard error and an interval for every location of the list."""
        listed = require_locations(locations, type(self).__name__)
        found = self.estimator.estimate(measurements.values["sums"])
        return Estimates(listed.ids, found.entropy, "bounded", measurements.private, *found[1:])

    def presence(self, measurements: Measurements, locations: Locations | None) -> NoisyPresence:
        """c, the visits: a combination of both integers of a location."""
        visits = tuple(self.table.inverse[0].tolist())
        return NoisyPresence("visits", measurements.values["sums"], visits, self.scale, "laplace")

    def error_by_users(self) -> ErrorByUsers:
        """Errors that fall as one over the visits of a location."""
        from locentropy.mechanisms.moments.expected_error import moments_errors, moments_noise

        return ErrorByUsers(
            lambda users: moments_noise(self, users),
            lambda users: moments_errors(self, users),
            "Noise: on two sums of visits at every place, so errors fall as one over the visits there. Every value "
            "comes with its own error bar, computed from the noisy sums.",
        )
