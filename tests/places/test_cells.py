"""What grids, zones, hexagons and squares have in common: cells within zones, and what estimates lean on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.private import exact_profile
from tests.examples import at_night
from tests.visits.warehouses import agreeing_cells

from .maps import BOX, feature, geojson, square

MOMENTS = le.Moments(epsilon=1.0, max_locations=3, max_visits=5)


@pytest.fixture
def island(tmp_path: Path) -> le.Zones:
    """A square with a lake in it, and a smaller square beside it, in a sea."""
    lake = square(0.4, 0.4, 0.2)
    path = geojson(
        tmp_path / "islands.geojson",
        feature("large", [square(0.0, 0.0), lake]),
        feature("small", [square(1.5, 0.0, 0.3)]),
    )
    return le.Zones(path, id="name", provenance="a chart")


def test_a_grid_within_zones_has_the_cells_whose_centres_are_on_land(island: le.Zones) -> None:
    whole = le.Grid(-0.5, -0.5, 1.5, 2.0, 5000)
    land = le.Grid(-0.5, -0.5, 1.5, 2.0, 5000, within=island)
    every, some = whole.locations(), land.locations()
    assert every.lat is not None
    assert every.lon is not None
    inside = island.locator().positions(every.lat, every.lon) >= 0
    assert (
        some.ids.to_pylist() == np.flatnonzero(inside).tolist()
    )  # with the numbers that they have without zones
    assert some.names.to_pylist() == every.names.take(pa.array(np.flatnonzero(inside))).to_pylist()
    assert 0 < len(some) < len(every) / 2
    assert island.map.fingerprint in land.described
    assert land.described.startswith(whole.described)
    assert (land.origin, whole.origin) == ("a chart", None)


def test_over_zones_the_box_is_theirs(island: le.Zones) -> None:
    grid = le.Grid.over(island, cell=5000)
    assert (grid.south, grid.west, grid.north, grid.east) == (0.0, 0.0, 1.0, 1.8)
    assert grid.within is island


def test_visits_on_the_water_are_left_out(island: le.Zones) -> None:
    land = le.Grid(-0.5, -0.5, 1.5, 2.0, 5000, within=island)
    rng = np.random.default_rng(3)
    lat, lon = rng.uniform(-0.7, 1.7, 4000), rng.uniform(-0.7, 2.2, 4000)
    table = pa.table({"user": [f"u{each % 90}" for each in range(4000)], "lat": lat, "lon": lon})
    at = land.locator().positions(lat, lon)
    found = exact_profile(le.Visits(table), locations=land)
    visits = np.bincount(found.index, found.visits * found.users, len(land.locations()))
    assert np.array_equal(visits, np.bincount(at[at >= 0], minlength=len(land.locations())))
    assert (at < 0).mean() > 0.5


def test_a_grid_beside_the_zones_is_refused(island: le.Zones) -> None:
    with pytest.raises(ParameterError, match="no zone with the centre of a cell"):
        le.Grid(10, 10, 11, 11, 5000, within=island).locations()
    with pytest.raises(ParameterError, match=r"within.*Grid.over"):
        le.Grid(10, 10, 11, 11, 5000, within="islands.geojson")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"Grid.over\(Zones"):
        le.Grid.over("islands.geojson", cell=500)  # type: ignore[arg-type]


def cells(way: str, folder: Path, **options: Any) -> Any:
    if way == "grid":
        return le.Grid(*BOX, 2500, **options)
    return replace(agreeing_cells.cells(way, folder), **options)  # type: ignore[type-var]


WAYS = ("grid", *agreeing_cells.WAYS)


@pytest.mark.parametrize("way", [*WAYS[:2], *at_night(*WAYS[2:])])
def test_estimates_lean_on_cells_nearby_where_the_mechanism_does_that(way: str, tmp_path: Path) -> None:
    there = cells(way, tmp_path)
    like = there if way != "grid" else agreeing_cells.cells("zones", tmp_path)
    visits = le.Visits(agreeing_cells.visits(like, 3000))
    leaning = le.publish(visits, le.Shares(epsilon=1.0), there, ledger=None)
    assert leaning.statement.attributes == ("coordinates",)
    assert [effect.name for effect in leaning.statement.leans_on] == ["coordinates"]
    assert any("coordinates, of the cells" in str(each) for each in leaning.statement.guarantee.public_inputs)
    others = le.publish(visits, MOMENTS, there, ledger=None)
    assert others.statement.attributes == ()
    alone = le.publish(visits, le.Shares(epsilon=1.0), cells(way, tmp_path, attributes=[]), ledger=None)
    assert alone.statement.attributes == ()
    assert alone.statement.guarantee.epsilon == leaning.statement.guarantee.epsilon


def test_neighbours_make_estimates_of_cells_better() -> None:
    """A town in one corner of an empty box: cells tell each other that they are empty, or not."""
    rng = np.random.default_rng(5)
    visitors = rng.integers(0, 400, 60_000)
    lat, lon = 40.6 + 0.06 * rng.beta(1, 2, 60_000), -74.05 + 0.05 * rng.beta(1, 2, 60_000)
    visits = le.Visits(pa.table({"user": [f"u{each}" for each in visitors], "lat": lat, "lon": lon}))
    grid = le.Grid(*BOX, 1000)
    truth = np.zeros(len(grid.locations()))
    exact = exact_profile(visits, locations=grid)
    truth[:] = exact.entropy
    errors = []
    for attributes in (["coordinates"], []):
        there = le.Grid(*BOX, 1000, attributes=attributes)
        # At ε = 0.5 it is 0.3 against 1.0; at ε = 1 single draws of the noise overlap.
        released = le.publish(visits, le.Shares(epsilon=0.5), there, ledger=None)
        errors.append(np.mean((released.to_arrow()["entropy"].to_numpy() - truth) ** 2))
    assert errors[0] < 0.8 * errors[1], errors


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("attributes", [["category"], "coordinates", ["coordinates", "category"], None])
def test_nothing_else_is_known_of_cells(way: str, attributes: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r'must be \["coordinates"\]'):
        cells(way, tmp_path, attributes=attributes)


def test_plans_say_which_cells(island: le.Zones, tmp_path: Path) -> None:
    for there in (
        island,
        le.Grid.over(island, cell=5000),
        le.H3Cells(5, within=island),
        le.H3Cells(5, within=BOX),
    ):
        made = le.plan(le.Shares(epsilon=1.0), locations=there)
        assert (made.locations, made.cells) == (there.kind, there.described)
        assert made.n_locations == len(there.locations())
        assert made.attributes == ("coordinates",)
        assert there.described in str(made)
        assert made.to_dict()["locations"]["cells"] == there.described
        made.to_yaml(path := tmp_path / f"{there.kind}-{made.n_locations}.yaml")
        assert le.Plan.from_yaml(path) == made
    assert le.plan(MOMENTS, locations=island).attributes == ()
    assert le.plan(le.Shares(epsilon=1.0), locations=island, attributes=[]).attributes == ()
    assert le.plan(le.Shares(epsilon=1.0), locations="grid").attributes == ("coordinates",)
    assert le.plan(le.Shares(epsilon=1.0), locations="grid").cells is None


def test_plans_of_no_cells() -> None:
    with pytest.raises(ParameterError, match="cells of a map"):
        le.plan(le.Shares(epsilon=1.0), locations=le.PublicLocations(["a"]))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="describes the cells"):
        le.Plan(le.Shares(epsilon=1.0), "public-list", cells="zones: 3")
    with pytest.raises(ParameterError, match=r'must be \["coordinates"\]'):
        le.plan(le.Shares(epsilon=1.0), locations="grid", attributes=["category"])
