"""Faults in what is counted: shares that are more than one unit, and bounds that one user exceeds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import ibis
import numpy as np

from locentropy.core import share_profile
from locentropy.core.bounds import Bounds
from locentropy.core.share_profile import ShareProfile
from locentropy.mechanisms import survey
from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.shares import measurements
from locentropy.mechanisms.shares.measurements import UNIT, ShareBudget, ShareQueries
from locentropy.visits import expressions, queries
from locentropy.visits.queries import TableQueries
from locentropy_lab.audit.mutation.planting import Change, Fault
from locentropy_lab.audit.subjects import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable


_ENGINE: Final = "cost in the engine, shares"


def _in_two_cells(true: Any) -> Any:
    def cells(histogram: Any, thresholds: Any) -> Any:
        sums = true(histogram, thresholds)
        return sums + np.roll(sums, 1)

    return cells


def _cells_of_the_data(true: Any) -> Any:
    def cells(self: ShareProfile, thresholds: Any) -> Any:
        people = int(self.look.sum()) // self.unit
        return true(self, np.arange(len(thresholds)) + people % 3 + 1)

    return cells


def _more_than_all(true: Any) -> Any:
    def parts(epsilon: Any) -> Any:
        budget = true(epsilon)
        return replace(budget, look=budget.look + budget.split)

    return parts


def _bare_split(true: Any) -> Any:
    def privatize(self: ShareQueries, profile: Any, noise: Any) -> Any:
        return {**true(self, profile, noise), "split": true(self, profile, Recorder())["split"]}

    return privatize


_SHARES: Final = (
    Fault(
        "noise for one of two histograms",
        "a user is in both, and is protected in one",
        _ENGINE,
        (
            Change(
                measurements,
                "laplace_scale",
                lambda true: lambda moved, epsilon: true(UNIT if moved == 2 * UNIT else moved, epsilon),
            ),
        ),
    ),
    Fault(
        "weights of the split not counted",
        "a share that counts thousandfold has the noise of one that counts once",
        _ENGINE,
        (
            Change(
                measurements,
                "laplace_scale",
                lambda true: lambda moved, epsilon: true(min(moved, 2 * UNIT), epsilon),
            ),
        ),
    ),
    Fault(
        "presence not divided",
        "who was in a hundred places counts a hundred times",
        _ENGINE,
        (Change(queries, "share", lambda _: lambda places, unit, largest: np.full_like(places, largest)),),
    ),
    Fault(
        "shares rounded up",
        "seven sevenths are more than one",
        _ENGINE,
        (
            Change(
                queries,
                "share",
                lambda _: (
                    lambda places, unit, largest: np.minimum(np.int64(largest), -(-np.int64(unit) // places))
                ),
            ),
        ),
    ),
    Fault(
        "every row in two cells",
        "a histogram moves twice as far as its noise allows for",
        _ENGINE,
        (Change(share_profile, "_in_cells", _in_two_cells),),
    ),
    Fault(
        "bins from private values",
        "one user moves the edges, and with them everybody",
        _ENGINE,
        (Change(ShareProfile, "presence_by_visits", _cells_of_the_data),),
    ),
    Fault(
        "parts that add up to more than ε",
        "the split is given out, but not taken off the look",
        _ENGINE,
        (Change(ShareBudget, "of", _more_than_all),),
    ),
    Fault(
        "an answer used without its noise",
        "the inference reads exact sums, and publishes what they say",
        "what is published is computed from noisy numbers alone",
        (Change(ShareQueries, "privatize", _bare_split),),
    ),
    Fault(
        "M forgotten in the number of busy places",
        "one user can make M places busy, and is protected as if it were one",
        "cost in the engine, activity",
        (Change(survey, "laplace_scale", lambda true: lambda moved, epsilon: true(1, epsilon)),),
    ),
)


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


_BOUNDS: Final = (
    Fault(
        "M off by one",
        "users keep one place more than the noise is for",
        _ONE_USER,
        (
            Change(
                expressions,
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
                expressions,
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
        (Change(expressions, "ranked", _of_the_table),),
    ),
    Fault(
        "the most popular places kept",
        "one user decides which places others keep",
        _ONE_USER,
        (Change(expressions, "ranked", _popular_first),),
    ),
    Fault(
        "ties broken by popularity",
        "the same, where people have several places with equally many visits",
        _ONE_USER,
        (Change(expressions, "ranked", _popular_at_ties),),
    ),
    Fault(
        "counted twice where rows are not counted before",
        "in a table of one row a visit, everybody is two",
        _ONE_USER,
        (Change(expressions, "pairs", _twice_in_raw_rows),),
    ),
)

_NOBODY: Final = (
    Fault(
        "missing ids counted as one person",
        "all who are written as nan or NULL share one protection, and each of them changes the record of that id",
        "rows without a user id are nobody's",
        (Change(expressions, "no_user_id", lambda _: lambda visits: visits.user.isnull()),),
    ),
)


FAULTS: Final = (*_SHARES, *_BOUNDS, *_NOBODY)
