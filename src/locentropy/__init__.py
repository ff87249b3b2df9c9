"""Publish how popular places are without giving away who was there.

    import locentropy as le
    places = le.Locations.of(["cafe-1", "park-2"])                                      # a public list
    with le.open_queries(le.Visits("checkins.parquet"), locations=places) as queries:   # private
        estimates = le.Limit(epsilon=1.0, max_locations=5, max_visits=5).estimate(queries, places, le.OpenDPNoise())

Names load their module when first used, so that `import locentropy` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from locentropy.core.version import __version__

if TYPE_CHECKING:
    from locentropy.core.bounds import Bounds
    from locentropy.core.errors import LocentropyError
    from locentropy.core.estimates import Estimates
    from locentropy.core.grid import Grid
    from locentropy.core.locations import Locations
    from locentropy.core.profile import VisitProfile
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.baseline import Baseline
    from locentropy.mechanisms.limit import Limit
    from locentropy.mechanisms.limit_cb import LimitCB
    from locentropy.mechanisms.limit_ptr import LimitPTR
    from locentropy.mechanisms.limit_ss import LimitSS
    from locentropy.mechanisms.select_locations import SelectLocations
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import OpenDPNoise
    from locentropy.visits.engines.engine import Resources
    from locentropy.visits.public_list import PublicLocations
    from locentropy.visits.queries import exact_profile, open_queries, profile
    from locentropy.visits.visits import Visits

_HOME = {
    "Baseline": "mechanisms.baseline",
    "Bounds": "core.bounds",
    "Estimates": "core.estimates",
    "Grid": "core.grid",
    "Guarantee": "privacy.guarantee",
    "Limit": "mechanisms.limit",
    "LimitCB": "mechanisms.limit_cb",
    "LimitPTR": "mechanisms.limit_ptr",
    "LimitSS": "mechanisms.limit_ss",
    "Locations": "core.locations",
    "LocentropyError": "core.errors",
    "OpenDPNoise": "privacy.noise",
    "PublicLocations": "visits.public_list",
    "Queries": "core.queries",
    "Resources": "visits.engines.engine",
    "SelectLocations": "mechanisms.select_locations",
    "VisitProfile": "core.profile",
    "Visits": "visits.visits",
    "exact_profile": "visits.queries",
    "open_queries": "visits.queries",
    "profile": "visits.queries",
}

__all__ = [
    "Baseline",
    "Bounds",
    "Estimates",
    "Grid",
    "Guarantee",
    "Limit",
    "LimitCB",
    "LimitPTR",
    "LimitSS",
    "Locations",
    "LocentropyError",
    "OpenDPNoise",
    "PublicLocations",
    "Queries",
    "Resources",
    "SelectLocations",
    "VisitProfile",
    "Visits",
    "__version__",
    "exact_profile",
    "open_queries",
    "profile",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'locentropy' has no attribute {name!r}")
    return getattr(import_module(f"locentropy.{_HOME[name]}"), name)
