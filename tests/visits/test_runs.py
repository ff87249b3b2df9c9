"""Runs: pairs and sums read off rows in order equal those that are counted, however rows come in batches.

Rows are two columns in their order, or keys, in their order or in any.
"""

from __future__ import annotations

import _thread
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import EngineError
from locentropy.core.shares import ShareRule
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


@st.composite
def keyed(draw: st.DrawFn) -> tuple[list[Row], runs.Packing]:
    """Rows whose user and code fit into a key."""
    codes, windows = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    packing = runs.Packing.of(codes, windows)
    most = 2**packing.bits_of_users
    users = st.integers(-2, 3) | st.sampled_from([-most, most - 1])
    return draw(st.lists(st.tuples(users, st.integers(-windows, codes * windows - 1)), max_size=40)), packing


def keys_in_batches(rows: list[Row], packing: runs.Packing, cuts: list[int]) -> list[pa.RecordBatch]:
    """The key of each row, computed by the engine."""
    packed = []
    with duckdb.connect() as con:
        for batch in batches(rows, cuts):
            con.register("rows", batch)
            each = ibis.table({"user": "int64", "code": "int32"}, name="rows")
            sql = ibis.to_sql(each.select(key=packing.pack(each.user, each.code)), dialect="duckdb")
            packed += con.sql(sql).to_arrow_table().combine_chunks().to_batches()
    return packed


@given(keyed(), CUTS, st.booleans())
@settings(max_examples=examples(60, nightly=2000), deadline=None)
def test_keys_equal_the_reference(
    given: tuple[list[Row], runs.Packing], cuts: list[int], ordered: bool
) -> None:
    """Sorted before, or here."""
    rows, packing = given
    made = keys_in_batches(sorted(rows) if ordered else rows, packing, cuts)
    found = runs.counted_keys(iter(made), packing, None if ordered else len(rows))
    table = pa.Table.from_batches(found, runs.SCHEMA)
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == counted(rows)


