"""Random people, through the engine: whoever comes or goes moves no more than the proofs say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locentropy.core.bounds import Bounds
from locentropy.core.shares import ShareRule
from locentropy.mechanisms.shares.measurements import UNIT
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS
from locentropy_lab.audit.mutation.guarantee_checks import beyond_one_user, changes, profiles
from locentropy_lab.audit.neighbours import People, asked
from tests.examples import examples

LISTED = 8
M, C = 2, 3
SOMEBODY = 99

places = st.dictionaries(st.integers(0, LISTED + 2), st.integers(1, 9) | st.just(10**6), max_size=LISTED + 3)
crowds = st.dictionaries(st.integers(0, 12), places, min_size=1, max_size=8)


def some(people: People) -> People:
    """Never an empty table, and somebody at a listed place."""
    return {**people, 50: {0: 1}}


@given(crowds, places.filter(bool))
@settings(max_examples=examples(12), deadline=None)
def test_a_profile_moves_in_at_most_m_places_by_one_user_each(people: People, new: dict[int, int]) -> None:
    bounds = [Bounds(M, C, keep) for keep in ("most-visited", "first", "lowest-id")]
    without = profiles(some(people), LISTED, bounds)
    with_user = profiles(some({**people, SOMEBODY: new}), LISTED, bounds)
    at_home = len([place for place in new if place < LISTED])
    for more, less in zip(with_user, without, strict=True):
        moved = changes(more, less)
        assert beyond_one_user(moved, M) is None
        assert len(moved) == min(M, at_home)
        assert {visits for _, visits in moved} <= set(range(1, C + 1))
        assert beyond_one_user(changes(less, more), M) is not None or not moved, (
            "the other way round users go"
        )


@given(
    crowds,
    places.filter(bool),
    st.sampled_from([UNIT, UNIT // 3]),
    st.lists(st.integers(0, 2), min_size=LISTED, max_size=LISTED),
)
@settings(max_examples=examples(12), deadline=None)
def test_shares_move_by_at_most_one_unit(
    people: People, new: dict[int, int], largest: int, bands: list[int]
) -> None:
    equal = ShareRule(UNIT, largest)
    found = []
    for table in (some(people), some({**people, SOMEBODY: new})):
        with asked(table, LISTED) as queries:
            found.append(
                (
                    queries.presence(equal, np.array([*bands[:-1], 2]), (2, 4), (2, 3, 9)),
                    queries.look(ShareRule(UNIT, largest, LOOK_WEIGHTS)),
                    queries.look(ShareRule(UNIT, UNIT, LOOK_WEIGHTS, "l2")),
                )
            )
    moved = [more - less for less, more in zip(*found, strict=True)]
    assert all((each >= 0).all() for each in moved), "presence only grows when somebody comes"
    at_home = len([place for place in new if place < LISTED])
    assert int(moved[0].sum()) == at_home * min(largest, UNIT // max(1, at_home)) <= UNIT
    assert int(moved[1].sum()) <= UNIT
    assert sum(each * each for each in moved[2].tolist()) <= UNIT**2


@pytest.mark.parametrize(
    ("moved", "problem"),
    [
        ({(0, 1): 1, (1, 3): 1}, None),
        ({(0, 1): 1, (1, 1): 1, (2, 1): 1}, "3 places"),
        ({(0, 1): 1, (0, 2): 1}, "twice"),
        ({(0, 1): 2}, "others"),
        ({(0, 1): 1, (1, 1): -1}, "others"),
    ],
)
def test_what_one_user_can_do_is_told_from_what_none_can(moved: dict, problem: str | None) -> None:
    found = beyond_one_user(moved, 2)
    assert found is None if problem is None else problem in str(found)
