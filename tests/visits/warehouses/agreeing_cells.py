"""Visits at awkward points, and the cells of maps that every engine must find alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import locentropy as le
from locentropy.core.locations import Cells
from tests.places.maps import BOX, awkward_points, districts

WAYS = ("zones", "h3", "inspire")
BERLIN = (52.34, 13.09, 52.68, 13.76)


def cells(way: str, folder: Path) -> Cells:
    """Zones, H3 cells or INSPIRE squares."""
    if way == "zones":
        return le.Zones(districts(folder / "districts.geojson"), id="name")
    if way == "h3":
        return le.H3Cells(8, within=BOX)
    return le.InspireSquares("2km", within=BERLIN)


def visits(there: Cells, rows: int, seed: int = 1) -> pa.Table:
    """Visits on corners and borders, a rounding beside them, elsewhere, and nowhere on Earth."""
    import shapely

    rng = np.random.default_rng(seed)
    corners = shapely.get_coordinates(shapely.from_wkb(there.locations().outlines))
    points = awkward_points(rows, corners, corners[::-1], seed=seed)
    inside = there.locations()
    assert inside.lat is not None
    assert inside.lon is not None
    some = rng.integers(0, len(inside), rows // 4)
    points[rows // 2 : rows // 2 + len(some)] = np.column_stack([inside.lat[some], inside.lon[some]])
    return pa.table(
        {
            "user": [f"u{each}" for each in rng.integers(0, max(rows // 20, 2), rows)],
            "lat": points[:, 0],
            "lon": points[:, 1],
            "time": pa.array(rng.integers(0, 50, rows)).cast(pa.timestamp("us")),
        }
    )
