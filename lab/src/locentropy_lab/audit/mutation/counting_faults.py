"""Faults in what is counted: shares that are more than one unit, and bounds that one user exceeds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import ibis
import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.mechanisms import survey
from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.shares import measurements
from locentropy.mechanisms.shares.budget import ShareBudget
from locentropy.mechanisms.shares.measurements import LOOK, SPLIT, UNIT, Plan, ShareQueries
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy.mechanisms.shares.stages import SPLIT_WEIGHTS
from locentropy.privacy import concentrated
from locentropy.privacy.guarantee import Guarantee, exact
from locentropy.visits import counting, expressions, runs
from locentropy.visits.queries import TableQueries
from locentropy_lab.audit.mutation.planting import Change, Fault

if TYPE_CHECKING:
    from collections.abc import Callable


_ENGINE: Final = "cost in the engine, shares"
_OUTCOMES: Final = "every outcome of Shares is within its guarantee"

_LN_ABOVE: Final = concentrated._ln_above

_SEEN: dict[str, Any] = {}
"""Where a fault keeps an exact look, for a later step to see."""


def _in_two_cells(true: Any) -> Any:
    def presence(self: TableQueries, *asked: Any) -> Any:
        cells = true(self, *asked)
        return cells + np.roll(cells, 1, axis=1)

    return presence


def _kept_look(true: Any) -> Any:
    def look(queries: Any, rule: Any) -> Any:
        found = true(queries, rule)
        if rule.weights != SPLIT_WEIGHTS:  # which is asked of some of the places only
            _SEEN[LOOK] = found
        return found

    return look


def _bands_of_the_data(_: Any) -> Any:
    def bands(self: Plan, name: str) -> Any:
        return np.searchsorted(np.array(self.edges(name), dtype=np.int64), _SEEN[LOOK], side="left")

    return bands


def _levels_of_the_data(true: Any) -> Any:
    def levels(locations: Any) -> Any:
        odd = (_SEEN[LOOK] // UNIT) % 2
        return tuple(replace(each, of_place=odd) for each in true(locations))

    return levels


def _of_everybody(true: Any) -> Any:
    def spread(pairs: Any, weights: Any, *, squares: bool) -> Any:
        total = pairs.group_by("code").aggregate(all_visits=pairs.visits.sum().cast("int64"))
        crowd = pairs.inner_join(total, "code").drop("visits").rename(visits="all_visits")
        return true(crowd, weights, squares=squares)

    return spread


def _returns_forgotten(true: Any) -> Any:
    """A user's unit is divided by what places weigh where the user was once."""

    def spread(runs: Any, weights: Any, *, squares: bool) -> Any:
        return true(runs.mutate(locations=ibis.greatest(runs.once, 1)), weights, squares=squares)

    return spread


def _in_too_few_bits(true: Any) -> Any:
    """A number in which a place is added to the number of the person."""

    def packing(*given: Any, **more: Any) -> Any:
        found = true(*given, **more)
        return found._replace(bits=found.bits - 1)

    return staticmethod(packing)


def _divided(round_to_integer: str) -> Callable[[Any], Any]:
    """Shares that are rounded otherwise than down."""

    def quotient(number: Any, divisor: Any) -> Any:
        ratio = number.cast("float64") / divisor.cast("float64")
        return getattr(ratio, round_to_integer)().cast("int64")

    return lambda _: quotient


def _more_than_all(true: Any) -> Any:
    return property(lambda self: true.fget(self) + self.split)


def _bare_split(true: Any) -> Any:
    def noised(self: ShareQueries, noise: Any, name: str, values: Any) -> Any:
        drawn = true(self, noise, name, values)
        return values if name == SPLIT else drawn

    return noised


