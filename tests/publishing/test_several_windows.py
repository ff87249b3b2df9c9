"""Several windows in one release: what each row counts, what one person can change, and what is charged."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from jsonschema import Draft7Validator

import locentropy as le
from locentropy.core.errors import BudgetError, ParameterError, ReleaseError
from locentropy.core.window_split import split
from locentropy.publishing import publish, requested_levels
from locentropy.publishing.request import Request
from locentropy.visits.queries import open_queries
from tests.examples import AT_NIGHT
from tests.mechanisms.shares.recording import Recorder, allowed, loss
from tests.publishing.making import Killed, names
from tests.release.registry_schema import SCHEMA

BERLIN = "Europe/Berlin"
SPRING = le.Window("2026-03/2026-06", zone=BERLIN)
MONTHS = ["2026-03", "2026-04", "2026-05"]
PLACES = ["bar", "cafe", "park"]
SHARES = le.Shares(1.0, max_users=1000)
MOMENTS = le.Moments(1.0, max_locations=3, max_visits=2, max_users=1000)
"""Estimates in no time, where it does not matter which."""
Row = tuple[str, str, datetime]


def at(month: int, day: int, hour: int = 12) -> datetime:
    return datetime(2026, month, day, hour)


def crowd() -> list[Row]:
    """Twelve who come in one month each, and one who is everywhere, mostly in March."""
    rows = [(f"u{n}", PLACES[n % 3], at(3 + n % 3, 1 + n)) for n in range(12)]
    rows += [("all", place, at(3, day)) for place in PLACES for day in (5, 6)]
    return rows + [("all", PLACES[month - 4], at(month, 7)) for month in (4, 5)]


def visits(rows: list[Row]) -> le.Visits:
    columns = zip(*rows, strict=True)
    user, venue, time = map(list, columns)
    table = {"user": user, "venue": venue, "time": pa.array(time, pa.timestamp("us", "UTC"))}
    return le.Visits(pa.table(table), user="user")


def listed() -> le.PublicLocations:
    return le.PublicLocations(PLACES, provenance="the register")


def ledger_of(unit: Any, folder: Path) -> le.Ledger:
    per_period = {} if unit == "person" else {"person_epsilon": 4}
    total = 4 if unit == "person" else 1
    return le.Ledger.create(folder / f"{unit}.ledger", "riders", total, unit=unit, zone=BERLIN, **per_period)


def published(unit: Any, folder: Path, **options: Any) -> tuple[le.Release, le.Ledger]:
    ledger = ledger_of(unit, folder)
    given: dict[str, Any] = {"window": SPRING, "windows": "month", "out": folder / "out"} | options
    mechanism, places = given.pop("mechanism", SHARES), given.pop("locations", listed())
    return le.publish(visits(crowd()), mechanism, places, ledger=ledger, **given), ledger


# --- what is counted ----------------------------------------------------------------------------------------------


def test_rows_are_counted_in_the_window_of_their_beginning() -> None:
    """Midnight in Berlin is 22 o'clock in UTC, or 23 before summer time; the hour before 1 June is not in June."""
    rows = [
        ("a", "bar", at(2, 28, 22)),
        ("a", "bar", at(2, 28, 23)),
        ("b", "bar", at(3, 31, 21)),
        ("b", "bar", at(3, 31, 22)),
        ("c", "park", at(5, 31, 21)),
        ("c", "park", at(5, 31, 22)),
    ]
    windows = split(SPRING, "month")
    with open_queries(visits(rows).during(SPRING), locations=PLACES, windows=windows) as queries:
        assert queries.locations.to_pylist() == [f"{month} {place}" for month in MONTHS for place in PLACES]
        found = queries.exact_profile().to_arrow().to_pylist()
        assert [(row["location"], row["visits"], row["users"]) for row in found] == [
            ("2026-03 bar", 1, 2),
            ("2026-04 bar", 1, 1),
            ("2026-05 park", 1, 1),
        ]
        assert queries.locations_per_user().tolist() == [0, 2, 1], "b was at one place in two months"


