"""The posterior of every place: which components fit its pair, and what entropy they say.

How common each visit law is, in places of each band, is learnt from the pairs of all places first; so homes do not
set the law that venues are judged by. Then each place is a mixture of its components.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.inference.components import BANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.inference.components import Components

    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

SAMPLE: Final = 8000
"""Laws are learnt from about so many places, evenly taken over the looks."""
ROUNDS: Final = 150
CAUTION: Final = 40.0
"""The laws of all places begin as if so many places had been seen to follow what was expected,"""
BAND_CAUTION: Final = 50.0
"""and those of a band as if so many of it were like all."""
NEGLIGIBLE: Final = 1e-6
"""Components this unlikely, before the pair is seen, are left out in a bin."""


class Posterior(NamedTuple):
    """For each place."""

    entropy: Reals
    """Mean."""
    variance: Reals
    """Variance."""
    below: Reals
    """Distance to the lower end of the 95 % interval,"""
    above: Reals
    """and to the upper end."""


def law_shares(found: Components, bin_of: Indices, split: Reals, expected: Reals) -> Reals:
    """How common each visit law is in each band: band × law, rows summing to one."""
    chosen = _evenly(bin_of)
    worth = bin_of.size / chosen.size
    fit = _fit(found, bin_of[chosen], split[chosen])
    shares = np.tile(expected, (len(BANDS), 1))
    for _ in range(ROUNDS):
        belongs = shares.reshape(-1, 1) * fit
        belongs /= belongs.sum(axis=0)
        seen = belongs.sum(axis=1).reshape(shares.shape) * worth
        overall = seen.sum(axis=0) + CAUTION * expected
        shares = seen + BAND_CAUTION * overall / overall.sum()
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def posterior(found: Components, shares: Reals, bin_of: Indices, split: Reals) -> Posterior:
    """Every place as a mixture of its components, bin by bin of the look."""
    out = Posterior(*(np.empty(bin_of.size) for _ in Posterior._fields))
    prior = np.log(shares.reshape(-1, 1)) + found.log_weight
    likely = prior > prior.max(axis=0) + np.log(NEGLIGIBLE)
    for at, places in _by_bin(bin_of):
        use = np.flatnonzero(likely[:, at])
        off = split[places].T[:, None, :] - found.pair[:, use, at, None]
        weight = np.exp(_normalised(prior[use, at, None] - _misfit(found, use, at, off)))
        weight /= weight.sum(axis=0)
        gain = found.gain[:, use, at, None]
        entropy = np.maximum(found.entropy[use, at, None] + (gain * off).sum(axis=0), 0.0)
        mean = (weight * entropy).sum(axis=0)
        between = np.maximum((weight * entropy**2).sum(axis=0) - mean**2, 0.0)
        out.entropy[places] = mean
        out.variance[places] = between + found.variance[use, at] @ weight
        out.below[places] = np.sqrt(_SQUARED * between + found.below[use, at] @ weight)
        out.above[places] = np.sqrt(_SQUARED * between + found.above[use, at] @ weight)
    return out


_SQUARED: Final = 1.96**2


def _fit(found: Components, bin_of: Indices, split: Reals) -> Reals:
    """How well each component predicts each place: component × place, the best counting 1."""
    logs = np.empty((len(found.entropy), bin_of.size))
    every = np.arange(len(found.entropy))
    for at, places in _by_bin(bin_of):
        off = split[places].T[:, None, :] - found.pair[:, :, at, None]
        logs[:, places] = found.log_weight[:, at, None] - _misfit(found, every, at, off)
    fit: Reals = np.exp(_normalised(logs))
    return fit


def _misfit(found: Components, use: Indices, at: int, off: Reals) -> Reals:
    """Half the squared distance of pairs from what components predict, in their own metric."""
    first, second, both = found.precision[:, use, at, None]
    misfit: Reals = 0.5 * (first * off[0] ** 2 + second * off[1] ** 2) + both * off[0] * off[1]
    return misfit


def _normalised(logs: Reals) -> Reals:
    relative: Reals = logs - logs.max(axis=0)
    return relative


def _evenly(bin_of: Indices) -> Indices:
    """Some of the places, evenly over the looks."""
    return np.argsort(bin_of, kind="stable")[:: max(1, bin_of.size // SAMPLE)]


def _by_bin(bin_of: Indices) -> Iterator[tuple[int, Indices]]:
    """Each bin and the places in it."""
    order = np.argsort(bin_of, kind="stable")
    ends = np.flatnonzero(np.diff(bin_of[order], append=-1)) + 1
    start = 0
    for end in ends.tolist():
        yield int(bin_of[order[start]]), order[start:end]
        start = end
