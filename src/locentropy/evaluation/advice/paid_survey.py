"""Private statistics for advice, where the owner grants a budget: check, read, spend, draw.

The order is that of publishing. The survey is settled from public numbers, and refused if it does not fit the budget;
the visits are read and asked, so that whatever is wrong with them shows while it is free of charge; the spend is on
disk in the ledger; only then noise is drawn. There is nothing to take up after an interruption: the statistics go to
the caller's memory, so what was spent for a run that was cut short stays spent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.errors import BudgetError, ParameterError, SourceError
from locentropy.evaluation.advice.bounds import USUAL_PLACES, USUAL_VISITS
from locentropy.evaluation.advice.density import crossover
from locentropy.evaluation.advice.recommendations import USUAL_MIN_USERS, proposed_delta
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.survey import ActivitySurvey
from locentropy.places.grid import Grid
from locentropy.places.public_list import PublicLocations
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing.pay_and_measure import pay_and_measure
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
"""What the ledger says that the spend was for."""

_CALL = 'measure_activity(visits, PublicLocations("places.csv"), survey, ledger="city.ledger")'


def survey_for(
    epsilon: float,
    spend: float,
    *,
    n_users: int | None = None,
    delta: float | None = None,
    locations_per_user: int | None = None,
) -> ActivitySurvey:
    """A survey that spends `spend`, with n_CB for a release at `epsilon`; from public numbers alone."""
    max_locations = min(locations_per_user or USUAL_PLACES, 100)
    threshold = crossover(
        epsilon,
        float(proposed_delta(n_users)) if delta is None else delta,
        max_locations,
        USUAL_VISITS,
        USUAL_MIN_USERS,
    )
    # Where Limit-SS never has less noise, data is sparse whatever is counted; some threshold must be asked for.
    return ActivitySurvey(spend, max_locations, threshold or 2**20)


def measure_activity(
    visits: Visits,
    locations: PublicLocations | Grid,
    survey: ActivitySurvey,
    *,
    ledger: Ledger | str | Path,
    before: Guarantee | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
) -> Activity:
    """Spend a survey's budget through the ledger, and return what it found: noisy numbers, fit to publish.

    `before` is the promise of the release that the advice is for: if the budget cannot pay for both, nothing is read
    and nothing is spent. `when_open` hears which column plays which role, while nothing is spent.
    """
    if not isinstance(visits, Visits):
        raise ParameterError(
            f"visits is a {type(visits).__name__}, and must say which column is what. For example: {_CALL}"
        )
    if not isinstance(locations, PublicLocations | Grid):
        raise ParameterError(
            "Statistics of busy places need a list of places that is public: PublicLocations or Grid. For example: "
            + _CALL
        )
    if not isinstance(ledger, Ledger | str) and not hasattr(ledger, "__fspath__"):
        raise ParameterError(
            "Private statistics are paid for through a ledger, and none was given. For example: " + _CALL
        )
    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    guarantee = survey.guarantee
    listed = locations.load() if isinstance(locations, PublicLocations) else locations.locations()
    wanted = listed if isinstance(locations, PublicLocations) else locations
    _ = survey.scales  # raises for an impossible ε before anything is spent
    spent: str | None = None

    def pay() -> None:
        nonlocal spent
        spent = "may have been"
        book.spend(guarantee, PURPOSE)
        spent = "was"

    try:
        _, activity = pay_and_measure(
            check=lambda: book.check(guarantee if before is None else guarantee + before),
            read=lambda: open_queries(
                visits, locations=wanted, resources=resources, progress=progress, when_open=when_open
            ),
            rehearse=lambda queries: _rehearse(survey, queries),
            pay=pay,
            measure=lambda queries: survey.measure(queries, listed, OpenDPNoise()),
            progress=progress,
        )
    except (BudgetError, ParameterError):  # refused
        raise
    except BaseException as error:
        if spent is not None:
            error.add_note(
                f"ε = {exact_text(exact(survey.epsilon))} {spent} spent for statistics that nobody has seen; the "
                "ledger knows. Spends are never refunded, and to ask again spends again."
            )
        raise
    return activity


def _rehearse(survey: ActivitySurvey, queries: Queries) -> None:
    """Ask all that will be asked, so that what can fail for the data's sake fails before the spend."""
    profile = queries.profile(survey.bounds)
    queries.locations_per_user()
    queries.largest_visits_per_user()
    if profile.users.sum() == 0:
        raise SourceError(
            "No visit is in the listed places, so there is nothing to give advice about. Are ids written alike in the "
            "visits and in the list, or the edges of the grid in the order south, west, north, east? Nothing was spent."
        )
