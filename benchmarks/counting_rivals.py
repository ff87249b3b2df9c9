"""What a data scientist would write instead: bounded counts of visitors with noise, as entropies.

A place with n equally loyal visitors has entropy ln n. So: keep at most M places of each person, count the visitors of
every place, add noise, take the logarithm. `counted` does just that; `shrunk` takes the mean of ln n given the noisy
count, under the distribution of n that makes all noisy counts of the list most likely (empirical Bayes). Noise is
simulated, and continuous: rounding it changes nothing here. Neither has an error bar.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

import locentropy as le

if TYPE_CHECKING:
    from utility_data import DataSet

    Reals = np.ndarray

BOUNDS = (1, 2, 3, 5, 8, 12, 20, 50)
"""M, the most places of a person. Which is best depends on the city, and finding out would cost budget."""
STEPS = 100
"""Of the search for the distribution of n; more change no digit that is printed."""


class Published(NamedTuple):
    """Entropies, and what places are ranked by: values that are cut at 0 would tie."""

    entropy: Reals
    order: Reals


def gaussian_deviation(epsilon: float, delta: float) -> float:
    """σ of Gaussian noise on numbers of ℓ₂ sensitivity 1, by the exact formula of Balle and Wang (2018)."""

    def spent(sigma: float) -> float:
        mean = 1 / sigma
        above, below = mean / 2 - epsilon / mean, -mean / 2 - epsilon / mean
        return float(ndtr(above) - math.exp(epsilon) * ndtr(below))

    low, high = 1e-3, 1e6
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if spent(middle) > delta else (low, middle)
    return high


def noisy_counts(data: DataSet, bound: int, epsilon: float, delta: float, seed: int) -> tuple[Reals, float]:
    """Noisy numbers of visitors, each person at `bound` places at most, and the scale of the noise."""
    exact = data.queries.profile(le.private.Bounds(bound, 1)).user_counts
    random = np.random.default_rng([seed, bound])
    if delta == 0:
        scale = bound / epsilon
        return exact + random.laplace(0.0, scale, exact.size), scale
    scale = math.sqrt(bound) * gaussian_deviation(epsilon, delta)
    return exact + random.normal(0.0, scale, exact.size), scale


def counted(noisy: Reals) -> Published:
    """ln max(1, y)."""
    return Published(np.log(np.maximum(1.0, noisy)), noisy)


def shrunk(noisy: Reals, scale: float, delta: float) -> Published:
    """The mean of ln max(1, n) given y, n distributed as makes all y most likely."""
    top = max(float(noisy.max()), 1.0) + 3 * scale
    sizes = np.unique(np.concatenate([[0.0], np.rint(np.geomspace(1.0, top, 90))]))
    off = np.abs(noisy[:, None] - sizes[None, :]) / scale
    log_chance = -off if delta == 0 else -(off**2) / 2
    chance = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
    share = np.full(sizes.size, 1 / sizes.size)
    for _ in range(STEPS):  # expectation maximisation
        share *= (chance / (chance @ share)[:, None]).mean(axis=0)
    posterior = chance * share
    mean = posterior @ np.log(np.maximum(1.0, sizes)) / posterior.sum(axis=1)
    return Published(mean, mean)
