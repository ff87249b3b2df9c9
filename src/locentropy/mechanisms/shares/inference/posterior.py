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
BLOCK: Final = 512
"""Places at a time."""
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
        powers = _powers(split[places])
        weight = np.exp(_normalised(_log_fit(found, use, at, prior[use, at]) @ powers))
        weight /= weight.sum(axis=0)
        entropy = np.maximum(_corrected(found, use, at) @ powers[:3], 0.0)
        mean = (weight * entropy).sum(axis=0)
        between = np.maximum((weight * entropy**2).sum(axis=0) - mean**2, 0.0)
        variance, below, above = (
            each[use, at] @ weight for each in (found.variance, found.below, found.above)
        )
        out.entropy[places] = mean
        out.variance[places] = between + variance
        out.below[places] = np.sqrt(_SQUARED * between + below)
        out.above[places] = np.sqrt(_SQUARED * between + above)
    return out


_SQUARED: Final = 1.96**2


def _fit(found: Components, bin_of: Indices, split: Reals) -> Reals:
    """How well each component predicts each place: component × place, the best counting 1."""
    logs = np.empty((len(found.entropy), bin_of.size))
    every = np.arange(len(found.entropy))
    for at, places in _by_bin(bin_of):
        logs[:, places] = _log_fit(found, every, at, found.log_weight[:, at]) @ _powers(split[places])
    fit: Reals = np.exp(_normalised(logs))
    return fit


def _powers(split: Reals) -> Reals:
    """1, a, b, a², ab, b² of the pairs (a, b): what follows is linear in these, and one product of matrices."""
    first, second = split.T
    return np.stack([np.ones_like(first), first, second, first**2, first * second, second**2])


def _log_fit(found: Components, use: Indices, at: int, constant: Reals) -> Reals:
    """The logarithm of a normal density around what components predict: a row of coefficients of the powers each."""
    first, second = found.pair[:, use, at]
    to_first, to_second, to_both = found.precision[:, use, at]
    return np.stack(
        [
            constant - 0.5 * (to_first * first**2 + to_second * second**2) - to_both * first * second,
            to_first * first + to_both * second,
            to_second * second + to_both * first,
            -0.5 * to_first,
            -to_both,
            -0.5 * to_second,
        ],
        axis=1,
    )


def _corrected(found: Components, use: Indices, at: int) -> Reals:
    """Entropy as it moves with the pair, in the same way: coefficients of 1, a, b."""
    gain, pair = found.gain[:, use, at], found.pair[:, use, at]
    return np.stack([found.entropy[use, at] - (gain * pair).sum(axis=0), *gain], axis=1)


def _normalised(logs: Reals) -> Reals:
    relative: Reals = logs - logs.max(axis=0)
    return relative


def _evenly(bin_of: Indices) -> Indices:
    """Some of the places, evenly over the looks."""
    return np.argsort(bin_of, kind="stable")[:: max(1, bin_of.size // SAMPLE)]


def _by_bin(bin_of: Indices) -> Iterator[tuple[int, Indices]]:
    """Each bin and the places in it, some at a time: the tables of a block stay close to the processor."""
    order = np.argsort(bin_of, kind="stable")
    ends = np.flatnonzero(np.diff(bin_of[order], append=-1)) + 1
    start = 0
    for end in ends.tolist():
        for at in range(start, end, BLOCK):
            yield int(bin_of[order[start]]), order[at : min(at + BLOCK, end)]
        start = end
