"""The goals, checked with the figures of `utility.py`: passed, missed, or not measured.

Most compare with Shares of version 0.1, whose figures on the same sets are in `utility_today.json` (made by
`utility_today.py`). Sets with an attribute are compared with the same places without one.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from utility_data import DERIVED, REAL, SYNTHETIC, WITH_ATTRIBUTE, without_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Results = dict[str, Any]

TODAY = Path(__file__).with_name("utility_today.json")
PAPER = ("limit", "limit-ss", "limit-cb")
GRIDS = ("gowalla-grid",)
VARIANTS = {"shares": "pure", "shares-delta": "with δ"}


@dataclass(frozen=True)
class Limits:
    """What differs between the pure variant and the one with δ."""

    top_covered: float
    top_bias: float
    covered: float
    large_mse: float
    mean_mse: float
    mean_mse_strong: float
    category: float
    clustered: float


LIMITS = {
    "shares": Limits(0.92, 0.30, 0.90, 0.85, 1.0, 0.93, 0.70, 0.80),
    "shares-delta": Limits(0.93, 0.25, 0.92, 0.45, 0.95, 0.80, 0.66, 0.92),
}


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


def today() -> Results:
    """The figures of version 0.1, by data set and ε; empty if there are none."""
    return json.loads(TODAY.read_text())["sets"] if TODAY.exists() else {}


def goals(results: Results) -> Iterator[Goal]:
    """Every goal that was measured."""
    for method, variant in VARIANTS.items():
        found = _Found(results["sets"], today(), method)
        for each in _goals_of(found, LIMITS[method], method == "shares"):
            if not math.isnan(each.value):
                yield Goal(f"{variant}: {each.what}", each.at, each.value, each.limit, each.at_least)
    for name, data in results["sets"].items():
        for size, measured in data.get("lists", {}).items():
            for epsilon, error in measured["shares"].items():
                at = f"{name}, {size} places, ε = {epsilon}"
                yield Goal("pure: short lists, MSE / population mean's", at, error / measured["mean"], 1.25)


class _Found:
    """The figures of one variant beside today's."""

    def __init__(self, sets: Results, before: Results, method: str) -> None:
        self.sets, self.before, self.method = sets, before, method

    def scores(self, names: Any) -> Iterator[tuple[str, str, Results]]:
        """(data set, ε, scores) for what was measured of these sets."""
        for name in names:
            for epsilon, scores in self.sets.get(name, {}).get("scores", {}).get(self.method, {}).items():
                yield name, epsilon, scores

    def against_today(self, name: str, epsilon: str, measure: str) -> float:
        """The measure, divided by today's; NaN if that is not known."""
        earlier = self.before.get(without_attribute(name), {}).get("scores", {}).get(epsilon, {}).get(measure)
        score = self.sets[name]["scores"][self.method][epsilon][measure]
        return score / earlier if earlier else math.nan


def _goals_of(found: _Found, limits: Limits, pure: bool) -> Iterator[Goal]:
    yield from _coverage(found, limits)
    yield from _against_today(found, limits, pure)
    every = SYNTHETIC | REAL | DERIVED | WITH_ATTRIBUTE
    for name, epsilon, scores in found.scores(every):
        at, data = f"{name}, ε = {epsilon}", found.sets[name]
        limit = 1.02 if float(epsilon) >= 0.5 else 1.05
        yield Goal("MSE / best constant's", at, scores["mse"] / data["constant"]["mse"], limit)
        if name.startswith("sparse") and pure:
            paper = [data["scores"].get(method, {}).get(epsilon, {}).get("mse", math.nan) for method in PAPER]
            yield Goal("Sparse: the paper's best MSE / ours", at, min(paper) / scores["mse"], 10.0, True)


