"""Errors tell what is wrong and never whose row it was: not in their words, notes or traceback, not on the screen."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import EngineError, LocentropyError
from locentropy.visits.private_log import write_private_log
from tests.forking import locentropy

MARKER = "marker-73519"
ROWS = pa.table({"uid": [MARKER, "8"], "place": ["cafe", MARKER]})


def view(folder: Path) -> Any:
    """A view that cannot be computed, because of a value that its engine's error quotes."""
    with duckdb.connect(str(folder / "rows.duckdb")) as con:
        con.execute("CREATE TABLE kept AS FROM ROWS")
        con.execute("CREATE VIEW shown AS SELECT CAST(uid AS INTEGER) AS user, place FROM kept")
    return le.Visits(folder / "rows.duckdb", table="shown", views=True)


def expression(folder: Path) -> Any:
    rows = ibis.connect("duckdb://").create_table("kept", ROWS)
    return le.Visits(rows.mutate(user=rows.uid.cast("int64")).drop("uid"))


def page(folder: Path) -> Any:
    """A Parquet file whose pages, which hold the values, are damaged, and whose footer is not."""
    path = folder / "rows.parquet"
    pq.write_table(ROWS, path, compression="none", use_dictionary=False, write_statistics=False)
    content = path.read_bytes()
    path.write_bytes(content.replace(len(MARKER).to_bytes(4, "little"), b"\xff\xff\xff\x7f", 1))
    assert path.read_bytes() != content
    return le.Visits(path)


@pytest.mark.parametrize("failing", [view, expression, page])
def test_what_the_engine_says_is_for_the_private_log(
    failing: Any, tmp_path: Path, private_log: list[str]
) -> None:
    visits = failing(tmp_path)
    with pytest.raises(EngineError) as caught:
        le.private.exact_profile(visits)
    assert MARKER not in "".join(traceback.format_exception(caught.value))
    assert "private log" in str(caught.value)
    assert private_log, "the operator can find out"
    if failing is not page:
        assert MARKER in "".join(private_log), "the engine's own words did quote the value"


def test_a_private_log_on_a_full_disk(tmp_path: Path) -> None:
    """Python's own handler would print the record it cannot write on the screen."""
    view(tmp_path)
    command = ("entropy", "rows.duckdb", "--table", "shown", "--views", "--private-log", "/dev/full")
    done = locentropy(*command, cwd=tmp_path)
    assert done.returncode == 1
    assert "/dev/full: the private log cannot be written (No space left on device)" in done.stderr
    assert MARKER not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    command = ("entropy", "rows.duckdb", "--table", "shown", "--views", "--private-log", "log")
    assert locentropy(*command, cwd=tmp_path).returncode == EngineError.exit_code
    assert MARKER in (tmp_path / "log").read_text(), "there was something to be quoted"


def test_a_private_log_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(LocentropyError, match="private log cannot be written"):
        write_private_log(tmp_path)


@pytest.mark.parametrize("arguments", [("--user", MARKER), ("--format", MARKER), ("--table", MARKER)])
def test_what_was_typed_is_no_secret(arguments: tuple[str, str], tmp_path: Path) -> None:
    """The search can find: a word of the command line is quoted."""
    (tmp_path / "rows.csv").write_text("user,place\n1,2\n")
    done = locentropy("entropy", "rows.csv", *arguments, cwd=tmp_path)
    assert done.returncode != 0
    assert MARKER in done.stderr
