"""How close published values are to the truth: the paper's mechanisms, Moments and Shares, on seven data sets.

    python benchmarks/utility.py                                    # all of it
    python benchmarks/utility.py --data city regulars --epsilon 1 --seeds 2 --no-lists --json utility.json

Errors are mean squared errors in nats² against the true entropy, over all places of the public list, visited or not,
and are means over noise seeds. The paper's Limit, Limit-SS and Limit-CB are as it prints them (M = C = 5, k = 50,
δ = 1e-8, nothing clipped); a place that Limit-CB withholds counts as published with 0, as in the paper. Moments "best"
is the best of M in 1, 2, 5, 10, 20, 30 and C in 5, 20 in hindsight, which a publisher does not have. Busy places have
at least 20 visitors. Gowalla is read from the file that LOCENTROPY_GOWALLA names. At the end, the goals are checked.
"""

from __future__ import annotations

import argparse
import json
import math
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

from utility_data import GOWALLA, SETS, open_data
from utility_goals import best_moments, goals, print_goals
from utility_scores import on_all_places, on_short_lists, on_twins

EPSILONS = (0.1, 0.5, 1.0, 5.0, 10.0)
WORK = {"scores": on_all_places, "lists": on_short_lists, "twins": on_twins}

Results = dict[str, Any]


def work(name: str, kind: str, epsilons: list[float], seeds: int) -> tuple[str, str, Results, float]:
    """One kind of measurement on one data set, in a process of its own."""
    began = time.perf_counter()
    with open_data(name) as data:
        measured = WORK[kind](data, epsilons, seeds)
    return name, kind, measured, time.perf_counter() - began


def run(names: list[str], kinds: list[str], epsilons: list[float], seeds: int, processes: int) -> Results:
    """Everything, largest data first."""
    ordered = sorted(names, key=lambda name: (name != "sparse-1m", name != "sparse"))
    jobs = [(name, kind) for kind in kinds if kind != "twins" for name in ordered]
    jobs += [("twins", "twins")] if "twins" in kinds else []
    results: Results = {"sets": {name: {} for name in names}}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = [pool.submit(work, name, kind, epsilons, seeds) for name, kind in jobs]
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


