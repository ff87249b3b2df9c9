"""Real check-ins by zones drawn by hand, by H3 cells within them, and by category; skipped where the data are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import locentropy as le
from locentropy.private import exact_profile
from tests.places.maps import feature, geojson

DISTRICTS = {
    "Downtown": [(-74.0175, 40.7045), (-74.0095, 40.7005), (-73.9985, 40.7065), (-73.9775, 40.71), (-73.9735, 40.7205),
                 (-73.9725, 40.73), (-73.981, 40.7345), (-74.009, 40.7465), (-74.013, 40.726)],
    "Midtown": [(-74.009, 40.7465), (-73.981, 40.7345), (-73.9725, 40.73), (-73.971, 40.744), (-73.9585, 40.7585),
                (-73.973, 40.7645), (-73.9815, 40.7682), (-73.993, 40.773)],
    "Upper East Side": [(-73.973, 40.7645), (-73.9585, 40.7585), (-73.942, 40.7755), (-73.944, 40.7835),
                        (-73.9365, 40.7915), (-73.949, 40.7965)],
    "Upper West Side": [(-73.993, 40.773), (-73.9815, 40.7682), (-73.958, 40.7965), (-73.976, 40.7965)],
    "Central Park": [(-73.9815, 40.7682), (-73.973, 40.7645), (-73.949, 40.7965), (-73.958, 40.7965)],
    "Brooklyn": [(-73.9975, 40.7), (-73.989, 40.7045), (-73.9715, 40.7065), (-73.964, 40.7205), (-73.961, 40.7385),
                 (-73.94, 40.729), (-73.924, 40.718), (-73.924, 40.7)],
    "Queens": [(-73.961, 40.7385), (-73.958, 40.747), (-73.937, 40.772), (-73.924, 40.779), (-73.924, 40.718),
               (-73.94, 40.729)],
}  # fmt: skip
"""Borough-like, around the water between them; drawn by hand, not after the visits."""

pytestmark = pytest.mark.slow


@pytest.fixture
def boroughs(tmp_path: Path) -> le.Zones:
    shapes = [feature(name, [ring]) for name, ring in DISTRICTS.items()]
    return le.Zones(geojson(tmp_path / "boroughs.geojson", *shapes), id="name", provenance="drawn by hand")


def test_new_york_by_zones(gowalla: Path, boroughs: le.Zones, tmp_path: Path) -> None:
    moments = le.Moments(epsilon=1.0, max_locations=4, max_visits=10)
    release = le.publish(le.Visits(gowalla), moments, boroughs, ledger=None, out=tmp_path / "out")
    values = dict(
        zip(
            release.to_arrow()["location"].to_pylist(), release.to_arrow()["entropy"].to_pylist(), strict=True
        )
    )
    assert list(values) == list(DISTRICTS)
    assert max(values, key=values.get) == "Midtown"  # type: ignore[arg-type]
    assert min(values, key=values.get) == "Queens"  # type: ignore[arg-type]
    assert le.verify(tmp_path / "out").ok


def test_new_york_by_hexagons_and_squares_on_land(gowalla: Path, boroughs: le.Zones) -> None:
    visits = le.Visits(gowalla)
    for there in (le.H3Cells(8, within=boroughs), le.Grid.over(boroughs, cell=500)):
        exact = exact_profile(visits, locations=there).entropy
        release = le.publish(visits, le.Shares(epsilon=1.0), there, ledger=None)
        assert release.statement.attributes == ("coordinates",)
        values = release.to_arrow()["entropy"].to_numpy()
        # A constant for all cells would have the variance of the truth as its error.
        assert np.mean((values - exact) ** 2) < 0.4 * exact.var()
        assert np.corrcoef(values, exact)[0, 1] > 0.8


def test_jakarta_by_category(cities: Path) -> None:
    places = le.PublicLocations(
        cities / "jakarta_places.csv.gz", group="category", provenance="categories of venues"
    )
    visits = le.Visits(cities / "jakarta_visits.csv.gz")
    release = le.publish(visits, le.Moments(epsilon=1.0, max_locations=5, max_visits=10), places, ledger=None)
    groups = places.load()
    assert release.to_arrow()["location"].to_pylist() == groups.ids.to_pylist()
    assert release.statement.grouped_by == "category"
    # Who was at three cafés of the city was once among those who go to cafés.
    per_user = exact_profile(visits, locations=groups)
    assert per_user.users.max() <= 6206
