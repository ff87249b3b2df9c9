"""The raster in front of a rule: it answers only where it is sure, whatever the map, and however points round."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import h3.api.basic_int as h3
import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import locentropy as le
from locentropy.places.h3_cells import H3Locator
from locentropy.places.map_index import IndexedLocator
from locentropy.places.zone_locator import ZoneLocator
from tests.examples import at_night

NUDGES = np.array([0, 1, -1, 2, -3, 10, -40])
"""Roundings."""


def nudged(values: NDArray[np.float64], seed: int = 1) -> NDArray[np.float64]:
    """Each value, some roundings away or not at all."""
    moved = np.random.default_rng(seed).choice(NUDGES, values.shape)
    return values + moved * np.spacing(values)


def along(outlines: NDArray[Any], number: int, seed: int = 1) -> NDArray[np.float64]:
    """Points (lon, lat) on the outlines: at corners, between them, and roundings beside."""
    rng = np.random.default_rng(seed)
    rings = shapely.get_rings(outlines)
    ring, share = rng.integers(0, len(rings), number), rng.random(number)
    on = shapely.get_coordinates(shapely.line_interpolate_point(rings[ring], share, normalized=True))
    corners = shapely.get_coordinates(rings)
    return nudged(np.concatenate([on, corners[rng.integers(0, len(corners), number)]]), seed)


def on_the_raster(located: IndexedLocator, number: int, seed: int = 1) -> NDArray[np.float64]:
    """Points (lon, lat) on the borders of the raster's squares, and roundings beside: they may fall on either side."""
    rng = np.random.default_rng(seed)
    step = rng.integers(0, located._side + 1, (number, 2)) + rng.choice([0, 0.5], (number, 2))
    return nudged(np.array([located._west, located._south]) + step * located._size, seed)


def must_agree(located: IndexedLocator, exact: Any, points: NDArray[np.float64]) -> None:
    lon, lat = points.T
    assert np.array_equal(located.positions(lat, lon), exact.positions(lat, lon))


@settings(max_examples=25, deadline=None)
@given(
    corners=st.lists(st.tuples(*[st.floats(-1, 1, width=32)] * 2), min_size=3, max_size=9),
    parts=st.integers(1, 3),
    centre=st.tuples(st.floats(-178, 178), st.floats(-88, 88)),
    scale=st.sampled_from([1e-7, 1e-3, 0.3, 1.0, 89.0]),
)
def test_it_answers_as_the_rule_does(
    corners: list[tuple[float, float]], parts: int, centre: tuple[float, float], scale: float
) -> None:
    """Zones of any shape, side by side, overlapping, or small; points on their borders and on those of squares."""
    hull = shapely.convex_hull(shapely.multipoints(corners))
    assume(hull.geom_type == "Polygon" and hull.area > 1e-3)
    west, _, east, _ = hull.bounds
    cuts = np.linspace(west, east, parts + 1)
    strips = [shapely.intersection(hull, shapely.box(a, -2, b, 2)) for a, b in pairwise(cuts)]
    shapes = [*strips, shapely.buffer(shapely.Point(corners[0]), 0.2, quad_segs=3)]
    low, high = np.array([-180.0, -90.0]), np.array([180.0, 90.0])
    moved = [shapely.transform(each, lambda at: np.clip(at * scale + centre, low, high)) for each in shapes]
    zones = np.array(
        [each for each in moved if each.geom_type == "Polygon" and each.is_valid and each.area > 0]
    )
    assume(len(zones))
    exact = ZoneLocator(zones)
    located = IndexedLocator(exact, zones)
    must_agree(located, exact, along(zones, 500))
    must_agree(located, exact, on_the_raster(located, 500))
    must_agree(located, exact, np.random.default_rng(2).uniform(low, high, (500, 2)))


