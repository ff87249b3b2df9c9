"""Looks: bins lose no place and hardly any precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locentropy.mechanisms.shares.estimator.noise_law import to_log_density
from locentropy.mechanisms.shares.estimator.visitor_prior import WIDTH, bin_presence, likelihood

LOOKS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60).map(np.array)
SCALES = st.floats(1e-3, 1e3)


@given(look=LOOKS, scale=SCALES)
def test_every_place_is_in_one_bin_and_close_to_its_middle(look, scale):
    bins = bin_presence(look, scale)
    assert bins.bin_of.shape == look.shape
    assert (np.bincount(bins.bin_of, minlength=bins.places.size) == bins.places).all()
    assert (bins.places > 0).all()
    assert (np.diff(bins.middle) > 0).all()
    # The slope of arcsinh(x) is 1/√(1 + x²): a bin is this wide.
    away = np.abs(bins.middle[bins.bin_of] - look)
    assert (away <= 1.1 * WIDTH * np.hypot(scale, look)).all()


@given(look=LOOKS, scale=SCALES)
def test_bins_keep_the_total_and_the_order(look, scale):
    bins = bin_presence(look, scale)
    assert bins.places @ bins.middle == pytest.approx(
        look.sum(), rel=1e-9, abs=1e-6 * np.abs(look).sum() + 1e-300
    )
    order = np.argsort(look, kind="stable")
    assert (np.diff(bins.bin_of[order]) >= 0).all()


@given(
    look=LOOKS,
    scale=SCALES,
    presence=st.lists(st.floats(0, 1e7), min_size=1, max_size=20),
    noise=st.sampled_from(["laplace", "gaussian"]),
)
def test_likelihood_is_at_most_one_and_that_of_the_noise(look, scale, presence, noise):
    bins = bin_presence(look, scale)
    here = np.array(presence)
    found = likelihood(here, bins, scale, noise)
    assert found.shape == (here.size, bins.middle.size)
    assert found.max(axis=0) == pytest.approx(1)
    assert (found >= 0).all()
    with np.errstate(under="ignore"):
        logs = to_log_density(noise, (here[:, None] - bins.middle) / scale)
        assert found == pytest.approx(np.exp(logs - logs.max(axis=0)), rel=1e-6, abs=1e-300)


def test_the_number_of_bins_does_not_grow_with_the_places():
    draw = np.random.default_rng(1)
    few, many = (bin_presence(draw.exponential(20, count), 1.0).middle.size for count in (20_000, 400_000))
    assert many < 1.5 * few
    assert many < 500