_SHARES: Final = (
    Fault(
        "presence not divided",
        "who was in a hundred places counts a hundred times",
        _ENGINE,
        (
            Change(
                expressions,
                "with_shares",
                lambda _: lambda spread, rule: spread.mutate(share=ibis.literal(rule.largest, "int64")),
            ),
        ),
    ),
    Fault(
        "shares rounded up",
        "seven sevenths are more than one",
        _ENGINE,
        (Change(expressions, "quotient", _divided("ceil")),),
    ),
    Fault(
        "shares rounded to nearest",
        "half of the people have more than one unit",
        _OUTCOMES,
        (Change(expressions, "quotient", _divided("round")),),
    ),
    Fault(
        "every row in two cells",
        "a histogram moves twice as far as its noise allows for",
        _ENGINE,
        (Change(TableQueries, "presence", _in_two_cells),),
    ),
    Fault(
        "a weight that looks at others' rows",
        "a newcomer moves the shares of everybody who was there",
        _OUTCOMES,
        (
            Change(expressions, "spread_pairs", _of_everybody),
            Change(expressions, "spread_by_once", _of_everybody),
        ),
    ),
    Fault(
        "places of several visits left out of a user's unit",
        "who returns to a hundred places has a hundred units, where rows are counted in their order",
        _OUTCOMES,
        (Change(expressions, "spread_by_once", _returns_forgotten),),
    ),
    Fault(
        "person and place in too few bits",
        "visits of one person count as another's, and move what others have at their places",
        _OUTCOMES,
        (Change(runs.Packing, "of", _in_too_few_bits),),
    ),
    Fault(
        "bands read off exact looks",
        "one user lifts a place into another band, and with it everybody who was there",
        _OUTCOMES,
        (Change(measurements, "_look", _kept_look), Change(Plan, "bands", _bands_of_the_data)),
    ),
    Fault(
        "an attribute read off visits",
        "one user moves a place to another level, and with it everybody who was there",
        _OUTCOMES,
        (
            Change(measurements, "_look", _kept_look),
            Change(measurements, "public_levels", _levels_of_the_data),
        ),
    ),
    Fault(
        "ℓ₂ weights under Laplace noise",
        "who was in a hundred places counts ten times",
        _ENGINE,
        (Change(ShareQueries, "norm", lambda _: property(lambda self: "l2")),),
    ),
    Fault(
        "sums of ℓ₂ weights by attribute",
        "who was in a hundred cafés counts ten times among cafés",
        _OUTCOMES,
        (Change(ShareQueries, "sums_rule", lambda _: ShareQueries.look_rule),),
    ),
    Fault(
        "ε taken for ρ",
        "there is ten times less noise than (ε, δ) needs",
        _OUTCOMES,
        (Change(measurements, "admissible_rho", lambda _: lambda epsilon, delta: exact(epsilon)),),
    ),
    Fault(
        "δ forgotten",
        "Gaussian noise, which fails now and then, is said never to fail",
        _OUTCOMES,
        (Change(Shares, "guarantee", lambda _: property(lambda self: Guarantee.pure(self.epsilon))),),
    ),
    Fault(
        "ρ rounded towards the spender",
        "a little more is spent than (ε, δ) admits",
        "ρ is what (ε, δ) admits",
        (
            Change(concentrated, "_ln_above", lambda _: concentrated._ln_below),
            Change(concentrated, "_ln_below", lambda _: _LN_ABOVE),
        ),
    ),
    Fault(
        "parts that add up to more than ε",
        "the split is given out, but not taken off the look",
        _ENGINE,
        (Change(ShareBudget, "look", _more_than_all),),
    ),
    Fault(
        "an answer used without its noise",
        "the inference reads exact sums, and publishes what they say",
        "what is published is computed from noisy numbers alone",
        (Change(ShareQueries, "_noised", _bare_split),),
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
    def pairs(there: Any, windows: int = 1) -> Any:
        found = true(there)
        return found if "visits" in there.columns else found.union(found)

    return pairs


def _twice_where_read_off(true: Any) -> Any:
    def count(*given: Any, **more: Any) -> Any:
        pairs = true(*given, **more).pairs
        return runs.CountedPairs(pairs.union(pairs.mutate(user=-1 - pairs.user)))

    return count


def _grouped_after_counting(_: Any) -> Any:
    """Pairs are counted by place, and only then given the code of the group."""

    def pairs(there: Any, windows: int = 1) -> Any:
        counted = there.visits.sum() if "visits" in there.columns else there.count()
        return there.group_by(["user", "code", "location"]).aggregate(visits=counted).drop("location")

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
        (
            Change(expressions, "pairs", _twice_in_raw_rows),
            Change(counting, "count_pairs", _twice_where_read_off),
        ),
    ),
    Fault(
        "places grouped after they are counted",
        "who was at three bars of a district is three visitors of it",
        "one user is one visitor of a group of places",
        (Change(expressions, "pairs", _grouped_after_counting),),
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
