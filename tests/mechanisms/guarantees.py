"""Whether a promise holds between two measured releases of neighbours. Exact, or bounded from both sides.

Each function takes what was measured with and without one user, location by location, and lets that user be in M
locations like the worst of them. So a fault anywhere in a mechanism shows here, whatever its formulas say.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tests.privacy.loss import BothWays, hockey_stick

from .recording import Measured

NEGLIGIBLE = 1e-9
"""Relative rounding of the sums below, which are floats; a δ is not exceeded by less than that."""


def value_loss(before: Measured, after: Measured, max_locations: int) -> Fraction:
    """The largest |ln P/Q| of the values alone, where both neighbours can publish: exact.

    Noise of the same scale on integers at distance s has the loss s/scale at all outputs beyond either.
    """
    worst = Fraction(0)
    rows = zip(
        before.values, before.scales, before.chances, after.values, after.scales, after.chances, strict=True
    )
    for value, scale, chance, other, other_scale, other_chance in rows:
        if chance and other_chance:
            assert scale == other_scale, "one public scale for all"
            worst = max(worst, abs(value - other) / Fraction(scale))
    return max_locations * worst


def published_alike(before: Measured, after: Measured) -> bool:
    """Every location is published, with or without the user."""
    return set(before.chances) | set(after.chances) == {Fraction(1)}


class Delta(NamedTuple):
    """lower ≤ δ(ε) ≤ upper, for the worst location and direction."""

    lower: float
    upper: float


def selective_delta(before: Measured, after: Measured, epsilon: float, max_locations: int) -> Delta:
    """δ(ε) when locations are published by chance, "not published" being an outcome like any other."""
    ways = [(before, after), (after, before)]
    return Delta(*(max(_selective(p, q, epsilon, max_locations)[bound] for p, q in ways) for bound in (0, 1)))


def _selective(here: Measured, there: Measured, epsilon: float, max_locations: int) -> tuple[float, float]:
    """Sum, over how many of M such locations are published, of the probability times 1 − e^(ε − loss).

    Above: every published value counts with the largest loss a value can have. Below: only values beyond the centre
    count, seen from the other one; they have exactly that loss, and a little over half of the probability.
    """
    p, not_p = _chances(here)
    q, not_q = _chances(there)
    scale = np.array(here.scales)
    both = (p > 0) & (q > 0)
    value = np.where(both, np.abs(np.subtract(here.values, there.values)) / scale, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        published = np.log(p) - np.log(q) + value
        withheld = np.log(not_p) - np.log(not_q)
    many = np.arange(max_locations + 1)[:, None]
    ways = np.array([math.comb(max_locations, j) for j in range(max_locations + 1)], dtype=np.float64)[
        :, None
    ]
    loss = _times(many, published) + _times(max_locations - many, withheld)
    excess = -np.expm1(-np.maximum(loss - epsilon, 0.0))
    upper = ways * p**many * not_p ** (max_locations - many) * excess
    beyond = 1.0 / (1.0 + np.exp(-1.0 / scale))
    lower = ways * (p * beyond) ** many * not_p ** (max_locations - many) * excess
    return float(lower.sum(axis=0).max()), float(upper.sum(axis=0).max())


def _chances(release: Measured) -> tuple[np.ndarray, np.ndarray]:
    """Chances and their complements, both to full precision."""
    return (
        np.array([float(chance) for chance in release.chances]),
        np.array([float(1 - chance) for chance in release.chances]),
    )


def _times(many: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """many·loss; what happens zero times loses nothing, and what has no probability here does not count."""
    counts = np.where(np.isnan(loss) | np.isneginf(loss), 0.0, loss)
    with np.errstate(invalid="ignore"):
        return np.where(many == 0, 0.0, many * counts)


def smooth_delta(before: Measured, after: Measured, epsilon: float, max_locations: int) -> list[BothWays]:
    """δ(ε) for scales that follow the data: M locations like each that may be worst, and a mixture of two."""
    rows = list(zip(before.values, before.scales, after.values, after.scales, strict=True))
    value, scale, other, other_scale = (np.array(column) for column in zip(*rows, strict=True))
    move = np.log(scale / other_scale)
    ratio = np.abs(value - other) / np.minimum(scale, other_scale)
    worst = [int(np.argmax(ratio + weight * move)) for weight in (0.0, 5.0, 30.0, -5.0, -30.0)]
    touched = [[rows[at]] * max_locations for at in set(worst)]
    # some scales shrink while others grow
    touched.append([rows[worst[2 if i % 2 else 4]] for i in range(max_locations)])
    return [hockey_stick(pairs, epsilon, cells=2**16) for pairs in touched]


def smooth_conditions(before: Measured, after: Measured, calibration) -> dict[str, bool]:
    """The conditions (1) and (2) of limit-ss.md, and the smallest scale, on what was measured."""
    share = Fraction(calibration.epsilon_1) / calibration.max_locations
    rows = list(zip(before.values, before.scales, after.values, after.scales, strict=True))
    return {
        "values": all(abs(v - w) <= share * Fraction(min(b, c)) for v, b, w, c in rows),
        "scales": all(abs(math.log(b / c)) <= calibration.beta for _, b, _, c in rows),
        "smallest": all(min(b, c) >= calibration.smallest_scale for _, b, _, c in rows),
    }
