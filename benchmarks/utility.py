"""How close published values are to the truth: Shares, pure and with δ, beside 0.1, the paper and Moments.

    python benchmarks/utility.py                                    # all of it: some hours
    python benchmarks/utility.py --methods shares shares-delta --no-lists --no-twins --json utility.json
    python benchmarks/utility.py --data city jakarta --epsilon 1 --seeds 1
    python benchmarks/utility.py --from utility.json                # tables and goals of an earlier run

Errors are mean squared errors in nats² against the true entropy, over all places of the public list, visited or not,
and are means over noise seeds. Busy places have at least 20 visitors, large ones 100; the top 20 are those with the
highest published `entropy`. The paper's Limit, Limit-SS and Limit-CB are as it prints them (M = C = 5, k = 50,
δ = 1e-8, nothing clipped); a place that Limit-CB withholds counts as published with 0, as in the paper. Moments "best"
is the best of M in 1, 2, 5, 10, 20, 30 and C in 5, 20 in hindsight, which a publisher does not have. Figures of 0.1
are those of `utility_today.json`. The data sets are those of `utility_data.py`, which says where real ones come from;
what cannot be had is left out. At the end, the goals are checked.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

# Before NumPy is loaded: two processes that use two threads each would be in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from utility_data import SETS, missing, open_data
from utility_goals import goals, print_goals
from utility_scores import METHODS, on_all_places, on_short_lists, on_twins
from utility_tables import print_tables

EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0)
WORK = {"scores": on_all_places, "lists": on_short_lists, "twins": on_twins}

Results = dict[str, Any]


def work(
    name: str, kind: str, epsilons: list[float], seeds: int, methods: list[str]
) -> tuple[str, str, Results, float]:
    """One kind of measurement on one data set, in a process of its own."""
    began = time.perf_counter()
    with open_data(name) as data:
        measured = WORK[kind](data, epsilons, seeds, methods)
    return name, kind, measured, time.perf_counter() - began


def run(
    names: list[str], kinds: list[str], epsilons: list[float], seeds: int, processes: int, methods: list[str]
) -> Results:
    """Everything, largest data first."""
    ordered = sorted(names, key=lambda name: (name != "sparse-1m", name != "sparse"))
    # Short lists are parts of lists without attributes.
    jobs = [
        (name, kind)
        for kind in kinds
        if kind != "twins"
        for name in ordered
        if kind == "scores" or "+" not in name
    ]
    jobs += [("twins", "twins")] if "twins" in kinds else []
    results: Results = {"sets": {name: {} for name in names}}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = [pool.submit(work, name, kind, epsilons, seeds, methods) for name, kind in jobs]
        for number, done in enumerate(as_completed(waiting), start=1):
            name, kind, measured, seconds = done.result()
            print(f"{number} of {len(jobs)}: {name}, {kind}, {seconds:.0f} s", file=sys.stderr, flush=True)
            if kind == "twins":
                results["twins"] = measured
            elif kind == "lists":
                results["sets"][name]["lists"] = measured
            else:
                results["sets"][name] |= measured
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=list(SETS), default=list(SETS), help="which data sets")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=4, help="noise seeds, and random lists of each size")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-lists", action="store_true", help="leave out short lists")
    parser.add_argument(
        "--no-twins", action="store_true", help="leave out the two places of the same visitors"
    )
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument(
        "--from", dest="earlier", type=Path, help="measure nothing: take the figures of this file"
    )
    chosen = parser.parse_args()
    if chosen.earlier:
        results = json.loads(chosen.earlier.read_text())
    else:
        for name in chosen.data:
            if missing(name):
                print(f"{name} is left out: {missing(name)}.", file=sys.stderr)
        names = [name for name in chosen.data if not missing(name)]
        kinds = [kind for kind in WORK if not getattr(chosen, f"no_{kind}", False)]
        results = run(names, kinds, chosen.epsilon, chosen.seeds, chosen.processes, chosen.methods)
        results = {"seeds": chosen.seeds, **results}
    print(f"Means of {results['seeds']} seeds.")
    print_tables(results)
    print_goals(results)
    if chosen.json:
        judged = [{**vars(goal), "holds": goal.holds} for goal in goals(results)]
        chosen.json.write_text(json.dumps({**results, "goals": judged}, indent=1) + "\n")


if __name__ == "__main__":
    main()
