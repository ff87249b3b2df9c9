"""Octaves: draws stay in their cell, and a noisy histogram becomes a law that can be worked with."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator import histogram_smoothing
from locentropy.mechanisms.shares.measurements import (
    SIZE_OCTAVES,
    UNIT,
    VISIT_OCTAVES,
    VISIT_THRESHOLDS,
    ShareQueries,
)

from .made_up import bell

INSIDE = st.floats(1e-6, 1 - 1e-6)
USUAL = (math.log(4), 1.5)


def one(function, cell, quantile, *others):
    return float(function(*others, np.array([quantile]), np.array([cell]))[0])


# --- what a cell stands for ---------------------------------------------------------------------------------------


@given(cell=st.integers(0, SIZE_OCTAVES - 1), quantile=INSIDE, halves=st.integers(2, 200))
def test_places_are_whole_numbers_of_their_cell(cell, quantile, halves):
    cap = halves / 2
    drawn = one(histogram_smoothing.places, cell, quantile, SIZE_OCTAVES, cap)
    assert drawn == int(drawn)
    assert drawn <= cap * 2**cell
    assert drawn >= 1 if cell == 0 else drawn > cap * 2 ** (cell - 1)


@pytest.mark.parametrize("cap", [1.1, 1.25, 1.3, 2.6])
def test_places_stay_in_their_cell_at_any_cap(cap):
    quantile = (np.arange(100) + 0.5) / 100
    assert (
        histogram_smoothing.places(SIZE_OCTAVES, cap, quantile, np.ones(100, dtype=np.intp)).max() <= 2 * cap
    )


@given(cell=st.integers(0, SIZE_OCTAVES - 2), quantile=INSIDE, epsilon=st.integers(1, 30))
def test_places_are_counted_by_the_query_in_the_cell_they_were_drawn_for(cell, quantile, epsilon):
    questions = ShareQueries(epsilon)
    drawn = int(one(histogram_smoothing.places, cell, quantile, SIZE_OCTAVES, float(questions.cap)))
    assume(
        drawn < 1000
    )  # beyond, neighbouring numbers of places may have the same share, or one lattice point less
    share = min(questions.largest, UNIT // drawn)
    ascending = np.searchsorted(questions.size_thresholds, share, side="right")
    assert SIZE_OCTAVES - 1 - ascending == cell


@given(cell=st.integers(0, VISIT_OCTAVES - 1), quantile=st.floats(0, 1 - 1e-12))
def test_visits_are_counted_by_the_query_in_the_cell_they_were_drawn_for(cell, quantile):
    drawn = one(histogram_smoothing.visits, cell, quantile)
    assert drawn == int(drawn)
    assert np.searchsorted(VISIT_THRESHOLDS, drawn, side="right") == cell


@pytest.mark.parametrize("cell", range(1, 6))
def test_every_number_of_a_cell_is_drawn(cell):
    quantile = (np.arange(2000) + 0.5) / 2000
    everywhere = np.full(2000, cell)
    numbers = set(range(2 ** (cell - 1) + 1, 2**cell + 1))
    assert set(histogram_smoothing.visits(quantile, everywhere).tolist()) == numbers
    assert set(histogram_smoothing.places(SIZE_OCTAVES, 1.0, quantile, everywhere).tolist()) == numbers


@pytest.mark.parametrize("cap", [1, 2, 3, 5, 50])
def test_the_mean_share_is_that_of_all_numbers_of_places_in_the_cell(cap):
    """m is drawn evenly in ln m and rounded up: it is m with the probability log₂ m/(m − 1), within the octave."""
    found = histogram_smoothing.mean_share(SIZE_OCTAVES, float(cap))
    assert found[0] == pytest.approx(1 / cap)
    for cell in range(1, SIZE_OCTAVES):
        number = np.arange(cap * 2 ** (cell - 1) + 1, cap * 2**cell + 1)
        likely = np.log2(number / (number - 1))
        assert likely.sum() == pytest.approx(1)
        assert found[cell] == pytest.approx((likely / number).sum(), rel=0.01)


@pytest.mark.parametrize("listed", [1, 2, 3, 17, 1000, 10**7])
@pytest.mark.parametrize("cap", [1.0, 2.5, 5.0])
def test_cells_are_possible_when_somebody_could_be_in_them(cap, listed):
    possible = histogram_smoothing.possible_sizes(SIZE_OCTAVES, cap, listed)
    for cell in range(SIZE_OCTAVES):
        first = 1 if cell == 0 else math.floor(cap * 2 ** (cell - 1)) + 1
        assert possible[cell] == (first <= listed)


def test_typical_visits_are_in_their_cell():
    typical = histogram_smoothing.typical_visits(VISIT_OCTAVES)
    assert (np.searchsorted(VISIT_THRESHOLDS, typical, side="right") == np.arange(VISIT_OCTAVES)).all()


# --- histograms without noise -----------------------------------------------------------------------------------

TYPICAL = histogram_smoothing.typical_visits(VISIT_OCTAVES)


@given(
    middle=st.floats(0, 6),
    width=st.floats(0.6, 3),
    total=st.floats(10, 1e7),
    bumps=st.lists(st.floats(0.3, 3.0), min_size=VISIT_OCTAVES, max_size=VISIT_OCTAVES),
)
def test_where_noise_is_tiny_the_histogram_is_left_alone(middle, width, total, bumps):
    exact = total * bell(middle, width, VISIT_OCTAVES) * bumps
    found = histogram_smoothing.smoothed(exact, 1e-9 * total, TYPICAL, USUAL)
    assert found == pytest.approx(exact, rel=1e-3, abs=1e-6 * total)
    assert found.sum() == pytest.approx(exact.sum(), rel=1e-4)


@given(middle=st.floats(0, 4), width=st.floats(0.8, 2), seed=st.integers(0, 10**6))
def test_under_moderate_noise_cells_come_closer_to_the_truth_and_the_total_stays(middle, width, seed):
    total, scale = 1000.0, 20.0
    exact = total * bell(middle, width, VISIT_OCTAVES)
    noisy = exact + np.random.default_rng(seed).laplace(0, scale, exact.size)
    deviation = math.sqrt(2) * scale
    found = histogram_smoothing.smoothed(noisy, deviation, TYPICAL, USUAL)
    assert abs(found.sum() - total) < 5 * deviation * math.sqrt(exact.size)
    assert ((found - exact) ** 2).sum() < ((noisy - exact) ** 2).sum() + (2 * deviation) ** 2


def test_noise_in_the_last_cells_does_not_make_a_crowd():
    """A cell of 2^j places stands for 2^j visitors to a unit of presence: raw noise there would outweigh everybody."""
    share = histogram_smoothing.mean_share(SIZE_OCTAVES, 1.0)
    exact = 2000 * bell(1.0, 1.2, SIZE_OCTAVES)
    raw, mended = [], []
    for seed in range(40):
        noisy = exact + np.random.default_rng(seed).laplace(0, 25.0, exact.size)
        raw.append(float((noisy / share).sum()))
        mended.append(
            float((histogram_smoothing.smoothed(noisy, 25 * math.sqrt(2), 1 / share, USUAL) / share).sum())
        )
    visitors = float((exact / share).sum())
    assert np.std(raw) > 10 * visitors
    assert np.abs(np.array(mended) - visitors).max() < visitors


@given(
    noisy=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=SIZE_OCTAVES),
    deviation=st.floats(1e-6, 2000),
    expected=st.floats(-1, 5),
    possible=st.integers(1, SIZE_OCTAVES),
)
def test_whatever_the_noise_there_is_a_law(noisy, deviation, expected, possible):
    cells = len(noisy)
    can = np.arange(cells) < possible
    values = 1 / histogram_smoothing.mean_share(cells, 1.0)
    found = histogram_smoothing.smoothed(np.array(noisy), deviation, values, (expected, 0.5), can)
    assert found.shape == (cells,)
    assert np.isfinite(found).all()
    assert (found[can] > 0).all()
    assert (found[~can] == 0).all()
    law = found / found.sum()
    assert law.sum() == pytest.approx(1)


def test_a_cell_far_clear_of_its_noise_is_believed_against_every_curve():
    """Twenty deviations above what any curve has there."""
    exact = 1000 * bell(0.0, 0.8, VISIT_OCTAVES)
    exact[10] = 400.0
    found = histogram_smoothing.smoothed(exact, 20.0, TYPICAL, USUAL)
    assert found[10] == pytest.approx(400, rel=0.15)


def test_one_cell_under_very_heavy_noise():
    found = histogram_smoothing.smoothed(np.array([2700.0]), 2700.0, np.ones(1), USUAL)
    assert found == pytest.approx([2700])


@given(
    law=st.lists(st.floats(1e-9, 1.0), min_size=VISIT_OCTAVES, max_size=VISIT_OCTAVES).map(np.array),
    chance=st.floats(0.0, 1.0, exclude_max=True),
)
def test_the_visits_that_a_law_has_reached_are_those_of_the_cell(law, chance):
    reached = np.cumsum(law) / law.sum()
    cell = min(int(np.searchsorted(reached, chance, side="right")), law.size - 1)
    begun = 0.0 if cell == 0 else reached[cell - 1]
    quantile = min(max((chance - begun) / (reached[cell] - begun), 0.0), 1 - 1e-12)
    [by_visits] = histogram_smoothing.reached_by_visits(law[None, :])
    assert by_visits[-1] == pytest.approx(1)
    found = 1 + np.searchsorted(by_visits[:-1], chance, side="right")
    # Next to where one number ends, rounding may choose either.
    near = [
        one(histogram_smoothing.visits, cell, min(max(quantile + off, 0.0), 1 - 1e-12))
        for off in (-1e-6, 1e-6)
    ]
    assert min(near) <= found <= max(near)
