"""Counted in one pass or in two, visits give the same answers, the same errors and the same private log."""

from __future__ import annotations

import csv
import gzip
import logging
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import EngineError, LocentropyError
from locentropy.core.locations import Locations, Members
from locentropy.core.shares import ShareRule
from locentropy.visits import counting, one_pass, runs
from locentropy.visits.engines.duckdb import DuckDBEngine
from tests.examples import examples

COLUMNS = ("user", "location", "time")
USERS = [
    "ann",
    "bob",
    "7",
    "07",
    "Ünal",
    "u 1",
    "nan",
    "",
    " ann",
    "7.0",
    "1e+3",
    "eve\n",
    "\u2003",
    "na",
    "NaNa",
]
PLACES = ["bar", "zoo", "7", "Café", "park ", "7.0", "", "x\ny", "n/a", "mall"]
TIMES = [
    "2026-01-31 08:00:00",
    "2026-02-01T08:00:00Z",
    "2026-02-01",
    "1769846400",
    "31.01.2026 08:00",
    "soon",
    "",
]
LISTED = ["bar", "zoo", "7", "Café", "mall"]
RULE = ShareRule(1 << 20, 1 << 20, (3, 2), "l1")

usual = st.tuples(st.sampled_from(USERS[:6]), st.sampled_from(PLACES[:4]), st.just(TIMES[0]))
rows_of_any_kind = st.tuples(st.sampled_from(USERS), st.sampled_from(PLACES), st.sampled_from(TIMES))
crowds = st.lists(usual, min_size=1, max_size=12)
settings_of_visits = st.fixed_dictionaries(
    {
        "bad_rows": st.sampled_from(["fail", "drop"]),
        "missing_ids": st.sampled_from(["drop", "keep"]),
        "ids": st.sampled_from(["as-they-are", "text"]),
        "first_times": st.booleans(),
    }
)
Rows = list[tuple[str, str, str]]


def as_arrow(rows: Rows) -> pa.Table:
    """Texts, null where they are empty in every other row."""
    kept = [[text or (None if at % 2 else "") for text in row] for at, row in enumerate(rows)]
    return pa.table(
        {name: pa.array([row[at] for row in kept], pa.string()) for at, name in enumerate(COLUMNS)}
    )


def as_csv(rows: Rows, path: Path, *, zipped: bool = False) -> Path:
    with gzip.open(path, "wt", newline="") if zipped else path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return path


def told(
    source: Any, locations: Any = LISTED, *, first_times: bool = False, **options: Any
) -> tuple[Any, list[str]]:
    """All answers, or the error; and what the private log was told."""
    heard: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage())

    ear, log = Ear(), logging.getLogger("locentropy.private")
    log.addHandler(ear)
    try:
        visits = le.Visits(source, **options)
        bounds = le.private.Bounds(2, 2, None if first_times else "most-visited")
        with le.private.open_queries(visits, locations=locations, first_times=first_times) as queries:
            answers: Any = (
                queries.exact_profile().to_arrow().to_pydict(),
                queries.profile(bounds).to_arrow().to_pydict(),
                queries.locations_per_user().tolist(),
                queries.look(RULE).tolist(),
            )
    except LocentropyError as error:
        answers = type(error), str(error)
    finally:
        log.removeHandler(ear)
    return answers, heard


def in_two_passes(source: Any, locations: Any = LISTED, **options: Any) -> tuple[Any, list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "count_in_one_pass", lambda *given, **more: None)
        return told(source, locations, **options)


def same_in_both(source: Any, locations: Any = LISTED, **options: Any) -> Any:
    one, two = told(source, locations, **options), in_two_passes(source, locations, **options)
    assert one == two
    return one[0]


@given(crowds, st.lists(rows_of_any_kind, max_size=2), settings_of_visits)
@settings(max_examples=examples(20, nightly=800))
def test_a_table_of_texts(rows: Rows, odd: Rows, options: dict[str, Any]) -> None:
    same_in_both(as_arrow([*rows, *odd]), **options)


