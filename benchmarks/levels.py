"""What several levels in one release cost in accuracy: `python benchmarks/levels.py`.

For cities of this library, and those of LOCENTROPY_CITIES (see utility_data.py), prints the root mean squared error of
each level in nats, and how many intervals hold the truth, when one ε is divided by the rule, in equal parts, or spent
three times in separate releases; what places gain from leaning on the level above as an attribute; and what Moments
would make of that level where it is a short list.
Noise is simulated: no budget pays for comparing with the truth.
"""

from __future__ import annotations

import argparse
import gzip
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

import locentropy as le
from locentropy.core.levels import check_levels
from locentropy.core.queries import CachedQueries
from locentropy.datasets import City
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.level_parts import divided
from locentropy.mechanisms.shares.expected_error import SHORT_LIST
from locentropy.private import open_queries

if TYPE_CHECKING:
    from locentropy.core.locations import Locations
    from locentropy.mechanisms.base import Mechanism

CITIES = ((3000, 400), (20_000, 2000))
"""People and places of the cities that are made up."""
REAL = os.environ.get("LOCENTROPY_CITIES")
NAMES = ("jakarta", "sao_paulo")
MOST_VISITS = 50
"""C of Moments at a level in the middle that is a short list; M is its length, so that nobody is cut to fewer."""


def ways(epsilon: float, sizes: list[int]) -> dict[str, list[float]]:
    """The ε of each level."""
    parts = divided(le.Shares(epsilon), check_levels(["place", "column", "all"]), sizes)
    rule = [float(each.guarantee.epsilon or 0) for each in parts.values()]
    return {"the rule": rule, "equal parts": [epsilon / 3] * 3, "three releases": [epsilon] * 3}


def error(
    mechanism: Mechanism, queries: Any, locations: Locations, truth: Any, seeds: int
) -> tuple[float, float]:
    """Root mean squared error, and how many of the intervals hold the truth."""
    squares, held = [], []
    for seed in range(seeds):
        found = mechanism.estimate(mechanism.measure(queries, locations, SimulatedNoise(seed)), locations)
        squares.append(np.mean((found.entropy - truth) ** 2))
        if found.low is not None and found.high is not None:
            held.append(np.mean((found.low <= truth) & (truth <= found.high)))
    return float(np.sqrt(np.mean(squares))), float(np.mean(held))


def run(name: str, visits: le.Visits, register: Path, column: str, epsilon: float, seeds: int) -> None:
    """Print the errors of one city, whose places belong together by a column of the register."""
    levels = le.PublicLocations(register, levels=["place", column, "all"]).load_levels()
    leaning = le.PublicLocations(register, attributes=[column]).load()
    sizes = ", ".join(f"{len(level.locations):,} at {level.name}" for level in levels)
    print(f"\n{name}; locations: {sizes}; ε = {epsilon:g}; {seeds} seeds")
    with open_queries(visits, locations=levels[0].locations) as opened:
        asked = [
            CachedQueries(opened if level.scope == "place" else opened.restricted_to(level.locations))
            for level in levels
        ]
        truths = [queries.exact_profile().entropy for queries in asked]
        for way, parts in ways(epsilon, [len(level.locations) for level in levels]).items():
            told = []
            for level, queries, truth, part in zip(levels, asked, truths, parts, strict=True):
                off, held = error(le.Shares(round(part, 6)), queries, level.locations, truth, seeds)
                told.append(f"{level.name} {off:.3f} ({held:.0%}) at ε = {part:.2f}")
            print(f"  {way:15} {'; '.join(told)}", flush=True)
        part = ways(epsilon, [len(level.locations) for level in levels])["the rule"]
        off, held = error(le.Shares(part[0]), asked[0], leaning, truths[0], seeds)
        print(
            f"  places that lean on their {column}: {off:.3f} ({held:.0%}) at ε = {part[0]:.2f}", flush=True
        )
        middle = levels[1].locations
        if len(middle) < SHORT_LIST:
            moments = le.Moments(part[1], max_locations=len(middle), max_visits=MOST_VISITS)
            off, _ = error(moments, asked[1], middle, truths[1], seeds)
            print(f"  {column} by Moments, C = {MOST_VISITS}: {off:.3f} at ε = {part[1]:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only-real", action="store_true", help="Leave out the cities that are made up.")
    given = parser.parse_args()
    for people, places in () if given.only_real else CITIES:
        with TemporaryDirectory() as folder:
            City(people=people, places=places).write(folder)
            visits, register = (Path(folder) / name for name in ("visits.parquet", "places.csv"))
            table = le.Visits(visits, user="user")
            run(f"{people:,} made-up people", table, register, "district", given.epsilon, given.seeds)
    for name in NAMES if REAL else ():
        with TemporaryDirectory() as folder:  # a list is not read from a compressed file
            register = Path(folder) / "places.csv"
            register.write_bytes(gzip.decompress((Path(REAL or "") / f"{name}_places.csv.gz").read_bytes()))
            table = le.Visits(Path(REAL or "") / f"{name}_visits.csv.gz", user="user")
            run(name, table, register, "category", given.epsilon, given.seeds)


if __name__ == "__main__":
    main()
