"""People of every kind in a real table, and what the noise is asked about it with and without each of them.

Everybody who is taken out has places of their own, so that what one of them does is not hidden by the others. Ids are
whole numbers, places from 0 up; there are visits to places that are not on the list, and people who do nothing odd.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from locentropy.core.queries import CachedQueries
from locentropy.visits.engines.base import Resources
from locentropy.visits.queries import open_queries
from locentropy.visits.visits import Visits
from locentropy_lab.audit.numerical.loss import Component, components
from locentropy_lab.audit.recording import law_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from locentropy_lab.audit.subjects import Subject

People = dict[int, dict[int, int]]
"""Who was where how often."""

ONE_THREAD: Final = Resources(threads=1)
UNLISTED: Final = 10_000
"""Places from here on are not on the list."""

_FIRST_GUEST: Final = 1_000_000
"""Ids of the people who come and go."""


def visits_of(people: People) -> Visits:
    """A table of visits, counted."""
    rows = [(user, place, often) for user, places in people.items() for place, often in places.items()]
    names = ("user", "location", "visits")
    columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)] or [
        pa.array([], pa.int64())
    ] * 3
    return Visits(pa.table(dict(zip(names, columns, strict=True))))


@contextmanager
def asked(people: People, listed: int) -> Iterator[CachedQueries]:
    """Queries about people in the engine, at the places 0 up to `listed`."""
    with open_queries(visits_of(people), locations=list(range(listed)), resources=ONE_THREAD) as queries:
        yield CachedQueries(queries)


class Town:
    """A table, and the people in it who can be taken out, by what is odd about them."""

    def __init__(self) -> None:
        self.people: People = {}
        self.guests: dict[str, int] = {}
        self.listed = 0

    def places(self, many: int) -> range:
        """New places."""
        self.listed += many
        return range(self.listed - many, self.listed)

    def crowd(self, place: int, visits: Mapping[int, int]) -> None:
        """Users who are at one place and nowhere else: how many made so many visits."""
        for often, users in visits.items():
            for _ in range(users):
                self.people[len(self.people)] = {place: often}

    def guest(self, who: str, where: dict[int, int]) -> None:
        """Somebody who comes and goes."""
        self.guests[who] = _FIRST_GUEST + len(self.guests)
        self.people[self.guests[who]] = where

    def without(self, who: str) -> People:
        """The table without one of them."""
        return {user: where for user, where in self.people.items() if user != self.guests[who]}


def town(max_locations: int, max_visits: int, busy: int, turns: Sequence[int] = ()) -> Town:
    """A town for bounds M and C, with places next to a threshold of so many users, and where a selection turns."""
    made = Town()
    wide = max_locations + 3
    alone = made.places(wide)
    for place in alone:
        made.crowd(place, {max_visits + 4: 1})
    made.guest(
        f"a user with many visits in {wide} places of one user each", dict.fromkeys(alone, max_visits + 4)
    )
    fresh = made.places(wide)
    made.guest(f"a user who is alone in {wide} places", dict.fromkeys(fresh, 1))
    crowded = made.places(1)[0]
    made.crowd(crowded, {1: 60})
    made.guest("a user with 100,000 visits to a place of 60 users with one visit each", {crowded: 100_000})
    lonely = made.places(1)[0]
    made.guest("a user with one visit to one place, where nobody else was", {lonely: 1})
    edge = made.places(max_locations)
    for place in edge:
        made.crowd(place, {1: busy})
    made.guest(f"a user in {max_locations} places of {busy} users each", dict.fromkeys(edge, 1))
    for users in turns:
        likely = made.places(3 * max_locations)
        for first in range(0, len(likely), max_locations):
            for _ in range(users):
                made.people[len(made.people)] = dict.fromkeys(likely[first : first + max_locations], 1)
        made.guest(f"a user in {len(likely)} places of {users} users each", dict.fromkeys(likely, 1))
    heavy = made.places(1)[0]
    for visits in (2, 3, 9, 16):
        made.guest(f"a user with {visits} visits to one place", {heavy: visits})
    traps = made.places(2 * wide)
    made.guest(f"a user with equally many visits in {2 * wide} places", dict.fromkeys(traps, 2))
    # Alike but for this one user: a rule that looks at other people's visits would choose by whether they are there.
    made.guest(f"a user who makes half of {2 * wide} places livelier", dict.fromkeys(traps[1::2], 1))
    for many in (7, 64):
        made.guest(f"a user with 16 visits in each of {many} places", dict.fromkeys(made.places(many), 16))
    outside = made.places(2)
    elsewhere = dict.fromkeys(range(UNLISTED, UNLISTED + 50), 3)
    made.guest(
        "a user with 50 places that are not listed and 2 that are", {**elsewhere, **dict.fromkeys(outside, 1)}
    )
    for _ in range(6):  # people who are at more places than are kept, next to those who come and go
        made.people[len(made.people)] = dict.fromkeys(traps, 2)
    return made


def town_of(subject: Subject) -> Town:
    """A town for the bounds of a mechanism."""
    holder = subject.holder
    busy = int(getattr(holder, "busy_users", getattr(holder, "min_users", 2) or 2)) - 1
    bounds = int(getattr(holder, "max_locations", 2)), int(getattr(holder, "max_visits", 5))
    return town(*bounds, max(1, busy), turns_of(subject))


def turns_of(subject: Subject) -> tuple[int, ...]:
    """Numbers of users with which a selection is undecided, and from which it is certain, if there is one."""
    curve = getattr(subject.holder, "curve", None)
    if curve is None:
        return ()
    least, ends = int(getattr(subject.holder, "min_users", 0)), int(curve.certain_from)
    even = int(np.searchsorted(curve.probability(np.arange(ends + 1)), 0.5))
    return least + even, least + ends


def table_losses(subject: Subject) -> dict[str, list[Component] | None]:
    """For each of those who come and go, where the laws with and without them differ; None: in their very shape."""
    made = town_of(subject)
    with asked(made.people, made.listed) as queries:
        whole = law_of(subject, queries)
    found: dict[str, list[Component] | None] = {}
    for who in made.guests:
        with asked(made.without(who), made.listed) as queries:
            found[who] = components(whole, law_of(subject, queries))
    return found
