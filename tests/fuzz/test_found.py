"""Inputs that a reader once could not stand, found by feeding them or by thinking of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import LocentropyError, ReleaseError, SourceError
from locentropy.core.strict_yaml import read_document
from locentropy.publishing.publication_file import locked_publication
from tests.fuzz.budgets import ORDER


@pytest.mark.parametrize(
    "content",
    [
        "a: 1"
        + ":1" * 5000,  # in sixties: the time grows with the square of the length, 16 s at half a megabyte
        "a: 1" + ":1" * 5000 + ".5",  # likewise, and beyond what a float holds
        "a: !!int ''",
        "a: !!float ''",
        "a: !!bool maybe",
        "a: !!timestamp now",
        "!!set {a, b}",
        "a: &x 1\nb: *x",
        "a: 1\na: 2",
        "[" * 100_000,
        "a: " + "9" * 5000,
    ],
)
def test_documents(content: str, tmp_path: Path) -> None:
    path = tmp_path / "details.yaml"
    path.write_text(content)
    with pytest.raises(ReleaseError, match="not a YAML file as a release has it"):
        read_document(path)


def test_numbers_and_words_of_documents_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "details.yaml"
    path.write_text("a: 12\nb: -1.5e-7\nc: true\nd: null\ne: '1'\nf: 1e-6\n")
    expected = {"a": 12, "b": -1.5e-7, "c": True, "d": None, "e": "1", "f": "1e-6"}
    assert read_document(path) == expected


def test_a_column_of_a_parquet_file_whose_name_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"user": [1], "location": [2], "nameless": [3]}), path)
    path.write_bytes(path.read_bytes().replace(b"nameless", b"name\xffess"))
    with pytest.raises(SourceError, match=r"rows\.parquet: cannot be read as Parquet"):
        le.private.exact_profile(le.Visits(path))


def test_more_columns_than_any_table_has(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("user,location" + ",x" * 100_000 + "\n")
    for read in (lambda: le.private.exact_profile(le.Visits(path)), le.PublicLocations(path).load):
        with pytest.raises(SourceError, match=r"rows\.csv: the first line has more than 4,096 fields"):
            read()


def test_a_claim_of_lists_in_lists(tmp_path: Path) -> None:
    path = tmp_path / ".may.publishing"
    path.touch(mode=0o600)
    path.write_text("[" * 100_000)
    with (
        pytest.raises(LocentropyError, match="not a file that an interrupted attempt leaves"),
        locked_publication(tmp_path / "may", ORDER, None),
    ):
        pass
    assert path.exists(), "what is not ours is not removed"
