"""Publish how popular places are without giving away who was there.

    import locentropy as le
    profile = le.exact_profile(le.Visits("checkins.parquet"))   # exact and private: not for publication

Names load their module when first used, so that `import locentropy` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from locentropy.core.bounds import Bounds
    from locentropy.core.errors import LocentropyError
    from locentropy.core.profile import VisitProfile
    from locentropy.core.queries import Queries
    from locentropy.visits.engines.engine import Resources
    from locentropy.visits.queries import exact_profile, open_queries, profile
    from locentropy.visits.visits import Visits

_HOME = {
    "Bounds": "core.bounds",
    "LocentropyError": "core.errors",
    "Queries": "core.queries",
    "Resources": "visits.engines.engine",
    "VisitProfile": "core.profile",
    "Visits": "visits.visits",
    "exact_profile": "visits.queries",
    "open_queries": "visits.queries",
    "profile": "visits.queries",
}

__all__ = [
    "Bounds",
    "LocentropyError",
    "Queries",
    "Resources",
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
