"""Whether `plan` and `advise` foretell the error of Shares: measured errors beside the range that was told.

    python benchmarks/expected_error.py                              # all sets
    python benchmarks/expected_error.py --data city gowalla --epsilon 1 --seeds 1

The range is computed from public numbers alone (`shares/bayes_risk.py`): places, people, ε and δ; and, in the
second half of the table, how many places a person visits. It is fitted to none of these sets. *Inside* is the part of
the cells whose measured error, root mean square over all places, is within the range; *worse* the part above it.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import locentropy as le
from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.shares.expected_error import shares_expectation
from utility_data import SETS, missing, open_data
from utility_scores import simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utility_data import DataSet

EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0)
DELTAS = (0.0, 1e-8)


class Cell(NamedTuple):
    """One data set at one ε and δ."""

    data: str
    epsilon: float
    delta: float
    error: float
    told: tuple[float, float]
    told_with_places: tuple[float, float]


def cells(data: DataSet, epsilons: list[float], seeds: int) -> Iterator[Cell]:
    """What was told and what came, at every ε and δ."""
    by_places = data.queries.locations_per_user()
    people = int(by_places.sum())
    places = max(1, round(float(by_places @ np.arange(by_places.size)) / people))
    for epsilon in epsilons:
        for delta in DELTAS:
            mechanism = le.Shares(epsilon, delta=delta)
            told = []
            for each in (None, places):
                found = shares_expectation(
                    mechanism.share_queries, Supposed(len(data.truth), people, locations_per_user=each)
                )
                assert found is not None
                told.append((found.low, found.high))
            runs = [simulated(mechanism, data, seed).entropy - data.truth for seed in range(seeds)]
            error = float(np.sqrt(np.mean(np.square(runs))))
            yield Cell(data.name, epsilon, delta, error, *told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    # What attributes tell is not foretold.
    there = [name for name in SETS if "+" not in name and missing(name) is None]
    parser.add_argument("--data", nargs="+", choices=there, default=there)
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    found: list[Cell] = []
    print("| data | ε | δ | measured | told | told, with places per person |")
    print("|---|---|---|---|---|---|")
    for name in asked.data:
        with open_data(name) as data:
            for cell in cells(data, asked.epsilon, asked.seeds):
                found.append(cell)
                ranges = " | ".join(
                    f"{low:.2f} to {high:.2f}" for low, high in (cell.told, cell.told_with_places)
                )
                print(
                    f"| {name} | {cell.epsilon:g} | {cell.delta:g} | {cell.error:.2f} | {ranges} |",
                    flush=True,
                )
    for words, at in (("from places and people", 4), ("and places per person", 5)):
        inside = np.mean([cell[at][0] <= cell.error <= cell[at][1] for cell in found])
        worse = np.mean([cell.error > cell[at][1] for cell in found])
        print(f"{words}: {inside:.0%} of {len(found)} cells inside, {worse:.0%} worse")


if __name__ == "__main__":
    main()
