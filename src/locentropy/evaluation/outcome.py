"""One simulated release, and its scores against the truth. Private, like the truth itself.

A mechanism measures and estimates as it would when publishing, with noise from a public seed. What it would publish is
put at the locations that are judged, and every metric of `METRICS` compares it with the exact entropies.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.queries import CachedQueries
from locentropy.evaluation import metrics
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.visits.queries import open_queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.select import SelectLocations
    from locentropy.publishing.chosen_locations import ChosenLocations
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import Visits

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

BUSY_FROM: Final = 20
"""A place with at least this many users is busy."""

METRICS: Final = {
    "mse": "mean squared error over all places, withheld ones counted as 0 (nats²)",
    "mse_published": "mean squared error over the places that the mechanism publishes (nats²)",
    "mse_throwaway": "mean squared error over the places of at least k bounded users, the paper's Throwaway (nats²)",
    "mse_busy": f"mean squared error over places of at least {BUSY_FROM} users (nats²)",
    "mse_busy_of_entropy_busy": "the same of entropy_busy, where there is one (nats²)",
    "bias": "mean of published minus true over all places (nats)",
    "bias_published": "mean of published minus true over the places that the mechanism publishes (nats)",
    "kl": "KL divergence of the true from the published shares of entropy, over all places (nats)",
    "kl_published": "KL divergence over the places that the mechanism publishes (nats)",
    "kl_throwaway": "KL divergence over the paper's Throwaway (nats)",
    "spearman": "Spearman rank correlation over all places",
    "published": "share of places that are published",
    "coverage": "share of 95 % intervals that contain the true entropy",
    "coverage_busy": f"the same over places of at least {BUSY_FROM} users",
    "coverage_own": "share of 95 % intervals that contain what they are about, for most mechanisms the bounded entropy",
    "width": "mean width of the 95 % intervals (nats)",
    "top_10": "share of the 10 places of highest entropy found",
    "top_100": "share of the 100 places of highest entropy found, likewise",
}
"""Every metric, and what it means."""

BY_USERS: Final = ("mse", "mse_published", "published", "coverage")
"""The metrics that are also computed by the number of users of a place."""


@dataclass(frozen=True)
class OpenVisits:
    """The visits while they are open: queries about the locations that are judged, and how mechanisms learn of them."""

    queries: Queries
    """About all locations that are judged."""
    listed: Locations | None
    """The public list, if there is one; without one, all locations of the visits are judged."""
    selection: SelectLocations | None
    """The private selection before the mechanism, if there is one."""


@contextmanager
def open_visits(
    visits: Visits, chosen: ChosenLocations, resources: Resources, progress: Progress | None
) -> Iterator[OpenVisits]:
    """Read the visits once, exactly as publishing would."""
    chosen.refuse_visits_as_list(visits)
    read = partial(open_queries, visits, resources=resources, progress=progress)
    with chosen.open(read) as queries:
        yield OpenVisits(CachedQueries(queries), chosen.listed, chosen.selection)


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact values. Private."""

    entropy: Reals
    """The true entropy of each location that is judged, in nats."""
    users: Integers
    """n: its users."""
    crowded: Booleans
    """Whether it is in the paper's Throwaway: at least k users after bounding."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """One simulated release: an entry for each location that is judged, NaN where withheld. Private all the same."""

    entropy: Reals
    """What would be published."""
    low: Reals | None = None
    """Lower ends of the intervals."""
    high: Reals | None = None
    """Upper ends."""
    busy: Reals | None = None
    """`entropy_busy`."""
    own: Reals | None = None
    """What the intervals are about: the true entropy, or the one under the mechanism's bounds."""


