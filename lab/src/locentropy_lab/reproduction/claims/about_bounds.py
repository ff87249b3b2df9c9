"""Claims about varying M and C."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from locentropy_lab.reproduction.claims.claim import Case, Claim
from locentropy_lab.reproduction.claims.results import WAYS, rank_correlation
from locentropy_lab.reproduction.lines import PAPERS, label
from locentropy_lab.reproduction.paper_data import DENSE, SPARSE

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.results import Results

AS_GOOD: Final = 1.1
"""An error within a tenth of the lowest is as good."""
SMALL_C: Final = 10
RISING: Final = 0.8


def _optimum(results: Results, data: str, name: str, best: int, metric: str) -> list[Case]:
    cases = []
    for way in WAYS:
        curve = results.curve("fig9", "max_locations", data, way, name, metric)
        if best not in curve:
            continue
        lowest = min(curve, key=lambda m: curve[m])
        numbers = ", ".join(f"M = {m:g}: {error:.3g}" for m, error in curve.items())
        where = f"{data.capitalize()}, {label(name)}, best at M = {lowest:g}"
        cases.append(Case(way, where, curve[best] <= AS_GOOD * curve[lowest], numbers))
    return cases


def _kl_grows(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        for data in (DENSE, SPARSE):
            for name in PAPERS:
                curve = results.curve("fig10", "max_visits", data, way, name, "kl")
                rank = rank_correlation(curve)
                low, high = min(curve), max(curve)
                numbers = (
                    f"{curve[low]:.3g} at C = {low:g}, {curve[high]:.3g} at {high:g}; rank corr. {rank:.2f}"
                )
                holds = rank >= RISING and curve[high] > curve[low]
                cases.append(Case(way, f"{data.capitalize()}, {label(name)}, KL", holds, numbers))
    return cases


def _small_c(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        for data in (DENSE, SPARSE):
            for name in PAPERS:
                for metric in ("kl", "mse"):
                    curve = results.curve("fig10", "max_visits", data, way, name, metric)
                    best = min(curve, key=lambda c: curve[c])
                    small = min((c for c in curve if c <= SMALL_C), key=lambda c: curve[c])
                    numbers = (
                        f"{curve[small]:.3g} at C = {small:g}; lowest of all {curve[best]:.3g} at {best:g}"
                    )
                    where = f"{data.capitalize()}, {label(name)}, {metric.upper()}"
                    cases.append(Case(way, where, curve[small] <= AS_GOOD * curve[best], numbers))
    return cases


def _m_matters_more(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        for data in (DENSE, SPARSE):
            for name in PAPERS:
                by_m = results.curve("fig9", "max_locations", data, way, name, "mse")
                by_c = results.curve("fig10", "max_visits", data, way, name, "mse")
                m, c = (max(curve.values()) / min(curve.values()) for curve in (by_m, by_c))
                numbers = f"largest over smallest MSE: {m:.2f} by M, {c:.2f} by C"
                cases.append(Case(way, f"{data.capitalize()}, {label(name)}", m > c, numbers))
    return cases


def _best_m(data: str, name: str, best: int, metric: str, words: str) -> Claim:
    shown = f"{best} or more" if best == 30 else str(best)
    return Claim(
        f"best M of {label(name)} on {words} is {shown}", "fig9",
        f"{label(name)} performs best at M {'≥' if best == 30 else '='} {best} ({words}).",
        "the MSE there is at most a tenth above the lowest", ("fig9",),
        partial(_optimum, data=data, name=name, best=best, metric=metric),
    )  # fmt: skip


ABOUT_BOUNDS: Final = (
    _best_m(DENSE, "limit", 5, "mse", "Dense"),
    _best_m(DENSE, "limit-ss", 30, "mse", "Dense"),
    _best_m(DENSE, "limit-cb", 30, "mse", "Dense"),
    _best_m(SPARSE, "limit-ss", 10, "mse_throwaway", "Sparse, Throwaway"),
    _best_m(SPARSE, "limit-cb", 20, "mse_throwaway", "Sparse, Throwaway"),
    Claim(
        "KL grows with C", "fig10", "KL divergence increases as C grows.",
        "it is higher at the largest C than at the smallest, with a rank correlation of at least 0.8",
        ("fig10",), _kl_grows,
    ),
    Claim(
        "C of at most 10 is enough", "fig10", "C should be set to a small number, at most 10.",
        "the lowest error with C ≤ 10 is at most a tenth above the lowest of all", ("fig10",), _small_c,
    ),
    Claim(
        "M matters more than C", "fig10", "M has more impact than C on the trade-off between the two errors.",
        "over its grid, M changes the MSE by a larger factor than C does", ("fig9", "fig10"), _m_matters_more,
    ),
)  # fmt: skip
