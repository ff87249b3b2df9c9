"""Everyone's presence, through the engine: against the plain-Python reference, and its sensitivity by brute force."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import ParameterError
from locentropy.core.queries import CachedQueries
from locentropy.core.shares import LARGEST_WEIGHT, ShareRule
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS, SPLIT_WEIGHTS
from locentropy.visits import expressions as expression
from tests.examples import at_night, examples

from .reference import Row, look, presence
from .test_profile import as_table, tables

Q = 2**20

units = st.integers(1, 12) | st.just(Q)
tables_of_weights = st.sampled_from([LOOK_WEIGHTS, SPLIT_WEIGHTS, (1,), (7,), (0,)]) | st.lists(
    st.integers(0, 5) | st.integers(0, LARGEST_WEIGHT), min_size=1, max_size=5
).map(tuple)
norms = st.sampled_from(["l1", "l2"])


@st.composite
def rules(draw: st.DrawFn) -> ShareRule:
    unit = draw(units)
    return ShareRule(unit, draw(st.integers(1, unit)), draw(tables_of_weights), draw(norms))


def cells(data: st.DataObject, places: int) -> tuple[list[int], tuple[int, ...], tuple[int, ...]]:
    """Bands and thresholds of a question."""
    bands = data.draw(st.lists(st.integers(0, 3), min_size=places, max_size=places))
    edges = st.lists(st.integers(0, 6), unique=True).map(lambda found: tuple(sorted(found)))
    return bands, data.draw(edges), data.draw(edges)


def agree(queries: Any, rows: list[Row], rule: ShareRule, listed: list[Any], data: st.DataObject) -> None:
    """Both questions are answered as by the reference."""
    assert queries.look(rule).tolist() == look(rows, rule, listed)
    if listed:
        bands, places, visits = cells(data, len(listed))
        found = queries.presence(rule, np.array(bands, dtype=np.int64), places, visits)
        assert found.tolist() == presence(rows, rule, listed, bands, places, visits)


class TestReference:
    @given(tables(), rules(), st.data())
    @settings(max_examples=examples(12, nightly=400))
    def test_equals_the_reference(self, rows: list[Row], rule: ShareRule, data: st.DataObject) -> None:
        with le.private.open_queries(le.Visits(as_table(rows))) as opened:
            agree(opened, rows, rule, opened.locations.to_pylist(), data)

    @given(tables(counted=True, timed=False), rules(), rules(), st.data())
    @settings(max_examples=examples(5, nightly=200))
    def test_lists_and_what_is_restricted_later(
        self, rows: list[Row], first: ShareRule, then: ShareRule, data: st.DataObject
    ) -> None:
        """Places are counted within the list; several questions, in any order, do not get in each other's way."""
        here = list(dict.fromkeys(row.location for row in rows))
        absent = "nowhere" if isinstance(here[0], str) else 4711
        chosen = [*data.draw(st.lists(st.sampled_from(here), unique=True)), absent]
        fewer = [
            absent,
            *data.draw(st.lists(st.sampled_from(chosen[:-1]), unique=True) if chosen[1:] else st.just([])),
        ]
        table = as_table(rows, counted=True, timed=False)
        with le.private.open_queries(le.Visits(table), locations=chosen) as opened:
            for rule in (first, then, first, ShareRule(Q, Q)):
                within = opened.restricted_to(le.mechanisms.Locations.of(fewer))
                assert within.locations.to_pylist() == fewer
                agree(opened, rows, rule, chosen, data)
                agree(within, rows, rule, fewer, data)

    @given(tables(), rules(), st.data())
    @settings(max_examples=examples(5, nightly=160))
    def test_ibis_tables(self, rows: list[Row], rule: ShareRule, data: st.DataObject) -> None:
        here = list(dict.fromkeys(row.location for row in rows))
        chosen = data.draw(st.lists(st.sampled_from(here), unique=True, min_size=1))
        con = ibis.duckdb.connect()
        with le.private.open_queries(le.Visits(con.create_table("checkins", as_table(rows)))) as opened:
            agree(opened, rows, rule, opened.locations.to_pylist(), data)
            agree(opened.restricted_to(le.mechanisms.Locations.of(chosen)), rows, rule, chosen, data)
        names = {row[0] for row in con.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert names == {"checkins"}, "temporary tables are gone"

    def test_any_resources(self) -> None:
        draw = random.Random(5)
        rows = [
            Row(draw.randrange(9000), min(draw.randrange(5000), draw.randrange(5000))) for _ in range(200_000)
        ]
        visits = le.Visits(as_table(rows, timed=False))
        rule = ShareRule(Q, Q, LOOK_WEIGHTS, "l2")
        found = []
        for resources in (le.Resources(threads=1, memory="100MB"), le.Resources(threads=2)):
            with le.private.open_queries(visits, resources=resources) as opened:
                found.append(opened.look(rule).tolist())
                listed = opened.locations.to_pylist()
        assert found[0] == found[1] == look(rows, rule, listed)

    def test_users_of_many_places_and_visits(self) -> None:
        """Where weights are large and many, and visits more than are tabulated."""
        draw = random.Random(2)
        rows = [
            Row(user, at, None, draw.choice([1, 1, 2, 3, 1025, 2**30]))
            for user in (1, 2)
            for at in range(9000)
        ]
        with le.private.open_queries(le.Visits(as_table(rows, counted=True, timed=False))) as opened:
            for norm in ("l1", "l2"):
                rule = ShareRule(Q, Q, LOOK_WEIGHTS, norm)
                assert opened.look(rule).tolist() == look(rows, rule, opened.locations.to_pylist())

    @pytest.mark.parametrize(
        "change",
        [
            {"unit": 0},
            {"largest": 9},
            {"largest": 2.5},
            {"unit": 2**31 + 1},
            {"weights": ()},
            {"weights": (-1,)},
            {"weights": (LARGEST_WEIGHT + 1,)},
            {"weights": (0.5,)},
            {"norm": "l3"},
        ],
        ids=str,
    )
    def test_rules_that_cannot_be_right(self, change: dict[str, Any]) -> None:
        with pytest.raises(ParameterError, match=r"ShareRule\(unit="):
            ShareRule(**({"unit": 8, "largest": 8} | change))

    @pytest.mark.parametrize(
        ("bands", "places", "visits"),
        [
            ([0], (), ()),
            ([0, -1], (), ()),
            ([0.0, 1.0], (), ()),
            ([0, 1], (2, 2), ()),
            ([0, 1], (), (3, 2)),
            ([0, 1], (1.5,), ()),
        ],
    )
    def test_cells_that_cannot_be_right(self, bands: Any, places: Any, visits: Any) -> None:
        with (
            le.private.open_queries(le.Visits(as_table([Row(1, 2, 3), Row(1, 4, 3)]))) as opened,
            pytest.raises(ParameterError),
        ):
            opened.presence(ShareRule(Q, Q), np.array(bands), places, visits)

    def test_progress_and_what_is_remembered(self) -> None:
        seen: list[str] = []
        visits = le.Visits(as_table([Row(1, 2, 3), Row(1, 4, 3)]))
        with le.private.open_queries(visits, progress=lambda doing, _: seen.append(doing)) as opened:
            remembered = CachedQueries(opened)
            found = remembered.look(ShareRule(8, 4))
            assert "Sharing and counting" in seen
            assert "Counting places" in seen, "stored, for there will be other questions"
            seen.clear()
            assert remembered.look(ShareRule(8, 4)) is found
            assert seen == [], "computed once"
            assert not found.flags.writeable, "and the same for all who ask"
            assert remembered.look(ShareRule(8, 3)).tolist() == [3, 3]
            assert found.tolist() == [4, 4]
            assert remembered.presence(ShareRule(8, 4), np.array([0, 1]), (2,), ()).sum() == 8
            assert "Counting places" not in seen, "the one table serves every question"

    def test_restricted_queries_store_nothing_for_a_single_question(self) -> None:
        seen: list[str] = []
        visits = le.Visits(as_table([Row(1, 2, 3), Row(1, 4, 3)]))
        with le.private.open_queries(visits, progress=lambda doing, _: seen.append(doing)) as opened:
            within = opened.restricted_to(le.mechanisms.Locations.of([2]))
            assert within.look(ShareRule(8, 8)).tolist() == [8]
            assert "Counting places" not in seen
            assert within.look(ShareRule(8, 3)).tolist() == [3]
            assert "Counting places" in seen, "needed again"
            seen.clear()
            assert within.look(ShareRule(8, 2)).tolist() == [2]
            assert "Counting places" not in seen


# Integers on engines that divide in their own ways.


def in_duckdb(expressions: dict[str, Any], columns: dict[str, list[int]]) -> dict[str, list[int]]:
    con = ibis.duckdb.connect()
    table = con.create_table(
        "numbers", pa.table({name: pa.array(each, pa.int64()) for name, each in columns.items()})
    )
    return con.to_pyarrow(
        table.select(**{name: make(table) for name, make in expressions.items()})
    ).to_pydict()


@given(st.lists(st.tuples(st.integers(0, Q * LARGEST_WEIGHT), st.integers(1, 2**46)), min_size=1))
@settings(max_examples=examples(30))
def test_quotients_are_exact(pairs: list[tuple[int, int]]) -> None:
    """Also one below and above a multiple, where floats round to the next integer."""
    wide = [
        (number * divisor + off, divisor)
        for number, divisor in ((a % (Q + 1), b) for a, b in pairs)
        for off in (-1, 0, 1)
        if number * divisor + off >= 0 and number * divisor < 2**61
    ]
    every = [*pairs, *wide]
    columns = {"a": [a for a, _ in every], "b": [b for _, b in every]}
    found = in_duckdb({"q": lambda each: expression.quotient(each.a, each.b)}, columns)["q"]
    assert found == [a // b for a, b in every]


@given(st.lists(st.integers(1, 2**30), min_size=1))
@settings(max_examples=examples(30))
def test_roots_are_exact(roots: list[int]) -> None:
    """At squares and next to them, where floats round."""
    squares = [root * root + off for root in roots for off in (-1, 0, 1)]
    found = in_duckdb({"n": lambda each: expression.root_above(each.s)}, {"s": squares})["n"]
    assert found == [max(1, math.isqrt(max(0, each - 1)) + (each > 0)) if each else 1 for each in squares]


# What one user moves.

LISTED = list(range(3000))
WITHIN = list(range(0, 3000, 41))
"""A part of the list that the queries are restricted to later."""

RULES = {
    "look": ShareRule(Q, Q, LOOK_WEIGHTS),
    "capped look": ShareRule(Q, int(Q / 2.5), LOOK_WEIGHTS),
    "look in ℓ₂": ShareRule(Q, Q, LOOK_WEIGHTS, "l2"),
    "split": ShareRule(Q, Q, SPLIT_WEIGHTS),
    "split in ℓ₂": ShareRule(Q, Q, SPLIT_WEIGHTS, "l2"),
}
EQUAL = {"cells": ShareRule(Q, Q), "capped cells": ShareRule(Q, int(Q / 2.5))}
CELLS = ((2, 3, 9, 65), (2, 3, 5, 4000))

Rows = list[Row]
Answers = dict[tuple[int, str], Any]
"""By the list (0 or 1) and the question."""


def people(seed: int) -> Rows:
    """A dozen users, one of them at up to 3000 places; for most of them, a unit cannot be split evenly."""
    draw = random.Random(seed)
    sizes = [1, 2, 3, 4, draw.choice([8, 16, 64]), 7, draw.randrange(5, 90), draw.randrange(1000, 3000)]
    sizes += [draw.choice([1, 2, 3, 5, 11]) for _ in range(4)]
    rows = [
        Row(user, at, None, draw.choice([1, 1, 2, 3, 4, 5, 6, 40, 5000]))
        for user, size in enumerate(sizes)
        for at in draw.sample(range(3100 if size > 4 else 3000), size)
    ]
    rows += [Row(user, at, None, draw.randrange(1, 9)) for user in (1, 3) for at in draw.sample(WITHIN, 3)]
    draw.shuffle(rows)
    return rows


def one_each(rows: Rows) -> Rows:
    """A row for each visit; visits are as many as make a difference, and half of the rows come in another order."""
    every = [Row(row.user, row.location) for row in rows for _ in range(min(row.visits, 7))]
    return every[::2] + every[1::2]


def bands_of(listed: list[int]) -> Any:
    return np.array([at % 3 for at in listed], dtype=np.int64)


def answers(rows: Rows, *, row_each: bool = False) -> Answers:
    """All answers; rows count visits, or there is one for each visit, and pairs are read off runs."""
    table = as_table(one_each(rows) if row_each else rows, counted=not row_each, timed=False)
    listed, within = le.mechanisms.Locations.of(LISTED), le.mechanisms.Locations.of(WITHIN)
    with le.private.open_queries(
        le.Visits(table), locations=listed, resources=le.Resources(threads=1)
    ) as opened:
        found: Answers = {}
        for at, asking in enumerate((opened, opened.restricted_to(within))):
            places = (LISTED, WITHIN)[at]
            found |= {(at, name): asking.look(rule) for name, rule in RULES.items()}
            found |= {
                (at, name): asking.presence(rule, bands_of(places), *CELLS) for name, rule in EQUAL.items()
            }
        return found


def moved(name: str, here: Any, there: Any) -> Fraction:
    """How far apart two answers are, as a part of what is claimed at most: integers, added up exactly."""
    apart = [abs(int(each)) for each in (here - there).ravel()]
    if (RULES | EQUAL)[name].norm == "l2":
        return Fraction(sum(each * each for each in apart), Q * Q)
    return Fraction(sum(apart), Q)


def wrong_with(
    rows: Rows, users: list[int], furthest: dict[str, Fraction] | None = None, *, row_each: bool = False
) -> set[str]:
    """The one check of both honest and faulty queries: what is not as it should be."""
    whole = answers(rows, row_each=row_each)
    if row_each:
        rows = one_each(rows)
    found = set()
    for (at, name), answer in whole.items():
        listed = (LISTED, WITHIN)[at]
        if name in RULES:
            expected: Any = look(rows, RULES[name], listed)
        else:
            expected = presence(rows, EQUAL[name], listed, bands_of(listed).tolist(), *CELLS)
        if answer.tolist() != expected:
            found.add("reference")
    for user in users:
        fewer = [row for row in rows if row.user != user]
        without = answers(fewer, row_each=row_each)
        for key, answer in whole.items():
            part = moved(key[1], answer, without[key])
            if part > 1:
                found.add(key[1])
            if furthest is not None:
                furthest[key[1]] = max(furthest.get(key[1], part), part)
    return found


@pytest.mark.parametrize("row_each", [False, True])
@pytest.mark.parametrize("seed", [0, *at_night(*range(1, 30))])
def test_one_user_moves_no_answer_by_more_than_claimed(seed: int, row_each: bool) -> None:
    """Each seed is 12 × 14 pairs of neighbours: every user is taken out, under two lists and seven questions."""
    furthest: dict[str, Fraction] = {}
    assert wrong_with(people(seed), list(range(12)), furthest, row_each=row_each) == set()
    for name, part in furthest.items():
        assert part > Fraction(999, 1000), f"{name} comes nowhere near what is claimed"


def nearest(number: Any, divisor: Any) -> Any:
    return (number.cast("float64") / divisor.cast("float64")).round().cast("int64")


def rounded_up(number: Any, divisor: Any) -> Any:
    return (number.cast("float64") / divisor.cast("float64")).ceil().cast("int64")


def root_below(number: Any) -> Any:
    return ibis.greatest(number.cast("float64").sqrt().floor().cast("int64"), 1)


def unshared(spread: Any, rule: ShareRule) -> Any:
    return spread.mutate(share=ibis.literal(rule.largest, "int64"))


HONEST_SPREAD, HONEST_CELLS = expression.spread_pairs, expression.presence_by_cell


def in_two_bands(spread: Any, rule: Any, bands: Any, places: Any, visits: Any) -> Any:
    """A row is counted in its band and in the next."""
    twice = bands.union(bands.mutate(band=ibis.greatest(bands.band - 1, 0)))
    return HONEST_CELLS(spread, rule, twice.distinct(), places, visits)


def of_everybody(pairs: Any, weights: Any, *, squares: bool) -> Any:
    """A weight that looks at others' rows: visits of all people to the place, instead of this user's."""
    total = pairs.group_by("code").aggregate(all_visits=pairs.visits.sum().cast("int64"))
    crowd = pairs.inner_join(total, "code").drop("visits").rename(visits="all_visits")
    return HONEST_SPREAD(crowd, weights, squares=squares)


def counted_elsewhere(pairs: Any, weights: Any, *, squares: bool) -> Any:
    """Places are counted in half of the list, and presence is given out in all of it."""
    whole = HONEST_SPREAD(pairs, weights, squares=squares)
    sums = ("locations", "total", *(("squares",) if squares else ()))
    return whole.mutate(**{name: expression.quotient(whole[name] + 1, ibis.literal(2)) for name in sums})


HONEST_SPREAD_BY_ONCE = expression.spread_by_once


def of_everybody_in_order(runs: Any, weights: Any, *, squares: bool) -> Any:
    """The same where pairs are read off runs."""
    total = runs.group_by("code").aggregate(all_visits=runs.visits.sum().cast("int64"))
    crowd = runs.inner_join(total, "code").drop("visits").rename(visits="all_visits")
    return HONEST_SPREAD_BY_ONCE(crowd, weights, squares=squares)


def counted_elsewhere_in_order(runs: Any, weights: Any, *, squares: bool) -> Any:
    """Likewise."""
    half = {name: expression.quotient(runs[name] + 1, ibis.literal(2)) for name in ("locations", "once")}
    return HONEST_SPREAD_BY_ONCE(runs.mutate(**half), weights, squares=squares)


def returns_forgotten(runs: Any, weights: Any, *, squares: bool) -> Any:
    """A user's unit is divided by what places weigh where the user was once."""
    once = runs.mutate(locations=ibis.greatest(runs.once, 1))
    return HONEST_SPREAD_BY_ONCE(once, weights, squares=squares)


LOOKS, CELL_NAMES = set(RULES), set(EQUAL)


@pytest.mark.parametrize(
    ("where", "name", "fault", "at_least"),
    [
        (expression, "with_shares", unshared, {"reference", *LOOKS, *CELL_NAMES}),
        (expression, "quotient", rounded_up, {"reference", "look", "split", "cells"}),
        (expression, "quotient", nearest, {"reference", "look"}),
        (expression, "root_above", root_below, {"reference", "split in ℓ₂"}),
        (expression, "presence_by_cell", in_two_bands, {"reference", "cells"}),
        (expression, "spread_pairs", of_everybody, {"reference", "look", "look in ℓ₂"}),
        (expression, "spread_pairs", counted_elsewhere, {"reference", "look", "look in ℓ₂", "cells"}),
    ],
)
def test_the_check_sees_planted_faults(
    where: Any, name: str, fault: Any, at_least: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a fault nothing is wrong with the same rows: above, for every user of this seed."""
    monkeypatch.setattr(where, name, fault)
    assert at_least <= wrong_with(people(0), [7])


@pytest.mark.parametrize(
    ("fault", "at_least"),
    [
        (of_everybody_in_order, {"reference", "look", "look in ℓ₂"}),
        (counted_elsewhere_in_order, {"reference", "look", "look in ℓ₂", "cells"}),
        (returns_forgotten, {"reference", "look", "look in ℓ₂", "cells"}),
    ],
)
def test_the_check_sees_planted_faults_where_rows_are_in_order(
    fault: Any, at_least: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above."""
    monkeypatch.setattr(expression, "spread_by_once", fault)
    assert at_least <= wrong_with(people(0), [7], row_each=True)
