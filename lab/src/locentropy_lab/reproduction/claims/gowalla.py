"""Claims about Gowalla, and about which algorithm to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy_lab.reproduction.claims.judging import FIRST_M, WAYS, Case, Claim, is_best
from locentropy_lab.reproduction.claims.parameters import MARGINAL, best_claims, by_epsilon, less
from locentropy_lab.reproduction.paper_data import DENSE, GOWALLA, SPARSE
from locentropy_lab.reproduction.sensitivities import CORRECTED_NOISE, SENSITIVITIES
from locentropy_lab.reproduction.simulations import PAPERS, label

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.judging import Results, Way


NEIGHBOUR: Final = 1
"""Best M are alike if they are this many steps of the grid apart at most."""


def _like_sparse(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        cases += _same_order(results, way)
        cases += [_same_saturation(results, way, name) for name in PAPERS]
        cases += [_same_best_m(results, way, name) for name in PAPERS]
    return cases


def _same_order(results: Results, way: Way) -> list[Case]:
    cases = []
    for epsilon in results.settings.epsilons:
        orders = {
            data: sorted(PAPERS, key=lambda name, d=data: by_epsilon(results, d, way, name, "mse")[epsilon])  # type: ignore[misc]
            for data in (GOWALLA, SPARSE)
        }
        numbers = "; ".join(f"{data.capitalize()}: {', '.join(map(label, o))}" for data, o in orders.items())
        same = orders[GOWALLA] == orders[SPARSE]
        cases.append(Case(way, f"order of the three by MSE at ε = {epsilon:g}", same, numbers))
    return cases


def _same_saturation(results: Results, way: Way, name: str) -> Case:
    gains = {}
    for data in (GOWALLA, SPARSE):
        curve = by_epsilon(results, data, way, name, "mse")
        gains[data] = 1 - curve[max(curve)] / curve[results.settings.epsilon]
    saturated = {gain <= MARGINAL for gain in gains.values()}
    numbers = ", ".join(f"{data.capitalize()} {less(gain)}" for data, gain in gains.items())
    return Case(way, f"{label(name)}, MSE from ε = 5 to 10", len(saturated) == 1, numbers)


def _same_best_m(results: Results, way: Way, name: str) -> Case:
    grid, at = list(results.settings.m_grid), {}
    for data, figure in ((GOWALLA, "fig12"), (SPARSE, "fig9")):
        curve = results.curve(figure, "max_locations", data, way, name, "mse")
        at[data] = int(min(curve, key=lambda m: curve[m]))
    apart = abs(grid.index(at[GOWALLA]) - grid.index(at[SPARSE]))
    numbers = ", ".join(f"{data.capitalize()} {m}" for data, m in at.items())
    return Case(way, f"{label(name)}, best M by MSE", apart <= NEIGHBOUR, numbers)


def _rule(results: Results) -> list[Case]:
    cases = []
    compared: dict[Way, str] = {"as printed": SENSITIVITIES, "corrected": CORRECTED_NOISE}
    for way in WAYS:
        for data in (DENSE, SPARSE, GOWALLA):
            if not (results.has("recommendations", data) and results.has(_errors_in(data), data)):
                continue
            [row] = results.rows(
                "recommendations", data=data, first_m=FIRST_M[way], compared=compared[way]
            ).to_pylist()
            for metric in ("kl", "mse"):
                errors = {
                    name: by_epsilon(results, data, way, name, metric)[results.settings.epsilon]
                    for name in PAPERS
                }
                numbers = (
                    f"{row['share']:.1%} of the locations have {row['n_cb']} users or more, so the rule says "
                    f"{label(row['advised'])}; " + ", ".join(f"{label(n)} {e:.3g}" for n, e in errors.items())
                )
                holds = is_best(errors, row["advised"])
                cases.append(Case(way, f"{data.capitalize()}, {metric.upper()}", holds, numbers))
    return cases


def _errors_in(data: str) -> str:
    return "fig12" if data == GOWALLA else "fig8"


GOWALLA_CLAIMS: Final = (
    *best_claims(
        GOWALLA, "limit-cb",
        "On Gowalla values of Limit and Limit-SS are scattered, while those of Limit-CB preserve the trend.",
    ),
    Claim(
        "Gowalla behaves like Sparse", "fig12", "Varying ε and M on Gowalla shows trends similar to Sparse.",
        "the three come in the same order, both or neither saturate, best M are at most one step of the grid apart",
        ("fig8", "fig9", "fig12"), _like_sparse,
    ),
    Claim(
        "the rule for dense and sparse data", "recommendations",
        "Limit-SS is recommended where 90 % of the locations have n_CB users, else Limit-CB.",
        "no other of the paper's three than the recommended one has an error more than 5 % lower, over all locations",
        ("recommendations", "fig8"), _rule,
    ),
)  # fmt: skip
