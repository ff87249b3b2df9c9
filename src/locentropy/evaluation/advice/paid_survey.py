"""A survey for advice, paid for through the ledger: noisy statistics of the visits.

The order is that of publishing (`pay_and_measure.py`): the budget is checked, the visits are read and asked, the spend
is on disk in the ledger, and only then noise is drawn. An interrupted survey cannot be resumed: its statistics go to
the caller's memory only, so what was spent for it stays spent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import BudgetError, ParameterError
from locentropy.core.locations import Cells
from locentropy.evaluation.advice.bounds import USUAL_PLACES, USUAL_VISITS
from locentropy.evaluation.advice.density import crossover
from locentropy.evaluation.advice.recommendations import USUAL_MIN_USERS, proposed_delta
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.survey import ActivitySurvey
from locentropy.places.public_list import PublicLocations
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing.notices import warn_of_user_column
from locentropy.publishing.pay_and_measure import nobody_counted, pay_and_measure
from locentropy.publishing.publish import settle
from locentropy.visits.queries import DEFAULT_RESOURCES, open_queries
from locentropy.visits.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locentropy.core.queries import Queries
    from locentropy.mechanisms.survey import Activity
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Progress, Resources

PURPOSE: Final = "advice: noisy histograms of activity and the number of busy places"
"""What the ledger notes as the purpose of the spend."""

_CALL = 'measure_activity(visits, PublicLocations("places.csv"), survey, ledger="city.ledger")'


def survey_for(
    epsilon: float,
    spend: float,
    *,
    n_users: int | None = None,
    delta: float | None = None,
    locations_per_user: int | None = None,
) -> ActivitySurvey:
    """Return the survey that suits a release at `epsilon`, from public numbers alone. Reads nothing.

    Parameters
    ----------
    epsilon
        ε of the release that the advice is for. It decides which places count as busy.
    spend
        ε of the survey itself, such as 0.05: what `measure_activity` spends.
    n_users
        About how many people there are.
    delta
        δ of the release; by default one is proposed from `n_users`.
    locations_per_user
        How many listed places a typical person visits.
    """
    max_locations = min(locations_per_user or USUAL_PLACES, 100)
    threshold = crossover(
        epsilon,
        float(proposed_delta(n_users)) if delta is None else delta,
        max_locations,
        USUAL_VISITS,
        USUAL_MIN_USERS,
    )
    # If Limit-SS never has less noise, data is sparse whatever is counted; the survey needs some threshold anyway.
    return ActivitySurvey(spend, max_locations, threshold or 2**20)


def measure_activity(
    visits: Visits,
    locations: PublicLocations | Cells,
    survey: ActivitySurvey,
    *,
    ledger: Ledger | str | Path,
    before: Guarantee | None = None,
    refuse_empty: bool = False,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] | None = None,
) -> Activity:
    """Pay for a survey through the ledger, and return what it found: noisy numbers that may be published.

    Parameters
    ----------
    visits
        The private table, such as `Visits("checkins.parquet", user="uid", location="venue")`.
    locations
        The public places: a `PublicLocations` or the cells of a map, such as a `Grid`.
    survey
        What is asked, and its ε: `survey_for(epsilon=1.0, spend=0.05)`.
    ledger
        The budget that pays for it: a `Ledger` or its file.
    before
        The guarantee of the release that the advice is for. If the budget cannot pay for both, nothing is read and
        nothing is spent.
    refuse_empty
        Whether to refuse, at no cost, if no visit is at any of the places. That there are statistics then tells that
        somebody was there, and no ε covers that. Without it the private log says so.
    resources
        Memory, threads and engine.
    progress
        A function that is called with what is being done.
    when_open
        A function that is called with the role of each column, before anything is spent. Without one, it is warned of
        if the column that is the person was recognised by its name.
    """
    if not isinstance(visits, Visits):
        raise ParameterError(
            f"visits is a {type(visits).__name__}, and must say which column is what. For example: {_CALL}"
        )
    if not isinstance(locations, PublicLocations | Cells):
        raise ParameterError(
            "Statistics of busy places need a list of places that is public: PublicLocations or Grid. For example: "
            + _CALL
        )
    if not isinstance(ledger, Ledger | str) and not hasattr(ledger, "__fspath__"):
        raise ParameterError(
            "Private statistics are paid for through a ledger, and none was given. For example: " + _CALL
        )
    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    window, unit, _ = settle(visits.window, book)
    visits, guarantee = replace(visits, window=window), survey.guarantee.for_unit(unit)
    listed = locations.load() if isinstance(locations, PublicLocations) else locations.locations()
    wanted = listed if isinstance(locations, PublicLocations) else locations
    _ = survey.scales  # raises for an impossible ε before anything is spent
    spent: str | None = None

    def opened(columns: Roles) -> None:
        if when_open is None:
            warn_of_user_column(visits, columns, private=True)
        else:
            when_open(columns)

    def pay() -> None:
        nonlocal spent
        spent = "may have been"
        book.spend(guarantee, PURPOSE, window=window)
        spent = "was"

    try:
        _, activity = pay_and_measure(
            check=lambda: book.check(
                guarantee if before is None else guarantee + before.for_unit(unit), window
            ),
            read=lambda: open_queries(
                visits,
                locations=wanted,
                resources=resources,
                progress=progress,
                when_open=opened,
                refuse_empty=refuse_empty,
                first_times=survey.bounds.may_need_times,
            ),
            rehearse=lambda queries: _rehearse(
                survey, queries, grid=isinstance(locations, Cells), refuse_empty=refuse_empty
            ),
            pay=pay,
            measure=lambda queries: survey.measure(queries, listed, OpenDPNoise()),
            progress=progress,
        )
    except (BudgetError, ParameterError):  # refused
        raise
    except BaseException as error:
        if spent is not None:
            error.add_note(
                f"ε = {exact_text(exact(survey.epsilon))} {spent} spent for statistics that nobody has seen, as the "
                "ledger notes. Spends are never refunded: asking again spends again."
            )
        raise
    return replace(activity, refuse_empty=refuse_empty)


def _rehearse(survey: ActivitySurvey, queries: Queries, *, grid: bool, refuse_empty: bool) -> None:
    """Ask all that will be asked, so that what can fail because of the data fails before the spend."""
    profile = queries.profile(survey.bounds)
    queries.locations_per_user()
    queries.largest_visits_per_user()
    if profile.users.sum() == 0:
        nobody_counted(grid=grid, refuse_empty=refuse_empty)
