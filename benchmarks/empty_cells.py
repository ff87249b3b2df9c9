"""How much of the squared error of Shares lies in cells that nobody visited, on grids.

    LOCENTROPY_GOWALLA=… python benchmarks/empty_cells.py
    python benchmarks/empty_cells.py --data city --epsilon 0.1 1 --seeds 2

Grids: over New York, with the check-ins of Gowalla, and over the synthetic city. Goal: at ε = 1, empty cells have less
than 15 % of the squared error. Each grid is read in three ways: as a list of ids; as cells, which may lean on cells
nearby; and by an oracle, which is told how many cells have how many visitors, but not which. What the oracle leaves in
empty cells is left there by noise: no better prior gets below it without knowing where the cells are.
"""

from __future__ import annotations

import argparse
import os
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import locentropy as le
from locentropy.core.queries import CachedQueries
from locentropy.datasets import City
from locentropy.mechanisms.shares.estimator import visitor_model
from utility_data import GOWALLA, GRID, PEOPLE, PLACES, DataSet
from utility_scores import DELTA, mean, simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

CITY_CELL = 100.0
"""Side in metres of the cells over the synthetic city."""


@contextmanager
def opened(name: str) -> Iterator[DataSet]:
    """Visits on a grid, with the coordinates of its cells."""
    with TemporaryDirectory() as folder:
        if name == "gowalla":
            visits, grid = le.Visits(GOWALLA), GRID
        else:
            city = City(people=PEOPLE, places=PLACES)
            city.write(folder)
            visits, grid = le.Visits(f"{folder}/visits.parquet"), over(city)
        with le.private.open_queries(visits, locations=grid, resources=le.Resources(threads=1)) as queries:
            exact = queries.exact_profile()
            yield DataSet(name, CachedQueries(queries), grid.locations(), exact.entropy, exact.user_counts)


def over(city: City) -> le.Grid:
    """Cells over the public places of a city."""
    places = city.places()
    lat, lon = places["lat"].to_numpy(), places["lon"].to_numpy()
    return le.Grid(
        south=lat.min(), west=lon.min(), north=lat.max() + 1e-6, east=lon.max() + 1e-6, cell=CITY_CELL
    )


def told(users: np.ndarray):
    """A visitor prior that is the truth about the whole list."""

    def prior(grid: np.ndarray, *_: object, **__: object) -> np.ndarray:
        ends = np.append((grid[:-1] + grid[1:]) / 2, np.inf)
        law = np.bincount(np.searchsorted(ends, users), minlength=grid.size) + 1e-6
        return law / law.sum()

    return patch.object(visitor_model, "learn_visitor_prior", prior)


def report(data: DataSet, epsilon: float, delta: float, seeds: int) -> None:
    empty, mechanism = data.users == 0, le.Shares(epsilon, delta=delta)
    plain = replace(data, locations=le.mechanisms.Locations.of(data.locations.ids))
    cells = replace(data, locations=replace(data.locations, leans_on_coordinates=True))
    for name, read in {"ids": plain, "cells": cells, "oracle": plain}.items():
        rows = []
        for seed in range(seeds):
            if name == "oracle":
                with told(data.users):
                    found = simulated(mechanism, read, seed)
            else:
                found = simulated(mechanism, read, seed)
            squared = (found.entropy - data.truth) ** 2
            covered = (found.low <= data.truth + 1e-9) & (data.truth <= found.high + 1e-9)
            rows.append(
                (
                    squared[empty].sum() / squared.sum(),
                    squared.mean(),
                    squared.mean() / data.truth.var(),
                    found.entropy[empty].mean(),
                    mean(covered),
                    mean(covered[data.large]),
                )
            )
        part, mse, to_constant, value, all_held, large_held = np.mean(rows, axis=0)
        print(
            f"{data.name:8s} ε = {epsilon:<4g} δ = {delta:<6g} {name:7s} empty cells' part of the error {part:4.0%}, "
            f"published there {value:.2f} nats; MSE {mse:.3f}, {to_constant:.2f} of the best constant's; "
            f"intervals hold {all_held:.2f}, n ≥ 100 {large_held:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=("gowalla", "city"), default=["gowalla", "city"])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0])
    parser.add_argument("--seeds", type=int, default=1)
    chosen = parser.parse_args()
    for name in chosen.data:
        if name == "gowalla" and not GOWALLA:
            print("gowalla: LOCENTROPY_GOWALLA names no file")
            continue
        with opened(name) as data:
            print(f"{name}: {data.truth.size:,} cells, {np.mean(data.users == 0):.0%} of them empty")
            for epsilon in chosen.epsilon:
                for delta in (0.0, DELTA):
                    report(data, epsilon, delta, chosen.seeds)


if __name__ == "__main__":
    main()
