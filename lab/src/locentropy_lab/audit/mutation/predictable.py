"""Noise that anybody can compute again, for faults and for checks that must refuse it. It protects nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_GOLDEN: Final = (np.sqrt(5.0) - 1.0) / 2.0


class PredictableNoise:
    """`Noise` spread like the real one, and a function of nothing but the place of a value in its row."""

    private = False

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Values plus the same numbers each time."""
        return values + np.rint(self.reals(np.shape(values)) * scale).astype(np.int64)

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """The same, each of its own scale."""
        return values + np.rint(self.reals(np.shape(values)) * np.asarray(scales)).astype(np.int64)

    def bernoulli_each(self, probabilities: Reals) -> NDArray[np.bool_]:
        """Coins that fall the same way each time."""
        return np.asarray(self._even(np.shape(probabilities)) < probabilities)

    def reals(self, shape: tuple[int, ...]) -> Reals:
        """Real numbers that look like Laplace noise of scale 1."""
        half = self._even(shape) - 0.5
        spread: Reals = -np.sign(half) * np.log1p(-2.0 * np.abs(half))
        return spread

    def _even(self, shape: tuple[int, ...]) -> Reals:
        """Numbers spread evenly over 0 to 1: multiples of the golden ratio."""
        count = np.arange(1, int(np.prod(shape, dtype=np.int64)) + 1, dtype=np.float64)
        even: Reals = np.mod(count * _GOLDEN, 1.0).reshape(shape)
        return even
