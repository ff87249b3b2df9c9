"""Places from a GeoDataFrame: points, areas, and what is neither."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError

geopandas = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")

MOMENTS = le.Moments(epsilon=1.0, max_locations=3, max_visits=5)
POINTS = [shapely.Point(13.4, 52.5), shapely.Point(13.41, 52.51), None]
AREAS = [
    shapely.box(0, 0, 1, 1),
    shapely.box(1, 0, 2, 1),
    shapely.MultiPolygon([shapely.box(5, 5, 6, 6), shapely.box(7, 7, 8, 8)]),
]


def frame(shapes: Any = POINTS, crs: Any = "EPSG:4326", **columns: Any) -> Any:
    return geopandas.GeoDataFrame(
        {"place": ["a", "b", "c"], "kind": ["x", "y", "x"], **columns}, geometry=shapes, crs=crs
    )


def test_points_become_coordinates() -> None:
    found = le.PublicLocations(frame()).load()
    assert np.array_equal(found.lat, [52.5, 52.51, np.nan], equal_nan=True)
    assert np.array_equal(found.lon, [13.4, 13.41, np.nan], equal_nan=True)
    assert not found.columns
    table = frame(entrance=geopandas.GeoSeries(POINTS[::-1]), Latitude=["x", "y", "z"], phone=[1, 2, 3])
    read = le.PublicLocations(table, publish_columns=["kind"]).read()
    assert list(read.places.columns) == ["kind"]
    assert {*read.left_out} == {"entrance", "Latitude", "phone"}
    read = le.PublicLocations(table, lat=None, lon=None, publish_columns=["Latitude"]).read()
    assert (list(read.places.columns), read.places.lat) == (["Latitude"], None)
    assert {*read.left_out} == {"kind", "phone", "entrance", "geometry"}
    assert list(le.PublicLocations(table, publish_columns=["Latitude"]).load().columns) == ["Latitude"]


def test_in_degrees_whatever_its_reference_system_is() -> None:
    found = le.PublicLocations(frame().to_crs("EPSG:25833")).load()
    assert np.allclose(found.lat[:2], [52.5, 52.51], atol=1e-9)
    assert np.allclose(found.lon[:2], [13.4, 13.41], atol=1e-9)


def test_the_geometry_is_where_places_are_unless_columns_are_named() -> None:
    table = frame(lat=[1.0, 2.0, 3.0], lon=[1.0, 2.0, 3.0])
    assert le.PublicLocations(table).load().lat[0] == 52.5
    assert le.PublicLocations(table, lat="lat", lon="lon").load().lat[0] == 1.0
    none = le.PublicLocations(table, lat=None, lon=None).load()
    assert none.lat is None


def test_areas_keep_their_outlines(tmp_path: Path) -> None:
    visits = le.Visits(frame().drop(columns="geometry").assign(user=["u", "v", "w"]), user="user")
    places = le.PublicLocations(frame(AREAS), provenance="a map")
    made = le.publish(visits, MOMENTS, places, ledger=None, out=tmp_path / "r", also=["geojson", "gpkg"])
    assert made.statement.locations_source == "public list with outlines"
    for name in ("release.parquet", "release.geojson", "release.gpkg"):
        read = geopandas.read_parquet if name.endswith("parquet") else geopandas.read_file
        assert all(
            mine.equals(own) for mine, own in zip(read(tmp_path / "r" / name).geometry, AREAS, strict=True)
        )
    assert le.verify(tmp_path / "r").ok
    assert all(mine.equals(own) for mine, own in zip(made.to_geopandas().geometry, AREAS, strict=True))
    again = le.Release.load(tmp_path / "r").reestimate()
    assert again.outlines is not None


def test_columns_of_every_type_and_awkward_names(tmp_path: Path) -> None:
    table = frame(
        fid=["x", "y", None],
        geom=[1.5, None, 2.5],
        Rowid=[3, 2, 1],
        opened=[date(2026, 1, 31), None, date(1999, 12, 31)],
        open=[True, False, True],
    )
    visits = le.Visits(frame().drop(columns="geometry").assign(user=["u", "v", "w"]), user="user")
    named = ["fid", "geom", "Rowid", "opened", "open"]
    places = le.PublicLocations(table, provenance="a map", publish_columns=named)
    every = ["geojson", "gpkg", "excel-comma"]
    made = le.publish(visits, MOMENTS, places, ledger=None, out=tmp_path / "r", also=every)
    assert le.verify(tmp_path / "r").ok, le.verify(tmp_path / "r").checks
    found = geopandas.read_file(tmp_path / "r" / "release.gpkg")
    assert found["fid"].tolist()[:2] == ["x", "y"]
    assert found["geom"].tolist()[0] == 1.5
    assert made.to_geopandas()["open"].tolist() == [True, False, True]


def test_groups_of_areas_have_a_middle_and_no_outline(tmp_path: Path) -> None:
    visits = le.Visits(frame().drop(columns="geometry").assign(user=["u", "v", "w"]), user="user")
    places = le.PublicLocations(frame(AREAS), group="kind", provenance="a map")
    made = le.publish(visits, MOMENTS, places, ledger=None)
    assert made.outlines is None
    assert made.statement.locations_source.startswith("public list, its places grouped")


@pytest.mark.parametrize("levels", [["place", "kind"], ["kind", "place", "all"], ["kind", "all"]])
def test_areas_have_outlines_at_their_own_level(levels: list[str], tmp_path: Path) -> None:
    visits = le.Visits(frame().drop(columns="geometry").assign(user=["u", "v", "w"]), user="user")
    places = le.PublicLocations(frame(AREAS), levels=levels, provenance="a map")
    every = ["geojson", "gpkg", "excel-comma"]
    made = le.publish(visits, MOMENTS, places, ledger=None, out=tmp_path / "r", also=every)
    assert {name for name, level in made.levels.items() if level.outlines is not None} == {"place"} & {
        *levels
    }
    found = le.verify(tmp_path / "r")
    assert found.ok, found.checks
    for name, level in le.Release.load(tmp_path / "r").levels.items():
        stem = "release" if name == levels[0] else next((tmp_path / "r").glob(f"*{name}.geojson")).stem
        for form in ("geojson", "gpkg"):
            read = geopandas.read_file(tmp_path / "r" / f"{stem}.{form}")
            assert [str(each) for each in read["location"]] == level.to_arrow()["location"].to_pylist()
            assert set(read.geom_type) <= ({"Polygon", "MultiPolygon"} if name == "place" else {"Point"})
        assert (tmp_path / "r" / f"{stem}-excel.csv").is_file()
    damaged = next(iter(sorted((tmp_path / "r").glob("release*.geojson"))))
    damaged.write_text(damaged.read_text().replace("Feature", "feature", 1))
    assert not le.verify(tmp_path / "r").ok


@pytest.mark.parametrize(
    "shapes",
    [[*AREAS[:2], POINTS[0]], [*AREAS[:2], None], [shapely.LineString([(0, 0), (1, 1)])] * 3],
    ids=["mixed", "one without", "lines"],
)
def test_what_is_neither(shapes: Any) -> None:
    with pytest.raises(ColumnError, match="representative_point"):
        le.PublicLocations(frame(shapes)).load()


def test_areas_that_cannot_be_drawn() -> None:
    bow = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    for table in (frame([bow, *AREAS[:2]]), frame([shapely.box(0, 0, 500, 500), *AREAS[:2]], crs=None)):
        with pytest.raises(BadRowsError, match="set_crs"):
            le.PublicLocations(table).load()


def test_as_a_list_to_exclude() -> None:
    assert le.PublicLocations(frame()).load(only_ids=True).ids.to_pylist() == ["a", "b", "c"]
