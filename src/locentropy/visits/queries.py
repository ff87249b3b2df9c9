"""Queries on a table of visits: it is read and checked once, and then answers integer questions."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Cells, Locations, SquareCells
from locentropy.core.shares import check_bands, check_thresholds
from locentropy.core.visit_profile import VisitProfile
from locentropy.core.window_split import pair_ids
from locentropy.visits import expressions as expression
from locentropy.visits.checks import check
from locentropy.visits.column_types import id_ranks, restore_id_type, to_engine_type
from locentropy.visits.columns import BY_COORDINATES, BY_ID
from locentropy.visits.engines.base import Resources, engine_for
from locentropy.visits.rows import READING_LOG
from locentropy.visits.time_windows import during, in_one_of

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
        Whether to keep when each user was first at each location, which `Bounds` may need. Without it times are
        checked all the same, and counting takes less time and memory.
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
        yield TableQueries.read(
            engine, visits, wanted, refuse_empty=refuse_empty, first_times=first_times, windows=windows
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
    with open_queries(visits, locations=locations, resources=resources, progress=progress) as queries:
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
    with open_queries(visits, locations=locations, resources=resources, progress=progress) as queries:
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

    def __init__(
        self,
        engine: Engine,
        coded: pa.Table,
        pairs: ibis.Table,
        locations: pa.Array,
        codes: NDArray[np.int64],
        *,
        for_one_question: bool = False,
    ) -> None:
        self._engine = engine
        self._coded = coded
        """Each location in the engine's type, and its code."""
        self._pairs = pairs
        self._locations = locations
        self._codes = codes
        """The code of each location."""
        self._position = np.full(int(codes.max(initial=-1)) + 1, -1)
        """The position of the location of each code."""
        self._position[codes] = np.arange(len(codes))
        self._for_one_question = for_one_question
        """Whether they were restricted, which may be for a single question."""
        self._spreads: dict[_SpreadKind, ibis.Table] = {}
        """Each pair with what its user's rows add up to, by weights and whether squares are added up."""
        self._stored: set[_SpreadKind] = set()
        """Which of these are stored in the engine."""

    @classmethod
    def read(
        cls,
        engine: Engine,
        visits: Visits,
        wanted: Locations | Cells | None,
        *,
        refuse_empty: bool = True,
        first_times: bool = True,
        windows: Sequence[Window] = (),
    ) -> TableQueries:
        """Check the visits, and count them at the wanted locations (None: at every location visited)."""
        if windows:
            engine.keep_only(in_one_of(engine, windows, visits.time_type))
        elif visits.window is not None:
            engine.keep_only(during(engine, visits.window, visits.time_type))
        good = check(
            engine,
            visits.bad_rows,
            visits.missing_ids,
            ids_as_written=visits.ids == "text",
            refuse_empty=refuse_empty,
            window=visits.window,
        )
        if not first_times and "time" in good.columns:
            good = good.drop("time")
        if isinstance(wanted, Cells):
            return cls._read_in_cells(engine, good, wanted, windows)
        listed = good
        if wanted is not None:
            as_text = good.location.type().is_string()
            typed = engine.typed_locations and visits.ids != "text"
            places = to_engine_type(wanted.place_ids, as_text=as_text, typed=typed)
            keys = places if wanted.members is None else _group_keys(wanted.ids)
            listed = engine.upload("listed", pa.table({"location": keys}))
        coding = engine.materialize("locations", expression.coded_locations(listed), "Finding places")
        there = coding
        if wanted is not None and wanted.members is not None:
            members = pa.table({"location": places, "group": keys.take(pa.array(wanted.members.group))})
            there = expression.coded_members(engine.upload("members", members), coding)
        counted = expression.pairs(good, there, len(windows))
        pairs = engine.materialize("pairs", counted, "Counting visits")
        engine.free_source()
        coded = engine.run(coding, "Finding places").combine_chunks()
        ids, codes = coded["location"].combine_chunks(), _integers(coded, "code")
        if wanted is None:
            found = restore_id_type(ids, typed=engine.typed_locations)
            order = pc.sort_indices(found)
            return cls(engine, coded, pairs, found.take(order), codes[order.to_numpy()])
        return cls._of_list(
            engine, coded, pairs, wanted.ids, codes[pc.index_in(keys, value_set=ids).to_numpy()], windows
        )

    @classmethod
    def _of_list(
        cls,
        engine: Engine,
        coded: pa.Table,
        pairs: ibis.Table,
        ids: pa.Array,
        codes: NDArray[np.int64],
        windows: Sequence[Window],
    ) -> TableQueries:
        """Queries about a list; with windows, about its pairs with these, coded as by `expression.pairs`."""
        if not windows:
            return cls(engine, coded, pairs, ids, codes)
        every = [expression.code_in(codes, at, len(windows)) for at in range(len(windows))]
        paired, numbers = pair_ids(ids, windows), np.concatenate(every)
        by_code = {"location": paired, "code": pa.array(numbers, pa.int32())}
        return cls(engine, pa.table(by_code), pairs, paired, numbers)

    @classmethod
    def _read_in_cells(
        cls, engine: Engine, good: ibis.Table, cells: Cells, windows: Sequence[Window] = ()
    ) -> TableQueries:
        """Count visits by their coordinates. They are joined by number; codes follow the ids, as everywhere."""
        wanted = cells.locations()
        keys = to_engine_type(wanted.ids, as_text=pa.types.is_string(wanted.ids.type), typed=True)
        listed = engine.upload("listed", pa.table({"location": keys}))
        coding = expression.coded_locations(listed)
        coded = engine.run(coding, "Finding places").combine_chunks()
        at = pc.index_in(keys, value_set=coded["location"].combine_chunks()).to_numpy()
        codes = _integers(coded, "code")[at]
        # `locate` names a square by its number in the box, and any other location by its position.
        numbers = cells.numbers() if isinstance(cells, SquareCells) else np.arange(len(keys))
        by_number = {"location": pa.array(numbers), "code": pa.array(codes, pa.int32())}
        numbered = engine.upload("numbered", pa.table(by_number))
        located = engine.locate(good, cells)
        counted = expression.pairs(located, numbered, len(windows))
        pairs = engine.materialize("pairs", counted, "Counting visits")
        engine.free_source()
        return cls._of_list(engine, coded, pairs, wanted.ids, codes, windows)

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
        return TableQueries(self._engine, self._coded, there, locations.ids, codes, for_one_question=True)

    def _codes_of(self, ids: pa.Array) -> NDArray[np.int64]:
        """The code of each of some locations; ParameterError unless all are counted."""
        at = pc.index_in(ids.cast(pa.string()), value_set=self._locations.cast(pa.string()))
        if at.null_count:
            raise ParameterError("Queries can be restricted only to locations that they already count.")
        codes: NDArray[np.int64] = self._codes[at.to_numpy()]
        return codes

    def _grouped(self, groups: Locations, codes: NDArray[np.int64]) -> TableQueries:
        """The same visits by group; `codes` has the code of each member. Pairs are those of visits read by group."""
        assert groups.members is not None  # noqa: S101  # asked by the caller
        keys = _group_keys(groups.ids)
        number = next(_NUMBERS)  # several levels, on the same engine, have their own tables
        coding = expression.coded_locations(self._engine.upload("listed", pa.table({"location": keys})))
        coded = self._engine.run(coding, "Finding places").combine_chunks()
        at = pc.index_in(keys, value_set=coded["location"].combine_chunks()).to_numpy()
        group_codes = _integers(coded, "code")[at]
        members = {
            "code": pa.array(codes, pa.int32()),
            "group": pa.array(group_codes[groups.members.group], pa.int32()),
        }
        grouped = expression.pairs_by_group(self._pairs, self._engine.upload("members", pa.table(members)))
        pairs = self._engine.materialize(f"pairs_{number}", grouped, "Counting visits")
        return TableQueries(self._engine, coded, pairs, groups.ids, group_codes)

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
        locations, users = _integers(rows, "locations"), _integers(rows, "users")
        histogram = np.zeros(int(locations.max(initial=0)) + 1, dtype=np.int64)
        histogram[locations] = users
        return histogram

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their largest number of visits to one location: the numbers, ascending, and the users."""
        rows = self._engine.run(expression.users_by_largest_visits(self._pairs), "Counting")
        visits, users = _integers(rows, "visits"), _integers(rows, "users")
        order = np.argsort(visits)  # without repeats, so there is one order
        return visits[order], users[order]

    def look(self, rule: ShareRule) -> NDArray[np.int64]:
        """The presence at each location: the sum of the shares that its users have there by the rule."""
        if 0 in rule.weights:
            # A row that weighs nothing has no share and adds nothing to its user's sums: the others are enough.
            weighing = expression.weighing(self._pairs, rule.weights)
            shared = expression.with_shares(_spread(weighing, _SpreadKind.of(rule)), rule)
        else:
            shared = self._shared(rule)
        rows = self._engine.run(expression.presence_by_location(shared), "Sharing and counting")
        sums = np.zeros(len(self._locations), dtype=np.int64)
        sums[self._position[_integers(rows, "code")]] = _integers(rows, "presence")
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
        cells = expression.presence_by_cell(self._shared(rule), uploaded, places, visits)
        rows = self._engine.run(cells, "Sharing and counting")
        sums = np.zeros((count, len(places) + 1, len(visits) + 1), dtype=np.int64)
        at = tuple(_integers(rows, name) for name in ("band", "place_cell", "visit_cell"))
        sums[at] = _integers(rows, "presence")
        return sums

    def _shared(self, rule: ShareRule) -> ibis.Table:
        """Each pair with its share.

        What a user's rows add up to is stored, and then serves every rule with these weights, and equal shares. Of
        restricted queries it is stored when it is needed a second time: a single question leaves nothing behind.
        """
        kind = next((each for each in self._spreads if each.serves(rule)), _SpreadKind.of(rule))
        known = kind in self._spreads
        if not known:
            self._spreads[kind] = _spread(self._pairs, kind)
        if kind not in self._stored and (known or not self._for_one_question):
            name = f"spread_{next(_NUMBERS)}"  # restricted queries, on the same engine, have their own
            self._spreads[kind] = self._engine.materialize(name, self._spreads[kind], "Counting places")
            self._stored.add(kind)
        return expression.with_shares(self._spreads[kind], rule)

    def _one_pass(self, bounds: Sequence[Bounds]) -> dict[Bounds, VisitProfile]:
        """Profiles for bounds with the same `keep`: the rows of each step, added up and clipped."""
        keep = bounds[0].keep
        assert keep is not None  # noqa: S101  # resolved by the caller
        steps = sorted({each.max_locations for each in bounds})
        by_id = self._by_id() if keep == "lowest-id" else None
        ranked = expression.ranked(self._pairs, keep, by_id)
        counts = expression.bounded_counts(ranked, steps, max(each.max_visits for each in bounds))
        rows = self._engine.run(counts, "Bounding and counting")
        step = _integers(rows, "step")
        return {
            each: self._as_profile(rows.filter(step <= steps.index(each.max_locations)), each)
            for each in bounds
        }

    def _by_id(self) -> ibis.Table:
        ids = self._coded["location"].combine_chunks()
        return self._engine.upload("by_id", pa.table({"code": self._coded["code"], "by_id": id_ranks(ids)}))

    def _as_profile(self, rows: pa.Table, bounds: Bounds | None) -> VisitProfile:
        visits = _integers(rows, "visits")
        if bounds is not None:
            visits = np.minimum(visits, bounds.max_visits)
        index = self._position[_integers(rows, "code")]
        return VisitProfile.from_rows(self._locations, index, visits, _integers(rows, "users"), bounds)


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


def _group_keys(ids: pa.Array) -> pa.Array:
    """The ids of groups, as engines take them: no visit has them, so they need not be of the type of its ids."""
    return ids.cast(pa.int64() if pa.types.is_integer(ids.type) else pa.string())


def _integers(rows: pa.Table, name: str) -> NDArray[np.int64]:
    """A column as 64-bit integers, whatever width the engine gives its sums and counts."""
    integers: NDArray[np.int64] = rows[name].cast(pa.int64()).to_numpy()
    return integers
