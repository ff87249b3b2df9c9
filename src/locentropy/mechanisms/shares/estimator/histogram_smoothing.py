"""Octaves: what a cell of the profile stands for, and a noisy histogram made smooth.

A cell of the profile holds the presence of an octave. Its noise is the same for all cells, but a unit of presence in
the octave of 2^j places stands for 2^j visitors: unsmoothed, the noise of the last cells would drown the number of
visitors. Histograms of real activity rise and fall smoothly over octaves, so a family of smooth curves is weighed by
how well each explains the noisy cells, and a cell that stands clear of its noise keeps its own value.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

DEVIATION: Final = 0.3
"""How far a cell may lie from a smooth curve, as a part of it."""
OBVIOUS: Final = 5.0
"""A cell this many standard deviations off the curve is believed against it."""

_CENTRES: Final = np.arange(-8.0, 10.5)
_WIDTHS: Final = (0.5, 0.8, 1.2, 1.8, 2.6, 3.6)
_SLOPES: Final = (0.5, 0.7, 1.0, 1.3)
_FALL: Final = 0.12
_TINY: Final = 1e-7
_SAFE: Final = 9
"""The total is read off these cells: there is hardly anybody beyond, and noise in every cell."""
_WITHIN: Final = (np.arange(64) + 0.5) / 64


def places(cells: int, cap: float, quantile: Reals, cell: NDArray[np.intp]) -> Reals:
    """The number of places of a user in a cell: ≤ M, ≤ 2M, ≤ 4M, …; whole numbers, evenly spread in the logarithm."""
    low = cap * 2.0 ** (np.clip(cell, 1, cells - 1) - 1)
    drawn = np.minimum(np.ceil(low * 2.0**quantile * (1 - 1e-12)), np.floor(2 * low))
    return np.where(cell == 0, 1.0, drawn)


def visits(quantile: Reals, cell: NDArray[np.intp]) -> Reals:
    """The visits of a user in a cell: 1, 2, 3–4, 5–8, …; whole numbers, evenly spread in the logarithm."""
    low = np.where(cell > 0, 2.0 ** (np.maximum(cell, 1) - 1) + 1, 1.0)
    high = 2.0**cell + 1
    return np.floor(low * (high / low) ** quantile)


def reached_by_visits(laws: Reals) -> Reals:
    """How likely a visitor comes at most 1, 2, 3, … times, under each law over octaves: law × visits, as `visits`."""
    cell, end = _ends(laws.shape[1])
    reached = np.cumsum(laws, axis=1) / laws.sum(axis=1, keepdims=True)
    begun = np.concatenate([np.zeros((len(laws), 1)), reached[:, :-1]], axis=1)
    by_visits: Reals = begun[:, cell] + (reached - begun)[:, cell] * end
    return by_visits


@cache
def _ends(cells: int) -> tuple[NDArray[np.intp], Reals]:
    """For 1, 2, 3, … visits: their cell, and how far into it they reach."""
    counts = np.arange(1, 2 ** (cells - 1) + 1)
    cell = np.searchsorted(2 ** np.arange(cells), counts)
    low = np.where(cell > 0, 2.0 ** (cell - 1) + 1, 1.0)
    high = 2.0**cell + 1
    return cell, np.log((counts + 1) / low) / np.log(high / low)


def mean_share(cells: int, cap: float) -> Reals:
    """The mean share of a visitor from each cell: its presence over this is how many visitors come from it."""
    cell = np.repeat(np.arange(cells)[:, None], _WITHIN.size, axis=1)
    counts = np.maximum(places(cells, cap, np.broadcast_to(_WITHIN, cell.shape), cell), cap)
    shares: Reals = (1.0 / counts).mean(axis=1)
    return shares


def possible_sizes(cells: int, cap: float, listed: int) -> NDArray[np.bool_]:
    """Which cells anybody can be in: nobody is at more places than the list has."""
    begins = np.concatenate([[0.0], cap * 2.0 ** np.arange(cells - 1)])
    return begins < listed


def typical_visits(cells: int) -> Reals:
    """The geometric middle of the visits of each cell."""
    cell = np.repeat(np.arange(cells)[:, None], _WITHIN.size, axis=1)
    middle: Reals = np.exp(np.log(visits(np.broadcast_to(_WITHIN, cell.shape), cell)).mean(axis=1))
    return middle


def smoothed(
    noisy: Reals,
    deviation: float,
    values: Reals,
    expected: tuple[float, float],
    possible: NDArray[np.bool_] | None = None,
) -> Reals:
    """Presence by octave without most of the noise.

    `deviation` is the standard deviation of the noise; `values` what a unit of presence stands for in each cell;
    `expected` the logarithm of its mean value and how sure that is, for when the noise leaves nothing to be seen;
    `possible` the cells that can hold anything.
    """
    if possible is not None and not possible.all():
        last = int(np.count_nonzero(possible))  # the first cells are always the possible ones
        inner = smoothed(noisy[:last], deviation, values[:last], expected)
        return np.concatenate([inner, np.zeros(noisy.size - last)])
    curves = _curves(noisy.size)
    total = max(float(noisy[:_SAFE].sum()), deviation)
    spread = deviation**2 + (DEVIATION * total * curves) ** 2
    misfit = ((noisy - total * curves) ** 2 / spread + np.log(spread)).sum(axis=1) / 2
    surprise = ((np.log(curves @ values) - expected[0]) / expected[1]) ** 2 / 2
    weight = _weights(-misfit - surprise)
    # The geometric mean: a few curves with a long tail must not decide about the tail.
    curve = np.exp(weight @ np.log(curves + _TINY))
    curve *= total / curve.sum()
    trust = (DEVIATION * curve) ** 2 / ((DEVIATION * curve) ** 2 + deviation**2)
    off = noisy - curve
    obvious = 1 - (OBVIOUS * deviation) ** 2 / np.maximum(off**2, 1e-12 * deviation**2)
    mended: Reals = np.maximum(curve + off * np.maximum(trust, obvious), 1e-9 * total)
    return mended


def _curves(cells: int) -> Reals:
    """Bells over the octaves, and slopes that break off: each sums to one."""
    at = np.arange(cells)
    bells = [-((at - centre) ** 2) / (2 * width**2) for centre in _CENTRES for width in _WIDTHS]
    breaks = [
        np.minimum(at, last) * math.log(slope) + np.maximum(at - last, 0) * math.log(_FALL)
        for last in range(1, max(cells - 1, 2))
        for slope in _SLOPES
    ]
    logs = np.array(bells + breaks)
    curves = np.exp(logs - logs.max(axis=1, keepdims=True))
    normal: Reals = curves / curves.sum(axis=1, keepdims=True)
    return normal


def _weights(log_weights: Reals) -> Reals:
    weights = np.exp(log_weights - log_weights.max())
    normal: Reals = weights / weights.sum()
    return normal
