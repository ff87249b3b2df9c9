"""Exponential tilts: how the visitors of one band of places differ from those of all.

A law p over octaves tilted by t is p·e^{t·a} made to sum to one, a the octave: with t < 0 there are fewer people with
many places (or many visits), with t > 0 more. Each band has one tilt of the law of places, estimated from its noisy
histogram; neighbouring bands are alike (a random walk), and a band of few people is like the others. Tilts of the law
of visits tell apart users with few and with many places, and simulated places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.stages import SIZE_OCTAVES, VISIT_OCTAVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Tilt = Callable[[Reals], Reals]

WALK: Final = 0.15
"""Standard deviation of the step from one band to the next,"""
OWN: Final = 0.6
"""and of the tilt of each."""
MISFIT: Final = 0.1
"""How far a cell may lie from a tilted law, as a part of it."""
USUAL_SIZE_TILT: Final = -0.05
"""The tilt for each nat of n beyond exp(BUSY_FROM), before anything is seen: busy places have more newcomers."""
BUSY_FROM: Final = 4.0
BUSY_TO: Final = 8.0

_TRIED: Final[NDArray[np.float64]] = np.arange(-1.8, 1.801, 0.02)

_octave = np.arange(SIZE_OCTAVES)
_DOWN: Final = (_octave + 0.05 * _octave**2) / 1.4
_levelling = 1 - np.exp(-_octave / 3.0)
_UP: Final = 2 * _levelling / (_levelling[4] - _levelling[2])
_VISITS: Final = np.arange(VISIT_OCTAVES)
_VISITS_UP: Final = np.minimum(_VISITS, 4)


def size_tilt(tilt: Reals) -> Reals:
    """The logarithm of what a tilt makes of a law of places: a further axis of octaves.

    Downwards it acts more with every octave; upwards it levels off, for hardly anything is known of the last octaves.
    """
    along = np.asarray(tilt)[..., None]
    return np.where(along < 0, along * _DOWN, along * _UP)


def visit_tilt(tilt: Reals) -> Reals:
    """The same for a law of visits; upwards it stays as it is from the fourth octave on."""
    along = np.asarray(tilt)[..., None]
    return np.where(along < 0, along * _VISITS, along * _VISITS_UP)


class BandTilts(NamedTuple):
    """The tilt of each band."""

    mean: Reals
    """Posterior mean, from its own histogram and those of the others,"""
    deviation: Reals
    """and standard deviation."""
    own: Reals
    """What its own histogram says alone,"""
    own_deviation: Reals
    """and how surely."""


def fit_tilts(
    counts: Reals, deviation: float, foreseen: Reals, current: Reals, tilt: Tilt, usual: Reals
) -> BandTilts:
    """The tilts of all bands.

    `counts` (band × octave) are noisy, with noise of standard deviation `deviation`; `foreseen` is what the simulated
    places hold in each band with the tilts `current`. Tilts are fitted to what is foreseen *in the band* and not to the
    law of all: bands are selected by presence, and a low look is also a sign of visitors with many places.
    """
    precision, pull = np.empty(len(counts)), np.empty(len(counts))
    for band, noisy in enumerate(counts):
        law = foreseen[band] / max(foreseen[band].sum(), 1e-300) + 1e-9
        fit = fit_of_laws(noisy, deviation, law * np.exp(tilt(_TRIED) - tilt(current[band]))) - _TRIED**2 / 2
        weight = np.exp(fit - fit.max())
        weight /= weight.sum()
        mean = weight @ _TRIED
        variance = max(weight @ _TRIED**2 - mean**2, 1e-4)
        # What the band itself says, as a normal density: the N(0, 1) that kept the fit in range is taken out again.
        precision[band] = max(1 / variance - 1, 1e-6)
        pull[band] = mean / variance
    alike = np.diag(precision) + np.eye(len(counts)) / OWN**2
    for band in range(len(counts) - 1):
        alike[band : band + 2, band : band + 2] += np.array([[1, -1], [-1, 1]]) / WALK**2
    covariance = np.linalg.inv(alike)
    return BandTilts(
        usual + covariance @ (pull - precision * usual),
        np.sqrt(np.diag(covariance)),
        np.clip(pull / precision, _TRIED[0], _TRIED[-1]),
        precision**-0.5,
    )


def fit_of_laws(noisy: Reals, deviation: float, laws: Reals) -> Reals:
    """The log-likelihood of a noisy histogram under each law, at the total that suits it best."""
    laws = laws / laws.sum(axis=1, keepdims=True)
    total = np.maximum((laws @ noisy) / (laws**2).sum(axis=1), deviation)[:, None]
    spread = deviation**2 + (MISFIT * total * laws) ** 2
    fit: Reals = -(((noisy - total * laws) ** 2 / spread + np.log(spread)).sum(axis=1)) / 2
    return fit


def usual_size_tilt(log_n: Reals) -> Reals:
    """The tilt of places expected at places of this size, before anything is seen."""
    beyond: Reals = USUAL_SIZE_TILT * np.clip(log_n - BUSY_FROM, 0.0, BUSY_TO - BUSY_FROM)
    return beyond
