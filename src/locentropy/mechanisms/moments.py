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
from typing import TYPE_CHECKING

from locentropy.core.bounds import Bounds
from locentropy.core.estimates import Estimates
from locentropy.mechanisms.crossing import bounded_profile, is_private, required
from locentropy.mechanisms.moments_reading import MomentsReader
from locentropy.mechanisms.parameters import (
    LISTED,
    check_bounds,
    check_epsilon,
    check_max_users,
    make_plain,
    public_inputs,
)
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.moments import MOST_VISITS, MomentsTable
from locentropy.privacy.noise import LATTICE, laplace_scale

if TYPE_CHECKING:
    from locentropy.core.bounds import Keep
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise

_CALL = "Moments(epsilon=1.0, max_locations=5, max_visits=5)"


@dataclass(frozen=True)
class Moments:
    """The entropy of the bounded visits of every listed location, from noisy sums of visits."""

    epsilon: float
    """ε, for one user's whole record."""
    max_locations: int
    """M: a user counts in at most this many locations."""
    max_visits: int
    """C: a user counts with at most this many visits in each; 100 at most."""
    keep: Keep | None = None
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = None
    """A public bound on the number of users: published values are then at most its logarithm."""

    def __post_init__(self) -> None:
        make_plain(self)
        check_epsilon(_CALL, self.epsilon)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MOST_VISITS)
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
    def reader(self) -> MomentsReader:
        """What turns noisy integers into entropies; made of public numbers."""
        return MomentsReader(self.table, self.scale, self.max_users)

    def estimate(self, queries: Queries, locations: Locations | None, noise: Noise) -> Estimates:
        """A value, a standard error and an interval for every location of the list."""
        places = required(locations, type(self).__name__)
        scale = self.scale  # refuses an impossible ε before anything is asked
        profile = bounded_profile(queries, Bounds(self.max_locations, self.max_visits, self.keep), places)
        sums = self.table.sums(profile.index, profile.visits, profile.users, len(profile))
        reading = self.reader.read(noise.laplace(sums, scale))
        return Estimates(places.ids, reading.entropy, "bounded", is_private(noise), *reading[1:])
