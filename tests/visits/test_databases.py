"""A database may come from somebody else: its tables are read, and no query in it runs unless its owner says so."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import ColumnError, LocentropyError, ParameterError, SourceError
from locentropy.places.public_list import PublicLocations

SECRET = "lives-in-the-house-by-the-sea"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that whoever runs this may read, and nobody else should."""
    path = tmp_path / "private.csv"
    path.write_text(f"user,location\n{SECRET},a\n")
    return path


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as con:
        for statement in statements:
            con.execute(statement)
    return path


def hostile(folder: Path, secret: Path) -> Path:
    """A list of places, and visits, that are queries over a file of the reader."""
    return database(
        folder / "hostile.duckdb",
        "CREATE TABLE honest AS SELECT 'a' AS location, 'u' AS user",
        f"CREATE VIEW places AS SELECT user AS location FROM read_csv('{secret}', header=true)",
        f"CREATE VIEW visits AS FROM read_csv('{secret}', header=true)",
        "CREATE VIEW inner_view AS FROM honest",
    )


@pytest.mark.parametrize("table", ["places", "inner_view", "main.places"])
def test_no_view_is_read_as_a_list_or_as_what_to_exclude(tmp_path: Path, secret: Path, table: str) -> None:
    listed = PublicLocations(hostile(tmp_path, secret), table=table)
    for only_ids in (False, True):
        with pytest.raises(SourceError, match="is a view") as refused:
            listed.load(only_ids=only_ids)
        assert SECRET not in str(refused.value)
        assert "views=True" not in str(refused.value), "for a list by somebody else there is no such option"


def test_beside_views_the_only_table_needs_no_name(tmp_path: Path, secret: Path) -> None:
    listed = PublicLocations(hostile(tmp_path, secret))
    assert listed.load(only_ids=True).ids.to_pylist() == ["a"]


def test_visits_are_a_view_only_where_their_owner_says_so(tmp_path: Path, secret: Path) -> None:
    path = hostile(tmp_path, secret)
    with pytest.raises(SourceError, match=re.escape("views=True (--views)")):
        le.private.exact_profile(le.Visits(path, table="inner_view"))
    found = le.private.exact_profile(le.Visits(path, table="inner_view", views=True))
    assert found.locations.to_pylist() == ["a"]


def test_a_view_over_other_files_is_refused_even_then(tmp_path: Path, secret: Path) -> None:
    visits = le.Visits(hostile(tmp_path, secret), table="visits", views=True)
    with pytest.raises(SourceError, match="Name those files") as refused:
        le.private.exact_profile(visits)
    assert SECRET not in str(refused.value)


def test_a_macro_in_a_generated_column_reads_no_file(tmp_path: Path, secret: Path) -> None:
    """DuckDB makes no such column; one that a changed file claimed would meet the closed door."""
    path = database(
        tmp_path / "macro.duckdb",
        f"CREATE MACRO stolen() AS (SELECT content FROM read_text('{secret}'))",
        "CREATE TABLE kept AS SELECT 'a' AS location",
        "CREATE VIEW places AS SELECT stolen() AS location",
    )
    visits = le.Visits(path, table="places", user="location", views=True)
    with pytest.raises(SourceError, match="Name those files"):
        le.private.exact_profile(visits)


def test_a_column_that_is_computed_is_no_stored_one(tmp_path: Path) -> None:
    """Its expression runs where it is read: it may name the reader's own folders, or sleep."""
    path = database(
        tmp_path / "computed.duckdb",
        "CREATE TABLE places(location VARCHAR, user VARCHAR, own VARCHAR AS (current_setting('secret_directory')))",
        "INSERT INTO places VALUES ('a', 'u')",
    )
    chosen: tuple[dict[str, Any], ...] = (
        {"name": "own"},
        {"attributes": ["own"]},
        {"publish_columns": ["own"]},
        {"group": "own"},
    )
    for columns in chosen:
        with pytest.raises(ColumnError, match="'own' is computed by an expression"):
            PublicLocations(path, **columns).load()
    assert PublicLocations(path).load().ids.to_pylist() == ["a"]
    visits = le.Visits(path, user="own")
    with pytest.raises(ColumnError, match="is computed by an expression"):
        le.private.exact_profile(visits)
    assert le.private.exact_profile(replace(visits, views=True)).locations.to_pylist() == ["a"]


def test_a_view_sees_no_table_in_memory_of_the_program(tmp_path: Path) -> None:
    """DuckDB looks for a table that it does not know among the variables of Python."""
    kept = pa.table({"user": [SECRET], "location": ["a"]})
    with duckdb.connect(str(tmp_path / "m.duckdb")) as con:
        con.register("kept", kept)
        con.execute("CREATE TABLE honest AS SELECT 'a' AS location, 'u' AS user")
        con.execute("CREATE TABLE kept2 AS FROM kept")
        con.execute("CREATE VIEW visits AS FROM kept2")
        con.execute("DROP TABLE kept2")
    kept2 = kept
    with pytest.raises(LocentropyError) as refused:
        le.private.exact_profile(le.Visits(tmp_path / "m.duckdb", table="visits", views=True))
    assert kept2 is kept
    assert SECRET not in str(refused.value)


