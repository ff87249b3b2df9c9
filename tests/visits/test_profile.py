"""Profiles against the plain-Python reference, on random data."""

from __future__ import annotations

from hashlib import md5

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, ParameterError
from tests.examples import examples

from .reference import Row, as_counter, is_missing, places_histogram, profile

KEEPS = ("first", "most-visited", "lowest-id")
AWKWARD = [
    "a",
    "A",
    "é",
    "e\u0301",
    "🍺",
    "ß",
    "ss",
    "it's",
    'q"q',
    "a,b",
    "NULL",
    "nan",
    "10",
    "9",
    "Ω\u2009x",
    "\\",
    "%",
]

numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 12)
texts = st.sampled_from(AWKWARD)
people = texts.filter(lambda id_: not is_missing(id_))  # a table in which nobody has an id is refused
times = st.integers(0, 3)


@st.composite
def tables(draw: st.DrawFn, counted: bool = False, timed: bool = True) -> list[Row]:
    ids = draw(st.sampled_from([numbers, texts]))
    users = draw(st.lists(draw(st.sampled_from([numbers, people])), min_size=1, max_size=4, unique=True))
    locations = draw(st.lists(ids, min_size=1, max_size=8, unique=True))
    row = st.builds(
        Row,
        user=st.sampled_from(users),
        location=st.sampled_from(locations),
        time=times if timed else st.none(),
        visits=st.integers(1, 4) if counted else st.just(1),
    )
    return draw(st.lists(row, min_size=1, max_size=40))


def number(value: object) -> int:
    """A whole number from 0 up for anything, the same in every process."""
    return int.from_bytes(md5(str(value).encode()).digest()[:7])


def as_table(rows: list[Row], *, counted: bool = False, timed: bool = True) -> pa.Table:
    columns = {"user": [row.user for row in rows], "location": [row.location for row in rows]}
    if timed:
        columns["time"] = pa.array([row.time for row in rows], pa.timestamp("us"))
    if counted:
        columns["visits"] = [row.visits for row in rows]
    return pa.table(columns)


bounds = st.builds(le.private.Bounds, st.integers(1, 5), st.integers(1, 4), st.sampled_from(KEEPS))


@given(tables(), bounds)
def test_equals_the_reference(rows: list[Row], bounds: le.private.Bounds) -> None:
    assert as_counter(le.private.profile(le.Visits(as_table(rows)), bounds)) == profile(rows, bounds)


@given(tables(counted=True, timed=False), bounds.filter(lambda b: b.keep != "first"))
def test_equals_the_reference_on_counted_rows(rows: list[Row], bounds: le.private.Bounds) -> None:
    table = as_table(rows, counted=True, timed=False)
    assert as_counter(le.private.profile(le.Visits(table), bounds)) == profile(rows, bounds)


@given(tables(), st.lists(bounds, min_size=1, max_size=6))
@settings(max_examples=examples(9, nightly=300))
def test_several_bounds_in_one_pass_equal_one_by_one(
    rows: list[Row], several: list[le.private.Bounds]
) -> None:
    with le.private.open_queries(le.Visits(as_table(rows))) as queries:
        found = queries.profiles(several)
        exact = queries.exact_profile()
        per_user = queries.locations_per_user()
    assert [as_counter(each) for each in found] == [profile(rows, each) for each in several]
    assert [each.bounds for each in found] == several
    assert as_counter(exact) == profile(rows, None)
    assert per_user.tolist() == places_histogram(rows)


@given(tables(), bounds, st.data())
@settings(max_examples=examples(9, nightly=300))
def test_rows_elsewhere_are_left_out_before_bounding(
    rows: list[Row], bounds: le.private.Bounds, data: st.DataObject
) -> None:
    present = list(dict.fromkeys(row.location for row in rows))
    absent = "nowhere" if isinstance(present[0], str) else 4711
    chosen = [*data.draw(st.lists(st.sampled_from(present), unique=True)), absent]
    found = le.private.profile(le.Visits(as_table(rows)), bounds, locations=chosen)
    assert found.locations.to_pylist() == chosen, "the list's order, unvisited places included"
    assert as_counter(found) == profile(rows, bounds, set(chosen))
    assert found.user_counts[-1] == 0
    assert found.entropy[-1] == 0


