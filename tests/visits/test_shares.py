"""Everyone's presence, through the engine: against the plain-Python reference, and its sensitivity by brute force."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core import share_profile
from locentropy.core.errors import ParameterError
from locentropy.core.queries import CachedQueries
from locentropy.core.share_profile import ShareProfile
from locentropy.visits import expressions as expression
from locentropy.visits import queries
from locentropy.visits.queries import TableQueries
from tests.examples import at_night, examples

from .reference import Row, as_presence, shares
from .test_profile import as_table, tables

Q = 2**20

units = st.integers(1, 12) | st.just(Q)


@st.composite
def questions(draw: st.DrawFn) -> tuple[int, int, int]:
    unit = draw(units)
    return unit, draw(st.integers(1, unit)), draw(st.integers(1, 6))


class TestReference:
    @given(tables(), questions())
    @settings(max_examples=examples(20))
    def test_equals_the_reference(self, rows: list[Row], asked: tuple[int, int, int]) -> None:
        with le.private.open_queries(le.Visits(as_table(rows))) as opened:
            found = opened.shares(*asked)
        assert as_presence(found) == shares(rows, *asked)
        assert (found.unit, found.largest, found.max_visits) == asked

    @given(tables(counted=True, timed=False), questions(), questions(), st.data())
    @settings(max_examples=examples(10))
    def test_lists_and_what_is_restricted_later(
        self, rows: list[Row], first: tuple[int, int, int], then: tuple[int, int, int], data: st.DataObject
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
            for asked in (first, then):
                found = opened.shares(*asked)
                within = opened.restricted_to(le.mechanisms.Locations.of(fewer)).shares(*asked)
                assert found.locations.to_pylist() == chosen
                assert within.locations.to_pylist() == fewer
                assert as_presence(found) == shares(rows, *asked, set(chosen))
                assert as_presence(within) == shares(rows, *asked, set(fewer))
                assert found.look[-1] == within.look[0] == 0
            assert opened.shares(*first).equals(opened.shares(*first))

    @given(tables(), questions(), st.data())
    @settings(max_examples=examples(8))
    def test_ibis_tables(self, rows: list[Row], asked: tuple[int, int, int], data: st.DataObject) -> None:
        here = list(dict.fromkeys(row.location for row in rows))
        chosen = data.draw(st.lists(st.sampled_from(here), unique=True, min_size=1))
        con = ibis.duckdb.connect()
        with le.private.open_queries(le.Visits(con.create_table("checkins", as_table(rows)))) as opened:
            assert as_presence(opened.shares(*asked)) == shares(rows, *asked)
            within = opened.restricted_to(le.mechanisms.Locations.of(chosen)).shares(*asked)
            assert as_presence(within) == shares(rows, *asked, set(chosen))
        names = {row[0] for row in con.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert names == {"checkins"}, "temporary tables are gone"

    def test_any_resources(self) -> None:
        draw = random.Random(5)
        rows = [
            Row(draw.randrange(9000), min(draw.randrange(5000), draw.randrange(5000))) for _ in range(200_000)
        ]
        visits = le.Visits(as_table(rows, timed=False))
        found = []
        for resources in (le.Resources(threads=1, memory="100MB"), le.Resources(threads=2)):
            with le.private.open_queries(visits, resources=resources) as opened:
                found.append(opened.shares(Q, Q, 3))
        assert found[0].equals(found[1])
        assert as_presence(found[0]) == shares(rows, Q, Q, 3)

    @pytest.mark.parametrize("asked", [(0, 1, 1), (8, 9, 1), (8, 8, 0), (8, 2.5, 1), (2**31, 1, 1)])
    def test_questions_that_cannot_be_right(self, asked: tuple[Any, ...]) -> None:
        with (
            le.private.open_queries(le.Visits(as_table([Row(1, 2, 3)]))) as opened,
            pytest.raises(ParameterError, match=r"shares\(unit="),
        ):
            opened.shares(*asked)

    def test_progress_and_what_is_remembered(self) -> None:
        seen: list[str] = []
        visits = le.Visits(as_table([Row(1, 2, 3), Row(1, 4, 3)]))
        with le.private.open_queries(visits, progress=lambda doing, _: seen.append(doing)) as opened:
            remembered = CachedQueries(opened)
            found = remembered.shares(8, 4, 2)
            assert {"Counting places", "Counting", "Sharing and counting"} <= set(seen)
            seen.clear()
            assert remembered.shares(8, 4, 2) is found
            assert seen == [], "computed once"
            assert remembered.shares(8, 3, 2).look.tolist() == [3, 3]
            assert found.look.tolist() == [4, 4]
            assert "Counting places" not in seen, "the one table serves every question"


# What one user moves.

LISTED = list(range(3000))
WITHIN = list(range(0, 3000, 41))
"""A part of the list that the queries are restricted to later."""

QUESTIONS = ((Q, Q, 5), (Q, int(Q / 2.5), 5))
"""M = 1 and M = 2.5."""

TABLE = np.array([[54119, -11417], [61209, -2124], [50548, 14988], [28361, 37175], [-2398, 63138]])
"""A pair of moments on a lattice of 2^16."""
WEIGHT = int(np.abs(TABLE).sum(axis=1).max())

BY_VISITS = [2, *(2**j + 1 for j in range(1, 12))]
BY_SHARE = sorted(Q >> j for j in range(13))

Answers = dict[tuple[int, int], ShareProfile]
"""By the list (0 or 1) and the question."""

Rows = list[Row]


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


def answers(rows: Rows) -> Answers:
    table = as_table(rows, counted=True, timed=False)
    listed, within = le.mechanisms.Locations.of(LISTED), le.mechanisms.Locations.of(WITHIN)
    with le.private.open_queries(
        le.Visits(table), locations=listed, resources=le.Resources(threads=1)
    ) as opened:
        asking = (opened, opened.restricted_to(within))
        return {
            (at, number): each.shares(*asked)
            for at, each in enumerate(asking)
            for number, asked in enumerate(QUESTIONS)
        }


def moved(here: ShareProfile, there: ShareProfile) -> dict[str, Fraction]:
    """How far apart, in ℓ₁, two answers are, as a part of what is claimed at most: integers, added up exactly."""

    def distance(ask: Callable[[ShareProfile], Any]) -> int:
        return int(np.abs(ask(here) - ask(there)).sum())

    def apart(mine: Any, theirs: Any) -> int:
        return sum(abs(mine[key] - theirs[key]) for key in {*mine, *theirs})

    ours, others = as_presence(here), as_presence(there)
    return {
        "look": Fraction(distance(lambda each: each.look), Q),
        "by share": Fraction(distance(lambda each: each.presence_by_share(BY_SHARE)), Q),
        "by visits": Fraction(distance(lambda each: each.presence_by_visits(BY_VISITS)), Q),
        "by every share": Fraction(apart(ours.by_share, others.by_share), Q),
        "by every number of visits": Fraction(apart(ours.by_visits, others.by_visits), Q),
        "split": Fraction(distance(lambda each: each.moments(TABLE)), Q * WEIGHT),
    }


def wrong_with(rows: Rows, users: list[int], furthest: dict[str, Fraction] | None = None) -> set[str]:
    """The one check of both honest and faulty queries: what is not as it should be."""
    try:
        whole = answers(rows)
        found = set()
        for (at, number), profile in whole.items():
            listed = set(LISTED if at == 0 else WITHIN)
            if as_presence(profile) != shares(rows, *QUESTIONS[number], listed):
                found.add("reference")
            totals = [profile.presence_by_share(BY_SHARE).sum(), profile.presence_by_visits(BY_VISITS).sum()]
            if totals != [profile.look.sum()] * 2:
                found.add("totals")
        for user in users:
            without = answers([row for row in rows if row.user != user])
            for key, profile in whole.items():
                for name, part in moved(profile, without[key]).items():
                    if part > 1:
                        found.add(name)
                    if furthest is not None:
                        furthest[name] = max(furthest.get(name, part), part)
    except ParameterError as refused:
        return {str(refused)}
    return found


@pytest.mark.parametrize("seed", [0, 1, 2, *at_night(*range(3, 30))])
def test_one_user_moves_no_answer_by_more_than_claimed(seed: int) -> None:
    """Each seed is 12 × 4 pairs of neighbours: every user is taken out, under two lists and two questions."""
    furthest: dict[str, Fraction] = {}
    assert wrong_with(people(seed), list(range(12)), furthest) == set()
    for name, part in furthest.items():
        assert part == 1 or (name == "split" and part > 0.99), f"{name} comes nowhere near what is claimed"


def unshared(places: Any, unit: int, largest: int) -> Any:
    return np.full_like(places, largest)


def rounded_up(places: Any, unit: int, largest: int) -> Any:
    return np.minimum(largest, -(-unit // places))


def two_cells(histogram: Any, thresholds: Any) -> Any:
    values, totals = histogram
    sums = np.zeros(len(thresholds) + 1, dtype=np.int64)
    cell = np.searchsorted(thresholds, values, side="right")
    np.add.at(sums, cell, totals)
    np.add.at(sums, np.maximum(cell - 1, 0), totals)
    return sums


def rows_by_visits(present: Any) -> Any:
    return present.group_by("visits").aggregate(presence=present.count())


def counted_too_early(self: TableQueries, locations: le.mechanisms.Locations) -> TableQueries:
    """Places are counted in the whole list, though the queries are about a part of it."""
    found = RESTRICTED(self, locations)
    codes = pa.table({"code": pa.array(found._codes, pa.int32())})
    found.__dict__["_spread"] = self._spread.semi_join(self._engine.upload("early", codes), "code")
    return found


def counted_too_late(self: TableQueries, locations: le.mechanisms.Locations) -> TableQueries:
    """The other way round: places are counted in a part of the list, and presence is given out in all of it."""
    found = RESTRICTED(self, locations)
    codes = self._engine.upload("late", pa.table({"code": pa.array(found._codes, pa.int32())}))
    part = self._pairs.semi_join(codes, "code")
    each = part.group_by("user").aggregate(locations=part.count())
    self.__dict__["_spread"] = self._pairs.inner_join(each, "user").select("code", "visits", "locations")
    return found


RESTRICTED = TableQueries.restricted_to
HISTOGRAMS = {"by share", "by visits"}
EVERYTHING = {*HISTOGRAMS, "look", "split", "by every share", "by every number of visits"}


@pytest.mark.parametrize(
    ("where", "name", "fault", "expected"),
    [
        (queries, "share", unshared, {"reference", *EVERYTHING}),
        (queries, "share", rounded_up, {"reference", *EVERYTHING}),
        (share_profile, "_in_cells", two_cells, {"totals", *HISTOGRAMS}),
        (TableQueries, "restricted_to", counted_too_late, {"reference", *EVERYTHING}),
        # Smaller shares than they should be: the guarantee holds, but the answer is wrong.
        (TableQueries, "restricted_to", counted_too_early, {"reference"}),
    ],
)
def test_the_check_sees_planted_faults(
    where: Any, name: str, fault: Any, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a fault nothing is wrong with the same rows: above, for every user of this seed."""
    monkeypatch.setattr(where, name, fault)
    assert wrong_with(people(0), [2, 7]) == expected


def test_a_histogram_of_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: rows are counted, where their shares should be added up."""
    monkeypatch.setattr(expression, "presence_by_visits", rows_by_visits)
    (refused,) = wrong_with(people(0), [2])
    assert "the same presence by location, by share and by visits" in refused
