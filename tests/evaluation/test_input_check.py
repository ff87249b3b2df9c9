"""A check of the input: it finds what would make a release of noise, and shows nothing that it was not asked to."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import locentropy as le
from locentropy.core.errors import ColumnError, LedgerError, ParameterError
from locentropy.evaluation.input_check import LOOKS_RIGHT, CheckedInput
from tests.publishing.making import ledger_in

SHARES = le.Shares(epsilon=1.0)
STATIONS = le.PublicLocations([str(number) for number in range(1, 41)], provenance="the register")
WINDOW = le.Window("2026-05", zone="Europe/Berlin")
BOX = le.Grid(south=40.0, west=-74.0, north=40.1, east=-73.9, cell=1000)


def trips(number: Callable[[int], str] = str, zone: str = "Z", rows: int = 400) -> pa.Table:
    """Trips of 40 people to 40 stations in May 2026."""
    at = [f"2026-05-{1 + row % 28:02d}T08:00:00{zone}" for row in range(rows)]
    return pa.table(
        {
            "user": [f"person-{row % 40}" for row in range(rows)],
            "location": [number(1 + row % 40) for row in range(rows)],
            "time": at,
        }
    )


def check(table: Any, places: Any = STATIONS, mechanism: Any = SHARES, **options: Any) -> CheckedInput:
    said = {name: options.pop(name) for name in ("bad_rows", "ids", "time_type", "user") if name in options}
    return le.private.check(le.Visits(table, **said), mechanism, places, **{"ledger": None, **options})


def test_an_input_that_fits_looks_right() -> None:
    checked = check(trips())
    assert checked.looks_right
    assert checked.report().endswith(LOOKS_RIGHT)
    assert checked.found.at is not None
    assert (checked.found.people, checked.found.at.visits, checked.found.at.elsewhere) == (40, 400, 0)
    assert checked.found.days == (date(2026, 5, 1), date(2026, 5, 28))


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ms")], ids=str)
@pytest.mark.parametrize("year", [-200_000, 200_000])
def test_a_time_of_a_year_that_python_does_not_know_stops_nothing(kind: pa.DataType, year: int) -> None:
    """It is a time to every engine, and one row may have it."""
    table = trips()
    times = table["time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    times[0] = (year - 1970) * 365 * 86_400 * 10**6
    if kind.unit == "ms":
        times = [time // 1000 for time in times]
    table = table.set_column(2, "time", pa.array(times, pa.int64()).cast(kind))
    days = check(table, bad_rows="drop").found.days
    assert days is not None
    assert (date.min if year < 0 else date.max) in days


class TestWhatLooksWrong:
    def test_lines_of_json_that_are_dropped(self, tmp_path: Path) -> None:
        lines = ['{"user": "ann", "location": "1"}'] * 2 + [
            "{",
            "[1]",
            "{}",
            '{"user": "eve"}',
            '{"uid": "eve"}',
        ]
        (tmp_path / "v.jsonl").write_text("".join(f"{line}\n" for line in lines))
        checked = check(tmp_path / "v.jsonl", bad_rows="drop")
        assert (checked.found.rows, checked.found.left_out, checked.found.used) == (7, 5, 2)
        assert "5 of 7 rows would be dropped" in " ".join(checked.problems)

    def test_a_clock_that_the_window_cannot_date_drops_nearly_all_rows(self) -> None:
        table = pa.concat_tables([trips(zone="", rows=396), trips(rows=4)])
        checked = check(table, window=WINDOW, bad_rows="drop")
        assert (checked.found.rows, checked.found.left_out, checked.found.used) == (400, 396, 4)
        said = " ".join(checked.problems)
        assert "396 of 400 rows would be dropped" in said
        assert "times name no zone" in said
        assert "--time-type local" in said

    def test_ids_that_a_spreadsheet_has_shortened(self) -> None:
        checked = check(trips(lambda number: f"{number:04d}"))
        assert checked.found.at is not None
        assert (checked.found.at.visited, len(checked.found.at.near)) == (0, 40)
        said = " ".join(checked.problems)
        assert "No visit is at a listed place" in said
        assert "40 unlisted ids differ from a listed one only in leading zeros" in said
        assert "Ids are spelt otherwise than in the list" in said
        assert "right columns" not in said, "they are: the ids say so"

    def test_ids_of_another_column_ask_for_the_column(self) -> None:
        said = " ".join(check(trips(lambda number: f"bike {number}")).problems)
        assert "Are --location and --places-location the right columns" in said

    @pytest.mark.parametrize(
        ("spelt", "called"),
        [
            (lambda number: f" {number}", "blanks at an end"),
            (lambda number: f"{number}\u200b", "blanks at an end"),
            (lambda number: f"{number // 10}\u200b{number % 10}", "invisible characters"),
            (lambda number: f"{number}.0", "a decimal point"),
        ],
    )
    def test_other_spellings(self, spelt: Callable[[int], str], called: str) -> None:
        said = " ".join(check(trips(spelt), ids="text").problems)
        assert f"differ from a listed one only in {called}" in said

    @pytest.mark.parametrize(
        ("spelt", "option"),
        [
            (lambda number: f" s-{number}", "text,trim"),
            (lambda number: f"S-{number}", "text,fold"),
            (lambda number: f"\u200bS-{number}\u00a0", "text,trim,fold"),
        ],
    )
    def test_the_option_that_mends_it_does(self, spelt: Callable[[int], str], option: str) -> None:
        listed = le.PublicLocations([f"s-{number}" for number in range(1, 41)], provenance="the register")
        said = " ".join(check(trips(spelt), listed, ids="text").problems)
        assert f"--ids {option})" in said
        assert check(trips(spelt), listed, ids=option).looks_right

    def test_no_option_is_shown_that_would_not_mend_it(self) -> None:
        """U+2003 is no blank of `trim`."""
        said = " ".join(check(trips(lambda number: f"{number}\u2003"), ids="text").problems)
        assert "Write them alike" in said
        assert "--ids" not in said

    def test_a_single_id_that_is_spelt_otherwise(self) -> None:
        checked = check(trips(lambda number: "040" if number == 40 else str(number)))
        assert len(checked.problems) == 1
        assert checked.problems[0].startswith("1 unlisted id differs from a listed one only in leading zeros")

    def test_rows_for_which_publish_would_refuse(self) -> None:
        bad = trips().set_column(2, "time", pa.array(["soon", *trips()["time"].to_pylist()[1:]]))
        checked = check(bad, window=WINDOW)
        assert checked.problems[0].startswith("publish would refuse the table: Some rows cannot be used.")
        assert "--bad-rows drop" in checked.problems[0]
        assert not any("would be dropped" in each for each in checked.problems), (
            "what is refused drops nothing"
        )
        assert "\n  " in checked.report(), "lines of one problem stand together"
        assert (checked.found.used, checked.found.left_out) == (399, 1)
        with pytest.raises(le.LocentropyError, match="Some rows cannot be used"):
            le.publish(le.Visits(bad), SHARES, STATIONS, ledger=None, window=WINDOW)

    def test_lines_that_cannot_be_read(self, tmp_path: Path) -> None:
        path = tmp_path / "trips.csv"
        rows = "".join(f"person-{row % 9},{1 + row % 40}\n" for row in range(50))
        path.write_text("user,location\n" + rows + "torn\n" * 50)
        checked = check(path, bad_rows="drop")
        assert (checked.found.rows, checked.found.left_out) == (100, 50)
        assert any("lines that cannot be read as rows: 50 rows" in each for each in checked.problems)
        assert check(path).problems[0].startswith("publish would refuse the table")

    def test_lines_with_an_open_quotation_mark(self, tmp_path: Path) -> None:
        path = tmp_path / "trips.csv"
        path.write_text("user,location\nann,1\n" + 'bob,"2\n' * 49)
        checked = check(path, bad_rows="drop")
        assert (checked.found.rows, checked.found.left_out) == (50, 49)
        assert any("open quotation mark" in each for each in checked.problems)

    def test_columns_that_cannot_be_used_by_name_or_type_are_errors_as_of_publish(self) -> None:
        whole = trips().set_column(2, "time", pa.array(range(400)))
        with pytest.raises(ColumnError, match="--time-type"):
            check(whole, window=WINDOW)
        with pytest.raises(ColumnError, match="person"):
            check(trips(), user="person")

    def test_ids_for_which_publish_would_refuse(self) -> None:
        checked = check(trips(lambda number: f"{number}.0"))
        assert "publish would refuse the table" in checked.problems[0]
        assert "--ids text" in checked.problems[0]

    def test_a_window_of_another_year(self) -> None:
        checked = check(trips(), window=le.Window("2025-05", zone="Europe/Berlin"))
        assert "No row is in the window 2025-05" in checked.problems[0]
        assert checked.found.days == (date(2026, 5, 1), date(2026, 5, 28)), "which tells the right one"

    def test_a_column_that_numbers_trips_is_not_the_person(self) -> None:
        table = trips().set_column(0, "user", pa.array([f"trip-{row}" for row in range(400)]))
        assert "Every row has a person of its own" in check(table).problems[0]

    def test_seconds_that_are_taken_for_milliseconds(self) -> None:
        table = trips().set_column(2, "time", pa.array([1_777_000_000 + row for row in range(400)]))
        said = " ".join(check(table, window=WINDOW, time_type="ms").problems)
        assert "1970-01-21" in said
        assert "--time-type" in said

    def test_rows_without_a_person(self) -> None:
        table = trips().set_column(
            0, "user", pa.array([*["nan"] * 300, *(f"person-{n}" for n in range(100))])
        )
        checked = check(table)
        assert (checked.found.people, checked.found.left_out) == (100, 300)
        assert "no user id" in " ".join(checked.problems)

    def test_nothing_at_all(self) -> None:
        assert "no rows" in " ".join(check(trips().slice(0, 0)).problems)


class TestPlaces:
    def located(self, *, swapped: bool = False) -> pa.Table:
        draw = random.Random(3)
        lat = [40.0 + draw.random() / 10 for _ in range(300)]
        lon = [-74.0 + draw.random() / 10 for _ in range(300)]
        names = ("lon", "lat") if swapped else ("lat", "lon")
        return pa.table({"user": [f"u{n % 30}" for n in range(300)], names[0]: lat, names[1]: lon})

    def test_a_grid(self) -> None:
        checked = check(self.located(), BOX)
        assert checked.looks_right, checked.problems
        assert checked.found.at is not None
        assert (checked.found.at.visits, checked.found.at.unlisted) == (300, None)

    def test_latitude_for_longitude(self) -> None:
        [problem] = check(self.located(swapped=True), BOX).problems
        assert "300 would be if latitude were longitude" in problem

    def test_h3_cells(self) -> None:
        pytest.importorskip("h3")
        cells = le.H3Cells(resolution=8, within=(40.0, -74.0, 40.1, -73.9))
        there = check(self.located(), cells).found.at
        assert there is not None
        assert there.visits > 200

    def test_groups_and_levels_are_compared_by_place(self) -> None:
        table = pa.table({"location": [str(n) for n in range(1, 41)], "district": ["north", None] * 20})
        listed = le.PublicLocations(table, group="district", provenance="the register")
        for places in (
            listed,
            le.PublicLocations(table, levels=["place", "district"], provenance="the register"),
        ):
            there = check(trips(), places).found.at
            assert there is not None
            assert (there.places, there.visited, there.unlisted) == (40, 40, 0)

    def test_excluded_places_are_no_unlisted_ones_to_be_named(self) -> None:
        checked = check(trips(), exclude=le.PublicLocations(["7", "8"]))
        assert checked.found.at is not None
        assert (checked.found.at.places, checked.found.at.elsewhere) == (38, 20)
        assert "such as" not in checked.report()

    def test_a_selection_compares_what_is_excluded(self) -> None:
        selection = le.SelectLocations(epsilon=0.2, delta=1e-8, max_locations=5)
        assert check(trips(), selection).found.at is None
        checked = check(trips(), selection, exclude=le.PublicLocations(["07", "8"]))
        assert "1 of 2 places to exclude (--exclude) have no visit" in checked.problems[0]
        assert "leading zeros" in checked.problems[1]
        capitals = trips(lambda number: f"S-{number}")
        exclude = le.PublicLocations(["s-7", "s-8"])
        assert "2 of 2 places to exclude" in check(capitals, selection, exclude=exclude).problems[0]
        assert check(capitals, selection, exclude=exclude, ids="text,fold").looks_right

    @pytest.mark.parametrize("stored", [str, lambda number: f"{number:04d}"])
    def test_ids_of_another_type_for_which_publish_would_refuse(self, stored: Callable[[int], str]) -> None:
        numbers = le.PublicLocations(pa.table({"location": range(1, 41)}), provenance="the register")
        checked = check(trips(stored), numbers)
        assert "--ids text" in checked.problems[0]
        assert ("leading zeros" in checked.problems[-1]) == (stored(1) == "0001")
        with pytest.raises(ParameterError, match="none would match"):
            le.publish(le.Visits(trips(stored)), SHARES, numbers, ledger=None)

    def test_times_that_publishing_does_not_read_decide_nothing(self) -> None:
        table = trips().append_column("timestamp", pa.array([True] * 400))  # which of the two is the time?
        assert check(table).looks_right
        soon = trips().set_column(2, "time", pa.array(["soon"] * 400))
        checked = check(soon)
        assert checked.looks_right
        assert checked.found.left_out == 0


class TestWhatIsShown:
    def test_neither_people_nor_counts_of_a_place(self) -> None:
        """However visits are spread over the places, the report is the same."""
        even, uneven = trips(), trips()
        places = even["location"].to_pylist()
        crowded = ["1" if row >= 40 else place for row, place in enumerate(places)]
        uneven = uneven.set_column(1, "location", pa.array(crowded))
        assert check(even).report() == check(uneven).report()
        assert "person-" not in check(trips(lambda number: f"{number:04d}")).report()

    def test_at_most_three_unlisted_ids_and_none_whole_if_it_is_long(self) -> None:
        spelt = {1: "01", 2: "02", 3: "03", 4: "04", 5: "elsewhere", 6: "x" * 1000}
        report = check(trips(lambda number: spelt.get(number, str(number)))).report()
        assert sum(f"'{each}" in report for each in spelt.values()) == 3
        assert "x" * 50 not in report

    def test_the_repr_shows_no_value(self) -> None:
        right, wrong = check(trips()), check(trips(lambda number: f"{number:04d}"))
        assert repr(right) == repr(wrong) == str(wrong) == f"{wrong}"
        assert not any(letter.isdigit() for letter in repr(wrong))
        assert not hasattr(wrong, "_repr_html_")
        for part in (wrong.found, wrong.found.at):
            assert "0001" not in repr(part)
            assert "400" not in repr(part)


class TestLedger:
    def test_it_is_noted_and_nothing_is_spent(self, tmp_path: Path) -> None:
        ledger = ledger_in(tmp_path)
        check(trips(), ledger=ledger)
        book = ledger.read()
        assert len(book.input_checks) == 1
        assert (book.spends, book.evaluations, book.remaining) == ([], [], book.total)

    def test_it_is_noted_before_anything_is_returned(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_: le.Ledger) -> None:
            raise LedgerError("The disk is full.")

        ledger = ledger_in(tmp_path)
        monkeypatch.setattr(le.Ledger, "record_check", full)
        with pytest.raises(LedgerError):
            check(trips(), ledger=ledger)

    def test_a_later_release_says_so(self, tmp_path: Path) -> None:
        ledger = ledger_in(tmp_path)
        check(trips(), ledger=ledger)
        le.publish(le.Visits(trips()), SHARES, STATIONS, ledger=ledger, out=tmp_path / "may")
        manifest = (tmp_path / "may" / "manifest.yaml").read_text().replace("\n", " ")
        assert "compared ids, dates and dropped rows with the exact data" in " ".join(manifest.split())


@pytest.mark.parametrize("kind", ["pandas", "ibis", "csv", "parquet"])
def test_every_reader_gives_the_same_report(kind: str, tmp_path: Path) -> None:
    table = trips(lambda number: f"{number:04d}" if number < 9 else str(number)).drop_columns(["time"])
    path = tmp_path / f"trips.{kind}"
    sources: dict[str, Callable[[], Any]] = {
        "pandas": table.to_pandas,
        "ibis": lambda: ibis.memtable(table),
        "csv": lambda: pa.csv.write_csv(table, path) or path,
        "parquet": lambda: pa.parquet.write_table(table, path) or path,
    }
    assert check(sources[kind]()).report() == check(table).report()
