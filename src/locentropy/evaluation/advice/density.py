"""Dense or sparse: the paper's rule for choosing between its algorithms, with the threshold put right.

The paper calls data dense where at least 90 % of the places have n_CB users, n_CB being the number from which on
Limit-SS adds less noise than Limit-CB, and recommends Limit-SS for dense data and Limit-CB for sparse. It compares
sensitivities and forgets that Limit-SS pays for a change of scale as well; compared by the noise that is drawn, n_CB is
110 at its defaults instead of 51. Limit-CB protects nobody: where the rule says Limit-CB, Limit-PTR takes its place.
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

TELLING_SHARE: Final = 0.05
"""A margin of this share of the places is small enough to tell, unless the data is just at the line."""

Verdict = Literal["dense", "sparse", "undecided", "unknown"]


@dataclass(frozen=True)
class Density:
    """Whether data is dense, and how sure that is."""

    verdict: Verdict
    """`undecided` where noise hides the answer, `unknown` where nobody asked."""
    threshold: int | None
    """n_CB; None where Limit-SS never has less noise."""
    why: str
    """The verdict in a sentence."""


def crossover(
    epsilon: float, delta: float, max_locations: int, max_visits: int, min_users: int
) -> int | None:
    """n_CB: from this many users on, Limit-SS adds no more noise than Limit-CB; None if never up to a million."""
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


def density_seen(activity: Activity) -> Density:
    """The verdict from a noisy number of busy places: undecided while its margin reaches over the line."""
    line = DENSE_SHARE * activity.n_locations
    low, high = (activity.busy + sign * activity.busy_margin for sign in (-1, 1))
    low, high = (min(max(each, 0), activity.n_locations) for each in (low, high))
    verdict: Verdict = "dense" if low >= line else "sparse" if high < line else "undecided"
    seen = (
        f"{low:,} to {high:,} of {counted(activity.n_locations, 'place')} have {counted(activity.busy_users, 'user')} "
        f"or more (counting each person in at most {counted(activity.max_locations, 'place')}; 95 % sure)"
    )
    line_is = f"the line is {100 * DENSE_SHARE:.0f} % of the places"
    # The noise of the number of busy places falls as one over the spend: one at which it would be a twentieth.
    spend = (
        float(activity.guarantee.epsilon or 0) * activity.busy_margin / (TELLING_SHARE * activity.n_locations)
    )
    told = {
        "dense": f"Dense: {seen}, and {line_is}.",
        "sparse": f"Sparse: {seen}, and {line_is}.",
        "undecided": f"Undecided: {seen}, and {line_is}, so the noise hides on which side the data is. "
        f"A spend of about ε = {spend:.2g} could tell.",
    }
    return Density(verdict, activity.busy_users, told[verdict])


def density_supposed(
    threshold: int | None, n_locations: int | None, n_users: int | None, locations_each: int
) -> Density:
    """What public numbers alone can say: too few people for so many places is sparse for certain."""
    if threshold is None:
        return Density(
            "sparse", None, "Sparse: at no number of users has Limit-SS less noise than Limit-CB here."
        )
    if n_locations is None or n_users is None:
        return Density("unknown", threshold, "Unknown: that takes the number of places and of people.")
    if n_users < threshold or n_users * locations_each < DENSE_SHARE * n_locations * threshold:
        return Density(
            "sparse",
            threshold,
            f"Sparse: {counted(n_users, 'person').replace('persons', 'people')}, each counted in at most "
            f"{counted(locations_each, 'place')}, cannot fill {100 * DENSE_SHARE:.0f} % of {counted(n_locations, 'place')} "
            f"with {threshold:,} users each.",
        )
    return Density(
        "unknown",
        threshold,
        f"Unknown: dense would mean that {100 * DENSE_SHARE:.0f} % of the places have {threshold:,} users or more, and "
        "only data can tell. A small part of the budget would (--spend 0.05).",
    )
