"""Public attributes: columns of the list that a mechanism may use, and never of the visits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import locentropy as le
from locentropy.core.attributes import MAX_LEVELS, MAX_VALUE, RESERVED, check_attribute_names
from locentropy.core.errors import ColumnError, LocentropyError, ParameterError
from locentropy.core.locations import Locations
from locentropy.release.columns import COLUMNS
from locentropy.release.tables import GEOMETRY

FRAME = pd.DataFrame(
    {
        "venue_id": ["a", "b", "c", "d"],
        "lat": [1.0, 2.0, None, 4.0],
        "lon": [5.0, 6.0, 7.0, 8.0],
        "category": ["café", "bar", "café", None],
        "opened": [1999, 2004, 1999, 2004],
        "indoors": [True, False, True, True],
        "area": [1.5, 2.5, 3.5, 4.5],
        "code": ["007", "007", "8", "8"],
    }
)


def written(folder: Path, kind: str) -> Any:
    if kind == "csv":
        FRAME.to_csv(folder / "places.csv", index=False)
        return folder / "places.csv"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pandas(FRAME), folder / "places.parquet")
        return folder / "places.parquet"
    if kind == "duckdb":
        with duckdb.connect(str(folder / "places.duckdb")) as con:
            con.register("frame", FRAME)
            con.execute("CREATE TABLE places AS FROM frame")
        return folder / "places.duckdb"
    return FRAME


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "frame"])
def test_columns_of_the_list(kind: str, tmp_path: Path) -> None:
    places = le.PublicLocations(
        written(tmp_path, kind), attributes=["coordinates", "category", "opened", "code"]
    )
    assert places.attributes == ("category", "opened", "code", "coordinates"), "coordinates come last"
    found = places.load()
    assert found.attribute_names == places.attributes
    assert found.leans_on_coordinates
    assert found.attributes["category"].to_pylist() == ["café", "bar", "café", None]
    assert found.attributes["opened"].to_pylist() == [1999, 2004, 1999, 2004]
    assert found.attributes["opened"].type == pa.int64()
    assert found.attributes["code"].to_pylist() == ["007", "007", "8", "8"], "as they are written"


def test_flags_and_classes() -> None:
    frame = FRAME.assign(category=FRAME["category"].astype("category"))
    found = le.PublicLocations(frame, attributes=["indoors", "category"]).load()
    assert found.attributes["indoors"].to_pylist() == [True, False, True, True]
    assert found.attributes["category"].type == pa.string()


def test_what_is_not_declared_stays_out() -> None:
    found = le.PublicLocations(FRAME).load()
    assert dict(found.attributes) == {}
    assert not found.leans_on_coordinates
    assert found.lat is not None


def test_excluded_places_take_their_attributes_along() -> None:
    found = le.PublicLocations(FRAME, attributes=["category", "coordinates"]).load()
    left = found.without(Locations.of(["b"]))
    assert left.attributes["category"].to_pylist() == ["café", "café", None]
    assert left.leans_on_coordinates
    np.testing.assert_array_equal(left.lon, [5.0, 7.0, 8.0])


@pytest.mark.parametrize(
    ("names", "word"),
    [
        ("category", "list of columns"),
        (["category", "Category"], "once"),
        (["name"], "tells places apart"),
        (["Lat"], "coordinates"),
        (["Entropy"], "Rename"),
        (["geometry"], "coordinates"),
        (["Coordinates"], "by case only"),
        ([""], "printable"),
        (["x" * 61], "printable"),
        ([3], "printable"),
        ([f"a{number}" for number in range(9)], "at most 8"),
    ],
)
def test_names_that_cannot_be_columns_of_a_release(names: Any, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        le.PublicLocations(FRAME, attributes=names)
    with pytest.raises(ParameterError, match=word):
        le.plan(le.Shares(epsilon=1.0), attributes=names)


@pytest.mark.parametrize(
    ("attribute", "word"),
    [
        ("missing", "--attribute missing.*Its columns: 'venue_id'.*never from the visits"),
        ("area", "DOUBLE.*Make classes"),
        ("venue_id", "another value at every place"),
    ],
)
def test_columns_that_are_no_attributes(attribute: str, word: str) -> None:
    with pytest.raises(LocentropyError, match=word):
        le.PublicLocations(FRAME, attributes=[attribute]).load()


def test_the_same_everywhere_tells_nothing() -> None:
    with pytest.raises(ParameterError, match="same value at every place"):
        le.PublicLocations(FRAME.assign(city="Here"), attributes=["city"]).load()


def test_coordinates_that_are_not_there() -> None:
    with pytest.raises(ColumnError, match="--places-lat"):
        le.PublicLocations(FRAME.drop(columns=["lat", "lon"]), attributes=["coordinates"]).load()
    with pytest.raises(ColumnError, match="Rename the column"):
        le.PublicLocations(FRAME.assign(coordinates="1,2"), attributes=["coordinates"]).load()


def test_a_plain_list_has_no_columns() -> None:
    with pytest.raises(ParameterError, match="plain list of ids has none"):
        le.PublicLocations(["a", "b"], attributes=["category"]).load()


def test_limits() -> None:
    ids = pa.array(range(MAX_LEVELS + 2))
    many = pa.array([number // 2 * 2 for number in range(2)] + list(range(MAX_LEVELS)), pa.int64())
    Locations(ids, attributes={"fits": many})
    with pytest.raises(ParameterError, match=r"10,001 different values"):
        Locations(ids, attributes={"many": pa.array([0, *range(MAX_LEVELS + 1)], pa.int64())})
    long = pa.array(["x" * (MAX_VALUE + 1)] * len(ids))
    with pytest.raises(ParameterError, match="no description"):
        Locations(ids, attributes={"long": long})
    with pytest.raises(ParameterError, match="has type double"):
        Locations(ids, attributes={"real": pa.array([0.5] * len(ids))})
    with pytest.raises(ParameterError, match="one entry for each"):
        Locations(ids, attributes={"short": pa.array(["x"])})


def test_reserved_names_are_those_of_a_release() -> None:
    assert {*COLUMNS, GEOMETRY} == RESERVED
    assert check_attribute_names(()) == ()


def test_the_visits_themselves_are_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pre-counted table may name each place once; its columns are those of the visits all the same."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"user": [1, 2], "location": ["a", "b"], "visits": [1, 2], "kind": ["x", "y"]})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "visits.parquet")
    shares = le.Shares(epsilon=1.0)
    for visits, places in (
        (le.Visits(tmp_path / "visits.parquet"), le.PublicLocations("visits.parquet")),
        (
            le.Visits("visits.parquet"),
            le.PublicLocations(str(tmp_path / "visits.parquet"), attributes=["kind"]),
        ),
        (le.Visits(frame), le.PublicLocations(frame, attributes=["kind"])),
    ):
        with pytest.raises(ParameterError, match="same table"):
            le.publish(visits, shares, places, ledger=None)
        with pytest.raises(ParameterError, match="same table"):
            le.evaluate(visits, [shares], places, seeds=1)


def test_two_tables_of_one_database_are_two_tables() -> None:
    places = le.PublicLocations("city.duckdb", table="places")
    assert not places.is_same_table(le.Visits("city.duckdb", table="visits"))
    assert not le.PublicLocations(["a"]).is_same_table(le.Visits(["a"]))