def test_sorted_keys_are_cut_into_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_PART", 7)
    rows, packing = [(at // 90, at % 30) for at in range(999)], runs.Packing(5, 0)
    made = keys_in_batches(rows[::2] + rows[1::2], packing, [500])
    found = pa.Table.from_batches(runs.counted_keys(made, packing, 999), runs.SCHEMA)
    assert list(zip(*(column.to_pylist() for column in found.columns), strict=True)) == counted(rows)


def test_more_rows_than_there_were_are_refused() -> None:
    packing = runs.Packing(5, 0)
    with pytest.raises(EngineError, match="more rows"):
        list(runs.counted_keys(keys_in_batches([(1, 1), (2, 1)], packing, []), packing, 1))


@given(st.integers(1, 2**31), st.integers(0, 400), st.integers(-(2**63), 2**63 - 1))
def test_every_number_on_the_way_of_a_key_fits(codes: int, windows: int, user: int) -> None:
    packing = runs.Packing.of(codes, windows)
    each = max(windows, 1)
    assert codes * each + packing.below <= 2**packing.bits
    if packing.fits(runs.Extent(user, user, None)):
        for code in (-each, codes * each - 1):
            assert -(2**63) <= user * 2**packing.bits + code + packing.below < 2**63
    else:
        assert not -(2**63) <= user * 2**packing.bits < 2**63


def test_a_key_that_does_not_fit_is_an_error_and_not_another_user() -> None:
    """Of users beyond those that the packing is for."""
    for user in (2**46, -(2**46) - 1, 2**62, 2**63 - 1, -(2**63)):
        with pytest.raises(duckdb.Error, match=r"(?i)overflow|out of range"):
            keys_in_batches([(user, 5)], runs.Packing(17, 1), [])


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


def answers(table: pa.Table, listed: list[int], memory: str | None = None) -> list[Any]:
    resources = le.Resources(memory=memory)
    with le.private.open_queries(le.Visits(table), locations=listed, resources=resources) as queries:
        bands = np.arange(len(listed)) % 2
        return [
            queries.exact_profile().to_arrow().to_pydict(),
            queries.profile(le.private.Bounds(2, 2)).to_arrow().to_pydict(),
            queries.locations_per_user().tolist(),
            *(queries.look(rule).tolist() for rule in RULES),
            *(queries.presence(rule, bands, (2, 3), (2,)).tolist() for rule in RULES),
        ]


def visits(many: int, users: Callable[[Any], Any] = lambda users: users) -> pa.Table:
    draw = np.random.default_rng(0)
    return pa.table({"user": users(draw.geometric(0.01, many) - 50), "location": draw.geometric(0.1, many)})


class Ways:
    """In which ways rows were put in order."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.used: list[str] = []
        for name in ("_in_order", "counted_keys", "counted"):
            patch.setattr(runs, name, self._watched(name, getattr(runs, name)))

    def _watched(self, name: str, real: Any) -> Any:
        def watched(*given: Any, **more: Any) -> Any:
            self.used.append(name)
            return real(*given, **more)

        return watched


HERE, THERE, BY_TWO = ["counted_keys", "_in_order"], ["counted_keys"], ["counted"]


@pytest.mark.parametrize(
    ("memory", "users", "way"),
    [
        (None, lambda users: users, HERE),
        ("80MB", lambda users: users, THERE),
        (None, lambda users: users * 2**56, BY_TWO),
        (None, lambda users: users.astype(str), HERE),
        ("80MB", lambda users: users.astype(str), THERE),
    ],
)
def test_answers_are_those_of_groups(
    memory: str | None, users: Callable[[Any], Any], way: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than are stored at a time, of which some are not listed; without runs, pairs are grouped."""
    monkeypatch.setattr(duckdb_engine, "_STORED_ROWS", 1000)
    if memory is not None:
        monkeypatch.setattr(duckdb_engine, "_SORTED_PART", 1000)
    ways = Ways(monkeypatch)
    table, listed = visits(300_000, users), list(range(40, 0, -2))
    found = answers(table, listed, memory)
    assert ways.used == way
    monkeypatch.setattr(duckdb_engine.DuckDBEngine, "embedded", None)
    assert answers(table, listed) == found
    assert ways.used == way


def test_windows_have_codes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several windows, in keys and in groups; also of users with text ids."""
    ways = Ways(monkeypatch)
    draw, listed = np.random.default_rng(1), list(range(1, 9))
    windows = [le.Window(f"2026-{month:02}", zone="as-written") for month in (1, 2, 3)]
    time = np.datetime64("2026-01-01", "s") + draw.integers(0, 100 * 86_400, 5000)
    for users in (draw.integers(0, 300, 5000), draw.integers(0, 300, 5000).astype(str)):
        table = pa.table({"user": users, "location": draw.integers(1, 12, 5000), "time": time})
        found = []
        for embedded in (duckdb_engine.DuckDBEngine.embedded, None):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(duckdb_engine.DuckDBEngine, "embedded", embedded)
                with le.private.open_queries(
                    le.Visits(table, window=le.Window("2026-01/2026-04", zone="as-written")),
                    locations=listed,
                    first_times=False,
                    windows=windows,
                ) as queries:
                    found.append([queries.look(rule).tolist() for rule in RULES])
        assert found[0] == found[1]
    assert ways.used == HERE * 2


def test_an_engine_that_does_not_sort_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it sorts two columns or keys; and the connection can be used afterwards."""
    monkeypatch.setattr(duckdb_engine, "_SORTED_PART", 10**9)
    monkeypatch.setattr(ibis.Table, "order_by", lambda self, *by: self)
    for users in (lambda users: users, lambda users: users * 2**56):
        with pytest.raises(EngineError, match="another order"):
            answers(visits(100_000, users), [1, 2, 3])


class TestStreamsThatEnd:
    """Whatever ends a stream, no part of its rows is left, and the connection can be used."""

    @staticmethod
    def watched(monkeypatch: pytest.MonkeyPatch, at_batch: Callable[[int], None]) -> list[int]:
        """Cut sorted rows into many parts; each is told of before it is stored."""
        monkeypatch.setattr(runs, "_PART", 1000)
        monkeypatch.setattr(duckdb_engine, "_STORED_ROWS", 1)
        real, seen = runs.counted_keys, []

        def counted_keys(*given: Any, **more: Any) -> Any:
            for number, batch in enumerate(real(*given, **more)):
                seen.append(number)
                at_batch(number)
                yield batch

        monkeypatch.setattr(runs, "counted_keys", counted_keys)
        return seen

    @pytest.fixture
    def left(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The tables that are there when the engine is closed."""
        found: list[str] = []
        close = duckdb_engine.DuckDBEngine._close

        def closed(self: Any) -> None:
            found.extend(
                name for (name,) in self._con.sql("SELECT table_name FROM duckdb_tables()").fetchall()
            )
            close(self)

        monkeypatch.setattr(duckdb_engine.DuckDBEngine, "_close", closed)
        return found

    def test_an_interrupt_is_heard_between_parts(
        self, left: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(number: int) -> None:
            if number == 2:
                _thread.interrupt_main()
            time.sleep(0.02)  # as long rows take

        seen = self.watched(monkeypatch, interrupted)
        with pytest.raises(KeyboardInterrupt):
            answers(visits(300_000), list(range(1, 40)))
        assert 2 < len(seen) < 200, "of about 300 parts"
        assert "pairs" not in left
        assert "locations" in "".join(left)

    def test_an_error_says_nothing_of_rows(self, left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        def failing(number: int) -> None:
            if number == 2:
                raise ValueError("user 42")

        self.watched(monkeypatch, failing)
        with pytest.raises(EngineError, match="ValueError") as raised:
            answers(visits(300_000), list(range(1, 40)))
        assert "42" not in str(raised.value)
        assert "pairs" not in left
