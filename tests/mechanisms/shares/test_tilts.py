"""Tilts: zero changes nothing, and what was planted is found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.tilts import fit_of_laws, fit_tilts, size_tilt, visit_tilt
from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES

from .made_up import bell

KINDS = [(size_tilt, SIZE_OCTAVES), (visit_tilt, VISIT_OCTAVES)]


@pytest.mark.parametrize(("tilt", "cells"), KINDS)
def test_no_tilt_changes_nothing_and_larger_ones_raise_the_mean(tilt, cells):
    assert tilt(np.array(0.0)) == pytest.approx(np.zeros(cells))
    laws = bell(2.0, 2.0, cells) * np.exp(tilt(np.linspace(-1.5, 1.5, 31)))
    means = laws @ np.arange(cells) / laws.sum(axis=1)
    assert (np.diff(means) > 0).all()


@pytest.mark.parametrize("planted", [-0.6, -0.2, 0.0, 0.3])
def test_a_planted_tilt_is_found_where_bands_hold_many(planted):
    law = bell(2.0, 1.5, SIZE_OCTAVES)
    held = np.tile(law, (4, 1))
    counts = law * np.exp(size_tilt(np.full(4, planted)))
    counts = 20_000 * counts / counts.sum(axis=1, keepdims=True)
    noisy = counts + np.random.default_rng(0).normal(0, 20, counts.shape)
    mean, deviation, own, own_deviation = fit_tilts(noisy, 20.0, held, np.zeros(4), size_tilt, np.zeros(4))
    assert mean == pytest.approx(np.full(4, planted), abs=0.12)
    assert own == pytest.approx(np.full(4, planted), abs=0.12)
    assert (deviation < own_deviation).all()
    assert (own_deviation < 0.12).all()


def test_bands_of_nobody_are_as_usual():
    noisy = np.random.default_rng(1).normal(0, 50, (3, SIZE_OCTAVES))
    usual = np.array([0.0, -0.1, -0.3])
    held = np.tile(bell(2.0, 1.5, SIZE_OCTAVES), (3, 1))
    mean, deviation, own, own_deviation = fit_tilts(noisy, 50.0, held, np.zeros(3), size_tilt, usual)
    assert mean == pytest.approx(usual, abs=0.3)
    assert (deviation > 0.2).all()
    assert (own_deviation > deviation).all()
    assert (np.abs(own) < 2).all()


@given(
    counts=st.lists(st.floats(-1e8, 1e8), min_size=2 * SIZE_OCTAVES, max_size=2 * SIZE_OCTAVES),
    spread=st.floats(1e-3, 1e5),
)
def test_whatever_is_measured_tilts_are_finite(counts, spread):
    held = np.tile(bell(2.0, 1.5, SIZE_OCTAVES), (2, 1))
    values = np.array(counts).reshape(2, -1)
    for found in fit_tilts(values, spread, held, np.zeros(2), size_tilt, np.zeros(2)):
        assert np.isfinite(found).all()


def test_the_law_that_was_drawn_from_fits_best():
    laws = np.stack([bell(middle, 1.5, SIZE_OCTAVES) for middle in (1.0, 2.0, 3.0)])
    for at, law in enumerate(laws):
        assert np.argmax(fit_of_laws(500 * law, 5.0, laws)) == at
