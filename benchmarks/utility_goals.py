"""The goals, checked with the figures of `utility.py`: passed, missed, or not measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Results = dict[str, Any]

PAPER = ("limit", "limit-ss", "limit-cb")
GOWALLA_BUSY = {"0.5": 2.2, "1": 1.8, "5": 0.7, "10": 0.5}

TENFOLD = "1. Sparse: the paper's best MSE / ours"
CONSTANT = "2. At least 1000 places: MSE / that of the best constant"
LISTS = "2. Short lists: MSE / that of the population mean"
GOWALLA = "3. Gowalla, n ≥ 20: MSE of entropy_busy"
REGULARS = "3. City with regulars, n ≥ 20: entropy_busy / best Moments"
SPLIT = "3. Same visitors, another split: part of the difference, entropy_busy"
COVERED = "4. Coverage over all places, ε ≥ 0.5"
COVERED_BUSY = "4. Coverage, n ≥ 20, ε ≥ 0.5"
WIDTH = "4. Sparse: width of intervals / as wide as needed"
WHAT = (TENFOLD, CONSTANT, LISTS, GOWALLA, REGULARS, SPLIT, COVERED, COVERED_BUSY, WIDTH)


@dataclass(frozen=True)
class Goal:
    """One goal at one data set and ε."""

    what: str
    at: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def best_moments(scores: Results, epsilon: str, measure: str) -> tuple[str, float]:
    """The best bounds for Moments in hindsight, and their score; NaN if nothing was measured."""
    every = [
        (methods[epsilon][measure], name.removeprefix("moments "))
        for name, methods in scores.items()
        if name.startswith("moments") and epsilon in methods
    ]
    value, name = min(every, default=(math.nan, "–"))
    return name, value


def goals(results: Results) -> Iterator[Goal]:
    """Every goal that was measured."""
    for name, data in results["sets"].items():
        for epsilon, shares in data.get("scores", {}).get("shares", {}).items():
            yield from _of_one(name, data, epsilon, shares)
        for size, measured in data.get("lists", {}).items():
            for epsilon, error in measured["shares"].items():
                at = f"{name}, {size} places, ε = {epsilon}"
                yield Goal(LISTS, at, error / measured["mean"], 1.25)
    for kind, found in results.get("twins", {}).items():
        part = found["parts"].get("entropy_busy", {}).get("1")
        if part is not None:
            yield Goal(SPLIT, f"{kind}, ε = 1", part, 0.5, True)


def _of_one(name: str, data: Results, epsilon: str, shares: Results) -> Iterator[Goal]:
    at, scores = f"{name}, ε = {epsilon}", data["scores"]
    if name == "sparse":
        paper = min(scores[method][epsilon]["mse"] for method in PAPER)
        yield Goal(TENFOLD, at, paper / shares["mse"], 10.0, True)
        yield Goal(WIDTH, at, shares["too_wide"], 2.0)
    if data["locations"] >= 1000:
        limit = 1.02 if float(epsilon) >= 0.5 else 1.05
        yield Goal(CONSTANT, at, shares["mse"] / data["constant"]["mse"], limit)
    busy = shares.get("mse_busy_column", math.nan)
    if name == "gowalla" and epsilon in GOWALLA_BUSY:
        yield Goal(GOWALLA, at, busy, GOWALLA_BUSY[epsilon])
    if name == "regulars":
        _, moments = best_moments(scores, epsilon, "mse_busy")
        if not math.isnan(moments):
            yield Goal(REGULARS, at, busy / moments, 1.5)
    if float(epsilon) >= 0.5:
        yield Goal(COVERED, at, shares["covered"], 0.92, True)
        yield Goal(COVERED_BUSY, at, shares["covered_busy"], 0.80, True)


def print_goals(results: Results) -> None:
    """Each goal with its closest case, or with every case that misses it."""
    grouped: dict[str, list[Goal]] = {what: [] for what in WHAT}
    for goal in goals(results):
        grouped[goal.what].append(goal)
    print("\nGoals\n")
    for what, cases in grouped.items():
        missed = [case for case in cases if not case.holds]
        if not cases:
            print(f"{what:<68} NOT MEASURED")
            continue
        print(
            f"{what:<68} "
            + (f"MISSED in {len(missed)} of {len(cases)}" if missed else f"holds in all {len(cases)}")
        )
        for case in missed or [closest(cases)]:
            sign = "≥" if case.at_least else "≤"
            which = "missed" if missed else "closest"
            print(f"     {which}: {case.at:<36} {case.value:8.3f}   (must be {sign} {case.limit:g})")


def closest(cases: list[Goal]) -> Goal:
    """The case closest to its limit."""
    return min(cases, key=lambda case: (case.value - case.limit) * (1 if case.at_least else -1) / case.limit)
