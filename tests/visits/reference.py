"""The profiles in plain Python, written from the definition, to compare the engines with."""

from __future__ import annotations

import math
from collections import Counter
from hashlib import md5
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from locentropy.core.shares import ShareRule
    from locentropy.private import Bounds, VisitProfile


class Row(NamedTuple):
    user: Any
    location: Any
    time: int | None = None
    visits: int = 1


BLANKS = "".join(
    chr(code)
    for code in (
        *(*range(9, 14), *range(0x1C, 0x21), 0x7F, 0x85, 0xA0, 0xAD, 0x1680, 0x180E, *range(0x2000, 0x2010)),
        *(*range(0x2028, 0x2030), *range(0x205F, 0x2070), 0x3000, 0xFEFF),
    )
)
"""Characters that nobody sees."""


def is_missing(user: Any) -> bool:
    """Whether a user id stands for nobody."""
    if not isinstance(user, str):
        return user is None
    return user.strip(BLANKS).lower() in ("", "nan", "null", "none", "na", "n/a")


def pairs(rows: Iterable[Row], listed: set[Any] | None = None) -> dict[Any, dict[Any, tuple[int, Any]]]:
    """For each user, each location's (visits, first time); rows without a user id are left out."""
    record: dict[Any, dict[Any, tuple[int, Any]]] = {}
    for row in rows:
        if not is_missing(row.user) and (listed is None or row.location in listed):
            places = record.setdefault(row.user, {})
            visits, first = places.get(row.location, (0, row.time))
            earliest = None if row.time is None else min(first, row.time)
            places[row.location] = (visits + row.visits, earliest)
    return record


def rank_key(location: Any, visits: int, first: Any, keep: str) -> tuple[Any, ...]:
    tie = md5(str(location).encode()).hexdigest()
    if keep == "first":
        return (first, tie)
    if keep == "most-visited":
        return (-visits, tie)
    return (len(str(location)), str(location).encode())


def profile(
    rows: Iterable[Row], bounds: Bounds | None, listed: set[Any] | None = None
) -> Counter[tuple[Any, int]]:
    """Users by (location, visits)."""
    counts: Counter[tuple[Any, int]] = Counter()
    for places in pairs(rows, listed).values():
        if bounds is None:
            counts.update((location, visits) for location, (visits, _) in places.items())
            continue
        assert bounds.keep is not None
        order = sorted(places, key=lambda at: rank_key(at, *places[at], bounds.keep))
        kept = order[: bounds.max_locations]
        counts.update((at, min(places[at][0], bounds.max_visits)) for at in kept)
    return counts


def as_counter(profile: VisitProfile) -> Counter[tuple[Any, int]]:
    table = profile.to_arrow().to_pydict()
    keys = list(zip(table["location"], table["visits"], strict=True))
    assert len(set(keys)) == len(keys)
    return Counter(dict(zip(keys, table["users"], strict=True)))


def places_histogram(rows: Iterable[Row]) -> list[int]:
    """How many users were at exactly 0, 1, 2, … places."""
    sizes = Counter(len(places) for places in pairs(rows).values())
    return [sizes[size] for size in range(max(sizes) + 1)]


def weight(rule: ShareRule, visits: int) -> int:
    """What visits weigh."""
    return rule.weights[min(visits, len(rule.weights)) - 1]


def shares(visited: dict[Any, tuple[int, Any]], rule: ShareRule) -> dict[Any, int]:
    """The share of one user at each of their places."""
    weights = {at: weight(rule, visits) for at, (visits, _) in visited.items()}
    if rule.norm == "l1":
        whole = sum(weights.values())
    else:
        squares = sum(each * each for each in weights.values())
        whole = math.isqrt(squares)
        whole += whole * whole < squares
    return {at: min(rule.largest, rule.unit * each // whole) if whole else 0 for at, each in weights.items()}


def look(rows: Iterable[Row], rule: ShareRule, listed: Sequence[Any]) -> list[int]:
    """The presence at each place of a list."""
    found: Counter[Any] = Counter()
    for visited in pairs(rows, set(listed)).values():
        found.update(shares(visited, rule))
    return [found[at] for at in listed]


def presence(
    rows: Iterable[Row],
    rule: ShareRule,
    listed: Sequence[Any],
    bands: Sequence[int],
    places: Sequence[int],
    visits: Sequence[int],
) -> list[list[list[int]]]:
    """All presence by band, number of places, and visits."""
    band = dict(zip(listed, bands, strict=True))
    cells = [[[0] * (len(visits) + 1) for _ in range(len(places) + 1)] for _ in range(max(bands) + 1)]
    for visited in pairs(rows, set(listed)).values():
        many = sum(len(visited) >= edge for edge in places)
        for at, share in shares(visited, rule).items():
            often = sum(visited[at][0] >= edge for edge in visits)
            cells[band[at]][many][often] += share
    return cells
