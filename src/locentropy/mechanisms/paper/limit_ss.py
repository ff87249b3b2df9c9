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
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.core.estimates import Method
from locentropy.mechanisms.base import BoundedMechanism, bounded_profile, require_locations
from locentropy.mechanisms.expected_error import varying_noise
from locentropy.mechanisms.listed_estimates import ENTROPY, entropy_estimates, measured_entropies
from locentropy.mechanisms.parameters import (
    HELP,
    LISTED,
    check_bounds,
    check_epsilon,
    check_fraction,
    check_max_users,
    normalize_numpy_scalars,
    parameter,
    public_inputs,
    warn_of_large_delta,
)
from locentropy.privacy.calibration import ROUNDING_UNITS, Calibration, calibrate, lattice_scales
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.noise import LARGEST_SCALE, LATTICE, is_private, to_lattice
from locentropy.privacy.sensitivity import MAX_TABULATED_VISITS, global_sensitivity
from locentropy.privacy.smooth import SmoothSensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.estimates import Estimates, Measurements
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.expected_error import ErrorByUsers
    from locentropy.mechanisms.parameters import Value
    from locentropy.privacy.noise import Noise

LARGEST_FLOOR = 100
"""ξ beyond this is no floor: no entropy is as large."""

_CALL = "LimitSS(epsilon=1.0, delta=1e-8, max_locations=5, max_visits=5)"


@dataclass(frozen=True)
class LimitSS(BoundedMechanism):
    """The entropy of the bounded visits of every listed location, with noise that falls with its users."""

    epsilon: float = parameter(HELP["epsilon"], positional=True)
    """ε, for one user's whole record."""
    delta: float = parameter(HELP["delta"])
    """δ, for the same. There is no default: it should be far below one over the number of users, for a δ of that
    size would allow publishing one user's record as it is."""
    max_locations: int = parameter(HELP["max_locations"])
    """M: a user counts in at most this many locations."""
    max_visits: int = parameter(HELP["max_visits"])
    """C: a user counts with at most this many visits in each."""
    floor: float = parameter("ξ: the least sensitivity assumed.", 1e-3)
    """ξ: the smooth sensitivity is not taken to be smaller than this."""
    split: float = parameter("The part of ε for the values; the rest is for their scales.", 0.5)
    """The part of ε for the values; the rest is for the scales. Half suits places of few users, 0.9 to 0.98
    almost halves the noise of places with thousands."""
    keep: Keep | None = parameter(HELP["keep"], None)
    """Which M locations are kept; see `Bounds`."""
    max_users: int | None = parameter(HELP["max_users"], None)
    """A public bound on the number of users: published values are then at most its logarithm."""

    name: ClassVar[str] = "limit-ss"
    compared: ClassVar[bool] = True
    queries: ClassVar[tuple[str, ...]] = (ENTROPY,)
    publishes_measurements: ClassVar[bool] = True  # the values; their scales are private
    example: ClassVar[Mapping[str, Value]] = {
        "epsilon": "1.0",
        "delta": "1e-8",
        "max_locations": 5,
        "max_visits": 5,
    }
    method: ClassVar[Method] = Method(
        "Each location's entropy gets discrete Laplace noise that follows its smooth sensitivity. The scale depends on "
        "how many people were there, so neither it nor any error bar is published.",
        proof="docs/proofs/limit-ss.md of locentropy",
    )

    def __post_init__(self) -> None:
        normalize_numpy_scalars(self)
        check_epsilon(_CALL, self.epsilon)
        check_fraction(_CALL, "delta", self.delta)
        check_fraction(_CALL, "split", self.split)
        check_bounds(_CALL, self.max_locations, self.max_visits, self.keep, MAX_TABULATED_VISITS)
        check_max_users(_CALL, self.max_users)
        if (
            isinstance(self.floor, bool)
            or not isinstance(self.floor, int | float)
            or not 0 <= self.floor <= LARGEST_FLOOR
        ):
            raise ParameterError(
                f"must be a number from 0 to {LARGEST_FLOOR}.",
                parameter="floor",
                value=self.floor,
                example=_CALL,
            )
        warn_of_large_delta(self.delta, self.max_users)
        self._check_largest_scale()

    def _check_largest_scale(self) -> None:
        """Raise now, on public numbers, if the noise could be too large: later that would depend on the private n."""
        largest = max(global_sensitivity(self.max_visits), self.floor)  # S is never above this
        scale = self.max_locations * (largest * LATTICE + ROUNDING_UNITS) / self.calibration.epsilon_1
        if not scale <= LARGEST_SCALE / 2:
            raise ParameterError(
                f"ε = {self.epsilon!r}, a split of {self.split!r} and M = {self.max_locations!r} need noise too large "
                "for 64-bit integers.",
                example=_CALL,
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

    def measure(self, queries: Queries, locations: Locations | None, noise: Noise) -> Measurements:
        """A noisy entropy for every location of the list; how noisy is private."""
        listed = require_locations(locations, "LimitSS")
        profile = bounded_profile(queries, self.bounds, listed)
        noisy = noise.laplace_each(to_lattice(profile.entropy), self.scales(profile.user_counts))
        return measured_entropies(listed.ids, noisy, private=is_private(noise))

    def estimate(self, measurements: Measurements, locations: Locations | None) -> Estimates:
        """A value, without an error bar, for every location of the list."""
        return entropy_estimates(measurements, locations, scale=None, max_users=self.max_users)

    def scales(self, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """The noise scale, in lattice units, at each number of users: a public function, private at the data's n."""
        distinct, where = np.unique(users, return_inverse=True)
        return lattice_scales(self.calibration, self.sensitivity, distinct)[where]

    def error_by_users(self) -> ErrorByUsers:
        """Noise that falls with the users of a location."""
        return varying_noise(
            self.scales,
            self.max_users,
            "Noise: its scale falls with the users of a place, so a release carries no error bars.",
        )
