"""The same visits give the same profile, wherever the table is and however it is written."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import locentropy as le

from .reference import as_counter

ROWS = pa.table(
    {
        "user_id": [3, 1, 1, 2, 2, 2, 3, 10],
        "venue": [7, 7, 8, 8, 8, 9, 9, 70],
        "check-in time": pa.array([5, 3, 2, 9, 4, 4, 1, 0], pa.timestamp("us")),
        "lat": [1.5, 2.5, None, 4.0, 5.0, 6.0, 7.0, 8.0],
        "lon": [1.0] * 8,
        "note": ['a "quoted", text', "two\nlines", "é", None, "", "x", "y", "z"],
    }
)
BOUNDS = le.private.Bounds(2, 2)
EXPECTED = {(7, 1): 2, (8, 1): 1, (8, 2): 1, (9, 1): 2, (70, 1): 1}


def as_text(table: pa.Table, columns: tuple[str, ...] = ("user_id", "venue")) -> pa.Table:
    for name in columns:
        position = table.schema.get_field_index(name)
        table = table.set_column(position, name, table[name].cast(pa.string()))
    return table


def write_csv(table: pa.Table, path: Path, **options: Any) -> Path:
    data = pa.BufferOutputStream()
    pa.csv.write_csv(table, data, pa.csv.WriteOptions(**options))
    content = data.getvalue().to_pybytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def in_database(path: Path) -> Path:
    with duckdb.connect(str(path)) as con:
        con.register("rows", ROWS)
        con.execute('CREATE TABLE "check ins" AS SELECT * FROM rows')
        con.execute("CREATE TABLE other AS SELECT 1 AS x")
    return path


def in_folder(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    pq.write_table(ROWS.slice(0, 3), folder / "a.parquet")
    shuffled = ROWS.slice(3).select(["note", "venue", "lon", "lat", "check-in time", "user_id"])
    pq.write_table(shuffled, folder / "sub" / "b.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / "notes.md").write_text("not a table")
    return folder


SOURCES = {
    "arrow": lambda _: le.Visits(ROWS),
    "arrow batch": lambda _: le.Visits(ROWS.to_batches()[0]),
    "arrow reader": lambda _: le.Visits(ROWS.to_reader()),
    "pandas": lambda _: le.Visits(ROWS.to_pandas()),
    "pandas, Arrow types": lambda _: le.Visits(ROWS.to_pandas(types_mapper=pd.ArrowDtype)),
    "pandas, objects": lambda _: le.Visits(ROWS.to_pandas().astype({"user_id": object})),
    "pandas, categories": lambda _: le.Visits(ROWS.to_pandas().astype({"venue": "category"})),
    "polars": lambda _: le.Visits(pl.from_arrow(ROWS)),
    "polars, lazy": lambda _: le.Visits(pl.from_arrow(ROWS).lazy()),
    "narrow integers": lambda _: le.Visits(ROWS.set_column(1, "venue", ROWS["venue"].cast(pa.int8()))),
    "unsigned": lambda _: le.Visits(ROWS.set_column(1, "venue", ROWS["venue"].cast(pa.uint64()))),
    "decimal": lambda _: le.Visits(ROWS.set_column(1, "venue", ROWS["venue"].cast(pa.decimal128(38, 0)))),
    "ibis": lambda _: le.Visits(ibis.memtable(ROWS)),
    "csv": lambda at: le.Visits(write_csv(ROWS, at / "rows.csv")),
    "csv, path as text": lambda at: le.Visits(str(write_csv(ROWS, at / "rows.csv"))),
    "csv, gzip": lambda at: le.Visits(write_csv(ROWS, at / "rows.csv.gz")),
    "csv, semicolons": lambda at: le.Visits(write_csv(ROWS, at / "rows.txt", delimiter=";")),
    "csv, odd name": lambda at: le.Visits(write_csv(ROWS, at / "it's [a] *.csv")),
    "tsv, gzip": lambda at: le.Visits(write_csv(ROWS, at / "rows.tsv.gz", delimiter="\t")),
    "csv, named columns": lambda at: le.Visits(
        write_csv(ROWS, at / "r.csv", include_header=False), columns=["user", "place", "time", "a", "b", "c"]
    ),
    "csv, named columns, semicolons": lambda at: le.Visits(
        write_csv(ROWS, at / "r.csv", include_header=False, delimiter=";"),
        columns=["user", "place", "time", "a", "b", "c"],
        header=False,
        delimiter=";",
    ),
    "csv, byte order mark": lambda at: le.Visits(
        (at / "b.csv").write_bytes(b"\xef\xbb\xbf" + write_csv(ROWS, at / "r.csv").read_bytes())
        and at / "b.csv"
    ),
    "csv files": lambda at: le.Visits(
        (write_csv(ROWS.slice(0, 5), at / "1.csv"), write_csv(ROWS.slice(5), at / "2.csv"))
        and str(at / "?.csv")
    ),
    "parquet": lambda at: le.Visits(pq.write_table(ROWS, at / "rows.parquet") or at / "rows.parquet"),
    "parquet without ending": lambda at: le.Visits(pq.write_table(ROWS, at / "rows") or at / "rows"),
    "folder of parquet": lambda at: le.Visits(in_folder(at / "rows")),
    "pattern": lambda at: le.Visits(str(in_folder(at / "rows") / "**" / "*.parquet")),
    "duckdb": lambda at: le.Visits(in_database(at / "rows.duckdb"), table="check ins"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_profile_from_every_source(name: str, tmp_path: Path) -> None:
    found = le.private.profile(SOURCES[name](tmp_path), BOUNDS)
    assert as_counter(found) == EXPECTED
    assert found.bounds == le.private.Bounds(2, 2, "first")
    assert found.locations.to_pylist() == [7, 8, 9, 70], "numbers come out as numbers, in their order"


def test_ids_come_out_as_they_came_in(tmp_path: Path) -> None:
    texts = as_text(ROWS)
    assert le.private.profile(le.Visits(texts), BOUNDS).locations.to_pylist() == ["7", "70", "8", "9"]
    assert le.private.profile(le.Visits(ibis.memtable(texts)), BOUNDS).locations.to_pylist() == [
        "7",
        "70",
        "8",
        "9",
    ]
    path = tmp_path / "zeros.csv"
    path.write_text("user,location\n1,007\n2,7\n")
    assert le.private.exact_profile(le.Visits(path)).locations.to_pylist() == ["007", "7"]
    large = pa.table({"user": [1], "location": pa.array([2**64 - 1], pa.uint64())})
    assert le.private.exact_profile(le.Visits(large)).locations.to_pylist() == [2**64 - 1]


def test_a_list_of_numbers_matches_ids_written_in_a_text_file(tmp_path: Path) -> None:
    path = write_csv(ROWS, tmp_path / "rows.csv")
    for wanted in ([70, 1, 7], ["70", "1", "7"]):
        found = le.private.exact_profile(le.Visits(path), locations=wanted)
        assert found.locations.to_pylist() == wanted
        assert found.user_counts.tolist() == [1, 0, 2]


def test_ids_compared_as_text(tmp_path: Path) -> None:
    pq.write_table(ROWS.slice(0, 3), tmp_path / "a.parquet")
    pq.write_table(as_text(ROWS).slice(3), tmp_path / "b.parquet")
    found = le.private.profile(le.Visits(tmp_path, ids="text"), BOUNDS)
    assert as_counter(found) == {(str(at), visits): users for (at, visits), users in EXPECTED.items()}


TIMES = {
    "iso": ["2010-10-11T20:21:20Z", "2010-10-11T20:21:21Z"],
    "offsets": ["2010-10-11T23:21:20+05:00", "2010-10-11T20:21:21Z"],
    "tsmc": ["Tue Apr 03 18:00:09 +0000 2012", "Tue Apr 03 17:00:10 -0200 2012"],
    "unix": ["999999999", "1000000000"],
}


@pytest.mark.parametrize("written", TIMES)
def test_times_are_compared_as_times(written: str, tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    early, late = TIMES[written]
    path.write_text(f"user,location,time\n1,late,{late}\n1,early,{early}\n")
    assert as_counter(le.private.profile(le.Visits(path), le.private.Bounds(1, 1))) == {("early", 1): 1}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_timestamps_of_any_unit_and_zone(unit: str, zone: str | None) -> None:
    times = pa.array([10**6, 5], pa.timestamp(unit, zone))
    table = pa.table({"user": [1, 1], "location": ["late", "early"], "time": times})
    assert as_counter(le.private.profile(le.Visits(table), le.private.Bounds(1, 1))) == {("early", 1): 1}


def test_pre_counted_rows_add_up(tmp_path: Path) -> None:
    path = tmp_path / "counted.csv"
    path.write_text("user,location,visits\n1,a,3\n1,a,2.0\n2,a,1\n")
    assert as_counter(le.private.exact_profile(le.Visits(path))) == {("a", 5): 1, ("a", 1): 1}
    rows = le.Visits(path, visits=None)
    assert as_counter(le.private.exact_profile(rows)) == {("a", 2): 1, ("a", 1): 1}


GOWALLA = "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n0\t2010-10-18T22:17:43Z\t30.2\t-97.7\t420315\n"
BRIGHTKITE = "0\t2010-10-17T01:48:53Z\t39.7\t-104.9\t88c46bf20db295831bd2d1718ad7e6f5\n1\t2010-10-17T01:48:53Z\t0.0\t0.0\t{zeros}\n"
FOURSQUARE = (
    '470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tCaf\xe9 "x\t40.7\t-74.0\t-240\tTue Apr 03 18:00:09 +0000 2012\n'
    "470\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tBridge\t40.6\t-74.04\t-240\tTue Apr 03 18:00:08 +0000 2012\n"
)


def test_gowalla(tmp_path: Path) -> None:
    path = tmp_path / "loc-gowalla_totalCheckins.txt.gz"
    path.write_bytes(gzip.compress(GOWALLA.encode()))
    found = le.private.profile(le.Visits(path, format="gowalla"), le.private.Bounds(1, 1))
    assert as_counter(found) == {(420315, 1): 1}


def test_brightkite_marks_unknown_places_with_zeros(tmp_path: Path) -> None:
    path = tmp_path / "loc-brightkite_totalCheckins.txt"
    path.write_text(BRIGHTKITE.format(zeros="0" * 32))
    with pytest.raises(le.LocentropyError, match="no location id"):
        le.private.exact_profile(le.Visits(path, format="brightkite"))
    found = le.private.exact_profile(le.Visits(path, format="brightkite", bad_rows="drop"))
    assert as_counter(found) == {("88c46bf20db295831bd2d1718ad7e6f5", 1): 1}


def test_foursquare(tmp_path: Path) -> None:
    path = tmp_path / "dataset_TSMC2014_NYC.txt"
    path.write_bytes(FOURSQUARE.encode("latin-1"))
    found = le.private.profile(le.Visits(path, format="foursquare"), le.private.Bounds(1, 1))
    assert as_counter(found) == {("4a43c0aef964a520c6a61fe3", 1): 1}


def test_nothing_but_names_of_columns_is_taken_for_sql(tmp_path: Path) -> None:
    evil = 'x"; DROP TABLE visits; --'
    table = pa.table({evil: [1, 2], "loc'); --": ["a'; --", "b"]})
    expected = {("a'; --", 1): 1, ("b", 1): 1}
    assert as_counter(le.private.exact_profile(le.Visits(table, user=evil, location="loc'); --"))) == expected
    path = tmp_path / "evil.parquet"
    pq.write_table(table, path)
    assert as_counter(le.private.exact_profile(le.Visits(path, user=evil, location="loc'); --"))) == expected
    path = write_csv(table, tmp_path / "evil.csv")
    assert as_counter(le.private.exact_profile(le.Visits(path, user=evil, location="loc'); --"))) == expected


def test_the_description_does_not_show_rows() -> None:
    assert repr(le.Visits(ROWS, user="user_id")) == "Visits('Table', user='user_id')"


@pytest.mark.parametrize("many", [3000, 6000])
def test_columns_are_told_apart_however_many_there_are(many: int, tmp_path: Path) -> None:
    """Rows of DESCRIBE once came in another order beyond some thousands, and another column stood for the person."""
    others = {f"k{number}": [number] * 6 for number in range(many)}
    table = pa.table(others | {"user_id": list("abcdef"), "venue_id": ["x"] * 6})
    pq.write_table(table, tmp_path / "wide.parquet")
    with duckdb.connect(str(tmp_path / "wide.duckdb")) as con:
        con.execute(f"CREATE TABLE visits AS FROM '{tmp_path / 'wide.parquet'}'")
    for source in (tmp_path / "wide.parquet", tmp_path / "wide.duckdb", table):
        with le.private.open_queries(le.Visits(source)) as queries:
            assert queries.locations_per_user().tolist() == [0, 6]
