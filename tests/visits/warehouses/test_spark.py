"""Real Spark: the same answers as the embedded engine, errors in words, nothing left behind."""

from __future__ import annotations

import importlib
import os
import shlex
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import ColumnError, EngineError, LocentropyError, SourceError
from locentropy.core.locations import Locator
from tests.examples import at_night

from . import agreeing, agreeing_cells, agreeing_windows

FILES = count()
LOCENTROPY = (sys.executable, "-c", "from locentropy.cli.main import run; run()")


@pytest.fixture
def stored(tmp_path: Path) -> agreeing.Stored:
    """Written as two Parquet files, so that more than one task reads them."""

    def store(table: pa.Table) -> le.Visits:
        folder = tmp_path / f"visits-{next(FILES)}"
        folder.mkdir()
        half = table.num_rows // 2
        pq.write_table(table.slice(0, half), folder / "a.parquet")
        pq.write_table(table.slice(half), folder / "b.parquet")
        return le.Visits(folder)

    return store


def test_a_check_of_the_input(stored: agreeing.Stored, here: le.Resources) -> None:
    agreeing.input_checks_must_agree(stored, here)


@pytest.mark.parametrize(
    ("numbers", "listed"), [(False, False), (True, True)], ids=["texts", "listed numbers"]
)
def test_awkward_ids(stored: agreeing.Stored, here: le.Resources, numbers: bool, listed: bool) -> None:
    table = agreeing.awkward(7, numbers=numbers)
    agreeing.must_agree(table, stored, here, agreeing.listed(table) if listed else None)


@pytest.mark.parametrize("numbers", [False, *at_night(True)], ids=["texts", "numbers"])
def test_groups(stored: agreeing.Stored, here: le.Resources, numbers: bool) -> None:
    """Ids of groups need not be of the type of the visits' ids."""
    table = agreeing.awkward(10, numbers=not numbers)
    groups = agreeing.grouped(table, numbers=numbers)
    agreeing.must_agree(table, stored, here, groups)
    agreeing.levels_must_agree(table, stored, here, groups)


def test_a_grid(stored: agreeing.Stored, here: le.Resources) -> None:
    agreeing.must_agree(agreeing.awkward(8), stored, here, agreeing.BOX)


@pytest.mark.parametrize("way", [agreeing_cells.WAYS[0], *at_night(*agreeing_cells.WAYS[1:])])
def test_cells_of_a_map(stored: agreeing.Stored, here: le.Resources, way: str, tmp_path: Path) -> None:
    there = agreeing_cells.cells(way, tmp_path)
    agreeing.must_agree(agreeing_cells.visits(there, 3000), stored, here, there)


class Elsewhere(Locator):
    """A rule that needs a package which executors do not have."""

    def positions(self, lat: Any, lon: Any) -> Any:
        raise AssertionError("is asked on executors alone")

    def __reduce__(self) -> Any:
        return importlib.import_module, ("package_that_no_executor_has",)


def test_executors_without_the_extra(
    stored: agreeing.Stored, here: le.Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = agreeing_cells.cells("zones", tmp_path)
    monkeypatch.setattr(type(there), "locator", lambda self: Elsewhere())
    visits = stored(agreeing_cells.visits(there, 400))
    with (
        pytest.raises(EngineError, match=r"executors lack a Python package.*locentropy\[geo\]"),
        le.private.open_queries(visits, locations=there, resources=here) as queries,
    ):
        queries.exact_profile()


@pytest.mark.parametrize("rows", [agreeing_cells.SOME, *at_night(agreeing_cells.ALL)])
@pytest.mark.parametrize("way", agreeing_cells.AWKWARD)
def test_every_row_is_at_the_place_that_the_rule_says(
    stored: agreeing.Stored, here: le.Resources, way: str, rows: int, tmp_path: Path
) -> None:
    there = agreeing_cells.cells(way, tmp_path)
    table = agreeing_cells.rows_to_assign(there, rows)
    agreeing_cells.must_assign_alike(table, stored, here, there)


@pytest.mark.parametrize("rows", [agreeing.SOME, *at_night(agreeing.ALL)])
def test_sparse(rows: int, stored: agreeing.Stored, here: le.Resources) -> None:
    agreeing.must_agree(agreeing.sparse(rows), stored, here)


@pytest.mark.nightly
def test_gowalla(stored: agreeing.Stored, here: le.Resources, gowalla: Path) -> None:
    agreeing.must_agree(agreeing.gowalla_table(gowalla), stored, here)


def test_the_collation_of_a_column_changes_nothing(
    spark: Any, here: le.Resources, stored: agreeing.Stored
) -> None:
    def collated(table: pa.Table) -> le.Visits:
        frame = spark.read.parquet(str(stored(table).source))
        for column in ("user", "location"):
            frame = frame.selectExpr("*", f"collate({column}, 'UNICODE_CI_AI') AS c").drop(column)
            frame = frame.withColumnRenamed("c", column)
        return le.Visits(frame)

    agreeing.must_agree(agreeing.awkward(9), collated, here)


def test_ids_that_are_no_utf8_are_refused(here: le.Resources, tmp_path: Path) -> None:
    """Spark tells them apart, and would write the same sign for each when it encodes them."""
    users = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.array([0, 6, 12], pa.int32()).buffers()[1], pa.py_buffer(b"M\xfcllerM\xf6ller")],
    )
    pq.write_table(pa.table({"user": users, "location": ["x", "x"]}), tmp_path / "latin.parquet")
    with pytest.raises(ColumnError, match="UTF-8") as caught:
        le.private.exact_profile(le.Visits(tmp_path / "latin.parquet"), resources=here)
    assert "ller" not in str(caught.value)


