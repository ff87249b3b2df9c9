"""Runs: pairs and sums read off rows in order equal those that are counted, however rows come in batches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import EngineError
from locentropy.core.shares import ShareRule
from locentropy.visits import expressions as expression
from locentropy.visits import runs
from locentropy.visits.engines import duckdb as duckdb_engine
from tests.examples import examples

Row = tuple[int, int]

USERS = st.integers(-2, 3) | st.sampled_from([-(2**63), 2**63 - 1])
ROWS = st.lists(st.tuples(USERS, st.integers(0, 3) | st.just(2**31 - 1)), max_size=40)
CUTS = st.lists(st.integers(0, 40))


def batches(rows: list[Row], cuts: list[int]) -> list[pa.RecordBatch]:
    """Rows in batches that begin at these positions; some are empty."""
    ends = sorted(min(cut, len(rows)) for cut in cuts)
    parts = [rows[start:stop] for start, stop in zip([0, *ends], [*ends, len(rows)], strict=True)]
    types = {"user": pa.int64(), "code": pa.int32()}
    return [
        pa.record_batch(
            {
                name: pa.array([row[at] for row in part], type_)
                for at, (name, type_) in enumerate(types.items())
            }
        )
        for part in parts
    ]


def read_off(rows: list[Row], cuts: list[int]) -> list[tuple[int, ...]]:
    table = pa.Table.from_batches(list(runs.counted(batches(rows, cuts))), runs.SCHEMA)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def counted(rows: list[Row]) -> list[tuple[int, ...]]:
    """The reference."""
    visits, of_user = Counter(rows), defaultdict(list)
    for (user, _), often in visits.items():
        of_user[user].append(often)
    return [
        (user, code, often, len(of_user[user]), of_user[user].count(1))
        for (user, code), often in sorted(visits.items())
    ]


@given(ROWS, CUTS)
@settings(max_examples=examples(100, nightly=5000))
def test_equals_the_reference(rows: list[Row], cuts: list[int]) -> None:
    assert read_off(sorted(rows), cuts) == counted(rows)


def test_one_user_may_fill_many_batches() -> None:
    rows = [(7, at // 3) for at in range(999)]
    assert read_off(rows, list(range(1, 999))) == [(7, at, 3, 333, 0) for at in range(333)]


@given(ROWS, CUTS)
@settings(max_examples=examples(50, nightly=2000))
def test_rows_in_another_order_are_refused(rows: list[Row], cuts: list[int]) -> None:
    """A user whose rows are apart would be two, with a unit each."""
    if rows == sorted(rows):
        assert read_off(rows, cuts) == counted(rows)
    else:
        with pytest.raises(EngineError, match="another order"):
            read_off(rows, cuts)


def at_once(self: Any) -> tuple[Any, Any]:
    """Nobody waits for the next batch."""
    return self, self.at(slice(0, 0))


def apart(self: Any, later: Any) -> Any:
    """What goes on in the next batch is another pair."""
    return type(self)(*(np.concatenate(each) for each in zip(self, later, strict=True)))


@pytest.mark.parametrize(("name", "fault"), [("split", at_once), ("before", apart)])
def test_the_check_sees_users_that_are_cut_in_two(
    name: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: without it these rows are counted as they should be."""
    rows, cuts = [(1, 1), (1, 1), (1, 2)], [1]
    assert read_off(rows, cuts) == counted(rows)
    monkeypatch.setattr(runs._Pairs, name, fault)
    monkeypatch.setattr(runs._Pairs, "check_order", lambda self: None)
    assert read_off(rows, cuts) != counted(rows)


# Through the engine.

RULES = [ShareRule(2**20, 2**20, (3, 2), norm) for norm in ("l1", "l2")]


def answers(table: pa.Table, listed: list[int]) -> list[Any]:
    with le.private.open_queries(le.Visits(table), locations=listed) as queries:
        bands = np.arange(len(listed)) % 2
        return [
            queries.exact_profile().to_arrow().to_pydict(),
            queries.profile(le.private.Bounds(2, 2)).to_arrow().to_pydict(),
            queries.locations_per_user().tolist(),
            *(queries.look(rule).tolist() for rule in RULES),
            *(queries.presence(rule, bands, (2, 3), (2,)).tolist() for rule in RULES),
        ]


def visits(many: int) -> pa.Table:
    draw = np.random.default_rng(0)
    return pa.table({"user": draw.geometric(0.01, many) - 50, "location": draw.geometric(0.1, many)})


def test_answers_are_those_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than are stored at a time, of which some are not listed; without runs, pairs are grouped."""
    monkeypatch.setattr(duckdb_engine, "_STORED_ROWS", 1000)
    table, listed = visits(300_000), list(range(40, 0, -2))
    seen: list[Any] = []
    real = expression.rows_in_order
    monkeypatch.setattr(expression, "rows_in_order", lambda *given: seen.append(1) or real(*given))
    found = answers(table, listed)
    assert seen, "or this tests nothing"
    monkeypatch.setattr(duckdb_engine.DuckDBEngine, "embedded", None)
    assert answers(table, listed) == found
    assert len(seen) == 1


def test_an_engine_that_does_not_sort_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = expression.rows_in_order
    monkeypatch.setattr(
        expression, "rows_in_order", lambda there, windows=1: real(there, windows).order_by("code")
    )
    with pytest.raises(EngineError, match="another order"):
        answers(visits(1000), [1, 2, 3])
