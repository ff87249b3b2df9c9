"""Spans cut into windows: every day of the span is in one of them, and each is a whole period."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.core.window_split import MAX_WINDOWS, in_windows, pair_ids, split
from locentropy.core.windows import Window
from locentropy.privacy.units import cell_label, part_windows

days = st.dates(date(1990, 1, 1), date(2100, 1, 1))
UNITS = {"day": "person-day", "week": "person-week", "month": "person-month"}


@given(days, st.integers(1, 500), st.sampled_from(["day", "week", "month"]))
def test_every_day_is_in_one_window(start: date, length: int, period: Any) -> None:
    end = start + timedelta(days=length)
    window = Window(f"{start}/{end}", zone="UTC", hours="07-10" if length < 300 else None)
    unit: Any = UNITS[period]
    labels = list(dict.fromkeys(cell_label(unit, start + timedelta(days=n)) for n in range(length)))
    whole = (
        cell_label(unit, start) != cell_label(unit, start - timedelta(days=1))
        and cell_label(unit, end) != cell_label(unit, end - timedelta(days=1))
        and 2 <= len(labels) <= MAX_WINDOWS
    )
    if not whole:
        with pytest.raises(ParameterError, match=r"must begin and end where|more than 400"):
            split(window, period)
        return
    found = split(window, period)
    assert [each.text for each in found] == labels
    assert (found[0].start, found[-1].end) == (start, end)
    assert all(one.end == other.start for one, other in pairwise(found))
    assert {each.mask for each in found} == {window.mask}


def test_what_cannot_be_cut() -> None:
    span = Window("2026-01/2026-03", zone="UTC")
    for window, period, why in (
        (span, "year", "not one of day, week, month"),
        (None, "month", "and there is none"),
        (Window("2026-01", zone="UTC"), "month", "at least two"),
        (Window("2026-01-02/2026-03-01", zone="UTC"), "month", "must begin and end where a month does"),
        (Window("2024-01/2026-01", zone="UTC"), "day", "more than 400 days"),
    ):
        with pytest.raises(ParameterError, match=why):
            split(window, period)


def test_spans_of_months_and_weeks() -> None:
    assert Window("2026-01/2026-07", zone="UTC").dates == (date(2026, 1, 1), date(2026, 7, 1))
    assert Window("2026-W01/2026-W03", zone="UTC").dates == (date(2025, 12, 29), date(2026, 1, 12))
    for wrong in ("2026-07/2026-01", "2026-01/2026-01", "2026-01/", "/2026-01", "2026-01/2026-02/2026-03"):
        with pytest.raises(ParameterError, match="is not a month"):
            Window(wrong, zone="UTC")


def test_parts_by_unit() -> None:
    span = Window("2026-01/2026-03", zone="UTC")
    by_day = split(span, "day")
    assert part_windows("person", span, by_day) == (span,)
    assert [each.text for each in part_windows("person-month", span, by_day) if each] == [
        "2026-01",
        "2026-02",
    ]
    assert len(part_windows("person-day", span, by_day)) == 59
    with pytest.raises(ParameterError, match="more than one day"):
        part_windows("person-day", span, split(span, "month"))
    weeks = Window("2026-W01/2026-W06", zone="UTC")
    with pytest.raises(ParameterError, match="more than one month"):
        part_windows("person-month", weeks, split(weeks, "week"))
    with pytest.raises(ParameterError, match="more than one month"):
        part_windows("person-month", span)


def test_pairs_of_places_and_windows() -> None:
    places = Locations(
        pa.array([7, 8]),
        pa.array(["a", "b"]),
        np.array([1.0, 2.0]),
        np.array([3.0, 4.0]),
        {"kind": pa.array(["x", None])},
    )
    windows = split(Window("2026-01/2026-03", zone="UTC"), "month")
    found = in_windows(places, windows)
    assert found.ids.to_pylist() == ["2026-01 7", "2026-01 8", "2026-02 7", "2026-02 8"]
    assert pair_ids(places.ids, windows).equals(found.ids)
    assert found.attributes["kind"].to_pylist() == ["x", None, "x", None]
    assert found.in_windows is not None
    assert found.in_windows.ids.to_pylist() == [7, 8, 7, 8]
    assert found.in_windows.dates()[1].to_pylist() == [date(2026, 2, 1)] * 2 + [date(2026, 3, 1)] * 2
