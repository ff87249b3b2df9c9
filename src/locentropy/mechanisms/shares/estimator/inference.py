"""Inference: from noisy measurements to entropies, step by step.

    histogram smoothing   how many places visitors have, and how often they come
    simulated places      places of every size and visit law
    visitor prior         how many visitors places have, learnt from the presence at all places
    law shares            how common each visit law is, learnt from the pairs of all places
    posterior             every place, given its own presence and pair

Nothing here sees data: whoever disagrees with a step can replace it without a thought for privacy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from locentropy.mechanisms.shares.estimator import histogram_smoothing, visitor_prior
from locentropy.mechanisms.shares.estimator.posterior import components, law_shares, posterior
from locentropy.mechanisms.shares.estimator.simulated_places import simulate_places, visit_laws
from locentropy.mechanisms.shares.estimator.visitor_prior import bin_presence, likelihood
from locentropy.mechanisms.shares.measurements import TABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.estimator.simulated_places import SimulatedPlaces
    from locentropy.mechanisms.shares.measurements import Answers

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

BUSY: Final = 0.7
"""`entropy_busy` is the mean over places drawn in proportion to n^0.7: right for who looks at busy places."""
MODEL_ERROR: Final = 0.2
"""In nats: visitors of one place are not drawn from all, as the model has it."""
USUAL_VISITS: Final = (math.log(4), 1.5)
"""Logarithm of the mean visits of a visitor to a place, and how sure that is, where nothing is seen."""
_SURE_SIZES: Final = 0.5
_ABOVE_NOISE: Final = 2.0


class Inferred(NamedTuple):
    """What is published of each place, in nats."""

    entropy: Reals
    entropy_busy: Reals
    std_error: Reals
    low: Reals
    high: Reals


def infer(answers: Answers, max_users: int) -> Inferred:
    """Entropies and error bars from noisy answers; of no place, if there is none to speak of."""
    if answers.look.size == 0:
        return Inferred(*(np.zeros(0) for _ in Inferred._fields))
    # Products of matrices are small here: more threads would mostly wait for each other, and round differently.
    with threadpool_limits(1, user_api="blas"):
        return _infer(answers, max_users)


def _infer(answers: Answers, max_users: int) -> Inferred:
    listed = answers.look.size
    sizes, visits = _profile(answers, listed)
    laws = visit_laws(visits)
    simulated = simulate_places(sizes, laws.laws, TABLE.rows / TABLE.unit, answers.cap, max_users)
    bins = bin_presence(answers.look, answers.look_scale)
    weights = likelihood(simulated.presence.ravel(), bins, answers.look_scale)
    visitors = _visitors(answers, simulated, weights, bins.places)
    weights *= np.repeat(visitors, simulated.presence.shape[1])[:, None]
    weights /= np.maximum(weights.sum(axis=0), 1e-300)
    found = components(simulated, weights, answers.split_scale)
    shares = law_shares(found, bins.bin_of, answers.split, laws.common)
    all_places = posterior(found, shares, bins.bin_of, answers.split)
    weights *= np.repeat(np.maximum(simulated.visitors, 0.5) ** BUSY, simulated.presence.shape[1])[:, None]
    weights /= np.maximum(weights.sum(axis=0), 1e-300)
    busy = posterior(components(simulated, weights, answers.split_scale), shares, bins.bin_of, answers.split)
    model = _model_error(simulated, shares) * np.minimum(all_places.entropy, 1.0)
    margin = (1.96 * model) ** 2
    low = all_places.entropy - np.sqrt(all_places.below**2 + margin)
    # The upper end is also that of a place met in proportion to its crowd: those are the places people ask about.
    high = np.maximum(
        all_places.entropy + np.sqrt(all_places.above**2 + margin),
        busy.entropy + np.sqrt(busy.above**2 + margin),
    )
    most = math.log(max_users)
    return Inferred(
        entropy=np.clip(all_places.entropy, 0.0, most),
        entropy_busy=np.clip(busy.entropy, 0.0, most),
        std_error=np.sqrt(all_places.variance + model**2),
        low=np.clip(low, 0.0, most),
        high=np.clip(high, 0.0, most),
    )


def _profile(answers: Answers, listed: int) -> tuple[Reals, Reals]:
    """How likely a visitor is in each octave of places, and how likely of visits."""
    deviation = math.sqrt(2) * answers.profile_scale
    share = histogram_smoothing.mean_share(answers.sizes.size, answers.cap)
    # People go to more places where there are more; from a few dozen on that levels off.
    usual = math.log(min(max(math.sqrt(listed) / 6, 1.5), 15.0)), _SURE_SIZES
    possible = histogram_smoothing.possible_sizes(answers.sizes.size, answers.cap, listed)
    sizes = (
        histogram_smoothing.smoothed(answers.sizes, deviation, 1 / (share * answers.cap), usual, possible)
        / share
    )
    typical = histogram_smoothing.typical_visits(answers.visits.size)
    visits = histogram_smoothing.smoothed(answers.visits, deviation, typical, USUAL_VISITS)
    return sizes / sizes.sum(), visits / visits.sum()


def _visitors(answers: Answers, simulated: SimulatedPlaces, weights: Reals, places: Integers) -> Reals:
    """The law of n, over the grid of the simulated places."""
    grid, copies = simulated.presence.shape
    seen = weights.reshape(grid, copies, -1).mean(axis=1)
    listed, scale = answers.look.size, answers.look_scale
    by_look = 2 * scale**2 * listed
    by_profile = 2 * answers.profile_scale**2 * answers.sizes.size
    precision = 1 / by_look + 1 / by_profile
    in_all, in_profile = float(answers.look.sum()), float(answers.sizes.sum())
    deviation = precision**-0.5
    best = (in_all / by_look + in_profile / by_profile) / precision
    # Presence is never below what noise could hide, or a fifth of a visitor with one place at each.
    best = max(best, min(0.2 * listed / answers.cap, deviation))
    presence = simulated.presence.mean(axis=1)
    # The largest of many looks is mostly noise.
    largest = float(answers.look.max()) - scale * (math.log(listed) - _ABOVE_NOISE)
    most = max(largest, 2 * scale, 2 * float(presence[1]))
    total = visitor_prior.Total(best, deviation, in_profile, math.sqrt(by_profile))
    return visitor_prior.learn_visitor_prior(simulated.visitors, presence, seen, places, total, most)


def _model_error(simulated: SimulatedPlaces, shares: Reals) -> float:
    """How far a place may be off for reasons the model does not have, in nats.

    Where places differ much in their visit laws, they will differ in other ways too, in who comes for example.
    """
    common = shares.mean(axis=0)
    large = (
        simulated.entropy[np.searchsorted(simulated.visitors, 127)].mean(axis=1)
        if simulated.visitors[-1] > 127
        else None
    )
    if large is None:
        return MODEL_ERROR
    spread = float(common @ large**2 - (common @ large) ** 2)
    return math.hypot(MODEL_ERROR, math.sqrt(max(spread, 0.0)))
