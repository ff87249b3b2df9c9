"""A file that is replaced while it is read: rows that nobody has checked are not counted, and nothing is spent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import SourceError
from locentropy.visits.readers.base import FileFingerprints
from locentropy.visits.readers.resolve import resolve_source
from tests.publishing.making import LIMIT, PLACES, ledger_in, names, public

ROWS = pa.table({"user": [f"u{n}" for n in range(12)], "location": [PLACES[n % 3] for n in range(12)]})


def rewritten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[::-1])


def replaced(path: Path) -> None:
    """By a file of the same size and time."""
    other = path.with_name("other")
    other.write_bytes(path.read_bytes()[::-1])
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


def touched_back(path: Path) -> None:
    """Rewritten, with the old time put back."""
    before = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"x")


def redirected(path: Path) -> None:
    """A link that leads elsewhere now."""
    other = path.with_name("elsewhere")
    other.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(other)


@pytest.mark.parametrize("change", [rewritten, replaced, touched_back, longer, redirected, Path.unlink])
def test_changes_are_noticed(change: Callable[[Path], None], tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(b"some rows")
        os.utime(path, ns=(0, 10**18))  # long ago: clocks of file systems have coarse steps
    seen = FileFingerprints.of(paths)
    seen.check()
    assert [path.read_bytes() for path in paths] == [b"some rows"] * 2
    seen.check()  # to read is no change
    change(paths[1])
    with pytest.raises(SourceError, match=rf"{paths[1]}.*(was changed or replaced|any more)"):
        seen.check()


def in_csv(path: Path) -> None:
    pa.csv.write_csv(ROWS, path)


def in_parquet(path: Path) -> None:
    pq.write_table(ROWS, path)


def in_duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE visits AS FROM ROWS")


MAKERS = [in_csv, in_parquet, in_duckdb]


@pytest.mark.parametrize("make", MAKERS)
def test_every_part_knows_its_files(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "rows"
    make(path)
    with duckdb.connect() as con:
        [part] = resolve_source(con, le.Visits(path), tmp_path)
        assert [known for known, _ in part.fingerprints.entries] == [path]
        part.fingerprints.check()
        longer(path)
        with pytest.raises(SourceError, match="while it was read"):
            part.fingerprints.check()


def test_tables_in_memory_have_no_files(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        [part] = resolve_source(con, le.Visits(ROWS), tmp_path)
        assert part.fingerprints == FileFingerprints()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("moment", ["Checking", "Counting visits"])
def test_publishing(moment: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    """Swapped after the checks, or during the last time that it is read."""
    path = tmp_path / "rows"
    make(path)
    other = tmp_path / "newer"
    make(other)
    ledger = ledger_in(tmp_path)

    def progress(doing: str, fraction: float | None) -> None:
        if doing == moment and other.exists():
            other.replace(path)

    call: dict[str, Any] = {"out": tmp_path / "may", "ledger": ledger}
    with pytest.raises(SourceError, match="was changed or replaced while it was read"):
        le.publish(le.Visits(path), LIMIT, public(), progress=progress, **call)
    assert not other.exists(), "the moment came"
    assert not ledger.history()
    assert names(tmp_path) == ["city.ledger", "rows"]
    le.publish(le.Visits(path), LIMIT, public(), progress=progress, **call)
    assert len(ledger.history()) == 1


@pytest.mark.parametrize("number", [0, 1])
def test_each_of_several_files_is_looked_at(number: int, tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    for name in ("0.csv", "1.csv"):
        in_csv(folder / name)
    other = tmp_path / "newer"
    in_csv(other)

    def progress(doing: str, fraction: float | None) -> None:
        if doing == "Counting visits" and other.exists():
            other.replace(folder / f"{number}.csv")

    with pytest.raises(SourceError, match=rf"{number}\.csv.* was changed or replaced"):
        le.publish(le.Visits(folder), LIMIT, public(), progress=progress, ledger=None)
