"""Publish how popular places are without giving away who was there.

    import locentropy as le
    visits = le.Visits("checkins.parquet")                                     # private
    places = le.PublicLocations("venues.csv")                                  # public, not made from the visits
    release = le.publish(visits, le.Shares(epsilon=1.0), places, ledger="city.ledger", out="may")

`le.paper` has the algorithms of the 2016 paper, `le.mechanisms` what the author of a mechanism needs, and `le.private`
what returns exact, private values. Names load their module when first used, so that `import locentropy` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.lazy import lazy_names
from locentropy.core.version import __version__

if TYPE_CHECKING:
    from locentropy.core.errors import LocentropyError as LocentropyError
    from locentropy.core.windows import Window as Window
    from locentropy.evaluation.advice.advisor import advise as advise
    from locentropy.evaluation.compare import evaluate as evaluate
    from locentropy.ledger.ledger import Ledger as Ledger
    from locentropy.mechanisms.base import Mechanism as Mechanism
    from locentropy.mechanisms.limit_ptr import LimitPTR as LimitPTR
    from locentropy.mechanisms.moments.mechanism import Moments as Moments
    from locentropy.mechanisms.select import SelectLocations as SelectLocations
    from locentropy.mechanisms.shares.mechanism import Shares as Shares
    from locentropy.places.grid import Grid as Grid
    from locentropy.places.h3_cells import H3Cells as H3Cells
    from locentropy.places.inspire import InspireSquares as InspireSquares
    from locentropy.places.public_list import PublicLocations as PublicLocations
    from locentropy.places.zones import Zones as Zones
    from locentropy.planning.plans import Plan as Plan
    from locentropy.planning.plans import plan as plan
    from locentropy.privacy.guarantee import Guarantee as Guarantee
    from locentropy.publishing.publish import publish as publish
    from locentropy.publishing.rebuilding import rebuild_ledger as rebuild_ledger
    from locentropy.release.release import Release as Release
    from locentropy.release.statement import About as About
    from locentropy.release.verify import verify as verify
    from locentropy.visits.engines.base import Resources as Resources
    from locentropy.visits.visits import Visits as Visits

_HOMES = {
    "About": "release.statement",
    "Grid": "places.grid",
    "Guarantee": "privacy.guarantee",
    "H3Cells": "places.h3_cells",
    "InspireSquares": "places.inspire",
    "Ledger": "ledger.ledger",
    "LimitPTR": "mechanisms.limit_ptr",
    "LocentropyError": "core.errors",
    "Mechanism": "mechanisms.base",
    "Moments": "mechanisms.moments.mechanism",
    "Plan": "planning.plans",
    "PublicLocations": "places.public_list",
    "Release": "release.release",
    "Resources": "visits.engines.base",
    "SelectLocations": "mechanisms.select",
    "Shares": "mechanisms.shares.mechanism",
    "Visits": "visits.visits",
    "Window": "core.windows",
    "Zones": "places.zones",
    "advise": "evaluation.advice.advisor",
    "evaluate": "evaluation.compare",
    "plan": "planning.plans",
    "publish": "publishing.publish",
    "rebuild_ledger": "publishing.rebuilding",
    "verify": "release.verify",
}

__all__ = [
    "About",
    "Grid",
    "Guarantee",
    "H3Cells",
    "InspireSquares",
    "Ledger",
    "LimitPTR",
    "LocentropyError",
    "Mechanism",
    "Moments",
    "Plan",
    "PublicLocations",
    "Release",
    "Resources",
    "SelectLocations",
    "Shares",
    "Visits",
    "Window",
    "Zones",
    "__version__",
    "advise",
    "evaluate",
    "plan",
    "publish",
    "rebuild_ledger",
    "verify",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES, ("mechanisms", "paper", "private"))
