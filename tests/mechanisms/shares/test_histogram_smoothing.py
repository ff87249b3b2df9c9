"""Histogram smoothing: a noisy histogram becomes a law that can be worked with."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator import octaves
from locentropy.mechanisms.shares.estimator.histogram_smoothing import (
    smooth_sizes,
    smooth_visits,
    smooth_visits_like,
)
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES

from .made_up import bell

SHARE = octaves.mean_share(1.0)
USUAL = (math.log(4), 1.5)


@given(
    middle=st.floats(0, 6),
    width=st.floats(0.6, 3),
    total=st.floats(10, 1e7),
    bumps=st.lists(st.floats(0.3, 3.0), min_size=VISIT_OCTAVES, max_size=VISIT_OCTAVES),
)
def test_where_noise_is_tiny_the_histogram_is_left_alone(middle, width, total, bumps):
    exact = total * bell(middle, width, VISIT_OCTAVES) * bumps
    law = bell(1.0, 2.0, VISIT_OCTAVES)
    for found in (
        smooth_sizes(exact, 1e-9 * total, 1 / SHARE[:VISIT_OCTAVES], USUAL),
        smooth_visits(exact, 1e-9 * total),
        smooth_visits_like(exact, 1e-9 * total, law),
    ):
        assert found == pytest.approx(exact, rel=1e-3, abs=1e-3 * total)


@given(middle=st.floats(0, 4), width=st.floats(0.8, 2), seed=st.integers(0, 10**6))
def test_under_moderate_noise_cells_come_closer_to_the_truth_and_the_total_stays(middle, width, seed):
    total, scale = 1000.0, 20.0
    exact = total * bell(middle, width, SIZE_OCTAVES)
    noisy = exact + np.random.default_rng(seed).laplace(0, scale, exact.size)
    deviation = math.sqrt(2) * scale
    found = smooth_sizes(noisy, deviation, 1 / SHARE, USUAL)
    assert abs(found.sum() - total) < 5 * deviation * math.sqrt(exact.size)
    assert ((found - exact) ** 2).sum() < ((noisy - exact) ** 2).sum() + (2 * deviation) ** 2


def test_noise_in_the_last_cells_does_not_make_a_crowd():
    """A cell of 2^j places stands for 2^j visitors to a unit of presence: raw noise there would outweigh everybody."""
    exact = 2000 * bell(1.0, 1.2, SIZE_OCTAVES)
    raw, smooth = [], []
    for seed in range(40):
        noisy = exact + np.random.default_rng(seed).laplace(0, 25.0, exact.size)
        raw.append(float((noisy / SHARE).sum()))
        smooth.append(float((smooth_sizes(noisy, 25 * math.sqrt(2), 1 / SHARE, USUAL) / SHARE).sum()))
    visitors = float((exact / SHARE).sum())
    assert np.std(raw) > 10 * visitors
    assert np.abs(np.array(smooth) - visitors).max() < visitors


@given(
    noisy=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=VISIT_OCTAVES),
    deviation=st.floats(1e-6, 2000),
    expected=st.floats(-1, 5),
)
def test_whatever_the_noise_there_is_a_law(noisy, deviation, expected):
    values = np.array(noisy)
    cells = values.size
    for found in (
        smooth_sizes(values, deviation, 1 / SHARE[:cells], (expected, 0.5)),
        smooth_visits(values, deviation),
        smooth_visits_like(values, deviation, np.full(cells, 1 / cells)),
    ):
        assert found.shape == (cells,)
        assert np.isfinite(found).all()
        assert (found > 0).all()


def test_a_cell_far_clear_of_its_noise_is_believed_against_every_curve():
    exact = 1000 * bell(0.0, 0.8, SIZE_OCTAVES)
    exact[10] = 400.0
    assert smooth_sizes(exact, 20.0, 1 / SHARE, USUAL)[10] == pytest.approx(400, rel=0.15)
    exact = exact[:VISIT_OCTAVES]
    assert smooth_visits(exact, 20.0)[10] == pytest.approx(400, rel=0.15)


def test_visits_that_break_off_are_not_continued_beyond():
    """In the records of a month nobody comes on more than 31 days: the tail must not be made up."""
    exact = np.zeros(VISIT_OCTAVES)
    exact[:6] = [8000, 1500, 1200, 900, 700, 600]
    beyond = []
    for seed in range(20):
        noisy = exact + np.random.default_rng(seed).laplace(0, 30.0, exact.size)
        found = smooth_visits(noisy, 30 * math.sqrt(2))
        beyond.append(found[6:].sum() / found.sum())
    assert np.mean(beyond) < 0.01


def test_a_part_with_few_people_is_like_all():
    law = bell(0.5, 1.5, VISIT_OCTAVES)
    noisy = np.random.default_rng(3).laplace(0, 100.0, VISIT_OCTAVES)
    found = smooth_visits_like(noisy, 100 * math.sqrt(2), law)
    found /= found.sum()
    assert np.abs(found - law).max() < 0.25


def test_a_part_with_other_regulars_is_found():
    law = bell(0.0, 2.0, VISIT_OCTAVES)
    at = np.arange(VISIT_OCTAVES)
    other = law * np.exp(0.5 * (at > 0) - 0.3 * np.maximum(at - 1, 0))
    other /= other.sum()
    noisy = 3000 * other + np.random.default_rng(4).laplace(0, 20.0, VISIT_OCTAVES)
    found = smooth_visits_like(noisy, 20 * math.sqrt(2), law)
    assert found / found.sum() == pytest.approx(other, abs=0.03)
