"""Releases to test with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import locentropy as le
from locentropy.core.estimates import Estimates, Method
from locentropy.core.locations import Locations
from locentropy.mechanisms.registry import built_in_class
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.release import Release
from locentropy.release.statement import LedgerNote, Statement

IDS = ("cafe-1", "park-2", "pier-3")
LIMIT = le.paper.Limit(epsilon=0.3, max_locations=5, max_visits=4, max_users=1000)
NONE = Guarantee.none("the noise is simulated, from a public seed")

METHOD = Method("It counts, and adds noise.", proof="the author's article, theorem 3")
"""Of a mechanism from outside the package."""

LEDGER = LedgerNote(
    population="riders of the city's bicycles",
    spend_id="c" * 32,
    total_epsilon="4",
    total_delta="1e-6",
    spent_epsilon="1.3",
    spent_delta="0",
)


def parameters(mechanism: Any) -> dict[str, str]:
    return {
        known.name: known.value for known in mechanism.guarantee.public_inputs if known.name != "locations"
    }


def statement(**changes: Any) -> Statement:
    given: dict[str, Any] = {
        "release_id": "ab" * 16,
        "guarantee": LIMIT.guarantee,
        "mechanism": "Limit",
        "parameters": parameters(LIMIT),
        "estimand": "bounded",
        "locations_source": "public list",
        "locations_provenance": "the city's register of venues",
        "title": "Busy places: May",
        "curator": "City of Example",
        "description": "How popular the venues of the register are.",
        "intended_use": "Planning of bus lines.",
        "region": "Example, Europe",
        "software_version": le.__version__,
        "max_users": 1000,
    }
    given |= changes
    kind = built_in_class(given["mechanism"])
    given |= {
        "method": METHOD if kind is None else kind.method,
        "built_in": kind is not None,
        **{name: changes[name] for name in ("method", "built_in") if name in changes},
    }
    return Statement(**given)


def estimates(ids: Any = IDS, *, bars: bool = True, **changes: Any) -> Estimates:
    """Every second value is withheld."""
    entropy = np.linspace(0.5, 3.0, len(ids))
    entropy[1::2] = np.nan
    shown = {"std_error": entropy * 0 + 0.1, "low": entropy - 0.25, "high": entropy + 0.25} if bars else {}
    given: dict[str, Any] = {
        "locations": ids if isinstance(ids, pa.Array) else pa.array(ids, pa.string()),
        "entropy": entropy,
        "estimand": "bounded",
        "private": True,
    }
    return Estimates(**(given | shown | changes))


def places(ids: Any = IDS) -> Locations:
    """With names and coordinates, of which some are unknown."""
    count = len(ids)
    lat = np.linspace(40.5, 41.0, count)
    lat[1::2] = np.nan
    names = pa.array([None if i % 3 == 1 else f"Place {i}" for i in range(count)], pa.string())
    array = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.string())
    return Locations(array, names, lat, np.linspace(-74.0, -73.5, count))


def release(**changes: Any) -> Release:
    return Release.of(estimates(), places(), statement(**changes))


def not_private() -> Release:
    return Release.of(estimates(private=False), places(), statement(guarantee=NONE))
