"""Checks of the noise itself, as it is drawn for releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.locations import Locations
from locentropy.mechanisms.paper.limit import Limit
from locentropy.privacy.noise import LATTICE, OpenDPNoise
from locentropy_lab.audit.mutation.planting import check
from locentropy_lab.audit.subjects import crowd_queries

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


_DRAWS: Final = 30_000
_SCALE: Final = 187.3
_SCALES: Final = np.repeat(np.geomspace(3.1, 29_870.0, 60), _DRAWS // 60)
"""Odd ones: a scale that somebody has rounded shows."""
_DEVIATIONS: Final = 6.0
"""By chance alone a check fails less than once in a hundred million times."""
_AT_ANY_DISTANCE: Final = 7.5
"""The same where the largest of thirty thousand numbers is looked at."""
_FEWEST: Final = 1000
"""Pairs of values at a distance, for their mean to be normal."""
_MANY: Final = 300_000
_FAR: Final = (1, 2, 3, 4, 5, 6, 7)
"""Scales from the middle. Beyond seven there are still some three hundred draws."""


def _zeros(many: int) -> NDArray[np.int64]:
    return np.zeros(many, dtype=np.int64)


@check("noise has its scale, value by value")
def law() -> list[str]:
    """The mean of |noise| is that of the scale, and the noise of one value says nothing about another's."""
    wrong = []
    one = OpenDPNoise().laplace(_zeros(_DRAWS), _SCALE)
    each = OpenDPNoise().laplace_each(_zeros(_DRAWS), _SCALES)
    for name, noise, scales in (("laplace", one, _SCALE), ("laplace_each", each, _SCALES)):
        # Discrete Laplace: E|k| = 1/sinh(1/b), and |k| has about that standard deviation.
        part = float((np.abs(noise) * np.sinh(1.0 / scales)).mean())
        if abs(part - 1.0) * np.sqrt(_DRAWS) > _DEVIATIONS:
            wrong.append(f"{name}: the mean of |noise| is {part:.3f} of what it should be")
        wrong += _dependent(name, noise)
    # Discrete Gaussian: E k² = σ² to many digits at this scale, and k² has √2 of that as its standard deviation.
    noise = OpenDPNoise().gaussian(_zeros(_DRAWS), _SCALE)
    part = float((noise.astype(np.float64) ** 2).mean()) / _SCALE**2
    if abs(part - 1.0) * np.sqrt(_DRAWS / 2) > _DEVIATIONS:
        wrong.append(f"gaussian: the mean of noise² is {part:.3f} of what it should be")
    return wrong + _dependent("gaussian", noise)


def _dependent(name: str, noise: NDArray[Any]) -> list[str]:
    distance, alike = _most_alike(np.sign(noise))
    if alike <= _AT_ANY_DISTANCE:
        return []
    return [f"{name}: one value's noise tells about that of the value {distance:,} further on"]


def _most_alike(signs: NDArray[Any]) -> tuple[int, float]:
    """The distance at which signs agree or differ most, and by how many standard deviations."""
    many = signs.size
    power = np.abs(np.fft.rfft(signs, 2 * many)) ** 2
    together = np.abs(np.fft.irfft(power)[1 : many - _FEWEST]) / np.sqrt(many - np.arange(1, many - _FEWEST))
    return int(together.argmax()) + 1, float(together.max())


@check("noise has its tails")
def tails() -> list[str]:
    """The tails have the right mass: noise with an end tells neighbours apart with certainty beyond it."""
    wrong = []
    ways = {
        "laplace": OpenDPNoise().laplace(_zeros(_MANY), _SCALE),
        "laplace_each": OpenDPNoise().laplace_each(_zeros(_MANY), np.full(_MANY, _SCALE)),
    }
    for name, noise in ways.items():
        for far in _FAR:
            # Discrete Laplace: P(|k| ≥ m) = 2·exp(−m/b)/(1 + exp(−1/b)), m a whole number.
            part = 2 * np.exp(-far) / (1 + np.exp(-1 / _SCALE))
            seen = int((np.abs(noise) >= far * _SCALE).sum())
            if abs(seen - part * _MANY) > _DEVIATIONS * np.sqrt(part * _MANY):
                wrong.append(
                    f"{name}: {seen:,} of {_MANY:,} draws are beyond {far} scales, not {part * _MANY:,.0f}"
                )
    reach = np.arange(1, 40 * int(_SCALE))
    masses = np.exp(-((reach / _SCALE) ** 2) / 2)
    drawn = np.abs(OpenDPNoise().gaussian(_zeros(_MANY), _SCALE))
    for far in _FAR[:3]:  # beyond three scales a Gaussian has too little to count
        part = 2 * masses[reach >= far * _SCALE].sum() / (1 + 2 * masses.sum())
        seen = int((drawn >= far * _SCALE).sum())
        if abs(seen - part * _MANY) > _DEVIATIONS * np.sqrt(part * _MANY):
            wrong.append(
                f"gaussian: {seen:,} of {_MANY:,} draws are beyond {far} scales, not {part * _MANY:,.0f}"
            )
    return wrong


