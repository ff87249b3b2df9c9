"""Counting: from a table of visits to pairs of a user and a location, with the number of visits of each.

    two passes   every row is checked (checks.py), then the good ones are counted
    one pass     rows are counted as they come, and what was counted is checked (one_pass.py): for a list of places and
                 users with text ids, on an engine in this process, and if nothing is unusual

Both give the same pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.locations import Cells, SquareCells
from locentropy.core.window_split import pair_ids
from locentropy.visits import expressions as expression
from locentropy.visits.checks import check
from locentropy.visits.column_types import restore_id_type, to_engine_type
from locentropy.visits.one_pass import count_in_one_pass
from locentropy.visits.runs import CountedPairs, count_pairs
from locentropy.visits.time_kinds import fitting
from locentropy.visits.time_windows import during, in_one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ibis
    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.windows import Window
    from locentropy.visits.engines.base import Engine
    from locentropy.visits.visits import Visits


class Counted(NamedTuple):
    """The visits of each user at each location."""

    coded: pa.Table
    """Each location in the engine's type, and its code."""
    counted: CountedPairs
    """The pairs of a user and a code."""
    locations: pa.Array
    """The locations that are counted, in the order of every answer."""
    codes: NDArray[np.int64]
    """The code of each of these."""


def count_visits(
    engine: Engine,
    visits: Visits,
    wanted: Locations | Cells | None,
    *,
    refuse_empty: bool = True,
    first_times: bool = True,
    windows: Sequence[Window] = (),
) -> Counted:
    """Check the visits, and count them at the wanted locations (None: at every location visited)."""
    keep_window(engine, visits, windows, first_times=first_times)

    def checked() -> ibis.Table:
        engine.store_source()
        good = check(
            engine,
            visits.bad_rows,
            visits.missing_ids,
            ids_as_written=visits.spelling.text,
            refuse_empty=refuse_empty,
            window=visits.window,
            time_type=visits.time_type,
        )
        return good if first_times or "time" not in good.columns else good.drop("time")

    if isinstance(wanted, Cells):
        return _in_cells(engine, checked(), wanted, windows)
    if wanted is None:
        return _everywhere(engine, checked())
    keys = _Keys.of(engine, visits, wanted)
    listed = engine.upload("listed", pa.table({"location": keys.listed}))
    coding = engine.materialize("locations", expression.coded_locations(listed), "Finding places")
    coded = coding
    if wanted.members is not None:
        coded = expression.coded_members(engine.upload("members", keys.members(wanted)), coding)
    counted, embedded = None, engine.embedded
    # Checking numbers takes next to nothing, and counting them under codes of their own a little more.
    if embedded is not None and engine.visits.user.type().is_string() and embedded.ready_for_one_pass():
        counted = count_in_one_pass(
            embedded,
            coded,
            visits.missing_ids,
            len(keys.listed),
            first_times=first_times,
            windows=max(len(windows), 1),
        )
    if counted is None:
        counted = count_pairs(engine, expression.at_codes(checked(), coded), len(keys.listed), len(windows))
    engine.free_source()
    by_code = found_codes(engine, coding)
    return _of_list(by_code, counted, wanted.ids, codes_of(keys.listed, by_code), windows)


def keep_window(
    engine: Engine, visits: Visits, windows: Sequence[Window], *, first_times: bool = True
) -> None:
    """From here on, the engine's visits are those in the windows, or in the window of the visits, if there is one.

    Times that do not fit (`time_kinds`) are none.
    """
    rows = fitting(engine, visits, first_times=first_times)
    if windows:
        rows = in_one_of(rows, windows, visits.time_type)
    elif visits.window is not None:
        rows = during(rows, visits.window, visits.time_type)
    engine.keep_only(rows)


def listed_keys(engine: Engine, visits: Visits, listed: Locations) -> pa.Array:
    """The ids of listed places, as the engine compares them."""
    return _Keys.of(engine, visits, listed).places


