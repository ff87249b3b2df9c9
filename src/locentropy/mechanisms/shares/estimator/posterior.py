"""The posterior of every place: what its answers leave open about its entropy.

A place is one of the simulated places, each as likely as its size is common and as it explains the answers. Simulated
places of one n are summed up first, so that a place with a visitor prior of its own (from public attributes) costs one
product of matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.fixed_chance import COPIES
from locentropy.mechanisms.shares.estimator.noise_law import chance_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.split_evidence import SplitEvidence
    from locentropy.mechanisms.shares.estimator.visitor_model import Fitted

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Indices = NDArray[np.intp]

BUSY: Final = 0.7
"""The upper end is also that of a place met in proportion to n^BUSY: those are the places people ask about."""
TAIL: Final = 0.025
"""On either side of an interval of 95 %."""
UNLIKELY: Final = 0.05
"""The upper end reaches to the largest crowd that would look this low so rarely: it holds for every place, whatever the
visitor prior says of how rare such crowds are."""
STEPS: Final[NDArray[np.float64]] = np.concatenate(
    [[0.0], np.arange(0.05, 2.0, 0.05), np.arange(2.0, 24.1, 0.1)]
)
"""Entropies at which distribution functions are kept."""
BLOCK: Final = 128
"""Cells at a time: their tables stay small."""


class Posterior(NamedTuple):
    """For each place."""

    entropy: Reals
    """Mean."""
    variance: Reals
    """Variance."""
    low: Reals
    """Ends of the interval."""
    high: Reals


def posterior(evidence: SplitEvidence, rows: Reals, row_of: Indices, most: float) -> Posterior:
    """Every place, given the priors `rows` (row × n) and which of them each place has; entropies are at most `most`."""
    cells = evidence.cells
    steps = STEPS[: int(np.searchsorted(STEPS, most)) + 1]
    # Places with the same prior and the same answers have the same posterior.
    pairs, pair_of = np.unique(cells.cell_of * len(rows) + row_of, return_inverse=True)
    cell, row = np.divmod(pairs, len(rows))
    found = Posterior(*(np.empty(pairs.size) for _ in Posterior._fields))
    fitted = evidence.fitted
    busy = np.maximum(fitted.simulated.visitors, 0.5) ** BUSY
    largest = largest_entropy(evidence.answers, fitted)
    reached = (fitted.simulated.entropy[:, None, :] <= steps[None, :, None]).astype(np.float64) / COPIES
    for start in range(0, int(cell[-1]) + 1, BLOCK):
        chosen = np.arange(start, min(start + BLOCK, int(cell[-1]) + 1))
        weights = evidence.weights(chosen)
        likely = weights.mean(axis=1)
        mean, square = (
            np.einsum("nc,ncb->nb", fitted.simulated.entropy**power, weights) / COPIES for power in (1, 2)
        )
        below = np.matmul(reached, weights)
        first, last = np.searchsorted(cell, [chosen[0], chosen[-1] + 1])
        for at in range(first, last):
            place = cell[at] - start
            prior = rows[row[at]]
            total = max(float(prior @ likely[:, place]), 1e-300)
            found.entropy[at] = prior @ mean[:, place] / total
            found.variance[at] = prior @ square[:, place] / total - found.entropy[at] ** 2
            crowded = prior * busy
            by_crowd = max(float(crowded @ likely[:, place]), 1e-300)
            cdf, busy_cdf = prior @ below[:, :, place] / total, crowded @ below[:, :, place] / by_crowd
            found.low[at] = _quantile(steps, cdf, TAIL)
            found.high[at] = max(
                _quantile(steps, cdf, 1 - TAIL),
                _quantile(steps, busy_cdf, 1 - TAIL),
                largest[cells.bin_of[cell[at]]],
            )
    return Posterior(*(each[pair_of] for each in found))


def largest_entropy(answers: Answers, fitted: Fitted) -> Reals:
    """For each bin, the entropy of the largest crowd whose look would be this low with probability `UNLIKELY`."""
    simulated = fitted.simulated
    off = (fitted.bins.middle - simulated.presence[:, :, None]) / answers.look_scale
    possible = chance_below(answers.noise, off).mean(axis=1) >= UNLIKELY
    possible[0] = True  # a look too low even for an empty place says nothing more
    crowd = len(possible) - 1 - np.argmax(possible[::-1], axis=0)
    entropy: Reals = np.quantile(simulated.entropy, 0.75, axis=1)[crowd]
    return entropy


def _quantile(steps: Reals, cdf: Reals, chance: float) -> float:
    """Where a distribution function reaches a chance, between two steps."""
    at = int(np.searchsorted(cdf, chance))
    if at == 0:
        return float(steps[0])
    if at >= steps.size:
        return float(steps[-1])
    part = (chance - cdf[at - 1]) / max(cdf[at] - cdf[at - 1], 1e-300)
    return float(steps[at - 1] + part * (steps[at] - steps[at - 1]))
