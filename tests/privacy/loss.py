"""Exact privacy loss of discrete Laplace noise on the integers, as a lower and an upper bound on δ(ε).

``hockey_stick(pairs, epsilon)`` takes one ``(value, scale, other_value, other_scale)`` per location that differs
between two neighbours and bounds sup_A P(A) − e^ε·Q(A), and the same with P and Q exchanged. A claim is accepted
when the upper bound is within δ, and refuted when the lower bound is above it; between the two nothing is said.

How. δ = E_P[(1 − e^(ε−L))₊] with L the sum of the locations' losses ln P/Q. Along the integers the loss of one
location is linear in three pieces, so the mass of each cell of a grid of losses is a geometric sum. Losses are
rounded up to the grid and the masses convolved; all of it moved down by one cell per location bounds from below.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

TAIL = 42.0  # noise beyond this many scales has mass e^-42; it counts as certain loss above, as none below
ROUNDING = 1e-9  # a loss computed in floats is off by less; taken off ε above, added below, per location

Pair = tuple[int, float, int, float]


class Bounds(NamedTuple):
    """lower ≤ δ(ε) ≤ upper."""

    lower: float
    upper: float


class BothWays(NamedTuple):
    """δ(ε) of P against Q and of Q against P."""

    forward: Bounds
    backward: Bounds

    @property
    def lower(self) -> float:
        return max(self.forward.lower, self.backward.lower)

    @property
    def upper(self) -> float:
        return max(self.forward.upper, self.backward.upper)


def hockey_stick(pairs: Iterable[Pair], epsilon: float, *, cells: int = 2**18) -> BothWays:
    pairs = list(pairs)
    swapped = [(other, other_scale, value, scale) for value, scale, other, other_scale in pairs]
    return BothWays(one_way(pairs, epsilon, cells=cells), one_way(swapped, epsilon, cells=cells))


def one_way(pairs: Iterable[Pair], epsilon: float, *, cells: int = 2**18) -> Bounds:
    """Bounds on δ(ε) of P = (value, scale) against Q = (other_value, other_scale)."""
    counted = Counter((abs(v - w), float(b), float(c)) for v, b, w, c in pairs)
    locations = sum(counted.values())
    ranges = {key: loss_range(*key) for key in counted}
    width = sum(times * (ranges[key][1] - ranges[key][0]) for key, times in counted.items())
    grid = max(width, 1e-6) / cells
    size = 1 << (cells + 3 * locations + 2).bit_length()
    first, spectrum, norm, missing = 0, None, 0.0, 0.0
    for key, times in counted.items():
        start, mass = loss_masses(*key, grid, *ranges[key])
        first += start * times
        missing += times * 2.0 * math.exp(-TAIL)
        norm += times * float(np.sqrt((mass**2).sum()))
        if locations == 1:
            return _bounds(mass, first, grid, epsilon, 1, missing)
        factor = np.fft.rfft(mass, size) ** times
        spectrum = factor if spectrum is None else spectrum * factor
    mass = np.maximum(np.fft.irfft(spectrum, size), 0.0)
    # rounding of the transforms, in the 2-norm as usual, then to the 1-norm by Cauchy and Schwarz
    blur = 4.0 * math.log2(size) * 2.0**-53 * norm * math.sqrt(size)
    return _bounds(mass, first, grid, epsilon, locations, missing + blur)


def _bounds(
    mass: np.ndarray, first: int, grid: float, epsilon: float, locations: int, missing: float
) -> Bounds:
    loss = (first + np.arange(len(mass))) * grid
    slip = locations * ROUNDING
    upper = _expected(mass, loss + slip, epsilon) + missing
    lower = _expected(mass, loss - locations * grid - slip, epsilon) - missing
    return Bounds(max(0.0, lower), upper)


def _expected(mass: np.ndarray, loss: np.ndarray, epsilon: float) -> float:
    excess = np.maximum(loss - epsilon, 0.0)
    return float((mass * -np.expm1(-excess)).sum())


def pieces(shift: int, scale: float, other: float) -> list[tuple[int, int, float, float]]:
    """(first k, last k, intercept, slope): the loss along k = distance from P's centre, in three pieces."""
    reach = math.ceil(TAIL * scale)
    ratio = math.log(math.tanh(0.5 / scale)) - math.log(math.tanh(0.5 / other))
    away = (0, reach, ratio + shift / other, 1.0 / other - 1.0 / scale)
    between = (1, min(shift, reach), ratio + shift / other, -1.0 / other - 1.0 / scale)
    beyond = (max(shift, 0) + 1, reach, ratio - shift / other, 1.0 / other - 1.0 / scale)
    return [piece for piece in (away, between, beyond) if piece[0] <= piece[1]]


def loss_range(shift: int, scale: float, other: float) -> tuple[float, float]:
    ends = [c + s * k for low, high, c, s in pieces(shift, scale, other) for k in (low, high)]
    return min(ends), max(ends)


def loss_masses(
    shift: int, scale: float, other: float, grid: float, low: float, high: float
) -> tuple[int, np.ndarray]:
    """P's mass by ⌈loss/grid⌉, and the index of the first cell."""
    first = math.floor(low / grid) - 1
    cells = np.arange(first, math.ceil(high / grid) + 2)
    mass = np.zeros(len(cells))
    each = 1.0 / (1.0 + math.exp(-1.0 / scale))
    for start, end, intercept, slope in pieces(shift, scale, other):
        if slope == 0.0:
            mass[math.ceil(intercept / grid) - first] += _geometric(start, end + 1, scale) * each
            continue
        edge = (cells * grid - intercept) / slope
        if slope > 0.0:  # cell i holds the k in (edge[i−1], edge[i]]
            upto = np.clip(np.floor(edge) + 1.0, start, end + 1)
            mass[1:] += _geometric(upto[:-1], upto[1:], scale) * each
        else:  # cell i holds the k in [edge[i], edge[i−1])
            since = np.clip(np.ceil(edge), start, end + 1)
            mass[1:] += _geometric(since[1:], since[:-1], scale) * each
    return first, mass


def _geometric(since: np.ndarray | int, until: np.ndarray | int, scale: float) -> np.ndarray:
    """(1 − r)·Σ r^k over since ≤ k < until, r = e^(−1/scale), without cancellation."""
    return np.exp(-np.asarray(since) / scale) * -np.expm1((np.asarray(since) - until) / scale)
