"""The tables of `series.py`, in Markdown as the docs have them, and its goals: passed, missed, or not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from utility_goals import Goal, print_cases
from utility_tables import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    Results = dict[str, Any]

NEAR = {"2": slice(1, 2), "6": slice(4, 7), "12": slice(9, 12)}
"""Months, counted from 0, that stand for month 2, 6 and 12."""
BUDGETS = {
    "monthly": "ε = 1 a month",
    "sums": "ε = 4 a year, sums",
    "concentrated": "(4, 1e-6) a year, Gaussian",
}
GOAL_SETS = ("year", "gowalla-grid")
"""The sets that gains are asked of; all else is asked of all sets."""
BUSY_CLOSING = "60"


def by_month(runs: list[Results], name: str) -> np.ndarray:
    """A measure of each month: the mean over seeds."""
    return np.mean([run[name] for run in runs], axis=0)


def gain(runs: list[Results], name: str, months: slice) -> float:
    """The part of the error of independent releases that is gone."""
    errors, alone = by_month(runs, name)[months], by_month(runs, "alone")[months]
    return float(1 - errors.sum() / alone.sum())


def rate(runs: list[Results], name: str) -> float:
    """How often a place and month has a change told, or told wrongly."""
    return sum(run[name] for run in runs) / sum(run["chances"] for run in runs)


def noticed(runs: list[Results], size: str) -> tuple[int, int]:
    """Closings noticed, and all, of places of this size."""
    hits, every = np.sum([run["closings"][size] for run in runs], axis=0).tolist()
    return hits, every


def each_run(results: Results) -> Iterator[tuple[str, str, Results, list[Results]]]:
    for name, data in results["sets"].items():
        for budget, runs in data.get("budgets", {}).items():
            yield name, budget, data, runs


def percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f}".replace("-", "−")


def print_tables(results: Results) -> None:
    """Gains and coverage; then changes."""
    rows = []
    for name, budget, data, runs in each_run(results):
        alone, covered = by_month(runs, "alone"), by_month(runs, "covered")
        smoothed = by_month(runs, "smoothed")
        rows.append(
            [
                f"{name} ({data['places']} places, {data['visitors']:.0f} visitors)",
                BUDGETS[budget],
                f"{alone.mean():.2f} → {smoothed[NEAR['12']].mean():.2f}",
                " / ".join(percent(gain(runs, "smoothed", months)) for months in NEAR.values()),
                percent(float((1 - smoothed / alone)[1:].min())),
                " / ".join(percent(gain(runs, "decay", months)) for months in NEAR.values()),
                f"{percent(covered.mean(), 1)} ({percent(covered[1:].min(), 1)})",
                percent(float(by_month(runs, "covered_alone").mean()), 1),
                f"{by_month(runs, 'width')[NEAR['12']].mean():.1f} / {by_month(runs, 'width_alone').mean():.1f}",
            ]
        )
    columns = (
        "data|budget|MSE alone → smoothed, months 10–12|gain %, month 2 / 6 / 12|worst month|decay, the same"
        "|covered % (worst month)|alone|width / alone"
    )
    print_table(f"Smoothing: means of {results['seeds']} seeds", columns.split("|"), rows)
    rows = []
    for name, budget, _, runs in each_run(results):
        sizes = list(runs[0]["closings"])
        counts = ["{} of {}".format(*noticed(runs, size)) for size in sizes]
        rows.append(
            [name, BUDGETS[budget], percent(rate(runs, "told"), 2), percent(rate(runs, "false"), 2), *counts]
        )
    ends = dict(zip(sizes, [*sizes[1:], ""], strict=True)) if rows else {}
    shown = [f"closings noticed, {low}–{high} visitors" if high else f"≥ {low}" for low, high in ends.items()]
    columns = ["data", "budget", "told, % of places and months", "false alarms, %", *shown]
    print_table("Change", columns, rows)


def goals(results: Results) -> Iterator[Goal]:
    """Every goal that was measured."""
    for name, budget, _, runs in each_run(results):
        at = f"{name}, {BUDGETS[budget]}"
        if budget == "monthly" and name in GOAL_SETS:
            yield Goal("gain by month 6", at, gain(runs, "smoothed", NEAR["6"]), 0.25, True)
            yield Goal("gain by month 12", at, gain(runs, "smoothed", NEAR["12"]), 0.40, True)
        yield Goal("mean coverage", at, float(by_month(runs, "covered").mean()), 0.93, True)
        yield Goal("false alarms", at, rate(runs, "false"), 0.005)
        hits, every = noticed(runs, BUSY_CLOSING)
        if every and budget == "monthly":  # as they are stated: at ε = 1
            yield Goal("closings of ≥ 60 visitors noticed", at, hits / every, 0.95, True)
        ratio = (by_month(runs, "smoothed") / by_month(runs, "alone"))[1:]
        yield Goal("worst month's MSE / independent releases'", at, float(ratio.max()), 1.03)
    for name, data in results["sets"].items():
        found = data.get("budgets", {})
        if {"sums", "concentrated"} <= set(found) and name in GOAL_SETS:
            for measure in ("alone", "smoothed"):
                pure, concentrated = (
                    float(by_month(found[each], measure)[NEAR["12"]].mean())
                    for each in ("sums", "concentrated")
                )
                what = f"(4, 1e-6) a year: concentrated / sums, {measure}"
                yield Goal(what, name, concentrated / pure, 0.8)


def print_goals(results: Results) -> None:
    """Each goal with its closest case, or with every case that misses it."""
    print_cases(goals(results))
