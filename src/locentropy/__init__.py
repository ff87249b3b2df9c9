"""Publish how popular places are without giving away who was there.

    import locentropy as le
    visits = le.Visits("checkins.parquet")                                     # private
    places = le.PublicLocations("venues.csv")                                  # public, not made from the visits
    release = le.publish(visits, le.Shares(epsilon=1.0), places, ledger="city.ledger", out="may")

Names load their module when first used, so that `import locentropy` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from locentropy.core.version import __version__
from locentropy.release.pages import draw_with

if TYPE_CHECKING:
    from locentropy.core.bounds import Bounds
    from locentropy.core.errors import LocentropyError
    from locentropy.core.estimates import Estimates
    from locentropy.core.grid import Grid
    from locentropy.core.locations import Locations
    from locentropy.core.profile import VisitProfile
    from locentropy.core.queries import Queries
    from locentropy.evaluation.advisor import advise
    from locentropy.evaluation.compare import evaluate
    from locentropy.evaluation.granted import measure_activity, survey_for
    from locentropy.mechanisms.baseline import Baseline
    from locentropy.mechanisms.limit import Limit
    from locentropy.mechanisms.limit_cb import LimitCB
    from locentropy.mechanisms.limit_ptr import LimitPTR
    from locentropy.mechanisms.limit_ss import LimitSS
    from locentropy.mechanisms.moments import Moments
    from locentropy.mechanisms.select_locations import SelectLocations
    from locentropy.mechanisms.shares import Shares
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
    "Shares": "mechanisms.shares",
    "VisitProfile": "core.profile",
    "Visits": "visits.visits",
    "advise": "evaluation.advisor",
    "evaluate": "evaluation.compare",
    "exact_profile": "visits.queries",
    "measure_activity": "evaluation.granted",
    "open_queries": "visits.queries",
    "plan": "planning.plans",
    "profile": "visits.queries",
    "publish": "publishing.publish",
    "survey_for": "evaluation.granted",
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
    "Shares",
    "VisitProfile",
    "Visits",
    "__version__",
    "advise",
    "evaluate",
    "exact_profile",
    "measure_activity",
    "open_queries",
    "plan",
    "profile",
    "publish",
    "survey_for",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'locentropy' has no attribute {name!r}")
    return getattr(import_module(f"locentropy.{_HOME[name]}"), name)


def _page(release: Release) -> bytes:
    from locentropy.report.page import page

    return page(release)


draw_with(_page)  # a release does not know the page that is made from it
