"""Inference: from noisy answers to entropies, step by step.

    histogram smoothing   how many places visitors have, and how often they come
    visitor model         how that differs between small and busy places: exponential tilts by band of the look
    heterogeneity         how much places of one size differ in who comes, from how much bands do
    simulated places      places of every size, with what they show and what their entropy is
    visitor prior         how many visitors places have, learnt from the looks of all places
    public attributes     how that differs between categories or parts of town, where the list has such attributes
    split evidence        how visits are split at places that are clear of the noise
    posterior             every place, given its own answers

Nothing here sees data: whoever disagrees with a step can replace it without a thought for privacy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from locentropy.mechanisms.shares.estimator.attributes import attribute_priors, explained_by_name
from locentropy.mechanisms.shares.estimator.expectation_propagation import LevelSums
from locentropy.mechanisms.shares.estimator.noise_law import deviation
from locentropy.mechanisms.shares.estimator.posterior import posterior
from locentropy.mechanisms.shares.estimator.simulated_places import LARGE, prepare_chance, visitor_grid
from locentropy.mechanisms.shares.estimator.split_evidence import SplitEvidence, make_cells
from locentropy.mechanisms.shares.estimator.visitor_model import at_each_n, fit_visitors
from locentropy.mechanisms.shares.estimator.visitor_prior import WIDTH
from locentropy.mechanisms.shares.estimator.visitor_shapes import prepare_shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.estimates import AttributeEffect
    from locentropy.mechanisms.shares.answers import Answers
    from locentropy.mechanisms.shares.estimator.attributes import Attribute, AttributePriors
    from locentropy.mechanisms.shares.estimator.visitor_model import Fitted

    Reals = NDArray[np.float64]

MODEL_ERROR: Final = 0.15
"""In nats: visitors of one place are not drawn from laws, as the model has it, even where places are all alike."""
SPLIT_DIFFERS: Final = 1 / 3
"""Where places differ in how visits are split, they do so in more ways than are simulated: by this part of it."""


class Inferred(NamedTuple):
    """What is published of each place, in nats."""

    entropy: Reals
    std_error: Reals
    low: Reals
    high: Reals
    leans_on: tuple[AttributeEffect, ...] = ()
    """What public attributes explain of how places differ."""


def prepare(max_users: int) -> None:
    """Fill the tables that are the same for all answers, and kept."""
    prepare_chance(max_users)
    prepare_shapes(tuple(visitor_grid(max_users).tolist()))


def infer(
    answers: Answers, max_users: int, attributes: Sequence[Attribute] = (), *, cells: bool = False
) -> Inferred:
    """Entropies and error bars from noisy answers and public attributes; of no place, if there is none to speak of.

    Places may be `cells` that cover an area, of which many are empty; that is public too.
    """
    if answers.look.size == 0:
        nothing = np.zeros(0)
        return Inferred(nothing, nothing, nothing, nothing)
    # Products of matrices are small here: more threads would mostly wait for each other, and round differently.
    with threadpool_limits(1, user_api="blas"):
        return _infer(answers, max_users, attributes, cells)


def _infer(answers: Answers, max_users: int, attributes: Sequence[Attribute], cells: bool) -> Inferred:
    return conclude(read(answers, max_users, attributes, cells=cells), max_users)


class Reading(NamedTuple):
    """What all answers together say: enough to conclude upon each place, given a visitor prior."""

    evidence: SplitEvidence
    """The simulated places, and how likely each is to give the answers of a place."""
    rows: Reals
    """Visitor priors: row × n,"""
    row_of: NDArray[np.intp]
    """and which of them each place has."""
    leans_on: tuple[AttributeEffect, ...] = ()


def read(
    answers: Answers, max_users: int, attributes: Sequence[Attribute] = (), *, cells: bool = False
) -> Reading:
    """Fit the model of visitors to the answers of all places."""
    fitted = fit_visitors(answers, max_users, cells=cells)
    evidence = SplitEvidence.fit(answers, fitted, make_cells(answers, fitted.bins.bin_of))
    if not attributes:
        return Reading(evidence, fitted.prior[None, :], np.zeros(answers.look.size, dtype=np.intp))
    priors = _attribute_priors(answers, fitted, attributes)
    return Reading(evidence, priors.rows, priors.row_of, explained_by_name(priors.effects))


def conclude(reading: Reading, max_users: int) -> Inferred:
    """The posterior of every place, with what the model leaves out."""
    evidence, most = reading.evidence, math.log(max_users)
    found = posterior(evidence, reading.rows, reading.row_of, most)
    shift = _within_bins(evidence.answers.look, evidence.fitted)
    found = found._replace(
        entropy=np.maximum(found.entropy + shift, 0.0),
        low=np.where(found.low > 0, found.low + shift, 0.0),  # a place that may be empty may be so still
        high=found.high + shift,
    )
    model = _model_error(evidence.fitted) * np.minimum(found.entropy, 1.0)
    margin = (1.96 * model) ** 2
    low = found.entropy - np.sqrt(np.maximum(found.entropy - found.low, 0.0) ** 2 + margin)
    high = found.entropy + np.sqrt(np.maximum(found.high - found.entropy, 0.0) ** 2 + margin)
    return Inferred(
        entropy=np.clip(found.entropy, 0.0, most),
        std_error=np.sqrt(np.maximum(found.variance, 0.0) + model**2),
        low=np.clip(low, 0.0, most),
        high=np.clip(high, 0.0, most),
        leans_on=reading.leans_on,
    )


def _model_error(fitted: Fitted) -> float:
    """How far a place may be off for reasons that its posterior does not have, in nats.

    That is more where places of one size differ more: in who comes, and in how visits are split among them, which is
    the spread of entropies of large simulated places.
    """
    simulated, common = fitted.simulated, fitted.common / fitted.common.sum()
    entropy = simulated.entropy[
        min(int(np.searchsorted(simulated.visitors, LARGE)), len(simulated.entropy) - 1)
    ]
    spread = math.sqrt(max(float(common @ entropy**2 - (common @ entropy) ** 2), 0.0))
    return math.hypot(MODEL_ERROR, fitted.heterogeneity, SPLIT_DIFFERS * spread)


def _within_bins(look: Reals, fitted: Fitted) -> Reals:
    """How far the entropy of each place is from that of its bin of looks, in a straight line between bins.

    Bins are far narrower than the noise; but without this, places that are clear of it would tie.
    """
    bins = fitted.bins
    if bins.middle.size < 2:
        return np.zeros(look.size)
    by_bin = fitted.prior[:, None] * at_each_n(fitted.seen, fitted.common)
    crowd = np.log(np.maximum(fitted.simulated.visitors, 1))
    slope = np.maximum(np.gradient(crowd @ by_bin / np.maximum(by_bin.sum(axis=0), 1e-300), bins.middle), 0.0)
    shift: Reals = slope[bins.bin_of] * (look - bins.middle[bins.bin_of])
    return np.clip(shift, -WIDTH, WIDTH)  # at the top, entropy rises by as much as a bin is wide


def _attribute_priors(answers: Answers, fitted: Fitted, attributes: Sequence[Attribute]) -> AttributePriors:
    """The visitor prior of every place, given the levels of its attributes."""
    seen, presence, square = presence_given_looks(fitted)
    sums = sums_by_level(answers, len(attributes), presence, square)
    return attribute_priors(fitted.prior, seen, fitted.bins.bin_of, attributes, sums)


def presence_given_looks(fitted: Fitted) -> tuple[Reals, Reals, Reals]:
    """The likelihood of each bin of looks at each n; the same times presence, and times its square: n × bin."""
    seen, presence, square = (
        at_each_n(fitted.seen, fitted.common * fitted.simulated.summed**power) for power in (0, 1, 2)
    )
    return seen, presence, square


def sums_by_level(
    answers: Answers, attributes: int, presence: Reals, square: Reals
) -> list[LevelSums | None]:
    """The noisy sums that were asked, for as many attributes; likelihoods are as `LevelSums` has them."""
    noise = deviation(answers.noise) * answers.sums_scale
    sums: list[LevelSums | None] = [LevelSums(each, noise, presence, square) for each in answers.sums]
    return sums + [None] * (attributes - len(sums)) if sums else []
