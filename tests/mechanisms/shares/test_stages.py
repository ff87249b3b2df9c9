"""Stages: any noisy integers give a valid choice of what is asked next, the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares import stages
from locentropy.mechanisms.shares.measurements import UNIT

INT64 = st.integers(-(2**63), 2**63 - 1)
ANY = st.lists(st.one_of(INT64, st.integers(-(2**24), 2**24)), max_size=60)
KINDS = st.sampled_from(["laplace", "gaussian"])
SCALES = st.floats(1e3, 1e15)


@given(look=ANY, look_scale=SCALES, cell_scale=SCALES, noise=KINDS, needed=st.floats(1, 100))
def test_bands_are_few_ascending_and_independent_of_the_order(look, look_scale, cell_scale, noise, needed):
    values = np.array(look, dtype=np.int64)
    edges = stages.bands(values, look_scale, cell_scale, noise, needed)
    assert len(edges) < stages.MAX_BANDS
    assert all(isinstance(edge, int) for edge in edges)
    assert list(edges) == sorted(set(edges))
    assert all(0 < edge < 2**63 for edge in edges)
    assert stages.bands(values[::-1], look_scale, cell_scale, noise, needed) == edges


@given(sizes=st.lists(INT64, min_size=14, max_size=42), scale=SCALES, noise=KINDS)
def test_many_is_from_some_octave(sizes, scale, noise):
    values = np.array(sizes[: len(sizes) // 14 * 14], dtype=np.int64).reshape(-1, stages.SIZE_OCTAVES)
    assert 1 <= stages.many_from(values, scale, noise) < stages.SIZE_OCTAVES


@given(look=ANY, scale=SCALES, noise=KINDS)
def test_clear_places_are_those_far_above_the_noise(look, scale, noise):
    values = np.array(look, dtype=np.int64)
    clear = stages.clear_places(values, scale, noise)
    assert clear.dtype == np.int64
    others = np.setdiff1d(np.arange(values.size), clear)
    assert (values[clear] > 2 * scale).all()
    assert (values[others] <= 4 * scale).all()


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("listed", [100, 10_000])
def test_noise_alone_makes_no_band(noise, listed):
    draw = np.random.default_rng(1)
    for _ in range(20):
        drawn = draw.laplace(size=listed) if noise == "laplace" else draw.normal(size=listed)
        look = np.rint(drawn * UNIT).astype(np.int64)
        # Cells with so little noise that only what is not noise may count.
        assert stages.bands(look, float(UNIT), UNIT / 1000, noise, 1.0) in ((), (max_edge(look, noise),))


def max_edge(look: np.ndarray, noise: str) -> int:
    """The highest edge that anything is above: a single extreme may pass for presence."""
    edges = [int(factor * UNIT) for factor in stages.EDGES[noise]]
    return max(edge for edge in edges if edge < look.max())


def test_crowded_bands_are_told_apart():
    draw = np.random.default_rng(2)
    look = np.rint((draw.pareto(1.0, 5000) * 2 + draw.laplace(size=5000)) * UNIT).astype(np.int64)
    edges = stages.bands(look, float(UNIT), float(UNIT), "laplace", stages.SIZE_BAND)
    assert 3 <= len(edges) < stages.MAX_BANDS


def test_many_cuts_presence_where_it_should():
    sizes = np.zeros((2, stages.SIZE_OCTAVES), dtype=np.int64)
    sizes[0, :5] = [10, 20, 30, 30, 10]
    assert stages.many_from(sizes * UNIT, UNIT / 100, "laplace") == 3
    assert stages.many_from(-sizes * UNIT, UNIT / 100, "laplace") == stages.USUAL_MANY


def test_sums_do_not_overflow_or_round():
    values = np.array([2**63 - 1] * 9 + [-(2**63)] * 2 + [1], dtype=np.int64)
    assert stages._exact_sum(values) == 9 * (2**63 - 1) - 2 * 2**63 + 1
