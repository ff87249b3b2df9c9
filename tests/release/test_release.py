"""A release holds the allowed columns of estimates and a public list, and nothing else."""

from __future__ import annotations

import ast
import math
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from locentropy.core.errors import LocentropyError, ReleaseError
from locentropy.core.estimates import Estimates
from locentropy.core.locations import Locations
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.release import Release

from .making import IDS, NONE, estimates, not_private, places, release, statement

PACKAGE = Path(__file__).parents[2] / "src" / "locentropy"


def test_columns_in_order_with_nulls_where_withheld():
    table = release().to_arrow()
    assert table.column_names == (
        "location name lat lon entropy effective_visitors std_error low high".split()
    )
    assert table["location"].to_pylist() == list(IDS)
    assert table["name"].to_pylist() == ["Place 0", None, "Place 2"]
    assert table["lat"].to_pylist() == [40.5, None, 41.0]
    assert table["entropy"].to_pylist() == [0.5, None, 3.0]
    assert table["effective_visitors"].to_pylist() == [math.exp(0.5), None, pytest.approx(math.exp(3))]
    assert table["std_error"].to_pylist() == [0.1, None, 0.1]
    assert len(release()) == 3


def test_bits_are_for_entropies_only():
    nats, bits = release().to_arrow(), release(entropy_unit="bits").to_arrow()
    for name in ("entropy", "std_error", "low", "high"):
        found = bits[name].to_pylist()
        assert found == [
            None if x is None else pytest.approx(x / math.log(2)) for x in nats[name].to_pylist()
        ]
    for name in ("effective_visitors", "lat", "lon"):
        assert bits[name].equals(nats[name])


def test_without_a_list_there_are_ids_only():
    table = Release.of(estimates(bars=False), None, statement()).to_arrow()
    assert table.column_names == ["location", "entropy", "effective_visitors"]


def test_whole_numbers_stay_whole_numbers():
    ids = pa.array([7, 2**62], pa.int64())
    assert (
        Release.of(estimates(ids), Locations(ids), statement())
        .to_arrow()["location"]
        .equals(pa.chunked_array([ids]))
    )


def test_noise_without_bound_still_gives_a_number():
    huge = Release.of(estimates(("a",), bars=False, entropy=[1e6]), None, statement())
    assert huge.to_arrow()["effective_visitors"].to_pylist() == [math.exp(700)]


def test_to_pandas(monkeypatch):
    frame = release().to_pandas()
    assert list(frame.columns) == release().to_arrow().column_names
    assert frame["entropy"].isna().tolist() == [False, True, False]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ReleaseError, match="pip install pandas"):
        release().to_pandas()


# --- refusals -------------------------------------------------------------------------------------------------------


def test_estimates_without_a_guarantee_need_a_statement_that_says_so():
    with pytest.raises(ReleaseError, match="not private"):
        Release.of(estimates(private=False), places(), statement())
    table = not_private().to_arrow()
    assert table["not_private"].to_pylist() == ["NOT PRIVATE"] * 3
    less = Release.of(estimates(), places(), statement(guarantee=NONE))
    assert "not_private" in less.to_arrow().column_names


@pytest.mark.parametrize("mechanism", ["LimitSS", "LimitCB", "SomethingNew"])
def test_error_bars_only_where_they_may_be_known(mechanism):
    with pytest.raises(ReleaseError, match="may not be published"):
        release(mechanism=mechanism)
    assert Release.of(estimates(bars=False), None, statement(mechanism=mechanism))


def test_a_standard_error_that_varies_is_not_one_of_limit():
    varying = estimates(("a", "b"), entropy=[1.0, 2.0], low=None, high=None, std_error=[0.1, 0.2])
    with pytest.raises(ReleaseError, match="one constant"):
        Release.of(varying, None, statement())
    assert Release.of(varying, None, statement(mechanism="Shares"))


@pytest.mark.parametrize("ids", [("cafe-1",), IDS[::-1], ("x", "y", "z")])
def test_another_list_is_refused(ids):
    with pytest.raises(ReleaseError, match="not those of this list"):
        Release.of(estimates(), Locations(pa.array(ids)), statement())


def test_another_estimand_is_refused():
    with pytest.raises(ReleaseError, match="true"):
        release(estimand="true")


@pytest.mark.parametrize(
    "columns",
    [
        {"location": ["a"], "entropy": [1.0]},
        {"location": ["a"], "entropy": [1.0], "effective_visitors": [2.7], "users": [3]},
        {"location": ["a"], "effective_visitors": [2.7], "entropy": [1.0]},
        {"location": ["a"], "lat": [1.0], "entropy": [1.0], "effective_visitors": [2.7]},
        {"location": ["a"], "entropy": [1.0], "effective_visitors": [2.7], "low": [0.1]},
        {"location": ["a"], "entropy": [1], "effective_visitors": [2.7]},
        {"location": [1.5], "entropy": [1.0], "effective_visitors": [2.7]},
        {"location": ["a", "a"], "entropy": [1.0, 1.0], "effective_visitors": [2.7, 2.7]},
        {"location": ["a", None], "entropy": [1.0, 1.0], "effective_visitors": [2.7, 2.7]},
        {"location": ["a"], "entropy": [None], "effective_visitors": [2.7]},
        {"location": ["a"], "entropy": [math.inf], "effective_visitors": [2.7]},
        {"location": ["a"], "entropy": [1.0], "effective_visitors": [2.7], "not_private": ["NOT PRIVATE"]},
    ],
)
def test_other_tables_are_refused(columns):
    table = pa.table(columns)
    if table["entropy"].type == pa.null():
        table = table.set_column(1, "entropy", pa.array([None], pa.float64()))
    with pytest.raises(ReleaseError):
        Release(table, statement())


