"""A real PostgreSQL server: the same answers as the embedded engine, whatever its collations."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.csv
import pytest

import locentropy as le
from locentropy.core.errors import ColumnError, LocentropyError
from tests.examples import at_night

from . import agreeing, agreeing_cells, agreeing_windows

HERE = le.Resources()
TABLES = count()


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl; Debian does not put it on the path."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).parent if found else (debian[-1].parent if debian else None)


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """A server on loopback for these tests alone; its port."""
    programs = _programs()
    if programs is None:
        if os.environ.get("LOCENTROPY_POSTGRES") == "required":
            pytest.fail("PostgreSQL is required and is not installed")
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    with tempfile.TemporaryDirectory(prefix="locentropy-postgres-") as name:
        yield from _running(programs, Path(name))


def _running(programs: Path, folder: Path) -> Iterator[int]:
    as_whom: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres")
        as_whom = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"

    def run(program: str, *arguments: str) -> None:
        log = folder / f"{program}.out"
        with log.open("wb") as out:
            command = [*as_whom, str(programs / program), "-D", str(data), *arguments]
            done = subprocess.run(command, stdout=out, stderr=out, cwd=folder, timeout=120, check=False)
        assert done.returncode == 0, log.read_text()

    run("initdb", "--locale=C.UTF-8", "--encoding=UTF8", "--auth=trust", "--username=tester", "--no-sync")
    settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
    run("pg_ctl", "-w", "-o", settings, "start")
    try:
        yield port
    finally:
        run("pg_ctl", "-m", "immediate", "stop")


@pytest.fixture(scope="module")
def con(server: int) -> Iterator[Any]:
    connection = ibis.postgres.connect(host="127.0.0.1", port=server, user="tester", database="postgres")
    for name, locale in (("forgiving", "und-u-ks-level1"), ("swedish", "sv-SE")):
        deterministic = "false" if name == "forgiving" else "true"
        sql = f"CREATE COLLATION {name} (provider=icu, locale='{locale}', deterministic={deterministic})"
        connection.raw_sql(sql).close()
    connection.con.commit()
    yield connection
    connection.disconnect()


def stored(con: Any) -> agreeing.Stored:
    def store(table: pa.Table) -> le.Visits:
        made = con.create_table(f"visits_{next(TABLES)}", schema=ibis.Schema.from_pyarrow(table.schema))
        columns = ", ".join(f'"{name}"' for name in table.column_names)
        lines = io.BytesIO()
        pa.csv.write_csv(table, lines, pa.csv.WriteOptions(include_header=False))
        into = f"COPY {made.get_name()} ({columns}) FROM STDIN (FORMAT csv)"  # row by row would take minutes
        with con.con.cursor() as cursor, cursor.copy(into) as copy:
            copy.write(lines.getvalue())
        con.con.commit()
        return le.Visits(made)

    return store


def test_which_column_is_the_person(con: Any) -> None:
    agreeing.check_person_column(stored(con), HERE)


def test_a_check_of_the_input(con: Any) -> None:
    agreeing.input_checks_must_agree(stored(con), HERE)


@pytest.mark.parametrize("far", [1e308, -1e308, float("inf"), float("nan")])
def test_a_coordinate_far_outside_a_grid_stops_nothing(con: Any, far: float) -> None:
    """Its quotient is too large for a number, which PostgreSQL would refuse."""
    grid = le.Grid(south=40.0, west=-74.0, north=40.1, east=-73.9, cell=1000)
    table = pa.table(
        {"user": ["ann", "bob", "eve"], "lat": [40.05, 40.05, far], "lon": [-73.95, -73.95, far]}
    )
    visits = replace(stored(con)(table), bad_rows="drop")
    assert le.private.exact_profile(visits, locations=grid).users.sum() == 2


def test_spellings_and_words_for_missing_ids(con: Any) -> None:
    agreeing.spellings_must_agree(stored(con), HERE)


@pytest.mark.parametrize("numbers", [False, True], ids=["texts", "numbers"])
@pytest.mark.parametrize("listed", [False, True], ids=["everywhere", "listed"])
def test_awkward_ids(con: Any, numbers: bool, listed: bool) -> None:
    table = agreeing.awkward(7, numbers=numbers)
    agreeing.must_agree(table, stored(con), HERE, agreeing.listed(table) if listed else None)


@pytest.mark.parametrize("numbers", [False, True], ids=["texts", "numbers"])
def test_groups(con: Any, numbers: bool) -> None:
    """Ids of groups need not be of the type of the visits' ids."""
    table = agreeing.awkward(10, numbers=not numbers)
    groups = agreeing.grouped(table, numbers=numbers)
    agreeing.must_agree(table, stored(con), HERE, groups)
    agreeing.levels_must_agree(table, stored(con), HERE, groups)


def test_a_grid(con: Any) -> None:
    agreeing.must_agree(agreeing.awkward(8), stored(con), HERE, agreeing.BOX)


@pytest.mark.parametrize("way", agreeing_cells.WAYS)
def test_cells_of_a_map(con: Any, way: str, tmp_path: Path) -> None:
    there = agreeing_cells.cells(way, tmp_path)
    agreeing.must_agree(agreeing_cells.visits(there, 3000), stored(con), HERE, there)


