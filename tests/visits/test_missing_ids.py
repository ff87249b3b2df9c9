"""Rows without a user id are left out, each by itself; nothing else depends on them, and only the private log tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError, ParameterError
from locentropy.visits import expressions
from tests.examples import examples

from .reference import BLANKS, Row, as_counter, is_missing, profile
from .test_profile import as_table, bounds, numbers, tables, times
from .warehouses.agreeing import ALMOST, NOBODY

MOMENTS = le.Moments(1.0, max_locations=1, max_visits=1)
"""Estimates in no time, where it does not matter which."""
WORDS = ["nan", "NaN", "NULL", "null", "None", "NA", "n/a", "N/A", ""]
blanks = st.text(st.sampled_from(BLANKS), max_size=2)
missing = st.none() | st.builds(
    lambda left, word, right: left + word + right, blanks, st.sampled_from(WORDS), blanks
)
almost = st.text(st.sampled_from("nNaAuUlLoOeE/ "), max_size=5).filter(
    lambda text: text.strip(BLANKS) == text
)


def embedded(table: pa.Table) -> Any:
    return table


def connected(table: pa.Table) -> Any:
    return ibis.duckdb.connect().create_table("checkins", table)


@given(tables(), bounds, st.lists(missing, min_size=1, max_size=6), st.data())
@settings(max_examples=examples(12, nightly=600))
def test_they_are_left_out_one_by_one(
    rows: list[Row], bounds: le.private.Bounds, nobody: list[str | None], data: st.DataObject
) -> None:
    """By default, whatever `bad_rows` says, and in a table of numbers where they are null."""
    if isinstance(rows[0].user, int):
        nobody = [None] * len(nobody)
    added = [data.draw(st.sampled_from(rows))._replace(user=user) for user in nobody]
    mixed = data.draw(st.permutations([*rows, *added]))
    source = data.draw(st.sampled_from([embedded, connected]))(as_table(mixed))
    expected = profile(rows, bounds)
    assert profile(mixed, bounds) == expected
    for rule in ("fail", "drop"):
        assert as_counter(le.private.profile(le.Visits(source, bad_rows=rule), bounds)) == expected


@given(st.lists(almost, min_size=1, max_size=6))
@settings(max_examples=examples(12, nightly=600))
def test_texts_like_them_are_ids(users: list[str]) -> None:
    table = pa.table({"user": [*users, "ann"], "location": ["bar"] * (len(users) + 1)})
    found = le.private.exact_profile(le.Visits(table))
    assert found.user_counts.tolist() == [len({user for user in users if not is_missing(user)} | {"ann"})]


@pytest.mark.parametrize("user", NOBODY)
@pytest.mark.parametrize("source", [embedded, connected])
def test_every_spelling(user: str, source: Callable[[pa.Table], Any]) -> None:
    table = pa.table({"user": ["ann", user], "location": ["bar", "bar"]})
    assert as_counter(le.private.exact_profile(le.Visits(source(table)))) == {("bar", 1): 1}


@pytest.mark.parametrize("user", ALMOST)
def test_what_merely_looks_like_them_is_an_id(user: str) -> None:
    table = pa.table({"user": ["ann", user], "location": ["bar", "bar"]})
    assert as_counter(le.private.exact_profile(le.Visits(table))) == {("bar", 1): 2}


@pytest.mark.parametrize("source", [embedded, connected])
def test_kept_if_they_are_meant(source: Callable[[pa.Table], Any]) -> None:
    table = pa.table({"user": ["ann", "NULL", "nan", "nan"], "location": ["bar"] * 4})
    kept = le.Visits(source(table), missing_ids="keep")
    assert as_counter(le.private.exact_profile(kept)) == {("bar", 1): 2, ("bar", 2): 1}
    for nobody in (None, "", " "):
        table = pa.table({"user": ["ann", nobody], "location": ["bar"] * 2})
        kept = le.Visits(source(table), missing_ids="keep")
        with pytest.raises(BadRowsError, match="no user id"):
            le.private.exact_profile(kept)
        assert le.private.exact_profile(replace(kept, bad_rows="drop")).user_counts.tolist() == [1]


def test_only_drop_and_keep() -> None:
    with pytest.raises(ParameterError, match="missing_ids='fail' is not one of drop, keep"):
        le.Visits("visits.csv", missing_ids="fail")  # type: ignore[arg-type]


def test_places_of_such_names_are_places() -> None:
    table = pa.table({"user": ["ann", "bob"], "location": ["nan", "NULL"]})
    assert as_counter(le.private.exact_profile(le.Visits(table))) == {("nan", 1): 1, ("NULL", 1): 1}


@given(st.lists(st.tuples(numbers | st.none(), times), min_size=1, max_size=20))
@settings(max_examples=examples(8, nightly=300))
def test_whole_numbers_are_compared_with_no_text(users: list[tuple[int | None, int]]) -> None:
    table = pa.table(
        {"user": pa.array([user for user, _ in users], pa.int64()), "location": [at for _, at in users]}
    )
    if table["user"].null_count == len(table):
        with pytest.raises(ColumnError, match="'user' is empty"):
            le.private.exact_profile(le.Visits(table))
        return
    expected = profile([Row(user, at) for user, at in users], None)
    assert as_counter(le.private.exact_profile(le.Visits(table))) == expected
    visits = ibis.table({"user": "int64", "location": "int64"}, name="visits")
    assert (
        "REGEXP" not in str(ibis.to_sql(expressions.with_user_ids(visits, "drop"), dialect="duckdb")).upper()
    )


def test_only_the_private_log_tells_how_many(private_log: list[str]) -> None:
    table = pa.table({"user": ["ann", "nan", None, " NULL "], "location": ["bar"] * 4})
    le.private.exact_profile(le.Visits(table, user="user"))
    assert [line.partition("column ")[2] for line in private_log] == [
        "'user': rows are left out because they have no user id: 3"
    ]
    private_log.clear()
    le.private.exact_profile(le.Visits(table.slice(0, 1)))
    assert private_log == []


class TestNothingDependsOnThem:
    """What would be refused in the row of a person is not even looked at."""

    @pytest.mark.parametrize(
        "row",
        [
            {"location": None},
            {"location": " bar"},
            {"location": "7.0"},
            {"time": None},
            {"visits": 0},
            {"lat": float("nan")},
        ],
    )
    @pytest.mark.parametrize("source", [embedded, connected])
    def test_bad_rows(self, row: dict[str, Any], source: Callable[[pa.Table], Any]) -> None:
        good = {"user": "ann", "location": "bar", "time": 5, "visits": 1, "lat": 1.0, "lon": 1.0}
        for nobody in ("nan", None):
            rows = [good, good | row | {"user": nobody}]
            table = pa.table({name: [each[name] for each in rows] for name in good})
            assert as_counter(le.private.exact_profile(le.Visits(source(table)))) == {("bar", 1): 1}

    def test_times_of_another_kind(self, tmp_path: Path) -> None:
        path = tmp_path / "visits.csv"
        path.write_text("user,location,time\nann,bar,5\nnan,bar,2026-01-31\n")
        assert as_counter(le.private.exact_profile(le.Visits(path))) == {("bar", 1): 1}

    def test_numbers_in_one_file_and_such_words_in_another(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("user,location\n7,1\nnan,x\n")
        (tmp_path / "b.csv").write_text("user,location\n7,1\n8,1\n")
        found = le.private.exact_profile(le.Visits(tmp_path))
        assert as_counter(found) == {(1, 2): 1, (1, 1): 1}
        with pytest.raises(ColumnError, match=r"a\.csv.*--ids text"):
            le.private.exact_profile(le.Visits(tmp_path, missing_ids="keep"))

    def test_the_file_that_is_named_has_a_bad_row_of_a_person(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("user,location,visits\nann,bar,1\nNULL,bar,0\n")
        (tmp_path / "b.csv").write_text("user,location,visits\nann,bar,0\n")
        with pytest.raises(BadRowsError, match=r"b\.csv: column 'visits'"):
            le.private.exact_profile(le.Visits(tmp_path))

    def test_one_such_row_does_not_decide_whether_there_is_a_release(self, tmp_path: Path) -> None:
        """It once did: a row without an id was a bad row, and bad rows are refused."""
        for extra in ([], [(None, "bar")], [("", "bar")], [(" nan", "bar")]):
            rows = [("ann", "bar"), *extra]
            pq.write_table(
                pa.table({"user": [user for user, _ in rows], "location": [at for _, at in rows]}),
                tmp_path / "visits.parquet",
            )
            visits = le.Visits(tmp_path / "visits.parquet")
            assert len(le.publish(visits, MOMENTS, le.PublicLocations(["bar"]), ledger=None)) == 1


@pytest.mark.parametrize("nobody", [["nan", "NULL"], ["", " "], pa.nulls(2, pa.int64())])
def test_a_table_in_which_nobody_has_an_id(nobody: Any, private_log: list[str]) -> None:
    """An error for who looks; for a release, at which one more person must not show, noise and a line in the log."""
    visits = le.Visits(pa.table({"user": nobody, "location": ["bar", "bar"]}))
    with pytest.raises(ColumnError, match="user column 'user' is empty: all ids are null"):
        le.private.exact_profile(visits)
    private_log.clear()
    assert len(le.publish(visits, MOMENTS, le.PublicLocations(["bar"]), ledger=None)) == 1
    assert "'user' is empty" in private_log[1]


@pytest.mark.parametrize("rule", ["drop", "keep"])
def test_the_release_says_what_was_done_and_not_how_often(rule: Any, tmp_path: Path) -> None:
    rows = pa.table({"user": ["ann", *["nan"] * 7919], "location": ["bar"] * 7920})
    visits = le.Visits(rows, missing_ids=rule)
    release = le.publish(
        visits, le.Shares(1.0), le.PublicLocations(["bar"]), out=tmp_path / "may", ledger=None
    )
    assert release.statement.parameters["missing_ids"] == rule
    manifest = " ".join((tmp_path / "may" / "manifest.yaml").read_text().split())
    left_out = "Rows without a user id (empty, nan, NULL, None, NA, n/a) are left out, each by itself"
    assert (left_out in manifest) == (rule == "drop")
    assert ("The owner says that user ids such as nan, NULL" in manifest) == (rule == "keep")
    assert le.verify(tmp_path / "may").ok
    for name in ("manifest.yaml", "details.yaml", "report.html"):
        assert "7919" not in (tmp_path / "may" / name).read_text()
