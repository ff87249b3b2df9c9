"""Neighbours between which entropy moves most, found by search and not by the package's formulas."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import log
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy_lab.audit.recording import Crowd

    Integers = NDArray[np.int64]

ALL_SHAPES_UP_TO: Final = 40  # users; beyond, the one odd count does not matter
ALL_COUNTS_UP_TO: Final = 30  # visits; beyond, some of them are tried


def joined(crowd: Crowd, visits: int) -> Crowd:
    """The crowd and one more user."""
    return {**crowd, visits: crowd.get(visits, 0) + 1}


def some_users(largest: int, dense: int = 120, sparse: int = 60) -> tuple[int, ...]:
    """Every number up to `dense`, then ever fewer up to `largest`."""
    far = np.geomspace(dense, max(largest, dense + 1), sparse).astype(int).tolist()
    return tuple(sorted({*range(dense), *far}))


@cache
def worst(max_visits: int, users: int) -> tuple[Crowd, int]:
    """A crowd of m users and the visits of one more whose coming moves the entropy furthest.

    Looked for among crowds of j users at C, one at x and the rest at 1: sensitivity.md proves that nothing else is
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
    """The crowds without and with one more user: the worst of each size, and perhaps all of the smallest."""
    found = [worst(max_visits, m) for m in users]
    small = (1, 2, 3) if all_small and max_visits <= 5 else ()
    every = [pair for m in small for pair in every_crowd(max_visits, m)]
    return [(crowd, joined(crowd, new)) for crowd, new in found] + every


def _counts(max_visits: int) -> Integers:
    if max_visits <= ALL_COUNTS_UP_TO:
        return np.arange(1, max_visits + 1)
    return np.unique(np.geomspace(1, max_visits, ALL_COUNTS_UP_TO).astype(np.int64))
