"""What holds exact counts prints none of them: a repr ends up in logs, notebooks and tracebacks."""

from __future__ import annotations

import re

import pyarrow as pa

import locentropy as le
from locentropy.core.queries import CachedQueries

# 7 users at "a", 23 visits there, 13 of them by one user; no such number in "2 locations".
ROWS = pa.table(
    {"user": [f"u{n}" for n in (*range(7), 0)], "location": ["a"] * 8, "visits": [4, 3, 1, 1, 1, 2, 2, 9]}
)
BOUNDS = le.private.Bounds(max_locations=5, max_visits=9)


def test_profiles_and_queries_print_no_counts() -> None:
    with le.private.open_queries(le.Visits(ROWS), locations=["a", "b"]) as queries:
        cached = CachedQueries(queries)
        shown = {
            name: f"{thing!r} {thing!s}"
            for name, thing in {
                "bounded": queries.profile(BOUNDS),
                "exact": queries.exact_profile(),
                "queries": queries,
                "restricted": queries.restricted_to(le.mechanisms.Locations.of(["a", "b"])),
                "cached": cached,
                "profile of the cache": cached.profile(BOUNDS),
            }.items()
        }
    for name, text in shown.items():
        assert re.findall(r"\d+", text) == ["2", "2"], f"{name}: {text}"
        assert "(private)" in text
    assert shown["exact"].startswith("<VisitProfile of 2 locations (private)>")
