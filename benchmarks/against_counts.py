"""Shares beside what a data scientist would write in five lines: bounded counts with noise, and their logarithm.

    python benchmarks/against_counts.py                                    # all of it: hours
    python benchmarks/against_counts.py --data jakarta city --epsilon 1 --seeds 4
    python benchmarks/against_counts.py --city visits.csv places.csv       # a city of your own
    python benchmarks/against_counts.py --from counts.json --epsilon 1     # tables of an earlier run

Contenders: the count and its empirical Bayes (`counting_rivals.py`), with each M of 1 … 50; the paper's Limit, Limit-SS
and Limit-CB as printed, and Moments, each with M and C of a small grid; and Shares. Those with a δ (1e-8) are compared
with each other, and so are those without. Parameters are chosen on other seeds than they are judged by, for each metric
by itself, in two ways: the one that is best over all cities together, and the one that is best for this city. The
second is an oracle: nobody has it.

Metrics, against the true entropy: the root of the mean squared error over all places, over those with at least 20
visitors (busy) and 100 (large); MSE divided by that of the best constant; Spearman's rank correlation among busy
places; and the part of the true first 20 and 100 places that are among the first 20 and 100 published. Each
difference to Shares has its standard error beside it, paired by seed. Noise is simulated.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import spearmanr

import locentropy as le
from counting_rivals import BOUNDS, Published, counted, noisy_counts, shrunk
from locentropy_lab import as_printed
from utility_data import MADE_UP, REAL, missing, of_files, open_data
from utility_scores import simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from utility_data import DataSet

    Runs = dict[str, dict[str, list[float]]]
    """For each contender, with its parameters, and each metric: its value at each seed."""

EPSILONS = (0.25, 0.5, 1.0, 2.0, 5.0)
DELTA, K = 1e-8, 50
GRID = tuple((m, c) for m in (1, 2, 5, 10, 20) for c in (1, 5, 20))
"""M and C of the paper's mechanisms and of Moments."""
ERRORS = ("rmse", "rmse busy", "rmse large", "mse / constant")
METRICS = (*ERRORS, "spearman busy", "top 20", "top 100")
KINDS = {"without δ": ("count", "count, EB", "limit", "moments", "shares"),
         "with δ": ("count δ", "count, EB δ", "limit-ss", "limit-cb", "shares δ")}  # fmt: skip
BEHIND = 0.02
"""Behind: by more than this, or this part of an error, and two standard errors."""


def contenders(data: DataSet, epsilon: float, seed: int) -> Iterator[tuple[str, Published]]:
    """What each of them publishes, with this seed of its noise; its name with its parameters."""
    for delta, suffix in ((0.0, ""), (DELTA, " δ")):
        for bound in BOUNDS:
            noisy, scale = noisy_counts(data, bound, epsilon, delta, seed)
            yield f"count{suffix}|M={bound}", counted(noisy)
            yield f"count, EB{suffix}|M={bound}", shrunk(noisy, scale, delta)
        found = simulated(le.Shares(epsilon, delta=delta), data, seed).entropy
        yield f"shares{suffix}|", Published(found, found)
    for m, c in GRID:
        for name, value in _bounded(data, epsilon, m, c, seed):
            shown = np.nan_to_num(value, nan=0.0)  # as in the paper, a place that is withheld counts as 0
            yield f"{name}|M={m} C={c}", Published(shown, shown)


