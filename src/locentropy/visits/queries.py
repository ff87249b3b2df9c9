"""The answers to a mechanism's questions: a table of visits, read and checked once, then queried."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.locations import Locations
from locentropy.core.profile import VisitProfile
from locentropy.visits import expression
from locentropy.visits.checking import check
from locentropy.visits.engines.engine import Resources
from locentropy.visits.ids import comparable, presented

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.queries import Queries
    from locentropy.visits.engines.engine import Engine, Progress
    from locentropy.visits.visits import Visits

DEFAULT_RESOURCES = Resources()


class TableQueries:
    """`Queries` on the visits of an engine: one pass over the rows, then answers from (user, location, visits)."""

    def __init__(self, engine: Engine, visits: Visits, locations: Any | None) -> None:
        self._engine = engine
        wanted = None if locations is None else Locations.of(locations).ids
        check(engine, visits.bad_rows, ids_as_written=visits.ids == "text")
        good = expression.without_bad_rows(engine.visits)
        self._has_time = "time" in good.columns
        if wanted is None:
            source = good
        else:
            as_text = good.location.type().is_string()
            keys = comparable(wanted, as_text=as_text, typed=engine.typed_locations)
            source = engine.upload("listed", pa.table({"location": keys}))
        self._places = engine.keep("places", expression.places(source), "Finding places")
        self._pairs = engine.keep("pairs", expression.pairs(good, self._places), "Counting visits")
        engine.forget_visits()
        coded = engine.run(self._places, "Finding places")
        ids, codes = coded["location"].combine_chunks(), _integers(coded, "code")
        if wanted is None:
            shown = presented(ids, typed=engine.typed_locations)
            order = pc.sort_indices(shown)
            self._locations = shown.take(order)
        else:
            order = pc.index_in(keys, value_set=ids)
            self._locations = wanted
        self._position = np.empty(len(ids), dtype=np.int64)
        """For each code, the position of its location."""
        self._position[codes[order.to_numpy()]] = np.arange(len(ids))

    @property
    def locations(self) -> pa.Array:
        """The locations that are counted, in the order that every answer follows."""
        return self._locations

    def profile(self, bounds: Bounds) -> VisitProfile:
        """How many users made 1, 2, …, C visits to each location, after bounding each user."""
        return self.profiles([bounds])[0]

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """`profile` for several bounds; those that keep locations by one rule share one pass."""
        resolved = [each.resolved(has_time=self._has_time) for each in bounds]
        found: dict[Bounds, VisitProfile] = {}
        for keep in dict.fromkeys(each.keep for each in resolved):
            found |= self._one_pass([each for each in resolved if each.keep == keep])
        return [found[each] for each in resolved]

    def _one_pass(self, bounds: Sequence[Bounds]) -> dict[Bounds, VisitProfile]:
        """Profiles for bounds of one rule: the rows of each step, added up and clipped."""
        keep = bounds[0].keep
        assert keep is not None  # noqa: S101  # resolved by the caller
        steps = sorted({each.max_locations for each in bounds})
        ranked = expression.ranked(self._pairs, self._places, keep)
        counts = expression.bounded_counts(ranked, steps, max(each.max_visits for each in bounds))
        rows = self._engine.run(counts, "Bounding and counting")
        step = _integers(rows, "step")
        return {
            each: self._as_profile(rows.filter(step <= steps.index(each.max_locations)), each)
            for each in bounds
        }

    def exact_profile(self) -> VisitProfile:
        """The profile with nobody bounded."""
        rows = self._engine.run(expression.exact_counts(self._pairs), "Counting")
        return self._as_profile(rows, None)

    def places_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations."""
        rows = self._engine.run(expression.users_by_places(self._pairs), "Counting")
        places, users = _integers(rows, "places"), _integers(rows, "users")
        histogram = np.zeros(int(places.max(initial=0)) + 1, dtype=np.int64)
        histogram[places] = users
        return histogram

    def _as_profile(self, rows: pa.Table, bounds: Bounds | None) -> VisitProfile:
        visits = _integers(rows, "visits")
        if bounds is not None:
            visits = np.minimum(visits, bounds.max_visits)
        index = self._position[_integers(rows, "code")]
        return VisitProfile.from_rows(self._locations, index, visits, _integers(rows, "users"), bounds)


def _integers(rows: pa.Table, name: str) -> NDArray[np.int64]:
    """A column as 64-bit integers, whatever width the engine gives its sums and counts."""
    integers: NDArray[np.int64] = rows[name].cast(pa.int64()).to_numpy()
    return integers


@contextmanager
def open_queries(
    visits: Visits,
    *,
    locations: Any | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> Iterator[Queries]:
    """Read and check the visits, restricted to `locations` if given, and answer queries until closed."""
    from locentropy.visits.engines.ibis import IbisEngine, is_ibis_table

    if is_ibis_table(visits.source):
        engine: Engine = IbisEngine(visits, progress)
    else:
        from locentropy.visits.engines.duckdb import DuckDBEngine

        engine = DuckDBEngine(visits, resources, progress)
    with engine:
        yield TableQueries(engine, visits, locations)


def profile(
    visits: Visits,
    bounds: Bounds,
    *,
    locations: Any | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> VisitProfile:
    """How many users made 1, 2, …, C visits to each location, after bounding each user. Private."""
    with open_queries(visits, locations=locations, resources=resources, progress=progress) as queries:
        return queries.profile(bounds)


def exact_profile(
    visits: Visits,
    *,
    locations: Any | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> VisitProfile:
    """The profile with nobody bounded, as exact entropies need it. Private."""
    with open_queries(visits, locations=locations, resources=resources, progress=progress) as queries:
        return queries.exact_profile()


def profile_of_chunks(
    chunks: Iterable[Visits], bounds: Bounds | None, *, resources: Resources = DEFAULT_RESOURCES
) -> VisitProfile:
    """The profile of visits that come in chunks, under `bounds` (None: nobody bounded). Private.

    Every user must be wholly within one chunk. Memory is bounded by the largest chunk.
    """

    def profile_of(chunk: Visits) -> VisitProfile:
        if bounds is None:
            return exact_profile(chunk, resources=resources)
        return profile(chunk, bounds, resources=resources)

    return VisitProfile.total(map(profile_of, chunks))
