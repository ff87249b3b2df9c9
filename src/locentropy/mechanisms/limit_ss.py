"""Limit-SS: less noise where there are many users, at the price of a δ.

Claim. Neighbours differ in all visits of one user. `LimitSS` is (ε, δ)-differentially private.

Why. The noise of a location follows the smooth sensitivity of its number of users n, a function that moves by a
factor of at most e^β when n moves by one. `calibrate` splits ε into a part for the values that move and one for the
scales that move, and finds the β for which M locations at once cost no more than (ε, δ), on the lattice.
The scales are functions of private numbers: they go to the noise and nowhere else, so there are no error
bars. Every listed location is published, also one without users. Proof: docs/proofs/limit-ss.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.crossing import bounded_profile, is_private, of_listed, required
from locentropy.mechanisms.parameters import (
    LISTED,
    check_bounds,
    check_epsilon,
    check_max_users,
    check_share,
    make_plain,
    public_inputs,
    warn_of_large_delta,
)
from locentropy.privacy.calibration import ROUNDING_UNITS, Calibration, calibrate, lattice_scales
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import LARGEST_SCALE, LATTICE, to_lattice
from locentropy.privacy.sensitivity import MAX_VISITS, global_sensitivity
from locentropy.privacy.smooth import SmoothSensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise

LARGEST_FLOOR = 100
"""ξ beyond this is no floor: no entropy is as large."""

_CALL = "LimitSS(epsilon=1.0, delta=1e-8, max_locations=5, max_visits=5)"


@dataclass(frozen=True)
class LimitSS:
    """The entropy of the bounded visits of every listed location, with noise that falls with its users."""

    epsilon: float
    """ε, for one user's whole record."""
    delta: float
    """δ, for the same. There is no default: it should be far below one over the number of users, for a δ of that
    size would allow publishing one user's record as it is."""
    max_locations: int
    """M: a user counts in at most this many locations."""
    max_visits: int
    """C: a user counts with at most this many visits in each."""
    floor: float = 1e-3
    """ξ: the smooth sensitivity is not taken to be smaller than this."""
    split: float = 0.5
    """The part of ε for the values; the rest is for the scales. Half suits places of few users, 0.9 to 0.98
    almost halves the noise of places with thousands."""
    keep: Keep | None = None
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = None
    """A public bound on the number of users: published values are then at most its logarithm."""

    def __post_init__(self) -> None:
        make_plain(self)
        check_epsilon(_CALL, self.epsilon)
        check_share(_CALL, "delta", self.delta)
        check_share(_CALL, "split", self.split)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MAX_VISITS)
        check_max_users(_CALL, self.max_users)
        if (
            isinstance(self.floor, bool)
            or not isinstance(self.floor, int | float)
            or not 0 <= self.floor <= LARGEST_FLOOR
        ):
            raise ParameterError(
                f"floor={self.floor!r} must be a number from 0 to {LARGEST_FLOOR}. A correct call: {_CALL}"
            )
        warn_of_large_delta(self.delta, self.max_users)
        self._must_fit_the_noise()

    def _must_fit_the_noise(self) -> None:
        """Refuse now, on public numbers, what the noise could refuse later: then, whether it does would depend on n."""
        largest = max(global_sensitivity(self.max_visits), self.floor)  # S is never above this
        scale = self.max_locations * (largest * LATTICE + ROUNDING_UNITS) / self.calibration.epsilon_1
        if not scale <= LARGEST_SCALE / 2:
            raise ParameterError(
                f"epsilon={self.epsilon!r}, split={self.split!r} and max_locations={self.max_locations!r} need noise "
                f"too large for 64-bit integers. A correct call: {_CALL}"
            )
        _ = self.sensitivity  # refuses what smoothing cannot do

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ)-differential privacy."""
        return Guarantee.approximate(self.epsilon, self.delta, public_inputs(self, LISTED))

    @cached_property
    def calibration(self) -> Calibration:
        """How ε is split, and the β that it affords; public."""
        return calibrate(self.epsilon, self.delta, self.max_locations, split=self.split)

    @cached_property
    def sensitivity(self) -> SmoothSensitivity:
        """S, a public function; its values at the data's n are private."""
        return SmoothSensitivity(self.max_visits, self.calibration.beta, self.floor)

    def estimate(self, queries: Queries, locations: Locations | None, noise: Noise) -> Estimates:
        """A value, without an error bar, for every location of the list."""
        places = required(locations, "LimitSS")
        profile = bounded_profile(queries, Bounds(self.max_locations, self.max_visits, self.keep), places)
        noisy = noise.laplace_each(to_lattice(profile.entropy), self._scales(profile.user_counts))
        return of_listed(places, noisy, scale=None, max_users=self.max_users, private=is_private(noise))

    def _scales(self, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noise scale of each location, in lattice units, one for each number of users. Private, as they are."""
        distinct, where = np.unique(users, return_inverse=True)
        return lattice_scales(self.calibration, self.sensitivity, distinct)[where]
