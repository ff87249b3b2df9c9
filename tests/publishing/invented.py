"""The requests and the visits from which version 0.1 made the numbers in tests/data/previous."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import locentropy as le
from locentropy.publishing.request import Request

DATA = Path(__file__).parents[1] / "data" / "previous"

PUBLIC = le.PublicLocations([f"p{number:02d}" for number in range(12)], provenance="made up")
GRID = le.Grid(south=40.69, west=-74.04, north=40.73, east=-73.99, cell=1500)
SELECTED = le.SelectLocations(epsilon=1.0, delta=1e-7, max_locations=3)
ABOUT = le.About(title="Made-up city", curator="nobody", region="nowhere", publication_date="2026-11-16")
FIVE = {"max_locations": 5, "max_visits": 5}

REGISTER = pa.table(
    {
        "location": [f"p{number:02d}" for number in range(12)],
        "name": [f"Place {number}" for number in range(12)],
        "kind": ["bar", "café", "park"] * 4,
        "district": ["North"] * 6 + ["South"] * 6,
        "ward": ["N"] * 6 + ["S"] * 6,
        "phone": [f"555-{number:04d}" for number in range(12)],
    }
)
"""Without `ward`, what the attempts in interrupted-all-columns-… published."""


def register(of: pa.Table = REGISTER, **options: Any) -> le.PublicLocations:
    """The same places, with what a register says of them."""
    return le.PublicLocations(of, provenance="made up", **options)


def visits() -> le.Visits:
    """300 people at up to four of twelve places, by a formula."""
    rows = [
        (f"u{user}", f"p{place:02d}", 40.701 + 0.01 * (place // 4), -74.029 + 0.01 * (place % 4))
        for user in range(300)
        for at in range(1 + user % 4)
        for place in [(user * user + 7 * at * user + 3 * at) % 13 % 12]
        for _ in range(1 + (user + at) % 5)
    ]
    names = ("user", "location", "lat", "lon")
    return le.Visits(pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}))


def requests() -> dict[str, Request]:
    """By the names in values.json and identities.json."""
    less = le.PublicLocations(["p01"])
    return {
        "shares": Request(le.Shares(1.0), PUBLIC),
        "shares 10": Request(le.Shares(10, max_users=5000), PUBLIC),
        "shares on a grid": Request(le.Shares(1.0), GRID),
        "shares, selected": Request(le.Shares(1.0), SELECTED),
        "moments on a grid": Request(le.Moments(1.0, **FIVE), GRID, about=ABOUT),
        "moments on a grid, less cells": Request(le.Moments(1.0, **FIVE), GRID, le.PublicLocations([0, 7])),
        "limit": Request(le.paper.Limit(0.5, **FIVE), PUBLIC),
        "limit, selected": Request(le.paper.Limit(0.5, **FIVE), SELECTED),
        "limit, selected, bits": Request(
            le.paper.Limit(0.5, **FIVE, keep="first"), SELECTED, entropy_unit="bits"
        ),
        "limit-ss, less places": Request(le.paper.LimitSS(1.0, delta=1e-8, **FIVE), PUBLIC, less),
        "limit-ptr": Request(le.LimitPTR(1.0, delta=1e-8, **FIVE, min_users=50), None),
        "limit-ptr, small": Request(
            le.LimitPTR(4.0, delta=1e-4, max_locations=2, max_visits=5, min_users=5), None
        ),
        "limit-ptr, listed, less places": Request(
            le.LimitPTR(4.0, delta=1e-4, **FIVE, min_users=5), PUBLIC, less
        ),
        "limit-cb": Request(
            le.paper.LimitCB(1.0, **FIVE, min_users=20, accept_no_guarantee=True), PUBLIC, not_private=True
        ),
        "baseline": Request(le.paper.Baseline(1.0, max_locations=100, max_visits=1000), PUBLIC),
    }
