"""Inference: from noisy answers to entropies, step by step.

    histogram smoothing   how many places visitors have, and how often they come
    visitor model         how that differs between small and busy places: exponential tilts by band of the look
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

from locentropy.mechanisms.shares.estimator.posterior import posterior
from locentropy.mechanisms.shares.estimator.split_evidence import SplitEvidence, make_cells
from locentropy.mechanisms.shares.estimator.visitor_model import fit_visitors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.answers import Answers

    Reals = NDArray[np.float64]

MODEL_ERROR: Final = 0.3
"""In nats: visitors of one place are not drawn from laws, as the model has it."""


class Inferred(NamedTuple):
    """What is published of each place, in nats."""

    entropy: Reals
    std_error: Reals
    low: Reals
    high: Reals
    entropy_busy: Reals


def infer(answers: Answers, max_users: int) -> Inferred:
    """Entropies and error bars from noisy answers; of no place, if there is none to speak of."""
    if answers.look.size == 0:
        return Inferred(*(np.zeros(0) for _ in Inferred._fields))
    # Products of matrices are small here: more threads would mostly wait for each other, and round differently.
    with threadpool_limits(1, user_api="blas"):
        return _infer(answers, max_users)


def _infer(answers: Answers, max_users: int) -> Inferred:
    fitted = fit_visitors(answers, max_users)
    cells = make_cells(answers, fitted.bins.bin_of)
    evidence = SplitEvidence.fit(answers, fitted, cells)
    most = math.log(max_users)
    row_of = np.zeros(answers.look.size, dtype=np.intp)
    found = posterior(evidence, fitted.prior[None, :], row_of, most)
    model = MODEL_ERROR * np.minimum(found.entropy, 1.0)
    margin = (1.96 * model) ** 2
    low = found.entropy - np.sqrt(np.maximum(found.entropy - found.low, 0.0) ** 2 + margin)
    high = found.entropy + np.sqrt(np.maximum(found.high - found.entropy, 0.0) ** 2 + margin)
    return Inferred(
        entropy=np.clip(found.entropy, 0.0, most),
        std_error=np.sqrt(np.maximum(found.variance, 0.0) + model**2),
        low=np.clip(low, 0.0, most),
        high=np.clip(high, 0.0, most),
        entropy_busy=np.clip(found.busy, 0.0, most),
    )
