"""Made-up neighbours: crowds of one location, and tables of people of every kind.

Crowds between which entropy moves most are found by search, not by the formulas of the software. In a table, everybody
who is taken out has places of their own, so that what one of them does is not hidden by the others. Ids are whole
numbers, places from 0 up; there are visits to places that are not on the list, and people who do nothing unusual.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from itertools import combinations_with_replacement
from math import log
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from locentropy.core.queries import CachedQueries
from locentropy.visits.engines.base import Resources
from locentropy.visits.queries import open_queries
from locentropy.visits.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from locentropy_lab.audit.subjects import Crowd, Subject

    Integers = NDArray[np.int64]

ALL_SHAPES_UP_TO: Final = 40  # users; beyond, the one odd count does not matter
ALL_COUNTS_UP_TO: Final = 30  # visits; beyond, some of them are tried


def joined(crowd: Crowd, visits: int) -> Crowd:
    """Return the crowd with one more user."""
    return {**crowd, visits: crowd.get(visits, 0) + 1}


def some_users(largest: int, dense: int = 120, sparse: int = 60) -> tuple[int, ...]:
    """Every number up to `dense`, then fewer and fewer up to `largest`."""
    far = np.geomspace(dense, max(largest, dense + 1), sparse).astype(int).tolist()
    return tuple(sorted({*range(dense), *far}))


@cache
def worst(max_visits: int, users: int) -> tuple[Crowd, int]:
    """Return a crowd of m users, and the visits of one more user who moves the entropy furthest.

    The search is among crowds of j users at C, one at x and the rest at 1: sensitivity.md proves that nothing else is
    worse, and `every_crowd` tries all others for small C and m.
    """
    if users == 0:
        return {}, 1
    small = users <= ALL_SHAPES_UP_TO
    full, odd, new = np.meshgrid(
        np.arange(users),
        _counts(max_visits) if small else [1],
        _counts(max_visits) if small else sorted({1, min(2, max_visits), max_visits}),
        indexing="ij",
    )
    rest = users - 1 - full
    total = full * max_visits + odd + rest
    weight = full * max_visits * log(max_visits) + odd * np.log(odd)
    change = (
        np.log(total + new) - (weight + new * np.log(new)) / (total + new) - np.log(total) + weight / total
    )
    at = np.unravel_index(np.argmax(np.abs(change)), change.shape)
    crowd: Crowd = {}
    for visits, many in ((1, rest[at]), (max_visits, full[at]), (odd[at], 1)):
        if many:
            crowd[int(visits)] = crowd.get(int(visits), 0) + int(many)
    return crowd, int(new[at])


def every_crowd(max_visits: int, users: int) -> list[tuple[Crowd, Crowd]]:
    """All neighbours of m and m + 1 users."""
    found = []
    for counts in combinations_with_replacement(range(1, max_visits + 1), users):
        crowd: Crowd = {}
        for count in counts:
            crowd = joined(crowd, count)
        found += [(crowd, joined(crowd, new)) for new in range(1, max_visits + 1)]
    return found


def pairs(max_visits: int, users: tuple[int, ...], *, all_small: bool = True) -> list[tuple[Crowd, Crowd]]:
    """Crowds without and with one more user: the worst of each size, and all of the smallest if asked for."""
    found = [worst(max_visits, m) for m in users]
    small = (1, 2, 3) if all_small and max_visits <= 5 else ()
    every = [pair for m in small for pair in every_crowd(max_visits, m)]
    return [(crowd, joined(crowd, new)) for crowd, new in found] + every


def _counts(max_visits: int) -> Integers:
    if max_visits <= ALL_COUNTS_UP_TO:
        return np.arange(1, max_visits + 1)
    return np.unique(np.geomspace(1, max_visits, ALL_COUNTS_UP_TO).astype(np.int64))


# --- tables -------------------------------------------------------------------------------------------------------

People = dict[int, dict[int, int]]
"""Visits by user and place."""

ONE_THREAD: Final = Resources(threads=1)
UNLISTED: Final = 10_000
"""Places from here on are not on the list."""

_FIRST_GUEST: Final = 1_000_000
"""The lowest id of those who can be taken out."""


def visits_of(people: People, *, row_each: bool = False) -> Visits:
    """Return people as a table of visit counts, or with a row for each visit, which the engine counts otherwise."""
    rows = [(user, place, often) for user, places in people.items() for place, often in places.items()]
    names = ("user", "location", "visits")
    columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)] or [
        pa.array([], pa.int64())
    ] * 3
    table = pa.table(dict(zip(names, columns, strict=True)))
    if row_each:
        table = table.take(np.repeat(np.arange(len(table)), table["visits"].to_numpy())).drop("visits")
    return Visits(table)


@contextmanager
def asked(people: People, listed: int, *, row_each: bool = False) -> Iterator[CachedQueries]:
    """Open queries on people in the engine, at the places 0 to `listed` − 1."""
    visits = visits_of(people, row_each=row_each)
    with open_queries(visits, locations=list(range(listed)), resources=ONE_THREAD) as queries:
        yield CachedQueries(queries)


class Town:
    """A table of people, some of whom can be taken out: the guests, named by what is unusual about them."""

    def __init__(self) -> None:
        self.people: People = {}
        self.guests: dict[str, int] = {}
        self.listed = 0

    def places(self, many: int) -> range:
        """Add this many places."""
        self.listed += many
        return range(self.listed - many, self.listed)

    def crowd(self, place: int, visits: Mapping[int, int]) -> None:
        """Add users who are at one place only: how many of them made how many visits."""
        for often, users in visits.items():
            for _ in range(users):
                self.people[len(self.people)] = {place: often}

    def guest(self, who: str, where: dict[int, int]) -> None:
        """Add a user who can be taken out."""
        self.guests[who] = _FIRST_GUEST + len(self.guests)
        self.people[self.guests[who]] = where

    def without(self, who: str) -> People:
        """Return the people without one guest."""
        return {user: where for user, where in self.people.items() if user != self.guests[who]}


def town(max_locations: int, max_visits: int, busy: int, turns: Sequence[int] = ()) -> Town:
    """Return a town for bounds M and C, with places next to a threshold of `busy` users, and of `turns` users."""
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
    bounds = (
        int(getattr(holder, "max_locations", None) or 2),
        int(getattr(holder, "max_visits", None) or 5),
    )
    return town(*bounds, max(1, busy), turns_of(subject))


def turns_of(subject: Subject) -> tuple[int, ...]:
    """Numbers of users at which a selection is undecided, and from which it is certain; none without a selection."""
    curve = getattr(subject.holder, "curve", None)
    if curve is None:
        return ()
    least, ends = int(getattr(subject.holder, "min_users", 0)), int(curve.certain_from)
    even = int(np.searchsorted(curve.probability(np.arange(ends + 1)), 0.5))
    return least + even, least + ends