class _Keys(NamedTuple):
    """The ids of a list, as the engine compares them."""

    listed: pa.Array
    """Those of places, or of groups."""
    places: pa.Array

    @classmethod
    def of(cls, engine: Engine, visits: Visits, wanted: Locations) -> _Keys:
        """ParameterError if they cannot be compared with those of the visits."""
        as_text = engine.visits.location.type().is_string()
        typed = engine.typed_locations and not visits.spelling.text
        places = visits.spelling.keys(to_engine_type(wanted.place_ids, as_text=as_text, typed=typed))
        return cls(places if wanted.members is None else group_keys(wanted.ids), places)

    def members(self, wanted: Locations) -> pa.Table:
        """Each place and its group."""
        assert wanted.members is not None  # noqa: S101  # asked by the caller
        return pa.table({"location": self.places, "group": self.listed.take(pa.array(wanted.members.group))})


def _everywhere(engine: Engine, good: ibis.Table) -> Counted:
    """Count at every location that was visited."""
    coding = engine.materialize("locations", expression.coded_locations(good), "Finding places")
    by_code = found_codes(engine, coding)
    counted = count_pairs(engine, expression.at_codes(good, coding), len(by_code))
    engine.free_source()
    found = restore_id_type(by_code["location"].combine_chunks(), typed=engine.typed_locations)
    order = pc.sort_indices(found)
    return Counted(by_code, counted, found.take(order), integers(by_code, "code")[order.to_numpy()])


def _in_cells(engine: Engine, good: ibis.Table, cells: Cells, windows: Sequence[Window]) -> Counted:
    """Count visits by their coordinates. They are joined by number; codes follow the ids, as everywhere."""
    wanted = cells.locations()
    keys = to_engine_type(wanted.ids, as_text=pa.types.is_string(wanted.ids.type), typed=True)
    listed = engine.upload("listed", pa.table({"location": keys}))
    by_code = found_codes(engine, expression.coded_locations(listed))
    codes = codes_of(keys, by_code)
    counted = count_pairs(engine, at_cells(engine, good, cells, codes), len(codes), len(windows))
    engine.free_source()
    return _of_list(by_code, counted, wanted.ids, codes, windows)


def at_cells(engine: Engine, good: ibis.Table, cells: Cells, codes: NDArray[np.int64]) -> ibis.Table:
    """The rows within cells, each with the code of its cell."""
    # `locate` names a square by its number in the box, and any other location by its position.
    numbers = cells.numbers() if isinstance(cells, SquareCells) else np.arange(len(codes))
    by_number = {"location": pa.array(numbers), "code": pa.array(codes, pa.int32())}
    numbered = engine.upload("numbered", pa.table(by_number))
    return expression.at_codes(engine.locate(good, cells), numbered)


def _of_list(
    by_code: pa.Table,
    counted: CountedPairs,
    ids: pa.Array,
    codes: NDArray[np.int64],
    windows: Sequence[Window],
) -> Counted:
    """Visits at the locations of a list; with windows, at its pairs with these, coded as by `expression.pairs`."""
    if not windows:
        return Counted(by_code, counted, ids, codes)
    every = [expression.code_in(codes, at, len(windows)) for at in range(len(windows))]
    paired, numbers = pair_ids(ids, windows), np.concatenate(every)
    by_code = pa.table({"location": paired, "code": pa.array(numbers, pa.int32())})
    return Counted(by_code, counted, paired, numbers)


def found_codes(engine: Engine, coding: ibis.Table) -> pa.Table:
    """The rows of a coding."""
    return engine.run(coding, "Finding places").combine_chunks()


def codes_of(keys: pa.Array, by_code: pa.Table) -> NDArray[np.int64]:
    """The code of each of some ids, all of which have one."""
    at = pc.index_in(keys, value_set=by_code["location"].combine_chunks())
    codes: NDArray[np.int64] = integers(by_code, "code")[at.to_numpy()]
    return codes


def group_keys(ids: pa.Array) -> pa.Array:
    """The ids of groups, as engines take them: no visit has them, so they need not be of the type of its ids."""
    return ids.cast(pa.int64() if pa.types.is_integer(ids.type) else pa.string())


def integers(rows: pa.Table, name: str) -> NDArray[np.int64]:
    """A column as 64-bit integers, whatever width the engine gives its sums and counts."""
    found: NDArray[np.int64] = rows[name].cast(pa.int64()).to_numpy()
    return found
