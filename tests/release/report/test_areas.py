"""Zones and cells on the page: the numbers that the script gets, and what a browser draws of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

import locentropy as le
from locentropy.release.release import Release
from locentropy.release.report.drawn_outlines import MOST_NUMBERS, MOST_STEPS, drawn_outlines
from locentropy.release.report.page import page
from tests.places.maps import districts, feature, geojson, square

from .browsing import chromium, opened

MOMENTS = le.Moments(1.0, max_locations=3, max_visits=2)
"""Estimates in no time, where it does not matter which."""


def wkb(*shapes: Any) -> pa.Array:
    return pa.array(shapely.to_wkb(np.array(shapes, dtype=object)), pa.binary())


def corners(ring: list[int], scale: tuple[float, float, float]) -> list[tuple[float, float]]:
    """A ring as the script reads it."""
    x, y = itertools.accumulate(ring[::2]), itertools.accumulate(ring[1::2])
    west, south, step = scale
    return [(west + column * step, south + row * step) for column, row in zip(x, y, strict=True)]


def test_corners_are_near_enough_and_common_borders_stay_common() -> None:
    left = shapely.Polygon(
        [(0, 0), (1.234567, 0.1), (1.1, 2.2), (0, 2)], [[(0.2, 0.2), (0.4, 0.2), (0.4, 0.4)]]
    )
    right = shapely.Polygon([(1.234567, 0.1), (3, 0), (3, 2), (1.1, 2.2)])
    drawn = drawn_outlines(wkb(left, right), np.array([1, 0]))
    assert drawn is not None
    [outer], [first, hole] = drawn.rings
    assert drawn.scale[2] == pytest.approx(3 / MOST_STEPS)
    assert len(first) == 8  # without the last corner, which is the first
    assert len(hole) == 6
    assert corners(first, drawn.scale)[1] == corners(outer, drawn.scale)[0]
    assert np.allclose(
        corners(outer, drawn.scale), shapely.get_coordinates(right)[:-1], atol=drawn.scale[2] / 2
    )


def test_steps_are_as_fine_across_the_date_line() -> None:
    two = shapely.MultiPolygon([shapely.box(179.5, -17, 180, -16), shapely.box(-180, -17, -179.5, -16)])
    drawn = drawn_outlines(wkb(two), np.array([0]))
    assert drawn is not None
    assert drawn.scale[2] == pytest.approx(1 / MOST_STEPS)


def test_detail_that_no_page_can_show() -> None:
    many = np.linspace(0, 2 * np.pi, MOST_NUMBERS, endpoint=False)
    round_ = shapely.Polygon(np.column_stack([np.cos(many), np.sin(many)]))
    drawn = drawn_outlines(wkb(round_), np.array([0]))
    assert drawn is not None  # its corners are nearer to each other than a step
    assert sum(map(len, drawn.rings[0])) < 4 * 4 * MOST_STEPS
    jagged = (
        np.column_stack([np.cos(many), np.sin(many)]) * np.where(np.arange(len(many)) % 2, 1, 0.5)[:, None]
    )
    assert drawn_outlines(wkb(shapely.Polygon(jagged)), np.array([0])) is None
    assert drawn_outlines(wkb(round_), np.array([], dtype=np.int64)) is None


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def released(zones: le.Zones, rows: int = 4000) -> Release:
    rng = np.random.default_rng(4)
    places = zones.locations()
    assert places.lat is not None
    assert places.lon is not None
    at = rng.integers(0, len(places), rows)
    users = [f"u{each}" for each in rng.integers(0, 30 + 10 * at)]
    table = pa.table({"user": users, "lat": places.lat[at], "lon": places.lon[at]})
    return le.publish(
        le.Visits(table), le.Moments(epsilon=8.0, max_locations=9, max_visits=9), zones, ledger=None
    )


def drawn(release: Release, folder: Path) -> Path:
    (path := folder / "page.html").write_bytes(page(release))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_zones_are_areas(browser: Any, tmp_path: Path, size: str) -> None:
    zones = le.Zones(districts(tmp_path / "districts.geojson", 4), id="name", name="label")
    with opened(browser, drawn(released(zones), tmp_path), size) as view:
        view.page.locator("#map").scroll_into_view_if_needed()
        sea = view.colour(2, view.canvas["height"] / 2)
        for name, shape in zip(zones.map.names.to_pylist(), zones.map.zones, strict=True):
            # Towards two corners: the middle is under the zone's name.
            inside = [
                shapely.line_interpolate_point(
                    shapely.LineString([shape.centroid, shapely.get_coordinates(shape)[corner]]),
                    0.7,
                    normalized=True,
                )
                for corner in (0, 2)
            ]
            points = [view.look(point.y, point.x) for point in inside]
            if not all(
                70 < x < view.canvas["width"] - 20 and 30 < y < view.canvas["height"] - 45 for x, y in points
            ):
                continue  # under words
            assert view.colour(*points[0]) == view.colour(*points[1]) != sea
            if size == "desktop":
                view.point(*points[1])
                assert view.page.locator("#tip strong").inner_text() == name
        assert view.said == []
        assert "Each area is a" in view.page.locator("body").inner_text()


@pytest.mark.slow
def test_holes_are_left_out_and_the_date_line_is_no_edge(browser: Any, tmp_path: Path) -> None:
    lake = square(179.2, -17.8, 0.4)
    fiji = [[(179.0, -18), (180, -18), (180, -17), (179.0, -17)], lake]
    beyond = [[(-180, -18), (-179.5, -18), (-179.5, -17), (-180, -17)]]
    others = [feature(f"n{at}", [square(177.5, -18 + at, 0.9)]) for at in range(2)]
    path = geojson(tmp_path / "fiji.geojson", feature("fiji", fiji, beyond), *others)
    release = released(le.Zones(path, id="name"))
    with opened(browser, drawn(release, tmp_path)) as view:
        view.page.locator("#map").scroll_into_view_if_needed()
        sea = view.colour(2, view.canvas["height"] / 2)
        land = view.colour(*view.look(-17.23, 179.53))
        assert land != sea
        assert view.colour(*view.look(-17.23, 180.27)) == land  # beside it, not at the other end of the world
        assert view.colour(*view.look(-17.57, 179.43)) == sea
        view.point(*view.look(-17.23, 180.27))
        assert view.page.locator("#tip strong").inner_text() == "fiji"
        view.point(*view.look(-17.57, 179.43))
        assert view.page.locator("#tip").is_hidden()
        assert view.said == []


def test_the_page_says_zones_cells_or_groups(tmp_path: Path) -> None:
    zones = le.Zones(districts(tmp_path / "districts.geojson", 3), id="name")
    said = page(released(zones)).decode()
    assert "9 zones" in said
    assert "Zones, ranked</h2>" in said
    assert 'data-sort="name">Zone</th>' in said
    assert "Each area is a zone, where the public map says it is" in said
    assert '<label for="search">Find a zone</label>' in said
    assert "because it is public anyway: the map of zones (zones" in said
    assert "the list" not in said[said.index("Not protected, because") : said.index("Not protected either")]
    table = pa.table({"user": ["a", "b"], "location": ["x", "y"], "lat": [40.7, 40.7], "lon": [-74.0, -73.9]})
    grid = le.publish(le.Visits(table), le.Shares(epsilon=1.0), le.Grid.over(zones, cell=4000), ledger=None)
    said = page(grid).decode()
    assert "Cells, ranked</h2>" in said
    assert "Each area is a cell, where the public grid says it is" in said
    assert "Numbers are the ranks of the highest." in said, "a square's row and column say only where it is"
    assert '<label for="search">Find a cell</label>' in said
    assert "Estimates of cells lean on cells nearby." in said
    listed = pa.table({"location": ["x", "y", "z"], "category": ["bar", "bar", "park"]})
    groups = le.publish(le.Visits(table), MOMENTS, le.PublicLocations(listed, group="category"), ledger=None)
    said = page(groups).decode()
    assert "2 groups of places" in said
    assert "Places by category, ranked</h2>" in said
    assert 'data-sort="name">Category</th>' in said


def test_groups_are_drawn_in_the_middle_of_their_places(tmp_path: Path) -> None:
    listed = pa.table(
        {
            "location": ["x", "y", "z"],
            "kind": ["bar", "bar", "park"],
            "lat": [1.0, 2.0, 3.0],
            "lon": [4.0, 5.0, 6.0],
        }
    )
    places = le.PublicLocations(listed, group="kind")
    table = pa.table({"user": ["a", "b"], "location": ["x", "y"]})
    said = page(le.publish(le.Visits(table), MOMENTS, places, ledger=None)).decode()
    assert "Each dot is a group of places, in the middle of its places; its colour" in said


def test_a_single_location_has_neither_map_nor_ranks_nor_histogram() -> None:
    places = pa.table({"location": ["x", "y"], "lat": [1.0, 2.0], "lon": [4.0, 5.0]})
    table = pa.table({"user": ["a", "b"], "location": ["x", "y"]})
    levels = le.PublicLocations(places, levels=["place", "city"])
    release = le.publish(le.Visits(table), MOMENTS, levels, ledger=None)
    both = page(release).decode()
    one = both[both.index('<template id="level-2"') : both.index("</template>")]
    assert "All places of the list as one location</h2>" in one
    for absent in (
        "Map</h2>",
        "canvas",
        "How entropy is distributed",
        "<figure",
        'data-sort="rank"',
        "Highest first",
    ):
        assert absent in both
        assert absent not in one
    shown = json.loads(both[both.index('id="data-2">') + len('id="data-2">') :].partition("</script>")[0])
    assert {"lat", "lon"}.isdisjoint(shown["columns"])