@pytest.mark.longer_at_night
@pytest.mark.parametrize("period", ["month", "week", "day"])
def test_each_window_is_what_it_is_alone(period: Any) -> None:
    """Pairs of one window are those of the visits during it."""
    span = le.Window("2026-03-02/2026-03-30" if period == "week" else "2026-03/2026-05", zone=BERLIN)
    windows, rows = split(span, period), visits(crowd())
    with open_queries(rows.during(span), locations=PLACES, windows=windows, refuse_empty=False) as queries:
        whole = queries.exact_profile().to_arrow().to_pylist()
    for window in windows[: 40 if AT_NIGHT else 8]:
        with open_queries(rows.during(window), locations=PLACES, refuse_empty=False) as queries:
            alone = queries.exact_profile().to_arrow().to_pylist()
        there = [row for row in whole if row["location"].startswith(f"{window.text} ")]
        assert [row | {"location": row["location"].split(" ", 1)[1]} for row in there] == alone


def test_windows_with_instants_in_common_are_refused() -> None:
    twice = (le.Window("2026-03", zone=BERLIN), le.Window("2026-03-31", zone=BERLIN))
    with (
        pytest.raises(ParameterError, match="no instant in common"),
        open_queries(visits(crowd()).during(SPRING), locations=PLACES, windows=twice),
    ):
        pass


# --- what is published --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["person", "person-month", "person-day"])
def test_one_table_of_places_and_windows(unit: Any, tmp_path: Path) -> None:
    period = "day" if unit == "person-day" else "month"
    span = le.Window("2026-03-01/2026-03-04", zone=BERLIN) if period == "day" else SPRING
    mechanism = SHARES if unit == "person-month" else MOMENTS
    release, ledger = published(unit, tmp_path, window=span, windows=period, mechanism=mechanism)
    table = release.to_arrow()
    assert table.column_names[:3] == ["location", "window_start", "window_end"]
    assert table["location"].to_pylist() == PLACES * 3
    assert table["window_start"].to_pylist()[::3] == [each.start for each in split(span, period)]
    assert names(tmp_path / "out") == sorted(
        ["datapackage.json", "details.yaml", "manifest.yaml"]
        + [
            f"{kind}-{span.label}-by-{period}.{ending}"
            for kind, ending in (
                ("measurements", "parquet"), ("release", "csv"), ("release", "parquet"), ("report", "html"),
            )
        ]
    )  # fmt: skip
    found = le.verify(tmp_path / "out", ledger)
    assert found.ok, found
    assert le.Release.load(tmp_path / "out").statement == release.statement
    again = release.reestimate().to_arrow()
    assert again.drop_columns(["entropy"]).column_names == table.drop_columns(["entropy"]).column_names
    Draft7Validator(SCHEMA).validate(yaml.safe_load((tmp_path / "out" / "manifest.yaml").read_text()))


def test_the_person_is_charged_once(tmp_path: Path) -> None:
    release, ledger = published("person", tmp_path)
    assert ledger.remaining.epsilon == 3
    assert [part.window for part in ledger.read().parts] == [le.Window("2026-03-01/2026-06-01", zone=BERLIN)]
    assert release.statement.guarantee.epsilon == 1
    assert "over all places and windows" in (tmp_path / "out" / "manifest.yaml").read_text().replace(
        "\n", " "
    )


def test_each_period_is_charged_in_its_own_cell(tmp_path: Path) -> None:
    release, ledger = published("person-month", tmp_path)
    book = ledger.read()
    assert [(part.cell, part.charge.epsilon) for part in book.parts] == [(month, 1) for month in MONTHS]
    assert (book.remaining.epsilon, book.spends[0].epsilon) == (1, 3)
    assert release.statement.guarantee.epsilon == 1, "of one month"
    note = release.statement.ledger
    assert note is not None
    assert (note.cell, note.spent_epsilon, note.person_spent_epsilon) == ("2026-03 to 2026-05", "1", "3")
    page = next((tmp_path / "out").glob("*.html")).read_text()
    assert "at most ε = 1, δ = 0 of it are spent in each period from 2026-03 to 2026-05" in page
    assert page.count('href="#level=') == 9, "on each of three windows, a link to each"
    with pytest.raises(BudgetError, match="2026-04"):
        le.publish(visits(crowd()), SHARES, listed(), ledger=ledger, window=le.Window("2026-04", zone=BERLIN))
    july = le.Window("2026-07/2026-09", zone=BERLIN)
    with pytest.raises(BudgetError, match="somebody who is there in every month"):
        le.publish(visits(crowd()), SHARES, listed(), ledger=ledger, window=july, windows="month")
    assert ledger.read().remaining.epsilon == 1, "of two parts that do not both fit, neither is charged"