def test_views_are_said_of_databases_alone(tmp_path: Path, secret: Path) -> None:
    for source in (secret, pa.table({"user": ["u"], "location": ["a"]})):
        with pytest.raises(ParameterError, match="views"):
            le.private.exact_profile(le.Visits(source, views=True))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet", "duckdb"])
def test_a_name_is_never_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """DuckDB takes file:/a/b for /a/b, so that a folder of this name could have it open any file."""
    monkeypatch.chdir(tmp_path)
    written = {}
    for folder, user in ((Path("private"), SECRET), (Path(f"file:{tmp_path}/private"), "u")):
        folder.mkdir(parents=True)
        written[user] = folder / f"v.{ending}"
        with duckdb.connect() as con:
            rows = f"(SELECT '{user}' AS user, '{user}' AS location)"
            made = tmp_path / f"made-{len(written)}"
            if ending == "duckdb":
                database(made, f"CREATE TABLE visits AS FROM {rows}")
            else:
                how = {
                    "csv": "csv",
                    "csv.gz": "csv, compression gzip",
                    "jsonl": "json",
                    "parquet": "parquet",
                }[ending]
                con.execute(f"COPY {rows} TO '{made}' (FORMAT {how})")
            made.rename(written[user])
    found = le.private.exact_profile(le.Visits(str(written["u"])))
    assert found.locations.to_pylist() == ["u"]


def test_names_of_folders_are_no_columns(tmp_path: Path) -> None:
    """As `user=7/part.parquet` is a column to others, and a list by somebody else may be in such a folder."""
    folder = tmp_path / f"user={SECRET}" / "location=x" / "c0=y"
    folder.mkdir(parents=True)
    for ending, how in (("csv", "csv"), ("jsonl", "json"), ("parquet", "parquet")):
        path = folder / f"v.{ending}"
        duckdb.sql(f"COPY (SELECT 'u' AS user, 'a' AS location) TO '{path}' (FORMAT {how})")
        assert le.private.exact_profile(le.Visits(path)).locations.to_pylist() == ["a"]


def test_parquet_that_names_another_file_for_its_columns_is_refused(tmp_path: Path) -> None:
    other, path = tmp_path / "other.parquet", tmp_path / "places.parquet"
    pq.write_table(pa.table({"location": [SECRET]}), other)
    pq.write_table(pa.table({"location": ["a"]}), path)
    about, footer = pq.read_metadata(path), io.BytesIO()
    about.set_file_path(str(other))
    about.write_metadata_file(footer)
    content = path.read_bytes()
    data = content[: -8 - int.from_bytes(content[-8:-4], "little")]
    path.write_bytes(data + footer.getvalue()[4:])
    with pytest.raises(SourceError) as refused:
        PublicLocations(path).load()
    assert SECRET not in str(refused.value)


def test_formulas_and_links_of_a_workbook_mean_nothing(tmp_path: Path, secret: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["user", "location"], ["u", "a"], ["u", f"='{secret.parent}/[{secret.name}]private'!A2"]):
        book.active.append(row)
    book.active["B2"].hyperlink = secret.as_uri()
    book.save(tmp_path / "v.xlsx")
    found = le.private.exact_profile(le.Visits(tmp_path / "v.xlsx", bad_rows="drop"))
    assert found.locations.to_pylist() == ["a"]


def test_an_entity_in_a_workbook_is_not_looked_up(tmp_path: Path, secret: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["user", "location"], ["u", "PLACE"]):
        book.active.append(row)
    book.save(tmp_path / "plain.xlsx")
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'.encode()
    with ZipFile(tmp_path / "plain.xlsx") as plain, ZipFile(tmp_path / "v.xlsx", "w") as hostile_book:
        for name in plain.namelist():
            content = plain.read(name).replace(b"PLACE", b"&e;")
            at = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
            hostile_book.writestr(name, content[:at] + entity + content[at:])
    with pytest.raises(LocentropyError) as refused:
        le.private.exact_profile(le.Visits(tmp_path / "v.xlsx"))
    assert SECRET not in str(refused.value)


def test_rows_of_a_database_still_spill_to_disk(tmp_path: Path) -> None:
    path = database(
        tmp_path / "large.duckdb",
        "CREATE TABLE visits AS SELECT hash(i)::VARCHAR AS user, (i % 50)::VARCHAR AS location FROM range(600000) r(i)",
    )
    small = le.Resources(memory="60MB", threads=1, spill=tmp_path)
    found = le.private.exact_profile(le.Visits(path), resources=small)
    assert int(found.user_counts.sum()) == 600_000
