"""Claims about sensitivity and noise: functions of public numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy_lab.reproduction.claims.judging import WAYS, Case, Claim, line_of
from locentropy_lab.reproduction.sensitivities import (
    ALGORITHM_4,
    CORRECTED_NOISE,
    PRINTED_NOISE,
    SENSITIVITIES,
)

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.judging import Results, Way


SLACK: Final = 1e-12


def _grows_with_c(results: Results) -> list[Case]:
    rows = results.rows("fig1")
    cases = []
    named: tuple[tuple[Way, str, str], ...] = (
        ("as printed", "theorem_1", "Theorem 1"),
        ("corrected", "exact", "exact"),
    )
    for way, column, words in named:
        bound = rows[column].to_numpy()
        holds = bool((np.diff(bound) >= -SLACK).all())
        numbers = (
            f"{bound[0]:.3g} at C = 1, {bound[1]:.3f} at 2, {bound[49]:.3f} at 50, {bound[-1]:.3f} at 100"
        )
        cases.append(Case(way, words, holds, numbers))
    return cases


def _falls_with_n(results: Results) -> list[Case]:
    cases = []
    named: tuple[tuple[Way, str], ...] = (("as printed", "theorem_2"), ("corrected", "exact"))
    for way, column in named:
        for c in sorted(set(results.rows("fig5")["max_visits"].to_pylist())):
            if c < 3:
                continue  # ln C − 1 is not positive: there is no peak
            rows = results.rows("fig5", max_visits=c)
            users, bound = rows["users"].to_numpy(), rows[column].to_numpy()
            past = users > c / (math.log(c) - 1) + 1
            holds = bool((np.diff(bound[past]) <= SLACK).all())
            numbers = f"{bound[past][0]:.3f} at n = {users[past][0]}, {bound[-1]:.4f} at {users[-1]}"
            cases.append(Case(way, f"C = {c}", holds, numbers))
    return cases


def _scale(results: Results, mechanism: str, way: Way) -> float:
    found = results.rows("fig2", mechanism=line_of(mechanism, way))["scale"].to_numpy()
    return float(np.nanmax(found))


def _two_orders(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        baseline, limit = (_scale(results, name, way) for name in ("baseline", "limit"))
        orders = math.log10(baseline / limit)
        numbers = (
            f"{baseline:.1f} and {limit:.3f} nats: a factor of {baseline / limit:.0f}, 10 to the {orders:.2f}"
        )
        cases.append(Case(way, "scale of the noise", round(orders) == 2, numbers))
    return cases


def _cb_below_limit(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        limit, crowd = (_scale(results, name, way) for name in ("limit", "limit-cb"))
        numbers = f"{crowd:.3f} and {limit:.3f} nats: {1 - crowd / limit:.0%} less"
        cases.append(Case(way, "C = 20, k = 25", crowd <= limit / 2, numbers))
    return cases


def _crossing(results: Results) -> list[Case]:
    found = {row["compared"]: row["n_cb"] for row in results.rows("recommendations").to_pylist()}
    printed, loop, drawn, right = (
        found[kind] for kind in (SENSITIVITIES, ALGORITHM_4, PRINTED_NOISE, CORRECTED_NOISE)
    )
    return [
        Case(
            "as printed", "there is an n_CB", printed is not None,
            f"sensitivities cross at n = {printed} ({loop} with the values of Algorithm 4)",
        ),
        Case(
            "as printed", "from it on Limit-SS as printed adds less noise",
            None not in (printed, drawn) and drawn <= printed, f"by the noise as printed they cross at n = {drawn}",
        ),
        Case(
            "corrected", "there is one by the noise of the corrected algorithms", right is not None,
            f"they cross at n = {right}",
        ),
    ]  # fmt: skip


NOISE_CLAIMS: Final = (
    Claim(
        "sensitivity grows with C", "fig1", "The bound on global sensitivity increases monotonically with C.",
        "it falls nowhere from C = 1 to 100", ("fig1",), _grows_with_c,
    ),
    Claim(
        "Limit's noise is two orders below Baseline's", "fig2",
        "The noise magnitude of Limit drops by two orders of magnitude compared with Baseline's.",
        "the ratio, rounded, is two powers of ten", ("fig2",), _two_orders,
    ),
    Claim(
        "Limit-CB's sensitivity is far below Limit's", "fig2",
        "The sensitivity used in Limit-CB is significantly smaller than Limit's (C = 20, k = 25).",
        "half of it at most", ("fig2",), _cb_below_limit,
    ),
    Claim(
        "sensitivity falls with n", "fig5",
        "Local sensitivity decreases with n, from C/(ln C − 1) + 1 users on.",
        "it rises nowhere beyond the peak, up to n = 1000", ("fig5",), _falls_with_n,
    ),
    Claim(
        "n_CB from the sensitivities", "recommendations",
        "There is an n_CB from which on Limit-SS needs less noise than Limit-CB, found by comparing the smooth "
        "sensitivity with Limit-CB's sensitivity.",
        "there is a crossing, and that of the sensitivities is that of the noise", ("recommendations",), _crossing,
    ),
)  # fmt: skip
