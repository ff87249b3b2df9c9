"""CSV on a real Spark: what it reads is what the embedded engine reads from the same file, or it is refused."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute
import pytest

import locentropy as le
from locentropy.core.errors import (
    BadRowsError,
    ColumnError,
    LocentropyError,
    ParameterError,
    SourceError,
)
from locentropy.visits.engines import spark_text
from locentropy.visits.writing import Writing

from . import agreeing, agreeing_cells

LOCENTROPY = (sys.executable, "-c", "from locentropy.cli.main import run; run()")
UNSURE = -(2**62)
"""Stands for what the reader refuses, where tests ask about many texts at once."""


def written(table: pa.Table, **style: Any) -> str:
    """A table as CSV, by another writer than those that read it."""
    lines = io.StringIO()
    writer = csv.writer(lines, **({"lineterminator": "\n"} | style))
    writer.writerow(table.column_names)
    writer.writerows(row.values() for row in table.to_pylist())
    return lines.getvalue()


def must_agree(visits: le.Visits, here: le.Resources) -> pa.Table:
    """The exact profile, ties and times included, is the embedded engine's, bit by bit. What Spark found."""
    found = []
    for resources in (le.Resources(), here):
        with le.private.open_queries(visits, resources=resources) as queries:
            first = le.private.Bounds(2, 3, "first" if "first" in queries._pairs.columns else "most-visited")
            found.append(
                [queries.exact_profile().to_arrow(), queries.profile(first).to_arrow(), queries.locations]
            )
    agreeing._must_be(*found)
    exact: pa.Table = found[1][0]
    return exact


def everything_must_agree(visits: le.Visits, here: le.Resources, locations: Any) -> None:
    """All answers about the files are the embedded engine's, bit by bit."""
    with le.private.open_queries(visits, locations=locations) as embedded:
        expected = agreeing.answers(embedded)
    with le.private.open_queries(visits, locations=locations, resources=here) as elsewhere:
        agreeing._must_be(agreeing.answers(elsewhere), expected)


def on_one_line(table: pa.Table) -> pa.Table:
    """Without ids that run over several lines, which are refused."""
    kept = [row for row in table.to_pylist() if "\n" not in f"{row['user']}{row['location']}"]
    return pa.Table.from_pylist(kept, schema=table.schema)


@pytest.mark.parametrize(
    ("name", "style"),
    [
        pytest.param("visits.csv", {}, id="commas", marks=pytest.mark.nightly),  # every answer is asked below
        pytest.param("visits.csv", {"quoting": csv.QUOTE_ALL, "lineterminator": "\r\n"}, id="all quoted"),
        pytest.param("visits.tsv", {"delimiter": "\t"}, id="tabs"),
        pytest.param("visits.txt", {"delimiter": ";"}, id="semicolons", marks=pytest.mark.nightly),
        pytest.param("visits.csv", {"delimiter": "|"}, id="bars", marks=pytest.mark.nightly),
        pytest.param("visits.csv.gz", {}, id="gzip"),
    ],
)
def test_awkward_ids(here: le.Resources, tmp_path: Path, name: str, style: Any) -> None:
    table = on_one_line(agreeing.awkward(11))
    content = written(table, **style).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    must_agree(le.Visits(tmp_path / name, ids="text"), here)


def test_every_answer(here: le.Resources, tmp_path: Path) -> None:
    table = on_one_line(agreeing.awkward(12))
    (tmp_path / "visits.csv").write_text(written(table))
    everything_must_agree(le.Visits(tmp_path / "visits.csv", ids="text"), here, agreeing.listed(table))


def test_numbers_leading_zeros_and_several_files(here: le.Resources, tmp_path: Path) -> None:
    """007 and 7 are two people. Files may have their columns in other orders, a mark at the beginning, no last break."""
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfuser,location,time\n007,1,5\n7,1,6\n7,01,6")
    (tmp_path / "b.csv").write_bytes(b"time;location;user\r\n2;1;7\r\n\r\n3;01;007\r\n4;1;\r\n5;2;nan\r\n")
    profile = must_agree(le.Visits(tmp_path, ids="text"), here)
    assert profile["location"].to_pylist() == ["01", "1", "1"]
    (tmp_path / "b.csv").unlink()
    found = le.private.exact_profile(le.Visits(tmp_path, location="user", user="location"), resources=here)
    assert sorted(set(found.to_arrow()["location"].to_pylist())) == ["007", "7"]


