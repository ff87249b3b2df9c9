"""Checks of what the engine counts: one user moves at most M places, by one user each, and nobody else's counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.visits.queries import open_queries
from locentropy.visits.visits import Visits
from locentropy_lab.audit.mutation.check import check
from locentropy_lab.audit.numerical.tables import ONE_THREAD, town

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.bounds import Keep
    from locentropy.core.visit_profile import VisitProfile
    from locentropy_lab.audit.numerical.tables import People

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
    """What no single user who comes may do to a bounded profile, if these changes show it."""
    if any(change != 1 for change in moved.values()):
        return "the counts of others change"
    if len({place for place, _ in moved}) != len(moved):
        return "the user is counted twice at one place"
    return f"{len(moved)} places change" if len(moved) > max_locations else None


def profiles(
    people: People, listed: int, bounds: Sequence[Bounds], *, counted: bool = True
) -> list[VisitProfile]:
    """Bounded profiles of people in the engine; each place was visited at a time of its own.

    In a table that is not counted there is a row for each visit (a hundred of them, if there are more), and ids are
    texts.
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
def one_user() -> list[str]:
    """By every rule for which places are kept, for people of every kind, in counted tables and in others."""
    made, wrong = town(_M, _C, busy=9), []
    bounds = [Bounds(_M, _C, keep) for keep in _RULES]
    for counted in (True, False):
        whole = profiles(made.people, made.listed, bounds, counted=counted)
        for who in made.guests:
            others = profiles(made.without(who), made.listed, bounds, counted=counted)
            for with_user, without in zip(whole, others, strict=True):
                if problem := beyond_one_user(changes(with_user, without), _M):
                    wrong.append(f"{who}: {problem}")
    return wrong


@check("bounds hold, and only listed places count towards them")
def held() -> list[str]:
    """Nobody has more than C visits, and visits elsewhere are as if they had not been made."""
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
