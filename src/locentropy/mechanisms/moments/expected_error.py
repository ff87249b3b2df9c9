"""How far a value of Moments is off on average, by the number n of users who count at a place.

The error depends on more than n: on c, the visits there, and on a = S/c, how unevenly they are spread. To first
order it is

    E|(1 + a)·z_c − z_S| / c,    with E|s·Z₁ + t·Z₂| = (s² + s·t + t²)/(s + t), Z Laplace of scale 1, s, t ≥ 0,

which falls as 1/n. Small places are beyond first order: what is published is cut to what is possible. So the
expected error is computed from the law of the noise and the mechanism's own reading of it, for crowds of n users,
and the largest is told. The crowds are users of 1 and of C visits in several mixtures, and users who are all alike:
for n users and a given a, a mixture of 1 and C has the fewest visits, hence the largest error to first order, and
users who are all alike have the largest entropy. n is not read off anything, and in between the sizes that are
computed errors are interpolated.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from locentropy.privacy.moments import directions, visit_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.moments.mechanism import Moments

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_NODES = 50  # values of the noise in each coordinate, equally likely
_MIXTURES = 17  # of users of 1 and of C visits, at equal steps of a
_ALIKE = 4  # numbers of visits between 1 and C of users who are all alike
_OCTAVES, _PER_OCTAVE = 20, 3  # the sizes that are computed; beyond, errors fall as 1/n
_LEAST = 1e-300  # so that there is a logarithm even where nothing but 0 is possible
_SMALL = 8  # sizes that are all computed


def moments_errors(mechanism: Moments, users: Integers) -> Reals:
    """The largest expected |published − bounded entropy|, in nats, among places of so many users."""
    sizes, errors = _tabulated(mechanism)
    beyond = np.maximum(users / sizes[-1], 1.0)
    inside = np.interp(np.log(np.maximum(users, 1)), np.log(sizes), np.log(errors))
    found: Reals = np.exp(inside) / beyond
    return found


def moments_noise(mechanism: Moments, users: Integers) -> Reals:
    """The largest mean size of the noise, in nats, to first order and before a value is cut to what is possible."""
    visits, logs = _crowds(mechanism.max_visits, np.ones(1), whole=False)
    weights = np.abs(directions((logs / visits).ravel()) @ mechanism.table.inverse) * mechanism.scale
    one, other = weights.T
    mean = (one**2 + one * other + other**2) / (one + other)
    noise: Reals = (mean / visits.ravel()).max() / np.maximum(users, 1)
    return noise


@lru_cache(maxsize=16)
def _tabulated(mechanism: Moments) -> tuple[Reals, Reals]:
    """Sizes, and the largest expected error at each."""
    spaced = 2.0 ** (np.arange(_OCTAVES * _PER_OCTAVE + 1) / _PER_OCTAVE)
    sizes = np.unique(np.concatenate([np.arange(1, _SMALL + 1), np.rint(spaced)]))
    if mechanism.max_users is not None:
        sizes = np.unique(np.minimum(sizes, mechanism.max_users))  # there are no larger places
    visits, logs = _crowds(mechanism.max_visits, sizes, whole=True)
    most = math.inf if mechanism.max_users is None else math.log(mechanism.max_users)
    entropy = np.clip(np.log(visits) - logs / visits, 0.0, most)
    noise = mechanism.scale * _noise_nodes()
    errors = np.zeros(len(sizes))
    for at in range(len(sizes)):
        centres = np.stack([visits[:, at], logs[:, at]], axis=1) @ mechanism.table.matrix.T
        found = mechanism.estimator.entropy((centres[:, None, :] + noise).reshape(-1, 2))
        off = np.abs(found.reshape(len(centres), -1) - entropy[:, at, None])
        errors[at] = off.mean(axis=1).max()
    return sizes, np.maximum(errors, _LEAST)


def _crowds(max_visits: int, users: Reals, *, whole: bool) -> tuple[Reals, Reals]:
    """c and S of crowds, a row each, of so many users, a column each; whole people, or any share of them."""
    one, most = visit_moments(max_visits)[[0, -1]]
    slopes = np.linspace(0.0, math.log(max_visits), _MIXTURES)[:, None]
    full = users * (slopes / np.maximum(most[1] - slopes * (most[0] - one[0]), 1e-300))  # S = a·c, solved
    if whole:
        full = np.rint(full)
    alike = np.geomspace(1.0, max_visits, _ALIKE + 2)[1:-1, None]
    visits = np.concatenate([users - full + full * most[0], alike * users])
    logs = np.concatenate([(users - full) * one[1] + full * most[1], alike * np.log(alike) * users])
    return visits, logs


def _noise_nodes() -> Reals:
    """Pairs of independent Laplace values of scale 1 that are equally likely: means of equal slices of the law."""
    edges = np.linspace(0.0, 1.0, _NODES // 2 + 1)[:-1]  # of P(|Z| > z) = e^(−z), from the tail
    upper = np.append(edges[1:], 1.0)
    # The mean of −ln p over (p₀, p₁) is 1 − (p₁·ln p₁ − p₀·ln p₀)/(p₁ − p₀).
    weighted = [p * np.log(np.where(p > 0, p, 1.0)) for p in (edges, upper)]
    sizes = 1.0 - (weighted[1] - weighted[0]) / (upper - edges)
    values = np.concatenate([-sizes, sizes])
    return np.stack(np.meshgrid(values, values), axis=-1).reshape(-1, 2)