def _bounded(data: DataSet, epsilon: float, m: int, c: int, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    profile = data.queries.profile(le.private.Bounds(m, c))
    entropy, users = profile.entropy, profile.user_counts
    if c > 1:  # the paper's sensitivity is infinite at C = 1
        yield "limit", as_printed.noisy(entropy, as_printed.limit_scale(epsilon, m, c), seed).entropy
    scales = as_printed.limit_ss_scales(users, epsilon, DELTA, m, c)
    yield "limit-ss", as_printed.noisy(entropy, scales, seed).entropy
    yield "limit-cb", as_printed.limit_cb(users, entropy, epsilon, m, c, K, seed).entropy
    mechanism = le.Moments(epsilon, max_locations=m, max_visits=c)
    yield "moments", simulated(mechanism, data, seed).entropy


def score(data: DataSet, published: Published) -> dict[str, float]:
    """Every metric; NaN where too few places are of the kind."""
    off = published.entropy - data.truth
    constant = float(np.mean((data.truth - data.truth.mean()) ** 2))
    found = {
        "rmse": _root_mean(off),
        "rmse busy": _root_mean(off[data.busy]),
        "rmse large": _root_mean(off[data.large]),
        "mse / constant": float(np.mean(off**2)) / constant,
    }
    busy = data.busy
    ranked = busy.sum() > 2 and np.ptp(published.order[busy]) > 0
    found["spearman busy"] = (
        float(spearmanr(published.order[busy], data.truth[busy]).statistic) if ranked else float("nan")
    )
    for top in (20, 100):
        found[f"top {top}"] = _found(data.truth, published.order, top)
    return found


def _root_mean(off: np.ndarray) -> float:
    return float(np.sqrt(np.mean(off**2))) if off.size else float("nan")


def _found(truth: np.ndarray, order: np.ndarray, top: int) -> float:
    """The part of the true first places that are among the first published; NaN for lists not twice as long."""
    if truth.size < 2 * top:
        return float("nan")
    true, seen = (np.argsort(-values, kind="stable")[:top] for values in (truth, order))
    return np.intersect1d(true, seen).size / top


def work(name: str, files: tuple[str, str] | None, epsilon: float, seeds: int) -> tuple[str, float, Runs]:
    """All contenders on one city at one ε, in a process of its own."""
    if files is not None:
        of_files(name, *files)
    runs: Runs = {}
    with open_data(name) as data:
        for seed in range(seeds):
            for contender, published in contenders(data, epsilon, seed):
                for metric, value in score(data, published).items():
                    runs.setdefault(contender, {}).setdefault(metric, []).append(value)
    return name, epsilon, runs


def better(metric: str, values: np.ndarray) -> np.ndarray:
    """The same, larger where it is better."""
    return -values if metric in ERRORS else values


def judged(runs: Runs, contender: str, metric: str) -> np.ndarray:
    """The values at the seeds that nothing was chosen by."""
    return np.array(runs[contender][metric])[1::2]


def best(cities: list[Runs], kind: str, metric: str) -> str | None:
    """The parameters of a kind of contender that are best on the other seeds, over these cities; None of nothing."""
    mean: dict[str, float] = {}
    for name in cities[0]:
        if name.partition("|")[0] == kind:
            each = [float(np.mean(np.array(city[name][metric])[0::2])) for city in cities]
            each = [value for value in each if not np.isnan(value)]
            # Errors of cities differ in size: a geometric mean lets each count alike.
            mean[name] = float(np.mean(np.log(each) if metric in ERRORS else each)) if each else np.nan
    known = {name: value for name, value in mean.items() if not np.isnan(value)}
    if not known:
        return None
    return (min if metric in ERRORS else max)(known, key=known.__getitem__)


def print_tables(results: dict[str, dict[str, Runs]], real: list[str]) -> None:
    """At each ε: contenders by metric, then Shares against the count city by city."""
    for epsilon, cities in results.items():
        print(f"\n## ε = {epsilon}")
        for group, names in {
            "real cities": real,
            "invented cities": [n for n in cities if n not in real],
        }.items():
            chosen = {name: cities[name] for name in names if name in cities}
            if chosen:
                for kind, contending in KINDS.items():
                    print_means(f"{group}, {kind}", chosen, contending)
        for kind, contending in KINDS.items():
            print_differences(kind, cities, contending)


def print_means(title: str, cities: dict[str, Runs], contending: tuple[str, ...]) -> None:
    """Means over cities, each contender with the parameters that are best over these cities."""
    print(f"\n{title} ({', '.join(cities)})\n")
    print(f"| | {' | '.join(METRICS)} |\n|---|{'--:|' * len(METRICS)}")
    for kind in contending:
        cells = []
        for metric in METRICS:
            name = best(list(cities.values()), kind, metric)
            each = [] if name is None else [judged(city, name, metric).mean() for city in cities.values()]
            cells.append(f"{np.nanmean(each):.2f}" if not np.isnan(each).all() else "")
        print(f"| {kind} | {' | '.join(cells)} |")


def print_differences(kind: str, cities: dict[str, Runs], contending: tuple[str, ...]) -> None:
    """Shares less the count with the M that is best over all cities, and with each city's own; positive is better."""
    count, shares = contending[0], contending[-1]
    print(
        f"\n{shares} against {count}: by how much it is better ± standard error, and beside each city's own M\n"
    )
    print(f"| | {' | '.join(METRICS)} |\n|---|{'--:|' * len(METRICS)}")
    behind, regrets = dict.fromkeys(METRICS, 0), {metric: [] for metric in METRICS}
    for name, runs in cities.items():
        cells = []
        for metric in METRICS:
            ours = judged(runs, f"{shares}|", metric)
            if np.isnan(ours).any():
                cells.append("")
                continue
            shown = []
            for among in (list(cities.values()), [runs]):
                rival = judged(runs, str(best(among, count, metric)), metric)
                unit = rival.mean() if metric in ERRORS else 1.0  # errors are compared as parts
                ahead = better(metric, ours - rival) / unit
                error = float(ahead.std(ddof=1) / np.sqrt(ahead.size)) if ahead.size > 1 else float("nan")
                shown.append((float(ahead.mean()), error))
            (mean, error), (oracle, _) = shown
            behind[metric] += mean < -BEHIND - 2 * np.nan_to_num(error)
            regrets[metric].append(max(0.0, -oracle))
            cells.append(f"{mean:+.2f} ± {error:.2f} ({oracle:+.2f})")
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"| *behind in* | {' | '.join(str(behind[metric]) for metric in METRICS)} |")
    regret = [f"{np.mean(each):.2f}, {max(each):.2f}" if each else "" for each in regrets.values()]
    print(f"| *regret: mean, largest* | {' | '.join(regret)} |")


