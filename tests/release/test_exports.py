"""Further formats of a release: the same table, for GIS and for Excel."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.locations import Locations
from locentropy.release.exports import FORMATS, check_also, excel_csv_of, geojson_of, gpkg_of
from tests.release.making import estimates, not_private, release, statement

geopandas = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")

MOMENTS = le.Moments(1.0, max_locations=3, max_visits=2)
"""Estimates in no time, where it does not matter which."""
FEW = ["geojson", "gpkg", "excel-comma"]
HOLED = shapely.Polygon([(0, 0), (0, 4), (4, 4), (4, 0)], [[(1, 1), (2, 1), (2, 2), (1, 2)]])
"""Both rings in the direction that GeoJSON does not have."""
AREAS = [
    shapely.box(0, 0, 1, 1),
    HOLED,
    shapely.MultiPolygon([shapely.box(5, 5, 6, 6), shapely.box(7, 7, 8, 8)]),
]


def with_outlines() -> le.Release:
    ids = estimates().locations
    points = np.array([[each.representative_point().x, each.representative_point().y] for each in AREAS])
    outlines = pa.array(shapely.to_wkb(AREAS, byte_order=1), pa.binary())
    listed = Locations(ids, None, points[:, 1].copy(), points[:, 0].copy(), outlines=outlines)
    return le.Release.of(estimates(), listed, statement(locations_source="public list with outlines"))


def test_formats_of_a_release_about_a_window(tmp_path: Path) -> None:
    """Their names have the window's, as those of the other files have."""
    table = pa.table({"user": ["a"], "location": ["x"], "time": pa.array([0], pa.timestamp("us", "UTC"))})
    places = le.PublicLocations(pa.table({"location": ["x", "y"], "lat": [1.0, 2.0], "lon": [1.0, 2.0]}))
    window = le.Window("1970-01", zone="UTC")
    le.publish(
        le.Visits(table), MOMENTS, places, ledger=None, window=window, out=tmp_path / "r", also=FEW
    )  # fmt: skip
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert {"release-1970-01.geojson", "release-1970-01.gpkg", "release-excel-1970-01.csv"} <= names
    found = le.verify(tmp_path / "r")
    assert found.ok, found.checks


class TestGis:
    @pytest.mark.parametrize("make", [release, with_outlines])
    @pytest.mark.parametrize("form", ["geojson", "gpkg"])
    def test_gis_programs_read_the_same_table(self, make: Any, form: str, tmp_path: Path) -> None:
        made = make()
        path = made.save(tmp_path / "r", also=[form]) / f"release.{form}"
        found, table = geopandas.read_file(path), made.to_arrow()
        assert found.crs == "EPSG:4326"
        for name in table.column_names:
            expected = table[name].to_pandas()
            read = found[name]
            same = (
                np.allclose(read, expected, equal_nan=True, rtol=0)
                if table[name].type == pa.float64()
                else list(read) == list(expected)
            )
            assert same, name
        expected = geopandas.read_parquet(tmp_path / "r" / "release.parquet").geometry
        assert all(
            mine is theirs or mine.equals(theirs)
            for mine, theirs in zip(found.geometry, expected, strict=True)
        )

    def test_squares_of_a_grid_are_squares(self, tmp_path: Path) -> None:
        """In the table they are points; that they are squares, and which, follows from the words of the release."""
        grid = le.Grid(south=40.70, west=-74.03, north=40.72, east=-74.0, cell=500)
        table = pa.table({"user": ["a", "b"], "lat": [40.71, 40.715], "lon": [-74.02, -74.01]})
        made = le.publish(le.Visits(table), MOMENTS, grid, ledger=None)
        path = made.save(tmp_path / "r", also=["geojson", "gpkg"])
        assert le.verify(path).ok
        for found in (
            made.to_geopandas(),
            geopandas.read_file(path / "release.geojson"),
            geopandas.read_file(path / "release.gpkg"),
        ):
            assert set(found.geom_type) <= {"Polygon", "MultiPolygon"}
            inside = [
                shape.contains(shapely.Point(lon, lat))
                for shape, lat, lon in zip(found.geometry, found["lat"], found["lon"], strict=True)
            ]
            assert all(inside)
            whole = found.union_all()
            assert (whole.geom_type, whole.is_valid) == ("Polygon", True), "neighbours have borders in common"
            assert np.allclose(
                whole.bounds,
                [
                    grid.west,
                    grid.south,
                    grid.west + grid.columns * grid.lon_step,
                    grid.south + grid.rows * grid.lat_step,
                ],
            )
        assert set(geopandas.read_parquet(path / "release.parquet").geom_type) == {"Point"}

    def test_rings_turn_as_the_standard_says(self) -> None:
        for feature in json.loads(geojson_of(with_outlines()))["features"]:
            shape = feature["geometry"]
            for polygon in [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]:
                turns = [shapely.LinearRing(ring).is_ccw for ring in polygon]
                assert turns == [True] + [False] * (len(polygon) - 1)

    def test_nothing_is_from_a_clock(self) -> None:
        first = gpkg_of(release())
        time.sleep(1.1)
        assert gpkg_of(release()) == first, "when the data was read is nobody's business"

    def test_what_gis_shows_says_what_it_is(self, tmp_path: Path) -> None:
        said = json.loads(geojson_of(not_private()))["locentropy"]
        assert said["status"] == "NOT PRIVATE"
        path = release().save(tmp_path / "r", also=["gpkg"]) / "release.gpkg"
        with closing(sqlite3.connect(path)) as con:
            assert (
                "differentially private" in str(con.execute("SELECT * FROM gpkg_metadata").fetchall()).lower()
            )

    def test_places_without_coordinates(self, tmp_path: Path) -> None:
        listed = Locations(estimates().locations)
        bare = le.Release.of(estimates(), listed, statement())
        for form in ("geojson", "gpkg"):
            with pytest.raises(ParameterError, match="no coordinates"):
                bare.save(tmp_path / "r", also=[form])
        assert not list(tmp_path.iterdir())
        with pytest.raises(ReleaseError, match="no coordinates"):
            bare.to_geopandas()
        bare.save(tmp_path / "r", also=["excel-point"])


