"""Histograms of all presence without most of their noise.

The noise is the same in every cell, but a unit of presence in the octave of 2^j places stands for 2^j visitors:
unsmoothed, the noise of the last cells would drown the number of visitors. Histograms of real activity rise and fall
smoothly over octaves. So a family of smooth curves is weighed by how well each explains the noisy cells, and a cell
that stands clear of its noise keeps its own value.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.mechanisms.shares.estimator import noise_law, octaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import Answers

    Reals = NDArray[np.float64]

ROUGHNESS: Final = 0.3
"""How far a cell may lie from a smooth curve, as a part of it."""
OBVIOUS: Final = 5.0
"""A cell this many standard deviations off the curve is believed against it."""

_CENTRES: Final = np.arange(-8.0, 10.5)
_WIDTHS: Final = (0.5, 0.8, 1.2, 1.8, 2.6, 3.6)
_SLOPES: Final = (0.5, 0.7, 1.0, 1.3)
_FALL: Final = 0.12
_TINY: Final = 1e-7
_SURE_SIZES: Final = 0.4
_SAFE: Final = 9
"""The total is read off these cells: there is hardly anybody beyond, and noise in every cell."""

_SECOND: Final = np.geomspace(0.01, 4.0, 30)
_FALLS: Final = np.arange(0.1, 1.01, 0.075)
_FIRST_LAST: Final = 3
_STEEPER: Final = 0.88
"""Visits: the part of the second cell in the first, then a fall with every octave, a little steeper each time."""
_OTHER_REGULARS: Final = np.linspace(-1.8, 1.8, 25)
_OTHER_FALLS: Final = np.linspace(-0.8, 0.6, 29)
REGULARS_DIFFER: Final = 0.6
FALLS_DIFFER: Final = 0.2
"""How far the law of a part lies from that of all: standard deviations, in nats, of these two."""
USUAL_SECOND: Final = (math.log(0.2), 0.7)
USUAL_FALL: Final = (0.45, 0.2)
"""What these usually are, and how sure that is."""


def sizes_of_all(answers: Answers) -> Reals:
    """Presence by octave of the user's places, of all bands together."""
    listed = answers.look.size
    # People go to more places where there are more; from a few dozen on that levels off.
    usual = math.log(min(max(math.sqrt(listed) / 6, 1.5), 15.0)), _SURE_SIZES
    possible = octaves.possible_sizes(answers.cap, listed)
    noisy = answers.sizes.sum(axis=0)
    spread = noise_law.deviation(answers.noise) * answers.sizes_scale * math.sqrt(len(answers.sizes))
    values = 1 / (octaves.mean_share(answers.cap) * answers.cap)
    smooth = smooth_sizes(noisy[:possible], spread, values[:possible], usual)
    return np.concatenate([smooth, np.zeros(noisy.size - possible)])


def visits_of_all_and_bands(answers: Answers) -> tuple[Reals, Reals]:
    """The law of visits of all bands together, and of each band: each sums to one."""
    noisy = answers.visits
    scale = noise_law.deviation(answers.noise) * answers.visits_scale
    of_all = smooth_visits(noisy.sum(axis=(0, 1)), scale * math.sqrt(len(noisy) * noisy.shape[1]))
    of_all = of_all / of_all.sum()
    spread = scale * math.sqrt(noisy.shape[1])
    bands = np.array([smooth_visits_like(each, spread, of_all) for each in noisy.sum(axis=1)])
    return of_all, bands / bands.sum(axis=1, keepdims=True)


def smooth_sizes(noisy: Reals, deviation: float, values: Reals, expected: tuple[float, float]) -> Reals:
    """Presence by octave of the user's places.

    `deviation` is the standard deviation of the noise; `values` what a unit of presence stands for in each cell;
    `expected` the logarithm of its mean value and how sure that is, for when the noise leaves nothing to be seen.
    """
    curves = _size_curves(noisy.size)
    total = max(float(noisy[:_SAFE].sum()), deviation)
    surprise = ((np.log(curves @ values) - expected[0]) / expected[1]) ** 2 / 2
    curve = _mean_curve(total * curves, _weights(noisy, deviation, total * curves, ROUGHNESS, -surprise))
    return _mended(noisy, deviation, curve, 1e-9 * total)


