"""`locentropy datasets sparse` and `dense`: files that are the generator's, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy_lab.zipf import ZipfVisits
from tests.cli.test_commands import locentropy


def test_sparse_is_the_generator_s(tmp_path: Path) -> None:
    done = locentropy("datasets", "sparse", "--out", "s.parquet", "--seed", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "s.parquet").equals(ZipfVisits.sparse(seed=3).table())


def test_dense_as_data_and_as_its_profile(tmp_path: Path) -> None:
    for option, name in (("--out", "d.parquet"), ("--profile", "p.parquet")):
        done = locentropy("datasets", "dense", option, name, "--users", "500", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    table = ZipfVisits.dense(users=500).table()
    assert pq.read_table(tmp_path / "d.parquet").equals(table)
    profile = le.private.exact_profile(le.Visits(table))
    assert pq.read_table(tmp_path / "p.parquet").equals(profile.to_arrow())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sparse", "--out", "mine.parquet"], "mine.parquet already exists"),
        (["sparse", "--out", "mine.csv"], "--out mine.parquet"),
        (["dense", "--profile", "mine.parquet"], "mine.parquet already exists"),
        (["dense"], "--out dense.parquet"),
        (["dense", "--out", "a.parquet", "--profile", "b.parquet"], "Choose one of --out"),
    ],
)
def test_what_is_refused_changes_nothing(arguments: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").write_text("mine")
    done = locentropy("datasets", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.parquet"]
    assert (tmp_path / "mine.parquet").read_text() == "mine"
