"""The background of a map: what is read of a public file, how it is cut and simplified, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from locentropy.core.background import MOST_BYTES, MOST_POINTS, Background
from locentropy.core.errors import LocentropyError, ReleaseError, SourceError
from locentropy.core.locations import Locations
from locentropy.places.map_outline import outline_fingerprint, read_outline


def around(lat: tuple[float, ...] = (50.0, 51.0), lon: tuple[float, ...] = (8.0, 10.0)) -> Locations:
    ids = pa.array([f"p{number}" for number in range(len(lat))])
    return Locations(ids, None, np.array(lat), np.array(lon))


def written(path: Path, *shapes: Any) -> Path:
    features = [
        {"type": "Feature", "properties": {}, "geometry": json.loads(shapely.to_geojson(shape))}
        for shape in shapes
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def zigzag(corners: int, height: float) -> Any:
    """A line whose every corner is that far from a straight one."""
    x = np.linspace(8, 10, corners)
    return shapely.LineString(np.column_stack([x, 50.5 + height * (np.arange(corners) % 2)]))


def test_areas_and_lines_come_as_they_are_where_they_are_small(tmp_path: Path) -> None:
    area = shapely.Polygon(
        [(8, 50), (10, 50), (10, 51), (8, 51)], [[(8.5, 50.2), (9, 50.2), (9, 50.8), (8.5, 50.8)]]
    )
    line = shapely.LineString([(8, 50), (9, 50.7), (10, 50)])
    file = written(tmp_path / "coast.geojson", area, line)
    found = read_outline(file, around())
    [[outer, hole]], [path] = found.areas, found.lines
    assert shapely.Polygon(outer, [hole]).equals(area)
    assert shapely.LineString(path).equals(line)
    assert found.n_points == 5 + 5 + 3
    assert found.to_geojson() == read_outline(file, around()).to_geojson()
    assert Background.from_geojson(found.to_geojson()).to_geojson() == found.to_geojson()
    assert len(outline_fingerprint(file)) == 64


def test_what_is_far_away_is_cut_off(tmp_path: Path) -> None:
    land = shapely.box(-30, 30, 40, 70)
    [[ring]] = read_outline(written(tmp_path / "land.geojson", land), around()).areas
    assert shapely.Polygon(ring).bounds == (
        6,
        49,
        12,
        52,
    )  # the box of the places, and its size on every side


def test_detail_is_simplified_to_the_limit_and_no_further(tmp_path: Path) -> None:
    # Deeper than the first tolerance, 6 degrees × cos(50.5°) / 20,000: only a larger one gets below the limit.
    file = written(tmp_path / "jagged.geojson", zigzag(MOST_POINTS + 2, 0.0005), zigzag(100, 0.3))
    found = read_outline(file, around())
    assert found.n_points <= MOST_POINTS
    deep = max(found.lines, key=lambda line: float(np.ptp(line[:, 1])))
    assert len(deep) == 100  # what is larger than the tolerance has lost nothing
    as_it_is = written(tmp_path / "fewer.geojson", zigzag(MOST_POINTS, 0.0005))
    assert read_outline(as_it_is, around()).n_points > MOST_POINTS - 10  # but for the ends of the line


def test_parts_too_small_to_be_seen_are_left_out(tmp_path: Path) -> None:
    speck, lake = shapely.box(9, 50.5, 9.0001, 50.5001), shapely.box(9, 50.2, 9.2, 50.4)
    found = read_outline(written(tmp_path / "lakes.geojson", speck, lake), around())
    assert len(found.areas) == 1
    with pytest.raises(SourceError, match="too small to be seen"):
        read_outline(written(tmp_path / "specks.geojson", speck), around())


def test_one_place_has_surroundings(tmp_path: Path) -> None:
    file = written(tmp_path / "line.geojson", shapely.LineString([(7.99, 50), (8.01, 50)]))
    assert len(read_outline(file, around((50.0,), (8.0,))).lines) == 1


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (shapely.Point(9, 50.5), "has no lines or polygons"),
        (shapely.box(100, 10, 101, 11), "none of its outlines is near the places"),
        (shapely.Polygon([(8, 50), (9, 51), (9, 50), (8, 51)]), "feature number 1 is not a valid polygon"),
        (shapely.LineString([(-170, 50), (170, 50)]), "feature number 1 has an edge longer than 180"),
    ],
)
def test_what_cannot_be_a_background(shape: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(LocentropyError, match=said) as refused:
        read_outline(written(tmp_path / "coast.geojson", shape), around())
    assert "coast.geojson" in str(refused.value)


def test_files_that_are_no_outline(tmp_path: Path) -> None:
    import pyogrio

    with pytest.raises(SourceError, match=r"missing.geojson: there is no such file.*outline="):
        outline_fingerprint(tmp_path / "missing.geojson")
    (tmp_path / "coast.csv").write_text("a,b\n")
    with pytest.raises(SourceError, match="GeoJSON, GeoParquet, GeoPackage or a shapefile"):
        outline_fingerprint(tmp_path / "coast.csv")
    (tmp_path / "cut.geojson").write_text('{"type": "Featu')
    with pytest.raises(SourceError, match="cannot be read as a map"):
        read_outline(tmp_path / "cut.geojson", around())
    wkb = pa.array([shapely.to_wkb(zigzag(3, 0.1))], pa.binary())
    for layer in ("coast", "streets"):
        pyogrio.write_arrow(
            pa.table({"geom": wkb}),
            tmp_path / "two.gpkg",
            layer=layer,
            geometry_name="geom",
            geometry_type="LineString",
            crs="EPSG:4326",
            append=layer == "streets",
        )
    with pytest.raises(SourceError, match="several layers"):
        read_outline(tmp_path / "two.gpkg", around())
    with pytest.raises(SourceError, match="there is no map"):
        read_outline(
            written(tmp_path / "line.geojson", zigzag(3, 0.1)), Locations(pa.array(["a"]), None, None, None)
        )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[" * 100_000,
        b'{"features": [{"geometry": {"type": "MultiLineString", "coordinates": [[[1, 2], ["x", 3]]]}}]}',
        b'{"features": [{"geometry": {"type": "MultiLineString", "coordinates": [[[1, 2], [NaN, 3]]]}}]}',
        b'{"features": [{"geometry": {"type": "MultiLineString", "coordinates": [[[1, 2], [1, 91]]]}}]}',
        b'{"features": [{"geometry": {"type": "MultiLineString", "coordinates": [[[1, 2]]]}}]}',
        b'{"features": [{"geometry": {"type": "MultiPolygon", "coordinates": [[[[1, 2], [3, 4], [5, 6], [7, 8]]]]}}]}',
        b'{"features": [{"geometry": {"type": "MultiPolygon", "coordinates": [[]]}}]}',
        b'{"features": []}',
        b" " * (MOST_BYTES + 1),
    ],
)
def test_a_file_in_a_release_is_not_trusted(content: bytes) -> None:
    with pytest.raises(ReleaseError, match="not one that a release has"):
        Background.from_geojson(content)


def test_nothing_hides_in_the_file_of_a_release() -> None:
    good = Background((), (np.array([[1.0, 2.0], [3.0, 4.0]]),)).to_geojson()
    Background.from_geojson(good)
    with pytest.raises(ReleaseError):
        Background.from_geojson(good.replace(b'"properties": {}', b'"properties": {"note": "u17 was here"}'))
    too_many = np.zeros((MOST_POINTS + 1, 2))
    with pytest.raises(ReleaseError):
        Background((), (too_many,))
