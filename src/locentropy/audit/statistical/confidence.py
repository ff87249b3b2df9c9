"""From counts to a lower bound on ε that is wrong with a known probability at most.

For any event, P(event) ≤ e^ε·Q(event) + δ. The bounds of Clopper and Pearson hold for every sample size, and the event
is fixed before the runs that are counted: so ln((p_low − δ)/q_high) is above the true ε with a probability of at most
1 − confidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals = NDArray[np.float64]

CONFIDENCE: Final = 0.99
_THRESHOLDS: Final = 400


class Attack(NamedTuple):
    """What an attack has shown."""

    epsilon: float
    """The lower bound; 0 where nothing was shown."""
    event: str
    """What was bet on, in words."""
    counted: int
    """Runs of both neighbours in which the event was counted; as many were used to choose it."""


def probability_at_least(hits: ArrayLike, runs: int, miss: float) -> Reals:
    """A bound that is above the true probability with a chance of at most `miss`."""
    from scipy.special import betaincinv  # takes a fifth of a second, and only an audit needs it

    counted = np.asarray(hits, dtype=np.float64)
    bound: Reals = np.where(
        counted > 0, betaincinv(np.maximum(counted, 1.0), runs - counted + 1.0, miss), 0.0
    )
    return bound


def probability_at_most(hits: ArrayLike, runs: int, miss: float) -> Reals:
    """A bound that is below the true probability with a chance of at most `miss`."""
    return 1.0 - probability_at_least(runs - np.asarray(hits), runs, miss)


def epsilon_at_least(
    hits: ArrayLike,
    runs: int,
    other_hits: ArrayLike,
    other_runs: int,
    delta: float,
    confidence: float = CONFIDENCE,
) -> Reals:
    """The lower bound on ε from how often an event was seen under either neighbour; half of the risk for each."""
    miss = (1.0 - confidence) / 2.0
    likely = probability_at_least(hits, runs, miss) - delta
    rarely = probability_at_most(other_hits, other_runs, miss)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound: Reals = np.where(likely > 0, np.log(likely / rarely), 0.0)
    return np.maximum(bound, 0.0)


def attack(scores: Reals, others: Reals, delta: float, confidence: float = CONFIDENCE) -> Attack:
    """Bet on "the score is at least t", or "at most t", for the neighbour it speaks for.

    Every second run chooses t and the direction; the others, which were not looked at before, are counted.
    """
    chosen = _best_event(scores[0::2], others[0::2], delta, confidence)
    counted, against = scores[1::2], others[1::2]
    threshold, upward = chosen
    if upward:
        hits, misses = (counted >= threshold).sum(), (against >= threshold).sum()
        bound = epsilon_at_least(hits, counted.size, misses, against.size, delta, confidence)
    else:
        hits, misses = (against <= threshold).sum(), (counted <= threshold).sum()
        bound = epsilon_at_least(hits, against.size, misses, counted.size, delta, confidence)
    words = f"the score is at {'least' if upward else 'most'} {threshold:.4g}: {hits:,} to {misses:,} times"
    return Attack(float(bound), words, counted.size + against.size)


def _best_event(scores: Reals, others: Reals, delta: float, confidence: float) -> tuple[float, bool]:
    pooled = np.concatenate([scores, others])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, _THRESHOLDS)))
    ranked, other_ranked = np.sort(scores), np.sort(others)

    def least(ordered: Reals) -> Reals:
        return ordered.size - np.searchsorted(ordered, thresholds, side="left").astype(np.float64)

    def most(ordered: Reals) -> Reals:
        return np.searchsorted(ordered, thresholds, side="right").astype(np.float64)

    up = epsilon_at_least(least(ranked), scores.size, least(other_ranked), others.size, delta, confidence)
    down = epsilon_at_least(most(other_ranked), others.size, most(ranked), scores.size, delta, confidence)
    upward = bool(up.max() >= down.max())
    return float(thresholds[int(np.argmax(up if upward else down))]), upward
