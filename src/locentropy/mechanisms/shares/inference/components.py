"""Components: what the answers of a place mean, for each size of crowd and each visit law.

A place belongs to one of a few bands of n and follows one visit law; a pair of these is a component. For every bin of
the look, the cloud tells how likely each band is, and within a component how pair and entropy go together: their
means, variances and covariances. Pairs then count as normal around that, so a place's entropy given its pair is a
linear correction, and how well a component predicts the pair says how likely it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.inference.cloud import Cloud

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

BANDS: Final = (0, 6, 26, 126)
"""Where bands of n begin: homes, corners, venues, stations."""
MISMATCH: Final = 0.05
"""A pair may differ from what any law predicts by this part: laws are made of octaves, people are not."""
TAIL: Final = 0.025
"""On either side of an interval of 95 %."""


class Components(NamedTuple):
    """For each component and bin of the look: component × bin. Bands vary slowest."""

    log_weight: Reals
    """Logarithm of how likely the band is, less half the log-determinant of the pair's covariance."""
    entropy: Reals
    """Mean entropy,"""
    variance: Reals
    """its variance when the pair is known,"""
    below: Reals
    """and the squared distance to the ends of its interval then, below"""
    above: Reals
    """and above."""
    pair: Reals
    """Mean pair: 2 × component × bin,"""
    gain: Reals
    """how entropy moves with it,"""
    precision: Reals
    """and the inverse of its covariance with noise: first, second, both. 3 × component × bin."""


def components(cloud: Cloud, weights: Reals, split_scale: float) -> Components:
    """From a weight for every made-up place (n × copy, flat) and bin of the look."""
    of_grid = np.searchsorted(BANDS, cloud.visitors, side="right") - 1
    band = np.repeat(of_grid, cloud.presence.shape[1])
    laws = cloud.entropy.shape[1]
    entropy = cloud.entropy.transpose(1, 0, 2).reshape(laws, -1)
    pair = cloud.pair.transpose(1, 0, 2, 3).reshape(laws, -1, 2)
    found = []
    for each in range(len(BANDS)):
        # A small bound on users leaves the upper bands empty: they stand for the largest crowd, at no weight.
        rows = np.flatnonzero(band == min(each, of_grid[-1]))
        total = weights[rows].sum(axis=0)
        within = weights[rows] / np.maximum(total, 1e-300)
        likely = np.log((total if each <= of_grid[-1] else 0.0 * total) + 1e-30)
        found += [
            _component(entropy[law, rows], pair[law, rows], within, likely, split_scale)
            for law in range(laws)
        ]
    columns = [np.stack(column) for column in zip(*found, strict=True)]
    return Components(*columns[:5], *(np.moveaxis(column, 1, 0) for column in columns[5:]))


def _component(
    entropy: Reals, pair: Reals, within: Reals, likely: Reals, split_scale: float
) -> tuple[Reals, ...]:
    """One component in every bin: moments of entropy and pair under the weights, turned into what a place needs."""
    first, second = pair.T
    powers = np.stack(
        [
            entropy,
            first,
            second,
            entropy**2,
            entropy * first,
            entropy * second,
            first**2,
            first * second,
            second**2,
        ]
    )
    h, a, b, hh, ha, hb, aa, ab, bb = powers @ within
    noise = 2 * split_scale**2 + MISMATCH**2 * (a**2 + b**2)
    var_a, var_b = np.maximum(aa - a**2, 0) + noise, np.maximum(bb - b**2, 0) + noise
    cov_ab, cov_ha, cov_hb = ab - a * b, ha - h * a, hb - h * b
    det = var_a * var_b - cov_ab**2
    precision = np.stack([var_b / det, var_a / det, -cov_ab / det])
    gain = np.stack(
        [cov_ha * precision[0] + cov_hb * precision[2], cov_ha * precision[2] + cov_hb * precision[1]]
    )
    spread = np.maximum(hh - h**2, 0)
    left = np.maximum(spread - gain[0] * cov_ha - gain[1] * cov_hb, 0)
    kept = left / np.maximum(spread, 1e-12)  # the pair shortens the interval as it does the deviation
    low, high = _quantiles(entropy, within)
    return (
        likely - 0.5 * np.log(det),
        h,
        left,
        (h - low) ** 2 * kept,
        (high - h) ** 2 * kept,
        np.stack([a, b]),
        gain,
        precision,
    )


def _quantiles(values: Reals, weights: Reals) -> tuple[Reals, Reals]:
    """The ends of the middle 95 % of values under every column of weights."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order], axis=0)
    ordered = values[order]
    last = len(ordered) - 1
    low = np.minimum((reached < TAIL).sum(axis=0), last)
    high = np.minimum((reached < 1 - TAIL).sum(axis=0), last)
    return ordered[low], ordered[high]
