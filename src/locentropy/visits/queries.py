"""Queries on a table of visits: it is read and checked once, and then answers integer questions."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Cells, Locations
from locentropy.core.shares import check_bands, check_thresholds
from locentropy.core.visit_profile import VisitProfile
from locentropy.visits import expressions as expression
from locentropy.visits.column_types import id_ranks
from locentropy.visits.columns import BY_COORDINATES, BY_ID
from locentropy.visits.counting import Counted, codes_of, count_visits, found_codes, group_keys, integers
from locentropy.visits.engines.base import Resources, engine_for
from locentropy.visits.rows import READING_LOG
from locentropy.visits.runs import CountedPairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import ibis
    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.queries import Queries
    from locentropy.core.shares import ShareRule
    from locentropy.core.windows import Window
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Engine, Progress
    from locentropy.visits.visits import Visits

DEFAULT_RESOURCES = Resources()
_NUMBERS: Final = count()


@contextmanager
def open_queries(
    visits: Visits,
    *,
    locations: Any | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
    refuse_empty: bool = True,
    first_times: bool = True,
    windows: Sequence[Window] = (),
) -> Iterator[Queries]:
    """Read and check a table of visits, and answer queries on it until closed. Answers are exact and private.

    Parameters
    ----------
    visits
        The table.
    locations
        The locations to count: a list of ids, `Locations` (of places, or of groups of places), or a grid (`Cells`).
        Visits elsewhere are left out before anything is counted. None counts every location that was visited.
    resources
        The engine, and the memory and threads it may use.
    progress
        Called now and then with what is being done and which part of it is done.
    when_open
        Called with the column of each role, before anything is counted.
    refuse_empty
        Whether a table without a row that can be used is an error. If False, every count is 0, and the private log
        says why: one person's rows then do not decide whether there is an answer.
    first_times
        Whether to keep when each user was first at each location, which `Bounds` may need. A date without a time of
        day is then a bad row. Without it times are checked all the same, and counting takes less time and memory.
    windows
        Count pairs of a location and one of these windows, in place of locations: see `core.window_split`. They have
        no instant in common, and `locations` is needed.

    Returns
    -------
    A context manager that gives the `Queries`.

    Raises
    ------
    SourceError
        The table cannot be found or read.
    ColumnError
        A column is missing, ambiguous, or of a type that does not fit its role.
    BadRowsError
        Rows break a rule and `visits.bad_rows` is "fail".
    """
    wanted = locations if locations is None or isinstance(locations, Cells) else Locations.of(locations)
    if windows and (wanted is None or visits.window is None):
        raise ParameterError("Windows cut a span of time and a list of locations: both must be given.")
    required = visits.required_with(BY_COORDINATES if isinstance(wanted, Cells) else BY_ID)
    with engine_for(visits, required, resources, progress) as engine:
        if engine.described:
            READING_LOG.info("Visits: %s", engine.described)
        when_open(engine.columns)
        yield TableQueries(
            engine,
            count_visits(
                engine, visits, wanted, refuse_empty=refuse_empty, first_times=first_times, windows=windows
            ),
        )


def profile(
    visits: Visits,
    bounds: Bounds,
    *,
    locations: Any | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> VisitProfile:
    """Count how many users made 1, 2, …, C visits to each location, after bounding each user. Private.

    Parameters
    ----------
    visits
        The table.
    bounds
        The most locations, and the most visits to each, that count of one user.
    locations, resources, progress
        As for `open_queries`.

    Returns
    -------
    VisitProfile
        Exact counts: only a mechanism may turn them into something to publish.

    Raises
    ------
    LocentropyError
        As for `open_queries`; ColumnError also if `bounds.keep` is "first" and the table has no times.
    """
    with open_queries(
        visits,
        locations=locations,
        resources=resources,
        progress=progress,
        first_times=bounds.may_need_times,
    ) as queries:
        return queries.profile(bounds)


def exact_profile(
    visits: Visits,
    *,
    locations: Any | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> VisitProfile:
    """Count how many users made 1, 2, 3, … visits to each location, without bounds. Private.

    Parameters
    ----------
    visits
        The table.
    locations, resources, progress
        As for `open_queries`.

    Returns
    -------
    VisitProfile
        Exact counts, which one user can change without limit. Its `entropy` is the exact entropy.

    Raises
    ------
    LocentropyError
        As for `open_queries`.
    """
    with open_queries(
        visits, locations=locations, resources=resources, progress=progress, first_times=False
    ) as queries:
        return queries.exact_profile()


def profile_of_chunks(
    chunks: Iterable[Visits], bounds: Bounds | None, *, resources: Resources = DEFAULT_RESOURCES
) -> VisitProfile:
    """The profile of visits that come in chunks, under `bounds` (None: without bounds). Private.

    All rows of a user must be in one chunk. Memory is bounded by the largest chunk.
    """

    def profile_of(chunk: Visits) -> VisitProfile:
        if bounds is None:
            return exact_profile(chunk, resources=resources)
        return profile(chunk, bounds, resources=resources)

    return VisitProfile.total(map(profile_of, chunks))


class TableQueries:
    """`Queries` on an engine: the visits were read once, and answers come from (user, location, visits)."""

    def __init__(self, engine: Engine, counted: Counted, *, for_one_question: bool = False) -> None:
        self._engine = engine
        self._coded, (self._pairs, self._runs), self._locations, self._codes = counted
        codes = self._codes
        self._position = np.full(int(codes.max(initial=-1)) + 1, -1)
        """The position of the location of each code."""
        self._position[codes] = np.arange(len(codes))
        self._for_one_question = for_one_question
        """Whether they were restricted, which may be for a single question."""
        self._spreads: dict[_SpreadKind, ibis.Table] = {}
        """Each pair with what its user's rows add up to, by weights and whether squares are added up."""
        self._stored: set[_SpreadKind] = set()
        """Which of these are stored in the engine."""

    def __repr__(self) -> str:
        """The number of locations, and no answer."""
        return f"<TableQueries on {len(self._locations):,} locations (private)>"

    @property
    def locations(self) -> pa.Array:
        """The locations that are counted, in the order of every answer."""
        return self._locations

    def restricted_to(self, locations: Locations) -> TableQueries:
        """The same queries about some of the locations only, or groups of them, as if no other visit had been made."""
        codes = self._codes_of(locations.place_ids)
        if locations.members is not None:
            return self._grouped(locations, codes)
        kept = self._engine.upload("kept", pa.table({"code": pa.array(codes, pa.int32())}))
        there = self._pairs.semi_join(kept, "code")
        counted = Counted(self._coded, CountedPairs(there), locations.ids, codes)
        return TableQueries(self._engine, counted, for_one_question=True)

    def _codes_of(self, ids: pa.Array) -> NDArray[np.int64]:
        """The code of each of some locations; ParameterError unless all are counted."""
        counted = self._locations
        if ids.type != counted.type:  # as whole numbers that were read as texts
            ids, counted = ids.cast(pa.string()), counted.cast(pa.string())
        at = pc.index_in(ids, value_set=counted)
        if at.null_count:
            raise ParameterError("Queries can be restricted only to locations that they already count.")
        codes: NDArray[np.int64] = self._codes[at.to_numpy()]
        return codes

    def _grouped(self, groups: Locations, codes: NDArray[np.int64]) -> TableQueries:
        """The same visits by group; `codes` has the code of each member. Pairs are those of visits read by group."""
        assert groups.members is not None  # noqa: S101  # asked by the caller
        keys = group_keys(groups.ids)
        number = next(_NUMBERS)  # several levels, on the same engine, have their own tables
        coding = expression.coded_locations(self._engine.upload("listed", pa.table({"location": keys})))
        coded = found_codes(self._engine, coding)
        group_codes = codes_of(keys, coded)
        members = {
            "code": pa.array(codes, pa.int32()),
            "group": pa.array(group_codes[groups.members.group], pa.int32()),
        }
        grouped = expression.pairs_by_group(self._pairs, self._engine.upload("members", pa.table(members)))
        pairs = CountedPairs(self._engine.materialize(f"pairs_{number}", grouped, "Counting visits"))
        return TableQueries(self._engine, Counted(coded, pairs, groups.ids, group_codes))

    def profile(self, bounds: Bounds) -> VisitProfile:
        """How many users made 1, 2, …, C visits to each location, after bounding each user."""
        return self.profiles([bounds])[0]

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """`profile` for several bounds; bounds with the same `keep` share one pass over the data."""
        has_time = "time" in self._engine.visits.columns
        resolved = [each.resolved(has_time=has_time) for each in bounds]
        if "first" not in self._pairs.columns and any(each.keep == "first" for each in resolved):
            raise ParameterError(
                "The queries were opened without first times, which bounds need. For example: "
                "open_queries(visits, first_times=True)"
            )
        found: dict[Bounds, VisitProfile] = {}
        for keep in dict.fromkeys(each.keep for each in resolved):
            found |= self._one_pass([each for each in resolved if each.keep == keep])
        return [found[each] for each in resolved]

    def exact_profile(self) -> VisitProfile:
        """The profile without bounds."""
        rows = self._engine.run(expression.exact_counts(self._pairs), "Counting")
        return self._as_profile(rows, None)

    def locations_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations."""
        rows = self._engine.run(expression.users_by_locations(self._pairs), "Counting")
        locations, users = integers(rows, "locations"), integers(rows, "users")
        histogram = np.zeros(int(locations.max(initial=0)) + 1, dtype=np.int64)
        histogram[locations] = users
        return histogram

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their largest number of visits to one location: the numbers, ascending, and the users."""
        rows = self._engine.run(expression.users_by_largest_visits(self._pairs), "Counting")
        visits, users = integers(rows, "visits"), integers(rows, "users")
        order = np.argsort(visits)  # without repeats, so there is one order
        return visits[order], users[order]

    def look(self, rule: ShareRule) -> NDArray[np.int64]:
        """The presence at each location: the sum of the shares that its users have there by the rule."""
        if 0 in rule.weights:
            # A row that weighs nothing has no share and adds nothing to its user's sums: the others are enough.
            weighing = expression.weighing(self._pairs, rule.weights)
            spread = _spread(weighing, _SpreadKind.of(rule))
        else:
            spread = self._spread(rule)
        shared = expression.with_shares(spread, rule)
        rows = self._engine.run(expression.presence_by_location(shared), "Sharing and counting")
        sums = np.zeros(len(self._locations), dtype=np.int64)
        sums[self._position[integers(rows, "code")]] = integers(rows, "presence")
        return sums

    def presence(
        self, rule: ShareRule, bands: NDArray[np.int64], places: Sequence[int], visits: Sequence[int]
    ) -> NDArray[np.int64]:
        """All presence in cells: by band of the location, number of the user's locations, and visits of the row."""
        count = check_bands(bands, len(self._locations))
        check_thresholds("places", places)
        check_thresholds("visits", visits)
        banded = pa.table({"code": pa.array(self._codes, pa.int32()), "band": pa.array(bands, pa.int64())})
        uploaded = self._engine.upload("bands", banded)
        cells = expression.presence_by_cell(self._spread(rule), rule, uploaded, places, visits)
        rows = self._engine.run(cells, "Sharing and counting")
        sums = np.zeros((count, len(places) + 1, len(visits) + 1), dtype=np.int64)
        at = tuple(integers(rows, name) for name in ("band", "place_cell", "visit_cell"))
        sums[at] = integers(rows, "presence")
        return sums

    def _spread(self, rule: ShareRule) -> ibis.Table:
        """Each pair with what its user's rows add up to.

        That is stored, and then serves every rule with these weights, and equal shares. Of restricted queries it is
        stored when it is needed a second time: a single question leaves nothing behind.
        """
        if self._runs is not None and len(rule.weights) <= 2:
            return expression.spread_by_once(self._runs, rule.weights, squares=_SpreadKind.of(rule).squares)
        kind = next((each for each in self._spreads if each.serves(rule)), _SpreadKind.of(rule))
        known = kind in self._spreads
        if not known:
            self._spreads[kind] = _spread(self._pairs, kind)
        if kind not in self._stored and (known or not self._for_one_question):
            name = f"spread_{next(_NUMBERS)}"  # restricted queries, on the same engine, have their own
            self._spreads[kind] = self._engine.materialize(name, self._spreads[kind], "Counting places")
            self._stored.add(kind)
        return self._spreads[kind]

    def _one_pass(self, bounds: Sequence[Bounds]) -> dict[Bounds, VisitProfile]:
        """Profiles for bounds with the same `keep`: the rows of each step, added up and clipped."""
        keep = bounds[0].keep
        assert keep is not None  # noqa: S101  # resolved by the caller
        steps = sorted({each.max_locations for each in bounds})
        by_id = self._by_id() if keep == "lowest-id" else None
        ranked = expression.ranked(self._pairs, keep, by_id)
        counts = expression.bounded_counts(ranked, steps, max(each.max_visits for each in bounds))
        rows = self._engine.run(counts, "Bounding and counting")
        step = integers(rows, "step")
        return {
            each: self._as_profile(rows.filter(step <= steps.index(each.max_locations)), each)
            for each in bounds
        }

    def _by_id(self) -> ibis.Table:
        ids = self._coded["location"].combine_chunks()
        return self._engine.upload("by_id", pa.table({"code": self._coded["code"], "by_id": id_ranks(ids)}))

    def _as_profile(self, rows: pa.Table, bounds: Bounds | None) -> VisitProfile:
        visits = integers(rows, "visits")
        if bounds is not None:
            visits = np.minimum(visits, bounds.max_visits)
        index = self._position[integers(rows, "code")]
        return VisitProfile.from_rows(self._locations, index, visits, integers(rows, "users"), bounds)


class _SpreadKind(NamedTuple):
    """What is added up of a user's rows."""

    weights: tuple[int, ...]
    """The weights of 1, 2, … visits."""
    squares: bool
    """Whether squares of weights are added up as well."""

    @classmethod
    def of(cls, rule: ShareRule) -> _SpreadKind:
        """The least that a rule needs."""
        return cls(rule.weights, squares=rule.norm == "l2" and not rule.equal)

    def serves(self, rule: ShareRule) -> bool:
        """Whether it has what a rule needs: equal shares need no weights, only the number of locations."""
        needed = _SpreadKind.of(rule)
        return rule.equal or (self.weights == needed.weights and self.squares >= needed.squares)


def _spread(pairs: ibis.Table, kind: _SpreadKind) -> ibis.Table:
    return expression.spread_pairs(pairs, kind.weights, squares=kind.squares)
