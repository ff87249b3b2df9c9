"""Columns of the public list: which travel into a release, in which types, and what is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.attributes import MAX_NAME, MAX_VALUE, RESERVED
from locentropy.core.errors import ColumnError, LocentropyError, ParameterError
from locentropy.core.locations import Locations
from locentropy.core.public_columns import MAX_COLUMNS, check_column_names
from locentropy.places.list_columns import typed_texts

TEXT = """venue,name,lat,lon,category,opened,rating,code,lit,since
a,Bar,1.0,5.0,bar,1999,4.5,007,true,2020-01-02
b,Café,2.0,6.0,café,2004,3.25,008,false,2021-12-31
c,Pier,3.0,7.0,,,2,,,
"""


def as_table() -> pa.Table:
    return pa.table(
        {
            "venue": ["a", "b", "c"],
            "name": ["Bar", "Café", "Pier"],
            "lat": [1.0, 2.0, 3.0],
            "lon": [5.0, 6.0, 7.0],
            "category": ["bar", "café", None],
            "opened": pa.array([1999, 2004, None], pa.int16()),
            "rating": [4.5, 3.25, 2.0],
            "code": ["007", "008", None],
            "lit": [True, False, None],
            "since": [date(2020, 1, 2), date(2021, 12, 31), None],
        }
    )


def source(folder: Path, kind: str) -> Any:
    if kind == "csv":
        (folder / "places.csv").write_text(TEXT)
        return folder / "places.csv"
    if kind == "parquet":
        pq.write_table(as_table(), folder / "places.parquet")
        return folder / "places.parquet"
    return as_table() if kind == "arrow" else as_table().to_pandas(types_mapper=None)


NAMED = ("category", "opened", "rating", "code", "lit", "since")


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "pandas"])
def test_no_column_is_published_that_nobody_named(kind: str, tmp_path: Path) -> None:
    read = le.PublicLocations(source(tmp_path, kind)).read()
    assert not read.places.columns
    assert not read.places.attributes
    assert read.places.names is not None
    assert read.places.lat is not None
    assert read.left_out == NAMED


@given(st.sets(st.sampled_from(NAMED)), st.sets(st.sampled_from(("category", "lit")), max_size=2))
def test_what_is_published_is_what_is_named(named: set[str], attributes: set[str]) -> None:
    read = le.PublicLocations(
        as_table().set_column(4, "category", [["bar", "café", "bar"]]),
        publish_columns=sorted(named),
        attributes=sorted(attributes - {"lit"}),
    ).read()
    found = {*read.places.columns, *read.places.attributes}
    assert found == named | (attributes - {"lit"})
    assert {*read.left_out} == {*NAMED} - found
    assert list(read.places.columns) == [name for name in NAMED if name in read.places.columns], "as listed"


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_columns_travel_in_their_types(kind: str, tmp_path: Path) -> None:
    found = le.PublicLocations(source(tmp_path, kind), publish_columns=NAMED[::-1]).load()
    assert {name: values.type for name, values in found.columns.items()} == {
        "category": pa.string(),
        "opened": pa.int64(),
        "rating": pa.float64(),
        "code": pa.string(),
        "lit": pa.bool_(),
        "since": pa.date32(),
    }
    expected = as_table()
    for name, values in found.columns.items():
        assert values.to_pylist() == expected[name].to_pylist()
    assert not found.attributes


def test_an_attribute_is_a_column_that_is_used(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(TEXT.replace("2004", "1999"))
    found = le.PublicLocations(
        tmp_path / "p.csv", attributes=["opened"], publish_columns=["opened", "code"]
    ).load()
    assert list(found.attributes) == ["opened"]
    assert list(found.columns) == ["code"]


def test_names_and_coordinates_can_be_left_out(tmp_path: Path) -> None:
    path = source(tmp_path, "csv")
    read = le.PublicLocations(path, name=None, lat=None, lon=None, publish_columns=["category", "name"])
    with pytest.raises(ColumnError, match="'name': every release has a column of that name"):
        read.read()
    read = le.PublicLocations(path, name=None, lat=None, lon=None, publish_columns=["category"]).read()
    assert read.places.names is None
    assert read.places.lat is None
    assert list(read.places.columns) == ["category"]
    assert read.left_out == ("name", "lat", "lon", *NAMED[1:])
    assert le.PublicLocations(path, publish_columns=["name", "lat", "venue"]).read().left_out == NAMED
    with pytest.raises(ColumnError, match="'coordinates' needs coordinates"):
        le.PublicLocations(path, lat=None, lon=None, attributes=["coordinates"]).load()


def test_wrong_names_of_columns(tmp_path: Path) -> None:
    path = source(tmp_path, "csv")
    with pytest.raises(
        ColumnError, match=r"names 'ratings' \(--publish-column ratings\), which is not a column of the list"
    ):
        le.PublicLocations(path, publish_columns=["ratings"]).load()
    for wrong in ("rating", [""], [7], {"rating": 1}, None):
        with pytest.raises(ParameterError, match="must be a list of columns"):
            le.PublicLocations(path, publish_columns=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="a plain list of ids has none"):
        le.PublicLocations(["a"], publish_columns=["rating"]).load()


@pytest.mark.parametrize("given", [["rating"], []])
def test_what_an_earlier_version_took_is_told(given: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"drop_columns is gone.*publish_columns \(--publish-column\)"):
        le.PublicLocations("places.csv", drop_columns=given)


def with_column(name: str, values: Any = ("x", "y")) -> le.PublicLocations:
    return le.PublicLocations(pa.table({"venue": ["a", "b"], name: pa.array(values)}), publish_columns=[name])


@pytest.mark.parametrize(
    "name",
    [*sorted(RESERVED - {"location", "name", "lat", "lon"}), "ENTROPY", "=cmd()", "+1", "-x", "@sum", "a\nb", "\u202eb",
     "x" * (MAX_NAME + 1), "user_id", "uid", "Person"],
)  # fmt: skip
def test_hostile_names_are_refused_where_they_are_named(name: str) -> None:
    places = with_column(name)
    with pytest.raises(
        ColumnError, match=r"some columns of the list are named to be published, and cannot be\."
    ):
        places.load()
    assert not le.PublicLocations(places.source).load().columns


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"x", b"y"]),
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([1, 2], pa.timestamp("us")),
        pa.array([1, 2], pa.time64("us")),
    ],
    ids=lambda values: str(values.type),
)
def test_types_that_a_release_does_not_carry_are_refused(values: pa.Array) -> None:
    with pytest.raises(ColumnError, match=r"'odd': it has type"):
        with_column("odd", values).load()
    assert le.PublicLocations(with_column("odd", values).source).read().left_out == ("odd",)


def test_limits() -> None:
    with pytest.raises(ParameterError, match=f"more than {MAX_VALUE} characters"):
        with_column("about", ["x" * (MAX_VALUE + 1), "y"]).load()
    with pytest.raises(ParameterError, match="not finite"):
        with_column("size", [float("inf"), 1.0]).load()
    assert with_column("size", [float("nan"), 1.0]).load().columns["size"].to_pylist() == [None, 1.0]
    many = {f"c{at}": ["x", "y"] for at in range(MAX_COLUMNS + 2)}
    table = pa.table({"venue": ["a", "b"], **many})
    with pytest.raises(ColumnError, match=rf"at most {MAX_COLUMNS}\. Name fewer"):
        le.PublicLocations(table, publish_columns=list(many)).load()
    most = le.PublicLocations(table, publish_columns=list(many)[2:]).read()
    assert len(most.places.columns) == MAX_COLUMNS
    assert most.left_out == ("c0", "c1")


def test_columns_without_a_name_are_left_out(tmp_path: Path) -> None:
    """As pandas writes its index."""
    (tmp_path / "p.csv").write_text(",venue,kind\n0,a,x\n1,b,y\n")
    assert le.PublicLocations(tmp_path / "p.csv").read().left_out == ("kind",)


def test_twins_are_refused() -> None:
    table = pa.table({"venue": ["a", "b"], "Kind": ["x", "y"], "KIND": ["x", "y"]})
    with pytest.raises(LocentropyError, match="upper and lower case"):
        le.PublicLocations(table, publish_columns=["Kind", "KIND"]).load()
    assert list(le.PublicLocations(table, publish_columns=["KIND"]).load().columns) == ["KIND"]


def test_a_list_to_exclude_is_read_for_its_ids_only(tmp_path: Path) -> None:
    """Nothing else of it is published, so nothing else can be wrong with it."""
    (tmp_path / "clinics.csv").write_text(f"venue,user_id,visits,lat,lon\na,u7,3,{'9' * 5},x\n")
    assert le.PublicLocations(tmp_path / "clinics.csv").load(only_ids=True).ids.to_pylist() == ["a"]


def test_locations_check_their_columns() -> None:
    ids = pa.array(["a", "b"])
    with pytest.raises(ParameterError, match="one entry for each place"):
        Locations(ids, columns={"kind": pa.array(["x"])})
    with pytest.raises(ParameterError, match="has type"):
        Locations(ids, columns={"kind": pa.array([1, 2], pa.int32())})
    with pytest.raises(ParameterError, match="twice"):
        Locations(ids, attributes={"kind": pa.array(["x", "y"])}, columns={"Kind": pa.array(["x", "y"])})
    kept = Locations(ids, columns={"kind": pa.array(["x", "y"])}).without(Locations.of(["a"]))
    assert kept.columns["kind"].to_pylist() == ["y"]


def test_names_that_a_release_may_have() -> None:
    assert check_column_names(["kind", "coordinates"]) == ("kind", "coordinates")
    for wrong in ("kind", [1], [""], ["a", "A"], ["entropy"], [f"c{at}" for at in range(MAX_COLUMNS + 1)]):
        with pytest.raises(ParameterError):
            check_column_names(wrong)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1).map(str), min_size=1))
def test_whole_numbers_are_whole_numbers(texts: list[str | None]) -> None:
    typed = typed_texts(pa.array(texts, pa.string()))
    if any(text is not None for text in texts):
        assert typed.type == pa.int64()
    assert typed.cast(pa.string()).to_pylist() == texts


@given(st.lists(st.none() | st.text(alphabet="0123456789.-+eE truefalsTFx\n", max_size=12), min_size=1))
def test_typing_merges_no_two_values(texts: list[str | None]) -> None:
    typed = typed_texts(pa.array(texts, pa.string()))
    assert len(typed.unique()) == len(set(texts))
    assert typed.is_null().to_pylist() == [text is None for text in texts]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1.5", "2"], pa.float64()),
        (["1.1", "1.10"], pa.string()),
        (["007"], pa.string()),
        (["1e5"], pa.string()),
        (["nan", "inf"], pa.string()),
        (["2024-02-30"], pa.string()),
        (["2024-02-29"], pa.date32()),
        (["True", "False"], pa.bool_()),
        (["true", "False"], pa.string()),
        (["9223372036854775808"], pa.string()),
        (["-0"], pa.string()),
        (["-0.0", "1.5"], pa.string()),
        (["-0.5", "1.5"], pa.float64()),
    ],
)
def test_what_becomes_what(texts: list[str], kind: pa.DataType) -> None:
    assert typed_texts(pa.array(texts)).type == kind
