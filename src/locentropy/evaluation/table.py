"""An evaluation in tables and in sentences, for a screen or a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from locentropy.evaluation.outcome import BUSY_FROM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.evaluation.compare import Compared, Evaluation, Score

_NONE: Final = "—"
ERRORS: Final = {
    "mse": "all places",
    "mse_published": "published ones",
    "mse_throwaway": "Throwaway",
    "mse_busy": f"n ≥ {BUSY_FROM}",
    "mse_busy_of_entropy_busy": f"n ≥ {BUSY_FROM}, entropy_busy",
    "bias": "bias (nats)",
}
"""Mean squared errors over which places, and the bias."""
OTHERS: Final = {
    "kl": "KL",
    "spearman": "rank corr.",
    "published": "published %",
    "coverage": "covers true %",
    "coverage_own": "covers own %",
    "width": "width",
    "top_10": "top 10 found %",
    "top_100": "top 100 found %",
}
"""Everything else that fits on a screen."""
_SHARES: Final = frozenset({"published", "coverage", "coverage_own", "top_10", "top_100"})


def rows(evaluation: Evaluation, columns: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row for each contender, by ε, and each reference; without columns that nobody has a number in."""
    everybody = [each for _, group in by_epsilon(evaluation) for each in group] + evaluation.references
    filled = [name for name in columns if not all(math.isnan(each.scores[name].mean) for each in everybody)]
    headings = ["mechanism", "ε", *(columns[name] for name in filled)]
    return headings, [
        [each.label, each.epsilon or _NONE, *(_cell(name, each.scores[name]) for name in filled)]
        for each in everybody
    ]


def by_epsilon(evaluation: Evaluation) -> list[tuple[str, list[Compared]]]:
    """Contenders of the same ε together; somebody's own mechanism without a written ε comes last."""
    written = [*evaluation.epsilons, None]
    groups = [
        (epsilon, [each for each in evaluation.compared if each.epsilon == epsilon]) for epsilon in written
    ]
    return [(epsilon or "not stated", group) for epsilon, group in groups if group]


def _cell(name: str, score: Score) -> str:
    if name == "mse":
        return with_sd(score)
    return share(score.mean) if name in _SHARES else number(score.mean)


def told_best(evaluation: Evaluation) -> list[str]:
    """Which contender did best, a sentence for each ε."""
    constant = number(evaluation.references[0].scores["mse"].mean)
    return [
        f"ε = {best.epsilon or 'not stated'}: {best.label}, MSE {with_sd(best.error)} nats²"
        + ("" if best.published == 1 else f" with {share(best.published)} % of places published")
        + (
            f"; one constant for all places would do better ({constant})."
            if best.worse_than_constant
            else f", against {constant} of the best constant."
        )
        for best in evaluation.best()
    ]


def number(value: float) -> str:
    """Three digits."""
    if math.isnan(value):
        return _NONE
    value = 0.0 if abs(value) < 1e-12 else value  # what rounding leaves of nothing
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def six_digits(value: float) -> str:
    """Six digits; larger whole numbers as they are, because 1e+07 is no way to write ten million."""
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,.6g}"


def share(value: float) -> str:
    """A share in per cent."""
    return _NONE if math.isnan(value) else f"{100 * value:.1f}"


def with_sd(score: Score) -> str:
    """A mean and its standard deviation."""
    if math.isnan(score.sd):
        return number(score.mean)
    return (
        f"{number(score.mean)} ± {score.sd:.2g}"
        if score.sd < 100
        else f"{number(score.mean)} ± {score.sd:,.0f}"
    )
