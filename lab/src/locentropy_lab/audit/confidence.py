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
_RARE: Final = 10.0 ** -np.linspace(2.5, 5.5, 60)
_EVENLY: Final = 400
_FEWEST: Final = 25
"""Scores beyond a threshold, and between two: an event that is chosen for fewer is chosen by chance."""
_TRAINING: Final = 3
"""Every third run is for choosing the event, the others are counted: choosing needs fewer than showing."""


class Attack(NamedTuple):
    """What an attack has shown."""

    epsilon: float
    """The lower bound; 0 where nothing was shown."""
    event: str
    """What was bet on, in words."""
    counted: int
    """Runs of both neighbours in which the event was counted; half as many were used to choose it."""


def training(runs: Reals) -> Reals:
    """The runs, along the last dimension, from which an attack is chosen."""
    return runs[..., ::_TRAINING]


def _counting(runs: Reals) -> Reals:
    """All other runs."""
    return runs[..., np.arange(runs.shape[-1]) % _TRAINING != 0]


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

    Every third run chooses t and the direction, and the score if there are several (score × run); the others, which
    were not looked at before, are counted.
    """
    kinds = list(zip(np.atleast_2d(scores), np.atleast_2d(others), strict=True))
    chosen = [_best_event(training(mine), training(theirs), delta) for mine, theirs in kinds]
    best = max(range(len(kinds)), key=lambda kind: chosen[kind].bound)
    _, threshold, upward = chosen[best]
    counted, against = (_counting(side) for side in kinds[best])
    if upward:
        hits, misses = (counted >= threshold).sum(), (against >= threshold).sum()
        bound = epsilon_at_least(hits, counted.size, misses, against.size, delta, confidence)
    else:
        hits, misses = (against <= threshold).sum(), (counted <= threshold).sum()
        bound = epsilon_at_least(hits, against.size, misses, counted.size, delta, confidence)
    words = f"the score is at {'least' if upward else 'most'} {threshold:.4g}: {hits:,} to {misses:,} times"
    return Attack(float(bound), words, counted.size + against.size)


def with_few(scores: Reals, others: Reals, runs: int, delta: float, confidence: float = CONFIDENCE) -> float:
    """What an attacker with these scores, who knows the best event, could expect to show in so many runs of each.

    An expectation and no bound: the event is chosen by the runs in which it is counted.
    """
    _, up, down = _events(scores, others, runs, delta, confidence)
    return float(max(up.max(), down.max()))


class _Event(NamedTuple):
    bound: float
    threshold: float
    upward: bool


def _best_event(scores: Reals, others: Reals, delta: float) -> _Event:
    """The event with the best bound, at a high confidence: else a rare event would win by chance, and then fail."""
    cautious = 1.0 - 1.0 / scores.size
    thresholds, up, down = _events(scores, others, scores.size, delta, cautious)
    upward = bool(up.max() >= down.max())
    bounds = up if upward else down
    best = int(np.argmax(bounds))
    return _Event(float(bounds[best]), float(thresholds[best]), upward)


def _levels(many: int) -> Reals:
    """Quantiles at which thresholds are tried: evenly, and in the tails, where impossible outcomes show."""
    rare = _RARE[_RARE * many >= _FEWEST]
    evenly = np.linspace(0.0, 1.0, min(_EVENLY, 2 + many // _FEWEST))
    return np.concatenate([evenly, rare, 1.0 - rare])


def _events(
    scores: Reals, others: Reals, runs: int, delta: float, confidence: float
) -> tuple[Reals, Reals, Reals]:
    """Thresholds, and the bounds from "at least" and "at most" each, as often as they are seen here in so many runs."""
    both = np.concatenate([scores, others])
    thresholds = np.unique(np.quantile(both, _levels(both.size)))

    def seen(values: Reals, *, least: bool) -> Reals:
        below = np.searchsorted(np.sort(values), thresholds, side="left" if least else "right")
        part: Reals = (values.size - below if least else below) / values.size
        return part * runs

    def bound(likely: Reals, other: Reals, *, least: bool) -> Reals:
        return epsilon_at_least(
            seen(likely, least=least), runs, seen(other, least=least), runs, delta, confidence
        )

    return thresholds, bound(scores, others, least=True), bound(others, scores, least=False)
