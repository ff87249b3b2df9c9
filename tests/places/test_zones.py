"""Zones: the rules for borders, overlaps, holes, the date line and odd files, and the raster in front of them."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, LocentropyError, ParameterError, SourceError
from locentropy.places.map_index import IndexedLocator
from locentropy.places.zone_locator import ZoneLocator

from .maps import awkward_points, districts, feature, geojson, square


def at(zones: le.Zones, *points: tuple[float, float]) -> list[int]:
    """The positions of points given as (lon, lat)."""
    lon, lat = np.array(points, dtype=float).T
    return [int(each) for each in zones.locator().positions(lat, lon)]


def zones_of(tmp_path: Path, *features: dict[str, Any]) -> le.Zones:
    return le.Zones(geojson(tmp_path / "map.geojson", *features), id="name")


def test_a_border_belongs_to_the_first_zone_in_the_file(tmp_path: Path) -> None:
    left, right = feature("left", [square(0, 0)]), feature("right", [square(1, 0)])
    points = [(0.5, 0.5), (1, 0.5), (1, 0), (1, 1), (1.5, 0.5), (2, 1), (0, 0), (2.1, 0.5)]
    assert at(zones_of(tmp_path, left, right), *points) == [0, 0, 0, 0, 1, 1, 0, -1]
    assert at(zones_of(tmp_path, right, left), *points) == [1, 0, 0, 0, 0, 0, 1, -1]


def test_where_zones_overlap_the_first_has_the_point(tmp_path: Path) -> None:
    large, small = feature("large", [square(0, 0, 4)]), feature("small", [square(1, 1)])
    assert at(zones_of(tmp_path, large, small), (1.5, 1.5)) == [0]
    assert at(zones_of(tmp_path, small, large), (1.5, 1.5), (3, 3)) == [0, 1]


def test_a_hole_is_no_part_of_a_zone_but_its_edge_is(tmp_path: Path) -> None:
    ring = feature("ring", [square(0, 0, 3), square(1, 1)])
    inner = feature("inner", [square(1, 1)])
    assert at(zones_of(tmp_path, ring), (1.5, 1.5), (1, 1.5), (0.5, 0.5)) == [-1, 0, 0]
    assert at(zones_of(tmp_path, ring, inner), (1.5, 1.5), (1, 1.5)) == [1, 0]


def test_the_parts_of_a_multipolygon_are_one_zone(tmp_path: Path) -> None:
    islands = feature("islands", [square(0, 0)], [square(5, 5)])
    assert at(zones_of(tmp_path, islands), (0.5, 0.5), (5.5, 5.5), (3, 3)) == [0, 0, -1]


def test_both_ends_of_the_world_are_one_line(tmp_path: Path) -> None:
    fiji = feature("fiji", [square(178, -18, 2)], [square(-180, -18, 2)])
    east = feature("east", [square(-180, 10, 2)])
    found = at(zones_of(tmp_path, fiji, east), (179, -17), (-179, -17), (180, -17), (-180, -17), (180, 11))
    assert found == [0, 0, 0, 0, 1]


def test_odd_coordinates_are_at_no_zone(tmp_path: Path) -> None:
    world = feature("here", [square(-10, -10, 20)])
    odd = [np.nan, np.inf, -np.inf, 1e300, 181.0, -181.0]
    points = [(lon, lat) for lon in odd for lat in (*odd, 0.0)] + [(0.0, lat) for lat in odd]
    assert set(at(zones_of(tmp_path, world), *points)) == {-1}
    assert at(zones_of(tmp_path, world), (-0.0, 0.0), (0.0, -0.0)) == [0, 0]


@pytest.mark.parametrize("which", ["districts", "islands"])
def test_the_raster_gives_the_answers_of_the_exact_rule(tmp_path: Path, which: str) -> None:
    path = tmp_path / "d.geojson"
    islands = [
        feature(
            "islands", [square(-74.04, 40.61, 0.05), square(-74.03, 40.62, 0.02)], [square(-73.9, 40.8, 0.03)]
        ),
        feature("lake", [square(-74.03, 40.62, 0.02)]),
        feature("over", [square(-74.0, 40.61, 0.15)]),
    ]
    zones = le.Zones(districts(path) if which == "districts" else geojson(path, *islands), id="name")
    corners = shapely.get_coordinates(zones.map.zones)
    points = awkward_points(40_000, corners, corners[::-1])
    exact = ZoneLocator(zones.map.zones).positions(*points.T)
    located = zones.locator()
    assert isinstance(located, IndexedLocator)
    assert np.array_equal(located.positions(*points.T), exact)
    assert np.array_equal(pickle.loads(pickle.dumps(located)).positions(*points.T), exact)  # noqa: S301
    # Against the definition, one polygon after another.
    first = np.full(len(points), -1)
    ends = np.abs(points[:, 1]) == 180
    for number in reversed(range(len(zones.map.zones))):
        there = shapely.intersects_xy(zones.map.zones[number], points[:, 1], points[:, 0])
        first[there & ~ends] = number
    assert np.array_equal(exact[~ends], first[~ends])


def test_the_same_map_in_every_format(tmp_path: Path) -> None:
    source = le.Zones(districts(tmp_path / "d.geojson"), id="name", name="label")
    wkb, fields = shapely.to_wkb(source.map.zones), ["name", "label"]
    columns = [np.array(source.map.ids.to_pylist(), dtype=object)] * 2
    for name in ("d.gpkg", "d.shp"):
        pyogrio.raw.write(
            tmp_path / name, wkb, columns, fields, geometry_type="Polygon", crs="EPSG:4326", layer="d"
        )
    about = {"encoding": "WKB", "geometry_types": ["Polygon"]}
    geo = {"version": "1.1.0", "primary_column": "shape", "columns": {"shape": about}}
    table = pa.table({"shape": pa.array(wkb), "name": source.map.ids, "label": source.map.ids})
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), tmp_path / "d.parquet")
    for name in ("d.gpkg", "d.shp", "d.parquet"):
        other = le.Zones(tmp_path / name, id="name", name="label").map
        assert other.ids.equals(source.map.ids)
        assert other.names.equals(source.map.ids)
        assert shapely.equals_exact(shapely.normalize(other.zones), shapely.normalize(source.map.zones)).all()
        assert len(other.fingerprint) == 64


def test_the_id_of_a_feature_may_stand_beside_its_properties(tmp_path: Path) -> None:
    features = [{**feature(name, [square(at, 0)]), "id": f"z{name}"} for at, name in enumerate("ab")]
    zones = le.Zones(geojson(tmp_path / "d.geojson", *features), id="id", name="name")
    assert zones.map.ids.to_pylist() == ["za", "zb"]
    features[0]["properties"]["id"] = "of its properties"
    zones = le.Zones(geojson(tmp_path / "d.geojson", *features), id="id")
    assert zones.map.ids.to_pylist() == ["of its properties", "zb"]


def test_what_would_give_other_zones_is_in_its_words(tmp_path: Path) -> None:
    """An unfinished attempt is known by them: repeated with another layer, it would draw old numbers on other zones."""
    for layer, side in (("y2010", 1), ("y2020", 2)):
        pyogrio.raw.write(
            tmp_path / "d.gpkg",
            shapely.to_wkb(np.array([shapely.box(0, 0, side, side)])),
            [np.array(["a"], dtype=object)] * 2,
            ["name", "label"],
            geometry_type="Polygon", crs="EPSG:4326", layer=layer, append=layer == "y2020",
        )  # fmt: skip
    told = {
        le.Zones(tmp_path / "d.gpkg", id=key, layer=layer, name=name).described
        for layer in ("y2010", "y2020")
        for key in ("name", "label")
        for name in (None, "name", "label")
    }
    assert len(told) == 12
    within = {
        le.H3Cells(4, le.Zones(tmp_path / "d.gpkg", id="name", layer=layer)).described
        for layer in ("y2010", "y2020")
    }
    assert len(within) == 2


def test_other_coordinates_are_transformed(tmp_path: Path) -> None:
    metres = shapely.box(4_321_000, 3_210_000, 4_331_000, 3_220_000)
    pyogrio.raw.write(
        tmp_path / "m.gpkg",
        shapely.to_wkb(np.array([metres])),
        [np.array(["a"], dtype=object)],
        ["name"],
        geometry_type="Polygon",
        crs="EPSG:3035",
        layer="m",
    )
    zones = le.Zones(tmp_path / "m.gpkg", id="name")
    assert at(zones, (10.01, 52.01), (9.99, 52.01), (10.2, 52.01)) == [0, -1, -1]


def test_locations_have_names_outlines_and_a_point_inside(tmp_path: Path) -> None:
    zones = le.Zones(
        geojson(
            tmp_path / "m.geojson", feature(7, [square(0, 0, 3), square(1, 1)]), feature(9, [square(5, 5)])
        ),
        id="name",
        name="label",
    )
    places = zones.locations()
    assert places.ids.to_pylist() == [7, 9]
    assert places.names is not None
    assert places.names.to_pylist() == ["Zone 7", "Zone 9"]
    assert places.lat is not None
    assert places.lon is not None
    assert list(zones.locator().positions(places.lat, places.lon)) == [0, 1]
    assert shapely.equals(shapely.from_wkb(places.outlines), zones.map.zones).all()
    assert (
        places.without(le.mechanisms.Locations.of([7])).outlines.to_pylist()
        == places.outlines.to_pylist()[1:]
    )


BOW_TIE = [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)]
POINT = {"type": "Feature", "properties": {"name": "p"}, "geometry": {"type": "Point", "coordinates": [1, 1]}}
NOTHING = {"type": "Feature", "properties": {"name": "n"}, "geometry": None}
ROUND_THE_WORLD = [(170.0, 0.0), (-170.0, 0.0), (-170.0, 5.0), (170.0, 5.0)]


@pytest.mark.parametrize(
    ("features", "error", "words"),
    [
        ([feature("bow", [BOW_TIE])], BadRowsError, "'bow' is not a valid polygon (Self-intersection"),
        ([POINT], BadRowsError, "'p' is not a polygon"),
        ([NOTHING, feature("a", [square(0, 0)])], BadRowsError, "'n' is not a polygon"),
        ([feature("far", [square(179, 0, 2)])], BadRowsError, "'far' reaches beyond"),
        ([feature("fiji", [ROUND_THE_WORLD])], BadRowsError, "'fiji' has an edge longer than 180"),
        (
            [feature("a", [square(0, 0)]), feature("a", [square(1, 0)])],
            BadRowsError,
            "'a' in 'name' is there more",
        ),
        ([feature("a", [square(0, 0)]), feature(None, [square(1, 0)])], BadRowsError, "no id in 'name'"),
        ([feature(" ", [square(0, 0)])], BadRowsError, "no id in 'name'"),
        ([feature(1.5, [square(0, 0)])], ColumnError, "must be texts or whole numbers"),
        ([feature(" a", [square(0, 0)])], BadRowsError, "begin or end with blanks"),
        ([feature("a\nb", [square(0, 0)])], BadRowsError, "not printable"),
        ([feature("a" * 300, [square(0, 0)])], BadRowsError, "characters"),
    ],
)
def test_maps_that_can_be_taken_two_ways_are_refused(
    tmp_path: Path, features: list[Any], error: type[LocentropyError], words: str
) -> None:
    with pytest.raises(error) as raised:
        zones_of(tmp_path, *features).locations()
    assert words in str(raised.value)
    assert "map.geojson" in str(raised.value)


def test_a_pole_may_have_a_long_edge(tmp_path: Path) -> None:
    south = feature(
        "antarctica", [[(-180, -90), (0, -90), (180, -90), (180, -60), (60, -60), (-60, -60), (-180, -60)]]
    )
    assert at(zones_of(tmp_path, south), (0, -90), (12, -75), (12, -50)) == [0, 0, -1]


def test_files_that_are_no_maps(tmp_path: Path) -> None:
    for name, words in (("none.geojson", "no such file"), ("map.csv", "GeoJSON, GeoParquet")):
        if name == "map.csv":
            (tmp_path / name).write_text("a,b\n")
        with pytest.raises(SourceError, match=words):
            le.Zones(tmp_path / name, id="name").locations()
    (tmp_path / "cut.geojson").write_text('{"type": "FeatureCollection", "feat')
    with pytest.raises(SourceError, match="cannot be read as a map"):
        le.Zones(tmp_path / "cut.geojson", id="name").locations()
    pq.write_table(pa.table({"name": ["a"]}), tmp_path / "plain.parquet")
    with pytest.raises(SourceError, match="not a GeoParquet file"):
        le.Zones(tmp_path / "plain.parquet", id="name").locations()
    with pytest.raises(ColumnError, match=r"no column 'nom'\. It has: name, label"):
        le.Zones(districts(tmp_path / "d.geojson"), id="nom").locations()


def test_a_shapefile_without_its_prj_is_refused(tmp_path: Path) -> None:
    pyogrio.raw.write(
        tmp_path / "d.shp",
        shapely.to_wkb(np.array([shapely.box(0, 0, 1, 1)])),
        [np.array(["a"], dtype=object)],
        ["name"],
        geometry_type="Polygon",
        crs="EPSG:4326",
    )
    (tmp_path / "d.prj").unlink()
    with pytest.raises(SourceError, match=r"\.prj"):
        le.Zones(tmp_path / "d.shp", id="name").locations()


def test_parameters() -> None:
    for wrong in (
        {"source": 7, "id": "name"},
        {"source": "a.geojson", "id": ""},
        {"source": "a.geojson", "id": None},
    ):
        with pytest.raises(ParameterError, match="For example: Zones"):
            le.Zones(**wrong)  # type: ignore[arg-type]


def test_without_the_extra_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locentropy.places.extra.find_spec", lambda name: None)
    for name in ("h3", "h3.api.basic_int", "pyogrio", "pyproj", "shapely"):
        monkeypatch.setitem(sys.modules, name, None)  # importing it raises ImportError
    box = (52.34, 13.09, 52.68, 13.76)
    for cells in (
        le.Zones("d.geojson", id="name"),
        le.H3Cells(8, within=box),
        le.InspireSquares("1km", within=box),
    ):
        for use in (cells.locations, cells.locator):
            with pytest.raises(SourceError, match=r"pip install 'locentropy\[geo\]'"):
                use()