def test_levels_and_selections_have_one_window(tmp_path: Path) -> None:
    by_kind = pa.table({"venue": PLACES, "kind": ["a", "a", "b"]})
    for choice in (
        le.PublicLocations(by_kind, levels=["place", "kind"]),
        le.SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20),
    ):
        with pytest.raises(ParameterError, match="one window at a time"):
            le.publish(visits(crowd()), SHARES, choice, ledger=None, window=SPRING, windows="month")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="and there is none"):
        le.publish(visits(crowd()), SHARES, listed(), ledger=None, windows="month")


def test_grids_groups_and_excluded_places(tmp_path: Path) -> None:
    by_kind = pa.table({"venue": PLACES, "kind": ["a", "a", "b"]})
    groups = le.PublicLocations(by_kind, group="kind")
    release, _ = published("person", tmp_path, locations=groups, out=None)
    assert release.to_arrow()["location"].to_pylist() == ["a", "b"] * 3
    rows = (
        visits(crowd())
        .source.append_column("lat", pa.array([40.705] * 20))
        .append_column("lon", pa.array([-74.005] * 20))
    )
    cells = le.Grid(south=40.70, west=-74.02, north=40.71, east=-74.00, cell=500)
    without = le.PublicLocations([cells.locations().ids[0].as_py()])
    options: dict[str, Any] = {"window": SPRING, "windows": "month", "ledger": None}
    gridded = le.publish(le.Visits(rows, user="user"), SHARES, cells, exclude=without, **options)
    assert len(gridded) == 3 * (len(cells.locations()) - 1)


def test_a_table_with_other_windows_is_refused(tmp_path: Path) -> None:
    release, _ = published("person", tmp_path, mechanism=MOMENTS)
    table = release.to_arrow()
    start = table["window_start"].to_pylist()
    for dates in (
        start[::-1],
        [date(2026, 3, 1)] * 9,
        [each + timedelta(days=1) for each in start],
        [date(1, 1, 1)] * 9,
        [None] * 9,
    ):
        other = table.set_column(1, "window_start", pa.array(dates, pa.date32()))
        with pytest.raises(ReleaseError):
            le.Release(other, release.statement)
    with pytest.raises(ReleaseError, match="lacks some"):
        le.Release(table.drop_columns(["window_end"]), release.statement)


