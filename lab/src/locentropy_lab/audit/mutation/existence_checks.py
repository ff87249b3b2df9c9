"""Checks of what errors and warnings tell: whether a release exists, and what is said about public lists."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from locentropy.core.errors import LocentropyError
from locentropy.evaluation.advice import paid_survey
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.select import SelectLocations
from locentropy.mechanisms.survey import ActivitySurvey
from locentropy.places.public_list import PublicLocations
from locentropy.publishing import publish
from locentropy.visits.private_log import PRIVATE_LOG
from locentropy.visits.visits import Visits
from locentropy_lab.audit.mutation.planting import check
from locentropy_lab.audit.neighbours import ONE_THREAD, visits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locentropy_lab.audit.neighbours import People

_LIMIT: Final = Limit(epsilon=0.01, max_locations=3, max_visits=2)
_LISTED: Final = PublicLocations(list(range(4)), provenance="made up for an audit")
_ELSEWHERE: Final[People] = {user: {9: 1} for user in range(12)}
_NEIGHBOURS: Final = {"nobody there": _ELSEWHERE, "one person there": {**_ELSEWHERE, 99: {2: 1}}}


def _refused(attempt: Callable[[Visits], object], visits: Visits) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            attempt(visits)
        except LocentropyError:
            return True
    return False


def _publish(
    visits: Visits,
    places: PublicLocations | SelectLocations = _LISTED,
    exclude: PublicLocations | None = None,
) -> None:
    publish.publish(visits, _LIMIT, places, exclude=exclude, ledger=None, resources=ONE_THREAD)


@check("one person does not decide whether there is a release")
def release_exists() -> list[str]:
    """With and without the only person at the listed places, or in the table, there is a release."""
    alone = visits_of({99: {2: 1}})
    tables = {name: visits_of(people) for name, people in _NEIGHBOURS.items()}
    tables |= {"one person": alone, "nobody": Visits(alone.source.slice(0, 0))}
    return [f"refused: {name}" for name, visits in tables.items() if _refused(_publish, visits)]


@check("one person does not decide whether there is a survey")
def survey_exists() -> list[str]:
    """With and without the only person at the listed places, statistics are answered."""
    with TemporaryDirectory(prefix="locentropy-audit-") as folder:
        ledger = Ledger.create(Path(folder) / "audit.ledger", "made up for an audit", 1)

        def ask(visits: Visits) -> None:
            paid_survey.measure_activity(visits, _LISTED, ActivitySurvey(0.05, 3, 4), ledger=ledger)

        return [
            f"refused: {name}" for name, people in _NEIGHBOURS.items() if _refused(ask, visits_of(people))
        ]


@contextmanager
def _listening() -> Iterator[list[str]]:
    """What the private log is told."""
    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    PRIVATE_LOG.addHandler(handler)
    try:
        yield told
    finally:
        PRIVATE_LOG.removeHandler(handler)


@check("exclusions that exclude nothing are told")
def exclusions() -> list[str]:
    """A misspelt id to exclude: a warning where a list is public, and the private log where places are selected."""
    less = PublicLocations([1, 77])
    wrong = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _publish(visits_of(_ELSEWHERE), exclude=less)
    if not any("77" in str(each.message) for each in caught):
        wrong.append("nothing is said of an excluded id that is not on the list")
    selection = SelectLocations(0.1, delta=1e-9, max_locations=3)
    said = []
    for people in ({1: {1: 1, 77: 1}}, {1: {1: 1}}):
        with warnings.catch_warnings(record=True) as caught, _listening() as told:
            warnings.simplefilter("always")
            _publish(visits_of(people), selection, exclude=less)
        said.append([str(each.message) for each in caught])
        if any("77" in line for line in told) == (77 in people[1]):
            wrong.append("the private log does not name the excluded ids that match no visit")
    if said[0] != said[1]:
        wrong.append("warnings tell which excluded places were visited")
    return wrong


@check("visits given as a list are not counted aloud")
def visits_as_list() -> list[str]:
    """The error about places that are listed twice is the same however many there are."""
    said = []
    for repeats in (1, 5):
        table = pa.table({"place": [each for each in range(repeats) for _ in range(2)]})
        try:
            PublicLocations(table).load()
        except LocentropyError as error:
            said.append(str(error))
    return [] if len(said) == 2 and said[0] == said[1] else ["the error tells how many places repeat"]
