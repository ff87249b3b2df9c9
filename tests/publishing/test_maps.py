"""Releases by zones, H3 cells and INSPIRE squares: what is said of them, their outlines, and the command line."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import locentropy as le
from locentropy.core.errors import ReleaseError
from locentropy.release.outlines import bounds_of, rings_of
from tests.visits.warehouses import agreeing_cells

MOMENTS = le.Moments(epsilon=1.0, max_locations=3, max_visits=5)
"""Estimates in no time, where it does not matter which."""


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    table = agreeing_cells.visits(agreeing_cells.cells("zones", tmp_path), 3000)
    pq.write_table(table, tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


@pytest.mark.parametrize("way", agreeing_cells.WAYS)
def test_a_release_has_every_cell_with_its_outline(way: str, visits: Path, tmp_path: Path) -> None:
    there = agreeing_cells.cells(way, tmp_path)
    mechanism = le.Shares(epsilon=1.0) if way == "zones" else MOMENTS
    release = le.publish(le.Visits(visits), mechanism, there, ledger=None, out=tmp_path / "out")
    places = there.locations()
    assert release.to_arrow()["location"].to_pylist() == places.ids.to_pylist()
    assert release.statement.locations_source == there.described
    table = pq.read_table(tmp_path / "out" / "release.parquet")
    assert table["geometry"].to_pylist() == places.outlines.to_pylist()
    about = json.loads(table.schema.metadata[b"geo"])["columns"]["geometry"]
    assert about["bbox"] == shapely.total_bounds(shapely.from_wkb(places.outlines)).tolist()
    again = le.Release.load(tmp_path / "out")
    assert again.outlines.equals(places.outlines.cast(pa.binary()))
    assert again.reestimate().outlines.equals(again.outlines)
    assert le.verify(tmp_path / "out").ok
    assert there.described in " ".join((tmp_path / "out" / "details.yaml").read_text().split())


def test_zones_are_named_by_the_fingerprint_and_the_owner(visits: Path, tmp_path: Path) -> None:
    zones = le.Zones(tmp_path / "districts.geojson", id="name", provenance="the city's office, 2026")
    release = le.publish(le.Visits(visits), MOMENTS, zones, ledger=None)
    assert zones.map.fingerprint in release.statement.locations_source
    assert release.statement.locations_provenance == "the city's office, 2026"


def test_excluded_zones_are_as_if_nobody_had_been_there(visits: Path, tmp_path: Path) -> None:
    zones = le.Zones(tmp_path / "districts.geojson", id="name")
    gone = le.PublicLocations(["d0-0", "d1-1"])
    release = le.publish(le.Visits(visits), MOMENTS, zones, ledger=None, exclude=gone)
    assert len(release) == len(zones.locations()) - 2
    assert release.outlines is not None
    assert len(release.outlines) == len(release)


def test_a_release_without_its_outlines_is_refused(visits: Path, tmp_path: Path) -> None:
    zones = le.Zones(tmp_path / "districts.geojson", id="name")
    release = le.publish(le.Visits(visits), MOMENTS, zones, ledger=None, out=tmp_path / "out")
    with pytest.raises(ReleaseError, match="published with outlines"):
        le.Release(release.table, release.statement)
    path = tmp_path / "out" / "release.parquet"
    table = pq.read_table(path)
    broken = pa.array([b"\x01\x03"] * len(table), pa.binary())
    pq.write_table(table.set_column(table.column_names.index("geometry"), "geometry", broken), path)
    assert not le.verify(tmp_path / "out").ok


def test_outlines_are_read_as_they_are_written_and_nothing_else() -> None:
    ring = shapely.Polygon([(0, 0), (3, 0), (3, 3), (0, 3)], [[(1, 1), (2, 1), (2, 2), (1, 2)]])
    both = shapely.MultiPolygon([ring, shapely.box(5, 5, 6, 7)])
    [polygon] = rings_of(shapely.to_wkb(ring))
    assert [len(each) for each in polygon] == [5, 5]
    assert [len(each) for each in rings_of(shapely.to_wkb(both))] == [2, 1]
    assert bounds_of(pa.array([shapely.to_wkb(both)])) == [0, 0, 6, 7]
    good = shapely.to_wkb(ring)
    wrong = [b"", good[:-1], good + b"\0", b"\0" + good[1:], shapely.to_wkb(shapely.Point(1, 1))]
    wrong += [shapely.to_wkb(shapely.box(0, 0, 181, 1)), shapely.to_wkb(shapely.MultiPolygon([]))]
    wrong += [good.replace(np.float64(3).tobytes(), np.float64("nan").tobytes())]
    for each in wrong:
        with pytest.raises(ReleaseError, match="outline"):
            rings_of(each)
    with pytest.raises(ReleaseError, match="outline"):
        bounds_of(pa.array([good, None], pa.binary()))


def test_a_mechanism_of_the_paper_takes_zones_too(visits: Path, tmp_path: Path) -> None:
    zones = le.Zones(tmp_path / "districts.geojson", id="name")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = le.paper.Limit(1.0, max_locations=3, max_visits=2)
        assert len(le.publish(le.Visits(visits), mechanism, zones, ledger=None)) == len(zones.locations())
