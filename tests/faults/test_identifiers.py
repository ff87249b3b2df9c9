"""Names are names: whatever a column, a table, a file or an id is called, nothing of it is run."""

from __future__ import annotations

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
from locentropy.visits.sql import identifier
from tests.visits.reference import as_counter

EVIL = [
    'x"; DROP TABLE visits; --',
    "x'); COPY visits TO 'stolen.csv'; --",
    "''\\\"\"",
    "{{x}} {0} %s ? :x $1 $$x$$ /*",
    "*",
    "visits",
    "a.b.c",
    " ",
    "line\nbreak [x] 名前",
]
"""For a column of users; the places are in `OTHER`."""
OTHER = 'y"),(SELECT 1'
ROWS = [("ann'; --", 'cafe"; --'), ("bob", 'cafe"; --'), ("bob", "x'y")]
EXPECTED = {('cafe"; --', 1): 2, ("x'y", 1): 1}


def table(evil: str) -> pa.Table:
    users, places = zip(*ROWS, strict=True)
    return pa.table({evil: list(users), OTHER: list(places)})


def database(rows: pa.Table, path: Path, name: str = "visits") -> Path:
    with duckdb.connect(str(path)) as con:
        con.execute(f"CREATE SCHEMA {identifier(name)}")
        con.execute(f"CREATE TABLE {identifier(name)}.{identifier(name)} AS FROM rows")
    return path


def in_csv(rows: pa.Table, folder: Path) -> Any:
    pa.csv.write_csv(rows, folder / "rows.csv")
    return folder / "rows.csv"


def in_parquet(rows: pa.Table, folder: Path) -> Any:
    pq.write_table(rows, folder / "rows.parquet")
    return folder / "rows.parquet"


def in_duckdb(rows: pa.Table, folder: Path) -> Any:
    return database(rows, folder / "rows.duckdb")


def in_ibis(rows: pa.Table, folder: Path) -> Any:
    return ibis.connect("duckdb://").create_table("rows", rows)


SOURCES = {
    "csv": in_csv,
    "parquet": in_parquet,
    "duckdb": in_duckdb,
    "ibis": in_ibis,
    "arrow": lambda rows, _: rows,
    "pandas": lambda rows, _: rows.to_pandas(),
    "polars": lambda rows, _: pl.from_arrow(rows),
}


# The header of a text file is one line, and blanks around its names are not part of them. Tables in memory are all
# registered alike, so most of their names wait for the night.
NAMED = [
    pytest.param(evil, kind, marks=[pytest.mark.nightly] * (kind in ("pandas", "polars") and number > 1))
    for number, evil in enumerate(EVIL)
    for kind in SOURCES
    if kind != "csv" or (evil != " " and "\n" not in evil)
]


@pytest.mark.parametrize(("evil", "source"), NAMED)
def test_columns(evil: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = SOURCES[source](table(evil), tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    with le.private.open_queries(le.Visits(made, user=evil, location=OTHER)) as queries:
        assert as_counter(queries.exact_profile()) == EXPECTED
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("source", SOURCES)
def test_ids_on_both_sides(source: str, tmp_path: Path) -> None:
    visits = le.Visits(SOURCES[source](table("user"), tmp_path), user="user", location=OTHER)
    found = le.private.profile(visits, le.private.Bounds(2, 2), locations=["x'y", "nowhere'; --"])
    assert as_counter(found) == {("x'y", 1): 1}


@pytest.mark.parametrize("evil", [name for name in EVIL if name not in (" ", "a.b.c")])
def test_tables_of_a_database(evil: str, tmp_path: Path) -> None:
    path = database(table("user"), tmp_path / "rows.duckdb", evil)
    found = le.private.exact_profile(le.Visits(path, table=evil, user="user", location=OTHER))
    assert as_counter(found) == EXPECTED


@pytest.mark.parametrize(
    "evil", ["x'; --", 'x"); --', "x*?[a]", "-x $HOME %20 {x};y", "read_csv('x')", "名前"]
)
@pytest.mark.parametrize("ending", ["csv", "parquet", "duckdb"])
def test_files(evil: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / evil
    folder.mkdir()
    made = SOURCES[ending](table("user"), tmp_path).rename(folder / f"{evil}.{ending}")
    visits = le.Visits(made, user="user", location=OTHER)
    assert as_counter(le.private.exact_profile(visits)) == EXPECTED


@pytest.mark.parametrize("source", ["csv", "parquet", "duckdb", "arrow", "pandas"])
def test_lists_of_places(source: str, tmp_path: Path) -> None:
    rows = pa.table({EVIL[0]: ["a'; --", 'b"'], EVIL[1]: ["A", "B"]})
    made = SOURCES[source](rows, tmp_path)
    found = le.PublicLocations(made, location=EVIL[0], name=EVIL[1]).load()
    assert found.ids.to_pylist() == ["a'; --", 'b"']


def test_names_of_columns_that_are_no_texts() -> None:
    frame = pd.DataFrame({7: [1], "user": ["a"], "location": ["b"]})
    assert as_counter(le.private.exact_profile(le.Visits(frame))) == {("b", 1): 1}
