"""δ(ε) of discrete Gaussian noise on given neighbours, numerically: bounds from both sides.

For neighbours that differ by d in one entry, with noise of scale σ, the privacy loss of the outcome z + d is linear in
z, which has the law of the noise. Losses of independent entries add up; their laws are convolved on a grid, with every
loss rounded up (an upper bound of δ) or down (a lower bound).
"""

from __future__ import annotations

import numpy as np

TAIL = 12.0
"""Scales beyond which nothing is enumerated: e^-72 of all outcomes."""


def delta_of(
    moves: list[tuple[int, float]], epsilon: float, *, above: bool = True, step: float = 2e-4
) -> float:
    """A bound of δ(ε) for entries that move by d under noise of scale σ, each given as (d, σ)."""
    mass, start = np.ones(1), 0
    missed = 0.0
    for distance, scale in moves:
        reach = int(np.ceil(TAIL * scale)) + abs(distance)
        points = np.arange(-reach, reach + 1)
        weights = np.exp(-((points / scale) ** 2) / 2)
        weights /= weights.sum()
        # ln P(z)/P(z − d): the outcome z, with the user, against the same outcome without.
        losses = (distance * distance - 2.0 * distance * points) / (2 * scale * scale)
        cells = (np.ceil if above else np.floor)(losses / step).astype(np.int64)
        first = int(cells.min())
        law = np.bincount(cells - first, weights=weights)
        size = len(mass) + len(law) - 1
        padded = 1 << (size - 1).bit_length()
        mass = np.fft.irfft(np.fft.rfft(mass, padded) * np.fft.rfft(law, padded), padded)[:size].clip(0.0)
        start += first
        missed += 1e-25
    losses = (start + np.arange(len(mass))) * step
    over = losses > epsilon
    return float((mass[over] * -np.expm1(epsilon - losses[over])).sum() + (missed if above else -missed))