def simulate(mechanism: Mechanism, data: OpenVisits, truth: Truth, seed: int) -> Outcome:
    """Simulate what a mechanism would publish, with noise from a public seed."""
    noise = SimulatedNoise(seed)
    queries, listed = data.queries, data.listed
    if data.selection is not None and not mechanism.selects_locations:
        listed = data.selection.select(queries, noise)
        if len(listed) == 0:
            return Outcome(np.full(len(truth.entropy), np.nan))
        queries = queries.restricted_to(listed)
    estimates = mechanism.estimate(mechanism.measure(queries, listed, noise), listed)
    place = partial(_placed, ids=estimates.locations, data=data)
    return Outcome(
        place(estimates.entropy),
        low=None if estimates.low is None else place(estimates.low),
        high=None if estimates.high is None else place(estimates.high),
        busy=None if estimates.entropy_busy is None else place(estimates.entropy_busy),
        own=_own(mechanism, queries, data, truth),
    )


def _placed(values: Reals, ids: pa.Array, data: OpenVisits) -> Reals:
    """Put values of some locations at their positions among all. Ids are compared as texts, as selected ones are."""
    everywhere = data.queries.locations
    if ids.equals(everywhere):
        return values
    positions = pc.index_in(ids.cast(pa.string()), value_set=everywhere.cast(pa.string()))
    placed = np.full(len(everywhere), np.nan)
    placed[positions.to_numpy()] = values
    return placed


def _own(mechanism: Mechanism, queries: Queries, data: OpenVisits, truth: Truth) -> Reals | None:
    """What the mechanism estimates; None if it bounds users in a way of its own."""
    if mechanism.estimand == "true":
        return truth.entropy
    if mechanism.bounds is None:
        return None
    profile = queries.profile(mechanism.bounds)
    return _placed(profile.entropy, profile.locations, data)


def scores(truth: Truth, outcome: Outcome) -> dict[str, float]:
    """Return every metric of one simulated release."""
    true, entropy, low, high = truth.entropy, outcome.entropy, outcome.low, outcome.high
    everywhere = np.ones(len(true), dtype=bool)
    published, crowded, busy = metrics.is_published(entropy), truth.crowded, truth.users >= BUSY_FROM

    def over(metric: Any, where: Booleans, values: Reals = entropy) -> float:
        return float(metric(true[where], values[where]))

    def covered(about: Reals | None, where: Booleans) -> float:
        if about is None or low is None or high is None:
            return float("nan")
        return metrics.coverage(about[where], low[where], high[where])

    found = {
        "mse": over(metrics.mse, everywhere),
        "mse_published": over(metrics.mse, published),
        "mse_throwaway": over(metrics.mse, crowded),
        "mse_busy": over(metrics.mse, busy),
        "mse_busy_of_entropy_busy": np.nan if outcome.busy is None else over(metrics.mse, busy, outcome.busy),
        "bias": over(metrics.bias, everywhere),
        "bias_published": over(metrics.bias, published),
        "kl": over(metrics.kl_divergence, everywhere),
        "kl_published": over(metrics.kl_divergence, published),
        "kl_throwaway": over(metrics.kl_divergence, crowded),
        "spearman": over(metrics.spearman, everywhere),
        "published": metrics.published_ratio(entropy),
        "coverage": covered(true, everywhere),
        "coverage_busy": covered(true, busy),
        "coverage_own": covered(outcome.own, everywhere),
        "width": metrics.interval_width(low, high),
        "top_10": metrics.found_at_top(true, entropy, 10),
        "top_100": metrics.found_at_top(true, entropy, 100),
    }
    return {name: float(found[name]) for name in METRICS}


def scores_by_users(truth: Truth, outcome: Outcome, octaves: list[metrics.Octave]) -> list[dict[str, float]]:
    """Return the metrics of `BY_USERS` of one simulated release, for the locations of each octave of users."""
    rows = []
    for octave in octaves:
        where = metrics.within(truth.users, octave)
        true, entropy = truth.entropy[where], outcome.entropy[where]
        published = metrics.is_published(entropy)
        low, high = (None if each is None else each[where] for each in (outcome.low, outcome.high))
        rows.append(
            {
                "mse": metrics.mse(true, entropy),
                "mse_published": metrics.mse(true[published], entropy[published]),
                "published": metrics.published_ratio(entropy),
                "coverage": metrics.coverage(true, low, high),
            }
        )
    return rows
