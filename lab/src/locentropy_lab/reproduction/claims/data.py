"""Claims about the data: Table 2, the figures that describe it, and the published ratio."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.number_format import six_digits
from locentropy.evaluation.metrics import spearman
from locentropy_lab.reproduction.claims.judging import FIRST_M, WAYS, Case, Claim
from locentropy_lab.reproduction.data_statistics import EVERY, LEFT
from locentropy_lab.reproduction.paper_data import DENSE, GOWALLA, SPARSE

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.judging import Results, Way


ALIKE_SHARE: Final = 0.9


def _table_2(results: Results, data: str) -> list[Case]:
    whole, cases = results.settings.is_paper_size(data), []
    for row in results.rows("table2", data=data).to_pylist():
        if not whole and not row["row"].endswith("per user"):
            continue  # depends on how many users there are
        for way, ours, words in (
            ("as printed", row["ours"], "as labelled"),
            ("corrected", row["ours_meant"], row["meant"]),
        ):
            holds = abs(ours - row["printed"]) <= row["tolerance"] * abs(row["printed"]) + 0.005
            numbers = f"printed {six_digits(row['printed'])}, ours {six_digits(ours)} ({words})"
            cases.append(Case(way, row["row"], holds, numbers))  # type: ignore[arg-type]
    return cases


def _ids(results: Results) -> list[Case]:
    cases = []
    actual = {}
    for data in (DENSE, SPARSE):
        rows = results.rows("fig6", data=data, first_m="paper")
        actual[data] = rows["actual"].to_numpy()
        rank = spearman(-rows["location"].to_numpy().astype(np.float64), actual[data])
        cases.append(
            Case("as printed", data, rank >= ALIKE_SHARE, f"rank correlation of −id and entropy {rank:.3f}")
        )
    higher = float(np.mean(actual[DENSE] > actual[SPARSE]))
    cases.append(
        Case("as printed", "Dense above Sparse", higher >= ALIKE_SHARE, f"at {higher:.1%} of the ids")
    )
    return cases


def _many_places(results: Results) -> list[Case]:
    rows = results.rows("fig3", what="locations")
    value, users = rows["value"].to_numpy(), rows["users"].to_numpy()
    share = users[value > 10].sum() / users.sum()
    return [Case("as printed", "Gowalla", share >= 0.1, f"{share:.1%} of the users")]


def _one_visit(results: Results) -> list[Case]:
    rows = results.rows("fig3", what="largest visits")
    value, users = rows["value"].to_numpy(), rows["users"].to_numpy()
    share = users[value == 1].sum() / users.sum()
    peak = int(value[np.argmax(users)])
    return [
        Case("as printed", "most users have one visit at most", share > 0.5, f"{share:.1%} of the users"),
        Case("as printed", "the peak is at 1", peak == 1, f"the commonest largest number is {peak}"),
    ]


def _few_users(results: Results) -> list[Case]:
    rows = results.rows("fig4")
    users, locations = rows["users"].to_numpy(), rows["locations"].to_numpy()
    share = locations[users < 10].sum() / locations.sum()
    return [Case("as printed", "Gowalla", share > 0.5, f"{share:.1%} of the locations")]


_NEAR: Final = (
    "each row is within the tolerance of another draw or of rounding, as labelled and as what it is"
)
DATA_CLAIMS: Final = (
    Claim("table 2, Sparse", "table2", "Statistics of Sparse.", _NEAR, ("table2",), partial(_table_2, data=SPARSE)),
    Claim("table 2, Dense", "table2", "Statistics of Dense.", _NEAR, ("table2",), partial(_table_2, data=DENSE)),
    Claim("table 2, Gowalla", "table2", "Statistics of Gowalla.", _NEAR, ("table2",), partial(_table_2, data=GOWALLA)),
    Claim(
        "many users are at more than ten locations", "fig3",
        "There are many users who contribute to more than ten locations.",
        "at least a tenth of the users", ("fig3",), _many_places,
    ),
    Claim(
        "most users have one visit", "fig3",
        "Most users have one and only one visit; the peak of the graph is at 1.",
        "more than half of the users have no more than one visit to any location, and no other number is commoner",
        ("fig3",), _one_visit,
    ),
    Claim(
        "most locations have fewer than ten users", "fig4", "Most locations have check-ins from fewer than ten users.",
        "more than half of the locations", ("fig4",), _few_users,
    ),
    Claim(
        "smaller ids have higher entropy", "fig6",
        "Locations with smaller ids have higher entropy, and entropy in Dense is higher than in Sparse.",
        "rank correlation of at least 0.9, and Dense is above Sparse at nine ids of ten", ("fig6",), _ids,
    ),
)  # fmt: skip


# --- published ratio ----------------------------------------------------------------------------------------------

EQUAL: Final = 0.005
"""Ratios this close look equal in a figure."""


def _ratio(results: Results, data: str, way: Way, line: str, k: int) -> float:
    rows = results.rows("fig7", data=data, first_m=FIRST_M[way], mechanism=line, min_users=k)
    return float(rows["ratio"][0].as_py())


def _dense(results: Results) -> list[Case]:
    cases = []
    for way in WAYS:
        found = {k: _ratio(results, DENSE, way, "limit-cb", k) for k in results.settings.k_grid}
        lowest = min(found.values())
        numbers = ", ".join(f"{ratio:.1%} at k = {k}" for k, ratio in found.items())
        cases.append(Case(way, "Dense, every k", lowest >= 1 - EQUAL, numbers))
    return cases


def _sparse(results: Results) -> list[Case]:
    k = results.settings.min_users
    found = {way: _ratio(results, SPARSE, way, "limit-cb", k) for way in WAYS}
    return [Case(way, f"Sparse, k = {k}", ratio < 0.1, f"{ratio:.1%}") for way, ratio in found.items()]


def _same(results: Results) -> list[Case]:
    k = results.settings.eligible
    cases = []
    for way in WAYS:
        for data in (DENSE, SPARSE):
            crowd = _ratio(results, data, way, "limit-cb", k)
            for line, words in (
                (EVERY, "every location of L, as in Algorithm 2"),
                (LEFT, "locations that keep a user"),
            ):
                ratio = _ratio(results, data, way, line, k)
                numbers = f"{ratio:.1%} against {crowd:.1%} of Limit-CB"
                cases.append(Case(way, f"{data.capitalize()}, {words}", abs(ratio - crowd) <= EQUAL, numbers))
    return cases


PUBLISHING_CLAIMS: Final = (
    Claim(
        "published ratio is 100 % on Dense", "fig7", "The published ratio of Limit-CB is 100 % with Dense.",
        "at least 99.5 % at every k", ("fig7",), _dense,
    ),
    Claim(
        "published ratio is below 10 % on Sparse", "fig7",
        "The published ratio of Limit-CB with Sparse is less than 10 %.",
        "below 10 % at the default k = 50", ("fig7",), _sparse,
    ),
    Claim(
        "Limit publishes as many as Limit-CB at k = K", "fig7",
        "The published ratio of Limit and Limit-SS is the same as Limit-CB's when k = K.",
        "within half a percent, for each reading of which locations Limit publishes", ("fig7",), _same,
    ),
)  # fmt: skip
