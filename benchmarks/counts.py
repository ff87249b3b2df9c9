"""How good bounded counts of visitors are: relative error at places with at least 100 visitors.

    python benchmarks/counts.py                                            # Gowalla and Jakarta at ε = 1
    python benchmarks/counts.py --data city --counts 0.5 --max-locations 5

For each data set and both noises: the median over large places (and seeds) of |visitors − true visitors| / true
visitors; the same without noise, which is what bounding alone takes away; and how often the published interval holds
the bounded count, which is at least 95 % by the law of the noise, and the true one, which nobody promises. Visits
likewise. Needs the files that `utility_data.py` names.
"""

from __future__ import annotations

import argparse

import numpy as np

import locentropy as le
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.counts import UNIT, VISIT_COUNTS, VISITOR_COUNTS
from utility_data import missing, open_data

DELTAS = (0.0, 1e-8)
COLUMNS = (("visitors", VISITOR_COUNTS), ("visits", VISIT_COUNTS))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=["gowalla", "jakarta"])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--counts", type=float, default=0.2)
    parser.add_argument("--max-locations", type=int, default=10)
    parser.add_argument("--max-visits", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=8)
    chosen = parser.parse_args()
    print(
        f"{'data':12} {'δ':>6} {'column':9} {'large places':>12} {'deviation':>9} {'error':>6} {'bounding':>8} "
        f"{'held':>5} {'held, true':>10}"
    )
    for name in chosen.data:
        if why := missing(name):
            print(f"{name}: {why}")
            continue
        with open_data(name) as data:
            exact = data.queries.exact_profile()
            truths = {"visitors": exact.user_counts, "visits": exact.visit_counts}
            for delta in DELTAS:
                shares = le.Shares(
                    chosen.epsilon,
                    delta=delta,
                    counts=chosen.counts,
                    max_locations=chosen.max_locations,
                    max_visits=chosen.max_visits,
                )
                told(name, data, truths, shares, chosen.seeds)


def told(name: str, data, truths: dict[str, np.ndarray], shares: le.Shares, seeds: int) -> None:
    """Two lines about one mechanism on one data set."""
    counting, large = shares.count_queries, data.large
    bounded = counting.ask(data.queries, data.locations)
    published = [
        counting.columns(counting.measure(data.queries, data.locations, SimulatedNoise(seed)), large.size)
        for seed in range(seeds)
    ]
    for column, query in COLUMNS:
        truth, kept = truths[column][large], bounded[query][large] // UNIT
        shown, low, high = (
            np.stack([each[f"{column}{end}"][large] for each in published]) for end in ("", "_low", "_high")
        )
        error, lost = np.median(np.abs(shown - truth) / truth), np.median((truth - kept) / truth)
        held, held_true = (np.mean((low <= each) & (each <= high)) for each in (kept, truth))
        print(
            f"{name:12} {shares.delta:>6g} {column:9} {large.sum():>12,} {counting.deviations()[query]:>9.0f} "
            f"{error:>6.2f} {lost:>8.2f} {held:>5.3f} {held_true:>10.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
