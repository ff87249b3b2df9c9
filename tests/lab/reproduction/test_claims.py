"""Verdicts follow from numbers: made-up numbers for which each claim holds, and others for which it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest

from locentropy_lab.reproduction.claims import CLAIMS
from locentropy_lab.reproduction.claims.judging import (
    CORRECTED_ONLY,
    FAILS,
    HOLDS,
    MOSTLY,
    OPEN,
    PRINTED_ONLY,
    RULE,
    Case,
    Results,
    Verdict,
    judge,
    verdict_of,
)
from locentropy_lab.reproduction.data_statistics import EVERY, LEFT
from locentropy_lab.reproduction.experiments import EXPERIMENTS
from locentropy_lab.reproduction.sensitivities import (
    ALGORITHM_4,
    CORRECTED_NOISE,
    PRINTED_NOISE,
    SENSITIVITIES,
)
from locentropy_lab.reproduction.settings import FULL
from locentropy_lab.reproduction.simulations import LINES, METRICS, SCHEMA, grid

NAMED = {claim.name: claim for claim in CLAIMS}
Errors = Callable[[str, str, float], float]
"""The error of a mechanism on a data set at a value of what is varied."""


def sweep(varied: str, data: tuple[str, ...], errors: Errors) -> pa.Table:
    """Rows as `simulations.sweep` has them, with errors that are made up."""
    rows = []
    for name, first_m, mechanism, value in product(data, ("paper", "release"), LINES, grid(varied, FULL)):
        if mechanism.endswith("as-printed") and varied == "max_visits" and value == 1:
            continue
        error = errors(name, mechanism.removesuffix("-as-printed"), float(value))
        row = {
            "data": name, "first_m": first_m, "varied": varied, "mechanism": mechanism, "epsilon": 5.0,
            "max_locations": 5, "max_visits": 5, "min_users": 50, "published": 1.0,
            **dict.fromkeys(METRICS, error), varied: value,
        }  # fmt: skip
        rows += [row | {"seed": seed} for seed in (0, 1)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def results(**tables: pa.Table) -> Results:
    return Results(FULL, tables)


def by_epsilon(errors: Errors, data: tuple[str, ...] = ("dense", "sparse")) -> Results:
    return results(fig8=sweep("epsilon", data, errors))


def by_m(errors: Errors) -> Results:
    return results(fig9=sweep("max_locations", ("dense", "sparse"), errors))


def by_c(errors: Errors) -> Results:
    return results(fig10=sweep("max_visits", ("dense", "sparse"), errors))


def only(best: str) -> Errors:
    return lambda _, mechanism, value: (0.5 if mechanism == best else 1.0) / value


def lowest_at(best: float) -> Errors:
    return lambda _, mechanism, value: 1.0 + abs(value - best)


def ratios(crowd: float) -> Results:
    """Limit-CB publishes `crowd` of the locations, Limit all."""
    rows = [
        {
            "data": data, "first_m": first_m, "mechanism": line, "min_users": k,
            "ratio": crowd if line == "limit-cb" else 1.0,
        }
        for data, first_m, line, k in product(
            ("dense", "sparse"), ("paper", "release"), ("limit-cb", EVERY, LEFT), FULL.k_grid
        )
    ]  # fmt: skip
    return results(fig7=pa.Table.from_pylist(rows))


def noise(**scales: float) -> Results:
    rows = [
        {"mechanism": name + ending, "users": 30, "scale": scale}
        for name, scale in scales.items()
        for ending in ("", "-as-printed")
    ]
    return results(
        fig2=pa.Table.from_pylist([row | {"mechanism": row["mechanism"].replace("_", "-")} for row in rows])
    )


def bounds_and_visits(by_m: float, by_c: float) -> Results:
    """M changes the error by one factor over its grid, C by another."""
    return results(
        fig9=sweep("max_locations", ("dense", "sparse"), lambda *at: by_m if at[2] > 5 else 1.0),
        fig10=sweep("max_visits", ("dense", "sparse"), lambda *at: by_c if at[2] > 5 else 1.0),
    )


def gowalla(errors: Errors, best_m: float) -> Results:
    return results(
        fig8=sweep("epsilon", ("sparse",), lambda _, name, e: {"limit": 3, "limit-ss": 2}.get(name, 1) + 1 / e**3),
        fig9=sweep("max_locations", ("sparse",), lowest_at(10)),
        fig12=pa.concat_tables([
            sweep("epsilon", ("gowalla",), errors), sweep("max_locations", ("gowalla",), lowest_at(best_m)),
        ]),
    )  # fmt: skip


def activity(what: str, users: dict[int, int]) -> Results:
    values = list(users)
    return results(
        fig3=pa.table({"what": [what] * len(users), "value": values, "users": list(users.values())})
    )


def actual(dense: list[float], sparse: list[float]) -> Results:
    rows = [
        {"data": data, "first_m": "paper", "location": place, "actual": value}
        for data, values in (("dense", dense), ("sparse", sparse))
        for place, value in enumerate(values)
    ]
    return results(fig6=pa.Table.from_pylist(rows))


def curve(experiment: str, printed: str, values: list[float]) -> Results:
    columns: dict[str, object] = {printed: values, "exact": values}
    at = list(range(1, len(values) + 1))
    columns |= {"max_visits": at} if experiment == "fig1" else {"max_visits": [5] * len(at), "users": at}
    return results(**{experiment: pa.table(columns)})


def table_2(data: str, ours: float) -> Results:
    row = {"data": data, "row": "avg LE", "printed": 3.0, "ours": ours, "meant": "avg LE", "ours_meant": ours}
    return results(table2=pa.Table.from_pylist([row | {"tolerance": 0.01}]))


def crossings(sensitivities: int | None, noise: int | None) -> Results:
    compared = {
        SENSITIVITIES: sensitivities, ALGORITHM_4: sensitivities, PRINTED_NOISE: noise, CORRECTED_NOISE: noise,
    }  # fmt: skip
    rows = [{"compared": kind, "n_cb": n} for kind, n in compared.items()]
    return results(
        recommendations=pa.Table.from_pylist(rows, pa.schema([("compared", "string"), ("n_cb", "int64")]))
    )


def rule(best: str) -> Results:
    """Both sets are dense, so the rule says Limit-SS."""
    rows = [
        {
            "data": data, "first_m": first_m, "compared": compared, "n_cb": 51, "share": 1.0, "advised": "limit-ss",
        }
        for data, first_m, compared in product(
            ("dense", "sparse"), ("paper", "release"), (SENSITIVITIES, CORRECTED_NOISE)
        )
    ]  # fmt: skip
    return results(
        recommendations=pa.Table.from_pylist(rows), fig8=sweep("epsilon", ("dense", "sparse"), only(best))
    )


TRUE_NUMBERS: dict[str, Results] = {
    "table 2, Sparse": table_2("sparse", 3.01),
    "table 2, Dense": table_2("dense", 3.01),
    "table 2, Gowalla": table_2("gowalla", 3.01),
    "many users are at more than ten locations": activity("locations", {10: 80, 11: 20}),
    "most users have one visit": activity("largest visits", {1: 60, 5: 40}),
    "most locations have fewer than ten users": results(
        fig4=pa.table({"users": [9, 10], "locations": [6, 4]})
    ),
    "smaller ids have higher entropy": actual([9.0, 8.0, 7.0], [5.0, 4.0, 3.0]),
    "sensitivity grows with C": curve("fig1", "theorem_1", [1.0 + c for c in range(100)]),
    "sensitivity falls with n": curve("fig5", "theorem_2", [1.0 / n for n in range(1, 60)]),
    "n_CB from the sensitivities": crossings(51, 51),
    "the rule for dense and sparse data": rule("limit-ss"),
    "errors saturate at ε = 5": by_epsilon(lambda *at: 1.0 + 1.0 / at[2] ** 3),
    "Limit-SS is best on Dense, all locations": by_epsilon(only("limit-ss")),
    "Limit-SS is best on Dense, Throwaway": by_epsilon(only("limit-ss")),
    "Limit-CB is best on Sparse, all locations": by_epsilon(lambda *_: 1.0),  # a tie
    "Limit-CB is best on Sparse, Throwaway": by_epsilon(only("limit-cb")),
    "Limit-CB is best at a small budget": by_epsilon(only("limit-cb")),
    "errors are higher on Dense than on Sparse": by_epsilon(lambda data, *_: 2.0 if data == "dense" else 1.0),
    "gains over Limit grow as ε falls": by_epsilon(lambda _, name, e: (2 if name == "limit" else 1) / e),
    "best M of Limit on Dense is 5": by_m(lowest_at(5)),
    "best M of Limit-SS on Dense is 30 or more": by_m(lowest_at(30)),
    "best M of Limit-CB on Dense is 30 or more": by_m(lowest_at(30)),
    "best M of Limit-SS on Sparse, Throwaway is 10": by_m(lowest_at(10)),
    "best M of Limit-CB on Sparse, Throwaway is 20": by_m(lowest_at(20)),
    "KL grows with C": by_c(lambda *at: at[2]),
    "C of at most 10 is enough": by_c(lowest_at(7)),
    "M matters more than C": bounds_and_visits(5.0, 2.0),
    "published ratio is 100 % on Dense": ratios(1.0),
    "published ratio is below 10 % on Sparse": ratios(0.09),
    "Limit publishes as many as Limit-CB at k = K": ratios(1.0),
    "Limit's noise is two orders below Baseline's": noise(baseline=80.0, limit=0.9),
    "Limit-CB's sensitivity is far below Limit's": noise(limit=0.9, limit_cb=0.4),
    "Limit-CB is best on Gowalla, all locations": results(
        fig12=sweep("epsilon", ("gowalla",), only("limit-cb"))
    ),
    "Limit-CB is best on Gowalla, Throwaway": results(fig12=sweep("epsilon", ("gowalla",), only("limit-cb"))),
    "Gowalla behaves like Sparse": gowalla(
        lambda _, name, e: {"limit": 3, "limit-ss": 2}.get(name, 1) + 1 / e**3, 20
    ),
}
FALSE_NUMBERS: dict[str, Results] = {
    "table 2, Sparse": table_2("sparse", 3.1),
    "table 2, Dense": table_2("dense", 3.1),
    "table 2, Gowalla": table_2("gowalla", 3.1),
    "many users are at more than ten locations": activity("locations", {10: 95, 11: 5}),
    "most users have one visit": activity("largest visits", {1: 40, 5: 60}),
    "most locations have fewer than ten users": results(
        fig4=pa.table({"users": [9, 10], "locations": [4, 6]})
    ),
    "smaller ids have higher entropy": actual([3.0, 4.0, 5.0], [7.0, 8.0, 9.0]),
    "sensitivity grows with C": curve("fig1", "theorem_1", [1.0 / (1 + c) for c in range(100)]),
    "sensitivity falls with n": curve("fig5", "theorem_2", [float(n) for n in range(1, 60)]),
    "n_CB from the sensitivities": crossings(None, None),
    "the rule for dense and sparse data": rule("limit-cb"),
    "errors saturate at ε = 5": by_epsilon(lambda *at: 1.0 / at[2]),
    "Limit-SS is best on Dense, all locations": by_epsilon(only("limit")),
    "Limit-SS is best on Dense, Throwaway": by_epsilon(only("limit-cb")),
    "Limit-CB is best on Sparse, all locations": by_epsilon(only("limit")),
    "Limit-CB is best on Sparse, Throwaway": by_epsilon(only("limit-ss")),
    "Limit-CB is best at a small budget": by_epsilon(only("limit")),
    "errors are higher on Dense than on Sparse": by_epsilon(lambda data, *_: 1.0 if data == "dense" else 2.0),
    "gains over Limit grow as ε falls": by_epsilon(lambda _, name, e: (1 if name == "limit" else 2) / e),
    "best M of Limit on Dense is 5": by_m(lowest_at(2)),
    "best M of Limit-SS on Dense is 30 or more": by_m(lowest_at(10)),
    "best M of Limit-CB on Dense is 30 or more": by_m(lowest_at(20)),
    "best M of Limit-SS on Sparse, Throwaway is 10": by_m(lowest_at(5)),
    "best M of Limit-CB on Sparse, Throwaway is 20": by_m(lowest_at(30)),
    "KL grows with C": by_c(lambda *at: 100.0 - at[2]),
    "C of at most 10 is enough": by_c(lowest_at(30)),
    "M matters more than C": bounds_and_visits(2.0, 5.0),
    "published ratio is 100 % on Dense": ratios(0.99),
    "published ratio is below 10 % on Sparse": ratios(0.1),
    "Limit publishes as many as Limit-CB at k = K": ratios(0.9),
    "Limit's noise is two orders below Baseline's": noise(baseline=20.0, limit=0.9),
    "Limit-CB's sensitivity is far below Limit's": noise(limit=0.9, limit_cb=0.6),
    "Limit-CB is best on Gowalla, all locations": results(
        fig12=sweep("epsilon", ("gowalla",), only("limit"))
    ),
    "Limit-CB is best on Gowalla, Throwaway": results(fig12=sweep("epsilon", ("gowalla",), only("limit-ss"))),
    "Gowalla behaves like Sparse": gowalla(
        lambda _, name, e: {"limit": 1, "limit-ss": 2}.get(name, 3) / e, 1
    ),
}


@pytest.mark.parametrize("name", TRUE_NUMBERS)
def test_holds_where_it_holds(name: str) -> None:
    finding = judge(NAMED[name], TRUE_NUMBERS[name])
    assert finding.verdict == HOLDS, finding.cases


@pytest.mark.parametrize("name", FALSE_NUMBERS)
def test_fails_where_it_fails(name: str) -> None:
    finding = judge(NAMED[name], FALSE_NUMBERS[name])
    assert finding.verdict == FAILS, finding.cases
    assert all(case.numbers for case in finding.cases)


@pytest.mark.parametrize(("where", "verdict"), [("paper", PRINTED_ONLY), ("release", CORRECTED_ONLY)])
def test_true_in_one_way_only_says_which(where: str, verdict: str) -> None:
    table = sweep("max_locations", ("dense", "sparse"), lowest_at(5))
    true_there = table["first_m"].to_numpy(zero_copy_only=False) == where
    other = sweep("max_locations", ("dense", "sparse"), lowest_at(1))
    mixed = pa.concat_tables([table.filter(pa.array(true_there)), other.filter(pa.array(~true_there))])
    finding = judge(NAMED["best M of Limit on Dense is 5"], results(fig9=mixed))
    assert finding.verdict == verdict
    printed, corrected = (1, 0) if where == "paper" else (0, 1)
    assert finding.summary == f"True in {printed} of 1 cases as printed and {corrected} of 1 cases corrected."


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ((2, 2), (1, 1), HOLDS),
        ((3, 3), (0, 0), HOLDS),  # a claim about data: no algorithm, no correction
        ((3, 4), (3, 3), MOSTLY),
        ((3, 3), (2, 3), MOSTLY),
        ((2, 3), (0, 0), MOSTLY),
        ((3, 3), (1, 3), PRINTED_ONLY),
        ((2, 3), (0, 1), PRINTED_ONLY),
        ((2, 2), (1, 2), PRINTED_ONLY),  # half is not most
        ((1, 3), (3, 3), CORRECTED_ONLY),
        ((0, 1), (2, 3), CORRECTED_ONLY),
        ((1, 2), (1, 1), CORRECTED_ONLY),
        ((1, 2), (1, 2), FAILS),
        ((0, 1), (0, 1), FAILS),
        ((1, 2), (0, 0), FAILS),
    ],
)
def test_the_verdict_follows_from_both_counts(
    printed: tuple[int, int], corrected: tuple[int, int], expected: str
) -> None:
    """(true, all) cases of each way."""
    ways = (("as printed", *printed), ("corrected", *corrected))
    cases = [Case(way, "", number < true, "") for way, true, many in ways for number in range(many)]
    assert verdict_of(cases) == expected


def test_the_page_says_what_every_verdict_means() -> None:
    for verdict in get_args(Verdict):
        assert verdict in RULE.lower()


def test_the_documented_verdicts_follow_from_the_documented_counts() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    rows = [row for row in rows if len(row) == 5 and " of " in row[3]]
    assert len(rows) == len(CLAIMS)
    for name, _, verdict, *counts in rows:
        cases = [
            Case(way, "", number < int(count.split(" of ")[0]), "")
            for way, count in zip(("as printed", "corrected"), counts, strict=True)
            if count
            for number in range(int(count.split(" of ")[1]))
        ]
        assert verdict.removesuffix(" at 1 million users").strip("*") == verdict_of(cases), name


def test_what_did_not_run_is_not_judged() -> None:
    finding = judge(NAMED["KL grows with C"], results())
    assert finding.verdict == OPEN
    assert "fig10" in finding.summary


def test_claims_have_names_of_their_own_and_stand_with_an_experiment() -> None:
    assert len(NAMED) == len(CLAIMS)
    assert set(TRUE_NUMBERS) == set(FALSE_NUMBERS) == set(NAMED)  # each is tested both ways
    for claim in CLAIMS:
        assert claim.experiment in EXPERIMENTS
        assert set(claim.needs) <= set(EXPERIMENTS)


def test_statistics_of_another_size_are_not_held_against_the_paper() -> None:
    rows = [
        {
            "data": "dense",
            "row": row,
            "printed": 2.0,
            "ours": 1.0,
            "meant": "m",
            "ours_meant": 2.0,
            "tolerance": 0.0,
        }
        for row in ("max LE", "avg visits to a loc. per user")
    ]
    table = pa.Table.from_pylist(rows)
    small = Results(replace(FULL, dense_users=1000), {"table2": table})
    assert {case.where for case in judge(NAMED["table 2, Dense"], small).cases} == {
        "avg visits to a loc. per user"
    }
    whole = judge(NAMED["table 2, Dense"], results(table2=table))
    assert [case.holds for case in whole.cases] == [False, True, False, True]
    assert whole.verdict == CORRECTED_ONLY