@settings(max_examples=10, deadline=None)
@given(
    lat=st.floats(-79, 79), lon=st.floats(-179, 179), resolution=st.integers(4, 11), seed=st.integers(0, 99)
)
def test_hexagons_are_those_that_h3_names(lat: float, lon: float, resolution: int, seed: int) -> None:
    """Borders of hexagons are great circles, which are not straight in degrees."""
    side = 2 * h3.average_hexagon_edge_length(resolution, unit="km") / 111
    wide = side / np.cos(np.radians(lat))
    box = (max(lat - side, -79.5), max(lon - wide, -180), min(lat + side, 79.5), min(lon + wide, 180))
    cells = le.H3Cells(resolution, within=box)
    located, exact = cells.locator(), H3Locator(cells._cells, resolution)
    assume(isinstance(located, IndexedLocator))
    assert isinstance(located, IndexedLocator)
    must_agree(located, exact, along(cells._outlines, 400, seed))
    must_agree(located, exact, on_the_raster(located, 400, seed))
    # Between the corners, where the border is furthest from the straight line, and on either side of it.
    middles = along(cells._outlines, 400, seed)
    wobble = np.random.default_rng(seed).normal(0, 1e-4 * side, middles.shape)
    must_agree(located, exact, middles + wobble)


@pytest.mark.parametrize("side", [1e-7, *at_night(1e-4, 3.0)])
def test_a_raster_of_any_size_marks_every_square_that_an_outline_touches(side: float) -> None:
    """Against Shapely, square by square; a small map has squares that are few roundings wide."""
    rng = np.random.default_rng(8)
    corners = rng.uniform(0, side, (5, 3, 2)) + np.array([-74.0, 40.7])
    zones = shapely.polygons(corners)
    located = IndexedLocator(ZoneLocator(zones), zones)
    touched = located._touched(zones, 0.0)
    tree = shapely.STRtree(shapely.get_rings(zones))

    def grazed_by(row: Any, column: Any, many: int = 1) -> Any:
        """Which blocks of so many squares by so many an outline touches; a block is given by its first square."""
        west, south = located._west + column * located._width, located._south + row * located._height
        blocks = shapely.box(west, south, west + many * located._width, south + many * located._height)
        return np.unique(tree.query(blocks, predicate="intersects")[0])

    # Squares of blocks that are not touched, with one more on each side, need not be looked at one by one.
    block, side = 32, len(touched)
    row, column = (block * each.ravel() for each in np.indices((side // block, side // block)))
    near = grazed_by(row - 1, column - 1, block + 2)
    within = np.indices((block, block))
    row = (row[near, None, None] + within[0]).ravel()
    column = (column[near, None, None] + within[1]).ravel()
    grazed = grazed_by(row, column)
    assert touched[row[grazed], column[grazed]].all()
    assert touched.sum() < 1.6 * len(grazed) + 500  # and few others


def crooked_zones() -> NDArray[Any]:
    rng = np.random.default_rng(3)
    x, y = (each + rng.normal(0, 0.1, each.shape) for each in np.meshgrid(np.arange(9.0), np.arange(9.0)))
    at = np.stack([x, y], axis=2)
    return np.asarray(
        shapely.polygons(
            np.stack([at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]], axis=2).reshape(-1, 4, 2)
        )
    )


@pytest.mark.parametrize("fault", ["a gap in an outline", "half a square aside", "no room for rounding"])
def test_a_raster_that_is_too_sure_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted faults: these checks see them."""
    zones = crooked_zones()
    exact = ZoneLocator(zones)
    whole = IndexedLocator._touched

    def with_a_gap(self: Any, outlines: Any, margin: float) -> Any:
        touched = whole(self, outlines, margin)
        gaps = np.flatnonzero(touched.ravel())[::500]
        touched.ravel()[gaps] = False
        return touched

    if fault == "a gap in an outline":
        monkeypatch.setattr(IndexedLocator, "_touched", with_a_gap)
    if fault == "no room for rounding":
        monkeypatch.setattr("locentropy.places.map_index._ROUNDING", -1e-5)
    located = IndexedLocator(exact, zones)
    if fault == "half a square aside":
        located._frame = located._frame[0] + 0.5 * located._width, located._frame[1]
    points = np.concatenate([along(zones, 20_000), on_the_raster(located, 20_000)])
    with pytest.raises(AssertionError):
        must_agree(located, exact, points)
