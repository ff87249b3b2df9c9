"""Each time is read by itself: nobody's rows decide how others' times are read, nor whether they are."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import BadRowsError, ColumnError
from locentropy.visits.queries import open_queries
from locentropy.visits.readers import parquet_times
from tests.examples import at_night, examples

BERLIN = ZoneInfo("Europe/Berlin")
MAY = le.Window("2026-05", zone="Europe/Berlin")
MORNINGS = le.Window("2026-05", zone="Europe/Berlin", hours="07-10")
WRITTEN_MORNINGS = le.Window("2026-05", zone="as-written", hours="07-10")
PLACES = ["early", "late", "other"]
NAMES = ("user", "location", "time")

Row = tuple[str, str, Any]
Read = Callable[[list[Row], Path], Any]

# What others have: the later visit comes first, so that the order of rows is not that of times.
CLOCK = {
    "late": datetime(2026, 5, 4, 9, 30),
    "early": datetime(2026, 5, 3, 8, 0),
    "other": datetime(2026, 6, 1, 8),
}
STYLES: dict[str, tuple[Callable[[datetime], Any], list[dict[str, Any]]]] = {
    "aware": (lambda at: at.replace(tzinfo=BERLIN), [{}, {"window": MAY}, {"window": MORNINGS}]),
    "naive": (
        lambda at: at,
        [
            {},
            {"window": WRITTEN_MORNINGS},
            {"window": MORNINGS, "time_type": "local"},
            {"window": MAY, "time_type": "utc"},
        ],
    ),
    "dates": (lambda at: at.date(), [{"window": MAY, "time_type": "local", "first_times": False}]),
    "numbers": (
        lambda at: int(at.replace(tzinfo=BERLIN).timestamp()),
        [{}, {"window": MORNINGS, "time_type": "s"}],
    ),
}


def plain(value: Any) -> Any:
    """A value as a file of texts has it."""
    return value.isoformat() if isinstance(value, date) else value if isinstance(value, int) else str(value)


def frame_of(rows: Sequence[Row]) -> pd.DataFrame:
    columns = {name: pd.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(NAMES)}
    return pd.DataFrame(columns)


def in_polars(rows: list[Row], _: Path) -> pl.DataFrame:
    data = {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}
    return pl.DataFrame(data, schema={"user": pl.String, "location": pl.String, "time": pl.Object})


def in_csv(rows: list[Row], folder: Path) -> Path:
    path = folder / "visits.csv"
    with path.open("w", newline="") as file:
        written = csv.writer(file)
        written.writerow(NAMES)
        written.writerows((user, place, "" if at is None else plain(at)) for user, place, at in rows)
    return path


def in_json(rows: list[Row], folder: Path) -> Path:
    path = folder / "visits.jsonl"
    lines = (
        {"user": user, "location": place, "time": None if at is None else plain(at)}
        for user, place, at in rows
    )
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def in_workbook(rows: list[Row], folder: Path) -> Path:
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(NAMES)
    for user, place, at in rows:
        fits = isinstance(at, int) or (isinstance(at, date) and at.year > 1900)
        kept = (
            at
            if fits and getattr(at, "tzinfo", None) is None and not (isinstance(at, int) and abs(at) > 2**50)
            else plain(at)
        )
        book.active.append((user, place, None if at is None else kept))
    book.save(folder / "visits.xlsx")
    return folder / "visits.xlsx"


READERS: dict[str, Read] = {
    "pandas": lambda rows, _: frame_of(rows),
    "pandas, categories": lambda rows, _: frame_of(
        [(*row[:2], plain(row[2]) if isinstance(row[2], float) else row[2]) for row in rows]
    ).astype({"time": "category"}),
    "pandas, two frames": lambda rows, _: pd.concat([frame_of(rows[:1]), frame_of(rows[1:])]),
    "rows of Python": lambda rows, _: pd.DataFrame.from_records(rows, columns=NAMES).astype({"time": object}),
    "Polars": in_polars,
    "CSV": in_csv,
    "JSON lines": in_json,
    "workbook": in_workbook,
}  # fmt: skip

anything = st.one_of(
    st.sampled_from(
        [
            date(2026, 5, 2),
            datetime(2026, 5, 1),
            datetime(2026, 5, 1, 8, tzinfo=BERLIN),
            datetime(2026, 5, 1, 8, tzinfo=UTC),
            datetime.min,
            datetime.max,
            date.min,
            7,
            -1,
            1_777_000_000,
            2**63,
            10**30,
            1.5,
            float("nan"),
            None,
            "",
            "once",
            "2026-05-01",
            "01.05.2026",
            "2026-05-01T08:00:00Z",
            "infinity",
            "294247-01-10T04:00:55",
            True,
        ]
    ),
    st.datetimes(),
    st.dates(),
    st.integers(-(2**63), 2**63 - 1),
)


def answers(source: Any, options: dict[str, Any]) -> list[Any]:
    """What is counted of others: everywhere by place, and by whom it was visited first."""
    said = dict(options)
    first_times, window = said.pop("first_times", True), said.pop("window", None)
    named = dict(zip(NAMES, NAMES, strict=True))
    visits = le.Visits(source, **named, bad_rows="drop", ids="text", **said)
    visits = visits if window is None else visits.during(window)
    with open_queries(visits, locations=PLACES, refuse_empty=False, first_times=first_times) as queries:
        found = [queries.exact_profile()]
        if first_times:
            found.append(queries.profile(le.private.Bounds(1, 1, keep="first")))
    return [sorted(map(tuple, (row.values() for row in each.to_arrow().to_pylist()))) for each in found]


def others(style: str) -> list[Row]:
    made = STYLES[style][0]
    return [(user, place, made(at)) for user in ("ann", "bob") for place, at in CLOCK.items()]


def with_rows(rows: list[Row], values: list[Any], position: int) -> list[Row]:
    mine = [("eve", "at home", value) for value in values]
    return [*rows[:position], *mine, *rows[position:]]


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("reader", READERS)
@settings(
    max_examples=examples(2, nightly=200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(values=[date(2026, 5, 2)], position=0)
@example(values=[datetime(2026, 5, 1, 8), datetime(2026, 5, 1, 8, tzinfo=BERLIN), 7], position=0)
@given(values=st.lists(anything, min_size=1, max_size=3), position=st.integers(0, 6))
def test_the_answers_for_others_stay(
    reader: str, style: str, values: list[Any], position: int, tmp_path: Path
) -> None:
    rows, read = others(style), READERS[reader]
    for options in STYLES[style][1]:
        expected = answers(read(rows, tmp_path), options)
        assert sum(row[-1] for row in expected[0]) > 0, "others are counted"
        assert answers(read(with_rows(rows, values, position), tmp_path), options) == expected, options


TYPES = [pa.timestamp(unit, zone) for zone in (None, "Asia/Tokyo") for unit in ("ms", "s", "us", "ns")]


def in_parquet(table: pa.Table, folder: Path, **options: Any) -> Path:
    pq.write_table(table, folder / "visits.parquet", **options)
    return folder / "visits.parquet"


@pytest.mark.parametrize("kind", [*TYPES[:2], *TYPES[4:6], *at_night(*TYPES[2:4], *TYPES[6:])], ids=str)
@pytest.mark.parametrize("beyond", [2**62, *at_night(-(2**62), 2**63 - 1, -(2**63) + 1, -(2**63))])
@pytest.mark.parametrize("position", [0, *at_night(3, 6)])
def test_a_timestamp_out_of_range_is_a_bad_row(
    kind: pa.DataType, position: int, beyond: int, tmp_path: Path
) -> None:
    """In memory and in Parquet, with and without statistics: once it refused the whole table."""
    zoned = kind.tz is not None
    units = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    since = [(place, at.replace(tzinfo=UTC).timestamp()) for place, at in CLOCK.items()]
    rows: list[Row] = [(user, place, int(at) * units) for user in ("ann", "bob") for place, at in since]

    def table(rows: list[Row]) -> pa.Table:
        texts = {name: [row[at] for row in rows] for at, name in enumerate(NAMES[:2])}
        return pa.table(texts | {"time": pa.array([row[2] for row in rows], pa.int64()).cast(kind)})

    options = {"window": MAY} if zoned else {"window": MAY, "time_type": "local"}
    expected = answers(table(rows), options)
    assert [row[-1] for row in expected[0]] == [2, 2]
    mixed = table(with_rows(rows, [beyond, None], position))
    sources = [
        mixed,
        mixed.to_pandas(types_mapper=pd.ArrowDtype),
        *([] if kind.unit == "s" else [pl.from_arrow(mixed)]),
    ]
    for source in sources:
        assert answers(source, options) == expected
    if kind.unit != "s":
        for statistics in (True, False):
            assert answers(in_parquet(mixed, tmp_path, write_statistics=statistics), options) == expected
    with pytest.raises(BadRowsError, match="'time'"):  # a row has none
        le.private.exact_profile(le.Visits(mixed, time_type=options.get("time_type")))


def test_files_with_and_without_times_out_of_range_are_one_table(tmp_path: Path) -> None:
    for number, times in enumerate(([2**62, 5], [6], [7])):
        kind = pa.timestamp("us" if number == 2 else "ms", "UTC")
        table = pa.table(
            {"user": ["a"] * len(times), "venue": [f"p{at}" for at in times], "at": pa.array(times, kind)}
        )
        pq.write_table(table, tmp_path / f"{number}.parquet")
    visits = le.Visits(tmp_path, user="user", location="venue", time="at", bad_rows="drop")
    assert le.private.exact_profile(visits).locations.to_pylist() == ["p5", "p6", "p7"]


def test_only_files_with_such_times_are_read_by_arrow(tmp_path: Path) -> None:
    """Statistics tell; without them the column does."""
    most = (2**63 - 1) // 1000
    for times, beyond in (
        ([0, most], False),
        ([0, most + 1], True),
        ([-most - 1, None], True),
        ([None], False),
    ):
        table = pa.table({"at": pa.array(times, pa.timestamp("ms")), "n": [1] * len(times)})
        for statistics in (True, False):
            path = in_parquet(table, tmp_path, write_statistics=statistics)
            assert parquet_times.holds_times_beyond(path, "at") == beyond
            assert not parquet_times.holds_times_beyond(path, "n")
            assert not parquet_times.holds_times_beyond(path, "none")


# --- with bad_rows="fail" the table is refused, and the error says why ---


@pytest.mark.parametrize(
    ("odd", "options", "words"),
    [
        (date(2026, 5, 3), {}, "dates have no time of day"),
        (datetime(2026, 5, 3, 8, tzinfo=UTC), {"time_type": "local"}, "times name a zone"),
        (datetime(2026, 5, 3, 8, tzinfo=UTC), {"window": WRITTEN_MORNINGS}, "times name a zone"),
        (7, {"time_type": "utc"}, "whole numbers"),
        (7, {}, "whole numbers in some rows and dates in others"),
        (1.5, {}, "are not times"),
    ],
)
@pytest.mark.parametrize("position", [0, 6])
def test_with_fail_the_table_is_refused(odd: Any, options: dict[str, Any], words: str, position: int) -> None:
    said = dict(options)
    window = said.pop("window", None)
    visits = le.Visits(frame_of(with_rows(others("naive"), [odd], position)), **said)
    visits = visits if window is None else visits.during(window)
    with pytest.raises((BadRowsError, ColumnError), match=rf"'time'.*{words}"), open_queries(visits):
        pass


def test_columns_of_one_type_are_read_as_before() -> None:
    for dtype, expected in (("datetime64[us]", {}), ("datetime64[ns, UTC]", {"window": MAY})):
        style = "aware" if "UTC" in dtype else "naive"
        frame = frame_of(others(style)).astype({"time": dtype})
        assert answers(frame, expected) == answers(frame_of(others(style)), expected)


# --- dates without a time of day ---


def test_a_date_is_midnight_where_no_clock_is_asked(tmp_path: Path) -> None:
    days = [date(2026, 4, 30), date(2026, 5, 1), date(2026, 5, 31), date(2026, 6, 1)]
    typed = pa.table({"user": list("abcd"), "location": list("wxyz"), "time": days})
    texts = typed.set_column(2, "time", pa.array(map(str, days)))
    for source in (typed, texts, typed.to_pandas(), in_parquet(typed, tmp_path)):
        visits = le.Visits(source, time_type="local")
        weekdays = le.Window("2026-05", zone="Europe/Berlin", weekdays="fri")
        assert le.private.exact_profile(visits.during(MAY)).locations.to_pylist() == ["x", "y"]
        assert le.private.exact_profile(visits.during(weekdays)).locations.to_pylist() == ["x"]
        for refused in (visits.during(MORNINGS), visits):
            with pytest.raises((BadRowsError, ColumnError), match=r"'time'.*dates have no time of day"):
                le.private.profile(refused, le.private.Bounds(1, 1, keep="first"))
        often = le.private.profile(visits, le.private.Bounds(1, 1, keep="most-visited"))
        assert often.users.sum() == 4


def test_days_beside_times_are_bad_rows_where_a_clock_is_asked(tmp_path: Path) -> None:
    """Also where they are in files of their own, whose type is that of dates."""
    at = datetime(2026, 5, 3, 8)
    pq.write_table(pa.table({"user": ["a"], "location": ["x"], "time": [at]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"user": ["b"], "location": ["y"], "time": [at.date()]}), tmp_path / "b.parquet")
    visits = le.Visits(tmp_path, time_type="local", bad_rows="drop")
    assert le.private.exact_profile(visits.during(MAY)).locations.to_pylist() == ["x", "y"]
    assert le.private.exact_profile(visits.during(MORNINGS)).locations.to_pylist() == ["x"]
    with pytest.raises(ColumnError, match="dates have no time of day"):
        le.private.exact_profile(le.Visits(tmp_path / "b.parquet", time_type="local").during(MORNINGS))
    form = le.Visits(in_csv([("a", "x", "03/05/2026")], tmp_path), time_format="%d/%m/%Y", time_type="local")
    with pytest.raises(ColumnError, match="dates have no time of day"):
        le.private.exact_profile(form.during(MORNINGS))


def test_midnight_with_its_clock_is_a_time() -> None:
    midnight = frame_of(
        [("a", "early", datetime(2026, 5, 3)), ("a", "late", datetime(2026, 5, 3) + timedelta(hours=1))]
    )
    found = le.private.profile(le.Visits(midnight), le.private.Bounds(1, 1, keep="first"))
    assert found.locations.to_pylist()[int(found.index[0])] == "early"
