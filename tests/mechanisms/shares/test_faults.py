"""Planted faults of Shares: the check that honest code passes, in test_privacy.py, sees each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from locentropy.mechanisms.shares import measurements, mechanism
from locentropy.mechanisms.shares.answers import Answers
from locentropy.mechanisms.shares.budget import ShareBudget
from locentropy.mechanisms.shares.levels import PublicLevels
from locentropy.mechanisms.shares.measurements import UNIT, Plan, ShareQueries
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.guarantee import Guarantee, exact
from tests.visits import reference
from tests.visits.reference import Row

from .recording import PlainQueries, Recorder, asked, wrong_with
from .test_privacy import ATTRIBUTES, PLACES, others, worst

PURE, SMALL, GAUSSIAN = Shares(1.0), Shares(0.5), Shares(0.5, delta=1e-8)
EVERY = (PURE, SMALL, GAUSSIAN)

honest = {name: getattr(measurements, name) for name in ("laplace_scale", "gaussian_scale", "_look")}
honest_noised = ShareQueries._noised
honest_pure, honest_concentrated = ShareBudget.pure, ShareBudget.concentrated


def many(visits: int = 3, size: int = 64) -> list[Row]:
    """A user at many places, all returned to."""
    return [Row("somebody", at, None, visits) for at in range(size)]


def a_scale(factor: float) -> dict[str, Any]:
    return {
        name: lambda sensitivity, part, name=name: honest[name](sensitivity, part) * factor
        for name in ("laplace_scale", "gaussian_scale")
    }


def half_the_unit(name: str) -> Any:
    return lambda sensitivity, part: honest[name](sensitivity // 2, part)


def look_and_split(make: Any) -> Any:
    """The split is given out, but not taken off the look."""

    class Overspent(ShareBudget):
        @property
        def look(self) -> Any:
            return super().look + self.split

    def of(*given: Any) -> Any:
        honest_parts = make(*given)
        return Overspent(**{name: getattr(honest_parts, name) for name in honest_parts.__dataclass_fields__})

    return of


def exactly(*names: str) -> Any:
    """Some of the answers as they are, without noise."""

    def noised(self: ShareQueries, noise: Any, name: str, values: Any) -> Any:
        drawn = honest_noised(self, noise, name, values)
        return values if name in names else drawn

    return noised


class Counted(ShareQueries):
    """A number that should be public is read off the data."""

    def ask_look(self, queries: Any) -> Any:
        found = super().ask_look(queries)
        Counted.seen = float(found.sum())
        return found

    def answers(self, values: Any, locations: Any) -> Answers:
        return replace(super().answers(values, locations), cap=Counted.seen)


def nearest(visited: Any, rule: Any) -> dict[Any, int]:
    """Shares rounded to the nearest integer."""
    weights = {at: reference.weight(rule, visits) for at, (visits, _) in visited.items()}
    if rule.norm == "l1":
        whole = float(sum(weights.values()))
    else:
        whole = float(sum(each * each for each in weights.values())) ** 0.5
    return {
        at: min(rule.largest, round(rule.unit * each / whole)) if whole else 0 for at, each in weights.items()
    }


FAULTS: dict[str, tuple[Any, tuple[Any, ...], list[tuple[Any, str, Any]], set[str]]] = {
    # name: rows of the user, where it shows, what is changed, and what the check says
    "a millionth less noise": (
        worst,
        EVERY,
        [(measurements, name, change) for name, change in a_scale(1 - 1e-6).items()],
        {"loss"},
    ),
    "half the sensitivity": (
        worst,
        EVERY,
        [(measurements, name, half_the_unit(name)) for name in ("laplace_scale", "gaussian_scale")],
        {"loss"},
    ),
    "parts of more than the whole": (
        worst,
        EVERY,
        [
            (ShareBudget, "pure", look_and_split(honest_pure)),
            (ShareBudget, "concentrated", look_and_split(honest_concentrated)),
        ],
        {"loss"},
    ),
    "ε taken for ρ": (
        worst,
        (GAUSSIAN,),
        [(measurements, "admissible_rho", lambda epsilon, delta: exact(epsilon))],
        {"loss"},
    ),
    "ρ of another δ": (
        worst,
        (GAUSSIAN,),
        [(measurements, "admissible_rho", lambda epsilon, delta: exact("0.0047"))],
        {"loss"},
    ),
    "δ forgotten": (
        worst,
        (GAUSSIAN,),
        [(Shares, "guarantee", property(lambda self: Guarantee.pure(self.epsilon)))],
        {"loss"},
    ),
    "ℓ₂ weights under Laplace noise": (
        lambda _: many(),
        (PURE, SMALL),
        [(ShareQueries, "norm", property(lambda self: "l2"))],
        {"loss"},
    ),
    "sums of ℓ₂ weights by attribute": (
        lambda _: many(),
        (GAUSSIAN,),
        [(ShareQueries, "sums_rule", ShareQueries.look_rule)],
        {"loss"},
    ),
    "histograms of ℓ₂ weights": (
        lambda _: many(),
        (GAUSSIAN,),
        [(ShareQueries, "equal_rule", ShareQueries.look_rule)],
        {"loss"},
    ),
    "shares rounded to nearest": (lambda _: many(size=13), EVERY, [(reference, "shares", nearest)], {"loss"}),
    "a look without noise": (
        worst,
        EVERY,
        [(ShareQueries, "_noised", exactly("look"))],
        {"look"},
    ),
    "histograms and split without noise": (
        worst,
        EVERY,
        [(ShareQueries, "_noised", exactly("sizes", "visits", "split"))],
        {"sizes", "visits", "split", "many_from"},
    ),
    "a number of the data in between": (worst, EVERY, [(mechanism, "ShareQueries", Counted)], {"cap"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user, where, changes, expected = FAULTS[fault]
    for shares in where:
        here, there = PlainQueries(others() + user(shares), PLACES), PlainQueries(others(), PLACES)
        # With a δ, the sums of somebody of several levels leave room that would hide a small fault.
        described = None if shares.delta and "attribute" not in fault else ATTRIBUTES
        assert wrong_with(shares, here, there, attributes=described) == set()
        with monkeypatch.context() as planted:
            for holder, name, change in changes:
                planted.setattr(holder, name, change)
            again = replace(shares)  # nothing is cached in it
            assert expected & wrong_with(again, here, there, attributes=described)


# --- what others do decides about everybody's shares --------------------------------------------------------------


def crowded(edge: int, largest: int) -> list[Row]:
    """Place 0 holds as much presence as is just not above an edge: one user more lifts it over."""
    return [Row(f"one of many {each}", 0) for each in range(edge // largest)]


def around_an_edge(shares: Any, seed: int = 1) -> tuple[PlainQueries, PlainQueries]:
    """Neighbours whose exact look at place 0 is on both sides of an edge of bands."""
    _, answers = asked(shares, PlainQueries(others(), PLACES), Recorder(seed), ATTRIBUTES)
    edge = round(float(answers.size_edges[0]) * UNIT)
    quiet = [row for row in others() if row.location != 0]
    crowd = crowded(edge, shares.share_queries.largest)
    return PlainQueries([*quiet, *crowd, Row("somebody", 0)], PLACES), PlainQueries([*quiet, *crowd], PLACES)


def seen_looks(planted: pytest.MonkeyPatch) -> dict[str, Any]:
    """The exact look, kept where a later step can see it."""
    seen: dict[str, Any] = {}

    def look(queries: Any, rule: Any) -> Any:
        found = honest["_look"](queries, rule)
        if len(found) == len(PLACES):
            seen["look"] = found
        return found

    planted.setattr(measurements, "_look", look)
    return seen


@pytest.mark.parametrize("shares", EVERY, ids=str)
def test_bands_read_off_exact_looks_are_seen(shares: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = around_an_edge(shares)
    assert wrong_with(shares, here, there, seeds=(1,), attributes=ATTRIBUTES) == set()
    seen = seen_looks(monkeypatch)

    def bands(self: Plan, name: str) -> Any:
        return np.searchsorted(np.array(self.edges(name), dtype=np.int64), seen["look"], side="left")

    monkeypatch.setattr(Plan, "bands", bands)
    assert "loss" in wrong_with(replace(shares), here, there, seeds=(1,), attributes=ATTRIBUTES)


@pytest.mark.parametrize("shares", [SMALL, GAUSSIAN], ids=str)
def test_an_attribute_read_off_visits_is_seen(shares: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = around_an_edge(shares)
    assert wrong_with(shares, here, there, seeds=(1,), attributes=ATTRIBUTES) == set()
    seen = seen_looks(monkeypatch)

    def levels(locations: Any) -> Any:
        busy = (seen["look"] > there.look(shares.share_queries.look_rule).max()).astype(np.int64)
        return (PublicLevels("busy", busy, 6), PublicLevels("quiet", 1 - busy, 2))

    monkeypatch.setattr(measurements, "public_levels", levels)
    assert "loss" in wrong_with(replace(shares), here, there, seeds=(1,), attributes=ATTRIBUTES)


@pytest.mark.parametrize("shares", EVERY, ids=str)
def test_a_weight_that_looks_at_others_rows_is_seen(shares: Any) -> None:
    """What a place weighs depends on how many were there: a newcomer moves the shares of all of them."""

    class ByCrowd(PlainQueries):
        def look(self, rule: Any) -> Any:
            busy = sum(row.location == 0 for row in self.rows) > 300
            elsewhere = [
                row._replace(visits=row.visits + 500 * (busy and row.location == 0)) for row in self.rows
            ]
            return PlainQueries(elsewhere, self.listed).look(rule)

    crowd = [Row(f"one of many {each}", at) for each in range(300) for at in (0, 1)]
    one = [Row("somebody", 0)]
    for queries, expected in ((PlainQueries, set()), (ByCrowd, {"loss"})):
        here, there = queries(crowd + one, PLACES), queries(crowd, PLACES)
        assert wrong_with(shares, here, there, seeds=(1,)) == expected


@pytest.mark.parametrize("shares", EVERY, ids=str)
def test_shares_that_do_not_add_up_to_one_are_seen(shares: Any) -> None:
    class Unshared(PlainQueries):
        """Everybody has the largest share, wherever they were."""

        def __init__(self, rows: list[Row], listed: list[Any]) -> None:
            super().__init__([row._replace(user=(row.user, row.location)) for row in rows], listed)

    few, lots = ([Row("somebody", at) for at in range(size)] for size in (1, 100))
    for visited, expected in ((few, set()), (lots, {"loss"})):
        here, there = Unshared(others() + visited, PLACES), Unshared(others(), PLACES)
        assert wrong_with(shares, here, there, seeds=(1,)) == expected
