"""The tables of `utility.py`. Those of Shares are Markdown, to be pasted into the docs as they are printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from utility_data import without_attribute
from utility_goals import best_moments, today

if TYPE_CHECKING:
    from collections.abc import Iterator

    Results = dict[str, Any]

VARIANTS = ("shares", "shares-delta")
MEASURES = {
    "mse": "MSE, all places",
    "mse_busy": "MSE, n ≥ 20",
    "mse_large": "MSE, n ≥ 100",
    "covered": "covered, all",
    "covered_busy": "n ≥ 20",
    "covered_large": "n ≥ 100",
    "covered_top": "top 20, covered",
    "bias_top": "bias",
    "width": "mean width",
}


def shown(value: float | None, sign: bool = False) -> str:
    """A number in few digits; a dash if nothing was measured."""
    if value is None or math.isnan(value):
        return "–"
    if sign:
        return f"{value:+.2f}".replace("-", "−")
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 10 else f"{value:.3f}"


def print_tables(results: Results) -> None:
    """Every table for which something was measured."""
    print_shares(results)
    print_errors(results)
    print_lists(results)
    print_twins(results)


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """A Markdown table, if it has rows."""
    if not rows:
        return
    print(f"\n{title}\n")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def each_row(results: Results) -> Iterator[tuple[str, Results, str, Results]]:
    """(data set, its figures, ε, the scores at that ε by method), row after row."""
    for name, data in results["sets"].items():
        scores = data.get("scores", {})
        for epsilon in dict.fromkeys(each for methods in scores.values() for each in methods):
            yield name, data, epsilon, {m: by[epsilon] for m, by in scores.items() if epsilon in by}


def print_shares(results: Results) -> None:
    """Shares of 0.1, pure, and with δ."""
    before, rows = today(), []
    for name, data, epsilon, at in each_row(results):
        if not any(variant in at for variant in VARIANTS):
            continue
        earlier = before.get(without_attribute(name), {}).get("scores", {}).get(epsilon, {})
        row = [name, epsilon, shown(data["constant"]["mse"])]
        for measure in MEASURES:
            every = (earlier, *(at.get(variant, {}) for variant in VARIANTS))
            row.append(" / ".join(shown(each.get(measure), measure == "bias_top") for each in every))
        rows.append(row)
    title = "Shares: 0.1 / pure ε / with δ = 1e-8 (constant: the MSE of publishing the mean of all places)"
    print_table(title, ["data", "ε", "constant", *MEASURES.values()], rows)


def print_errors(results: Results) -> None:
    """The paper's mechanisms and Moments beside Shares."""
    rows = []
    for name, data, epsilon, at in each_row(results):
        bounds, best = best_moments(data["scores"], epsilon, "mse")
        _, best_busy = best_moments(data["scores"], epsilon, "mse_busy")
        methods = ("limit", "limit-ss", "limit-cb", "moments M=5 C=5")
        if not any(method in at for method in methods):
            continue
        errors = [shown(at.get(method, {}).get("mse")) for method in methods]
        ours = [shown(at.get(v, {}).get(m)) for m in ("mse", "mse_busy") for v in VARIANTS]
        rows.append([name, epsilon, *errors, shown(best), bounds, *ours[:2], shown(best_busy), *ours[2:]])
    columns = (
        "data|ε|Limit|Limit-SS|Limit-CB|Moments 5, 5|Moments best|(bounds)|Shares|with δ"
        "|n ≥ 20: Moments best|Shares|with δ"
    )
    print_table("MSE of the paper's mechanisms, of Moments, and of Shares", columns.split("|"), rows)


def print_lists(results: Results) -> None:
    """Short lists."""
    rows, epsilons = [], []
    for name, data in results["sets"].items():
        for size, measured in data.get("lists", {}).items():
            epsilons = list(measured["shares"])
            ratios = (shown(error / measured["mean"]) for error in measured["shares"].values())
            rows.append([name, size, shown(measured["mean"]), *ratios])
    columns = ["data", "places", "MSE of the mean", *(f"ε = {epsilon}" for epsilon in epsilons)]
    print_table("Short lists: MSE of Shares / MSE of publishing the population mean", columns, rows)


def print_twins(results: Results) -> None:
    """Places with the same visitors."""
    found = results.get("twins", {})
    rows = [
        [kind, f"{each['true']:.2f}", *map(shown, each["parts"].values())] for kind, each in found.items()
    ]
    epsilons = next(iter(found.values()))["parts"] if found else {}
    title = (
        "Two places with the same 200 visitors, one visited evenly and one mostly by regulars: the part of the true "
        "difference that is published"
    )
    print_table(title, ["regulars", "nats", *(f"ε = {epsilon}" for epsilon in epsilons)], rows)
