"""Units: which cell a window lies in, and why one that straddles cells is refused."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.calendars import dates, texts

from locentropy.core.errors import ParameterError
from locentropy.core.shares import ShareRule
from locentropy.core.windows import Window
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS
from locentropy.privacy.guarantee import Guarantee
from locentropy.privacy.units import cell_label, cell_of, check_unit, neighbours, protects
from locentropy.visits.queries import open_queries
from locentropy.visits.visits import Visits

UNITS = ["person-day", "person-week", "person-month"]
SCALE = 2**20


@given(st.sampled_from(UNITS), dates, st.integers(1, 40))
def test_a_window_lies_in_a_cell_if_all_its_days_do(unit: Any, day: date, days: int) -> None:
    window = Window(f"{day}/{day + timedelta(days=days)}", zone="UTC")
    cells = {cell_label(unit, day + timedelta(days=n)) for n in range(days)}
    if len(cells) == 1:
        assert cell_of(unit, window) == cells.pop()
    else:
        with pytest.raises(ParameterError, match="more than one"):
            cell_of(unit, window)


@given(st.sampled_from(UNITS), dates, texts)
def test_a_cell_is_a_window_of_its_own(unit: Any, day: date, form: Any) -> None:
    label = cell_label(unit, day)
    cell = Window(label, zone="UTC")
    assert cell.start <= day < cell.end
    assert cell_of(unit, cell) == label
    assert {cell_label(unit, cell.start), cell_label(unit, cell.end - timedelta(days=1))} == {label}


def test_words() -> None:
    assert cell_of("person", None) is None
    assert protects("person") == "one user's whole record"
    assert "one calendar month" in protects("person-month")
    assert "Monday" in neighbours("person-week")
    with pytest.raises(ParameterError, match="person-day"):
        check_unit("day")
    stated = Guarantee.pure(1).for_unit("person-month")
    assert "in the data of one month" in stated.explain()
    assert "all visits of one user in one calendar month" in str(stated)
    with pytest.raises(ParameterError, match="units"):
        stated + Guarantee.pure(1)
    assert (stated + stated).unit == stated.for_group(3).unit == "person-month"


def look(visits: Visits, window: Window, places: list[int]) -> np.ndarray[Any, Any]:
    rule = ShareRule(SCALE, SCALE, LOOK_WEIGHTS, "l1")
    with open_queries(visits.during(window), locations=places, refuse_empty=False) as queries:
        return queries.look(rule)


def moved(without: Any, window: Window, m: int = 64) -> Fraction:
    """By how much, of one person's unit, the shares move without the rows of one day."""
    times = [datetime(2026, 5, 3, 12) + timedelta(minutes=n) for n in range(m - 1)] + [
        datetime(2026, 5, 9, 12)
    ]
    whole = pa.table(
        {
            "user": ["a"] * m + ["b"],
            "location": [*range(m), 0],
            "time": pa.array([*times, times[-1]], pa.timestamp("us", "UTC")),
        }
    )
    rows = whole.filter(
        pa.array(
            [
                not without(at) or who == "b"
                for at, who in zip(whole["time"].to_pylist(), whole["user"].to_pylist(), strict=True)
            ]
        )
    )
    change = look(Visits(whole), window, list(range(m))) - look(Visits(rows), window, list(range(m)))
    return Fraction(int(np.abs(change).sum()), SCALE)


def test_a_day_moves_the_look_of_a_month_by_nearly_two() -> None:
    """2k/m with k = 63 of m = 64 places: so a monthly release is not ε-private for a day, and is refused."""
    month, day = Window("2026-05", zone="UTC"), Window("2026-05-03", zone="UTC")
    found = moved(lambda at: at.day == 3, month)
    assert Fraction(195, 100) < found <= 2
    assert moved(lambda at: True, month) <= 1, "the whole record in the month"
    assert moved(lambda at: at.day == 3, day) <= 1, "the day, where the window is the day"
    assert moved(lambda at: at.day == 9, day) == 0, "another day, where the window is the day"
