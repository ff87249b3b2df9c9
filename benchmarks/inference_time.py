"""How long the inference of Shares takes: seconds of one core, by the number of places.

    python benchmarks/inference_time.py                       # 100,000 and a million places
    python benchmarks/inference_time.py --places 100000 --attributes

Goals: 3 s at 100,000 places, 10 s at a million. Visits are made up; only the inference is timed, not the counting. It
runs for pure ε and with δ; `--attributes` adds a category of 300 levels, and coordinates.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa

import locentropy as le
from locentropy.evaluation.simulated_noise import SimulatedNoise

DELTAS = (0.0, 1e-8)
VISITORS, CATEGORIES = 5, 300
GOALS = {100_000: 3.0, 1_000_000: 10.0}


def made_up(places: int) -> pa.Table:
    """Places with 5 visitors on average, most of them with fewer; people with 8 places on average."""
    draw = np.random.default_rng(1)
    popularity = np.cumsum(np.exp(draw.normal(0.0, 1.5, places)))
    rows = VISITORS * places
    location = np.searchsorted(popularity, popularity[-1] * draw.random(rows))
    user = (rows / 8 * draw.random(rows) ** 2).astype(np.int64)
    return pa.table({"user": user, "location": location, "visits": draw.geometric(0.4, rows)})


def listed(places: int, attributes: bool) -> le.mechanisms.Locations:
    ids = pa.array(np.arange(places))
    if not attributes:
        return le.mechanisms.Locations(ids)
    draw = np.random.default_rng(2)
    lat, lon = 40.7 + 0.1 * draw.normal(size=places), -74.0 + 0.1 * draw.normal(size=places)
    category = {"category": pa.array(draw.integers(0, CATEGORIES, places))}
    return le.mechanisms.Locations(ids, None, lat, lon, category, leans_on_coordinates=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--places", nargs="+", type=int, default=list(GOALS))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--attributes", action="store_true")
    chosen = parser.parse_args()
    for places in chosen.places:
        locations = listed(places, chosen.attributes)
        with le.private.open_queries(le.Visits(made_up(places)), locations=locations) as queries:
            for delta in DELTAS:
                mechanism = le.Shares(chosen.epsilon, delta=delta)
                measurements = mechanism.measure(queries, locations, SimulatedNoise(0))
                began = time.process_time()
                mechanism.estimate(measurements, locations)
                seconds, goal = time.process_time() - began, GOALS.get(places)
                verdict = "" if goal is None else f" (goal: {goal:g} s)"
                print(f"{places:,} places, δ = {delta:g}: {seconds:.1f} s{verdict}", flush=True)


if __name__ == "__main__":
    main()
