"""Counts of Shares: what one user moves, exactly, for both noises; intervals by the law of the noise; refusals."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ColumnError, ParameterError
from locentropy.core.estimates import COUNTS
from locentropy.core.locations import Locations
from locentropy.mechanisms.registry import described, mechanism_from
from locentropy.mechanisms.shares import counts
from locentropy.mechanisms.shares.counts import (
    UNIT,
    VISIT_COUNTS,
    VISITOR_COUNTS,
    CountQueries,
    interval_margin,
)
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.privacy.concentrated import admissible_rho
from locentropy.visits.queries import open_queries
from locentropy.visits.visits import Visits
from tests.examples import examples
from tests.visits import reference
from tests.visits.reference import Row

from .recording import PlainQueries, Recorder, cost
from .test_privacy import PLACES, others

PURE = Shares(1.0, counts=0.2, max_locations=10, max_visits=5)
GAUSSIAN = Shares(1.0, delta=1e-8, counts=0.2, max_locations=10, max_visits=5)
EVERY = (
    PURE,
    GAUSSIAN,
    Shares(0.3, counts=0.9, max_locations=1, max_visits=1),
    Shares(7.0, counts=1 / 3, max_locations=64, max_visits=1),
    Shares(0.5, delta=1e-9, counts=0.5, max_locations=3, max_visits=7),
)
EXAMPLE = "Shares(epsilon=1.0, counts=0.2, max_locations=10, max_visits=5)"


def counting(shares: Shares) -> CountQueries:
    """How a mechanism counts."""
    assert shares.count_queries is not None
    return shares.count_queries


def neighbours(rows: list[Row]) -> tuple[PlainQueries, PlainQueries]:
    """With and without one user."""
    return PlainQueries(others() + rows, PLACES), PlainQueries(others(), PLACES)


def greedy(shares: Shares, size: int = 64) -> list[Row]:
    """A user at more places than count, with more visits than count, whose shares add up to all of Q."""
    often = max(3, counting(shares).bounds.max_visits + 2)
    return [Row("somebody", at, None, often) for at in range(size)]


# --- what one user moves --------------------------------------------------------------------------------------------


@given(
    st.integers(1, 12),
    st.integers(1, 9),
    st.lists(st.tuples(st.sampled_from(PLACES), st.integers(1, 20) | st.integers(1, 2**40)), min_size=1),
)
@settings(max_examples=examples(80))
def test_one_user_moves_counts_by_no_more_than_the_bounds(
    places: int, often: int, visited: list[tuple[int, int]]
) -> None:
    """As integers: Σ|d| ≤ M and M·C, Σd² ≤ M and M·C², and what the noise is for is not below these."""
    rows = [Row("somebody", at, None, visits) for at, visits in visited]
    for noise in ("laplace", "gaussian"):
        asking = CountQueries(Bounds(places, often), Fraction(1, 5), noise)
        here, there = (asking.ask(each, None) for each in neighbours(rows))
        for name, most in ((VISITOR_COUNTS, 1), (VISIT_COUNTS, often)):
            apart = [abs(each) for each in (here[name] - there[name]).tolist()]
            assert sum(apart) <= places * most * UNIT
            assert sum(each * each for each in apart) <= places * (most * UNIT) ** 2
            moved = sum(apart) ** 2 if noise == "laplace" else sum(each * each for each in apart)
            assert moved <= asking.sensitivities[name] ** 2


@pytest.mark.parametrize("places", [1, 2, 3, 10, 16, 99, 10**6])
@pytest.mark.parametrize("often", [1, 2, 5, 10**6])
def test_sensitivities_are_the_smallest_integers_that_hold(places: int, often: int) -> None:
    bounds = Bounds(places, often)
    assert CountQueries(bounds, Fraction(1), "laplace").sensitivities == {
        VISITOR_COUNTS: places * UNIT,
        VISIT_COUNTS: places * often * UNIT,
    }
    found = CountQueries(bounds, Fraction(1), "gaussian").sensitivities
    for name, most in ((VISITOR_COUNTS, 1), (VISIT_COUNTS, often)):
        square = places * most**2 * UNIT**2
        assert (found[name] - 1) ** 2 < square <= found[name] ** 2
        assert found[name] < 2**61


@pytest.mark.parametrize("shares", EVERY, ids=str)
def test_the_worst_neighbours_cost_each_query_its_half_and_no_more(shares: Shares) -> None:
    asking = counting(shares)
    here, there = (asking.ask(each, None) for each in neighbours(greedy(shares)))
    for name in asking.names:
        apart, scale = (here[name] - there[name]).tolist(), Fraction(asking.scales[name])
        loss = (
            Fraction(sum(each * each for each in apart)) / (2 * scale**2)
            if shares.delta
            else sum(map(abs, apart)) / scale
        )
        assert asking.part / 2 * (1 - Fraction(1, 10**5)) < loss <= asking.part / 2


@pytest.mark.parametrize("shares", EVERY, ids=str)
def test_the_worst_neighbours_cost_the_whole_guarantee_and_no_more(shares: Shares) -> None:
    here, there = neighbours(greedy(shares))
    found = cost(shares, here, there, all_clear=True)
    assert 1 - Fraction(1, 10**5) < found <= 1
    assert cost(shares, there, here, all_clear=True) == found


@given(
    st.sampled_from(EVERY),
    st.lists(st.tuples(st.sampled_from(PLACES), st.integers(1, 20)), min_size=1),
    st.integers(0, 2**32),
)
@settings(max_examples=examples(40))
def test_nobody_costs_more_than_promised(shares: Shares, visited: list[tuple[int, int]], seed: int) -> None:
    rows = [Row("somebody", at, None, visits) for at, visits in visited]
    assert 0 < cost(shares, *neighbours(rows), seed) <= 1


@pytest.mark.parametrize("shares", EVERY, ids=str)
def test_parts_add_up_to_the_guarantee(shares: Shares) -> None:
    whole = admissible_rho(shares.epsilon, shares.delta) if shares.delta else shares.guarantee.epsilon
    for attributes in (0, 1, 8):
        shared = replace(shares.share_queries, attributes=attributes).budget
        parts = [shared.look, shared.sizes, shared.visits, shared.split]
        parts += [shared.sums] * shared.attributes + [counting(shares).part / 2] * 2
        assert sum(parts) == whole
        assert min(parts) > 0


# --- planted faults -------------------------------------------------------------------------------------------------


def one_for_all(self: CountQueries) -> dict[str, int]:
    return {name: UNIT * (1 if name == VISITOR_COUNTS else self.bounds.max_visits) for name in self.names}


def squares_under_laplace(self: CountQueries) -> Any:
    return honest.__get__(replace(self, noise="gaussian"))


def rounded_down(self: CountQueries) -> dict[str, int]:
    often = {VISITOR_COUNTS: 1, VISIT_COUNTS: self.bounds.max_visits}
    return {name: math.isqrt(self.bounds.max_locations * (UNIT * each) ** 2) for name, each in often.items()}


honest = CountQueries.__dict__["sensitivities"]


@pytest.mark.parametrize(
    ("shares", "fault"),
    [(PURE, one_for_all), (GAUSSIAN, one_for_all), (PURE, squares_under_laplace)],
    ids=["pure, one for all", "gaussian, one for all", "squares under Laplace noise"],
)
def test_wrong_sensitivities_are_seen(shares: Shares, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountQueries, "sensitivities", property(fault))
    assert cost(replace(shares), *neighbours(greedy(shares)), all_clear=True) > 1


def test_a_root_rounded_down_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountQueries, "sensitivities", property(rounded_down))
    with pytest.raises(AssertionError):
        test_the_worst_neighbours_cost_each_query_its_half_and_no_more(replace(GAUSSIAN))


@pytest.mark.parametrize("shares", [PURE, GAUSSIAN], ids=str)
def test_counts_before_bounding_are_seen(shares: Shares, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbounded(PlainQueries):
        def profile(self, bounds: Bounds) -> Any:
            found = super().profile(Bounds(len(self.listed), 2**31 - 1, bounds.keep))
            return replace(found, bounds=bounds.resolved(has_time=False))

    rows = greedy(shares)
    here, there = Unbounded(others() + rows, PLACES), Unbounded(others(), PLACES)
    with monkeypatch.context() as patch:
        patch.setattr(counts, "bounded_profile", lambda queries, bounds, _: queries.profile(bounds))
        assert cost(replace(shares), here, there, all_clear=True) > 1


def test_a_part_that_is_not_taken_off_the_shares_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for shares in (PURE, GAUSSIAN):
        spent = replace(shares)
        object.__setattr__(spent, "share_queries", replace(shares.share_queries, set_aside=0))
        assert cost(spent, *neighbours(greedy(shares)), all_clear=True) > 1


# --- through the engine ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [None, "first", "most-visited", "lowest-id"])
@pytest.mark.parametrize(("places", "often"), [(1, 1), (2, 3), (5, 2), (50, 10**6)])
def test_the_engine_counts_as_the_definition_says(keep: Any, places: int, often: int) -> None:
    draw = random.Random(places * 100 + often)
    rows = [Row(draw.randrange(30), draw.randrange(14), draw.randrange(10**6)) for _ in range(700)]
    listed = list(range(10))  # visits elsewhere do not use up anybody's places
    table = pa.table(
        {
            "user": [row.user for row in rows],
            "location": [row.location for row in rows],
            "time": pa.array([row.time for row in rows], pa.timestamp("s")),
        }
    )
    asking = CountQueries(Bounds(places, often, keep), Fraction(1, 5), "laplace")
    with open_queries(Visits(table, time="time"), locations=listed) as queries:
        found = asking.ask(queries, Locations.of(listed))
    counted = reference.profile(rows, Bounds(places, often, keep or "first"), set(listed))
    for name, each in ((VISITOR_COUNTS, lambda visits: 1), (VISIT_COUNTS, lambda visits: visits)):
        expected = [
            sum(users * each(visits) for (at, visits), users in counted.items() if at == place)
            for place in listed
        ]
        assert (found[name] / UNIT).tolist() == expected
        assert found[name].dtype == np.int64


def test_keeping_the_first_needs_times_before_anything_is_spent() -> None:
    shares = Shares(1.0, counts=0.2, max_locations=2, max_visits=1, keep="first")
    table = pa.table({"user": [1, 2], "location": [0, 1]})
    with open_queries(Visits(table), locations=[0, 1]) as queries, pytest.raises(ColumnError, match="keep"):
        shares.rehearse(queries)


def test_queries_about_another_list_are_refused() -> None:
    with pytest.raises(ParameterError, match="public list"):
        counting(PURE).measure(PlainQueries([], PLACES), Locations.of([1, 2]), Recorder(1))


def test_huge_counts_leave_room_for_noise() -> None:
    class Huge(PlainQueries):
        def profile(self, bounds: Bounds) -> Any:
            found = super().profile(bounds)
            return replace(found, users=found.users * 2**50)

    asked = counting(PURE).ask(Huge([Row(1, 3)], PLACES), None)
    assert asked[VISITOR_COUNTS].max() == 2**61


# --- intervals, by the law of the noise -----------------------------------------------------------------------------


def law(noise: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Integers and their probabilities, but for less than 1e-12."""
    reach = math.ceil(40 * scale) + 2
    points = np.arange(-reach, reach + 1)
    weight = np.exp(-np.abs(points) / scale) if noise == "laplace" else np.exp(-((points / scale) ** 2) / 2)
    return points, weight / weight.sum()


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 3.7, 10.0, 101.5, 2345.6, 40_000.0])
def test_the_margin_holds_noise_in_95_of_100_draws_and_hardly_more(noise: Any, scale: float) -> None:
    points, chance = law(noise, scale)
    margin = interval_margin(noise, scale)
    assert chance[np.abs(points) <= margin].sum() >= 0.95 - 1e-12
    assert chance[np.abs(points) <= margin - 2].sum() < 0.95


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("part", [Fraction(1, 10), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("true", [0, 1, 7, 1000])
def test_published_intervals_hold_the_bounded_count(
    noise: Any, part: Fraction, true: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over every outcome of the noise, on a coarse lattice so that all can be looked at: rounded, and held to 0."""
    monkeypatch.setattr(counts, "UNIT", 8)
    asking = CountQueries(Bounds(3, 2), part, noise)
    for column, name in (("visitors", VISITOR_COUNTS), ("visits", VISIT_COUNTS)):
        points, chance = law(noise, asking.scales[name])
        values = dict.fromkeys(asking.names, 8 * true + points)
        found = asking.columns(values, len(points))
        shown, low, high = (found[f"{column}{end}"] for end in ("", "_low", "_high"))
        assert chance[(low <= true) & (true <= high)].sum() >= 0.95 - 1e-12
        assert chance[low > true].sum() <= 0.025 + 1e-12, "the lower end is a bound by itself"
        assert ((low <= shown) & (shown <= high) & (low >= 0)).all()
        for each in (shown, low, high):
            assert np.array_equal(each, np.floor(each))
        assert np.abs(shown - np.maximum(0, true + points / 8)).max() <= 0.5


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5), st.sampled_from(EVERY))
def test_whatever_was_kept_can_be_read(noisy: list[int], shares: Shares) -> None:
    values = np.array(noisy, dtype=np.int64)
    found = counting(shares).columns(dict.fromkeys(counting(shares).names, values), len(values))
    for column in ("visitors", "visits"):
        low, shown, high = (found[f"{column}{end}"] for end in ("_low", "", "_high"))
        assert ((low >= 0) & (low <= shown) & (shown <= high) & (high < 2**43)).all()


def test_measurements_of_other_shapes_are_refused() -> None:
    values = np.zeros(3, dtype=np.int64)
    with pytest.raises(ParameterError, match="no visit_counts"):
        counting(PURE).columns({VISITOR_COUNTS: values}, 3)
    with pytest.raises(ParameterError, match="no visitor_counts"):
        counting(PURE).columns(dict.fromkeys(counting(PURE).names, values), 4)


# --- as a part of the mechanism -------------------------------------------------------------------------------------


def released(shares: Shares) -> Any:
    queries = PlainQueries(others(), PLACES)
    listed = Locations(queries.locations)
    return shares.estimate(shares.measure(queries, listed, Recorder(5)), listed)


def test_estimates_have_counts_where_they_were_paid_for_and_only_there() -> None:
    with_counts, without = released(PURE), released(Shares(1.0))
    assert with_counts.to_arrow().column_names[-6:] == list(COUNTS)
    assert not set(COUNTS) & set(without.to_arrow().column_names)
    listed = Locations(pa.array(PLACES))
    assert PURE.query_names(listed) == (*Shares(1.0).query_names(listed), VISITOR_COUNTS, VISIT_COUNTS)
    assert tuple(PURE.public_scales(listed)) == PURE.query_names(listed)


def test_without_counts_nothing_is_said_of_them() -> None:
    plain = Shares(1.0)
    assert plain == Shares(1.0, counts=0) == Shares(1.0, counts=0.0)
    assert described(plain) == ("shares", {"epsilon": "1.0", "max_users": 10_000_000})
    assert plain.method_used is Shares.method
    assert not {"counts", "max_locations", "max_visits", "keep"} & {
        each.name for each in plain.guarantee.public_inputs
    }
    assert not set(COUNTS) & set(Shares.method.columns)


def test_with_counts_the_bounds_are_public_inputs() -> None:
    said = {each.name: each.value for each in PURE.guarantee.public_inputs}
    assert (said["counts"], said["max_locations"], said["max_visits"]) == ("0.2", "10", "5")
    assert "most-visited" in said["keep"]
    assert set(COUNTS) <= set(PURE.method_used.columns)
    assert mechanism_from(*described(PURE)) == PURE


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"counts": 0.2}, "max_locations must be given with counts"),
        ({"counts": 0.2, "max_locations": 10}, "max_visits must be given with counts"),
        ({"max_locations": 10}, "max_locations=10 is about counts"),
        ({"max_visits": 5}, "max_visits=5 is about counts"),
        ({"keep": "first"}, "keep='first' is about counts"),
        ({"counts": 0.95, "max_locations": 10, "max_visits": 5}, "at most 0.9"),
        ({"counts": 0.2, "max_locations": 1_000_001, "max_visits": 5}, "from 1 to 1,000,000"),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_call_that_works(given: Any, words: str) -> None:
    with pytest.raises(ParameterError) as refused:
        Shares(1.0, **given)
    assert words in str(refused.value)
    assert EXAMPLE in str(refused.value)


def test_a_plan_tells_the_deviation_of_counts() -> None:
    from locentropy.planning.plans import plan

    made = plan(PURE, n_locations=100, n_users=1000)
    assert "noise on visitors has a standard deviation of 141.4, that on visits of 707.1" in str(made)
    assert "standard deviation of" not in str(plan(Shares(1.0), n_locations=100, n_users=1000))
    with_delta = counting(GAUSSIAN).deviations()
    assert with_delta[VISIT_COUNTS] == pytest.approx(5 * with_delta[VISITOR_COUNTS], rel=1e-6)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_sensitivities_of_numpy_integers_do_not_overflow(kind: type) -> None:
    for noise in ("laplace", "gaussian"):
        plain, given_as = (
            CountQueries(Bounds(each(10**6), each(10**6)), Fraction(1, 10), noise).sensitivities
            for each in (int, kind)
        )
        assert given_as == plain
        assert all(type(each) is int for each in given_as.values())
