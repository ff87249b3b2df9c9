"""One simulated release, and its scores against the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.evaluation import metrics
from locentropy.evaluation.simulated_noise import SimulatedNoise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from locentropy.core.queries import Queries
    from locentropy.evaluation.compare import Compared, Evaluation, Score
    from locentropy.evaluation.places import Opened
    from locentropy.mechanisms.base import Mechanism

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

BUSY_FROM: Final = 20
"""A place of at least this many users is busy."""

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


METRICS: Final = {
    "mse": "mean squared error over all places, withheld ones counted as 0 (nats²)",
    "mse_published": "mean squared error over the places that the mechanism publishes (nats²)",
    "mse_throwaway": "mean squared error over the places of at least k bounded users, the paper's Throwaway (nats²)",
    "mse_busy": f"mean squared error over places of at least {BUSY_FROM} users (nats²)",
    "mse_busy_of_entropy_busy": "the same of entropy_busy, where there is one (nats²)",
    "bias": "mean of published minus true over all places (nats)",
    "bias_published": "mean of published minus true over the places that the mechanism publishes (nats)",
    "kl": "KL divergence of the true from the published shares of entropy, over all places (nats)",
    "kl_published": "KL divergence over the places that the mechanism publishes (nats)",
    "kl_throwaway": "KL divergence over the paper's Throwaway (nats)",
    "spearman": "Spearman rank correlation over all places",
    "published": "share of places that are published",
    "coverage": "share of 95 % intervals that hold the true entropy",
    "coverage_busy": f"the same over places of at least {BUSY_FROM} users",
    "coverage_own": "share of 95 % intervals that hold what they are about, the bounded entropy for most mechanisms",
    "width": "mean width of the 95 % intervals (nats)",
    "top_10": "share of the 10 places of highest entropy found (by entropy_busy, where there is one)",
    "top_100": "share of the 100 places of highest entropy found, likewise",
}
"""Every metric, and what it says."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What the data says, exactly. Private."""

    entropy: Reals
    """The true entropy of each place that is judged, in nats."""
    users: Integers
    """n: its users."""
    crowded: Booleans
    """Whether it is among the paper's Throwaway: at least k users after bounding."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """One simulated release, an entry for each place that is judged; NaN where withheld. Private all the same."""

    entropy: Reals
    """What would be published."""
    low: Reals | None = None
    """Lower ends of the intervals."""
    high: Reals | None = None
    """Upper ends."""
    busy: Reals | None = None
    """`entropy_busy`."""
    own: Reals | None = None
    """What the intervals are about: the true entropy, or the one under the mechanism's bounds."""


def outcome(mechanism: Mechanism, at: Opened, truth: Truth, seed: int) -> Outcome:
    """What a mechanism would publish, with noise from a public seed."""
    noise = SimulatedNoise(seed)
    queries, listed = at.queries, at.listed
    if at.selection is not None and not mechanism.selects_locations:
        listed = at.selection.select(queries, noise)
        if len(listed) == 0:
            return Outcome(np.full(len(truth.entropy), np.nan))
        queries = queries.restricted_to(listed)
    estimates = mechanism.estimate(mechanism.measure(queries, listed, noise), listed)
    columns = {
        name: None if column is None else _spread(column, estimates.locations, at)
        for name, column in (
            ("low", estimates.low),
            ("high", estimates.high),
            ("busy", getattr(estimates, "entropy_busy", None)),
        )
    }
    entropy = _spread(estimates.entropy, estimates.locations, at)
    return Outcome(entropy, **columns, own=_own(mechanism, queries, at, truth))


def _spread(values: Reals, ids: pa.Array, at: Opened) -> Reals:
    """Values about some of the places among all; ids are compared as texts, which selected ones are."""
    everywhere = at.queries.locations
    if ids.equals(everywhere):
        return values
    positions = pc.index_in(ids.cast(pa.string()), value_set=everywhere.cast(pa.string()))
    spread = np.full(len(everywhere), np.nan)
    spread[positions.to_numpy()] = values
    return spread


def _own(mechanism: Mechanism, queries: Queries, at: Opened, truth: Truth) -> Reals | None:
    """What the mechanism estimates; None if it bounds users in a way of its own."""
    if mechanism.estimand == "true":
        return truth.entropy
    if mechanism.bounds is None:
        return None
    profile = queries.profile(mechanism.bounds)
    return _spread(profile.entropy, profile.locations, at)


def scores(truth: Truth, made: Outcome) -> dict[str, float]:
    """Every metric of one simulated release."""
    true, entropy, low, high = truth.entropy, made.entropy, made.low, made.high
    ranking = entropy if made.busy is None else made.busy
    everywhere = np.ones(len(true), dtype=bool)
    kept, crowded, busy = metrics.is_published(entropy), truth.crowded, truth.users >= BUSY_FROM

    def over(metric: Any, places: Booleans, values: Reals = entropy) -> float:
        return float(metric(true[places], values[places]))

    def covered(about: Reals | None, places: Booleans) -> float:
        if about is None or low is None or high is None:
            return float("nan")
        return metrics.coverage(about[places], low[places], high[places])

    found = {
        "mse": over(metrics.mse, everywhere),
        "mse_published": over(metrics.mse, kept),
        "mse_throwaway": over(metrics.mse, crowded),
        "mse_busy": over(metrics.mse, busy),
        "mse_busy_of_entropy_busy": np.nan if made.busy is None else over(metrics.mse, busy, made.busy),
        "bias": over(metrics.bias, everywhere),
        "bias_published": over(metrics.bias, kept),
        "kl": over(metrics.kl_divergence, everywhere),
        "kl_published": over(metrics.kl_divergence, kept),
        "kl_throwaway": over(metrics.kl_divergence, crowded),
        "spearman": over(metrics.spearman, everywhere),
        "published": metrics.published_ratio(entropy),
        "coverage": covered(true, everywhere),
        "coverage_busy": covered(true, busy),
        "coverage_own": covered(made.own, everywhere),
        "width": metrics.interval_width(low, high),
        "top_10": metrics.found_at_top(true, ranking, 10),
        "top_100": metrics.found_at_top(true, ranking, 100),
    }
    return {name: float(found[name]) for name in METRICS}


BY_USERS: Final = ("mse", "mse_published", "published", "coverage")
"""What is also told by the number of users."""


def scores_by_users(truth: Truth, made: Outcome, octaves: list[metrics.Octave]) -> list[dict[str, float]]:
    """Some metrics of one simulated release, for places of each octave of users."""
    rows = []
    for octave in octaves:
        at = metrics.within(truth.users, octave)
        true, entropy = truth.entropy[at], made.entropy[at]
        kept = metrics.is_published(entropy)
        bars = (None, None) if made.low is None or made.high is None else (made.low[at], made.high[at])
        rows.append(
            {
                "mse": metrics.mse(true, entropy),
                "mse_published": metrics.mse(true[kept], entropy[kept]),
                "published": metrics.published_ratio(entropy),
                "coverage": metrics.coverage(true, *bars),
            }
        )
    return rows
