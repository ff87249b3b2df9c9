"""Octaves: draws stay in their cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator import octaves
from locentropy.mechanisms.shares.measurements import ShareQueries
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES, VISIT_THRESHOLDS

INSIDE = st.floats(1e-6, 1 - 1e-6)


def one(function, cell, quantile, *others):
    return float(function(*others, np.array([quantile]), np.array([cell]))[0])


@given(cell=st.integers(0, SIZE_OCTAVES - 1), quantile=INSIDE, halves=st.integers(2, 200))
def test_places_are_whole_numbers_of_their_cell(cell, quantile, halves):
    cap = halves / 2
    drawn = one(octaves.places, cell, quantile, cap)
    assert drawn == int(drawn)
    assert drawn <= cap * 2**cell
    assert drawn >= 1 if cell == 0 else drawn > cap * 2 ** (cell - 1)


@given(cell=st.integers(0, SIZE_OCTAVES - 1), quantile=INSIDE, epsilon=st.integers(1, 30))
def test_places_are_counted_by_the_query_in_the_cell_they_were_drawn_for(cell, quantile, epsilon):
    asked = ShareQueries(epsilon)
    drawn = int(one(octaves.places, cell, quantile, float(asked.cap)))
    assert np.searchsorted(asked.size_thresholds, drawn, side="right") == cell


@given(cell=st.integers(0, VISIT_OCTAVES - 1), quantile=st.floats(0, 1 - 1e-12))
def test_visits_are_counted_by_the_query_in_the_cell_they_were_drawn_for(cell, quantile):
    drawn = one(octaves.visits, cell, quantile)
    assert drawn == int(drawn)
    assert np.searchsorted(VISIT_THRESHOLDS, drawn, side="right") == cell


@pytest.mark.parametrize("cell", range(1, 6))
def test_every_number_of_a_cell_is_drawn(cell):
    quantile = (np.arange(2000) + 0.5) / 2000
    everywhere = np.full(2000, cell)
    numbers = set(range(2 ** (cell - 1) + 1, 2**cell + 1))
    assert set(octaves.visits(quantile, everywhere).tolist()) == numbers
    assert set(octaves.places(1.0, quantile, everywhere).tolist()) == numbers


@pytest.mark.parametrize("cap", [1, 2, 3, 5, 50])
def test_the_mean_share_is_that_of_all_numbers_of_places_in_the_cell(cap):
    """m is drawn evenly in ln m and rounded up: it is m with the probability log₂ m/(m − 1), within the octave."""
    found = octaves.mean_share(float(cap))
    assert found[0] == pytest.approx(1 / cap)
    for cell in range(1, SIZE_OCTAVES):
        number = np.arange(cap * 2 ** (cell - 1) + 1, cap * 2**cell + 1)
        likely = np.log2(number / (number - 1))
        assert likely.sum() == pytest.approx(1)
        assert found[cell] == pytest.approx((likely / number).sum(), rel=0.01)


@pytest.mark.parametrize("listed", [1, 2, 3, 17, 1000, 10**7])
@pytest.mark.parametrize("cap", [1.0, 2.5, 5.0])
def test_cells_are_possible_when_somebody_could_be_in_them(cap, listed):
    possible = octaves.possible_sizes(cap, listed)
    for cell in range(SIZE_OCTAVES):
        first = 1 if cell == 0 else math.floor(cap * 2 ** (cell - 1)) + 1
        assert (cell < possible) == (first <= listed)
