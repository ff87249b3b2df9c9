"""How fast the noise is: values per second, and what one scale per number of users costs.

    python benchmarks/noise.py

The last line compares 100,000 locations with one scale per distinct number of users, as Limit-SS needs it,
with one bare OpenDP call of a single scale on as many values. The goal is at most 3 times the time.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np
import opendp.prelude as dp

from locentropy.privacy.calibration import calibrate, lattice_scales
from locentropy.privacy.noise import OpenDPNoise
from locentropy.privacy.selection import SelectionCurve
from locentropy.privacy.smooth import SmoothSensitivity

if TYPE_CHECKING:
    from collections.abc import Callable

LOCATIONS = 100_000
ROUNDS = 7


def users_per_location(size: int) -> np.ndarray:
    """Numbers of users as in check-in data: most locations have a few, some have thousands."""
    shares = (np.arange(size) + 0.5) / size
    return np.floor(shares ** (-1 / 1.2)).astype(np.int64)


def smooth_scales(users: np.ndarray) -> np.ndarray:
    """The scales of Limit-SS at ε = 1, δ = 1e-8, M = C = 5: one for every number of users."""
    calibration = calibrate(1.0, 1e-8, 5)
    return lattice_scales(calibration, SmoothSensitivity(5, calibration.beta, 1e-3), users)


def medians(tasks: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each task, the tasks taken in turn so that a busy machine slows all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    one, two = OpenDPNoise(threads=1), OpenDPNoise(threads=2)
    users = users_per_location(LOCATIONS)
    scales = smooth_scales(users)
    values = np.zeros(LOCATIONS, dtype=np.int64)
    chances = SelectionCurve(epsilon=1.0, delta=1e-8, max_locations=5).probability(users)
    one.laplace(values[:10], 1.0)  # loads OpenDP
    bare = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=float(np.median(scales))
    )
    times = medians(
        {
            "bare OpenDP call, one scale": lambda: bare(values),
            "one scale, 1 thread": lambda: one.laplace(values, 1e6),
            "one scale, 2 threads": lambda: two.laplace(values, 1e6),
            "many scales, 1 thread": lambda: one.laplace_each(values, scales),
            "many scales, 2 threads": lambda: two.laplace_each(values, scales),
            "coins, 1 thread": lambda: one.bernoulli_each(chances),
            "coins, 2 threads": lambda: two.bernoulli_each(chances),
        }
    )
    print(f"{LOCATIONS:,} locations, {np.unique(scales).size} distinct scales, median of {ROUNDS}")
    for name, seconds in times.items():
        print(f"{name:30} {seconds * 1000:8.0f} ms {LOCATIONS / seconds:12,.0f} values/s")
    reference = times["bare OpenDP call, one scale"]
    for name in ("many scales, 1 thread", "many scales, 2 threads"):
        print(f"{name} / bare OpenDP call = {times[name] / reference:.2f} (goal: at most 3)")


if __name__ == "__main__":
    main()
