"""Noise laws: densities, tails and spreads belong together."""

from __future__ import annotations

import numpy as np
import pytest

from locentropy.mechanisms.shares.estimator.noise_law import (
    chance_below,
    deviation,
    to_log_density,
    usual_largest,
)

KINDS = ("laplace", "gaussian")
FINE = np.linspace(-40, 40, 400_001)


@pytest.mark.parametrize("noise", KINDS)
def test_density_chance_and_deviation_are_of_one_law(noise):
    density = np.exp(to_log_density(noise, FINE.copy()))
    density /= density.sum()
    assert (density @ FINE**2) ** 0.5 == pytest.approx(deviation(noise), rel=1e-4)
    assert np.cumsum(density) == pytest.approx(chance_below(noise, FINE), abs=2e-4)


@pytest.mark.parametrize("noise", KINDS)
def test_the_largest_of_many_nearly_always_reaches_what_is_usual(noise):
    draw = np.random.default_rng(1)
    for count in (1, 10, 1000):
        drawn = draw.laplace(size=(2000, count)) if noise == "laplace" else draw.normal(size=(2000, count))
        reached = usual_largest(noise, count)
        if count > 1:
            assert (drawn.max(axis=1) > reached).mean() > 0.6
        assert np.isfinite(reached)
