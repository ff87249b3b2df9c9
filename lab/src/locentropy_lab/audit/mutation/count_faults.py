"""Faults in bounded counts of visitors and visits, for which Shares sets a part of its budget aside."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from locentropy.mechanisms.shares.counts import UNIT, VISIT_COUNTS, VISITOR_COUNTS, CountQueries
from locentropy.mechanisms.shares.measurements import ShareQueries
from locentropy_lab.audit.mutation.planting import Change, Fault

_COUNTED: Final = "counts of Shares are within its guarantee"


def _of_one_place(true: Any) -> Any:
    """As if everybody were at one place."""
    return property(lambda self: true.fget(replace(self, bounds=replace(self.bounds, max_locations=1))))


def _squares_under_laplace(true: Any) -> Any:
    return property(lambda self: true.fget(replace(self, noise="gaussian")))


def _all_visits(_: Any) -> Any:
    def ask(self: CountQueries, queries: Any, locations: Any) -> Any:
        profile = queries.exact_profile()
        return {
            VISITOR_COUNTS: profile.user_counts * UNIT,
            VISIT_COUNTS: profile.visit_counts * UNIT,
        }

    return ask


def _nothing_set_aside(_: Any) -> Any:
    return property(lambda self: Fraction(1))


FAULTS: Final = (
    Fault(
        "M forgotten in the noise of counts",
        "one user is counted at M places, and is protected as if it were one",
        _COUNTED,
        (Change(CountQueries, "sensitivities", _of_one_place),),
    ),
    Fault(
        "√M for Laplace noise",
        "lengths by squares are taken for sums, and who is at many places counts for more than ε",
        _COUNTED,
        (Change(CountQueries, "sensitivities", _squares_under_laplace),),
    ),
    Fault(
        "counts before bounding",
        "who was in a hundred places is counted in all of them",
        _COUNTED,
        (Change(CountQueries, "ask", _all_visits),),
    ),
    Fault(
        "a part for counts that is not set aside",
        "shares spend all of ε, and counts once more",
        _COUNTED,
        (Change(ShareQueries, "_left", _nothing_set_aside),),
    ),
)
