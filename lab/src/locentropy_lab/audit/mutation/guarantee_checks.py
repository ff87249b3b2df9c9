"""Checks of what neighbours cost, and of the counts that bounds rest on.

The costs are those of the audit's own searches and attack, at the default parameters and where faults show best.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.core.locations import Locations, Members
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.paper.limit import Limit
from locentropy.privacy.guarantee import exact
from locentropy.visits.queries import open_queries
from locentropy.visits.visits import Visits
from locentropy_lab.audit.attack_draws import attack_on_draws
from locentropy_lab.audit.mutation.planting import Check, check
from locentropy_lab.audit.neighbours import ONE_THREAD, asked, town
from locentropy_lab.audit.privacy_loss import components, exact_loss
from locentropy_lab.audit.search import crowd_search, table_search
from locentropy_lab.audit.subjects import SELECTION, SURVEY, at_defaults, crowd_queries, law_of, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from locentropy.core.bounds import Keep
    from locentropy.core.visit_profile import VisitProfile
    from locentropy_lab.audit.neighbours import People
    from locentropy_lab.audit.search import Cost
    from locentropy_lab.audit.subjects import Subject


DRAWS: Final = 200_000
"""Enough to tell noise at two thirds of its scale from noise at all of it."""
SURE: Final = 1 - 1e-4
"""A check must not complain by chance."""


def _subjects(name: str) -> list[Subject]:
    """The defaults, and parameters at which nothing hides a fault."""
    found = [at_defaults(name)]
    if name == "limit":  # an entropy that lies next to a lattice point
        found.append(subject_of(name, Limit(epsilon=1.0, max_locations=1, max_visits=15)))
    if name == "limit-ptr":  # where the noise of the values has nothing to spare
        found.append(
            subject_of(
                name, LimitPTR(1.0, delta=1e-8, max_locations=5, max_visits=5, min_users=5000, split=0.3)
            )
        )
    return found


def _beyond_guarantee(subjects: list[Subject], search: Callable[[Subject], Cost]) -> list[str]:
    wrong = []
    for subject in subjects:
        cost = search(subject)
        if subject.guarantee.private and not cost.kept:
            wrong.append(
                f"{subject.name} guarantees ε = {float(subject.guarantee.epsilon or 0):g}, and {cost.worst} costs "
                f"{cost.epsilon:.9g}"
            )
    return wrong


def _crowds(name: str) -> Check:
    return Check(f"cost of crowds, {name}", lambda: _beyond_guarantee(_subjects(name), crowd_search))


def _tables(name: str) -> Check:
    return Check(f"cost in the engine, {name}", lambda: _beyond_guarantee([at_defaults(name)], table_search))


COSTS: Final = (
    *map(_crowds, ("limit", "baseline", "moments", "limit-ss", "limit-ptr", "limit-cb", SELECTION)),
    *map(_tables, ("limit", "moments", "limit-ptr", "shares", SURVEY)),
)


@check("attack on draws, limit")
def attacked() -> list[str]:
    """The lower bound of an attack is no more than the claim."""
    shown = attack_on_draws(at_defaults("limit"), DRAWS, confidence=SURE).attack.epsilon
    return [f"an attack shows ε ≥ {shown:.3g}, and 1 is guaranteed"] if shown > 1.0 else []


@check("selection stops at the threshold")
def threshold() -> list[str]:
    """Up to k users a place is never named, and with one more hardly ever."""
    wrong = []
    for name in ("limit-ptr", SELECTION):
        subject = at_defaults(name)
        least = int(getattr(subject.holder, "min_users", 0))
        crowds = [{1: users} for users in range(max(0, least - 3), least + 2)]
        chances = law_of(subject, crowd_queries(crowds)).chances or ()
        if any(chances[:-1]):
            wrong.append(f"{name} names places of at most {least} users")
        if not 0 < chances[-1] <= exact(subject.holder.delta) / subject.max_locations:
            wrong.append(f"{name} names places of {least + 1} users with a probability above δ/M")
    return wrong


@check("scales and questions are public")
def scales() -> list[str]:
    """How much noise there is, and for how many numbers, does not depend on the data, but in Limit-SS."""
    wrong = []
    for name in ("shares", "moments", "limit", "limit-ptr"):
        subject = at_defaults(name)
        few, many = (law_of(subject, crowd_queries([{1: users}, {2: 2 * users}, {}])) for users in (60, 900))
        same_shape = few.scales.shape == many.scales.shape
        if not same_shape or not np.array_equal(few.scales, many.scales):
            wrong.append(f"the noise of {name} depends on the data")
    return wrong


# --- two records of one person ------------------------------------------------------------------------------------

RECORDS: Final[Mapping[str, Callable[[Subject], tuple[dict[int, int], dict[int, int]]]]] = {
    "limit": lambda subject: _apart(subject, subject.holder.max_visits),
    "moments": lambda subject: _apart(subject, 1),
    # In other places, and in other cells of both histograms.
    "shares": lambda _: ({0: 1000}, dict.fromkeys(range(_APART, 2 * _APART), 16)),
}
"""Two records of one person between which a mechanism loses most."""
_APART: Final = 64


def _apart(subject: Subject, visits: int) -> tuple[dict[int, int], dict[int, int]]:
    many = subject.max_locations
    return dict.fromkeys(range(many), visits), dict.fromkeys(range(_APART, _APART + many), visits)


def replaced_loss(subject: Subject) -> Fraction:
    """The loss, exactly, between two records of one person in a table of one regular per place."""
    regulars: People = {place: {place: 5} for place in range(2 * _APART)}
    laws = []
    for record in RECORDS[subject.name](subject):
        with asked(regulars | {2 * _APART: record}, 2 * _APART) as queries:
            laws.append(law_of(subject, queries))
    loss = exact_loss(components(*laws))
    if loss is None:
        raise AssertionError  # these mechanisms have public scales
    return loss


@check("two records of one person cost what is stated")
def replaced() -> list[str]:
    """Between two records the loss is twice that of one being there or not; the stated bound must say so."""
    wrong = []
    for name in RECORDS:
        subject = at_defaults(name)
        stated, loss = subject.guarantee.for_replaced_record().epsilon, replaced_loss(subject)
        if stated is None or loss > stated:
            wrong.append(
                f"{name} states another ε between two records of one person, and they cost {float(loss):.6g}"
            )
    return wrong


# --- counts -------------------------------------------------------------------------------------------------------

_M, _C = 3, 4
_RULES: Final[tuple[Keep, ...]] = ("most-visited", "first", "lowest-id")


def changes(here: VisitProfile, there: VisitProfile) -> Counter[tuple[int, int]]:
    """By (location, visits), how many more users `here` has; cells that agree are left out."""
    both: Counter[tuple[int, int]] = Counter()
    for sign, profile in ((1, here), (-1, there)):
        rows = zip(profile.index.tolist(), profile.visits.tolist(), profile.users.tolist(), strict=True)
        for at, visits, users in rows:
            both[at, visits] += sign * users
    return Counter({cell: change for cell, change in both.items() if change})


def beyond_one_user(moved: Counter[tuple[int, int]], max_locations: int) -> str | None:
    """Return what is wrong if these changes are more than one new user may cause; None if they are not."""
    if any(change != 1 for change in moved.values()):
        return "the counts of others change"
    if len({place for place, _ in moved}) != len(moved):
        return "the user is counted twice at one place"
    return f"{len(moved)} places change" if len(moved) > max_locations else None


def profiles(
    people: People, listed: int, bounds: Sequence[Bounds], *, counted: bool = True
) -> list[VisitProfile]:
    """Bounded profiles of people in the engine; each place was visited at a time of its own.

    In a table that is not counted there is a row for each visit, at most a hundred, and ids are texts.
    """
    rows = [
        (user, place, often, place * 37 % 101) for user, to in people.items() for place, often in to.items()
    ]
    listing: list[int] | list[str] = list(range(listed))
    columns: dict[str, Any] = dict(
        zip(("user", "location", "visits", "time"), zip(*rows, strict=True), strict=True)
    )
    if not counted:
        often = [min(100, visits) for visits in columns.pop("visits")]
        columns = {name: np.repeat(values, often) for name, values in columns.items()}
        columns = {name: values if name == "time" else values.astype(str) for name, values in columns.items()}
        listing = [str(place) for place in listing]
    with open_queries(Visits(pa.table(columns)), locations=listing, resources=ONE_THREAD) as queries:
        return [queries.profile(each) for each in bounds]


@check("one user moves at most M places, by one user each")
def one_user() -> Iterator[str]:
    """For every rule of which places are kept, people of every kind, and tables that are counted and that are not."""
    made = town(_M, _C, busy=9)
    bounds = [Bounds(_M, _C, keep) for keep in _RULES]
    for counted in (True, False):
        whole = profiles(made.people, made.listed, bounds, counted=counted)
        for who in made.guests:
            others = profiles(made.without(who), made.listed, bounds, counted=counted)
            for with_user, without in zip(whole, others, strict=True):
                if problem := beyond_one_user(changes(with_user, without), _M):
                    yield f"{who}: {problem}"


@check("bounds hold, and only listed places count towards them")
def held() -> list[str]:
    """Nobody has more than C visits, and visits to places that are not listed change nothing."""
    made, bounds = town(_M, _C, busy=9), [Bounds(_M, _C, "most-visited")]
    [whole] = profiles(made.people, made.listed, bounds)
    wrong = ["somebody has more than C visits"] if whole.visits.max() > _C else []
    at_home = {
        user: {place: often for place, often in where.items() if place < made.listed}
        for user, where in made.people.items()
    }
    if not whole.equals(*profiles(at_home, made.listed, bounds)):
        wrong.append("visits to places that are not listed change what is counted")
    return wrong


_IN_GROUP: Final = 3
"""Places of one group."""


@check("one user is one visitor of a group of places")
def one_of_a_group() -> list[str]:
    """Where places are grouped, one user moves at most M groups, by one user each, at however many of their places."""
    made, wrong = town(_M, _C, busy=9), []
    whole = _grouped(made.people, made.listed)
    for who in made.guests:
        problem = beyond_one_user(changes(whole, _grouped(made.without(who), made.listed)), _M)
        if problem:
            wrong.append(f"{who}: {problem}")
    return wrong


def _grouped(people: People, listed: int) -> VisitProfile:
    """The bounded profile of groups of places."""
    places, group = pa.array(range(listed)), np.arange(listed) // _IN_GROUP
    groups = Locations(
        pa.array([f"g{each}" for each in range(group.max() + 1)]), members=Members(places, group)
    )
    rows = [(user, place, often) for user, to in people.items() for place, often in to.items()]
    columns = dict(zip(("user", "location", "visits"), zip(*rows, strict=True), strict=True))
    with open_queries(Visits(pa.table(columns)), locations=groups, resources=ONE_THREAD) as queries:
        return queries.profile(Bounds(_M, _C, "most-visited"))


_NOBODY: Final = ("nan", "NULL", "None", "NA", "n/a", "", " ", " NaN\t", None)
"""What is written where nobody is known."""


@check("rows without a user id are nobody's")
def nobodys() -> list[str]:
    """Each is left out by itself: whoever has no id neither shares one nor changes what is counted of others."""
    known = [("ann", "a"), ("ann", "b"), ("bob", "a")]
    counted = []
    for rows in (known, [*known, *((nobody, place) for nobody in _NOBODY for place in ("a", "b", "c"))]):
        table = pa.table({"user": [user for user, _ in rows], "location": [place for _, place in rows]})
        visits = Visits(table, ids="text")  # whatever counts as an id is not refused
        with open_queries(visits, locations=["a", "b", "c"], resources=ONE_THREAD) as queries:
            counted.append(queries.exact_profile())
    return [] if counted[0].equals(counted[1]) else ["rows without a user id count as those of a person"]