@pytest.mark.parametrize("unit", ["person", "person-month"])
def test_an_interrupted_attempt_is_continued(
    unit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two parts: what was drawn is not drawn again, and the spend is one."""
    ledger = ledger_of(unit, tmp_path)
    options: dict[str, Any] = {
        "ledger": ledger,
        "window": SPRING,
        "windows": "month",
        "out": tmp_path / "out",
    }
    with monkeypatch.context() as planted:
        planted.setattr("locentropy.publishing.publish._infer", _killed)
        with pytest.raises(Killed):
            le.publish(visits(crowd()), MOMENTS, listed(), **options)
    with pytest.warns(publish.ResumedWarning):
        le.publish(visits(crowd()), MOMENTS, listed(), **options)
    assert len(ledger.history()) == 1
    assert le.verify(tmp_path / "out", ledger).ok


def _killed(*_: Any, **__: Any) -> None:
    raise Killed


# --- the guarantee ------------------------------------------------------------------------------------------------


def drawn(rows: list[Row], unit: Any, seed: int) -> list[Any]:
    """What all windows together ask of the noise, through the engine, under one and the same outcome."""
    windows = split(SPRING, "month")
    request = Request(SHARES, listed(), window=SPRING, unit=unit, windows=windows, windows_of="month")
    noise: Any = Recorder(seed, all_clear=True)
    opened = open_queries(
        visits(rows).during(SPRING), locations=request.listed, windows=windows, refuse_empty=False
    )
    with opened as queries:
        publish._cross(request, [level.of(queries) for level in request.levels], noise)
    found: list[Any] = noise.drawn
    return found


def cost(unit: Any, left_out: Any, seed: int = 1) -> Fraction:
    """What leaving out some rows costs in all windows together, as a part of what the guarantee allows."""
    rows = crowd()
    one, other = (drawn(kept, unit, seed) for kept in (rows, [row for row in rows if not left_out(row)]))
    return loss(one, other) / allowed(SHARES)


def person(row: Row) -> bool:
    return row[0] == "all"


def in_march(row: Row) -> bool:
    return row[0] == "all" and row[2].month == 3


def test_a_person_costs_no_more_than_promised() -> None:
    assert Fraction(8, 10) < cost("person", person) <= 1


def test_a_person_in_one_month_costs_no_more_than_promised() -> None:
    assert Fraction(8, 10) < cost("person-month", in_march) <= 1
    assert cost("person-month", lambda row: row[0] == "u4") <= 1


def test_a_person_in_three_months_costs_three_times_that() -> None:
    """Which is what the ledger charges the person."""
    assert 2 < cost("person-month", person) <= 3


def test_the_check_sees_bounds_per_month_under_the_person_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a unit of presence in each month, for one ε."""
    own = requested_levels.by_part
    monkeypatch.setattr(requested_levels, "by_part", lambda mechanism, unit: own(mechanism, "person-month"))
    assert cost("person", person) > 2


def test_the_check_sees_one_part_for_all_months(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: all months in one part under a unit per month. Without March, somebody's shares of May are larger."""
    monkeypatch.setattr(requested_levels, "by_part", lambda mechanism, unit: mechanism)
    assert cost("person-month", in_march) > 1


@pytest.mark.parametrize("cells", ["zones", "h3", "squares"])
def test_cells_of_a_map_in_several_windows(cells: str, tmp_path: Path) -> None:
    """Each window as its own release would count it."""
    pytest.importorskip("shapely")
    source = visits(crowd()).source
    lat = [40.701 + 0.001 * (number % 8) for number in range(len(source))]
    rows = source.append_column("lat", pa.array(lat)).append_column("lon", pa.array([-74.005] * len(source)))
    box = (40.70, -74.02, 40.71, -74.00)
    if cells == "zones":
        rings = [(40.70, 40.704), (40.704, 40.71)]
        features = [
            {
                "type": "Feature",
                "properties": {"name": f"z{at}"},
                "geometry": {
                    "type": "Polygon",
                    "coordinates": [[[-74.02, s], [-74.0, s], [-74.0, n], [-74.02, n], [-74.02, s]]],
                },
            }
            for at, (s, n) in enumerate(rings)
        ]
        path = tmp_path / "zones.geojson"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        chosen: Any = le.Zones(path, id="name")
    elif cells == "h3":
        pytest.importorskip("h3")
        chosen = le.H3Cells(resolution=9, within=box)
    else:
        chosen = le.Grid(*box, cell=500)
    table, windows = le.Visits(rows, user="user"), split(SPRING, "month")
    with open_queries(table.during(SPRING), locations=chosen, windows=windows) as queries:
        whole = queries.exact_profile().to_arrow().to_pylist()
    assert whole
    for window in windows:
        with open_queries(table.during(window), locations=chosen) as queries:
            alone = queries.exact_profile().to_arrow().to_pylist()
        there = [row for row in whole if row["location"].startswith(f"{window.text} ")]
        assert [row | {"location": row["location"].split(" ", 1)[1]} for row in there] == [
            row | {"location": str(row["location"])} for row in alone
        ]
