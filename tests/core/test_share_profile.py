"""The exact arithmetic of a share profile."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.core.errors import ParameterError
from locentropy.core.share_profile import ShareProfile, share

PLACES = pa.array(list("abcdef"))
C = 4

Records = list[dict[int, int]]
"""For each user, the visits at each place, which is given by its position."""

records = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 9), min_size=1), max_size=12)


def portions(record: dict[int, int], unit: int, largest: int) -> int:
    return min(largest, unit // len(record))


def brute_force(people: Records, unit: int, largest: int, max_visits: int = C) -> ShareProfile:
    """A profile made of one row for each user and place, in no order."""
    rows = [(at, v, portions(each, unit, largest)) for each in people for at, v in each.items()]
    index, visits, shares = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    clipped = np.minimum(visits, max_visits)
    asked = (unit, largest, max_visits)
    return ShareProfile.from_rows(PLACES, asked, (index, clipped, shares), (shares, shares), (visits, shares))


units = st.integers(1, 40) | st.just(2**20)


@given(records, units, st.data())
def test_sums_follow_the_definition(people: Records, unit: int, data: st.DataObject) -> None:
    largest = data.draw(st.integers(1, unit))
    entries = st.integers(-(2**16), 2**16)
    table = data.draw(st.lists(st.tuples(entries, entries), min_size=C, max_size=C))
    look, moments = [0] * 6, [[0, 0] for _ in range(6)]
    for record in people:
        for at, visits in record.items():
            mine = portions(record, unit, largest)
            look[at] += mine
            for column in range(2):
                moments[at][column] += mine * table[min(visits, C) - 1][column]
    profile = brute_force(people, unit, largest)
    assert profile.look.tolist() == look
    assert profile.moments(table).tolist() == moments
    assert profile.look.dtype == profile.moments(table).dtype == np.int64
    assert profile.equals(brute_force(people[::-1], unit, largest))
    assert len(profile) == 6


@given(records, units, st.sets(st.integers(-2, 2**20 + 2) | st.integers(0, 12), min_size=1))
def test_every_row_is_in_exactly_one_cell(people: Records, unit: int, edges: set[int]) -> None:
    thresholds = sorted(edges)

    def cell(value: int) -> int:
        return sum(value >= edge for edge in thresholds)

    by_share: Counter[int] = Counter()
    by_visits: Counter[int] = Counter()
    for record in people:
        mine = portions(record, unit, unit)
        for visits in record.values():
            by_share[cell(mine)] += mine
            by_visits[cell(visits)] += mine
    profile = brute_force(people, unit, unit)
    cells = range(len(thresholds) + 1)
    assert profile.presence_by_share(thresholds).tolist() == [by_share[j] for j in cells]
    assert profile.presence_by_visits(thresholds).tolist() == [by_visits[j] for j in cells]
    assert profile.presence_by_share(thresholds).sum() == profile.look.sum()


@given(st.integers(1, 10**7), st.integers(1, 2**31 - 1), st.data())
def test_shares_of_a_user_add_up_to_no_more_than_the_unit(
    places: int, unit: int, data: st.DataObject
) -> None:
    largest = data.draw(st.integers(1, unit))
    each = share(np.array([places]), unit, largest).tolist()[0]
    assert places * each <= unit
    assert each == largest or (each < largest and places * (each + 1) > unit)


def test_sums_that_do_not_fit_are_held_and_never_wrapped() -> None:
    unit = 2**31 - 1
    one = np.array([1])
    for total, entry in (
        (2**33, 2**29),
        (2**33, 2**30),
        (2**33, -(2**30)),
        (2**33, -(2**30) - 1),
        (2**40, 2**40),
    ):
        whole = np.array([total])
        rows = (np.array([2]), one, whole)
        profile = ShareProfile.from_rows(
            PLACES, (unit, unit, 1), rows, (np.array([unit]), whole), (one, whole)
        )
        exact = max(-(2**63), min(2**63 - 1, total * entry))
        assert profile.moments([[entry, 1]]).tolist()[2] == [exact, total]


def test_sums_are_exact_beyond_the_integers_of_a_double() -> None:
    odd = np.array([2**60 + 1, 2])
    ones, units = np.array([1, 1]), np.array([5, 5])
    profile = ShareProfile.from_rows(
        PLACES, (5, 5, 1), (np.array([3, 3]), ones, odd), (units, odd), (ones, odd)
    )
    assert profile.look[3] == 2**60 + 3
    assert profile.presence_by_visits([1]).tolist() == [0, 2**60 + 3]


ONE = np.array([1])
GOOD: dict[str, Any] = {
    "asked": (8, 4, 2),
    "rows": (np.array([0]), ONE, ONE),
    "by_share": (ONE, ONE),
    "by_visits": (ONE, ONE),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": (np.array([6]), ONE, ONE)}, "of its locations"),
        ({"rows": (np.array([-1]), ONE, ONE)}, "of its locations"),
        ({"rows": (ONE, np.array([3]), ONE)}, "1..C"),
        ({"rows": (ONE, np.array([0]), ONE)}, "1..C"),
        ({"rows": (ONE, ONE, -ONE)}, "shares ≥ 0"),
        ({"by_share": (np.array([5]), ONE)}, "largest"),
        ({"by_visits": (np.array([0]), ONE)}, "visits"),
        ({"by_share": (ONE, 2 * ONE)}, "the same presence"),
        ({"by_visits": (ONE, 2 * ONE)}, "the same presence"),
        ({"asked": (0, 1, 1)}, "unit=0"),
        ({"asked": (4, 5, 1)}, "largest=5"),
        ({"asked": (4, 2.0, 1)}, "largest=2.0"),
        ({"asked": (4, 4, 0)}, "max_visits=0"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    ShareProfile.from_rows(PLACES, **GOOD)
    with pytest.raises(ParameterError, match=message):
        ShareProfile.from_rows(PLACES, **(GOOD | change))


@pytest.mark.parametrize("table", [[[1, 2]], [[1.0, 2.0]] * C, [1] * C, [[1, 2, 3]] * C])
def test_tables_that_do_not_fit(table: Any) -> None:
    with pytest.raises(ParameterError, match="4 rows of two integers"):
        brute_force([{0: 1}], 8, 8).moments(table)


@pytest.mark.parametrize("thresholds", [[2, 2], [3, 2], [1.5], [[1]]])
def test_thresholds_that_make_no_cells(thresholds: Any) -> None:
    with pytest.raises(ParameterError, match="ascending"):
        brute_force([{0: 1}], 8, 8).presence_by_share(thresholds)


def test_other_questions_and_answers_are_not_equal() -> None:
    profile = brute_force([{0: 1}, {1: 2}], 8, 4)
    assert not profile.equals(brute_force([{0: 1}, {1: 2}], 8, 5))
    assert not profile.equals(brute_force([{0: 1}, {1: 2}], 9, 4))
    assert not profile.equals(brute_force([{0: 1}, {1: 2}], 8, 4, C + 1))
    assert not profile.equals(brute_force([{0: 1}, {1: 3}], 8, 4))


def test_nobody() -> None:
    profile = brute_force([], 8, 8)
    assert profile.look.tolist() == [0] * 6
    assert profile.moments([[1, 1]] * C).tolist() == [[0, 0]] * 6
    assert profile.presence_by_visits([2, 3]).tolist() == [0, 0, 0]