def smooth_visits(noisy: Reals, deviation: float) -> Reals:
    """Presence by octave of visits without most of the noise: many come once, fewer with every octave.

    Visits may break off at some octave, as they do in the records of a month.
    """
    curves, belief = _visit_curves(noisy.size)
    return _smooth_visits(noisy, deviation, curves, belief)


def smooth_visits_like(noisy: Reals, deviation: float, law: Reals) -> Reals:
    """The same for a part of all presence, whose law is like that of all: other regulars, and another fall."""
    at = np.arange(noisy.size)
    regulars, fall = (each.ravel()[:, None] for each in np.meshgrid(_OTHER_REGULARS, _OTHER_FALLS))
    curves = law * np.exp(regulars * (at > 0) + fall * np.maximum(at - 1, 0))
    belief = -((regulars / REGULARS_DIFFER) ** 2 + (fall / FALLS_DIFFER) ** 2)[:, 0] / 2
    return _smooth_visits(noisy, deviation, curves / curves.sum(axis=1, keepdims=True), belief)


def _smooth_visits(noisy: Reals, deviation: float, curves: Reals, belief: Reals) -> Reals:
    best = (curves @ noisy) / (curves**2).sum(axis=1)
    expected = np.maximum(best, deviation)[:, None] * curves
    curve = _mean_curve(expected, _weights(noisy, deviation, expected, ROUGHNESS / 2, belief))
    return _mended(noisy, deviation, curve, 1e-3 * curve)


def _weights(noisy: Reals, deviation: float, expected: Reals, roughness: float, belief: Reals) -> Reals:
    """Posterior weights of curves."""
    spread = deviation**2 + (roughness * expected) ** 2
    logs = belief - ((noisy - expected) ** 2 / spread + np.log(spread)).sum(axis=1) / 2
    weight = np.exp(logs - logs.max())
    normal: Reals = weight / weight.sum()
    return normal


def _mean_curve(expected: Reals, weight: Reals) -> Reals:
    """The weighted geometric mean of the curves: a few of them with a long tail must not decide about the tail."""
    total = expected.sum(axis=1).max()
    curve: Reals = np.exp(weight @ np.log(expected + _TINY * total))
    return curve


def _mended(noisy: Reals, deviation: float, curve: Reals, least: float | Reals) -> Reals:
    """The curve, with each cell drawn to its own value as far as that is clear of the noise."""
    trust = (ROUGHNESS * curve) ** 2 / ((ROUGHNESS * curve) ** 2 + deviation**2)
    off = noisy - curve
    obvious = 1 - (OBVIOUS * deviation) ** 2 / np.maximum(off**2, 1e-12 * deviation**2)
    mended: Reals = np.maximum(curve + off * np.maximum(trust, obvious), least)
    return mended


@cache
def _size_curves(cells: int) -> Reals:
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


@cache
def _visit_curves(cells: int) -> tuple[Reals, Reals]:
    """Curves that fall with every octave, each summing to one, and the logarithm of how much each is believed."""
    lasts = np.arange(min(_FIRST_LAST, cells - 1), cells)
    second, fall, last = (each.ravel()[:, None] for each in np.meshgrid(_SECOND, _FALLS, lasts))
    at = np.arange(cells)
    beyond = np.maximum(at - 1, 0)
    falling = second * fall**beyond * _STEEPER ** (beyond * np.maximum(at - 2, 0) / 2)
    curves = np.where(at == 0, 1.0, falling) * _FALL ** np.maximum(at - last, 0)
    belief = -(((np.log(second) - USUAL_SECOND[0]) / USUAL_SECOND[1]) ** 2) / 2
    belief = belief - ((fall - USUAL_FALL[0]) / USUAL_FALL[1]) ** 2 / 2
    # Visits break off nowhere as likely as somewhere.
    belief = belief - np.where(last < cells - 1, math.log(max(len(lasts) - 1, 1)), 0.0)
    return curves / curves.sum(axis=1, keepdims=True), belief[:, 0]