@check("noise is drawn anew")
def fresh() -> list[str]:
    """Two calls give two answers, of one object and of two."""
    zeros, wide = _zeros(50), np.full(50, _SCALE)
    ways: dict[str, Callable[[OpenDPNoise], Any]] = {
        "laplace": lambda noise: noise.laplace(zeros, _SCALE),
        "laplace_each": lambda noise: noise.laplace_each(zeros, wide),
        "gaussian": lambda noise: noise.gaussian(zeros, _SCALE),
        "bernoulli_each": lambda noise: noise.bernoulli_each(np.full(200, 0.5)),
    }
    wrong = []
    for name, draw in ways.items():
        noise = OpenDPNoise()
        answers = [draw(noise), draw(noise), draw(OpenDPNoise())]
        if any(np.array_equal(answers[i], answers[j]) for i, j in ((0, 1), (0, 2), (1, 2))):
            wrong.append(f"{name} gives the same answer twice")
    return wrong


@check("noise keeps to whole lattice points")
def lattice() -> list[str]:
    """Noise is made of integers, and what is published of them is a lattice point."""
    wrong = []
    if OpenDPNoise().laplace(_zeros(9), _SCALE).dtype != np.int64:
        wrong.append("noise is not made of 64-bit integers")
    queries = crowd_queries([{1: 2**20}] * 20)  # far from 0, where values are cut
    limit, listed = Limit(1.0, max_locations=1, max_visits=1), Locations(queries.locations)
    shown = limit.estimate(limit.measure(queries, listed, OpenDPNoise()), listed).entropy
    if not np.array_equal(shown * LATTICE, np.rint(shown * LATTICE)):
        wrong.append("published values lie between lattice points, which tells them apart")
    return wrong


@check("noise refuses what would not protect")
def refusals() -> list[str]:
    """Noise is refused at scale 0, on real numbers, and where it would overflow."""
    noise, zeros = OpenDPNoise(), _zeros(2)
    odd: dict[str, Callable[[], object]] = {
        "a scale of 0": lambda: noise.laplace(zeros, 0.0),
        "a scale below 0": lambda: noise.laplace(zeros, -1.0),
        "a scale that is not a number": lambda: noise.laplace(zeros, float("nan")),
        "one scale of 0 among others": lambda: noise.laplace_each(zeros, np.array([3.0, 0.0])),
        "a scale of 0 for Gaussian noise": lambda: noise.gaussian(zeros, 0.0),
        "real numbers": lambda: noise.laplace(np.array([0.5, 1.5]), 3.0),
        "values at the end of 64 bits": lambda: noise.laplace(np.array([2**62, 0]), 3.0),
        "a coin of more than 1": lambda: noise.bernoulli_each(np.array([1.5])),
    }
    return [f"{what} is taken" for what, call in odd.items() if not _refused(call)]


def _refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except Exception:  # whoever refuses, nothing is drawn
        return True
    return False


@check("coins have their probability")
def coins() -> list[str]:
    """Rare coins, even coins, and certain ones."""
    wrong = []
    for chance in (0.01, 0.3, 0.5, 0.97):
        seen = float(OpenDPNoise().bernoulli_each(np.full(_DRAWS, chance)).mean())
        if abs(seen - chance) > _DEVIATIONS * np.sqrt(chance * (1 - chance) / _DRAWS):
            wrong.append(f"coins of {chance} come up {seen:.4f} of the time")
    sure = OpenDPNoise().bernoulli_each(np.array([0.0, 1.0] * 100))
    if sure.tolist() != [False, True] * 100:
        wrong.append("coins of 0 and 1 are not certain")
    # A probability as small as δ: of these, not one comes up in three hundred million such checks.
    seldom = int(OpenDPNoise().bernoulli_each(np.full(_MANY, 1e-14)).sum())
    if seldom:
        wrong.append(f"of {_MANY:,} coins that practically never come up {seldom} did")
    even = OpenDPNoise().bernoulli_each(np.full(_MANY, 0.5))
    distance, alike = _most_alike(np.where(even, 1, -1))
    if alike > _AT_ANY_DISTANCE:
        wrong.append(f"one coin tells about the coin {distance:,} further on")
    return wrong