@given(tables(), bounds)
@settings(max_examples=examples(9, nightly=300))
def test_whole_numbers_and_the_same_as_texts_agree(rows: list[Row], bounds: le.private.Bounds) -> None:
    rows = [row._replace(user=number(row.user), location=number(row.location) % 20) for row in rows]
    texts = [row._replace(user=str(row.user), location=str(row.location)) for row in rows]
    mine = as_counter(le.private.profile(le.Visits(as_table(rows)), bounds))
    theirs = as_counter(le.private.profile(le.Visits(as_table(texts)), bounds))
    assert {(str(at), visits): users for (at, visits), users in mine.items()} == theirs


@given(tables(), bounds, st.data())
@settings(max_examples=examples(9, nightly=300))
def test_one_user_more_changes_at_most_m_locations_by_one_user(
    rows: list[Row], bounds: le.private.Bounds, data: st.DataObject
) -> None:
    """The property that every sensitivity rests on, through the engine."""
    gone = data.draw(st.sampled_from([row.user for row in rows]))
    fewer = [row for row in rows if row.user != gone]
    here = as_counter(le.private.profile(le.Visits(as_table(rows)), bounds))
    there = as_counter(le.private.profile(le.Visits(as_table(fewer)), bounds)) if fewer else here - here
    assert not there - here, "nobody else's rows changed"
    added = here - there
    assert sum(added.values()) == len({at for at, _ in added}) <= bounds.max_locations
    assert all(visits <= bounds.max_visits for _, visits in added)


@given(tables(), bounds, st.data())
@settings(max_examples=examples(9, nightly=300))
def test_rows_with_nulls_are_dropped_one_by_one(
    rows: list[Row], bounds: le.private.Bounds, data: st.DataObject
) -> None:
    hole = st.sampled_from(["user", "location", "time"])
    holes = data.draw(st.lists(hole, min_size=1, max_size=5).filter(lambda found: set(found) != {"user"}))
    bad = [rows[0]._replace(**{hole: None}) for hole in holes]
    table = as_table([*rows, *bad])
    assert as_counter(le.private.profile(le.Visits(table, bad_rows="drop"), bounds)) == profile(rows, bounds)
    with pytest.raises(BadRowsError):
        le.private.profile(le.Visits(table), bounds)


def test_the_default_keeps_the_first_where_there_are_times() -> None:
    rows = [Row("u", "later", 5), Row("u", "later", 6), Row("u", "sooner", 1)]
    kept = le.private.profile(le.Visits(as_table(rows)), le.private.Bounds(1, 9))
    assert as_counter(kept) == {("sooner", 1): 1}
    assert kept.bounds == le.private.Bounds(1, 9, "first")
    kept = le.private.profile(le.Visits(as_table(rows), time=None), le.private.Bounds(1, 9))
    assert as_counter(kept) == {("later", 2): 1}
    assert kept.bounds == le.private.Bounds(1, 9, "most-visited")


def test_first_needs_times() -> None:
    with pytest.raises(ColumnError, match="needs the time"):
        le.private.profile(le.Visits(as_table([Row(1, 2)], timed=False)), le.private.Bounds(1, 1, "first"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "at least one"),
        ([1, 1], "once"),
        ([1, None], "without nulls"),
        ([1.5], "whole numbers"),
        (["a"], "texts"),
    ],
)
def test_lists_that_cannot_be_right_are_refused(wrong: list[object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        le.private.profile(le.Visits(as_table([Row(1, 2, 3)])), le.private.Bounds(1, 1), locations=wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "max_locations=0"),
        ((1, 2.0), "max_visits=2.0"),
        ((True, 1), "max_locations=True"),
        ((1, 1, "last"), "keep"),
    ],
)
def test_bounds_that_cannot_be_right_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        le.private.Bounds(*arguments)  # type: ignore[arg-type]


def test_without_first_times_bounds_do_not_fall_back_to_another_choice() -> None:
    """Which locations a user keeps must not depend on what else was asked: bounds are refused."""
    visits = le.Visits(as_table([Row(1, 2, 3), Row(1, 4, 1), Row(1, 4, 9)]))
    most_visited = le.private.Bounds(1, 1, keep="most-visited")
    with le.private.open_queries(visits, first_times=False) as opened:
        for keep in (None, "first"):
            with pytest.raises(ParameterError, match="first_times"):
                opened.profile(le.private.Bounds(1, 1, keep=keep))
        assert as_counter(opened.profile(most_visited)) == as_counter(
            le.private.profile(visits, most_visited)
        )
        assert as_counter(opened.exact_profile()) == as_counter(le.private.exact_profile(visits))
    without = le.Visits(as_table([Row(1, 2), Row(1, 4), Row(1, 4)], timed=False))
    with le.private.open_queries(without, first_times=False) as opened:
        assert opened.profile(le.private.Bounds(1, 1)).bounds == most_visited
