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
    from locentropy.core.locations import Locations as Locations
    from locentropy.core.queries import Queries as Queries
    from locentropy.mechanisms.base import BoundedMechanism as BoundedMechanism
    from locentropy.mechanisms.base import Mechanism as Mechanism
    from locentropy.mechanisms.listed_estimates import is_private as is_private
    from locentropy.mechanisms.parameters import LargeDeltaWarning as LargeDeltaWarning
    from locentropy.privacy.noise import Noise as Noise
    from locentropy.privacy.noise import OpenDPNoise as OpenDPNoise

_HOMES = {
    "Bounds": "core.bounds",
    "BoundedMechanism": "mechanisms.base",
    "Estimates": "core.estimates",
    "Measurements": "core.estimates",
    "Method": "core.estimates",
    "Noise": "privacy.noise",
    "is_private": "mechanisms.listed_estimates",
    "LargeDeltaWarning": "mechanisms.parameters",
    "Locations": "core.locations",
    "Mechanism": "mechanisms.base",
    "OpenDPNoise": "privacy.noise",
    "Queries": "core.queries",
}

__all__ = [
    "BoundedMechanism",
    "Bounds",
    "Estimates",
    "LargeDeltaWarning",
    "Locations",
    "Measurements",
    "Mechanism",
    "Method",
    "Noise",
    "OpenDPNoise",
    "Queries",
    "is_private",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
