"""Simulated noise has the distribution of the real one, comes out the same each time, and says what it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from locentropy.core.errors import ParameterError
from locentropy.evaluation.simulated_noise import SimulatedNoise


@pytest.mark.parametrize("scale", [0.4, 3.0, 50.0])
def test_frequencies_are_those_of_the_discrete_laplace(scale):
    """Each cell within six deviations: a false alarm in 10^8 runs, were the seed not fixed."""
    many = 200_000
    drawn = SimulatedNoise(5).laplace(np.zeros(many, dtype=np.int64), scale)
    for low, high in [
        (0, 0),
        (1, 1),
        (-1, -1),
        (2, 10**9),
        (-(10**9), -round(scale) - 1),
        (round(scale), 10**9),
    ]:
        k = np.arange(max(low, -int(60 * scale) - 60), min(high, int(60 * scale) + 60) + 1)
        chance = float((math.tanh(0.5 / scale) * np.exp(-np.abs(k) / scale)).sum())
        found = ((drawn >= low) & (drawn <= high)).mean()
        assert abs(found - chance) <= 6 * math.sqrt(chance / many)


def test_each_value_has_its_own_scale():
    values = np.repeat(np.array([1000, -7]), 20_000)
    scales = np.repeat([2.0, 400.0], 20_000)
    moved = np.abs(SimulatedNoise(2).laplace_each(values, scales) - values)
    assert moved[:20_000].mean() == pytest.approx(1 / math.sinh(1 / 2.0), rel=0.05)
    assert moved[20_000:].mean() == pytest.approx(400.0, rel=0.05)


def test_large_scales_do_not_wrap_around():
    drawn = SimulatedNoise(3).laplace(np.zeros(10_000, dtype=np.int64), 1e12)
    assert np.abs(drawn).mean() == pytest.approx(1e12, rel=0.05)
    assert abs(np.sign(drawn).mean()) < 0.05


def test_coins():
    coins = SimulatedNoise(4).bernoulli_each(np.repeat([0.0, 0.25, 1.0], 10_000)).reshape(3, -1)
    assert (coins[0].sum(), coins[2].sum()) == (0, 10_000)
    assert coins[1].mean() == pytest.approx(0.25, abs=0.03)


def test_the_same_seed_gives_the_same_and_is_not_private():
    values = np.arange(50)
    assert SimulatedNoise(1).laplace(values, 9.0).tolist() == SimulatedNoise(1).laplace(values, 9.0).tolist()
    assert SimulatedNoise(1).laplace(values, 9.0).tolist() != SimulatedNoise(2).laplace(values, 9.0).tolist()
    assert not SimulatedNoise(1).private
    with pytest.raises(ParameterError, match="seed"):
        SimulatedNoise(-1)