@given(crowds, st.lists(rows_of_any_kind, max_size=2), settings_of_visits, st.booleans(), st.booleans())
@settings(max_examples=examples(12, nightly=500))
def test_a_csv_file(
    tmp_path_factory: pytest.TempPathFactory,
    rows: Rows,
    odd: Rows,
    options: dict[str, Any],
    zipped: bool,
    kept: bool,
) -> None:
    name = "visits.csv.gz" if zipped else "visits.csv"
    path = as_csv([*rows, *odd], tmp_path_factory.mktemp("csv") / name, zipped=zipped)
    with pytest.MonkeyPatch.context() as patch:
        if not kept:  # as if it did not fit into memory
            patch.setattr(DuckDBEngine, "reads_to_keep", False)
        same_in_both(path, **options)


def test_text_is_stored_as_long_as_it_fits_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = as_csv([(f"{at % 1000:0200}", "bar", TIMES[0]) for at in range(100_000)], tmp_path / "visits.csv")
    stored: list[str] = []
    real = DuckDBEngine.materialize

    def watched(self: Any, name: str, *given: Any) -> Any:
        stored.append(name)
        return real(self, name, *given)

    monkeypatch.setattr(DuckDBEngine, "materialize", watched)
    found = []
    for memory in ("100MB", "40MB"):
        stored.clear()
        resources = le.Resources(memory=memory, threads=1)
        with le.private.open_queries(
            le.Visits(path), locations=LISTED, first_times=False, resources=resources
        ) as queries:
            found.append(queries.look(RULE).tolist())
        assert ("rows_read_once" in stored) == (memory == "100MB")
    assert found[0] == found[1]


@given(
    st.lists(
        st.tuples(st.sampled_from(USERS[:9]), st.sampled_from(PLACES[:4]), st.integers(-1, 3)), min_size=1
    )
)
@settings(max_examples=examples(10, nightly=400))
def test_rows_that_were_counted_before(rows: list[tuple[str, str, int]]) -> None:
    columns = zip(("user", "location", "visits"), zip(*rows, strict=True), strict=True)
    same_in_both(pa.table({name: list(values) for name, values in columns}))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each table that is counted, whether one pass was enough."""
    found: list[bool] = []
    real = one_pass.count_in_one_pass

    def watched(*given: Any, **more: Any) -> Any:
        pairs = real(*given, **more)
        found.append(pairs is not None)
        return pairs

    monkeypatch.setattr(counting, "count_in_one_pass", watched)
    return found


USUAL = [
    ("ann", "bar", TIMES[0]),
    ("bob", "zoo", TIMES[0]),
    ("Ünal", "elsewhere", TIMES[0]),
    ("ann", "7", TIMES[0]),
]


def test_one_pass_is_enough_for_usual_tables(passes: list[bool], tmp_path: Path) -> None:
    told(as_arrow(USUAL))
    told(as_csv(USUAL, tmp_path / "visits.csv"))
    told(as_csv(USUAL, tmp_path / "visits.csv.gz", zipped=True))
    told(as_csv([(user, place, "31.01.2026 08:00") for user, place, _ in USUAL], tmp_path / "german.csv"))
    told(as_arrow([*USUAL, ("nan", "bar", TIMES[0])]))  # left out, by its id
    assert passes == [True] * 5


def test_numbers_have_two_passes(passes: list[bool]) -> None:
    told(pa.table({"user": [1, 2, 2], "location": [1, 1, 9]}), [1, 2])
    assert passes == []


@pytest.mark.parametrize(
    "row",
    [
        (" ann", "bar", TIMES[0]),
        ("7.0", "bar", TIMES[0]),
        ("eve\n", "bar", TIMES[0]),
        (" ann", "elsewhere", TIMES[0]),
        ("ann", "", TIMES[0]),
        ("ann", "else where ", TIMES[0]),
        ("ann", "1.0", TIMES[0]),
        ("ann", "bar", "soon"),
        ("ann", "elsewhere", ""),
        ("ann", "bar", "1769846400"),
        ("ann", "bar", "31.01.2026 08:00"),
    ],
)
def test_whatever_is_unusual_has_two_passes(row: tuple[str, str, str], passes: list[bool]) -> None:
    found = same_in_both(as_arrow([*USUAL, row]))
    assert issubclass(found[0], LocentropyError)
    assert passes == [False]


def test_a_listed_id_that_is_unusual_has_two_passes(passes: list[bool]) -> None:
    same_in_both(as_arrow(USUAL), [*LISTED, "1.0"])
    assert passes == [False]


@pytest.mark.parametrize("odd", ["zoo", "zoo "])
def test_ids_of_places_in_groups_are_looked_at(odd: str, passes: list[bool]) -> None:
    rows = [(user, odd if place == "zoo" else place, time) for user, place, time in USUAL]
    groups = Locations(
        pa.array(["all"]), members=Members(pa.array(["bar", odd]), np.zeros(2, dtype=np.int64))
    )
    same_in_both(as_arrow(rows), groups)
    assert passes == [odd == "zoo"]


@pytest.mark.parametrize("text_file", [False, True])
@pytest.mark.parametrize(
    ("longest", "most_apart", "extents"),
    [
        (63, 1000, [(-3, 2**60 - 1)]),  # ann, bob and nan are told apart; codes of five places have 3 bits
        (63, 1, [(0, 2**63 - 1)]),
        (64, 1000, []),
    ],
)
def test_two_users_with_one_number_are_told_apart(
    text_file: bool,
    longest: int,
    most_apart: int,
    extents: list[tuple[int, int]],
    passes: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """By numbers of their own, if they are few; or by longer ones; or, if these are alike too, in two passes."""
    rows = [*USUAL, ("nan", "bar", TIMES[0]), ("bob", "bar", TIMES[0])]
    source = as_csv(rows, tmp_path / "visits.csv") if text_file else as_arrow(rows)
    expected = told(source)
    number, count, seen = one_pass._number, one_pass.count_pairs, []

    def alike(text: Any, bits: int) -> Any:
        return text.length().cast("int64") if bits < longest else number(text, bits)

    def watched(*given: Any, **more: Any) -> Any:
        seen.append(tuple(more["extent"])[:2])
        return count(*given, **more)

    monkeypatch.setattr(one_pass, "_number", alike)
    monkeypatch.setattr(one_pass, "count_pairs", watched)
    monkeypatch.setattr(one_pass, "MOST_APART", most_apart)
    assert told(source) == expected
    assert passes == [True, bool(extents)]
    assert seen == extents


def test_an_id_that_is_missing_may_be_one_that_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*USUAL, ("nan", "bar", TIMES[0]), ("nan", "zoo", TIMES[0])]
    expected = told(as_arrow(rows))
    number = one_pass._number
    monkeypatch.setattr(
        one_pass, "_number", lambda text, bits: ibis.literal(5, "int64") if bits < 63 else number(text, bits)
    )
    assert told(as_arrow(rows)) == expected


def test_an_attempt_that_fails_in_a_stream_has_two_passes(
    passes: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is free again for them."""
    expected = told(as_arrow(USUAL))

    def failing(*given: Any, **more: Any) -> Any:
        raise EngineError("planted")

    monkeypatch.setattr(runs, "counted_keys", failing)
    assert told(as_arrow(USUAL)) == expected
    assert passes == [True, False]


