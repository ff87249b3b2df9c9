"""Visits at awkward points, and the cells of maps that every engine must find alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import locentropy as le
from locentropy.core.locations import Cells, SquareCells
from locentropy.visits.columns import BY_COORDINATES
from locentropy.visits.engines.base import engine_for
from tests.places.maps import BOX, ODD, awkward_points, districts, world

from .agreeing import Stored

WAYS = ("zones", "h3", "inspire")
AWKWARD = (*WAYS, "world", "grid", "land")
SOME, ALL = 5_000, 1_000_000
BERLIN = (52.34, 13.09, 52.68, 13.76)


def cells(way: str, folder: Path) -> Cells:
    """Zones, H3 cells, INSPIRE squares, or square cells."""
    if way == "zones":
        return le.Zones(districts(folder / "districts.geojson"), id="name")
    if way == "world":
        return le.Zones(world(folder / "world.geojson"), id="name")
    if way == "grid":
        return le.Grid(*BOX, cell=700)
    if way == "land":
        return le.Grid(*BOX, cell=700, within=cells("zones", folder))
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


def rows_to_assign(there: Cells, rows: int, seed: int = 1) -> pa.Table:
    """Visits of one user each, at awkward points; some coordinates are odd, and some are missing."""
    rng = np.random.default_rng(seed)
    points = awkward_points(rows, *[corners(there)] * 3, seed=seed)
    odd = rng.random((rows, 2)) < (0.02, 0.02)
    points[odd] = rng.choice(ODD, odd.sum())
    shuffled = points[rng.permutation(rows)]
    gone = rng.random((rows, 2)) < 0.002
    lat, lon = (pa.array(shuffled[:, at], mask=gone[:, at]) for at in (0, 1))
    return pa.table({"user": np.arange(rows), "lat": lat, "lon": lon})


def corners(there: Cells) -> NDArray[np.float64]:
    """The corners of all outlines, one after another, as (lon, lat)."""
    import shapely

    if isinstance(there, le.Grid):
        at = [
            (there.west + column * there.lon_step, there.south + row * there.lat_step)
            for row in range(there.rows + 1)
            for column in range(there.columns + 1)
        ]
        return np.array(at)
    return np.asarray(shapely.get_coordinates(shapely.from_wkb(there.locations().outlines)))


def assigned(visits: le.Visits, there: Cells, resources: le.Resources, rows: int) -> NDArray[np.int64]:
    """The number that the engine gives to the place of each row; -1 for none."""
    with engine_for(visits, BY_COORDINATES, resources, None) as engine:
        located = engine.locate(engine.visits, there)
        found = engine.run(located.select("user", "location"), "Finding places")
    user, place = (found[name].cast(pa.int64()) for name in ("user", "location"))
    there_at_all = place.is_valid().to_numpy()
    numbers = np.full(rows, -1)
    numbers[user.to_numpy()[there_at_all]] = place.drop_null().to_numpy()
    return numbers


def must_assign_alike(table: pa.Table, stored: Stored, resources: le.Resources, there: Cells) -> None:
    """Every row is at the place that the rule in Python says, on the embedded engine and on another one."""
    lat, lon = (table[name].to_numpy(zero_copy_only=False) for name in ("lat", "lon"))
    expected = there.locator().positions(lat, lon)
    if isinstance(there, SquareCells):  # by division in SQL, in cells that are left out as well
        numbers = there.numbers()
        expected = np.where(expected >= 0, numbers[expected], -1)
    for visits, engine in ((le.Visits(table), le.Resources()), (stored(table), resources)):
        found = assigned(visits, there, engine, len(table))
        if isinstance(there, SquareCells):
            found = np.where(np.isin(found, numbers), found, -1)
        differing = np.flatnonzero(found != expected)
        assert len(differing) == 0, [(lat[at], lon[at], found[at], expected[at]) for at in differing[:5]]
    assert (expected >= 0).sum() > len(table) // 20
    assert (expected < 0).sum() > len(table) // 100