@pytest.mark.parametrize(
    "changes",
    [
        {"release_id": "2026-11-15"},
        {"release_id": "../../etc"},
        {"guarantee": 0.5},
        {"mechanism": ""},
        {"title": "two\nlines"},
        {"title": "escape \x1b[31m"},
        {"title": "x" * 5000},
        {"description": None},
        {"estimand": "exact"},
        {"entropy_unit": "bytes"},
        {"sector": "Mobility"},
        {"locations_source": "the visits"},
        {"publication_date": "15.11.2026"},
        {"publication_date": 20261115},
        {"max_users": 0},
        {"parameters": {"max_locations": 5}},
        {"parameters": {"a b": "5"}},
        {"parameters": None},
        {"tuned_unaccounted": 1},
        {"ledger": {"population": "people"}},
        {"expected_error": ""},
    ],
)
def test_statements_are_checked(changes):
    with pytest.raises(
        LocentropyError, match=r"must be|is not one of|begin with|expected a whole|is not a day"
    ):
        statement(**changes)


def test_a_statement_has_no_place_for_facts_about_the_input():
    """A new field must be thought about: it will be published."""
    assert set(type(statement()).__dataclass_fields__) == set(
        "release_id guarantee mechanism parameters estimand locations_source locations_provenance title curator "
        "description intended_use region software_version sector publication_date max_users ledger tuned_unaccounted "
        "entropy_unit expected_error method built_in inference inferred_by refuse_empty user_column "
        "attributes leans_on max_std_error listed_columns grouped_by window windows levels level series "
        "without_series signal outline language".split()
    )


def test_parameters_cannot_be_changed_later():
    mine = {"max_locations": "5"}
    made = statement(parameters=mine)
    mine["rows_dropped"] = "17"
    assert dict(made.parameters) == {"max_locations": "5"}
    with pytest.raises(TypeError):
        made.parameters["rows_dropped"] = "17"


# --- only here ------------------------------------------------------------------------------------------------------


def makes_releases(code: str) -> bool:
    """Whether a piece of code calls `Release` itself, under whatever name it was imported."""
    tree = ast.parse(code)
    names = {"Release"} | {
        name.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name == "Release" and name.asname
    }
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(
        (isinstance(call, ast.Name) and call.id in names)
        or (isinstance(call, ast.Attribute) and call.attr in {"Release", "__new__"})
        for call in calls
    )


def test_releases_are_made_by_release_of_alone():
    makers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if makes_releases(path.read_text(encoding="utf-8"))
    }
    assert makers == set(), "release.py itself says cls(...)"
    tree = ast.parse((PACKAGE / "release" / "release.py").read_text(encoding="utf-8"))
    inside = [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "cls"
    ]
    assert sorted(inside) == ["load", "of"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from locentropy.release.release import Release\nRelease(a, b)", True),
        ("from locentropy.release.release import Release as R\nR(a, b)", True),
        ("from locentropy.release import release\nrelease.Release(a, b)", True),
        ("Release.of(a, b, c)", False),
        ("def f(x: Release): ...", False),
    ],
)
def test_the_lint_sees_calls(code, found):
    assert makes_releases(code) == found


# --- nothing else gets through --------------------------------------------------------------------------------------

MARKERS = ("MARKER-user-4711", "MARKER-elsewhere", "987654321", "5.4321098765")


class Talkative(Estimates):
    """Estimates that carry what nobody may see, in every way that comes to mind."""

    def to_arrow(self):
        return super().to_arrow().append_column("users", pa.array([987654321] * len(self)))

    def __repr__(self):
        return " ".join(MARKERS)


def test_planted_values_reach_no_file(tmp_path):
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1]), pa.array([*IDS, "MARKER-elsewhere"]))
    base = estimates(("a", "b", "c"))
    fields = {name: getattr(base, name) for name in Estimates.__dataclass_fields__}
    loud = Talkative(**(fields | {"locations": encoded}))
    for name, value in {
        "user_counts": np.array([987654321] * 3),
        "exact": 5.4321098765,
        "users": ["MARKER-user-4711"],
        "exact_entropy": np.array([5.4321098765] * 3),
        "name": "MARKER-user-4711",
    }.items():
        object.__setattr__(loud, name, value)
    ids = encoded.dictionary_decode()
    names = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1]), pa.array(["One", "Two", "MARKER-elsewhere"]))
    listed = Locations(ids, names, np.zeros(3), np.zeros(3))
    object.__setattr__(listed, "source", "MARKER-user-4711")
    base_list = Release.of(loud, None, statement())
    with_list = Release.of(
        Estimates(**(fields | {"locations": ids})), listed, statement(release_id="cd" * 16)
    )
    for number, made in enumerate((base_list, with_list)):
        directory = made.save(tmp_path / f"out{number}")
        said = [path.read_bytes() for path in directory.iterdir()]
        for marker in (*MARKERS, "user_counts", "exact_entropy", str(tmp_path)):
            assert not any(marker.encode() in content for content in said), marker
        for number_hidden in (np.int64(987654321), np.float64(5.4321098765)):
            assert not any(number_hidden.tobytes() in content for content in said)


def test_guarantees_of_all_kinds_are_kept_apart():
    assert statement(guarantee=Guarantee.approximate(1, 1e-8)).private
    assert not statement(guarantee=NONE).private