def _coverage(found: _Found, limits: Limits) -> Iterator[Goal]:
    for name, epsilon, scores in found.scores(SYNTHETIC | REAL | DERIVED | WITH_ATTRIBUTE):
        at, real = f"{name}, ε = {epsilon}", name not in SYNTHETIC
        if float(epsilon) >= 1 and real and name not in GRIDS:
            yield Goal("top 20, coverage", at, scores["covered_top"], limits.top_covered, True)
            yield Goal("top 20, absolute bias", at, abs(scores["bias_top"]), limits.top_bias)
        if float(epsilon) < 0.5:
            continue
        busy = limits.clustered if name == "clustered" else limits.covered
        yield Goal("coverage of n ≥ 20", at, scores["covered_busy"], busy, True)
        yield Goal("coverage of n ≥ 100", at, scores["covered_large"], limits.covered, True)
        yield Goal("mean width / today's", at, found.against_today(name, epsilon, "width"), 1.15)


def _against_today(found: _Found, limits: Limits, pure: bool) -> Iterator[Goal]:
    real, derived = set(REAL), set(DERIVED)
    yield from _mean_of(
        found, REAL, "mse_large", "n ≥ 100 MSE / today's", lambda e: limits.large_mse if e == 1 else None
    )
    yield from _mean_of(
        found,
        REAL,
        "mse",
        "MSE / today's",
        lambda e: None if e < 0.5 else limits.mean_mse_strong if e >= 5 else limits.mean_mse,
    )
    for name, epsilon, _ in found.scores(SYNTHETIC | REAL | DERIVED | WITH_ATTRIBUTE):
        at, of_all = f"{name}, ε = {epsilon}", found.against_today(name, epsilon, "mse")
        if name in WITH_ATTRIBUTE:
            if epsilon == "1" and without_attribute(name) in real:
                yield Goal("with categories, MSE / today's", at, of_all, limits.category)
            continue
        if epsilon == "1" and name in real:
            large = found.against_today(name, epsilon, "mse_large")
            yield Goal("n ≥ 100 MSE / today's, no city above", at, large, 1.0)
        if float(epsilon) >= 0.5 and name in real | derived:
            yield Goal("MSE / today's, no city above", at, of_all, 1.02)
        if float(epsilon) >= 0.5 and name in SYNTHETIC and (pure or not name.startswith("sparse")):
            yield Goal("MSE / today's, synthetic", at, of_all, 1.1)


def _mean_of(
    found: _Found, names: Any, measure: str, what: str, limit_at: Callable[[float], float | None]
) -> Iterator[Goal]:
    """Goals on the mean over several cities, where all of them were measured."""
    ratios: dict[str, list[float]] = {}
    for name, epsilon, _ in found.scores(names):
        ratios.setdefault(epsilon, []).append(found.against_today(name, epsilon, measure))
    for epsilon, values in ratios.items():
        limit = limit_at(float(epsilon))
        if limit is not None and len(values) == len(names):
            yield Goal(f"{what}, mean of real cities", f"ε = {epsilon}", float(np.mean(values)), limit)


def best_moments(scores: Results, epsilon: str, measure: str) -> tuple[str, float]:
    """The best bounds for Moments in hindsight, and their score; NaN if nothing was measured."""
    every = [
        (methods[epsilon][measure], name.removeprefix("moments "))
        for name, methods in scores.items()
        if name.startswith("moments") and epsilon in methods
    ]
    value, name = min(every, default=(math.nan, "–"))
    return name, value


def print_goals(results: Results) -> None:
    """The goals of `utility.py`."""
    print_cases(goals(results))


def print_cases(every: Iterable[Goal]) -> None:
    """Each goal with its closest case, or with every case that misses it."""
    grouped: dict[str, list[Goal]] = {}
    for goal in every:
        grouped.setdefault(goal.what, []).append(goal)
    print("\nGoals that were measured\n")
    for what, cases in grouped.items():
        missed = [case for case in cases if not case.holds]
        print(
            f"{what:<62} "
            + (f"MISSED in {len(missed)} of {len(cases)}" if missed else f"holds in all {len(cases)}")
        )
        for case in missed or [closest(cases)]:
            sign = "≥" if case.at_least else "≤"
            which = "missed" if missed else "closest"
            print(f"     {which}: {case.at:<36} {case.value:8.3f}   (must be {sign} {case.limit:g})")


def closest(cases: list[Goal]) -> Goal:
    """The case closest to its limit."""
    return min(cases, key=lambda case: (case.value - case.limit) * (1 if case.at_least else -1) / case.limit)
