"""The advisor: which mechanism and which parameters suit some data, from public numbers or a little budget.

    advise(epsilon=1, n_locations=14_058, n_users=10_000)          # reads nothing
    advise(epsilon=1, activity=activity)                        # noisy statistics that were paid for

It never takes visits. What depends on data reaches it only as an `Activity`, which is differentially private and was
spent for (`paid_survey.py`); advice is post-processing of that and costs nothing more. Trying mechanisms on the data itself
is `locentropy evaluate`, whose answers are private.

The recommendations: Shares, because it estimates the true entropy, has no bounds to choose, and has the least error of
all where there are places enough to learn from; Moments where the list is short, or where places are busy and the
bounded entropy will do; a private selection first, where no list of places is public. The paper's own algorithms are
named for comparison, by the paper's rule of dense and sparse data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.evaluation.advice.bounds import choose_bounds, habits_seen, habits_supposed
from locentropy.evaluation.advice.recommendations import Case, roomy
from locentropy.mechanisms.parameters import check_epsilon, check_fraction
from locentropy.mechanisms.shares.expected_error import SHORT_LIST
from locentropy.mechanisms.survey import Activity

if TYPE_CHECKING:
    from locentropy.evaluation.advice.advice import Advice

BUSY_NOISE: Final = 0.25
"""Nats: with less noise than this at places of twenty users and more, Moments needs no help from other places."""

_CALL = "advise(epsilon=1.0, n_locations=14_058, n_users=10_000)"


def advise(
    epsilon: float,
    *,
    n_locations: int | None = None,
    n_users: int | None = None,
    delta: float | None = None,
    locations_per_user: int | None = None,
    visits_per_location: int | None = None,
    bounded_is_enough: bool = False,
    activity: Activity | None = None,
) -> Advice:
    """Recommend a mechanism and its parameters, with the error to expect, in sentences.

    The numbers are rough ones from common knowledge, never from the visits.

    Parameters
    ----------
    epsilon
        ε of the release.
    n_locations
        The length of the public list of places; None if no list is public.
    n_users
        About how many people there are.
    delta
        δ, for the mechanisms that need one.
    locations_per_user
        How many listed places a typical person goes to.
    visits_per_location
        How often a typical person goes where they go most.
    bounded_is_enough
        Whether the entropy of bounded visits would do.
    activity
        What a survey found (`le.private.measure_activity`), in place of all these numbers.
    """
    _check(epsilon, n_locations, n_users, delta, locations_per_user, visits_per_location)
    if activity is None:
        habits = habits_supposed(n_users, locations_per_user, visits_per_location)
        seen = None
    else:
        _check_activity(activity, n_locations)
        habits, n_locations = habits_seen(activity), activity.n_locations
        seen = round(habits.people) or None
    n_users = n_users or seen
    max_users = roomy(n_users)  # what is said is a guess as well, and a bound must not be too small
    bounds = choose_bounds(epsilon, n_locations, n_users, habits)
    case = Case(epsilon, n_locations, n_users, max_users, delta, bounds, activity)
    return _minding_the_bound(_recommended(case, bounded_is_enough=bounded_is_enough), max_users)


def _recommended(case: Case, *, bounded_is_enough: bool) -> Advice:
    n_locations, bounds = case.n_locations, case.bounds
    if n_locations is None:
        return case.without_a_list()
    if n_locations < SHORT_LIST:
        return case.moments(
            f"The list is short: from fewer than {SHORT_LIST} places Shares cannot learn how values are spread, "
            "which it needs to read each of them."
        )
    if bounded_is_enough and bounds.noise is not None and bounds.noise < BUSY_NOISE:
        return case.moments(
            "You said that the entropy of bounded visits is enough, and places are busy enough for Moments to stand "
            "on their own counts: it assumes nothing about other places."
        )
    return case.shares(bounded_is_enough=bounded_is_enough)


def _minding_the_bound(advice: Advice, max_users: int | None) -> Advice:
    """Say what a bound on people is, wherever one is proposed."""
    every = (advice.choice, *(each.choice for each in advice.alternatives))
    if max_users is None or not any("max_users" in choice.parameters for choice in every):
        return advice
    told = (
        f"--max-users {max_users} is a round number with room above the people that are expected; put yours there. It "
        "must be public, and no fewer than there can be: values are cut at its logarithm, so one that is too small "
        "makes the busiest places look smaller. A larger one costs no privacy."
    )
    return replace(advice, warnings=(*advice.warnings, told))


def _check(
    epsilon: float,
    n_locations: int | None,
    n_users: int | None,
    delta: float | None,
    locations_per_user: int | None,
    visits_per_location: int | None,
) -> None:
    check_epsilon(_CALL, epsilon)
    if delta is not None:
        check_fraction(f"{_CALL[:-1]}, delta=1e-8)", "delta", delta)
    for name, value, most in (
        ("n_locations", n_locations, 2**40),
        ("n_users", n_users, 2**31 - 1),
        ("locations_per_user", locations_per_user, 2**31 - 1),
        ("visits_per_location", visits_per_location, 2**31 - 1),
    ):
        if value is not None:
            check_whole(_CALL, name, value, 1, most)


def _check_activity(activity: Activity, n_locations: int | None) -> None:
    if not isinstance(activity, Activity):
        raise ParameterError(
            f"activity is a {type(activity).__name__}, and advice takes no visits: it takes what `measure_activity` "
            'found for a budget. For example: measure_activity(visits, places, survey_for(1.0, 0.05), ledger="city.ledger")'
        )
    if not activity.private:
        raise ParameterError(
            "activity was made with simulated noise and protects nobody. Advice from the data without a budget is what "
            "`locentropy evaluate` gives, and its answers are private."
        )
    if n_locations not in (None, activity.n_locations):
        raise ParameterError(
            f"n_locations={n_locations} contradicts the activity, which is about {activity.n_locations} listed places. "
            "Leave it out: advise(epsilon=1.0, activity=activity)"
        )
