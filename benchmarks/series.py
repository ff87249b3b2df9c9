"""A year of monthly releases: what smoothing over earlier releases gains, and whether changes are noticed.

    python benchmarks/series.py                                # all of it: about an hour
    python benchmarks/series.py --data year --seeds 1
    python benchmarks/series.py --fresh                        # the years on which constants were chosen
    python benchmarks/series.py --json series.json
    python benchmarks/series.py --from series.json             # tables and goals of earlier runs

Every month is measured with noise of its own, and published as part of a series: `entropy` given all months so far,
beside the value of the month alone. Errors are mean squared errors in nats² against the true entropy of the month, over
all places of the list, visited or not, and are means over noise seeds. The gain is the part of the error of independent
releases that is gone: in month 2, around month 6 (5 to 7), and at the end (10 to 12). "Decay" is the simplest way: a
mean of the values of all months alone, each weighing 0.7 of the next.

A change told (rose, fell, closed) is a false alarm if the true number of visitors did not move by a quarter in that
direction; a closing is noticed if the place is told to have fallen or closed in the first two months without it.

Budgets: ε = 1 for each month; and a total of ε = 4 for twelve months, as ε = 1/3 each by plain sums, or as Gaussian
noise with a twelfth each of the ρ that (4, 1e-6) admits.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Before NumPy is loaded: two processes that use two threads each would be in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import locentropy as le
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.privacy.concentrated import admissible_rho
from series_data import FRESH, SETS, missing, open_series
from series_goals import print_goals, print_tables

if TYPE_CHECKING:
    from locentropy.mechanisms.shares.series.smoothing import Smoothed
    from series_data import Series

    Results = dict[str, Any]

MONTHS = 12
TOTAL_EPSILON, TOTAL_DELTA = 4, 1e-6
DECAY = 0.7
SIZES = (15, 30, 60)
"""Closings are counted by the visitors of the month before: from so many on."""
NOTICED_WITHIN = 2


def budgets() -> dict[str, le.Shares]:
    """The mechanism of one month."""
    warnings.simplefilter("ignore", le.mechanisms.LargeDeltaWarning)
    return {
        "monthly": le.Shares(1.0),
        "sums": le.Shares(TOTAL_EPSILON / MONTHS),
        "concentrated": le.Shares(_epsilon_of_a_month(), delta=TOTAL_DELTA),
    }


def _epsilon_of_a_month() -> float:
    """The ε that, with δ, admits a twelfth of the ρ of the total: ρ is what the noise is made from."""
    wanted = admissible_rho(TOTAL_EPSILON, TOTAL_DELTA) / MONTHS
    low, high = 0.1, float(TOTAL_EPSILON)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if admissible_rho(middle, TOTAL_DELTA) <= wanted else (low, middle)
    return low


def measured(data: Series, mechanism: le.Shares, seed: int) -> Results:
    """One series of releases, month by month."""
    smoother, decayed, weight = mechanism.smoother(data.locations), 0.0, 0.0
    months, told = defaultdict(list), []
    for number, period in enumerate(data.periods):
        answers = data.answers(number, mechanism, SimulatedNoise(1000 * seed + number))
        found = smoother.conclude(answers)
        decayed, weight = DECAY * decayed + found.alone.entropy, DECAY * weight + 1.0
        for name, entropy in (
            ("alone", found.alone.entropy),
            ("smoothed", found.smoothed.entropy),
            ("decay", decayed / weight),
        ):
            months[name].append(float(np.mean((entropy - period.truth) ** 2)))
        for name, each in (("covered", found.smoothed), ("covered_alone", found.alone)):
            inside = (each.low <= period.truth + 1e-9) & (period.truth <= each.high + 1e-9)
            months[name].append(float(inside.mean()))
        months["width"].append(float(np.mean(found.smoothed.high - found.smoothed.low)))
        months["width_alone"].append(float(np.mean(found.alone.high - found.alone.low)))
        told.append(found)
    return {**months, **alarms(data, told), "closings": closings(data, told)}


def alarms(data: Series, told: list[Smoothed]) -> Results:
    """Changes told, and false ones, of each place and month after the first."""
    chips = false = 0
    for number, found in enumerate(told):
        for place in np.flatnonzero(found.change != "none").tolist():
            before = data.periods[number - found.since[place]].users[place]
            moved = max(data.periods[number].users[place], 1) / max(before, 1)
            chips += 1
            false += bool(moved < 1.25 if found.change[place] == "rose" else moved > 0.8)
    return {"told": chips, "false": false, "chances": (len(told) - 1) * len(data.locations.ids)}


def closings(data: Series, told: list[Smoothed]) -> dict[str, list[int]]:
    """For each size from 0 on: closings that were noticed, and all."""
    found = {str(size): [0, 0] for size in (0, *SIZES)}
    for place, month in data.closings.items():
        if month == 0 or month + NOTICED_WITHIN > len(told):
            continue
        size = max(size for size in (0, *SIZES) if data.periods[month - 1].users[place] >= size)
        changes = [told[number].change[place] for number in range(month, month + NOTICED_WITHIN)]
        found[str(size)][0] += bool({"fell", "closed"} & set(changes))
        found[str(size)][1] += 1
    return found


def work(name: str, seeds: int) -> tuple[str, Results, float]:
    """All budgets and seeds of one data set, in a process of its own."""
    began = time.perf_counter()
    with open_series(name) as data:
        users = float(np.mean([period.users.mean() for period in data.periods]))
        results: Results = {"places": len(data.locations.ids), "visitors": users, "budgets": {}}
        for budget, mechanism in budgets().items():
            results["budgets"][budget] = [measured(data, mechanism, seed) for seed in range(seeds)]
    return name, results, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", choices=[*SETS, *FRESH], help="which data sets")
    parser.add_argument("--fresh", action="store_true", help="the years on which constants were chosen")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument(
        "--from",
        dest="earlier",
        type=Path,
        nargs="+",
        help="measure nothing: take the figures of these files",
    )
    chosen = parser.parse_args()
    if chosen.earlier:
        first, *others = (json.loads(path.read_text()) for path in chosen.earlier)
        results = first
        for each in others:
            if each["seeds"] != first["seeds"]:
                parser.error("--from: the files are of different numbers of seeds.")
            results["sets"] |= each["sets"]
    else:
        wanted = chosen.data or list(FRESH if chosen.fresh else SETS)
        for name in wanted:
            if missing(name):
                print(f"{name} is left out: {missing(name)}.", file=sys.stderr)
        names = [name for name in wanted if not missing(name)]
        results = {"seeds": chosen.seeds, "sets": {name: {} for name in names}}
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(chosen.processes, mp_context=context) as pool:
            waiting = [pool.submit(work, name, chosen.seeds) for name in names]
            for done in as_completed(waiting):
                name, found, seconds = done.result()
                print(f"{name}, {seconds:.0f} s", file=sys.stderr, flush=True)
                results["sets"][name] = found
        if chosen.json:
            chosen.json.write_text(json.dumps(results, indent=1) + "\n")
    print_tables(results)
    print_goals(results)


if __name__ == "__main__":
    main()
