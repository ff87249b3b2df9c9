"""What Shares asks: public tables of weights, and public rules for what is asked next.

Weights say what a number of visits counts for when a user's unit of presence is divided. The inference reads the very
same integers, so nothing is lost by their rounding; and the guarantee holds for any table. Each rule is a function of
noisy integers that were released before and public numbers.

    bands          the noisy look cut into bands, for the histograms of sizes and of visits
    many_from      the octave of places from which a user has many, for the histogram of visits
    clear_places   the places whose look is clear of the noise, for the split

Privacy does not rest on these rules: whatever they choose, one user moves the next answer by no more than its stated
sensitivity. They are deterministic, accept any integers, and are computed again whenever a release is estimated or
verified; sums are exact, so that no rounding can choose otherwise on another machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.shares import LARGEST_WEIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import NoiseKind

    Integers = NDArray[np.int64]

SIZE_OCTAVES: Final = 14
VISIT_OCTAVES: Final = 13
"""Cells of the histograms of sizes and of visits. Constants: no cell depends on the data. The last ones are open."""
VISIT_THRESHOLDS: Final = (2, *(2**at + 1 for at in range(1, VISIT_OCTAVES - 1)))
"""Visits in octaves 1, 2, 3–4, 5–8, …"""

MAX_BANDS: Final = 12
"""The most bands of a histogram."""
SIZE_BAND: Final = 35.0
VISIT_BAND: Final = 45.0
"""A band holds so many standard deviations of the noise of a cell: more for visits, which have twice the cells."""
SURE: Final = 3.0
"""Presence counts as far as it exceeds that of the noise by so many of its standard deviations."""
EDGES: Final[dict[NoiseKind, tuple[float, ...]]] = {
    "laplace": (1.5, 3.0, *(6.0 * 2**at for at in range(9))),
    "gaussian": (1.0, 2.0, 3.5, *(6.0 * 2**at for at in range(8))),
}
"""Where bands may begin, in scales of the noise of the look: as soon as looks say something, then by doubling."""
USERS_IN_PRESENCE: Final[dict[NoiseKind, float]] = {"laplace": 1.0, "gaussian": 40**-0.5}
"""A user's unit in the histograms over the user's presence in the looks. With Gaussian noise a user of m places has √m
of presence; the bands suppose m = 40, a public guess that only decides how fine they are."""
MANY: Final = (3, 5)
"""Users with many places hold the upper 2/5 of all presence, or as near to that as an octave comes;"""
USUAL_MANY: Final = 4
"""where the noise hides the sizes, they have more than 8 places (in multiples of M)."""
CLEAR: Final[dict[NoiseKind, float]] = {"laplace": 3.0, "gaussian": 2.5}
"""A look is clear of the noise above so many scales."""


LOOK_WEIGHTS: Final = (LARGEST_WEIGHT, math.isqrt(LARGEST_WEIGHT**2 // 2))
"""⌊2^15/√visits⌋ for one visit, and for two or more: a place to which somebody came back has less of their unit, since
entropy gains more by those who come once. It stops at two: a home whose people are there daily must not vanish among
the places that they pass."""
RETURNING: Final = 3
"""The split counts users who came to the place at least so often."""
SPLIT_WEIGHTS: Final = (*(0,) * (RETURNING - 1), 1)
"""Equal shares among the places to which somebody returned, and nothing elsewhere."""


def bands(
    look: Integers, look_scale: float, cell_scale: float, noise: NoiseKind, needed: float
) -> tuple[int, ...]:
    """Looks, in lattice points, at which bands begin; ascending, without the lowest band.

    Bands double in width, from the top down. One whose presence is not `needed` standard deviations of the noise of a
    cell of its histogram (of scale `cell_scale`) joins the one below.
    """
    kept: list[int] = []
    above = math.inf
    for factor in reversed(EDGES[noise]):
        edge = math.floor(factor * look_scale)
        if edge >= np.iinfo(np.int64).max:
            continue
        inside = look[(look > edge) & (look <= above)]
        # Noise alone lifts some places into the band: that is no presence, and how much it is varies.
        ends = edge / look_scale, above / look_scale
        by_noise = look.size * look_scale * _moment_between(1, *ends, noise)
        varies = look_scale * math.sqrt(look.size * _moment_between(2, *ends, noise))
        presence = (_exact_sum(inside) - by_noise - SURE * varies) * USERS_IN_PRESENCE[noise]
        if inside.size and presence > needed * _deviation(noise) * cell_scale:
            kept.append(edge)
            above = edge
    return tuple(reversed(kept[: MAX_BANDS - 1]))


def many_from(sizes: Integers, cell_scale: float, noise: NoiseKind) -> int:
    """The octave of places from which a user has many, from the noisy sizes (band × octave); 1 to SIZE_OCTAVES − 1."""
    by_octave = [_exact_sum(column) for column in sizes.T]
    total = sum(by_octave)
    if total <= 3 * _deviation(noise) * cell_scale * math.sqrt(sizes.size):
        return USUAL_MANY
    part, whole = MANY
    reached = np.cumsum(np.array(by_octave, dtype=object))
    off = [abs(whole * each - part * total) for each in reached[:-1]]
    return off.index(min(off)) + 1


def clear_places(look: Integers, look_scale: float, noise: NoiseKind) -> Integers:
    """The positions of the places whose look is clear of the noise, ascending; there may be none."""
    return np.flatnonzero(look > math.floor(CLEAR[noise] * look_scale)).astype(np.int64)


def _exact_sum(values: Integers) -> int:
    """The sum of 64-bit integers, without overflow and without rounding."""
    low = np.int64(2**31)
    return int((values // low).sum()) * int(low) + int((values % low).sum())


def _moment_between(power: int, low: float, high: float, noise: NoiseKind) -> float:
    """E[z^power; low < z ≤ high] of noise of scale 1, for power 1 or 2 and low ≥ 0."""
    return max(_moment_above(power, low, noise) - _moment_above(power, high, noise), 0.0)


def _moment_above(power: int, at: float, noise: NoiseKind) -> float:
    if at > 700:  # less than the smallest float
        return 0.0
    if noise == "laplace":
        return 0.5 * math.exp(-at) * (at + 1 if power == 1 else at * at + 2 * at + 2)
    density = math.exp(-at * at / 2) / math.sqrt(2 * math.pi)
    return density if power == 1 else at * density + math.erfc(at / math.sqrt(2)) / 2


def _deviation(noise: NoiseKind) -> float:
    """The standard deviation of noise of scale 1."""
    return math.sqrt(2) if noise == "laplace" else 1.0