def test_rows_without_a_user_are_counted_for_the_private_log() -> None:
    rows = [*USUAL, ("nan", "bar", TIMES[0]), ("", "elsewhere", TIMES[0]), ("nan", "zoo", TIMES[0])]
    answers, heard = told(as_arrow(rows))
    assert answers == told(as_arrow(USUAL))[0]
    assert any(line.endswith("they have no user id: 3") for line in heard)


def test_a_table_without_rows_has_two_passes(passes: list[bool]) -> None:
    nobody = pa.table({name: pa.array([], pa.string()) for name in ("user", "location")})
    found = same_in_both(nobody)
    assert found[1].endswith("the table has no rows.")
    assert passes == [False]


def test_a_window_is_counted_alike() -> None:
    rows = [*USUAL, ("bob", "bar", "2026-03-01 00:00:00"), ("bob", "bar", "2026-03-02 00:00:00")]
    found = same_in_both(as_arrow(rows), window=le.Window("2026-03", zone="as-written"))
    assert found[0]["users"] == [1]


def test_the_comparison_sees_what_a_blind_pass_would_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: nothing is unusual."""
    monkeypatch.setattr(one_pass, "unusual_id", lambda table, role: ibis.literal(False))
    with pytest.raises(AssertionError):
        test_a_table_of_texts.hypothesis.inner_test([(" ann", "bar", TIMES[0])], [], {})
    monkeypatch.undo()
    monkeypatch.setattr(one_pass, "unusual_row", lambda rows, style: ibis.literal(False))
    with pytest.raises(AssertionError):
        test_a_table_of_texts.hypothesis.inner_test([("ann", "bar", "soon"), USUAL[0]], [], {})
