"""Counting that lets one user do more than the bounds allow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.bounds import Bounds
from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.paper.limit import Limit
from locentropy.visits import expressions as expression
from locentropy.visits.queries import TableQueries
from locentropy_lab.audit.mutation.planting import Change, Fault

if TYPE_CHECKING:
    from collections.abc import Callable

_ONE_USER: Final = "one user moves at most M places, by one user each"


def _of_the_table(_: Any) -> Any:
    def ranked(pairs: Any, keep: Any, by_id: Any = None) -> Any:
        order = [pairs.visits.desc(), pairs.code]
        return pairs.mutate(rank=ibis.row_number().over(order_by=order))

    return ranked


def _popular_first(_: Any) -> Any:
    def ranked(pairs: Any, keep: Any, by_id: Any = None) -> Any:
        return _by_popularity(pairs, ties_only=False)

    return ranked


def _popular_at_ties(_: Any) -> Any:
    def ranked(pairs: Any, keep: Any, by_id: Any = None) -> Any:
        return _by_popularity(pairs, ties_only=True)

    return ranked


def _twice_in_raw_rows(true: Any) -> Any:
    def pairs(visits: Any, places: Any) -> Any:
        found = true(visits, places)
        return found if "visits" in visits.columns else found.union(found)

    return pairs


def _not_clipped(true: Any) -> Any:
    def as_profile(self: TableQueries, rows: Any, bounds: Any) -> Any:
        return replace(true(self, rows, None), bounds=bounds)

    return as_profile


def _bounds(change: Callable[[int, int], tuple[int, int]]) -> Callable[[Any], Any]:
    """Bounds other than those that the noise is computed from."""
    return lambda _: property(lambda self: Bounds(*change(self.max_locations, self.max_visits), self.keep))


def _by_popularity(pairs: Any, *, ties_only: bool) -> Any:
    """Rank a user's places by how many others were there."""
    crowds = pairs.group_by("code").aggregate(crowd=pairs.count())
    joined = pairs.inner_join(crowds, "code")
    order = [joined.crowd.desc(), joined.code]
    order = [joined.visits.desc(), *order] if ties_only else order
    return joined.mutate(rank=ibis.row_number().over(group_by=joined.user, order_by=order))


FAULTS: Final = (
    Fault(
        "M off by one",
        "users keep one place more than the noise is for",
        _ONE_USER,
        (
            Change(
                expression,
                "bounded_counts",
                lambda true: lambda ranked, steps, visits: true(ranked, [step + 1 for step in steps], visits),
            ),
        ),
    ),
    Fault(
        "C not applied",
        "somebody with 100,000 visits rules a place, and its entropy falls to nothing",
        "cost in the engine, limit",
        (Change(Limit, "bounds", _bounds(lambda many, visits: (many, 10**5 * visits))),),
    ),
    Fault(
        "C off by one",
        "users keep one visit more than the noise is for",
        "bounds hold, and only listed places count towards them",
        (
            Change(
                expression,
                "bounded_counts",
                lambda true: lambda ranked, steps, visits: true(ranked, steps, visits + 1),
            ),
            Change(TableQueries, "_as_profile", _not_clipped),
        ),
    ),
    Fault(
        "bounded to more places than the noise is for",
        "the mechanism asks for other bounds than it computes its noise from",
        "cost in the engine, moments",
        (Change(Moments, "bounds", _bounds(lambda many, visits: (many + 3, visits))),),
    ),
    Fault(
        "first M taken over the whole table",
        "who comes first pushes others out",
        _ONE_USER,
        (Change(expression, "ranked", _of_the_table),),
    ),
    Fault(
        "the most popular places kept",
        "one user decides which places others keep",
        _ONE_USER,
        (Change(expression, "ranked", _popular_first),),
    ),
    Fault(
        "ties broken by popularity",
        "the same, where people have several places with equally many visits",
        _ONE_USER,
        (Change(expression, "ranked", _popular_at_ties),),
    ),
    Fault(
        "counted twice where rows are not counted before",
        "in a table of one row a visit, everybody is two",
        _ONE_USER,
        (Change(expression, "pairs", _twice_in_raw_rows),),
    ),
)
