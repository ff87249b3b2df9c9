"""A map by somebody else opens no other file and no address, runs nothing, and becomes nothing huge."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import LocentropyError, SourceError
from locentropy.core.locations import Locations
from locentropy.places import map_formats
from locentropy.places.geopackage import opened_geopackage
from locentropy.places.map_outline import read_outline
from locentropy.places.wkb import is_flat

from .maps import feature, geojson, square

SECRET = "lives-in-the-house-by-the-sea"
AROUND = Locations(pa.array(["p"]), None, np.array([0.5]), np.array([0.5]))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "private.csv"
    path.write_text(f'name,WKT\n{SECRET},"POLYGON ((0 0,1 0,1 1,0 0))"\n')
    return path


@pytest.fixture
def address() -> Iterator[tuple[str, list[Any]]]:
    """An address of this machine, and who has connected to it."""
    met: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, who = server.accept()
                except OSError:
                    return
                met.append(who)
                connection.close()

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x", met


def refused(path: Path, **options: Any) -> str:
    """What is said of a map that is read as zones and as an outline, neither of which may give anything."""
    with pytest.raises(LocentropyError) as said:
        le.Zones(path, id="name", **options).locations()
    with pytest.raises(LocentropyError):
        read_outline(path, AROUND)
    assert SECRET not in str(said.value)
    return str(said.value)


def written(path: Path, **options: Any) -> Path:
    """A map that GDAL writes."""
    names = [np.array(["a", "b"], dtype=object)]
    shapes = shapely.to_wkb(np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)]))
    how = {"geometry_type": "Polygon", "crs": "EPSG:4326"} | options
    pyogrio.raw.write(path, shapes, names, ["name"], **how)
    return path


PROGRAMS = {
    "VRT": lambda file, url: (
        f'<OGRVRTDataSource><OGRVRTLayer name="private"><SrcDataSource>{file}</SrcDataSource>'
        "</OGRVRTLayer></OGRVRTDataSource>"
    ),
    "VRT with a query": lambda file, url: (
        f'<OGRVRTDataSource><OGRVRTLayer name="x"><SrcDataSource>{file}</SrcDataSource>'
        "<SrcSQL>SELECT name FROM private</SrcSQL></OGRVRTLayer></OGRVRTDataSource>"
    ),
    "VRT of an address": lambda file, url: (
        f'<OGRVRTDataSource><OGRVRTLayer name="x"><SrcDataSource>/vsicurl/{url}</SrcDataSource>'
        "</OGRVRTLayer></OGRVRTDataSource>"
    ),
    "a pipeline": lambda file, url: json.dumps(
        {"type": "gdal_streamed_alg", "command_line": f"gdal vector pipeline ! read {file}"}
    ),
    "a pipeline of an address": lambda file, url: json.dumps(
        {"type": "gdal_streamed_alg", "command_line": f"gdal vector pipeline ! read /vsicurl/{url}"}
    ),
    "a table": lambda file, url: file.read_text(),
    "a GeoJSON of another kind": lambda file, url: json.dumps(
        {"type": "Topology", "objects": {}, "arcs": []}
    ),
    "a web service": lambda file, url: f"<OGRWFSDataSource><URL>{url}</URL></OGRWFSDataSource>",
}


@pytest.mark.parametrize("ending", [".geojson", ".json", ".gpkg", ".shp", ".parquet"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_by_the_name_of_a_map_does_not_run(
    tmp_path: Path, secret: Path, address: tuple[str, list[Any]], program: str, ending: str
) -> None:
    url, met = address
    path = tmp_path / f"districts{ending}"
    content = PROGRAMS[program](secret, url)
    path.write_text(content)
    refused(path)
    if ending == ".shp":  # with the number by which shapefiles are known
        path.write_bytes(struct.pack(">i20x", 9994) + content.encode())
        for part in (".shx", ".dbf", ".prj"):
            path.with_suffix(part).write_text(content)
        refused(path)
    assert not met


@pytest.mark.parametrize(
    "crs",
    [
        {"type": "link", "properties": {"href": "URL", "type": "ogcwkt"}},
        {"type": "url", "properties": {"url": "URL"}},
        {"type": "URL", "properties": {"href": "URL"}},
        {"type": "name", "properties": {"name": "URL"}},
        {"type": "name", "properties": {"name": "FILE"}},
        {"type": "name", "properties": {"name": "+init=FILE:name"}},
        {"type": "name", "properties": {"name": "+proj=longlat +datum=WGS84 +nadgrids=FILE"}},
    ],
)
def test_what_a_geojson_says_of_its_coordinates_opens_nothing(
    tmp_path: Path, secret: Path, address: tuple[str, list[Any]], crs: dict[str, Any]
) -> None:
    url, met = address
    said = json.loads(json.dumps(crs).replace("URL", url).replace("FILE", str(secret)))
    features = [feature("a", [square(0, 0)])]
    path = tmp_path / "d.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": said, "features": features}))
    refused(path)
    assert not met


def test_names_of_coordinates_that_programs_write_are_known(tmp_path: Path) -> None:
    for name in ("urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326"):
        crs = {"type": "name", "properties": {"name": name}}
        top = {"type": "FeatureCollection", "crs": crs, "features": [feature("a", [square(0, 0)])]}
        (tmp_path / "d.geojson").write_text(json.dumps(top))
        assert le.Zones(tmp_path / "d.geojson", id="name").locations().ids.to_pylist() == ["a"]


GRIDS = (
    'GEOGCS["x",DATUM["d",SPHEROID["WGS 84",6378137,298.257223563],EXTENSION["PROJ4_GRIDS","{file}"]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
)


COMMANDS = (
    'PROJCRS["x",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]]],'
    'CONVERSION["c",METHOD["PROJ-based operation method: +proj=pipeline +step +proj=hgridshift +grids={file}"]],'
    'CS[Cartesian,2],AXIS["(E)",east],AXIS["(N)",north],LENGTHUNIT["metre",1]]'
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_definitions_of_coordinates_open_no_file_of_corrections(tmp_path: Path) -> None:
    """A pipe without a writer: who opens it waits for ever."""
    pipe = tmp_path / "grid"
    os.mkfifo(pipe)
    bound = GRIDS.format(file=pipe)
    shapefile = written(tmp_path / "d.shp")
    shapefile.with_suffix(".prj").write_text(bound)
    package = written(tmp_path / "d.gpkg", layer="d")
    with closing(sqlite3.connect(package)) as con:
        con.execute("UPDATE gpkg_spatial_ref_sys SET organization = 'NONE', definition = ?", [bound])
        con.commit()
    commands = COMMANDS.format(file=pipe)
    for crs in (
        commands,
        {"proj": "longlat", "nadgrids": str(pipe)},
        {"init": f"{pipe}:x"},
        bound,
        f"+init={pipe}:x",
    ):
        refused(geoparquet(tmp_path / "d.parquet", [shapely.to_wkb(shapely.box(0, 0, 1, 1))], crs=crs))
    refused(package)
    with pytest.raises(SourceError):
        le.Zones(shapefile, id="name").locations()


def geoparquet(path: Path, shapes: list[bytes], crs: Any = None, **options: Any) -> Path:
    about = {"encoding": "WKB", "geometry_types": []} | ({} if crs is None else {"crs": crs})
    geo = {"version": "1.1.0", "primary_column": "shape", "columns": {"shape": about}}
    table = pa.table({"shape": pa.array(shapes, pa.binary()), "name": [str(at) for at in range(len(shapes))]})
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path, **options)
    return path


class TestGeoPackage:
    def change(self, path: Path, *statements: str) -> Path:
        with closing(sqlite3.connect(path)) as con:
            for statement in statements:
                con.execute(statement)
            con.commit()
        return path

    @pytest.mark.parametrize(
        "layer",
        [
            "CREATE VIEW d AS SELECT * FROM kept",
            "CREATE VIEW d AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS fid, x AS geom, x AS name FROM n",
            "CREATE VIRTUAL TABLE d USING fts5(fid, geom, name)",
            "CREATE TABLE d (fid INTEGER PRIMARY KEY, geom BLOB, name TEXT AS (printf('%s', fid)))",
            "CREATE TABLE d (fid INTEGER PRIMARY KEY, geom BLOB AS (zeroblob(1000000000)), name TEXT)",
        ],
    )
    def test_a_layer_is_a_table_that_stores_its_rows(self, tmp_path: Path, layer: str) -> None:
        path = written(tmp_path / "d.gpkg", layer="d", layer_options={"SPATIAL_INDEX": "NO"})
        self.change(path, "ALTER TABLE d RENAME TO kept", layer)
        assert "stored" in refused(path)

    def test_so_are_the_tables_that_say_what_the_layers_are(self, tmp_path: Path) -> None:
        path = written(tmp_path / "d.gpkg", layer="d")
        self.change(
            path,
            "ALTER TABLE gpkg_contents RENAME TO kept",
            "CREATE VIEW gpkg_contents AS SELECT 'd' AS table_name, 'features' AS data_type",
        )
        assert "'gpkg_contents' is a view" in refused(path)

    def test_what_gdal_adds_to_every_layer_stays_idle(self, tmp_path: Path) -> None:
        """Its spatial index is a virtual table with triggers: neither is read, and none runs."""
        path = written(tmp_path / "d.gpkg", layer="d")
        with closing(sqlite3.connect(path)) as con:
            kinds = {kind for (kind,) in con.execute("SELECT type FROM sqlite_master")}
        assert "trigger" in kinds
        before = path.read_bytes()
        assert le.Zones(path, id="name").locations().ids.to_pylist() == ["a", "b"]
        assert path.read_bytes() == before

    def test_a_default_that_is_long_does_not_make_a_small_file_large(self, tmp_path: Path) -> None:
        path = written(tmp_path / "d.gpkg", layer="d")
        self.change(
            path,
            "ALTER TABLE d RENAME COLUMN name TO old",
            f"ALTER TABLE d ADD COLUMN name TEXT DEFAULT '{'x' * 100_000}'",
        )
        with pytest.raises(SourceError, match="larger than the file"):
            le.Zones(path, id="name").locations()

    def test_nothing_beside_it_is_opened(self, tmp_path: Path) -> None:
        """A journal beside a database would be played back into it, and a log read as if it were a part of it."""
        path = written(tmp_path / "d.gpkg", layer="d")
        for beside in ("-journal", "-wal", "-shm"):
            (tmp_path / f"d.gpkg{beside}").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\0" * 600)
        names = sorted(each.name for each in tmp_path.iterdir())
        content = path.read_bytes()
        marked = bytearray(content)
        marked[18:20] = b"\2\2"  # further rows are in the log
        for each in (content, bytes(marked)):
            path.write_bytes(each)
            assert le.Zones(path, id="name").locations().ids.to_pylist() == ["a", "b"]
            assert path.read_bytes() == each
        assert sorted(each.name for each in tmp_path.iterdir()) == names

    def test_another_database_is_no_geopackage(self, tmp_path: Path) -> None:
        path = tmp_path / "d.gpkg"
        self.change(path, "CREATE TABLE d (name TEXT)", "INSERT INTO d VALUES ('x')")
        assert "not a GeoPackage" in refused(path)

    def test_no_function_is_called_and_nothing_is_written(self, tmp_path: Path) -> None:
        path = written(tmp_path / "d.gpkg", layer="d")
        with opened_geopackage(path.read_bytes()) as tables:
            for query in (
                "SELECT load_extension('x')",
                "DELETE FROM d",
                "ATTACH 'other.db' AS other",
                "PRAGMA writable_schema = ON",
                "SELECT hex(name) FROM d",
            ):
                with pytest.raises(sqlite3.Error, match=r"not authorized|prohibited"):
                    tables._connection.execute(query).fetchall()


class TestShapefile:
    def test_gdal_sees_its_own_parts_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = written(tmp_path / "d.shp", encoding="UTF-8")
        for beside in ("d.qix", "d.sbn", "d.shp.xml", "d.vrt", "e.shp", "e.dbf", "d.idm", "d.dbt"):
            (tmp_path / beside).write_text("<OGRVRTDataSource/>")
        seen: list[list[str]] = []
        read = pyogrio.read_arrow

        def watched(own: Path, **options: Any) -> Any:
            seen.append(sorted(each.name for each in own.parent.iterdir()))
            assert own.parent.stat().st_mode & 0o077 == 0
            return read(own, **options)

        monkeypatch.setattr(map_formats.pyogrio, "read_arrow", watched)
        assert le.Zones(path, id="name").locations().ids.to_pylist() == ["a", "b"]
        assert seen == [["map.cpg", "map.dbf", "map.shp", "map.shx"]]

    def test_parts_in_capitals_belong_to_it(self, tmp_path: Path) -> None:
        path = written(tmp_path / "d.shp")
        for part in (".dbf", ".shx", ".prj"):
            path.with_suffix(part).rename(tmp_path / f"d{part.upper()}")
        assert le.Zones(path, id="name").locations().ids.to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    "name",
    [
        "/vsizip/DIR/d.zip/d.geojson",
        "/vsicurl/URL.geojson",
        "zip://DIR/d.zip!d.geojson",
        "URL.geojson",
        "GPKG:DIR/d.gpkg",
        "DIR/d.zip",
        "GeoJSON:DIR/d.geojson",
        '{"type": "FeatureCollection", "features": []}.geojson',
        "<OGRVRTDataSource></OGRVRTDataSource>.geojson",
    ],
)
def test_a_path_is_a_path(tmp_path: Path, address: tuple[str, list[Any]], name: str) -> None:
    url, met = address
    geojson(tmp_path / "d.geojson", feature("a", [square(0, 0)]))
    (tmp_path / "d.zip").write_bytes(b"PK\x03\x04")
    refused(Path(name.replace("DIR", str(tmp_path)).replace("URL", url)))
    with pytest.raises(LocentropyError):
        le.Zones(name.replace("DIR", str(tmp_path)).replace("URL", url), id="name").locations()
    assert not met


def nested(kind: int, depth: int = 200_000) -> bytes:
    return struct.pack("<BII", 1, kind, 1) * depth + struct.pack("<BII", 1, 3, 0)


@pytest.mark.parametrize("kind", [4, 5, 6, 7, 1006, 0x80000006, 0xA0000006])
def test_shapes_within_shapes_do_not_end_the_process(tmp_path: Path, kind: int) -> None:
    assert not is_flat(nested(kind))
    refused(geoparquet(tmp_path / "d.parquet", [nested(kind)]))
    path = written(tmp_path / "d.gpkg", layer="d", layer_options={"SPATIAL_INDEX": "NO"})
    header = b"GP\0\1" + struct.pack("<i", 4326)
    TestGeoPackage().change(path, f"UPDATE d SET geom = x'{(header + nested(kind)).hex()}'")
    refused(path)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000])
def test_json_within_json_does_not_either(tmp_path: Path, deep: str) -> None:
    path = tmp_path / "d.geojson"
    path.write_text('{"type": "FeatureCollection", "features": ' + deep)
    assert "cannot be read as a map" in refused(path)


def test_a_small_geoparquet_that_stands_for_a_huge_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locentropy.core.parquet._FREE", 1 << 20)
    huge = [b"\0" * (1 << 20)] * 30
    path = geoparquet(tmp_path / "d.parquet", huge, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 100_000
    assert "much larger than its file" in refused(path)


def test_a_map_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_formats, "MAX_BYTES", 100)
    assert "is larger than" in refused(geojson(tmp_path / "d.geojson", feature("a", [square(0, 0)])))


RINGS = st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=3, max_size=6).map(
    lambda ring: [*ring, ring[0]]
)
KINDS = {
    "Polygon": st.lists(RINGS, min_size=1, max_size=3),
    "MultiPolygon": st.lists(st.lists(RINGS, min_size=1, max_size=2), min_size=1, max_size=3),
    "LineString": RINGS,
    "MultiLineString": st.lists(RINGS, min_size=1, max_size=3),
}
GEOMETRIES = st.one_of(
    *(st.fixed_dictionaries({"type": st.just(kind), "coordinates": each}) for kind, each in KINDS.items())
)


@given(st.lists(st.tuples(GEOMETRIES, st.text(max_size=5)), min_size=1, max_size=4))
def test_geojson_is_read_to_the_last_bit_as_gdal_reads_it(made: list[tuple[dict[str, Any], str]]) -> None:
    features = [{"type": "Feature", "properties": {"name": name}, "geometry": shape} for shape, name in made]
    content = json.dumps({"type": "FeatureCollection", "features": features}).encode()
    found = map_formats.shapes_in(Path("d.geojson"), {".geojson": content}, ["name"], None)
    _, theirs = pyogrio.read_arrow(content)
    assert found.table["name"].to_pylist() == [name for _, name in made]
    assert shapely.to_wkb(found.shapes).tolist() == theirs[theirs.column_names[-1]].to_pylist()


@given(GEOMETRIES, st.sampled_from([2, 3]), st.booleans(), st.data())
def test_every_shape_that_maps_have_is_flat(
    made: dict[str, Any], dimension: int, big_endian: bool, data: st.DataObject
) -> None:
    shape = shapely.force_3d(shapely.geometry.shape(made), 7.0)
    for flavor, system in (("extended", False), ("extended", True), ("iso", False)):
        wkb = shapely.to_wkb(
            shapely.set_srid(shape, 4326),
            output_dimension=dimension,
            byte_order=0 if big_endian else 1,
            include_srid=system,
            flavor=flavor,
        )
        assert is_flat(wkb)
        cut = data.draw(st.integers(0, len(wkb) - 1))
        if made["type"].startswith("Multi"):
            with pytest.raises((struct.error, IndexError)):
                is_flat(wkb[: min(cut, 8)])