def test_names_that_spark_takes_for_patterns(here: le.Resources, tmp_path: Path) -> None:
    for name in ("visits1.parquet", "visits[1].parquet"):
        pq.write_table(pa.table({"user": [name], "location": ["x"]}), tmp_path / name)
    for source in ("visits[[]1].parquet", "*.parquet"):
        with pytest.raises(SourceError, match="pattern"):
            le.private.exact_profile(le.Visits(tmp_path / source), resources=here)


def test_names_that_spark_passes_over(here: le.Resources, tmp_path: Path) -> None:
    passed_over = ("_marker.parquet", ".hidden.parquet")
    for each in (*passed_over, "visits.parquet"):
        pq.write_table(pa.table({"user": [each], "location": ["x"]}), tmp_path / each)
    for name in passed_over:
        with pytest.raises(SourceError, match="dot or an underscore"):
            le.private.exact_profile(le.Visits(tmp_path / name), resources=here)
    assert le.private.exact_profile(le.Visits(tmp_path), resources=here).users.tolist() == [1]


def test_a_session_that_passes_over_damaged_files(spark: Any, here: le.Resources, tmp_path: Path) -> None:
    rows = pa.table({"user": [str(i) for i in range(5000)], "location": ["x"] * 5000})
    for name in ("a.parquet", "b.parquet"):
        pq.write_table(rows, tmp_path / name)
    whole = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[:200] + bytes(2000) + whole[2200:])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(LocentropyError):
            le.private.exact_profile(le.Visits(tmp_path), resources=here)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_a_session_that_reads_escapes_otherwise(spark: Any, here: le.Resources, tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": ["ann\nbob", "c"], "location": ["x", "x"]}), tmp_path / "a.parquet")
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        with pytest.raises(ColumnError, match="several lines"):
            le.private.exact_profile(le.Visits(tmp_path / "a.parquet"), resources=here)
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_frames_tables_and_ibis_tables(spark: Any, here: le.Resources) -> None:
    rows = pa.table({"user": [1, 1, 2], "location": ["a", "b", "b"]})
    frame = spark.createDataFrame(rows)
    frame.createOrReplaceTempView("checkins")
    expected = le.private.exact_profile(le.Visits(rows))
    assert le.private.exact_profile(le.Visits(frame)).equals(expected)
    assert le.private.exact_profile(le.Visits("checkins"), resources=here).equals(expected)
    assert le.private.exact_profile(le.Visits(ibis.pyspark.connect(spark).table("checkins"))).equals(expected)
    spark.catalog.dropTempView("checkins")


def test_spellings_and_words_for_missing_ids(stored: agreeing.Stored, here: le.Resources) -> None:
    agreeing.spellings_must_agree(stored, here)


def test_which_column_is_the_person(spark: Any, stored: agreeing.Stored, here: le.Resources) -> None:
    agreeing.check_person_column(stored, here)
    rows = pa.table({"uid": ["t1", "t2"], "venue": ["a", "b"], "member": ["m", "m"]})
    with pytest.raises(ColumnError, match="'uid' and 'member' could be"):
        le.private.exact_profile(le.Visits(spark.createDataFrame(rows)))


def test_a_session_gets_back_its_settings_and_keeps_no_views(spark: Any) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    le.private.exact_profile(le.Visits(spark.createDataFrame(pa.table({"user": [1], "location": [2]}))))
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert [table.name for table in spark.catalog.listTables() if table.name.startswith("locentropy")] == []
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def test_ids_in_names_of_folders_stay_as_they_are(here: le.Resources, tmp_path: Path) -> None:
    """Spark would read a folder user=007 as a column of numbers."""
    for user in ("007", "7"):
        folder = tmp_path / "parted" / f"user={user}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"location": [1]}), folder / "a.parquet")
    source = f"file://{tmp_path}/parted"
    assert le.private.exact_profile(le.Visits(source), resources=here).users.sum() == 2


def test_rows_drawn_at_random_are_refused(spark: Any) -> None:
    frame = spark.range(100).selectExpr("id AS user", "cast(rand() * 10 AS int) AS location")
    with pytest.raises(SourceError, match="at random"):
        le.private.exact_profile(le.Visits(frame))


def test_what_spark_does_not_read(here: le.Resources, tmp_path: Path) -> None:
    lines = tmp_path / "visits.jsonl"
    lines.write_text('{"user": 1, "location": 2}\n')
    with pytest.raises(SourceError, match=r"only Parquet is read on Spark\. Convert it"):
        le.private.exact_profile(le.Visits(lines), resources=here)
    with pytest.raises(SourceError, match="does not read a Table"):
        le.private.exact_profile(le.Visits(pa.table({"user": [1], "location": [2]})), resources=here)
    with pytest.raises(SourceError, match="no_such_table: is neither an existing file"):
        le.private.exact_profile(le.Visits("no_such_table"), resources=here)
    with pytest.raises(SourceError, match="no such file"):
        le.private.exact_profile(le.Visits(tmp_path / "missing.parquet"), resources=here)


def test_text_files_are_refused_with_the_line_that_makes_parquet(here: le.Resources, tmp_path: Path) -> None:
    """Ids stay as they are written; the command then goes on with what the line made."""
    path = tmp_path / "of may.csv"
    path.write_text('uid;venue;"at, local";n\n007;x;2026-05-01 10:00:00;1\n7;x;2026-05-02 10:00;2\n')
    said = {"location": "venue", "time": "at, local", "visits": "n"}
    with pytest.raises(SourceError, match="only Parquet is read on Spark") as caught:
        le.private.exact_profile(le.Visits(path, delimiter=";", **said), resources=here)
    line = next(line for line in str(caught.value).splitlines() if line.startswith("python -c"))
    subprocess.run(shlex.split(line.replace("python", sys.executable, 1)), check=True, timeout=60)
    made = le.Visits(tmp_path / "of may.parquet", **said)
    assert le.private.exact_profile(made, resources=here).users.sum() == 2


def test_files_that_disagree_are_refused(here: le.Resources, tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": [7], "location": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"user": ["7"], "location": [1]}), tmp_path / "b.parquet")
    with pytest.raises(LocentropyError):
        le.private.exact_profile(le.Visits(tmp_path), resources=here)


def test_errors_quote_no_data(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    rows = spark.createDataFrame(pa.table({"user": ["s3cret"], "location": [2]}))
    late = rows.selectExpr("user", "location", "cast(user AS timestamp) AS time")
    with pytest.raises(EngineError) as caught:
        le.private.exact_profile(le.Visits(late))
    shown = capfd.readouterr()
    assert "s3cret" not in f"{caught.value}{shown.out}{shown.err}"


def test_without_java(tmp_path: Path) -> None:
    """In a process of its own: in this one a session may be running."""
    pq.write_table(pa.table({"user": [1], "location": [2]}), tmp_path / "visits.parquet")
    command = [*LOCENTROPY, "entropy", str(tmp_path / "visits.parquet"), "--engine", "spark"]
    bare = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "PATH")}
    done = subprocess.run(
        command, capture_output=True, text=True, env=bare | {"PATH": ""}, check=False, timeout=300
    )
    assert done.returncode != 0
    assert "openjdk-17" in done.stderr
    assert "Traceback" not in done.stderr


def test_publish_from_the_command_line(tmp_path: Path, spark: Any) -> None:
    table = agreeing.awkward(5)
    pq.write_table(table, tmp_path / "visits.parquet")
    listed = agreeing.listed(table)
    pq.write_table(pa.table({"location": listed}), tmp_path / "places.parquet")
    command = [
        *(*LOCENTROPY, "publish", str(tmp_path / "visits.parquet"), "--engine", "spark"),
        *(
            "--places",
            str(tmp_path / "places.parquet"),
            "--epsilon",
            "1",
            "--no-ledger",
            "--out",
            str(tmp_path / "may"),
        ),
        *("--threads", "2", "--memory", "1GB", "--spill", str(tmp_path)),
    ]
    environment = os.environ | {"SPARK_SUBMIT_OPTS": agreeing.SHORT_LIVED_JAVA}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stderr
    assert len(le.Release.load(tmp_path / "may")) == len(listed)
    assert not list(tmp_path.glob("locentropy-*")), "what was spilled is gone"


def test_the_snippet_of_the_page(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spark.createDataFrame(agreeing.with_other_names(tmp_path)).createOrReplaceTempView("checkins")
    exec(agreeing.snippet(0), {"spark": spark})  # noqa: S102
    spark.catalog.dropTempView("checkins")
    assert le.verify(tmp_path / "may").ok


def test_windows(stored: agreeing.Stored, here: le.Resources) -> None:
    agreeing_windows.check(stored, here)