class TestFrames:
    @pytest.mark.parametrize("make", [release, with_outlines])
    def test_geopandas(self, make: Any, tmp_path: Path) -> None:
        made = make()
        frame = made.to_geopandas()
        written = geopandas.read_parquet(made.save(tmp_path / "r") / "release.parquet")
        assert frame.crs == "EPSG:4326"
        assert list(frame.columns) == list(written.columns)
        assert frame.geometry.to_wkb().tolist() == written.geometry.to_wkb().tolist()

    def test_polars(self) -> None:
        pytest.importorskip("polars")
        frame = release().to_polars()
        assert frame.to_arrow().cast(release().to_arrow().schema).equals(release().to_arrow())

    @pytest.mark.parametrize("library", ["polars", "geopandas"])
    def test_without_the_library(self, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("locentropy.release.release.find_spec", lambda name: None)
        with pytest.raises(ReleaseError, match=f"pip install {library}"):
            getattr(release(), f"to_{library}")()


class TestExcel:
    TABLE = pa.table(
        {
            "location": ["=1+1", "a;b", 'say "x"', "Ü"],
            "entropy": [1.5, None, 1e-7, 12345.678901234],
            "n": pa.array([1, 2, None, 4], pa.int64()),
            "flag": [True, False, None, True],
        }
    )

    @pytest.mark.parametrize(("decimal", "separator"), [(",", ";"), (".", ",")])
    def test_it_opens_where_decimals_have_this_mark(self, decimal: str, separator: str) -> None:
        content = excel_csv_of(self.TABLE, decimal)
        assert content.startswith(b"\xef\xbb\xbf"), "Excel takes it for UTF-8 only so"
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator))
        assert rows[0] == ["location", "entropy", "n", "flag"]
        assert [row[0] for row in rows[1:]] == ["'=1+1", "a;b", 'say "x"', "Ü"]
        numbers = [float(row[1].replace(decimal, ".")) if row[1] else None for row in rows[1:]]
        assert numbers == self.TABLE["entropy"].to_pylist()
        assert [row[2] for row in rows[1:]] == ["1", "2", "", "4"]

    def test_this_package_reads_it_too(self, tmp_path: Path) -> None:
        path = release().save(tmp_path / "r", also=["excel-comma"]) / "release-excel.csv"
        found = le.PublicLocations(path).load()
        assert found.ids.to_pylist() == list(release().to_arrow()["location"].to_pylist())


class TestFiles:
    def test_they_belong_to_the_release(self, tmp_path: Path) -> None:
        directory = release().save(tmp_path / "r", also=FEW)
        found = le.verify(directory)
        assert found.ok, found.checks
        assert "further formats" in [check.name for check in found.checks]
        assert le.Release.load(directory).to_arrow().equals(release().to_arrow())

    @pytest.mark.parametrize("name", ["release.geojson", "release.gpkg", "release-excel.csv"])
    def test_one_that_was_changed(self, name: str, tmp_path: Path) -> None:
        directory = release().save(tmp_path / "r", also=FEW)
        (directory / name).write_bytes((directory / name).read_bytes().replace(b"cafe-1", b"cafe-7"))
        problems = [problem for check in le.verify(directory).checks for problem in check.problems]
        assert any(name in problem and "SHA-256" in problem for problem in problems)
        assert any(name in problem and "different tables" in problem for problem in problems)

    @pytest.mark.parametrize("name", ["release.geojson", "release.gpkg", "release-excel.csv"])
    def test_one_that_is_gone_or_came_later(self, name: str, tmp_path: Path) -> None:
        directory = release().save(tmp_path / "r", also=FEW)
        content = (directory / name).read_bytes()
        (directory / name).unlink()
        assert not le.verify(directory).ok
        plain = release().save(tmp_path / "plain")
        assert le.verify(plain).ok
        (plain / name).write_bytes(content)
        assert not le.verify(plain).ok

    def test_marked_where_nothing_is_promised(self, tmp_path: Path) -> None:
        directory = not_private().save(tmp_path / "r", also=FEW)
        assert all("NOT-PRIVATE" in path.name for path in directory.iterdir())
        assert le.verify(directory).ok

    @pytest.mark.parametrize("wrong", [["shp"], "geojson", ["excel-comma", "excel-point"]])
    def test_formats_that_there_are_not(self, wrong: Any) -> None:
        with pytest.raises(ParameterError, match="also"):
            check_also(wrong, coordinates=True)

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("locentropy.release.exports.find_spec", lambda name: None)
        assert check_also(["geojson"], coordinates=True) == ("geojson",)
        with pytest.raises(ParameterError, match=r"locentropy\[geo\]"):
            check_also(FORMATS[:2], coordinates=True)
