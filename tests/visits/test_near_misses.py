"""Ids that a list would have if they were written a little differently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.visits.near_misses import SPELLINGS, by_spelling, near_misses

LISTED = ["cafe-1", "Ärzte", "7", "S-12-3", "Straße"]


@pytest.mark.parametrize(
    ("unlisted", "listed", "differ"),
    [
        ("0007", "7", ("zeros",)),
        ("S-0012-03", "S-12-3", ("zeros",)),
        (" cafe-1", "cafe-1", ("blanks",)),
        ("cafe-1\u00a0", "cafe-1", ("blanks",)),
        ("\ufeffcafe-1", "cafe-1", ("blanks",)),
        ("CAFE-1", "cafe-1", ("case",)),
        ("A\u0308rzte", "Ärzte", ("Unicode",)),
        ("ca\u200bfe-1", "cafe-1", ("Unicode",)),
        ("7.0", "7", ("decimals",)),
        ("STRASSE", "Straße", ("case",)),
        (" Cafe-01", "cafe-1", ("blanks", "case", "zeros")),
    ],
)
def test_what_they_differ_in_is_told(unlisted: str, listed: str, differ: tuple[str, ...]) -> None:
    [found] = near_misses([unlisted], LISTED)
    assert found == (unlisted, listed, differ)


@pytest.mark.parametrize("unlisted", ["70", "cafe-10", "cafe 1", "7.5", "1", "0", "", "cafe"])
def test_another_id_is_none(unlisted: str) -> None:
    assert near_misses([unlisted], LISTED) == []


@given(st.lists(st.text(max_size=8), unique=True), st.lists(st.text(max_size=8), unique=True))
def test_each_differs_in_something_that_can_be_put_aside(unlisted: list[str], listed: list[str]) -> None:
    for found in near_misses([each for each in unlisted if each not in listed], listed):
        assert found.unlisted != found.listed
        assert set(found.differ) <= set(SPELLINGS)


def test_the_most_frequent_difference_comes_first() -> None:
    found = near_misses(["CAFE-1", "07", "007"], LISTED)
    assert [(differ, len(group)) for differ, group in by_spelling(found).items()] == [
        (("zeros",), 2),
        (("case",), 1),
    ]
