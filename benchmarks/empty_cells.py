"""How much of the squared error of Shares lies in cells that nobody visited, on grids.

    LOCENTROPY_GOWALLA=… python benchmarks/empty_cells.py
    python benchmarks/empty_cells.py --data districts --epsilon 0.1 1 --seeds 2

Grids: over New York, with the check-ins of Gowalla; over the box around the places of the synthetic city; and within
its districts. Goal: at ε = 1, empty cells have less than 15 % of the squared error. Each grid is read in four ways: as
a list of ids; as cells, which lean on cells nearby; and by two oracles. The first is told how many cells have how many
visitors, but not which; the second, of every cell, which of the eight around it are empty and how busy the others are,
without noise. What they leave in empty cells is left there by the noise of the cell itself.
"""

from __future__ import annotations

import argparse
import os
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.spatial import KDTree

import locentropy as le
from locentropy.core.queries import CachedQueries
from locentropy.datasets import City
from locentropy.mechanisms.shares.estimator import inference, visitor_model
from locentropy.mechanisms.shares.estimator.attributes import AttributePriors
from utility_data import GOWALLA, GRID, PEOPLE, PLACES, DataSet
from utility_scores import DELTA, mean, simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.visitor_model import Fitted

CITY_CELL = 100.0
"""Side in metres of the cells over the synthetic city."""


GRIDS = ("gowalla", "city", "districts")
NEIGHBOURS = 8


@contextmanager
def opened(name: str, cell: float) -> Iterator[DataSet]:
    """Visits on a grid, with the coordinates of its cells."""
    with TemporaryDirectory() as folder:
        if name == "gowalla":
            visits, grid = le.Visits(GOWALLA), GRID
        else:
            city = City(people=PEOPLE, places=PLACES)
            city.write(folder)
            visits = le.Visits(f"{folder}/visits.parquet")
            grid = within_districts(folder, cell) if name == "districts" else over(city, cell)
        with le.private.open_queries(visits, locations=grid, resources=le.Resources(threads=1)) as queries:
            exact = queries.exact_profile()
            yield DataSet(name, CachedQueries(queries), grid.locations(), exact.entropy, exact.user_counts)


def over(city: City, cell: float) -> le.Grid:
    """Cells over the public places of a city."""
    places = city.places()
    lat, lon = places["lat"].to_numpy(), places["lon"].to_numpy()
    return le.Grid(south=lat.min(), west=lon.min(), north=lat.max() + 1e-6, east=lon.max() + 1e-6, cell=cell)


def within_districts(folder: str, cell: float) -> le.Grid:
    """Cells within the districts of the city: its land, also where there are no places."""
    return le.Grid.over(le.Zones(f"{folder}/districts.geojson", id="name"), cell)


@contextmanager
def told_sizes(data: DataSet) -> Iterator[None]:
    """A visitor prior that is the truth about the whole list."""

    def prior(grid: np.ndarray, *_: object, **__: object) -> np.ndarray:
        law = np.bincount(nearest(grid, data.users), minlength=grid.size) + 1e-6
        return law / law.sum()

    with patch.object(visitor_model, "learn_visitor_prior", prior):
        yield


@contextmanager
def told_neighbours(data: DataSet) -> Iterator[None]:
    """For every cell, the true law of cells whose neighbours are like its own."""
    lat, lon = data.locations.lat, data.locations.lon
    position = np.stack([lat, lon * np.cos(np.radians(np.median(lat)))], axis=1)
    around = KDTree(position).query(position, k=NEIGHBOURS + 1)[1][:, 1:]
    empty = data.users[around] == 0
    busy = np.where(empty, 0.0, np.log(np.maximum(data.users, 1))[around]).sum(axis=1)
    busy /= np.maximum((~empty).sum(axis=1), 1)
    third = np.digitize(busy, np.quantile(busy[busy > 0], [1 / 3, 2 / 3]))
    kinds, kind_of = np.unique(3 * empty.sum(axis=1) + third, return_inverse=True)

    def priors(answers: Answers, fitted: Fitted, *_: object) -> AttributePriors:
        grid = fitted.simulated.visitors
        size = nearest(grid, data.users)
        all_cells = np.bincount(size, minlength=grid.size) + 1e-6
        rows = []
        for kind in range(kinds.size):
            law = np.bincount(size[kind_of == kind], minlength=grid.size).astype(float)
            visited = (
                np.convolve(law[1:], np.full(5, 0.2), mode="same") + 5 * all_cells[1:] / all_cells[1:].sum()
            )
            rows.append(np.append(law[0] + 0.1, law[1:].sum() * visited / visited.sum() + 1e-6))
        return AttributePriors(np.array([row / row.sum() for row in rows]), kind_of, ())

    with patch.object(inference, "_attribute_priors", priors):
        yield


def nearest(grid: np.ndarray, users: np.ndarray) -> np.ndarray:
    """The position in the grid of sizes of each number of visitors."""
    return np.searchsorted(np.append((grid[:-1] + grid[1:]) / 2, np.inf), users)


def report(data: DataSet, epsilon: float, delta: float, seeds: int) -> None:
    empty, mechanism = data.users == 0, le.Shares(epsilon, delta=delta)
    plain = replace(data, locations=le.mechanisms.Locations.of(data.locations.ids))
    readings = {
        "ids": (plain, nullcontext),
        "cells": (data, nullcontext),
        "sizes told": (plain, partial(told_sizes, data)),
        "neighbours told": (data, partial(told_neighbours, data)),
    }
    for name, (read, told) in readings.items():
        rows = []
        for seed in range(seeds):
            with told():
                found = simulated(mechanism, read, seed)
            squared = (found.entropy - data.truth) ** 2
            covered = (found.low <= data.truth + 1e-9) & (data.truth <= found.high + 1e-9)
            rows.append(
                (
                    squared[empty].sum() / squared.sum(),
                    squared.mean(),
                    squared[~empty].mean(),
                    found.entropy[empty].mean(),
                    mean(covered),
                    mean(covered[data.busy]),
                )
            )
        part, mse, visited, value, all_held, busy_held = np.mean(rows, axis=0)
        print(
            f"{data.name:9s} ε = {epsilon:<4g} δ = {delta:<6g} {name:15s} empty cells' part of the error {part:4.0%}, "
            f"published there {value:.2f} nats; MSE {mse:.3f}, {mse / data.truth.var():.2f} of the best constant's, of "
            f"visited cells {visited:.3f}; intervals hold {all_held:.2f}, n ≥ 20 {busy_held:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=GRIDS, default=list(GRIDS))
    parser.add_argument("--cell", type=float, default=CITY_CELL, help="metres, of the cells over the city")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0])
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    for name in chosen.data:
        if name == "gowalla" and not GOWALLA:
            print("gowalla: LOCENTROPY_GOWALLA names no file")
            continue
        with opened(name, chosen.cell) as data:
            print(f"{name}: {data.truth.size:,} cells, {np.mean(data.users == 0):.0%} of them empty")
            for epsilon in chosen.epsilon:
                for delta in (0.0, DELTA):
                    report(data, epsilon, delta, chosen.seeds)


if __name__ == "__main__":
    main()