def test_ids_that_are_all_numbers_come_out_as_numbers(here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location\nx,1\ny,20\n")
    profiles = [
        le.private.exact_profile(le.Visits(tmp_path / "a.csv"), resources=each)
        for each in (here, le.Resources())
    ]
    assert profiles[0].to_arrow().equals(profiles[1].to_arrow())
    assert pa.types.is_integer(profiles[0].to_arrow()["location"].type)


def test_without_a_header(here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfann,x\nbob,x\nann,y\n")
    visits = le.Visits(tmp_path / "a.csv", columns=("user", "location"), header=False)
    assert pa.compute.sum(must_agree(visits, here)["users"]).as_py() == 3


def test_many_lines_in_several_tasks(spark: Any, here: le.Resources, tmp_path: Path) -> None:
    """A file that is cut into blocks has one header, and no line is lost or read twice."""
    draw = random.Random(3)
    lines = [f"u{draw.randrange(2000)},v{draw.randrange(50)},{draw.randrange(10**9)}" for _ in range(30_000)]
    (tmp_path / "a.csv").write_text("user,location,time\n" + "\n".join(lines))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "64kb")
    try:
        must_agree(le.Visits(tmp_path / "a.csv"), here)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


def test_windows(here: le.Resources, tmp_path: Path) -> None:
    times = [
        "2026-05-01T00:30:00+02:00",
        "2026-05-01T00:30:00Z",
        "2026-04-30 22:30",
        "2026-05-02",
        "1777588200",
    ]
    rows = "".join(f"u{at},x,{time}\n" for at, time in enumerate(times))
    (tmp_path / "a.csv").write_text(f"user,location,time\n{rows}")
    window = le.Window("2026-05", zone="Europe/Berlin")
    for time_type in (None, "utc", "s"):
        visits = le.Visits(tmp_path / "a.csv", bad_rows="drop", time_type=time_type).during(window)
        assert must_agree(visits, here).num_rows > 0


# Lines, times and numbers, thousands at once.


def lines_to_try() -> list[str]:
    """Lines of signs that readers of CSV trip over; well-formed ones, and others."""
    draw = random.Random(5)
    signs = [
        '"',
        '""',
        ",",
        ",",
        "a",
        "b",
        " ",
        "\t",
        "\\",
        "'",
        ";",
        "é",
        "\u2028",
        "\x0b",
        "0",
        "#",
        "\x01",
        "",
    ]
    loose = ["".join(draw.choices(signs, k=draw.randrange(1, 12))) for _ in range(1000)]

    def field() -> str:
        inner = "".join(draw.choices(signs, k=draw.randrange(4)))
        quoted = '"' + inner.replace('"', '""') + '"'
        return quoted if draw.random() < 0.5 else inner.replace('"', "").replace(",", "")

    neat = [",".join(field() for _ in range(draw.choice([2, 2, 2, 1, 3]))) for _ in range(800)]
    return [line for line in dict.fromkeys([*loose, *neat]) if line]


def test_a_line_is_read_as_by_the_embedded_engine_or_refused(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    lines = lines_to_try()
    line = f.col("line")
    fields = spark_text._fields(line, ",")
    well = ~f.contains(line, f.lit('"')) | spark_text._well_quoted(line, ",")
    complete = spark_text._is_complete(fields, 2)
    values = f.when(
        well & complete, f.array(*(spark_text._unquoted(f.get(fields, f.lit(at)), ",") for at in (0, 1)))
    )
    frame = spark.createDataFrame([(each,) for each in lines], "line string")
    rows = frame.select(
        "line", well.alias("well"), complete.alias("complete"), values.alias("values")
    ).collect()
    counts = {"same": 0, "refused": 0, "both refuse": 0}
    file = tmp_path / "one.csv"
    file.write_text("user,location\n")
    [part] = spark_text.text_parts(le.Visits(file), [file])
    with duckdb.connect() as con:
        sql = part.bind(con, {"user": "user", "location": "location"}, drop_bad=False).sql
        for row in rows:
            file.write_bytes(f"user,location\n{row.line}\n".encode())
            if not row.well:
                counts["refused"] += 1
            elif row.complete:
                assert con.execute(f"SELECT c0, c1 FROM {sql}").fetchall() == [tuple(row["values"])], row.line
                counts["same"] += 1
            else:
                with pytest.raises(duckdb.InvalidInputException):
                    con.execute(f"SELECT c0, c1 FROM {sql}").fetchall()
                counts["both refuse"] += 1
    assert min(counts.values()) > 150, counts


def moments_to_try() -> list[str]:
    draw = random.Random(6)
    days = [
        "2026-01-31",
        "2026-02-30",
        "0001-01-01",
        "0000-05-05",
        "9999-12-31",
        "2026-1-3",
        "1582-10-10",
        "1900-02-29",
    ]
    clocks = [
        "08:00",
        "08:00:00",
        "23:59:59.999999",
        "00:00:00.1234567",
        "24:00:00",
        "8:00",
        "08:00:60",
        "08",
    ]
    zones = ["", "Z", "z", "+02", "-0330", "+05:45", "+14:00", "+15:00", " UTC", "+2", "-00:00"]
    made = [
        *days,
        "epoch",
        "infinity",
        "now",
        "",
        " ",
        "07",
        "7",
        "-5",
        str(2**63),
        str(-(2**63)),
        "7.0",
        "1e9",
    ]
    made += [
        "31.01.2026 08:00",
        "Tue Apr 03 18:00:09 +0000 2012",
        "2026-05",
        "2026",
        "2026/01/31",
        "a-b",
        "12:30",
        "n/a",
    ]
    for _ in range(800):
        made.append(
            draw.choice(days) + draw.choice([" ", "T", "t", "  "]) + draw.choice(clocks) + draw.choice(zones)
        )
    return list(dict.fromkeys(made))


def unsure_instead_of_raising(what: str, kind: str = "boolean") -> Any:
    from pyspark.sql import functions as f

    return f.lit(UNSURE).cast(kind)


def test_times_are_read_as_by_the_embedded_engine_or_refused(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    monkeypatch.setattr(spark_text, "_raised", unsure_instead_of_raising)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    texts = moments_to_try()
    frame = spark.createDataFrame([(each,) for each in texts], "time string")
    rows = frame.select(f.col("time").alias("text"), *spark_text._times(f.col("time"))).collect()
    writing, refused = Writing(), 0
    asked = [writing.time_sql("t"), writing.is_number_sql("t"), writing.is_local_sql("t")]
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for row in rows:
            [(time, is_number, is_local)] = con.execute(
                f"SELECT {', '.join(asked)} FROM (SELECT $t::VARCHAR AS t)", {"t": row.text}
            ).fetchall()
            if row.time == UNSURE:
                refused += 1
                continue
            assert row.time == time, row.text
            if time is not None:
                assert (row.time_is_number, row.time_is_local) == (is_number, is_local), row.text
    assert 50 < refused < len(texts) - 50
    usual = [
        "2026-01-31",
        "2026-01-31 08:00",
        "2026-01-31T08:00:00Z",
        "2026-01-31 08:00:00.5-0330",
        "7",
        "-5",
        "n/a",
    ]
    known = {row.text: row.time for row in rows}
    assert UNSURE not in {known[text] for text in usual if text in known}


def test_numbers_are_read_as_by_the_embedded_engine_or_refused(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    monkeypatch.setattr(spark_text, "_raised", unsure_instead_of_raising)
    draw = random.Random(8)
    signs = ["", "+", "-", "0", "1", "9", "5", ".", "e", "E", " ", "_", ",", "d", "inf", "nan", "x"]
    texts = ["".join(draw.choices(signs, k=draw.randrange(1, 8))) for _ in range(3000)]
    texts += [
        "Infinity",
        "1e400",
        "4.9e-324",
        "2.2250738585072011e-308",
        "9007199254740993",
        "0.1",
        "52.52",
        "-13.4",
    ]
    texts += [repr(draw.uniform(-180, 180)) for _ in range(500)]
    frame = spark.createDataFrame([(each, each) for each in texts], "lat string, visits string")
    rows = frame.select(
        "lat", *(spark_text._number(role, f.col(role)) for role in ("lat", "visits"))
    ).collect()
    writing, read = Writing(), 0
    sql = f"SELECT coalesce({writing.number_sql('t')}, 'nan'::DOUBLE) FROM (SELECT $t::VARCHAR AS t)"
    with duckdb.connect() as con:
        for text, lat, visits in rows:
            if UNSURE in (lat, visits):
                continue
            [(number,)] = con.execute(sql, {"t": text}).fetchall()
            assert lat == number or (lat != lat and number != number), text
            whole = 1 <= number <= 2**31 - 1 and number == int(number)
            assert visits == (number if whole else 0), text
            read += number == number
    assert read > 600


# What is refused, and how.


@pytest.mark.parametrize(
    ("content", "error", "match"),
    [
        (b'user,location\ns3cret,"x\ny",z"\n', BadRowsError, "quotation mark"),
        (b'user,location\n5" s3cret,x\n', BadRowsError, "quotation mark"),
        (b'user,location\n "s3cret",x\n', BadRowsError, "quotation mark"),
        (b"user,location\ns3cret,x,y\n", BadRowsError, "too few or too many"),
        (b"user,location\ns3cret\n", BadRowsError, "too few or too many"),
        (b"user,location\ns3cret\xff,x\n", SourceError, "not UTF-8"),
        (b"user,location\ns3cret\0,x\n", BadRowsError, "zero byte"),
        (b"user,location\ns3cret,x\r\n", BadRowsError, "carriage return"),
        (b"user,location\ns3cret,x\nuser,location\n", SourceError, "repeats the header"),
        (b"user,location,time\ns3cret,x,31.01.2026\n", ColumnError, "time column 'time'.*other ways"),
        (b"user,location,time\ns3cret,x,2026-1-3\n", ColumnError, "--engine spark"),
        (b"user,location,visits\ns3cret,x,1_000\n", ColumnError, "visits column 'visits'.*other ways"),
        (b"user,location,time\ns3cret,x,tomorrow\n", BadRowsError, "not times"),
        (b"user,location,visits\ns3cret,x,0.5\n", BadRowsError, "whole numbers"),
        (b"user,location\ns3cret7.0,x\n7.0,x\n", ColumnError, "decimal numbers"),
        (b"user,location,time\ns3cret,x,7\nann,x,2026-01-31\n", ColumnError, "whole numbers in some rows"),
    ],
)
def test_bad_input(
    content: bytes,
    error: type[LocentropyError],
    match: str,
    here: le.Resources,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a file.csv").write_bytes(content)
    (tmp_path / "b.csv").write_bytes(b"user,location\nann,x\n")
    with pytest.raises(error, match=match) as caught:
        le.private.exact_profile(le.Visits(tmp_path / "a file.csv"), resources=here)
    shown = capfd.readouterr()
    assert "a file.csv" in str(caught.value)
    assert "s3cret" not in f"{caught.value}{shown.out}{shown.err}"


@pytest.mark.parametrize("many", [False, True])
def test_lines_that_are_dropped_are_counted_in_the_private_log(
    many: bool, here: le.Resources, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = "ann,x\nbob\nbob,x,y\ncid,y\n" * (50 if many else 1)
    (tmp_path / "a.csv").write_text(f"user,location\n{lines}")
    visits = le.Visits(tmp_path / "a.csv", bad_rows="drop")
    with caplog.at_level(logging.INFO, "locentropy.private"):
        must_agree(visits, here)
    said = [
        record.getMessage() for record in caplog.records if "cannot be read as rows" in record.getMessage()
    ]
    assert said == [f"{tmp_path / 'a.csv'}: lines that cannot be read as rows: {100 if many else 2}"] * 2


def test_what_a_line_that_is_dropped_holds_does_not_matter(here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location,time\nann,x,2026-01-31\nbob,31.01.2026,7.5.2026,2-2\n")
    visits = le.Visits(tmp_path / "a.csv", bad_rows="drop")
    must_agree(visits, here)
    must_agree(visits.during(le.Window("2026-01", zone="as-written")), here)


def test_numbers_in_one_file_and_texts_in_another(here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location\n7,x\n8,x\n")
    (tmp_path / "b c.csv").write_text("user,location\n7,x\nann,x\n")
    told = []
    for resources in (le.Resources(), here):
        with pytest.raises(ColumnError, match=r"whole numbers in .*a\.csv and texts in .*b c\.csv") as caught:
            le.private.exact_profile(le.Visits(tmp_path), resources=resources)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_the_file_with_the_bad_row_is_named(here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location\nann,x\n")
    (tmp_path / "b c.csv").write_text("user,location\nann,\n")
    with pytest.raises(BadRowsError, match=r"b c\.csv: column 'location'"):
        le.private.exact_profile(le.Visits(tmp_path), resources=here)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.csv", gzip.compress(b"user,location\nann,x\n", mtime=0), r"end in .*\.gz"),
        ("a.csv.gz", b"user,location\nann,x\n", r"end in .*\.gz"),
        ("a.bz2", b"user,location\nann,x\n", "takes files by their names"),
        ("_a.csv", b"user,location\nann,x\n", "dot or an underscore"),
        ("[a].csv", b"user,location\nann,x\n", "pattern"),
        ("a.csv", b"sep=;\nuser;location\nann;x\n", "line for Excel"),
    ],
)
def test_names_that_spark_takes_otherwise(
    name: str, content: bytes, match: str, here: le.Resources, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=match):
        le.private.exact_profile(le.Visits(tmp_path / name), resources=here)


@pytest.mark.parametrize(
    "options", [{"encoding": "cp1252"}, {"decimal": ","}, {"time_format": "%d/%m/%Y"}, {"format": "gowalla"}]
)
def test_options_that_spark_does_not_take(options: Any, here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location\nann,x\n")
    with pytest.raises(ParameterError, match=f"{next(iter(options))}.*Spark"):
        le.private.exact_profile(le.Visits(tmp_path / "a.csv", **options), resources=here)


def test_the_encoding_that_spark_takes_may_be_said(here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location\nann,x\n")
    visits = le.Visits(tmp_path / "a.csv", encoding="utf-8")
    assert le.private.exact_profile(visits, resources=here).users.sum() == 1


def test_an_address_needs_a_frame(spark: Any, here: le.Resources, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,location,time\nann,x,2026-01-31 08:00:00\n")
    address = (tmp_path / "a.csv").as_uri()
    with pytest.raises(SourceError, match="types are said") as caught:
        le.private.exact_profile(le.Visits(address), resources=here)
    call = str(caught.value).partition("said: ")[2]
    frame = eval(call, {"Visits": le.Visits, "spark": spark})  # noqa: S307
    assert le.private.exact_profile(frame, resources=here).users.tolist() == [1]


def test_grids_and_cells(here: le.Resources, tmp_path: Path) -> None:
    table = on_one_line(agreeing.awkward(13))
    (tmp_path / "a.csv").write_text(written(table))
    zones = agreeing_cells.cells("zones", tmp_path)
    anywhere = agreeing_cells.visits(zones, 500)
    on_earth = pa.compute.is_finite(anywhere["lat"]), pa.compute.is_finite(anywhere["lon"])  # inf is refused
    (tmp_path / "b.csv").write_text(written(anywhere.filter(pa.compute.and_(*on_earth))))
    for name, there in (("a.csv", agreeing.BOX), ("b.csv", zones)):
        visits = le.Visits(tmp_path / name, ids="text")
        found = [
            le.private.exact_profile(visits, locations=there, resources=each)
            for each in (le.Resources(), here)
        ]
        assert found[0].users.sum() > 0
        assert found[1].equals(found[0])


def test_damaged_gzip(spark: Any, here: le.Resources, tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"u{i * 7919 % 10007},x\n" for i in range(20_000)).encode())
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"user,location\n", mtime=0) + whole[: len(whole) // 2])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(LocentropyError):
            le.private.exact_profile(le.Visits(tmp_path / "a.csv.gz"), resources=here)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_a_file_that_changes_meanwhile(here: le.Resources, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("user,location\nann,x\n")
    with le.private.open_queries(le.Visits(file), resources=here) as queries:
        file.write_text("user,location\nann,x\nbob,x\n")
        with pytest.raises(SourceError, match="changed or replaced"):
            queries.exact_profile()


def test_publish_from_the_command_line(tmp_path: Path, spark: Any) -> None:
    table = on_one_line(agreeing.awkward(5))
    (tmp_path / "visits.csv").write_text(written(table, delimiter=";"))
    (tmp_path / "places.csv").write_text("location\nss\nfi\nnobody's\n")
    command = [*LOCENTROPY, "publish", str(tmp_path / "visits.csv"), "--engine", "spark", "--ids", "text"]
    command += ["--places", str(tmp_path / "places.csv"), "--epsilon", "1", "--no-ledger"]
    command += ["--out", str(tmp_path / "may"), "--threads", "2", "--memory", "1GB", "--spill", str(tmp_path)]
    environment = os.environ | {"SPARK_SUBMIT_OPTS": agreeing.SHORT_LIVED_JAVA}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    assert "fields separated by semicolons" in done.stderr
    assert "WARN" not in done.stderr
    assert len(le.Release.load(tmp_path / "may")) == 3
    assert not list(tmp_path.glob("locentropy-*")), "what was spilled is gone"
