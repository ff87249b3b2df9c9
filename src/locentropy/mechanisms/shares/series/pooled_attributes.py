"""What public attributes say of a place, from all periods: the rates of its like, as their answers so far tell them.

The value of a period alone leans on the looks of other places in that period (`attributes.py`). In a series each of
them has a past, too. So the same effects are learnt from what all answers of a place, early and late, say of its
present rate: its message, the law of the filter over the law of a place of which nothing was seen. What comes out is
again a prior for each place from the *others*, now over rates. It is made anew in every period and not remembered, so
that nothing counts twice.

Places with nearly the same message share one, as places share bins of looks: by where it puts their score, and how
surely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import ndtri

from locentropy.mechanisms.shares.estimator.attributes import attribute_priors, explained_by_name
from locentropy.mechanisms.shares.estimator.inference import presence_given_looks, sums_by_level
from locentropy.mechanisms.shares.series.transitions import common_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.estimates import AttributeEffect
    from locentropy.mechanisms.shares.estimator.attributes import Attribute
    from locentropy.mechanisms.shares.estimator.inference import Reading
    from locentropy.mechanisms.shares.series.intensities import Intensities

    Indices = NDArray[np.intp]
    Reals = NDArray[np.float64]
    Laws = NDArray[np.float32]

SCORE_STEP: Final = 0.1
"""Of the expected score of places that share a message, in standard deviations of all places,"""
SURE_STEP: Final = 0.25
"""and of how sure it is: of ln of its standard deviation."""
_LEAST_DEVIATION: Final = 0.02
_RARE: Final = 1e-9


class Leanings(NamedTuple):
    """How the law of a place's rate differs from the one without attributes."""

    factors: Reals
    """The distinct ones: rate × row,"""
    row_of: Indices
    """and the row of each place."""
    leans_on: tuple[AttributeEffect, ...] = ()
    """What each attribute explains."""


def pooled_leanings(
    grid: Intensities, reading: Reading, attributes: Sequence[Attribute], unseen: Reals, now: Laws
) -> Leanings:
    """What the attributes of each place say, from all answers of other places.

    `unseen` is the law of the present rate of a place of which no answers are known; `now` those of all places given
    their own: rate × place.
    """
    if not attributes:
        return Leanings(np.ones((unseen.size, 1)), np.zeros(now.shape[1], dtype=np.intp))
    group_of = _groups(unseen, now)
    answers, fitted = reading.evidence.answers, reading.evidence.fitted
    seen, *weighted = (grid.to_counts.T @ each for each in presence_given_looks(fitted))
    given_looks = [each / np.maximum(seen, 1e-300) for each in weighted] if answers.sums else []
    messages, *presence = _means(group_of, unseen, now, given_looks, fitted.bins.bin_of)
    sums = sums_by_level(answers, len(attributes), *presence) if answers.sums else []
    common = _common_law(grid.log_rates, unseen, messages, np.bincount(group_of))
    priors = attribute_priors(common, messages, group_of, attributes, sums)
    factors = priors.rows.T / np.maximum(unseen, 1e-300)[:, None]
    return Leanings(factors, priors.row_of, explained_by_name(priors.effects))


def _common_law(log_rates: Reals, unseen: Reals, messages: Reals, places: NDArray[np.int64]) -> Reals:
    """The law of the present rates of all places that their messages tell: scores are cut at its quantiles."""
    foreseen = np.repeat(unseen[:, None], places.size, axis=1)
    law: Reals = unseen * common_factor(log_rates, foreseen, unseen, messages, places)
    normal: Reals = law / law.sum()
    return normal


def _groups(unseen: Reals, now: Laws) -> Indices:
    """Places by the mean and the standard deviation of their score (`ordered_probit.py`), both rounded."""
    reached = np.cumsum(unseen) - unseen / 2
    scores = ndtri(np.clip(reached, _RARE, 1 - _RARE))
    mean, square = (power @ now for power in (scores, scores**2))
    deviation = np.sqrt(np.maximum(square - mean**2, _LEAST_DEVIATION**2))
    both = [np.rint(mean / SCORE_STEP), np.rint(np.log(deviation) / SURE_STEP)]
    _, group_of = np.unique(np.stack(both).astype(np.int64), axis=1, return_inverse=True)
    found: Indices = group_of.ravel()
    return found


def _means(
    group_of: Indices, unseen: Reals, now: Laws, given_looks: Sequence[Reals], bin_of: Indices
) -> list[Reals]:
    """The mean message of each group (rate × group); then the mean of each message times what looks say besides."""
    means = [np.zeros((unseen.size, int(group_of.max()) + 1)) for _ in range(1 + len(given_looks))]
    share = 1 / np.bincount(group_of)[group_of]
    for rate, law in enumerate(now):
        message = law * share / max(unseen[rate], 1e-300)
        for mean, table in zip(means, (None, *given_looks), strict=True):
            values = message if table is None else message * table[rate, bin_of]
            mean[rate] = np.bincount(group_of, weights=values)
    return means
