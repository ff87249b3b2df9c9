"""The exact arithmetic of a profile."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import locentropy as le
from locentropy.core.errors import ParameterError


def profile_of(counts: dict[str, list[int]]) -> le.private.VisitProfile:
    """A profile from the visits of every user at every location."""
    names = list(counts)
    index = [names.index(name) for name in names for _ in counts[name]]
    visits = [each for name in names for each in counts[name]]
    ones = np.ones(len(visits), dtype=np.int64)
    return le.private.VisitProfile.from_rows(
        pa.array(names, pa.string()), np.array(index, np.int64), np.array(visits, np.int64), ones, None
    )


def entropy_by_definition(visits: list[int]) -> float:
    total = sum(visits)
    return fsum(-float(Fraction(each, total)) * log(Fraction(each, total)) for each in visits)


records = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.integers(1, 10**6), max_size=30), min_size=1)


@given(records)
def test_counts_and_entropy_follow_the_definition(counts: dict[str, list[int]]) -> None:
    profile = profile_of(counts)
    for position, visits in enumerate(counts.values()):
        assert profile.user_counts[position] == len(visits)
        assert profile.visit_counts[position] == sum(visits)
        assert profile.visit_logs[position] == pytest.approx(fsum(c * log(c) for c in visits), rel=1e-13)
        assert profile.entropy[position] == pytest.approx(entropy_by_definition(visits), abs=1e-12)


@given(records, records)
def test_profiles_of_different_people_add_up(
    mine: dict[str, list[int]], theirs: dict[str, list[int]]
) -> None:
    both = {name: mine.get(name, []) + theirs.get(name, []) for name in sorted({*mine, *theirs})}
    total = profile_of(mine) + profile_of(theirs)
    assert total.to_arrow().sort_by("location").equals(profile_of(both).to_arrow())
    assert sorted(total.locations.to_pylist()) == list(both)


def test_a_single_visitor_has_no_entropy_at_all() -> None:
    profile = profile_of({"alone": [999_983], "nobody": [], "pair": [5, 5]})
    assert profile.entropy.tolist() == [0.0, 0.0, pytest.approx(log(2), abs=1e-15)]


def test_equal_data_gives_equal_arrays_in_any_order() -> None:
    assert profile_of({"a": [3, 1, 2, 1], "b": [1]}).equals(profile_of({"a": [1, 1, 2, 3], "b": [1]}))
    assert not profile_of({"a": [1, 1]}).equals(profile_of({"a": [1, 2]}))


def test_profiles_that_do_not_belong_together() -> None:
    numbers = le.private.VisitProfile.from_rows(
        pa.array([1]), np.array([0]), np.array([1]), np.array([1]), None
    )
    with pytest.raises(ParameterError, match="cannot be added"):
        profile_of({"a": [1]}) + numbers
    with pytest.raises(ParameterError, match="different bounds"):
        numbers + le.private.VisitProfile(
            numbers.locations, numbers.index, numbers.visits, numbers.users, le.private.Bounds(1, 1)
        )


@pytest.mark.parametrize("rows", [([1], [1], [1]), ([-1], [1], [1]), ([0], [0], [1]), ([0], [1], [0])])
def test_rows_that_cannot_be(rows: tuple[list[int], ...]) -> None:
    with pytest.raises(ParameterError, match="visits ≥ 1"):
        le.private.VisitProfile.from_rows(pa.array(["a"]), *map(np.array, rows), None)
