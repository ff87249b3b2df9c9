"""Publish how popular places are without giving away who was there.

    import locentropy as le
    visits = le.Visits("checkins.parquet")                                     # private
    places = le.PublicLocations("venues.csv")                                  # public, not made from the visits
    limit = le.Limit(epsilon=1.0, max_locations=5, max_visits=5)
    release = le.publish(visits, limit, places, ledger="city.ledger", out="may")

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
    from locentropy.mechanisms.moments import Moments
    from locentropy.mechanisms.select_locations import SelectLocations
    from locentropy.planning.plans import Plan, plan
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.ledger import Ledger
    from locentropy.privacy.noise import OpenDPNoise
    from locentropy.publishing.about import About
    from locentropy.publishing.publish import publish
    from locentropy.release.release import Release
    from locentropy.release.verify import verify
    from locentropy.visits.engines.engine import Resources
    from locentropy.visits.public_list import PublicLocations
    from locentropy.visits.queries import exact_profile, open_queries, profile
    from locentropy.visits.visits import Visits

_HOME = {
    "About": "publishing.about",
    "Baseline": "mechanisms.baseline",
    "Bounds": "core.bounds",
    "Estimates": "core.estimates",
    "Grid": "core.grid",
    "Guarantee": "privacy.guarantee",
    "Ledger": "privacy.ledger",
    "Limit": "mechanisms.limit",
    "LimitCB": "mechanisms.limit_cb",
    "LimitPTR": "mechanisms.limit_ptr",
    "LimitSS": "mechanisms.limit_ss",
    "Locations": "core.locations",
    "LocentropyError": "core.errors",
    "Moments": "mechanisms.moments",
    "OpenDPNoise": "privacy.noise",
    "Plan": "planning.plans",
    "PublicLocations": "visits.public_list",
    "Queries": "core.queries",
    "Release": "release.release",
    "Resources": "visits.engines.engine",
    "SelectLocations": "mechanisms.select_locations",
    "VisitProfile": "core.profile",
    "Visits": "visits.visits",
    "exact_profile": "visits.queries",
    "open_queries": "visits.queries",
    "plan": "planning.plans",
    "profile": "visits.queries",
    "publish": "publishing.publish",
    "verify": "release.verify",
}

__all__ = [
    "About",
    "Baseline",
    "Bounds",
    "Estimates",
    "Grid",
    "Guarantee",
    "Ledger",
    "Limit",
    "LimitCB",
    "LimitPTR",
    "LimitSS",
    "Locations",
    "LocentropyError",
    "Moments",
    "OpenDPNoise",
    "Plan",
    "PublicLocations",
    "Queries",
    "Release",
    "Resources",
    "SelectLocations",
    "VisitProfile",
    "Visits",
    "__version__",
    "exact_profile",
    "open_queries",
    "plan",
    "profile",
    "publish",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'locentropy' has no attribute {name!r}")
    return getattr(import_module(f"locentropy.{_HOME[name]}"), name)
