"""Dense or sparse: the paper's rule for choosing between its algorithms, with a corrected threshold.

The paper calls data dense if at least 90 % of the places have n_CB users, the number from which on Limit-SS adds less
noise than Limit-CB, and recommends Limit-SS for dense data and Limit-CB for sparse data. It compares sensitivities and
omits that Limit-SS must also pay for changes of its noise scale; compared by the noise that is drawn, n_CB is 110 at
its defaults instead of 51. Limit-CB protects nobody: where the rule says Limit-CB, Limit-PTR takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from locentropy.core.number_format import counted
from locentropy.mechanisms.expected_error import LARGEST_SIZE
from locentropy.mechanisms.paper.limit_cb import LimitCB
from locentropy.mechanisms.paper.limit_ss import LimitSS

if TYPE_CHECKING:
    from locentropy.mechanisms.survey import Activity

DENSE_SHARE: Final = 0.9
"""The share of places that must have n_CB users; the paper's "most, e.g. 90 %"."""

SMALL_MARGIN: Final = 0.05
"""A margin of this share of the places is small enough to decide, unless the data is close to the line."""

Verdict = Literal["dense", "sparse", "undecided", "unknown"]


@dataclass(frozen=True)
class Density:
    """Whether data is dense, and why."""

    verdict: Verdict
    """`undecided` if noise hides the answer, `unknown` if nothing was measured."""
    threshold: int | None
    """n_CB; None if Limit-SS never has less noise."""
    why: str
    """The verdict in a sentence."""


def crossover(
    epsilon: float, delta: float, max_locations: int, max_visits: int, min_users: int
) -> int | None:
    """Return n_CB: from this many users on, Limit-SS adds no more noise than Limit-CB; None if never."""
    smooth = LimitSS(epsilon, delta=delta, max_locations=max_locations, max_visits=max_visits)
    crowd = LimitCB(
        epsilon,
        max_locations=max_locations,
        max_visits=max_visits,
        min_users=min_users,
        accept_no_guarantee=True,
    )
    users = np.arange(1, LARGEST_SIZE + 1)
    more = np.flatnonzero(smooth.scales(users) > crowd.scale)
    if not more.size:
        return 1
    return int(users[more[-1]]) + 1 if more[-1] < len(users) - 1 else None


def measured_density(activity: Activity) -> Density:
    """Decide by a noisy number of busy places; undecided if the line is within its margin."""
    line = DENSE_SHARE * activity.n_locations
    low, high = (activity.busy + sign * activity.busy_margin for sign in (-1, 1))
    low, high = (min(max(each, 0), activity.n_locations) for each in (low, high))
    verdict: Verdict = "dense" if low >= line else "sparse" if high < line else "undecided"
    measured = (
        f"{low:,} to {high:,} of {counted(activity.n_locations, 'place')} have {counted(activity.busy_users, 'user')} "
        f"or more (counting each person in at most {counted(activity.max_locations, 'place')}; 95 % sure)"
    )
    line_is = f"the line is {100 * DENSE_SHARE:.0f} % of the places"
    # The margin is in proportion to one over the spend: the spend at which it would be a twentieth of the places.
    spend = (
        float(activity.guarantee.epsilon or 0) * activity.busy_margin / (SMALL_MARGIN * activity.n_locations)
    )
    why = {
        "dense": f"Dense: {measured}, and {line_is}.",
        "sparse": f"Sparse: {measured}, and {line_is}.",
        "undecided": f"Undecided: {measured}, and {line_is}, and the noise hides on which side of it the data is. "
        f"A spend of about ε = {spend:.2g} could decide.",
    }
    return Density(verdict, activity.busy_users, why[verdict])


def supposed_density(
    threshold: int | None, n_locations: int | None, n_users: int | None, max_locations: int
) -> Density:
    """Decide by public numbers alone: too few people for so many places is sparse for certain."""
    if threshold is None:
        return Density(
            "sparse", None, "Sparse: here Limit-SS has more noise than Limit-CB at any number of users."
        )
    if n_locations is None or n_users is None:
        return Density("unknown", threshold, "Unknown: this needs the number of places and of people.")
    if n_users < threshold or n_users * max_locations < DENSE_SHARE * n_locations * threshold:
        return Density(
            "sparse",
            threshold,
            f"Sparse: {counted(n_users, 'person').replace('persons', 'people')}, each counted in at most "
            f"{counted(max_locations, 'place')}, cannot fill {100 * DENSE_SHARE:.0f} % of "
            f"{counted(n_locations, 'place')} with {threshold:,} users each.",
        )
    return Density(
        "unknown",
        threshold,
        f"Unknown: data is dense if {100 * DENSE_SHARE:.0f} % of the places have {threshold:,} users or more, and only "
        "the data can tell. A small part of the budget would be enough to ask it (--spend 0.05).",
    )
