"""Visits at cells: the embedded engine counts what the rule in Python says, row by row, whatever the coordinates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import EngineError
from locentropy.core.locations import Cells
from locentropy.private import exact_profile, open_queries
from locentropy.visits.engines import locating

from .warehouses import agreeing_cells

GRID = le.Grid(south=40.60, west=-74.05, north=40.85, east=-73.85, cell=1500)


def counted(table: pa.Table, there: Cells, **options: Any) -> dict[tuple[Any, int], int]:
    """How many users made how many visits to each location, by the engine."""
    found = exact_profile(le.Visits(table, **options), locations=there)
    ids = found.locations.to_pylist()
    rows = zip(found.index.tolist(), found.visits.tolist(), found.users.tolist(), strict=True)
    return {(ids[index], visits): users for index, visits, users in rows}


def expected(table: pa.Table, there: Cells) -> dict[tuple[Any, int], int]:
    """The same, by the rule and a loop."""
    ids = there.locations().ids.to_pylist()
    at = there.locator().positions(table["lat"].to_numpy(), table["lon"].to_numpy())
    pairs = Counter(
        (user, place) for user, place in zip(table["user"].to_pylist(), at, strict=True) if place >= 0
    )
    return dict(Counter((ids[place], visits) for (_, place), visits in pairs.items()))


@pytest.mark.parametrize("way", [*agreeing_cells.WAYS, "grid"])
def test_the_engine_counts_by_the_rule(way: str, tmp_path: Path) -> None:
    there = GRID if way == "grid" else agreeing_cells.cells(way, tmp_path)
    like = agreeing_cells.cells("h3", tmp_path) if way == "grid" else there
    table = agreeing_cells.visits(like, 12_000)
    found = counted(table, there)
    assert found == expected(table, there)
    assert len(found) > 50


def test_threads_and_queries_that_are_restricted_change_nothing(tmp_path: Path) -> None:
    there = agreeing_cells.cells("zones", tmp_path)
    table = agreeing_cells.visits(there, 30_000)
    one, two = (
        exact_profile(le.Visits(table), locations=there, resources=le.Resources(threads=threads))
        for threads in (1, 2)
    )
    for name in ("index", "visits", "users"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    kept = there.locations().without(le.mechanisms.Locations.of(["d0-0", "d3-3"]))
    with open_queries(le.Visits(table), locations=there) as queries:
        fewer = queries.restricted_to(kept).exact_profile()
    assert fewer.users.sum() == one.users[~np.isin(one.index, [0, 27])].sum()


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_rows_stream_through_the_rule_in_batches(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row keeps its own columns, whichever thread located its batch; a batch may have no row at any place."""
    monkeypatch.setattr("locentropy.visits.engines.duckdb._BATCH_ROWS", 2048)
    there = agreeing_cells.cells("zones", tmp_path)
    table = agreeing_cells.visits(there, 40_000)
    far = table.slice(0, 9_000).set_column(1, "lat", pa.array([-40.7] * 9_000))
    table = pa.concat_tables([far, table, far])
    calls = []
    located = locating.located

    def counted_calls(*args: Any) -> pa.Array:
        calls.append(len(args[1]))
        return located(*args)

    monkeypatch.setattr(locating, "located", counted_calls)
    found = exact_profile(
        le.Visits(table), locations=there, resources=le.Resources(threads=threads, memory="200MB")
    )
    ids = found.locations.to_pylist()
    rows = zip(found.index.tolist(), found.visits.tolist(), found.users.tolist(), strict=True)
    assert {(ids[index], visits): users for index, visits, users in rows} == expected(table, there)
    assert len(calls) > 20
    assert sum(calls) == len(table)


def test_first_times_are_those_of_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locentropy.visits.engines.duckdb._BATCH_ROWS", 2048)
    there = agreeing_cells.cells("zones", tmp_path)
    table = agreeing_cells.visits(there, 20_000).append_column("visits", pa.array([1, 2] * 10_000))
    at = there.locator().positions(table["lat"].to_numpy(), table["lon"].to_numpy())
    ids = there.locations().ids
    named = table.drop(["lat", "lon"]).filter(pa.array(at >= 0))
    named = named.append_column("location", ids.take(pa.array(at[at >= 0])))
    bounds = le.private.Bounds(max_locations=2, max_visits=3, keep="first")
    by_id = le.private.profile(le.Visits(named), bounds, locations=ids)
    streamed = le.private.profile(le.Visits(table), bounds, locations=there)
    for name in ("index", "visits", "users"):
        assert np.array_equal(getattr(streamed, name), getattr(by_id, name))
    assert streamed.users.sum() > 1000


def test_a_rule_that_fails_says_nothing_of_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = agreeing_cells.cells("zones", tmp_path)
    table = agreeing_cells.visits(there, 1000)

    def failing(error: Exception) -> Any:
        def located(*_: Any) -> Any:
            raise error

        return located

    for error, said in ((ValueError("at 40.7123"), "engine stopped"), (MemoryError(), "out of memory")):
        monkeypatch.setattr(locating, "located", failing(error))
        with pytest.raises(EngineError, match=said) as raised:
            exact_profile(le.Visits(table), locations=there)
        assert "40.7" not in str(raised.value)


def test_rows_that_have_ids_too_are_counted_by_coordinates(tmp_path: Path) -> None:
    there = agreeing_cells.cells("zones", tmp_path)
    table = agreeing_cells.visits(there, 2000)
    named = table.append_column("location", pa.array(["elsewhere"] * len(table)))
    assert counted(named, there) == expected(table, there)


ODD = st.floats() | st.sampled_from([40.7, -74.0, 0.0, -0.0, 90.0, -90.0, 180.0, -180.0, 5e-324, 1.8e308])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    points=st.lists(st.tuples(ODD, ODD), min_size=1, max_size=40), way=st.sampled_from(agreeing_cells.WAYS)
)
def test_no_coordinates_make_the_rule_fail(
    points: list[tuple[float, float]], way: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    there = _CACHE.get(way) or _CACHE.setdefault(way, agreeing_cells.cells(way, tmp_path_factory.mktemp(way)))
    lat, lon = np.array(points).T
    found = there.locator().positions(lat, lon)
    assert ((found >= -1) & (found < len(there.locations()))).all()
    one_by_one = [int(there.locator().positions(lat[i : i + 1], lon[i : i + 1])[0]) for i in range(len(lat))]
    assert found.tolist() == one_by_one  # a row's place depends on this row only


_CACHE: dict[str, Cells] = {}


def test_one_odd_row_changes_nothing_for_others(tmp_path: Path) -> None:
    there = agreeing_cells.cells("zones", tmp_path)
    table = agreeing_cells.visits(there, 1000)
    for lat, lon in ((np.inf, 0.0), (1e300, -1e300), (91.0, 0.0)):
        more = {"user": ["odd"], "lat": [lat], "lon": [lon], "time": pa.array([0]).cast(pa.timestamp("us"))}
        assert counted(pa.concat_tables([table, pa.table(more)]), there) == counted(table, there)
    nothing = {"user": ["odd"] * 2, "lat": [None, np.nan], "lon": [1.0, 2.0], "time": table["time"][:2]}
    both = pa.concat_tables([table, pa.table(nothing, schema=table.schema)])
    assert counted(both, there, bad_rows="drop") == counted(table, there)
