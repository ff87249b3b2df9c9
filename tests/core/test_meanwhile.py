"""Work beside a query begins with the first query that takes its time, and its failures are nobody's business."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

import locentropy as le
from locentropy.core.meanwhile import meanwhile
from locentropy.mechanisms.shares.estimator import fixed_chance, visitor_shapes


def joined() -> None:
    for thread in threading.enumerate():
        if thread.name == "meanwhile":
            thread.join()


def test_it_begins_when_a_query_is_under_way_and_once() -> None:
    done: list[str] = []
    told: list[tuple[str, float | None]] = []
    tell = meanwhile(lambda *each: told.append(each), [], lambda: done.append("prepared"))
    tell("Counting", 1.0)
    joined()
    assert done == []
    for part in (0.5, None, 0.9):
        tell("Counting", part)
    joined()
    assert done == ["prepared"]
    assert told == [("Counting", part) for part in (1.0, 0.5, None, 0.9)]


def test_modules_are_loaded_before_it_prepares_whatever_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[bool] = []

    def prepare() -> None:
        done.append("colorsys" in sys.modules)
        raise RuntimeError("prepared badly")

    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    meanwhile(None, ["no_such_module", "colorsys"], prepare)("Counting", None)
    joined()
    assert done == [True]


@pytest.mark.parametrize("mechanism", [le.Shares(1.0), le.Moments(1.0, max_locations=2, max_visits=2)])
def test_every_mechanism_can_prepare(mechanism: Any) -> None:
    mechanism.prepare_estimate()


def test_shares_fills_its_tables() -> None:
    """Those that it then needs: an estimate adds none."""
    kept = (visitor_shapes.poisson, visitor_shapes.poisson_visited, visitor_shapes._laws_at_tops)
    for table in (fixed_chance.spread_uniforms, *kept):
        table.cache_clear()
    le.Shares(1.0, max_users=1000).prepare_estimate()
    filled = [each.cache_info().currsize for each in (fixed_chance.spread_uniforms, visitor_shapes.poisson)]
    assert min(filled) > 0
    import pyarrow as pa

    from locentropy.evaluation.simulated_noise import SimulatedNoise

    table = pa.table({"user": [1, 1, 2, 3], "location": [1, 2, 1, 3]})
    listed = le.mechanisms.Locations(pa.array([1, 2, 3]))
    mechanism = le.Shares(1.0, max_users=1000)
    with le.private.open_queries(le.Visits(table), locations=listed) as queries:
        mechanism.estimate(mechanism.measure(queries, listed, SimulatedNoise(0)), listed)
    after = [each.cache_info().currsize for each in (fixed_chance.spread_uniforms, visitor_shapes.poisson)]
    assert after == filled
