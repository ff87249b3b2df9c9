"""The posterior of every place: which components fit its pair, and what entropy they say.

How common each visit law is, in places of each band, is learnt from the pairs of all places first; so homes do not
set the law that venues are judged by. Then each place is a mixture of its components.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.estimator.simulated_places import SimulatedPlaces

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

BANDS: Final = (0, 6, 26, 126)
"""Where bands of n begin: homes, corners, venues, stations."""
MISMATCH: Final = 0.05
"""A pair may differ from what any law predicts by this part: laws are made of octaves, people are not."""
TAIL: Final = 0.025
"""On either side of an interval of 95 %."""


class Components(NamedTuple):
    """For each component and bin of the look: component × bin. Bands vary slowest."""

    log_weight: Reals
    """Logarithm of how likely the band is, less half the log-determinant of the pair's covariance."""
    entropy: Reals
    """Mean entropy,"""
    variance: Reals
    """its variance when the pair is known,"""
    below: Reals
    """and the squared distance to the ends of its interval then, below"""
    above: Reals
    """and above."""
    pair: Reals
    """Mean pair: 2 × component × bin,"""
    gain: Reals
    """how entropy moves with it,"""
    precision: Reals
    """and the inverse of its covariance with noise: first, second, both. 3 × component × bin."""


def components(simulated: SimulatedPlaces, weights: Reals, split_scale: float) -> Components:
    """From a weight for every made-up place (n × copy, flat) and bin of the look."""
    of_grid = np.searchsorted(BANDS, simulated.visitors, side="right") - 1
    band = np.repeat(of_grid, simulated.presence.shape[1])
    laws = simulated.entropy.shape[1]
    entropy = simulated.entropy.transpose(1, 0, 2).reshape(laws, -1)
    pair = simulated.pair.transpose(1, 0, 2, 3).reshape(laws, -1, 2)
    found = []
    for each in range(len(BANDS)):
        # A small bound on users leaves the upper bands empty: they stand for the largest crowd, at no weight.
        rows = np.flatnonzero(band == min(each, of_grid[-1]))
        total = weights[rows].sum(axis=0)
        within = weights[rows] / np.maximum(total, 1e-300)
        likely = np.log((total if each <= of_grid[-1] else 0.0 * total) + 1e-30)
        found += [
            _component(entropy[law, rows], pair[law, rows], within, likely, split_scale)
            for law in range(laws)
        ]
    columns = [np.stack(column) for column in zip(*found, strict=True)]
    return Components(*columns[:5], *(np.moveaxis(column, 1, 0) for column in columns[5:]))


def _component(
    entropy: Reals, pair: Reals, within: Reals, likely: Reals, split_scale: float
) -> tuple[Reals, ...]:
    """One component in every bin: moments of entropy and pair under the weights, turned into what a place needs."""
    first, second = pair.T
    powers = np.stack(
        [
            entropy,
            first,
            second,
            entropy**2,
            entropy * first,
            entropy * second,
            first**2,
            first * second,
            second**2,
        ]
    )
    h, a, b, hh, ha, hb, aa, ab, bb = powers @ within
    noise = 2 * split_scale**2 + MISMATCH**2 * (a**2 + b**2)
    var_a, var_b = np.maximum(aa - a**2, 0) + noise, np.maximum(bb - b**2, 0) + noise
    cov_ab, cov_ha, cov_hb = ab - a * b, ha - h * a, hb - h * b
    det = var_a * var_b - cov_ab**2
    precision = np.stack([var_b / det, var_a / det, -cov_ab / det])
    gain = np.stack(
        [cov_ha * precision[0] + cov_hb * precision[2], cov_ha * precision[2] + cov_hb * precision[1]]
    )
    spread = np.maximum(hh - h**2, 0)
    left = np.maximum(spread - gain[0] * cov_ha - gain[1] * cov_hb, 0)
    kept = left / np.maximum(spread, 1e-12)  # the pair shortens the interval as it does the deviation
    low, high = _quantiles(entropy, within)
    return (
        likely - 0.5 * np.log(det),
        h,
        left,
        (h - low) ** 2 * kept,
        (high - h) ** 2 * kept,
        np.stack([a, b]),
        gain,
        precision,
    )


def _quantiles(values: Reals, weights: Reals) -> tuple[Reals, Reals]:
    """The ends of the middle 95 % of values under every column of weights."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order], axis=0)
    ordered = values[order]
    last = len(ordered) - 1
    low = np.minimum((reached < TAIL).sum(axis=0), last)
    high = np.minimum((reached < 1 - TAIL).sum(axis=0), last)
    return ordered[low], ordered[high]


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
