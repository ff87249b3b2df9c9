"""Faults in what errors and warnings tell."""

from __future__ import annotations

from typing import Any, Final

from locentropy.core.errors import BadRowsError
from locentropy.evaluation.advice import paid_survey
from locentropy.places import public_list
from locentropy.publishing import publish
from locentropy.publishing.chosen_locations import ChosenLocations
from locentropy.visits import counting
from locentropy_lab.audit.mutation.planting import Change, Fault

_EXISTS: Final = "one person does not decide whether there is a release"


def _refusing(true: Any) -> Any:
    return lambda *given, **more: true(*given, **{**more, "refuse_empty": True})


def _counting_repeats(true: Any) -> Any:
    def locations(rows: Any, *given: Any, **more: Any) -> Any:
        ids = rows["location"]
        repeats = len(ids) - len(ids.unique())
        if repeats:
            raise BadRowsError(f"the list names {repeats} places more than once")
        return true(rows, *given, **more)

    return locations


FAULTS: Final = (
    Fault(
        "places without a visit refused",
        "that a release exists tells that somebody was there, whatever ε is",
        _EXISTS,
        (Change(publish, "nobody_counted", _refusing),),
    ),
    Fault(
        "an empty table refused",
        "that a release exists tells that the only person of a table is in it",
        _EXISTS,
        (Change(counting, "check", _refusing),),
    ),
    Fault(
        "a survey of places without a visit refused",
        "that there are statistics tells that somebody was there, whatever they cost",
        "one person does not decide whether there is a survey",
        (Change(paid_survey, "nobody_counted", _refusing),),
    ),
    Fault(
        "misspelt exclusions in silence",
        "a place that was never to be published is published",
        "exclusions that exclude nothing are told",
        (Change(ChosenLocations, "warn_of_exclusions", lambda _: lambda self: None),),
    ),
    Fault(
        "repeats of a list counted aloud",
        "where the visits are given as the list by mistake, an exact count of them is shown",
        "visits given as a list are not counted aloud",
        (Change(public_list, "_as_locations", _counting_repeats),),
    ),
)
