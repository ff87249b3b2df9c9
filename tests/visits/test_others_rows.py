"""How a person's rows are read and bounded does not depend on what others have written."""

from __future__ import annotations

from hashlib import md5
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import ColumnError, ParameterError
from locentropy.visits.engines.base import Resources

from .reference import as_counter

# Two texts of one md5, by Marc Stevens (2024).
ALIKE = [f"TEXTCOLLBYfGiJUETHQ4h{x}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak" for x in "AE"]


class TestFilesWithoutAHeader:
    """Their first line is somebody's visit: once it chose the separator, and by it everybody's fields."""

    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("first", ["eve{0}cafe{0}a,b,c;d|e\tf", "eve;cafe,a|b", 'eve{0}cafe{0}"a"'])
    def test_the_first_row_does_not_choose_the_separator(
        self, first: str, separator: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "visits.txt"
        others = "".join(f"u{i}{separator}bar{separator}note\n" for i in range(20))
        asked = le.Visits(
            path, columns=("user", "location", "note"), delimiter=separator, bad_rows="drop", ids="text"
        )
        path.write_text(others + f"{first.format(separator)}\n")
        expected = as_counter(le.private.profile(asked, le.private.Bounds(1, 1), locations=["bar"]))
        assert expected == {("bar", 1): 20}
        path.write_text(f"{first.format(separator)}\n" + others)
        assert as_counter(le.private.profile(asked, le.private.Bounds(1, 1), locations=["bar"])) == expected

    def test_commas_unless_said_otherwise(self, tmp_path: Path) -> None:
        named = {"columns": ("user", "location"), "bad_rows": "drop"}
        path = tmp_path / "visits.csv"
        path.write_text("eve,cafe\nbob,cafe\n")
        assert as_counter(le.private.exact_profile(le.Visits(path, **named))) == {("cafe", 1): 2}
        path.write_text("eve;cafe\nbob;cafe\n")
        with pytest.raises(ParameterError, match=r"1 fields, but 2 .* delimiter=';' \(--delimiter ';'\)"):
            le.private.exact_profile(le.Visits(path, columns=("user", "location")))
        assert as_counter(le.private.exact_profile(le.Visits(path, **named, delimiter=";"))) == {
            ("cafe", 1): 2
        }
        tabs = path.rename(tmp_path / "visits.tsv")
        tabs.write_text("eve\tcafe\nbob\tcafe\n")
        assert as_counter(le.private.exact_profile(le.Visits(tabs, **named))) == {("cafe", 1): 2}

    def test_the_first_row_does_not_choose_how_many_fields(self, tmp_path: Path) -> None:
        path = tmp_path / "visits.csv"
        path.write_text("7,cafe,x\n8,cafe\n")
        for header, error, words in (
            (False, ParameterError, "needs names for its columns"),
            (None, ColumnError, "If the first line is not a header, name the columns"),
        ):
            with pytest.raises(error, match=words) as caught:
                le.private.exact_profile(le.Visits(path, header=header, user="column0", location="column1"))
            assert "cafe" not in str(caught.value)

    def test_of_a_header_the_separator_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "visits.csv"
        path.write_text("user|location|a,b;c\n7|cafe|x\n8|cafe|y\n")
        assert as_counter(le.private.exact_profile(le.Visits(path))) == {("cafe", 1): 2}
        named = le.Visits(path, header=True, columns=("who", "where", "more"), user="who", location="where")
        assert as_counter(le.private.exact_profile(named)) == {("cafe", 1): 2}

    def test_separators_that_are_none(self) -> None:
        with pytest.raises(ParameterError, match=r"delimiter='::' is not one of ',', '\\t', ';', '\|'"):
            le.Visits("visits.csv", delimiter="::")
        with pytest.raises(ParameterError, match="is for text files"):
            le.private.exact_profile(le.Visits(pa.table({"user": [1], "location": [1]}), delimiter=","))


def test_lowest_ids_are_the_same_whatever_type_others_make_them(tmp_path: Path) -> None:
    """A number beyond 64 bits makes texts of all ids: the order of two of them stays."""
    here = pa.table({"user": [i for i in range(50) for _ in "ab"], "location": [-5, 3] * 50})
    pq.write_table(here, tmp_path / "a.parquet")

    def kept() -> dict:
        bounds = le.private.Bounds(1, 1, "lowest-id")
        found = as_counter(le.private.profile(le.Visits(tmp_path), bounds, locations=[-5, 3]))
        return {int(place): users for (place, _), users in found.items()}

    alone = kept()
    pq.write_table(
        pa.table({"user": [99], "location": pa.array([2**63], pa.uint64())}), tmp_path / "b.parquet"
    )
    assert kept() == alone == {3: 50}


def test_ids_of_one_md5_keep_their_order() -> None:
    assert len({md5(text.encode()).hexdigest() for text in ALIKE}) == 1
    users, places = [str(i) for i in range(500) for _ in ALIKE], ALIKE * 500

    def kept(others: int) -> str:
        table = pa.table(
            {
                "user": users + ["eve"] * others,
                "location": places + [f"p{i}" for i in range(others)],
            }
        )
        found = le.private.profile(le.Visits(table), le.private.Bounds(1, 1), resources=Resources(threads=2))
        [place] = [place for (place, _), users in as_counter(found).items() if users == 500]
        return place

    assert {kept(100 * number) for number in range(30)} == {ALIKE[0]}
