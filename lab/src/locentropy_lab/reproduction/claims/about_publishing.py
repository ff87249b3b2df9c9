"""Claims about the published ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy_lab.reproduction.claims.claim import Case, Claim
from locentropy_lab.reproduction.claims.results import FIRST_M, WAYS
from locentropy_lab.reproduction.paper_data import DENSE, SPARSE
from locentropy_lab.reproduction.publishing_ratio import EVERY, LEFT

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.claim import Way
    from locentropy_lab.reproduction.claims.results import Results

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


ABOUT_PUBLISHING: Final = (
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
