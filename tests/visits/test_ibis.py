"""Ibis tables of a real connection: the same answers as the embedded engine, errors in words, nothing left behind."""

from __future__ import annotations

from typing import Any

import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings

import locentropy as le
from locentropy.core.errors import ColumnError, EngineError, LocentropyError, ParameterError, SourceError
from tests.examples import examples

from .reference import Row, as_counter, profile
from .test_profile import as_table, bounds, tables
from .warehouses import agreeing_windows


@pytest.fixture
def con() -> Any:
    return ibis.duckdb.connect()


def stored(con: Any, table: pa.Table) -> Any:
    return con.create_table("checkins", table, overwrite=True)


def names(con: Any) -> set[str]:
    return {row[0] for row in con.con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


@given(tables(), bounds)
@settings(max_examples=examples(10))
def test_equals_the_reference(rows: list[Row], bounds: le.private.Bounds) -> None:
    table = stored(ibis.duckdb.connect(), as_table(rows))
    assert as_counter(le.private.profile(le.Visits(table), bounds)) == profile(rows, bounds)


def test_lists_grids_and_derived_tables(con: Any) -> None:
    rows = pa.table(
        {"user": [1, 1, 2], "location": [7, 8, 8], "lat": [0.0, 0.0, 0.5], "lon": [0.0, 0.0, 0.5]}
    )
    table = stored(con, rows)
    assert as_counter(le.private.exact_profile(le.Visits(table), locations=[8, 9])) == {(8, 1): 2}
    derived = table.filter(table.user == 1).mutate(extra=1)
    assert as_counter(le.private.exact_profile(le.Visits(derived))) == {(7, 1): 1, (8, 1): 1}
    box = le.Grid(south=-1, west=-1, north=1, east=1, cell=111_195)
    assert le.private.exact_profile(le.Visits(table), locations=box).users.sum() == 2
    assert names(con) == {"checkins"}, "temporary tables are gone"


def test_large_ids_come_out_as_they_came_in(con: Any) -> None:
    table = stored(con, pa.table({"user": [1, 2], "location": pa.array([2**64 - 1, 3], pa.uint64())}))
    assert le.private.exact_profile(le.Visits(table)).locations.to_pylist() == [3, 2**64 - 1]


def test_times_are_compared_to_the_microsecond(con: Any) -> None:
    times = pa.array([1001, 1100], pa.timestamp("ns"))
    rows = pa.table({"user": [1, 1], "location": ["a", "b"], "time": times})
    held = le.private.Bounds(1, 1)
    assert le.private.profile(le.Visits(stored(con, rows)), held).equals(
        le.private.profile(le.Visits(rows), held)
    )


@pytest.mark.parametrize("role", ["time", "visits", "lat"])
def test_texts_are_ids_and_nothing_else(role: str, con: Any) -> None:
    columns = {"user": [1], "location": [1], "lat": [1.0], "lon": [1.0], role: ["s3cret"]}
    table = stored(con, pa.table(columns))
    with pytest.raises(ColumnError, match="Cast it") as caught:
        le.private.exact_profile(le.Visits(table, lat="lat", lon="lon"))
    assert "s3cret" not in str(caught.value)
    if role == "lat":  # a column that nothing uses may hold anything
        assert le.private.exact_profile(le.Visits(table)).user_counts.tolist() == [1]


def test_fractional_visits(con: Any) -> None:
    table = stored(con, pa.table({"user": [1, 2], "location": [1, 1], "visits": [1.5, 2.0]}))
    with pytest.raises(LocentropyError, match="whole numbers"):
        le.private.exact_profile(le.Visits(table))
    assert as_counter(le.private.exact_profile(le.Visits(table, bad_rows="drop"))) == {(1, 2): 1}


def test_a_backend_that_cannot(con: Any) -> None:
    lite = ibis.sqlite.connect()
    table = lite.create_table("checkins", pa.table({"user": [1], "location": [2]}))
    with pytest.raises(EngineError, match="md5"):
        le.private.exact_profile(le.Visits(table))
    lite.disconnect()


def test_what_does_not_belong_to_ibis_tables(con: Any) -> None:
    table = stored(con, pa.table({"user": [1], "location": [2]}))
    with pytest.raises(ParameterError, match="text files"):
        le.private.exact_profile(le.Visits(table, header=True))
    with pytest.raises(SourceError, match="is not a table"):
        le.private.exact_profile(le.Visits(table.user))


def test_a_session_whose_collation_merges_people_is_refused(con: Any) -> None:
    table = stored(con, pa.table({"user": ["Ann", "ann", "bob"], "location": [1, 1, 1]}))
    assert as_counter(le.private.exact_profile(le.Visits(table))) == {(1, 1): 3}
    con.con.execute("SET default_collation = 'NOCASE'")
    with pytest.raises(ColumnError, match=r"'NOCASE'.*RESET default_collation"):
        le.private.exact_profile(le.Visits(table))
    con.con.execute("RESET default_collation")
    assert as_counter(le.private.exact_profile(le.Visits(table))) == {(1, 1): 3}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_windows(con: Any, zone: str) -> None:
    """Whatever zone the session is in; its own time zone data is not asked."""
    con.raw_sql(f"SET TimeZone = '{zone}'")
    agreeing_windows.check(lambda table: le.Visits(stored(con, table)), le.Resources())
