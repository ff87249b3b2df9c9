"""Cells that cover an area are told from places that somebody listed by their public coordinates, where those may be used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import locentropy as le
from locentropy.core.locations import Locations
from locentropy.datasets import City
from locentropy.mechanisms.shares.estimator.covering_cells import are_cells

SQUARES = le.Grid(south=40.6, west=-74.1, north=40.7, east=-74.0, cell=250)
MERCATOR = np.cos(np.radians(45.0))


def leaning(locations: Locations) -> Locations:
    return replace(locations, leans_on_coordinates=True)


def at(lat: np.ndarray, lon: np.ndarray) -> Locations:
    return Locations(pa.array(np.arange(lat.size)), None, lat, lon, leans_on_coordinates=True)


def chosen(locations: Locations, kept: np.ndarray) -> Locations:
    assert locations.lat is not None
    assert locations.lon is not None
    return at(locations.lat[kept], locations.lon[kept])


def test_squares_of_a_grid_are_cells():
    assert are_cells(leaning(SQUARES.locations()))


def test_coordinates_that_must_not_be_used_are_not():
    assert not are_cells(replace(SQUARES.locations(), leans_on_coordinates=False))
    assert not are_cells(Locations(pa.array(np.arange(1000))))


def test_hexagons_are_cells_though_their_size_varies():
    row, column = (each.ravel() for each in np.mgrid[:60, :60])
    size = 0.002 * (1 + 0.0005 * row)
    lat, lon = 45.0 + size * row * np.sqrt(0.75), size * (column + row % 2 / 2) / MERCATOR
    assert are_cells(at(lat, lon))


def test_cells_without_those_in_the_water_are_cells():
    grid = SQUARES.locations()
    on_land = np.random.default_rng(1).random(len(grid.ids)) < 0.7
    assert are_cells(chosen(grid, on_land))


def test_cells_across_the_date_line_are_cells():
    grid = SQUARES.locations()
    assert grid.lat is not None
    assert grid.lon is not None
    moved = (grid.lon + 74.05 + 180.0 + 180.0) % 360.0 - 180.0
    assert moved.min() < -179
    assert moved.max() > 179
    assert are_cells(at(grid.lat, moved))


@pytest.mark.parametrize("clustered", [False, True])
def test_places_of_a_city_are_not_cells(clustered):
    draw = np.random.default_rng(2)
    lat, lon = draw.normal(45.0, 0.05, 3000), draw.normal(9.0, 0.05, 3000)
    if clustered:  # many at one address
        lat, lon = np.repeat(lat, 3), np.repeat(lon, 3)
    assert not are_cells(at(lat, lon))


def test_the_synthetic_city_is_a_list():
    places = City(people=10, places=400).places()
    assert not are_cells(at(places["lat"].to_numpy(), places["lon"].to_numpy()))


@pytest.mark.parametrize("places", [0, 1, 2, 20])
def test_a_few_places_are_not(places):
    assert not are_cells(chosen(SQUARES.locations(), np.arange(places)))


def test_a_place_without_coordinates_is_on_a_list():
    grid = SQUARES.locations()
    assert grid.lat is not None
    assert grid.lon is not None
    lat = grid.lat.copy()
    lat[5] = np.nan
    assert not are_cells(at(lat, grid.lon))


def test_the_order_of_the_list_does_not_matter():
    grid = SQUARES.locations()
    order = np.random.default_rng(3).permutation(len(grid.ids))
    assert are_cells(chosen(grid, order))
