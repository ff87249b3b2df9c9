"""The advisor: recommends a mechanism and its parameters, from public numbers or from a paid survey.

    advise(epsilon=1, n_locations=14_058, n_users=10_000)       # reads nothing
    advise(epsilon=1, activity=activity)                        # noisy statistics that were paid for

It never takes visits. What depends on the data reaches it only as an `Activity`, which is differentially private and
was paid for (`paid_survey.py`); advice is post-processing of that and costs nothing more. To try mechanisms on the data
itself, use `locentropy evaluate`, whose answers are private.

It recommends Shares, because it estimates the true entropy, has no bounds to choose, and has the least error of all if
there are enough places to learn from, without a δ, and says whether one would pay; Moments if the list is short, or if
places are busy and the bounded entropy is enough; and a private selection first, if no list of places is public. The
paper's own algorithms are named for comparison, by the paper's rule of dense and sparse data.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.levels import NO_LEVELS, check_levels
from locentropy.evaluation.advice.bounds import choose_bounds, measured_habits, supposed_habits
from locentropy.evaluation.advice.recommendations import Case, roomy
from locentropy.mechanisms.level_parts import divided
from locentropy.mechanisms.parameters import check_epsilon, check_fraction
from locentropy.mechanisms.shares.expected_error import SHORT_LIST
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.mechanisms.survey import Activity
from locentropy.planning.level_outlook import level_outlooks
from locentropy.planning.plans import Plan
from locentropy.planning.schedule import scheduled
from locentropy.planning.series_outlook import series_lines
from locentropy.privacy.guarantee import exact_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.core.levels import Levels
    from locentropy.core.window_split import Period
    from locentropy.evaluation.advice.advice import Advice
    from locentropy.privacy.guarantee import Number

BUSY_NOISE: Final = 0.25
"""Nats: with less noise than this at places of at least twenty users, Moments needs no help from other places."""

_CALL: Final = "advise(epsilon=1.0, n_locations=14_058, n_users=10_000)"
_SERIES: Final = 'advise(epsilon=4.0, n_locations=1000, n_users=5000, period="month", periods=24)'


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
    levels: Levels | Sequence[str] | Mapping[str, Number] = NO_LEVELS,
    level_sizes: Sequence[int] = (),
    period: Period | None = None,
    periods: int | None = None,
) -> Advice:
    """Recommend a mechanism and its parameters, with reasons and the error to expect; `print` shows it as text.

    Reads no visits: the numbers are rough ones from common knowledge.

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
        How many listed places a typical person visits.
    visits_per_location
        How often a typical person visits their most visited place.
    bounded_is_enough
        Whether the entropy of bounded visits is enough.
    activity
        What a survey found (`le.private.measure_activity`), instead of all these numbers.
    levels
        Several levels in one release, as for `PublicLocations`: what each gets of ε and is worth is told as well.
    level_sizes
        How many locations each level has; ε is divided by them, unless `levels` says the parts.
    period, periods
        A release in every "day", "week" or "month", and how many of them. Then ε is that of all together, for somebody
        who is always in the data; the other numbers, and the advice, are about one of them.
    """
    if period is not None or periods is not None:
        return _of_series(
            epsilon,
            period,
            periods,
            n_locations=n_locations,
            n_users=n_users,
            delta=delta,
            locations_per_user=locations_per_user,
            visits_per_location=visits_per_location,
            bounded_is_enough=bounded_is_enough,
            activity=activity,
            levels=levels,
            level_sizes=level_sizes,
        )
    _check(epsilon, n_locations, n_users, delta, locations_per_user, visits_per_location)
    if activity is None:
        habits = supposed_habits(n_users, locations_per_user, visits_per_location)
        measured = None
    else:
        _check_activity(activity, n_locations)
        habits, n_locations = measured_habits(activity), activity.n_locations
        measured = round(habits.n_users) or None
    n_users = n_users or measured
    max_users = roomy(n_users)  # n_users is a guess, and a bound must not be too small
    bounds = choose_bounds(epsilon, n_locations, n_users, habits)
    case = Case(epsilon, n_locations, n_users, max_users, delta, bounds, activity, habits.locations_per_user)
    advice = _with_bound_explained(_recommended(case, bounded_is_enough=bounded_is_enough), max_users)
    if not (named := check_levels(levels)):
        return advice
    parts = divided(advice.mechanism, named, level_sizes)
    return replace(advice, levels=level_outlooks(parts, level_sizes, n_locations, n_users))


def _of_series(epsilon: float, period: Period | None, periods: int | None, **given: Any) -> Advice:
    """The advice about each of several releases that share one budget, by plain sums; the other way is told."""
    if period is None or periods is None:
        raise ParameterError(
            "is needed: a release in every month, say, and how many of them.",
            parameter="period" if period is None else "periods",
            example=_SERIES,
        )
    check_epsilon(_CALL, epsilon)
    schedule, one = scheduled(Shares(epsilon), period, periods)
    each = one.guarantee.epsilon or Fraction(0)
    found = advise(float(each), **given)
    if found.mechanism.name != Shares.name:
        told = f"{periods} releases, one in every {period}, at ε = {exact_text(each)} each, by plain sums."
        return replace(found, series=(told,))
    planned = Plan(
        found.mechanism,
        "public-list",
        n_locations=given["n_locations"] if found.activity is None else found.activity.n_locations,
        n_users=given["n_users"],
        locations_per_user=given["locations_per_user"],
        schedule=schedule,
    )
    return replace(found, series=tuple(series_lines(planned)))


def _recommended(case: Case, *, bounded_is_enough: bool) -> Advice:
    n_locations, bounds = case.n_locations, case.bounds
    if n_locations is None:
        return case.without_a_list()
    if n_locations < SHORT_LIST:
        return case.moments(
            f"The list is short: from fewer than {SHORT_LIST} places Shares cannot learn how values are spread, "
            "which it needs to estimate each of them."
        )
    if bounded_is_enough and bounds.noise is not None and bounds.noise < BUSY_NOISE:
        return case.moments(
            "The entropy of bounded visits is enough for you, and places are busy enough for Moments, which uses the "
            "counts of each place alone and assumes nothing about other places."
        )
    return case.shares(bounded_is_enough=bounded_is_enough)


def _with_bound_explained(advice: Advice, max_users: int | None) -> Advice:
    """Add a sentence about max_users if it is proposed."""
    every = (advice.choice, *(each.choice for each in advice.alternatives))
    if max_users is None or not any("max_users" in choice.parameters for choice in every):
        return advice
    warning = (
        f"--max-users {max_users} is a round number well above the people that are expected; use your own instead. It "
        "must be public, and at least the number of people: values are cut at its logarithm, so a smaller one makes "
        "the busiest places look smaller. A larger one costs no privacy."
    )
    return replace(advice, warnings=(*advice.warnings, warning))


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
            f"is a {type(activity).__name__}. Advice takes no visits: it takes what a survey found that was paid for. "
            'For example: activity = measure_activity(visits, places, survey_for(1.0, 0.05), ledger="city.ledger")',
            parameter="activity",
        )
    if not activity.private:
        raise ParameterError(
            "was made with simulated noise, which protects nobody. To try mechanisms on the data without a budget, use "
            "`locentropy evaluate`, whose answers are private.",
            parameter="activity",
        )
    if n_locations not in (None, activity.n_locations):
        raise ParameterError(
            f"contradicts the activity, which is about {activity.n_locations} listed places. Leave it out.",
            parameter="n_locations",
            value=n_locations,
            example="advise(epsilon=1.0, activity=activity)",
        )
