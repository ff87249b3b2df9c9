"""Bad input: a clear error that names the file and column and shows what to do; nothing is left behind."""

from __future__ import annotations

import gzip
import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import (
    BadRowsError,
    ColumnError,
    EngineError,
    LocentropyError,
    ParameterError,
    SourceError,
)

from .reference import as_counter

SECRET = "s3cret-person"


@pytest.fixture(autouse=True)
def no_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    yield
    assert list(spill.iterdir()) == []


COORDINATES = {"lat": "lat", "lon": "lon"}
"""Named, for they are looked at only if they are used, or named."""


def refused(kind: type[LocentropyError], *words: str, visits: le.Visits) -> str:
    with pytest.raises(kind) as caught:
        le.private.exact_profile(visits)
    message = str(caught.value)
    for word in words:
        assert word in message
    assert SECRET not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def text(tmp_path: Path, content: str, name: str = "rows.csv") -> Path:
    path = tmp_path / name
    path.write_text(content)
    return path


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        refused(SourceError, "no such file", "nowhere.csv", visits=le.Visits(tmp_path / "nowhere.csv"))

    def test_empty(self, tmp_path: Path) -> None:
        refused(SourceError, "rows.csv", "empty", visits=le.Visits(text(tmp_path, "")))
        refused(SourceError, "rows.csv", "empty", visits=le.Visits(text(tmp_path, "\n\n")))

    def test_header_only(self, tmp_path: Path) -> None:
        refused(SourceError, "rows.csv", "no rows", visits=le.Visits(text(tmp_path, "user,location\n")))

    def test_a_folder_without_tables(self, tmp_path: Path) -> None:
        refused(SourceError, "no table", visits=le.Visits(tmp_path))

    def test_a_pattern_without_matches(self, tmp_path: Path) -> None:
        refused(SourceError, "no file matches", visits=le.Visits(str(tmp_path / "*.parquet")))

    def test_kinds_do_not_mix(self, tmp_path: Path) -> None:
        text(tmp_path, "user,location\n1,2\n")
        pq.write_table(pa.table({"user": [1], "location": [2]}), tmp_path / "rows.parquet")
        refused(SourceError, "one kind", "rows.parquet", visits=le.Visits(tmp_path))

    def test_unreadable_parquet(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.parquet"
        pq.write_table(pa.table({"user": range(1000), "location": range(1000)}), path)
        whole = path.read_bytes()
        for broken in (
            whole[: len(whole) // 2],
            b"PAR1" + bytes(100) + b"PAR1",
            whole[:4] + bytes(2000) + whole[2004:],
        ):
            path.write_bytes(broken)
            refused(LocentropyError, "cut.parquet", visits=le.Visits(path))
        path.write_bytes(b"not parquet at all, but called so")
        refused(SourceError, "does not begin with PAR1", visits=le.Visits(path))

    def test_cut_gzip(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv.gz"
        whole = gzip.compress(b"user,location\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(10_000)))
        path.write_bytes(whole[: len(whole) // 2])
        refused(LocentropyError, "rows.csv.gz", visits=le.Visits(path))
        path.write_bytes(whole[:12])
        refused(SourceError, "rows.csv.gz", "incomplete or damaged", visits=le.Visits(path))

    def test_other_encodings(self, tmp_path: Path) -> None:
        path = tmp_path / "latin.csv"
        path.write_bytes("user,location\n1,Café\n".encode("latin-1"))
        refused(SourceError, "latin.csv", "UTF-8", "line 2", "--encoding cp1252", visits=le.Visits(path))
        path.write_bytes("user,place\n1,Café\n".encode("utf-16"))
        refused(SourceError, "latin.csv", "UTF-8", "--encoding utf-16", visits=le.Visits(path))

    def test_binary(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        path.write_bytes(b"user\0location")
        refused(SourceError, "not text", visits=le.Visits(path))

    def test_not_a_table(self) -> None:
        refused(SourceError, "int", "For example", visits=le.Visits(7))

    def test_options_of_other_kinds(self, tmp_path: Path) -> None:
        path = text(tmp_path, "user,location\n1,2\n")
        refused(ParameterError, "DuckDB", visits=le.Visits(path, table="t"))
        pq.write_table(pa.table({"user": [1], "location": [2]}), tmp_path / "rows.parquet")
        refused(ParameterError, "text files", visits=le.Visits(tmp_path / "rows.parquet", header=True))
        with pytest.raises(ParameterError, match="gowalla"):
            le.Visits(path, format="myspace")
        with pytest.raises(ParameterError, match="drop"):
            le.Visits(path, bad_rows="ignore")  # type: ignore[arg-type]
        refused(ParameterError, "first line has 1 fields", visits=le.Visits(path, format="gowalla"))
        refused(ParameterError, "2 fields", visits=le.Visits(path, columns=("user", "location", "time")))

    def test_databases_of_several_tables(self, tmp_path: Path) -> None:
        import duckdb

        path = tmp_path / "rows.duckdb"
        with duckdb.connect(str(path)) as con:
            con.execute("CREATE TABLE one AS SELECT 1 AS user, 2 AS location")
            con.execute("CREATE TABLE two AS SELECT 1 AS user, 2 AS location")
        refused(SourceError, "one, two", "--table", visits=le.Visits(path))
        refused(SourceError, "one, two", "three", visits=le.Visits(path, table="three"))


class TestColumns:
    def test_missing(self, tmp_path: Path) -> None:
        path = text(tmp_path, "who,location,time\nx,2,3\n")
        named = "'who', 'location', 'time'"
        refused(ColumnError, "rows.csv", "no user column", named, "--user", visits=le.Visits(path))
        refused(ColumnError, "'owner'", named, visits=le.Visits(path, user="owner"))

    def test_missing_where_the_first_line_may_be_a_row(self, tmp_path: Path) -> None:
        visits = le.Visits(text(tmp_path, "who,location\nx,2\n"))
        for given in (visits, replace(visits, user="owner")):
            told = refused(ColumnError, "only 'location' has a usual name", "--columns", visits=given)
            assert "who" not in told

    def test_ambiguous(self) -> None:
        table = pa.table({"uid": [1], "user_id": [1], "place": [2]})
        refused(ColumnError, "'uid' and 'user_id'", "--user", visits=le.Visits(table))
        assert len(le.private.exact_profile(le.Visits(table, user="uid"))) == 1

    def test_one_column_for_two_roles(self) -> None:
        table = pa.table({"uid": [1], "place": [2]})
        refused(ParameterError, "same column", visits=le.Visits(table, user="uid", location="uid"))

    def test_names_that_differ_by_case(self, tmp_path: Path) -> None:
        table = pa.table({"place": [1], "uid": [1], "UID": [2]})
        refused(ColumnError, "'uid' and 'UID'", visits=le.Visits(table, user="uid"))
        pq.write_table(table, tmp_path / "rows.parquet")
        refused(ColumnError, "case", visits=le.Visits(tmp_path / "rows.parquet", user="uid"))

    def test_half_a_coordinate(self) -> None:
        table = pa.table({"user": [1], "place": [2], "y": [1.0]})
        refused(ColumnError, "no lon column", visits=le.Visits(table, lat="y"))

    def test_files_with_different_columns(self, tmp_path: Path) -> None:
        text(tmp_path, "user,location\n1,2\n", "a.csv")
        text(tmp_path, "uid,location\n1,2\n", "b.csv")
        refused(ColumnError, "a.csv", "b.csv", "same columns", visits=le.Visits(tmp_path))

    def test_files_with_different_times(self, tmp_path: Path) -> None:
        moments = pa.array([0], pa.timestamp("us"))
        pq.write_table(pa.table({"user": [7], "location": [1], "time": moments}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"user": [7], "location": [1], "time": [0]}), tmp_path / "b.parquet")
        refused(ColumnError, "a.parquet", "b.parquet", "'time'", visits=le.Visits(tmp_path))
        pq.write_table(
            pa.table({"user": [7], "location": [1], "time": moments.cast(pa.timestamp("ns", "Asia/Tokyo"))}),
            tmp_path / "b.parquet",
        )
        assert len(le.private.profile(le.Visits(tmp_path), le.private.Bounds(1, 1))) == 1

    @pytest.mark.parametrize(
        ("role", "column"),
        [
            ("time", pa.array([True])),
            ("visits", pa.array([True])),
            ("lat", pa.array([0], pa.timestamp("us"))),
            ("location", pa.array([[1]])),
            ("user", pa.array([0], pa.date32())),
        ],
    )
    def test_types_that_cannot_play_the_role(self, role: str, column: pa.Array) -> None:
        columns = {"user": [1], "location": [1], "lat": [1.0], "lon": [1.0], role: column}
        for source in (pa.table(columns), ibis.memtable(pa.table(columns))):
            visits = le.Visits(source, **COORDINATES)
            refused(ColumnError, f"the {role} column '{role}' has type", visits=visits)


class TestIds:
    def test_floating_point(self) -> None:
        for source in (
            pa.table({"user": [7.0], "location": [1]}),
            pd.DataFrame({"user": [7, None], "location": [1, 2]}),
            pl.DataFrame({"user": [7.0], "location": [1]}),
            ibis.memtable(pa.table({"user": [7.0], "location": [1]})),
        ):
            refused(ColumnError, "user", "floating-point", "7.0", visits=le.Visits(source))

    @pytest.mark.parametrize("mixed", [[7, "7"], ["7", 7.0], [7, 7.5], [b"7", "7"]])
    def test_mixed_in_one_column(self, mixed: list[object]) -> None:
        frame = pd.DataFrame({"user": pd.Series(mixed, dtype=object), "location": [1, 2]})
        refused(ColumnError, "user", visits=le.Visits(frame))

    def test_mixed_across_parquet_files(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"user": [7], "location": [1]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"user": ["7"], "location": [1]}), tmp_path / "b.parquet")
        refused(ColumnError, "a.parquet", "b.parquet", "one person", "--ids text", visits=le.Visits(tmp_path))

    def test_mixed_across_text_files(self, tmp_path: Path) -> None:
        text(tmp_path, "user,location\n7,1\n8,1\n", "a.csv")
        text(tmp_path, "user,location\nu7,1\n8,1\n", "b.csv")
        refused(ColumnError, "a.csv", "b.csv", "--ids text", visits=le.Visits(tmp_path))
        assert le.private.exact_profile(le.Visits(tmp_path, ids="text")).user_counts.tolist() == [3]

    @pytest.mark.parametrize("role", ["user", "location"])
    @pytest.mark.parametrize(("spelling", "word"), [("7.0", "decimal"), (" 7", "blanks"), ("7 ", "blanks")])
    def test_two_spellings_of_one_id(self, role: str, spelling: str, word: str, tmp_path: Path) -> None:
        rows = {"user": ["1", "2"], "location": ["1", "2"], role: ["7", spelling]}
        lines = "".join(f"{user},{location}\n" for user, location in zip(*rows.values(), strict=True))
        path = text(tmp_path, f"user,location\n{lines}")
        for source in (path, pa.table(rows), ibis.memtable(pa.table(rows))):
            refused(ColumnError, role, word, "--ids text", visits=le.Visits(source))
            assert le.private.exact_profile(le.Visits(source, ids="text")).users.sum() == 2

    def test_all_null(self, tmp_path: Path) -> None:
        for role in ("user", "location"):
            columns = {"user": [1, 2], "location": [1, 2], role: pa.nulls(2, pa.int64())}
            for rule in ("fail", "drop"):
                refused(
                    ColumnError, f"{role} column", "null", visits=le.Visits(pa.table(columns), bad_rows=rule)
                )
        path = text(tmp_path, "user,location\n,1\n,2\n")
        refused(ColumnError, "rows.csv", "user column", "null", visits=le.Visits(path))


BAD_ROWS = {
    "no location": ("location", f"{SECRET},,2020-01-01,1,1.5,1"),
    "no time": ("time", f"{SECRET},cafe,,1,1.5,1"),
    "not a time": ("time", f"{SECRET},cafe,yesterday,1,1.5,1"),
    "an impossible day": ("time", f"{SECRET},cafe,2020-02-30,1,1.5,1"),
    "the end of time": ("time", f"{SECRET},cafe,infinity,1,1.5,1"),
    "no visits": ("visits", f"{SECRET},cafe,2020-01-01,,1.5,1"),
    "zero visits": ("visits", f"{SECRET},cafe,2020-01-01,0,1.5,1"),
    "negative visits": ("visits", f"{SECRET},cafe,2020-01-01,-1,1.5,1"),
    "a fraction of a visit": ("visits", f"{SECRET},cafe,2020-01-01,1.5,1.5,1"),
    "NaN visits": ("visits", f"{SECRET},cafe,2020-01-01,nan,1.5,1"),
    "infinite visits": ("visits", f"{SECRET},cafe,2020-01-01,inf,1.5,1"),
    "too many visits": ("visits", f"{SECRET},cafe,2020-01-01,1e12,1.5,1"),
    "visits in words": ("visits", f"{SECRET},cafe,2020-01-01,two,1.5,1"),
    "not a latitude": ("lat", f"{SECRET},cafe,2020-01-01,1,north,1"),
    "not a longitude": ("lon", f"{SECRET},cafe,2020-01-01,1,1.5,east"),
    "too few fields": ("line 3", f"{SECRET},cafe"),
    "too many fields": ("line 3", f"{SECRET},cafe,2020-01-01,1,1.5,1,1"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_fail_by_default_or_are_dropped(name: str, tmp_path: Path, private_log: list[str]) -> None:
    where, row = BAD_ROWS[name]
    good = "good,park,2020-01-01,2,1.5,1"
    path = text(tmp_path, f"user,location,time,visits,lat,lon\n{good}\n{row}\n")
    visits = le.Visits(path, **COORDINATES)
    message = refused(BadRowsError, "rows.csv", where, "--bad-rows drop", visits=visits)
    assert not any(count in message for count in ("1 row", "(1)", ": 1"))
    private_log.clear()
    found = le.private.exact_profile(le.Visits(path, **COORDINATES, bad_rows="drop"))
    assert as_counter(found) == {("park", 2): 1}
    assert found.locations.to_pylist() == ["park"]
    assert len(private_log) == 1
    assert "1" in private_log[0].rpartition(":")[2], "the number of rows, for the operator alone"


def test_the_file_with_the_bad_row_is_named(tmp_path: Path) -> None:
    text(tmp_path, "user,location,visits\n1,2,1\n", "a.csv")
    text(tmp_path, "user,location,visits\n1,2,0\n", "b.csv")
    assert "a.csv" not in refused(BadRowsError, "b.csv: column 'visits'", visits=le.Visits(tmp_path))
    text(tmp_path, "user,location,visits\n1.0,2,1\n", "b.csv")
    refused(ColumnError, visits=le.Visits(tmp_path))
    text(tmp_path, "user,location,visits\n1.0,2,1\n", "a.csv")
    text(tmp_path, "user,location,visits\nx,2,1\n", "b.csv")
    assert "b.csv" not in refused(ColumnError, "a.csv", "decimal", visits=le.Visits(tmp_path))


def test_a_first_row_that_may_be_no_header(tmp_path: Path) -> None:
    path = text(tmp_path, "alice,cafe\nbob,cafe\n")
    refused(ColumnError, "--columns", visits=le.Visits(path))
    visits = le.Visits(path, columns=["user", "location"])
    assert as_counter(le.private.exact_profile(visits)) == {("cafe", 1): 2}


class TestFoundByReview:
    """Each of these once went wrong, silently or with a private value on screen."""

    def test_a_stray_quotation_mark_never_takes_other_rows_with_it(self, tmp_path: Path) -> None:
        good = "".join(f"{user},cafe\n" for user in range(50))
        for stray in ('mallory,"x\n', 'mallory,"x\n0,"y\n'):
            path = text(tmp_path, f"user,location\n{stray}{good}")
            refused(LocentropyError, "rows.csv", "quotation mark", visits=le.Visits(path))
            found = le.private.exact_profile(le.Visits(path, bad_rows="drop"))
            assert as_counter(found) == {("cafe", 1): 50}

    @pytest.mark.parametrize("ids", ["as-they-are", "text"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize(
        ("header", "first", "others", "last"),
        [
            ("user,location,note", 'ann,x,"so nice', "{},x,fine", 'ann,y,a 24"'),
            ("user,location,note", 'ann,x,"so nice', "{},x,fine", 'ann,y,a 24",more'),  # has too many fields
            ("user,location,note,time", 'ann,x,a,"2026', "{},x,fine,2026-01-01", 'ann,y,b,7"'),
            ("user,location,note", 'ann,x,"so nice', "{},x,fine", '"'),
            ("note;user;location", '"so nice;ann;x', "fine;{};x", 'a 24";ann;y'),
            ("note\tuser\tlocation", '"so nice\tann\tx', "fine\t{}\tx", 'a 24"\tann\ty'),
            ("user,location", '"ann,x', "{},x", 'a",x'),
        ],
    )
    def test_a_quotation_mark_in_any_column_never_takes_other_rows_with_it(
        self, header: str, first: str, others: str, last: str, end: str, ids: str, tmp_path: Path
    ) -> None:
        lines = [header, first, *(others.format(user) for user in range(50)), last, others.format("bob")]
        path = tmp_path / "rows.csv"
        path.write_text("".join(line + end for line in lines), newline="")
        with pytest.raises(BadRowsError, match="quotation mark") as caught:
            le.private.exact_profile(le.Visits(path, ids=ids))
        assert "nice" not in str(caught.value)
        others = as_counter(le.private.exact_profile(le.Visits(path, bad_rows="drop", ids=ids, time=None)))
        assert others["x", 1] in (51, 52), (
            "all others, each on a line of its own, and perhaps the one with the mark"
        )

    def test_notes_may_have_several_lines(self, tmp_path: Path) -> None:
        path = text(tmp_path, 'user,location,note\n1,a,"two\nlines"\n2,a,"a, b, and ""c"""\n')
        assert as_counter(le.private.exact_profile(le.Visits(path))) == {("a", 1): 2}

    def test_ids_that_run_over_lines(self, tmp_path: Path) -> None:
        path = text(tmp_path, 'user,location\n1,"cafe\nand bar"\n4,z\n')
        refused(ColumnError, "location", "several lines", visits=le.Visits(path))

    def test_text_columns_compare_exactly_in_a_database(self, tmp_path: Path) -> None:
        import duckdb

        path = tmp_path / "rows.duckdb"
        with duckdb.connect(str(path)) as con:
            con.execute('CREATE TABLE t("user" VARCHAR COLLATE NOCASE, location VARCHAR COLLATE NOCASE)')
            con.execute("INSERT INTO t VALUES ('Ann', 'Cafe'), ('ann', 'cafe')")
        assert as_counter(le.private.exact_profile(le.Visits(path))) == {("Cafe", 1): 1, ("cafe", 1): 1}
        found = le.private.exact_profile(le.Visits(path), locations=["Cafe", "cafe"])
        assert as_counter(found) == {("Cafe", 1): 1, ("cafe", 1): 1}

    def test_parquet_columns_of_one_name(self, tmp_path: Path) -> None:
        table = pa.table([[1, 2], [9, 9], ["x", "x"]], names=["user", "user", "location"])
        pq.write_table(table, tmp_path / "rows.parquet")
        refused(ColumnError, "'user' and 'user'", visits=le.Visits(tmp_path / "rows.parquet"))
        refused(ColumnError, "'user' and 'user'", visits=le.Visits(table))

    def test_lazy_frames_are_computed_once(self) -> None:
        frame = pl.DataFrame(
            {"user": [i % 997 for i in range(50_000)], "location": [i % 13 for i in range(50_000)]}
        )
        lazy = frame.lazy().group_by("user", "location").agg(visits=pl.len())
        assert as_counter(le.private.exact_profile(le.Visits(lazy))) == as_counter(
            le.private.exact_profile(le.Visits(lazy.collect()))
        )

    def test_numbers_and_dates_do_not_mix_as_times(self, tmp_path: Path) -> None:
        path = text(tmp_path, "user,location,time\n1,a,1600000000\n1,b,2019-01-01T00:00:00Z\n")
        refused(ColumnError, "'time'", "in the same way", visits=le.Visits(path))
        pq.write_table(pa.table({"user": [1], "location": [1], "time": [5]}), tmp_path / "a.parquet")
        pq.write_table(
            pa.table({"user": [1], "location": [1], "time": ["2019-01-01"]}), tmp_path / "b.parquet"
        )
        refused(ColumnError, "'time'", "in the same way", visits=le.Visits(str(tmp_path / "*.parquet")))

    def test_times_without_an_offset_are_utc(self, tmp_path: Path) -> None:
        path = text(
            tmp_path, "user,location,time\n1,late,2020-01-01T10:00:00\n1,early,2020-01-01T10:30:00+01:00\n"
        )
        assert as_counter(le.private.profile(le.Visits(path), le.private.Bounds(1, 1))) == {("early", 1): 1}

    @pytest.mark.parametrize("spelling", ["+7", "7.0e0", "1e+16", "7\u00a0", "\u200b7", "7\u3000"])
    def test_more_spellings_of_one_id(self, spelling: str) -> None:
        refused(
            ColumnError, "user", visits=le.Visits(pa.table({"user": ["7", spelling], "location": ["a", "a"]}))
        )

    @pytest.mark.parametrize("usual", ["4e5", "007", "a.b", "1.2.3", "-5", "x+y"])
    def test_ids_that_are_nothing_unusual(self, usual: str) -> None:
        assert len(le.private.exact_profile(le.Visits(pa.table({"user": [usual], "location": [usual]})))) == 1

    def test_a_first_row_is_not_shown_as_a_header(self, tmp_path: Path) -> None:
        path = text(tmp_path, f"{SECRET},some clinic\nbob,x\n")
        assert "clinic" not in refused(ColumnError, "--columns", visits=le.Visits(path))
        text(tmp_path, "user,location\n1,2\n", "0.csv")
        assert "clinic" not in refused(ColumnError, visits=le.Visits(tmp_path))

    def test_types_are_not_shown_with_their_values(self, tmp_path: Path) -> None:
        import duckdb

        path = tmp_path / "rows.duckdb"
        with duckdb.connect(str(path)) as con:
            con.execute(
                f"CREATE TABLE t AS SELECT ['{SECRET}']::ENUM('a', '{SECRET}')[] AS \"user\", 1 AS location"
            )
        refused(ColumnError, "has type", visits=le.Visits(path))

    def test_frames_made_from_pandas(self) -> None:
        class GeoDataFrame(pd.DataFrame):
            __module__ = "geopandas.geodataframe"

        frame = GeoDataFrame({"user": [1], "location": [2], "note": [object()]})
        assert len(le.private.exact_profile(le.Visits(frame))) == 1

    @pytest.mark.parametrize(
        "source", [pd.Series([1]), pl.Series([1]), pa.chunked_array([[1]]), "", "~nobody-here/x", "x" * 5000]
    )
    def test_what_is_no_table_or_path(self, source: object) -> None:
        refused(SourceError, visits=le.Visits(source))

    def test_huge_numbers_and_lists(self) -> None:
        refused(
            ColumnError,
            "user",
            visits=le.Visits(pd.DataFrame({"user": [2**70], "location": [1]}, dtype=object)),
        )
        table = pa.table({"user": [1], "location": [2]})
        for wrong in ([2**70], "ab", pa.array([2**63], pa.uint64())):
            with pytest.raises(ParameterError):
                le.private.exact_profile(le.Visits(table), locations=wrong)
        assert le.private.exact_profile(le.Visits(table, ids="text"), locations=[2]).users.sum() == 1

    def test_one_impossible_time_is_one_bad_row(self) -> None:
        times = pa.array([0, 2**62], pa.timestamp("s"))
        table = pa.table({"user": [1, 2], "location": [1, 1], "time": times})
        refused(BadRowsError, "time", visits=le.Visits(table))
        assert le.private.exact_profile(le.Visits(table, bad_rows="drop")).users.sum() == 1

    def test_files_that_are_there_twice(self, tmp_path: Path) -> None:
        path = text(tmp_path, "user,location\n1,2\n", "a.csv")
        (tmp_path / "b.csv").symlink_to(path)
        assert le.private.exact_profile(le.Visits(tmp_path)).visits.tolist() == [1]
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
        refused(SourceError, "a.csv.gz", "twice", visits=le.Visits(tmp_path))

    def test_a_name_that_is_also_a_pattern(self, tmp_path: Path) -> None:
        path = text(tmp_path, "user,location\n1,2\n", "a*.csv")
        text(tmp_path, "user,location\n1,3\n", "ab.csv")
        assert as_counter(le.private.exact_profile(le.Visits(path))) == {(2, 1): 1}
        pq.write_table(pa.table({"user": [1], "location": [2]}), tmp_path / "p*")
        pq.write_table(pa.table({"user": [1], "location": [3]}), tmp_path / "pq")
        assert as_counter(le.private.exact_profile(le.Visits(tmp_path / "p*"))) == {(2, 1): 1}

    @pytest.mark.skipif(os.sep != "/", reason="a backslash parts folders")
    @pytest.mark.parametrize(
        ("folder", "name"),
        [
            ("a?b", "\\v"),
            ("a*b", "v[1]"),
            ("a[b]", "\\v"),
            ("a[", "v?*"),
            ("plain", "**"),
            ("\\f", "\\[v'{}"),
        ],
    )
    def test_names_with_signs_of_patterns(self, folder: str, name: str, tmp_path: Path) -> None:
        """DuckDB lists the folders of such a name, and failed at one that begins with a backslash."""
        here = tmp_path / folder
        here.mkdir()
        table = pa.table({"user": [1, 2], "location": [3, 3]})
        pq.write_table(table, here / f"{name}.parquet")
        (here / f"{name}.csv").write_text("user,location\n1,3\n2,3\n")
        (here / f"{name}.csv.gz").write_bytes(gzip.compress(b"user,location\n1,3\n2,3\n"))
        (here / f"{name}.jsonl").write_text('{"user": 1, "location": 3}\n{"user": 2, "location": 3}\n')
        (here / "\\beside.txt").touch()
        for ending in ("parquet", "csv", "csv.gz", "jsonl"):
            for rule in ("fail", "drop") if ending == "csv" else ("fail",):
                visits = le.Visits(here / f"{name}.{ending}", bad_rows=rule)
                assert as_counter(le.private.exact_profile(visits)) == {(3, 1): 2}
            assert (
                len(le.PublicLocations(here / f"{name}.{ending}", location="user").load(only_ids=True)) == 2
            )

    def test_folders_are_not_columns(self, tmp_path: Path) -> None:
        (tmp_path / "user=7").mkdir()
        pq.write_table(pa.table({"location": [1]}), tmp_path / "user=7" / "a.parquet")
        refused(ColumnError, "no user column", visits=le.Visits(tmp_path))

    def test_columns_for_a_file_with_a_header(self, tmp_path: Path) -> None:
        path = text(tmp_path, "user,location\n1,2\n")
        refused(
            ParameterError, "--header", visits=le.Visits(path, columns=("a", "b"), user="a", location="b")
        )
        visits = le.Visits(path, columns=("a", "b"), user="a", location="b", header=True)
        assert le.private.exact_profile(visits).users.sum() == 1
        refused(ParameterError, "format", visits=le.Visits(path, format="gowalla", header=True))

    @pytest.mark.parametrize(
        "content", ["user,location\r1,2\r", "user,location\n1,2\r\n3,4\n", f"user,{'x' * 140_000}\n1,2\n"]
    )
    def test_odd_line_ends_and_endless_fields(self, content: str, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        path.write_bytes(content.encode())
        for rule in ("fail", "drop"):
            with suppress(SourceError, BadRowsError, ColumnError):  # frictionless lifts the limit of csv
                assert le.private.exact_profile(le.Visits(path, bad_rows=rule)).users.sum() == 2

    def test_location_ids_mixed_across_text_files(self, tmp_path: Path) -> None:
        text(tmp_path, "user,location\n7,1\n", "a.csv")
        text(tmp_path, "user,location\n7,x\n", "b.csv")
        refused(ColumnError, "location", "--ids text", visits=le.Visits(tmp_path))


TYPED = {
    "location": [1, None],
    "time": [pa.scalar(0, pa.timestamp("us")), None],
    "visits": [1.0, float("nan")],
    "lat": [1.0, float("nan")],
}


@pytest.mark.parametrize("role", TYPED)
def test_bad_rows_of_typed_tables(role: str) -> None:
    columns = {"user": [1, 2], "location": [1, 2], "lat": [1.0, None], "lon": [1.0, None], role: TYPED[role]}
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    for source in (table, ibis.memtable(table)):
        refused(BadRowsError, f"'{role}'", visits=le.Visits(source, **COORDINATES))
        kept = le.Visits(source, **COORDINATES, bad_rows="drop")
        assert as_counter(le.private.exact_profile(kept)) == {(1, 1): 1}


def test_columns_that_nothing_uses_are_not_read(tmp_path: Path) -> None:
    path = text(tmp_path, "user,location,lat,lon,note\n1,2,north,east,\n")
    assert as_counter(le.private.exact_profile(le.Visits(path))) == {(2, 1): 1}
    typed = pa.table({"user": [1], "location": [2], "lat": [True], "lon": [b"x"]})
    assert as_counter(le.private.exact_profile(le.Visits(typed))) == {(2, 1): 1}


def test_records_do_not_reach_the_root_logger(tmp_path: Path) -> None:
    path = text(tmp_path, "user,location\n1,2\n,3\n4,\n")
    seen: list[logging.LogRecord] = []
    handler = logging.Handler(logging.DEBUG)
    handler.emit = seen.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        le.private.exact_profile(le.Visits(path, bad_rows="drop"))
    finally:
        logging.getLogger().removeHandler(handler)
    assert not seen


def test_out_of_memory_says_what_to_do(tmp_path: Path) -> None:
    table = pa.table({"user": range(300_000), "location": range(300_000)})
    with pytest.raises(EngineError, match="--memory"):
        le.private.exact_profile(le.Visits(table), resources=le.Resources(memory="1MB", threads=1))


@pytest.mark.parametrize(
    ("options", "word"),
    [({"memory": "lots"}, "2GB"), ({"threads": 0}, "threads"), ({"spill": "/no/where"}, "folder")],
)
def test_resources_that_cannot_be_right(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        le.Resources(**options)

    def test_uuids_and_texts_do_not_mix(self, tmp_path: Path) -> None:
        import duckdb

        one = "c0ffee00-0000-4000-8000-000000000001"
        with duckdb.connect() as con:
            con.execute(f"COPY (SELECT '{one}'::UUID AS user, 1 AS location) TO '{tmp_path}/a.parquet'")
            con.execute(f"COPY (SELECT upper('{one}') AS user, 1 AS location) TO '{tmp_path}/b.parquet'")
        refused(ColumnError, "'user'", "UUIDs", "a.parquet", "b.parquet", visits=le.Visits(tmp_path))

    @pytest.mark.parametrize("sign", ["\x1c", "\x85", "\xad", "\u180e", "\u200e", "\u202a", "\u2066"])
    def test_ids_with_signs_that_nobody_sees(self, sign: str) -> None:
        for id_ in (f"ann{sign}", f"{sign}ann"):
            table = pa.table({"user": ["ann", id_], "location": [1, 1]})
            refused(ColumnError, "user", "blanks", visits=le.Visits(table))

    def test_a_row_with_one_usual_word_is_no_header(self, tmp_path: Path) -> None:
        path = text(tmp_path, "ann,central park,person\nbob,pier,guest\n")
        with pytest.raises(ColumnError) as caught:
            le.private.exact_profile(le.Visits(path))
        assert "ann" not in str(caught.value)
        assert "central" not in str(caught.value)

    @pytest.mark.parametrize("name", ["member", "device_id", "customer", "visitor", "subscriber"])
    def test_what_may_be_no_person_is_not_taken_for_one(self, name: str) -> None:
        table = pa.table({name: ["yes", "no"], "location": [1, 1]})
        refused(ColumnError, "no user column", visits=le.Visits(table))
        assert le.private.exact_profile(le.Visits(table, user=name)).users.sum() == 2


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its visits would be missing without a word."""
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "sub/b.csv"):
        (tmp_path / name).write_text("user,location\n1,2\n")
    look = os.scandir

    def closed(path: Any) -> Any:
        if isinstance(path, str) and Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    assert le.private.exact_profile(le.Visits(tmp_path)).users.sum() == 1
    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(SourceError, match=r"cannot be read .*Permission denied.*sub"):
        le.private.exact_profile(le.Visits(tmp_path))


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("gone"), os.mkfifo], ids=["link", "pipe"])
def test_what_is_called_a_table_and_is_none(make: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location\n1,2\n")
    make(tmp_path / "b.csv")
    with pytest.raises(SourceError, match=r"b\.csv: is named as a table but is not a file"):
        le.private.exact_profile(le.Visits(tmp_path))


@pytest.mark.parametrize("size", [3 << 20, 40 << 20])
@pytest.mark.parametrize("last", [True, False])
def test_a_line_that_is_far_too_long_is_an_error(size: int, last: bool, tmp_path: Path) -> None:
    """The engine passes over one beyond 32 MB at the end of a file."""
    path, long = tmp_path / "long.csv", f"{'x' * size},park\n"
    path.write_text("user,location\nann,park\n" + (long if last else f"{long}bob,park\n"))
    with pytest.raises(LocentropyError) as caught:
        le.private.exact_profile(le.Visits(path))
    assert "long.csv" in str(caught.value)
    assert "xxx" not in str(caught.value)
