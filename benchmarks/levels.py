"""What several levels in one release cost in accuracy: `python benchmarks/levels.py`.

For cities of this library, prints the root mean squared error of each level (places, districts, the whole city) in nats
when one ε is divided by the rule, in equal parts, or spent three times in separate releases; what places gain from
leaning on their district as an attribute; and what Moments would make of the level of districts, which is a short list.
Noise is simulated: no budget pays for comparing with the truth.
"""

from __future__ import annotations

import argparse
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
from locentropy.private import open_queries

if TYPE_CHECKING:
    from locentropy.core.locations import Locations
    from locentropy.mechanisms.base import Mechanism

LEVELS = ["place", "district", "all"]
CITIES = ((3000, 400), (20_000, 2000))
MOST_VISITS = 50
"""C of Moments at the level of districts; M is the number of districts, so that nobody is cut to fewer."""


def ways(epsilon: float) -> dict[str, list[float]]:
    """The ε of each level."""
    parts = divided(le.Shares(epsilon), check_levels(LEVELS))
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


def run(people: int, places: int, epsilon: float, seeds: int) -> None:
    with TemporaryDirectory() as folder:
        City(people=people, places=places).write(folder)
        visits = le.Visits(Path(folder) / "visits.parquet", user="user")
        register = Path(folder) / "places.csv"
        levels = le.PublicLocations(register, levels=LEVELS).load_levels()
        leaning = le.PublicLocations(register, attributes=["district"]).load()
        sizes = ", ".join(f"{len(level.locations)} at {level.name}" for level in levels)
        print(f"\n{people:,} people; locations: {sizes}; ε = {epsilon:g}; {seeds} seeds")
        with open_queries(visits, locations=levels[0].locations) as opened:
            asked = [
                CachedQueries(opened if level.scope == "place" else opened.restricted_to(level.locations))
                for level in levels
            ]
            truths = [queries.exact_profile().entropy for queries in asked]
            for name, parts in ways(epsilon).items():
                told = []
                for level, queries, truth, part in zip(levels, asked, truths, parts, strict=True):
                    shares = le.Shares(round(part, 6))
                    off, held = error(shares, queries, level.locations, truth, seeds)
                    told.append(f"{level.name} {off:.3f} ({held:.0%}) at ε = {part:.2f}")
                print(f"  {name:15} {'; '.join(told)}", flush=True)
            part = ways(epsilon)["the rule"]
            off, held = error(le.Shares(part[0]), asked[0], leaning, truths[0], seeds)
            print(
                f"  places that lean on their district: {off:.3f} ({held:.0%}) at ε = {part[0]:.2f}",
                flush=True,
            )
            moments = le.Moments(part[1], max_locations=len(levels[1].locations), max_visits=MOST_VISITS)
            off, _ = error(moments, asked[1], levels[1].locations, truths[1], seeds)
            print(f"  districts by Moments, C = {MOST_VISITS}: {off:.3f} at ε = {part[1]:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    for people, places in CITIES:
        run(people, places, given.epsilon, given.seeds)


if __name__ == "__main__":
    main()
