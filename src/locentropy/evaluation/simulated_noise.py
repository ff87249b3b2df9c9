"""Noise from a public seed, for simulations that must be reproducible. It protects nobody.

The only source of randomness in `evaluation/`; a lint checks that nothing else draws random numbers there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.checks import check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]


class SimulatedNoise:
    """`Noise` with the distribution of `OpenDPNoise`, up to rounding, drawn from a seed.

    Estimates made with it are marked as not private.
    """

    private = False

    def __init__(self, seed: int) -> None:
        check_whole("SimulatedNoise(seed=1)", "seed", seed, 0, 2**63 - 1)
        self._generator = np.random.default_rng(seed)

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Return values plus discrete Laplace noise of one scale."""
        return self.laplace_each(values, np.full(np.shape(values), float(scale)))

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """Return values plus discrete Laplace noise of a scale each: the difference of two geometric numbers."""
        stop = -np.expm1(-1.0 / np.asarray(scales, dtype=np.float64))
        return values + self._generator.geometric(stop) - self._generator.geometric(stop)

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Return values plus rounded Gaussian noise, whose variance is that of the discrete Gaussian and 1/12."""
        return values + np.rint(self._generator.normal(0.0, float(scale), np.shape(values))).astype(np.int64)

    def bernoulli_each(self, probabilities: Reals) -> NDArray[np.bool_]:
        """Return booleans, each true with its own probability."""
        return self._generator.random(np.shape(probabilities)) < probabilities
