"""Cells that people share: H3 and the INSPIRE grid, their ids, their regions, and the rule for points."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import h3
import numpy as np
import pyproj
import pytest
import shapely

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.places.h3_cells import H3Locator
from locentropy.places.inspire import SIZES, InspireSquares, to_metres
from locentropy.places.map_index import IndexedLocator

from .maps import BOX, awkward_points, districts

BERLIN = (52.34, 13.09, 52.68, 13.76)


def test_h3_cells_are_those_of_the_library() -> None:
    cells = le.H3Cells(8, within=BOX)
    south, west, north, east = BOX
    box = h3.LatLngPoly([(south, west), (north, west), (north, east), (south, east)])
    places = cells.locations()
    assert places.ids.to_pylist() == sorted(h3.polygon_to_cells(box, 8))
    assert places.lat is not None
    assert places.lon is not None
    assert ((places.lat >= south) & (places.lat <= north) & (places.lon >= west) & (places.lon <= east)).all()
    assert np.array_equal(cells.locator().positions(places.lat, places.lon), np.arange(len(places)))
    assert shapely.is_valid(shapely.from_wkb(places.outlines)).all()


@pytest.mark.parametrize("resolution", [5, 8, 9])
def test_the_raster_gives_the_cells_that_h3_names(resolution: int) -> None:
    cells = le.H3Cells(resolution, within=BOX)
    ids = cells.locations().ids.to_pylist()
    corners = shapely.get_coordinates(shapely.from_wkb(cells.locations().outlines))
    points = awkward_points(20_000, corners)
    located = cells.locator()
    assert isinstance(located, IndexedLocator)
    found = located.positions(*points.T)
    known = (np.abs(points[:, 0]) <= 90) & (np.abs(points[:, 1]) <= 180)
    named = [
        h3.latlng_to_cell(lat, lon, resolution) if good else None
        for (lat, lon), good in zip((points + 0.0).tolist(), known, strict=True)
    ]
    place = {name: number for number, name in enumerate(ids)}
    assert found.tolist() == [place.get(name, -1) for name in named]
    assert np.array_equal(pickle.loads(pickle.dumps(located)).positions(*points.T), found)  # noqa: S301


def test_h3_within_zones_and_across_the_earth(tmp_path: Path) -> None:
    zones = le.Zones(districts(tmp_path / "d.geojson"), id="name", provenance="the city's office")
    places = (cells := le.H3Cells(8, within=zones)).locations()
    assert places.lat is not None
    assert places.lon is not None
    assert (zones.locator().positions(places.lat, places.lon) >= 0).all()
    assert zones.map.fingerprint in cells.described
    assert cells.origin == "the city's office"
    world = le.H3Cells(1, within=(-90, -180, 90, 180))
    assert len(world.locations()) == h3.get_num_cells(1)
    assert isinstance(world.locator(), H3Locator)
    ends = world.locator().positions(
        np.array([-17.0, -17.0, 90.0, -90.0]), np.array([180.0, -180.0, 0.0, 7.0])
    )
    assert ends[0] == ends[1]
    assert (ends >= 0).all()


@pytest.mark.parametrize("resolution", [0, 1, 2])
def test_outlines_are_cut_at_the_date_line_and_cover_the_earth(resolution: int) -> None:
    places = le.H3Cells(resolution, within=(-90, -180, 90, 180)).locations()
    outlines = shapely.from_wkb(places.outlines)
    assert shapely.is_valid(outlines).all()
    assert shapely.area(outlines).sum() == pytest.approx(360 * 180, rel=1e-12)  # no gap, and nothing twice
    parts = shapely.get_parts(outlines)
    west, south, east, north = shapely.bounds(parts).T
    wide = east - west > 180
    assert ((north[wide] == 90) | (south[wide] == -90)).all()  # those around the poles
    assert wide.sum() == 2
    assert len(parts) > len(outlines)
    assert ((west >= -180) & (east <= 180)).all()
    # Parts are where the cell is: near its centre, or as near on the other side of the date line.
    assert places.lat is not None
    assert places.lon is not None
    for outline, lon in zip(outlines, places.lon, strict=True):
        if outline.geom_type == "MultiPolygon":
            assert {round(part.bounds[0 if part.bounds[0] == -180 else 2]) for part in outline.geoms} == {
                -180,
                180,
            }
            assert abs(lon) > 90


@pytest.mark.parametrize(
    ("size", "corner", "written"),
    [
        ("1km", (2_689_000, 4_337_000), "1kmN2689E4337"),
        ("100m", (2_689_100, 4_337_900), "100mN26891E43379"),
        ("250m", (2_689_250, 4_337_750), "250mN268925E433775"),
        ("5km", (2_685_000, 4_335_000), "5kmN2685E4335"),
        ("10km", (2_680_000, 4_330_000), "10kmN268E433"),
        ("100km", (2_600_000, 4_300_000), "100kmN26E43"),
    ],
)
def test_inspire_ids_as_offices_write_them(size: str, corner: tuple[int, int], written: str) -> None:
    back = pyproj.Transformer.from_crs("EPSG:3035", "EPSG:4258", always_xy=True)
    middle = [each + SIZES[size] / 2 for each in corner]
    lon, lat = back.transform(middle[1], middle[0])
    reach = SIZES[size] / 1e5
    squares = InspireSquares(size, within=(lat - reach, lon - reach, lat + reach, lon + reach))
    ids = squares.locations().ids.to_pylist()
    [position] = squares.locator().positions(np.array([lat]), np.array([lon]))
    assert ids[position] == written


def test_the_projection_is_that_of_proj() -> None:
    rng = np.random.default_rng(4)
    lat, lon = rng.uniform(24.6, 84.73, 20_000), rng.uniform(-35.58, 44.83, 20_000)
    lat[0], lon[0] = 52.0, 10.0
    x, y = pyproj.Transformer.from_crs("EPSG:4258", "EPSG:3035", always_xy=True).transform(lon, lat)
    east, north = to_metres(lon, lat)
    assert np.abs(east - x).max() < 1e-6
    assert np.abs(north - y).max() < 1e-6


def test_inspire_squares_are_found_by_projection() -> None:
    squares = InspireSquares("1km", within=BERLIN)
    places = squares.locations()
    forth = pyproj.Transformer.from_crs("EPSG:4258", "EPSG:3035", always_xy=True)
    rng = np.random.default_rng(3)
    lat, lon = rng.uniform(52.3, 52.7, 5000), rng.uniform(13.0, 13.8, 5000)
    x, y = forth.transform(lon, lat)
    place = {name: number for number, name in enumerate(places.ids.to_pylist())}
    expected = [
        place.get(f"1kmN{int(n // 1000)}E{int(e // 1000)}", -1)
        for e, n in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert squares.locator().positions(lat, lon).tolist() == expected
    assert -1 in expected
    assert len(places) > 1500
    odd = np.array([np.nan, np.inf, -np.inf, 1e300, 91.0, -52.5, 52.5])
    assert set(squares.locator().positions(odd, odd[::-1].copy()).tolist()) == {-1}
    assert places.lat is not None
    assert places.lon is not None
    assert np.array_equal(squares.locator().positions(places.lat, places.lon), np.arange(len(places)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: le.H3Cells(16, within=BOX), "resolution"),
        (lambda: le.H3Cells(9.0, within=BOX), "resolution"),  # type: ignore[arg-type]
        (lambda: le.H3Cells(9, within="Berlin"), "within"),  # type: ignore[arg-type]
        (lambda: le.H3Cells(9, within=(1, 2, 3)), "within"),  # type: ignore[arg-type]
        (lambda: le.H3Cells(9, within=(41, -74, 40, -73)), "south below north"),
        (lambda: le.H3Cells(9, within=(float("nan"), -74, 41, -73)), "within"),
        (lambda: le.H3Cells(12, within=(40, -75, 45, -70)).locations(), "cells in this region"),
        (lambda: le.H3Cells(0, within=BOX).locations(), "cells in this region"),
        (lambda: InspireSquares("1 km", within=BERLIN), "100m, 250m"),
        (lambda: InspireSquares("1km", within=BOX).locations(), "must lie in Europe"),
        (lambda: InspireSquares("100m", within=(36, -10, 70, 40)).locations(), "squares in this region"),
    ],
)
def test_wrong_calls_show_a_right_one(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=r"For example: (H3Cells|InspireSquares)") as raised:
        make()
    assert words in str(raised.value)