def main() -> None:
    known = [*MADE_UP, *REAL]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="*", choices=known, default=known)
    parser.add_argument("--city", nargs=2, action="append", default=[], metavar=("VISITS", "PLACES"))
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=40, help="half choose parameters, half judge")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also keep all figures in this file")
    parser.add_argument(
        "--from", dest="earlier", type=Path, help="measure nothing: take the figures of this file"
    )
    chosen = parser.parse_args()
    if chosen.seeds < 2:
        parser.error("--seeds must be 2 or more: parameters are chosen on half of them.")
    files = {Path(visits).name.split(".")[0]: (visits, places) for visits, places in chosen.city}
    results: dict[str, dict[str, Runs]] = {f"{epsilon:g}": {} for epsilon in chosen.epsilon}
    if chosen.earlier is not None:
        kept: dict[str, Any] = json.loads(chosen.earlier.read_text())
        print_tables({epsilon: kept["results"][epsilon] for epsilon in results}, kept["real"])
        return
    for name in chosen.data:
        if missing(name):
            print(f"{name} is left out: {missing(name)}.", file=sys.stderr)
    names = [*files, *(name for name in chosen.data if not missing(name))]
    jobs = [(name, epsilon) for name in names for epsilon in chosen.epsilon]
    with ProcessPoolExecutor(chosen.processes, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(work, name, files.get(name), epsilon, chosen.seeds) for name, epsilon in jobs]
        for number, done in enumerate(as_completed(waiting), start=1):
            name, epsilon, runs = done.result()
            results[f"{epsilon:g}"][name] = runs
            print(f"{number} of {len(jobs)}: {name}, ε = {epsilon:g}", file=sys.stderr, flush=True)
    real = [name for name in names if name in files or name in REAL]
    if chosen.json:
        chosen.json.write_text(json.dumps({"seeds": chosen.seeds, "real": real, "results": results}) + "\n")
    print_tables(results, real)


if __name__ == "__main__":
    main()
