"""What is wrong with several columns is told in one error: names, types and clocks, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError

MAY = le.Window("2026-05", zone="Europe/Berlin")
TABLE = pa.table({"member": [1.5], "ort": ["a"], "at": [datetime(2026, 5, 3)], "time": [7], "breite": [True]})
SOURCES: dict[str, Callable[[Path], Any]] = {
    "Arrow": lambda _: TABLE,
    "pandas": lambda _: TABLE.to_pandas(),
    "Parquet": lambda at: pq.write_table(TABLE, at / "v.parquet") or at / "v.parquet",
    "Ibis": lambda _: ibis.memtable(TABLE),
}


def refused(visits: le.Visits) -> list[str]:
    """The lines of the error."""
    with pytest.raises(ColumnError) as caught:
        le.private.exact_profile(visits)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("source", SOURCES)
def test_a_name_a_type_and_a_clock_are_told_together(source: str, tmp_path: Path) -> None:
    visits = le.Visits(SOURCES[source](tmp_path), user="member", location="place", time="at").during(MAY)
    name, kind, clock = refused(visits)
    assert "location='place' (--location place) is not a column. Columns found: 'member', 'ort', 'at'" in name
    assert "the user column 'member' holds floating-point numbers" in kind
    assert "the time column 'at': its times name no zone" in clock
    assert "--time-type local" in clock


def test_names_that_are_missing_and_ambiguous_are_told_together() -> None:
    person, time = refused(le.Visits(TABLE, location="ort").during(MAY))
    assert "no user column was recognised. Columns found: 'member'" in person
    assert "--user member" in person
    assert "the time column is ambiguous: 'at' and 'time' have usual names. Choose: time='at'" in time


def test_advice_about_a_file_without_a_header_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("rider,station,left_at\nann,7,2026-05-01\n")
    person, place, time = refused(le.Visits(path).during(MAY))
    assert "If the first line is not a header" in person
    assert "If the first line" not in place + time
    assert "(--location shop)" in place


def test_types_of_several_columns_are_told_together() -> None:
    table = TABLE.append_column("laenge", pa.array([1.0]))
    person, lat = refused(
        le.Visits(table, user="member", location="ort", time=None, lat="breite", lon="laenge")
    )
    assert "'member'" in person
    assert "the lat column 'breite' has type BOOLEAN" in lat


def test_a_coordinate_that_is_not_there_is_told_once() -> None:
    """And not as one that the other lacks."""
    [problem] = refused(le.Visits(TABLE, user="ort", location="time", time=None, lat="y", lon="member"))
    assert "lat='y' (--lat y) is not a column" in problem


def test_what_is_wrong_with_times_names_the_column_and_the_reason(tmp_path: Path) -> None:
    """Not "are not times", of times that are some."""
    path = tmp_path / "visits.csv"
    path.write_text("user,location,began\na,x,2026-05-03T08:00:00\nb,y,2026-05-03T09:00:00\nc,z,soon\n")
    visits = le.Visits(path, time="began")
    with pytest.raises(BadRowsError) as caught:
        le.private.exact_profile(visits.during(MAY))
    said = str(caught.value)
    assert "column 'began': times name no zone\n" in said
    assert "column 'began': values are missing or are not times" in said
    assert "--time-type local" in said
    with pytest.raises(BadRowsError) as caught:
        le.private.exact_profile(le.Visits(path, time="began", time_type="local").during(MAY))
    assert "name no zone" not in str(caught.value)
