"""`locentropy datasets sparse` and `dense`, which come with the lab."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

import locentropy as le
from tests.cli.running import in_process


def test_they_are_made(tmp_path: Path) -> None:
    def datasets(*arguments: object) -> int:
        return in_process("datasets", *arguments, cwd=tmp_path).returncode

    assert datasets("sparse", "--out", "s.parquet") == 0
    assert datasets("dense", "--users", 150_000, "--out", "d.parquet") == 0
    assert datasets("dense", "--users", 150_000, "--profile", "p.parquet") == 0
    reduced = pq.read_table(tmp_path / "p.parquet")
    assert reduced.equals(le.private.exact_profile(le.Visits(tmp_path / "d.parquet")).to_arrow())
    done = in_process("datasets", "dense", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_they_are_never_written_over_others(tmp_path: Path) -> None:
    (tmp_path / "sparse.parquet").write_text("somebody's")
    done = in_process("datasets", "sparse", cwd=tmp_path)
    assert done.returncode == 2
    assert "sparse.parquet already exists" in done.stderr
    assert (tmp_path / "sparse.parquet").read_text() == "somebody's"
    assert in_process("datasets", "sparse", "--out", "sparse.csv", cwd=tmp_path).returncode == 2
