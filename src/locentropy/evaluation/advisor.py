"""The advisor: which mechanism and which parameters suit some data, from public numbers or a little budget.

    advise(epsilon=1, locations=14_058, people=10_000)          # reads nothing
    advise(epsilon=1, activity=activity)                        # noisy statistics that were paid for

It never takes visits. What depends on data reaches it only as an `Activity`, which is differentially private and was
spent for (`granted.py`); advice is post-processing of that and costs nothing more. Trying mechanisms on the data itself
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
from locentropy.evaluation.bounding import choose_bounds, habits_seen, habits_supposed
from locentropy.evaluation.recommending import Case, roomy
from locentropy.mechanisms.activity import Activity
from locentropy.mechanisms.parameters import check_epsilon, check_share
from locentropy.planning.shares_expectation import SHORT_LIST

if TYPE_CHECKING:
    from locentropy.evaluation.advice import Advice

BUSY_NOISE: Final = 0.25
"""Nats: with less noise than this at places of twenty users and more, Moments needs no help from other places."""

_CALL = "advise(epsilon=1.0, locations=14_058, people=10_000)"


def advise(
    epsilon: float,
    *,
    locations: int | None = None,
    people: int | None = None,
    delta: float | None = None,
    places_per_person: int | None = None,
    visits_per_place: int | None = None,
    bounded_is_enough: bool = False,
    activity: Activity | None = None,
) -> Advice:
    """Recommend a mechanism and its parameters, with the error to expect, in sentences.

    `locations` is the length of the public list of places, None if no list is public. `people`, `places_per_person`
    (listed places that a typical person goes to) and `visits_per_place` (how often a typical person goes where they go
    most) are rough numbers from common knowledge, never from the visits. `activity` is what a survey found, and takes
    the place of all of these.
    """
    _check(epsilon, locations, people, delta, places_per_person, visits_per_place)
    if activity is None:
        habits = habits_supposed(people, places_per_person, visits_per_place)
        seen = None
    else:
        _check_activity(activity, locations)
        habits, locations = habits_seen(activity), activity.locations
        seen = round(habits.people) or None
    people = people or seen
    max_users = roomy(people)  # what is said is a guess as well, and a bound must not be too small
    bounds = choose_bounds(epsilon, locations, people, habits)
    case = Case(epsilon, locations, people, max_users, delta, bounds, activity)
    return _minding_the_bound(_recommended(case, bounded_is_enough=bounded_is_enough), max_users)


def _recommended(case: Case, *, bounded_is_enough: bool) -> Advice:
    locations, bounds = case.locations, case.bounds
    if locations is None:
        return case.without_a_list()
    if locations < SHORT_LIST:
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
    locations: int | None,
    people: int | None,
    delta: float | None,
    places_per_person: int | None,
    visits_per_place: int | None,
) -> None:
    check_epsilon(_CALL, epsilon)
    if delta is not None:
        check_share(f"{_CALL[:-1]}, delta=1e-8)", "delta", delta)
    for name, value, most in (
        ("locations", locations, 2**40),
        ("people", people, 2**31 - 1),
        ("places_per_person", places_per_person, 2**31 - 1),
        ("visits_per_place", visits_per_place, 2**31 - 1),
    ):
        if value is not None:
            check_whole(_CALL, name, value, 1, most)


def _check_activity(activity: Activity, locations: int | None) -> None:
    if not isinstance(activity, Activity):
        raise ParameterError(
            f"activity is a {type(activity).__name__}, and advice takes no visits: it takes what `measure_activity` "
            'found for a budget. For example: measure_activity(visits, places, ledger="city.ledger", epsilon=0.05)'
        )
    if not activity.private:
        raise ParameterError(
            "activity was made with simulated noise and protects nobody. Advice from the data without a budget is what "
            "`locentropy evaluate` gives, and its answers are private."
        )
    if locations not in (None, activity.locations):
        raise ParameterError(
            f"locations={locations} contradicts the activity, which is about {activity.locations} listed places. "
            "Leave it out: advise(epsilon=1.0, activity=activity)"
        )