def shown(value: float | None) -> str:
    """A number in few digits; a dash if nothing was measured."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 10 else f"{value:.3f}"


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    if not rows:
        return
    print(f"\n{title}\n")
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for first, *others in [columns, *rows]:
        padded = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *padded]))


def each_row(results: Results) -> list[tuple[str, Results, str, Results]]:
    """(data set, its figures, ε, the scores at that ε by method), row after row."""
    return [
        (name, data, epsilon, {method: scores[epsilon] for method, scores in data["scores"].items()})
        for name, data in results["sets"].items()
        for epsilon in data["scores"]["limit"]
    ]


def print_errors(results: Results) -> None:
    columns = "data|ε|constant|Limit|Limit-SS|Limit-CB|Moments 5, 5|Moments best|(bounds)|Shares".split("|")
    rows = []
    for name, data, epsilon, at in each_row(results):
        bounds, best = best_moments(data["scores"], epsilon, "mse")
        methods = ["limit", "limit-ss", "limit-cb", "moments M=5 C=5"]
        errors = [shown(at.get(method, {}).get("mse")) for method in methods]
        ours = shown(at.get("shares", {}).get("mse"))
        rows.append([name, epsilon, shown(data["constant"]["mse"]), *errors, shown(best), bounds, ours])
    print_table("MSE over all places (constant: the best one, which is the population mean)", columns, rows)


def print_busy(results: Results) -> None:
    columns = "data|ε|places|constant|Moments 5, 5|Moments best|(bounds)|Shares entropy|entropy_busy".split(
        "|"
    )
    rows = []
    for name, data, epsilon, at in each_row(results):
        bounds, best = best_moments(data["scores"], epsilon, "mse_busy")
        first = [name, epsilon, str(data["busy"]), shown(data["constant"]["mse_busy"])]
        shares, moments = at.get("shares", {}), at.get("moments M=5 C=5", {})
        ours = [shown(shares.get(measure)) for measure in ("mse_busy", "mse_busy_column")]
        rows.append([*first, shown(moments.get("mse_busy")), shown(best), bounds, *ours])
    print_table("MSE over busy places (n ≥ 20)", columns, rows)


def print_intervals(results: Results) -> None:
    columns = "data|ε|covered, all|covered, n ≥ 20|median width|too wide by".split("|")
    measures = ("covered", "covered_busy", "width", "too_wide")
    rows = [
        [name, epsilon, *(shown(at.get("shares", {}).get(measure)) for measure in measures)]
        for name, _, epsilon, at in each_row(results)
    ]
    print_table(
        "95 % intervals of Shares (too wide by: how far they may be shrunk and still cover 95 %)",
        columns,
        rows,
    )


def print_lists(results: Results, epsilons: list[float]) -> None:
    rows = [
        [
            name,
            size,
            shown(measured["mean"]),
            *(shown(error / measured["mean"]) for error in measured["shares"].values()),
        ]
        for name, data in results["sets"].items()
        for size, measured in data.get("lists", {}).items()
    ]
    columns = ["data", "places", "MSE of the mean", *(f"ε = {epsilon:g}" for epsilon in epsilons)]
    print_table("Short lists: MSE of Shares / MSE of publishing the population mean", columns, rows)


def print_twins(results: Results, epsilons: list[float]) -> None:
    title = (
        "Two places with the same 200 visitors, one visited evenly and one mostly by regulars: the part of the true\n"
        "difference that is published"
    )
    rows = [
        [kind, column, f"{found['true']:.2f}", *map(shown, by_epsilon.values())]
        for kind, found in results["twins"].items()
        for column, by_epsilon in found["parts"].items()
    ]
    print_table(title, ["regulars", "column", "nats", *(f"ε = {epsilon:g}" for epsilon in epsilons)], rows)


def print_for_docs(results: Results) -> None:
    """The table of docs/choosing.md, and the rows of mechanisms/shares/expected_error.py."""
    print("\nFor docs/choosing.md\n")
    for name, data, epsilon, at in each_row(results):
        best = best_moments(data["scores"], epsilon, "mse_busy")[1]
        if "shares" in at:
            ours = [at["shares"][measure] for measure in ("mse", "mse_busy", "mse_busy_column")]
            print(
                f"| {name} | {epsilon} | "
                + " | ".join(map(shown, [data["constant"]["mse"], *ours, best]))
                + " |"
            )
    print("\nFor mechanisms/shares/expected_error.py: data, people, locations, ε, error, constant\n")
    for name, data, epsilon, at in each_row(results):
        if "shares" in at:
            error, constant = at["shares"]["mse"], data["constant"]["mse"]
            print(f"{name!r}, {data['people']}, {data['locations']}, {epsilon}, {error:.3f}, {constant:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=list(SETS), default=list(SETS), help="which data sets")
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=10, help="noise seeds, and random lists of each size")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-lists", action="store_true", help="leave out short lists")
    parser.add_argument(
        "--no-twins", action="store_true", help="leave out the two places of the same visitors"
    )
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    chosen = parser.parse_args()
    names = chosen.data
    if "gowalla" in names and not GOWALLA:
        print("Gowalla is left out: LOCENTROPY_GOWALLA names no file.", file=sys.stderr)
        names = [name for name in names if name != "gowalla"]
    left_out = {kind for kind in ("lists", "twins") if getattr(chosen, f"no_{kind}")}
    kinds = [kind for kind in WORK if kind not in left_out]
    results = run(names, kinds, chosen.epsilon, chosen.seeds, chosen.processes)
    print(f"Means of {chosen.seeds} seeds.")
    print_errors(results)
    print_busy(results)
    print_intervals(results)
    if "lists" in kinds:
        print_lists(results, chosen.epsilon)
    if "twins" in kinds:
        print_twins(results, chosen.epsilon)
    print_for_docs(results)
    print_goals(results)
    if chosen.json:
        judged = [{**vars(goal), "holds": goal.holds} for goal in goals(results)]
        chosen.json.write_text(
            json.dumps({"seeds": chosen.seeds, **results, "goals": judged}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
