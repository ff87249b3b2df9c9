"""The crossing: one file per algorithm, from integer queries on private data to estimates fit to publish.

This is also what the author of a mechanism needs: docs/add-a-mechanism.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.lazy import lazy_names

if TYPE_CHECKING:
    from locentropy.core.bounds import Bounds as Bounds
    from locentropy.core.estimates import Estimates as Estimates
    from locentropy.core.estimates import Measurements as Measurements
    from locentropy.core.estimates import Method as Method
    from locentropy.core.estimates import NoisyPresence as NoisyPresence
    from locentropy.core.locations import Locations as Locations
    from locentropy.core.queries import Queries as Queries
    from locentropy.mechanisms.base import BoundedMechanism as BoundedMechanism
    from locentropy.mechanisms.base import Mechanism as Mechanism
    from locentropy.mechanisms.base import bounded_profile as bounded_profile
    from locentropy.mechanisms.base import require_locations as require_locations
    from locentropy.mechanisms.listed_estimates import half_width as half_width
    from locentropy.mechanisms.parameters import LISTED as LISTED
    from locentropy.mechanisms.parameters import LargeDeltaWarning as LargeDeltaWarning
    from locentropy.mechanisms.parameters import check_epsilon as check_epsilon
    from locentropy.mechanisms.parameters import parameter as parameter
    from locentropy.mechanisms.parameters import public_inputs as public_inputs
    from locentropy.privacy.noise import Noise as Noise
    from locentropy.privacy.noise import OpenDPNoise as OpenDPNoise
    from locentropy.privacy.noise import is_private as is_private
    from locentropy.privacy.noise import laplace_scale as laplace_scale

_HOMES = {
    "BoundedMechanism": "mechanisms.base",
    "Bounds": "core.bounds",
    "Estimates": "core.estimates",
    "LISTED": "mechanisms.parameters",
    "LargeDeltaWarning": "mechanisms.parameters",
    "Locations": "core.locations",
    "Measurements": "core.estimates",
    "Mechanism": "mechanisms.base",
    "Method": "core.estimates",
    "Noise": "privacy.noise",
    "NoisyPresence": "core.estimates",
    "OpenDPNoise": "privacy.noise",
    "Queries": "core.queries",
    "bounded_profile": "mechanisms.base",
    "check_epsilon": "mechanisms.parameters",
    "half_width": "mechanisms.listed_estimates",
    "is_private": "privacy.noise",
    "laplace_scale": "privacy.noise",
    "parameter": "mechanisms.parameters",
    "public_inputs": "mechanisms.parameters",
    "require_locations": "mechanisms.base",
}

__all__ = [
    "LISTED",
    "BoundedMechanism",
    "Bounds",
    "Estimates",
    "LargeDeltaWarning",
    "Locations",
    "Measurements",
    "Mechanism",
    "Method",
    "Noise",
    "NoisyPresence",
    "OpenDPNoise",
    "Queries",
    "bounded_profile",
    "check_epsilon",
    "half_width",
    "is_private",
    "laplace_scale",
    "parameter",
    "public_inputs",
    "require_locations",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
