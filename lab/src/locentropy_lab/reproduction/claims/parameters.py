"""Claims about which algorithm is best, and about varying ε, M and C."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from locentropy_lab.reproduction.claims.judging import WAYS, Case, Claim, is_best, rank_correlation
from locentropy_lab.reproduction.paper_data import DENSE, GOWALLA, SPARSE
from locentropy_lab.reproduction.simulations import METRICS, PAPERS, label

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.judging import Results, Way


FIGURE: Final = {DENSE: "fig8", SPARSE: "fig8", GOWALLA: "fig12"}
TOLD: Final = {
    "kl": "KL, all locations", "kl_throwaway": "KL, Throwaway",
    "mse": "MSE, all locations", "mse_throwaway": "MSE, Throwaway",
}  # fmt: skip
MARGINAL: Final = 0.25


def by_epsilon(results: Results, data: str, way: Way, mechanism: str, metric: str) -> dict[float, float]:
    """The error of a mechanism of the paper, by ε."""
    return results.curve(FIGURE[data], "epsilon", data, way, mechanism, metric)


def best_cases(
    results: Results, data: str, best: str, metrics: tuple[str, ...], epsilon: float | None = None
) -> list[Case]:
    """Cases of whether a mechanism of the paper has the lowest error of the three, by each metric."""
    at = results.settings.epsilon if epsilon is None else epsilon
    cases = []
    for way in WAYS:
        for metric in metrics:
            curves = {name: by_epsilon(results, data, way, name, metric) for name in PAPERS}
            errors = {name: curve[at] for name, curve in curves.items() if at in curve}
            if len(errors) < len(PAPERS):
                continue  # nothing in Throwaway
            numbers = ", ".join(f"{label(name)} {error:.3g}" for name, error in errors.items())
            cases.append(Case(way, f"{data.capitalize()}, {TOLD[metric]}", is_best(errors, best), numbers))
    return cases


def less(gain: float) -> str:
    """Say how much less or more an error is."""
    return f"{abs(gain):.0%} {'more' if gain <= -0.005 else 'less'}"


def _small_budget(results: Results) -> list[Case]:
    least = min(results.settings.epsilons)
    return [
        case for data in (DENSE, SPARSE) for case in best_cases(results, data, "limit-cb", METRICS, least)
    ]


def _saturation(results: Results) -> list[Case]:
    most, cases = max(results.settings.epsilons), []
    middle = results.settings.epsilon
    for way in WAYS:
        for data in (DENSE, SPARSE):
            for name in PAPERS:
                for metric in ("kl", "mse"):
                    curve = by_epsilon(results, data, way, name, metric)
                    before, after = curve[middle], curve[most]
                    gain = 1 - after / before if before > 0 else 0.0
                    numbers = (
                        f"{before:.3g} at ε = {middle:g}, {after:.3g} at {most:g}: {less(gain)}; "
                        f"{curve[min(curve)]:.3g} at {min(curve):g}"
                    )
                    where = f"{data.capitalize()}, {label(name)}, {metric.upper()}"
                    cases.append(Case(way, where, gain <= MARGINAL, numbers))
    return cases


def _denser_is_worse(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        for name in PAPERS:
            dense, sparse = (by_epsilon(results, data, way, name, "mse") for data in (DENSE, SPARSE))
            higher = [epsilon for epsilon in dense if dense[epsilon] > sparse[epsilon]]
            numbers = ", ".join(f"ε = {e:g}: {dense[e]:.3g} and {sparse[e]:.3g}" for e in dense)
            cases.append(Case(way, f"{label(name)}, MSE", 2 * len(higher) > len(dense), numbers))
    return cases


def _gains(results: Results) -> list[Case]:
    least, middle, cases = min(results.settings.epsilons), results.settings.epsilon, []
    for way in WAYS:
        for data in (DENSE, SPARSE):
            for name in ("limit-ss", "limit-cb"):
                for metric in ("mse", "mse_throwaway"):
                    limit, other = (by_epsilon(results, data, way, n, metric) for n in ("limit", name))
                    if not (least in other and middle in other):
                        continue
                    early, late = (limit[at] - other[at] for at in (least, middle))
                    numbers = (
                        f"at ε = {least:g} {limit[least]:.3g} becomes {other[least]:.3g}, "
                        f"at {middle:g} {limit[middle]:.3g} becomes {other[middle]:.3g}"
                    )
                    where = f"{data.capitalize()}, {label(name)}, {TOLD[metric]}"
                    cases.append(Case(way, where, early > 0 and early > late, numbers))
    return cases


def best_claims(data: str, best: str, paper: str) -> tuple[Claim, Claim]:
    """Claims that a mechanism of the paper is best on a data set: over all locations, and over Throwaway."""
    figure, name = FIGURE[data], f"{label(best)} is best on {data.capitalize()}"
    judged = "no other of the paper's three has an error more than 5 % lower at the defaults"
    return (
        Claim(
            f"{name}, all locations", figure, paper, judged + "; withheld locations count as 0", (figure,),
            partial(best_cases, data=data, best=best, metrics=("kl", "mse")),
        ),
        Claim(
            f"{name}, Throwaway", figure, paper, judged + ", over the locations that Limit-CB publishes", (figure,),
            partial(best_cases, data=data, best=best, metrics=("kl_throwaway", "mse_throwaway")),
        ),
    )  # fmt: skip


BUDGET_CLAIMS: Final = (
    *best_claims(
        DENSE, "limit-ss", "Limit-SS generally performs best in preserving the original distribution for Dense."
    ),
    *best_claims(SPARSE, "limit-cb", "Limit-CB performs best for Sparse."),
    Claim(
        "Limit-CB is best at a small budget", "fig8",
        "Limit-CB performs better than Limit-SS and Limit given a small budget ε.",
        "no other of the paper's three has an error more than 5 % lower at the smallest ε", ("fig8",), _small_budget,
    ),
    Claim(
        "errors saturate at ε = 5", "fig8",
        "KL divergence and MSE saturate at ε = 5, where increasing ε only marginally increases utility.",
        "going on from ε = 5 to 10 lowers the error by a quarter at most", ("fig8",), _saturation,
    ),
    Claim(
        "errors are higher on Dense than on Sparse", "fig8", "The observed errors are generally higher for Dense.",
        "MSE over all locations is higher on Dense at most of the ε", ("fig8",), _denser_is_worse,
    ),
    Claim(
        "gains over Limit grow as ε falls", "fig8",
        "The improvements of Limit-SS and Limit-CB over Limit are more significant with small ε.",
        "at the smallest ε the error is below Limit's, by more than at ε = 5", ("fig8",), _gains,
    ),
)  # fmt: skip


# --- varying M and C ----------------------------------------------------------------------------------------------

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


BOUNDS_CLAIMS: Final = (
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
