"""The posterior of every place: what its answers leave open about its entropy.

A place is one of the simulated places, each as likely as its size is common and as it explains the answers. Simulated
places of one n are summed up first, so that a place with a visitor prior of its own (from public attributes) costs one
product of matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.mechanisms.shares.estimator.blocks import BLOCK, in_blocks
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
    runs = _Runs.of(fitted.simulated.entropy, steps)

    def conclude(block: slice) -> None:
        chosen = np.arange(block.start, block.stop)
        weights = evidence.weights(chosen)
        likely = weights.mean(axis=1)
        mean, square = (
            np.einsum("nc,ncb->nb", fitted.simulated.entropy**power, weights) / COPIES for power in (1, 2)
        )
        by_run = runs.add_up(weights)
        first, last = np.searchsorted(cell, [block.start, block.stop])
        for begin in range(first, last, BLOCK):
            here = slice(begin, min(begin + BLOCK, last))
            place, prior = cell[here] - block.start, rows[row[here]]
            crowded = prior * busy
            total, by_crowd = (np.maximum(_each(law, likely[:, place]), 1e-300) for law in (prior, crowded))
            found.entropy[here] = _each(prior, mean[:, place]) / total
            found.variance[here] = _each(prior, square[:, place]) / total - found.entropy[here] ** 2
            cdf = runs.below(by_run[:, place], prior) / total
            busy_cdf = runs.below(by_run[:, place], crowded) / by_crowd
            found.low[here] = _quantiles(steps, cdf, TAIL)
            found.high[here] = np.maximum(
                np.maximum(_quantiles(steps, cdf, 1 - TAIL), _quantiles(steps, busy_cdf, 1 - TAIL)),
                largest[cells.bin_of[cell[here]]],
            )

    in_blocks(conclude, int(cell[-1]) + 1)
    return Posterior(*(each[pair_of] for each in found))


def _each(laws: Reals, values: Reals) -> Reals:
    """The sum of the values (n × place) of each place by its own law (place × n)."""
    found: Reals = np.einsum("pn,np->p", laws, values)
    return found


class _Runs(NamedTuple):
    """Simulated places in runs of the same n and about the same entropy, in the order of the entropy."""

    order: Indices
    """The simulated places, one run after another;"""
    starts: Indices
    """where each run begins;"""
    n: Indices
    """the position of its n."""
    step_starts: Indices
    """The first run of each step of the entropy that has any,"""
    steps: Indices
    """and which step that is."""
    size: int
    """The number of steps."""

    @classmethod
    def of(cls, entropy: Reals, steps: Reals) -> _Runs:
        """By the first step that is not below the entropy (n × copy)."""
        step = np.searchsorted(steps, entropy)
        n = np.broadcast_to(np.arange(len(entropy))[:, None], entropy.shape)
        order = np.lexsort((n.ravel(), step.ravel()))
        runs = np.stack([step.ravel()[order], n.ravel()[order]])
        starts = np.flatnonzero(np.any(np.diff(runs, axis=1, prepend=-1), axis=0))
        step_of, n_of = runs[:, starts]
        step_starts = np.flatnonzero(np.diff(step_of, prepend=-1))
        return cls(order, starts, n_of, step_starts, step_of[step_starts], steps.size)

    def add_up(self, weights: Reals) -> Reals:
        """The mean weight of copies, of each run: run × cell."""
        flat = weights.reshape(-1, weights.shape[2])[self.order]
        by_run: Reals = np.add.reduceat(flat, self.starts, axis=0) / COPIES
        return by_run

    def below(self, by_run: Reals, laws: Reals) -> Reals:
        """The weight of entropies of at most each step, by the law of each place: step × place."""
        at_step = np.zeros((self.size + 1, by_run.shape[1]))  # the last is for entropies beyond all steps
        at_step[self.steps] = np.add.reduceat(by_run * laws.T[self.n], self.step_starts, axis=0)
        below: Reals = np.cumsum(at_step[:-1], axis=0)
        return below


def largest_entropy(answers: Answers, fitted: Fitted) -> Reals:
    """For each bin, the entropy of the largest crowd whose look would be this low with probability `UNLIKELY`."""
    simulated = fitted.simulated

    def as_low(block: slice) -> Reals:
        off = (fitted.bins.middle[block] - simulated.presence[:, :, None]) / answers.look_scale
        chance: Reals = chance_below(answers.noise, off).mean(axis=1)
        return chance

    possible = np.concatenate(in_blocks(as_low, fitted.bins.middle.size), axis=1) >= UNLIKELY
    possible[0] = True  # a look too low even for an empty place says nothing more
    crowd = len(possible) - 1 - np.argmax(possible[::-1], axis=0)
    entropy: Reals = np.quantile(simulated.entropy, 0.75, axis=1)[crowd]
    return entropy


def _quantiles(steps: Reals, cdfs: Reals, chance: float) -> Reals:
    """Where each distribution function (step × place) reaches a chance, between two steps."""
    at = np.count_nonzero(cdfs < chance, axis=0)
    place, after = np.arange(at.size), np.clip(at, 1, steps.size - 1)
    before = cdfs[after - 1, place]
    part = (chance - before) / np.maximum(cdfs[after, place] - before, 1e-300)
    between = steps[after - 1] + part * (steps[after] - steps[after - 1])
    found: Reals = np.where(at == 0, steps[0], np.where(at >= steps.size, steps[-1], between))
    return found