@pytest.mark.parametrize("rows", [agreeing_cells.SOME, *at_night(agreeing_cells.ALL)])
@pytest.mark.parametrize("way", agreeing_cells.AWKWARD)
def test_every_row_is_at_the_place_that_the_rule_says(con: Any, way: str, rows: int, tmp_path: Path) -> None:
    there = agreeing_cells.cells(way, tmp_path)
    table = agreeing_cells.rows_to_assign(there, rows)
    agreeing_cells.must_assign_alike(table, stored(con), HERE, there)


@pytest.mark.parametrize("rows", [agreeing.SOME, *at_night(agreeing.ALL)])
def test_sparse(rows: int, con: Any) -> None:
    agreeing.must_agree(agreeing.sparse(rows), stored(con), HERE)


@pytest.mark.nightly
def test_gowalla(con: Any, gowalla: Path) -> None:
    agreeing.must_agree(agreeing.gowalla_table(gowalla), stored(con), HERE)


@pytest.mark.parametrize("collation", ["forgiving", "swedish", '"C"'])
def test_the_collation_of_a_column_changes_nothing(con: Any, collation: str) -> None:
    def collated(table: pa.Table) -> le.Visits:
        made = con.create_table(name := f"visits_{next(TABLES)}", table)
        for column in ("user", "location"):
            con.raw_sql(f'ALTER TABLE {name} ALTER "{column}" TYPE text COLLATE {collation}').close()
        con.con.commit()
        return le.Visits(made)

    agreeing.must_agree(agreeing.awkward(9), collated, HERE)


def test_times_with_a_zone_and_large_numbers(con: Any) -> None:
    rows = pa.table(
        {
            "user": pa.array([1, 1, 2], pa.int64()),
            "location": ["b", "a", "a"],
            "time": pa.array([2, 1, 3], pa.timestamp("us", "Europe/Stockholm")),
        }
    )
    found = le.private.profile(stored(con)(rows), le.private.Bounds(1, 1))
    assert found.to_arrow().to_pylist() == [{"location": "a", "visits": 1, "users": 2}]
    con.raw_sql(
        'CREATE TABLE large AS SELECT 1 AS "user", 18446744073709551615::numeric(20, 0) AS location'
    ).close()
    con.con.commit()
    assert le.private.exact_profile(le.Visits(con.table("large"))).locations.to_pylist() == [2**64 - 1]


def test_a_hostile_column_is_just_a_column(con: Any) -> None:
    hostile = 'x"; drop table visits; --'
    table = con.create_table(f"visits_{next(TABLES)}", pa.table({hostile: ["a", "b"], "location": [1, 1]}))
    assert le.private.exact_profile(le.Visits(table, user=hostile)).users.sum() == 2


def test_errors_quote_no_data(con: Any) -> None:
    con.raw_sql("CREATE TABLE broken AS SELECT 's3cret' AS \"user\", 1 AS location").close()
    con.con.commit()
    table = con.table("broken")
    late = table.mutate(time=table.user.cast("timestamp"))
    with pytest.raises(LocentropyError) as caught:
        le.private.exact_profile(le.Visits(late))
    assert "s3cret" not in str(caught.value)


def test_publishing_leaves_nothing_behind(con: Any, tmp_path: Path) -> None:
    table = agreeing.awkward(3)
    visits = stored(con)(table)
    before = set(con.list_tables())
    places = le.PublicLocations(agreeing.listed(table))
    release = le.publish(visits, le.Shares(1.0), places, out=tmp_path / "may", ledger=None)
    assert len(release) == len(agreeing.listed(table))
    assert set(con.list_tables()) == before


def test_a_backend_of_an_unknown_kind_must_tell_ids_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from locentropy.visits.engines import bytewise

    monkeypatch.setattr(bytewise, "_THROUGH_BYTES", {})
    duck = ibis.duckdb.connect()
    duck.raw_sql('CREATE TABLE t ("user" VARCHAR COLLATE NOCASE, location BIGINT)')
    duck.raw_sql("INSERT INTO t VALUES ('a', 1), ('A', 2)")
    with pytest.raises(ColumnError, match="collation"):
        le.private.exact_profile(le.Visits(duck.table("t")))


def test_the_snippet_of_the_page(con: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    con.create_table("checkins", agreeing.with_other_names(tmp_path).rename_columns(["user", "venue", "at"]))
    monkeypatch.setattr(ibis.postgres, "connect", lambda **where: con)
    exec(agreeing.snippet(1), {})  # noqa: S102
    assert le.verify(tmp_path / "may").ok


@pytest.mark.parametrize("zone", ["UTC", "America/St_Johns"])
def test_windows(con: Any, zone: str) -> None:
    """Whatever zone the session is in."""
    con.raw_sql(f"SET TIME ZONE '{zone}'").close()
    con.con.commit()
    try:
        agreeing_windows.check(stored(con), HERE)
    finally:
        con.raw_sql("SET TIME ZONE 'UTC'").close()
        con.con.commit()
