"""The embedded engine: DuckDB in this process, spilling to disk when memory runs out."""

from __future__ import annotations

import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import duckdb
import ibis
import pyarrow as pa

from locentropy.core.errors import BadRowsError, ColumnProblems, EngineError, LocentropyError, ParameterError
from locentropy.core.locations import SquareCells
from locentropy.visits import column_types, runs
from locentropy.visits.column_types import column_kind
from locentropy.visits.engines.duckdb_errors import explained, unreadable_row
from locentropy.visits.engines.locating import located_ahead
from locentropy.visits.expressions import id_columns, in_squares, without_bad_rows
from locentropy.visits.private_log import Dropped, log_dropped
from locentropy.visits.readers.resolve import common_roles, resolve_source
from locentropy.visits.readers.text import TextPart
from locentropy.visits.rows import described, select_rows
from locentropy.visits.sql import OFFLINE, identifier
from locentropy.visits.time_kinds import check_clock
from locentropy.visits.writing import Writing, whole_number_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from locentropy.core.locations import Cells
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import MissingIds, Visits

    _Through = Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]

_POLL_SECONDS: Final = 0.1
_LOCATED: Final = ("user", "time", "visits", "in_window", "lat", "lon")
"""What is read of visits whose location Python finds."""
_BATCH_ROWS: Final = 1 << 18
"""Rows that Python gets at a time: enough that a call costs little, and few enough for the processor's cache."""
_STORED_ROWS: Final = 1 << 20
"""Rows that are stored at a time, of those that Python made."""
_SORTED_PART: Final = 2
"""Rows are sorted by NumPy where their keys take at most this part, a half, of the memory that DuckDB was given.

Where it was given none, and so takes most of what the machine has, half as much.
"""
_IBIS_TYPES: Final = {
    "BIGINT": "int64",
    "INTEGER": "int32",
    "VARCHAR": "string",
    "DOUBLE": "float64",
    "TIMESTAMP": "timestamp(6)",
    "BOOLEAN": "boolean",
}
_SQL_TYPES: Final = {ours: theirs for theirs, ours in _IBIS_TYPES.items()}
_ARROW_TYPES: Final = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "string": pa.string(),
    "float64": pa.float64(),
    "timestamp(6)": pa.timestamp("us"),
    "boolean": pa.bool_(),
}
"""Ibis knows them too, but imports for it a module that only its own extras bring."""


class DuckDBEngine:
    """One connection to an in-memory database, with the visits as its table `visits`."""

    rows_stay: Final = True
    repeats_columns: Final = False

    def __init__(
        self, visits: Visits, required: Sequence[str], resources: Resources, progress: Progress | None
    ) -> None:
        self._progress = progress
        self._uploads = count()
        self._located: list[str] = []
        self._stored = False
        self._cancelled = threading.Event()
        """Set when the query that is under way is to stop."""
        self._memory_is_given = resources.memory is not None
        self._folder = Path(tempfile.mkdtemp(prefix="locentropy-", dir=resources.spill))
        try:
            self._con = _connect(resources, self._folder)
            self._threads = int(self._con.sql("SELECT current_setting('threads')").fetchall()[0][0])
            self._open(visits, required)
        except BaseException:
            self._close()
            raise

    def _open(self, visits: Visits, required: Sequence[str]) -> None:
        parts = resolve_source(self._con, visits, self._folder, visits.choices_for(required))
        self._labels = [part.label for part in parts]
        self._fingerprints = [part.fingerprints for part in parts]
        self.label = self._labels[0] if len(parts) == 1 else str(visits.source)
        self._loaded = any(part.reads_once for part in parts)
        self._untyped_ids = self._loaded and len(parts) > 1 and not visits.spelling.text
        problems = ColumnProblems()
        roles = common_roles(visits, parts, required, problems)
        self.columns = roles
        relations = []
        with problems.caught():
            relations = [part.bind(self._con, roles, drop_bad=visits.bad_rows == "drop") for part in parts]
        stored = {column_kind(r.columns["location"].type_name) for r in relations if "location" in r.columns}
        self.typed_locations = visits.spelling.text or not (self._loaded or "big-integer" in stored)
        said = Writing(time_format=visits.time_format)
        self.clock = column_types.common_clock(roles, relations, said.clock)
        self.only_dates = column_types.only_dates(roles, relations, said)
        column_types.check_types(roles, parts, relations, problems, as_text=visits.spelling.text)
        if problems.found:  # a clock alone is told once it is known what else is asked of times
            with problems.caught():
                check_clock(self, visits)
        problems.tell()
        self.described = described(roles, parts, relations, visits)
        selects = select_rows(roles, parts, relations, visits)
        if self._loaded:
            selects = [f"SELECT {at}::INTEGER AS part, * FROM ({each})" for at, each in enumerate(selects)]
        self._unread = list(zip(parts, selects, strict=True)) if self._loaded else []
        self._drop = visits.bad_rows == "drop"
        try:
            self._con.execute(f"CREATE TEMP VIEW visits AS {' UNION ALL '.join(selects)}")
        except duckdb.Error as error:
            raise explained(error, self.label) from None
        types = self._con.execute("DESCRIBE visits").fetchall()
        self.visits = ibis.table({row[0]: _IBIS_TYPES[row[1]] for row in types}, name="visits")

    @property
    def embedded(self) -> Self:
        """This engine."""
        return self

    def ready_for_one_pass(self) -> bool:
        """Whether no ids of several text files have to be compared. What is slow to read is loaded."""
        if self._untyped_ids:
            return False
        fast = all(isinstance(part, TextPart) and part.reads_fast for part, _ in self._unread)
        if self._drop or not fast:  # what is dropped of a file shows only when all of it was read
            self.store_source()
        return True

    @property
    def reads_to_keep(self) -> bool:
        """Whether there are text files that were not loaded, and would take half of the memory at most."""
        size = sum(part.fingerprints.size for part, _ in self._unread)
        return bool(self._unread) and 2 * size <= self._memory()

    def _memory(self) -> int:
        """Bytes that DuckDB may use."""
        setting = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
        [(memory,)] = self._con.execute(setting).fetchall()
        return int(memory)

    def store_source(self) -> None:
        """Load text files, one after another, so that an error can name the file."""
        if not self._unread:
            return
        self._con.execute("DROP VIEW visits")
        for number, (part, select) in enumerate(self._unread):
            into = "INSERT INTO visits" if number else "CREATE TEMP TABLE visits AS"
            try:
                self._guarded(self._con.execute, f"{into} {select}", f"Reading {Path(part.label).name}")
            except duckdb.InvalidInputException as error:
                raise unreadable_row(part, str(error), drop=self._drop) from None
            except duckdb.Error as error:
                raise explained(error, part.label) from None
        self._unread = []
        self._stored = True
        self._check_rejects()

    def first_row(self, columns: Sequence[str]) -> dict[str, Any] | None:
        """Some columns of any one row that is stored; None if there is no row."""
        named = ", ".join(map(identifier, columns))
        rows = self._answer(
            lambda sql: self._con.sql(sql).to_arrow_table(),
            f"SELECT {named} FROM visits LIMIT 1",
            "Counting visits",
        )
        return next(iter(rows.to_pylist()), None)

    def drop(self, *names: str) -> None:
        """Free what was materialized under these names, if anything was."""
        for name in names:
            self._con.execute(f"DROP TABLE IF EXISTS {identifier(name)}")

    def _check_rejects(self) -> None:
        """Raise if more than single lines were dropped."""
        known = self._con.execute(
            "SELECT 1 FROM duckdb_tables() WHERE table_name = 'reject_errors'"
        ).fetchall()
        if not known:
            return
        kinds = dict(
            self._con.execute(
                "SELECT error_type::VARCHAR, count(DISTINCT (scan_id, file_id, line)) FROM reject_errors GROUP BY ALL"
            ).fetchall()
        )
        several_lines = self._con.execute(
            "SELECT 1 FROM reject_errors WHERE regexp_matches(trim(csv_line, chr(10) || chr(13)), '[\\r\\n]') LIMIT 1"
        ).fetchall()
        if several_lines:  # as no line that is read (readers/lines.py) should make the engine do
            # This does not depend on one row only: a user who can make others' rows disappear has unbounded influence.
            raise BadRowsError(
                f"{self.label}: a quotation mark is not closed on its line. That cannot be dropped: it may take other "
                "people's rows with it. Fix the file."
            )
        if kinds:
            log_dropped(self.label, Dropped(sum(kinds.values()), "lines that cannot be read as rows", None))

    def check_ids(self, missing_ids: MissingIds) -> None:
        """Raise if the ids of one text file are all numbers and those of another are not: text files have no types."""
        if not self._untyped_ids:
            return
        good_rows = _sql_of(without_bad_rows(self.visits, missing_ids).op())
        for role in id_columns(self.visits):
            name, column = self.columns[role], identifier(role)
            rows = self._con.execute(
                f"SELECT part, bool_and({whole_number_sql(column)} IS NOT NULL) "
                f"FROM ({good_rows}) "
                f"WHERE {column} IS NOT NULL GROUP BY part ORDER BY part"
            ).fetchall()
            numbers = [self._labels[part] for part, all_numbers in rows if all_numbers]
            texts = [self._labels[part] for part, all_numbers in rows if not all_numbers]
            if numbers and texts:
                raise column_types.mixed_ids_error(role, name, numbers[0], texts[0])

    def keep_only(self, visits: ibis.Table) -> None:
        """From here on, `visits` are these, some of its rows."""
        self.visits = visits

    def find_bad_file(self, condition: ibis.Expr) -> str:
        """The first text file with such a row; files of other kinds are not told apart."""
        if not self._loaded:
            return self.label
        first = self.visits.filter(condition).aggregate(part=self.visits.part.min())
        number: int = self.run(first, "Checking")["part"][0].as_py()
        return self._labels[number]

    def run(self, expression: ibis.Table, doing: str) -> pa.Table:
        """The rows of an expression, as an Arrow table."""
        sql = _sql_of(expression.op())
        return self._answer(lambda text: self._con.sql(text).to_arrow_table(), sql, doing)

    def materialize(self, name: str, expression: ibis.Table, doing: str) -> ibis.Table:
        """Store the rows of an expression as a temporary table."""
        return self._store(name, expression.schema(), _sql_of(expression.op()), doing)

    def materialize_runs(
        self, name: str, rows: ibis.Table, packing: runs.Packing | None, most: int | None, doing: str
    ) -> ibis.Table:
        """Store the pairs of rows, which stream through `runs.py`; DuckDB sorts those that are too many for memory."""
        through: _Through
        if packing is None:
            rows, through = rows.order_by(["user", "code"]), runs.counted
        else:
            rows = rows.select(key=packing.pack(rows.user, rows.code))
            part = _SORTED_PART if self._memory_is_given else 2 * _SORTED_PART
            if most is not None and part * 8 * most <= self._memory():
                through = partial(runs.counted_keys, packing=packing, most=most)
            else:
                rows, through = rows.order_by("key"), partial(runs.counted_keys, packing=packing)
        self._answer(
            lambda sql: self._store_stream(name, sql, runs.SCHEMA, through), _sql_of(rows.op()), doing
        )
        return ibis.table({field.name: str(field.type) for field in runs.SCHEMA}, name=name)

    def _store(self, name: str, schema: ibis.Schema, sql: str, doing: str) -> ibis.Table:
        """Store the rows of a query with this schema."""
        # DuckDB's sums of 64-bit integers have 128 bits, which Ibis does not know: cast to the types it expects.
        columns = ", ".join(
            f"CAST({identifier(column)} AS {_SQL_TYPES[str(dtype)]}) AS {identifier(column)}"
            for column, dtype in schema.items()
        )
        self._answer(
            self._con.execute, f"CREATE TEMP TABLE {identifier(name)} AS SELECT {columns} FROM ({sql})", doing
        )
        return ibis.table(schema, name=name)

    def upload(self, name: str, table: pa.Table) -> ibis.Table:
        """Store an Arrow table: DuckDB would join slowly with one of whose values it knows no range."""
        unique = f"{name}_{next(self._uploads)}"
        self._con.register("uploaded", table)
        try:
            self._con.execute(f"CREATE TEMP TABLE {identifier(unique)} AS SELECT * FROM uploaded")
        finally:
            self._con.unregister("uploaded")
        return ibis.table({field.name: str(field.type) for field in table.schema}, name=unique)

    def locate(self, visits: ibis.Table, cells: Cells) -> ibis.Table:
        """Squares by arithmetic in SQL; other cells by Python, through which the rows stream into a table.

        A function that DuckDB calls itself would get 2,048 rows at a time, and take three times as long.
        """
        if isinstance(cells, SquareCells):
            return in_squares(visits, cells)
        name = f"located_{next(self._uploads)}"
        rows = visits.select([column for column in _LOCATED if column in visits.columns])
        locate = partial(located_ahead, cells.locator(), threads=self._threads)
        kept = {column: dtype for column, dtype in rows.schema().items() if column not in ("lat", "lon")}
        schema = ibis.schema(kept | {"location": "int64"})
        made = pa.schema([(column, _ARROW_TYPES[str(dtype)]) for column, dtype in schema.items()])
        self._answer(
            lambda sql: self._store_stream(name, sql, made, locate),
            _sql_of(rows.op()),
            "Finding places",
        )
        self._located.append(name)
        return ibis.table(schema, name=name)

    def _store_stream(self, name: str, sql: str, schema: pa.Schema, through: _Through) -> None:
        """Store what Python makes of the rows of a query in a table, which spills to disk like any other."""
        table = identifier(name)
        try:
            # A connection has one query at a time, and temporary tables of its own: another one stores what this one
            # reads, and in another thread, so that Python goes on meanwhile.
            with self._con.cursor() as other, ThreadPoolExecutor(1) as storing:
                store = partial(_store_rows, other)
                stored = storing.submit(store, f"CREATE TABLE {table} AS", schema.empty_table())
                made: list[pa.RecordBatch] = []
                # Closed whatever happens: while a result is open, the connection answers nothing else.
                with self._con.sql(sql).to_arrow_reader(_BATCH_ROWS) as rows:
                    for batch in through(rows):
                        if self._cancelled.is_set():  # DuckDB may have nothing left to interrupt
                            raise EngineError(f"{self.label}: stopped.")
                        made.append(batch.cast(schema))  # constants have smaller types in DuckDB
                        if sum(map(len, made)) >= _STORED_ROWS:
                            stored.result()
                            rows_made = pa.Table.from_batches(made, schema)
                            stored = storing.submit(store, f"INSERT INTO {table}", rows_made)
                            made = []
                stored.result()
                store(f"INSERT INTO {table}", pa.Table.from_batches(made, schema))
        except BaseException:
            with suppress(duckdb.Error):
                self.drop(name)  # a part of the rows
            raise

    def free_source(self) -> None:
        """Check that no file changed since it was first read, and drop the rows that were loaded or located."""
        for fingerprints in self._fingerprints:
            fingerprints.check()
        for name in (*(["visits"] if self._stored else []), *self._located):
            self._con.execute(f"DROP TABLE {identifier(name)}")

    def _answer(self, run: Callable[[str], Any], sql: str, doing: str) -> Any:
        try:
            return self._guarded(run, sql, doing)
        except LocentropyError:
            raise
        except Exception as error:  # Python may fail as well, of rows that stream through it
            raise explained(error, self.label) from None

    def _guarded(self, run: Callable[[str], Any], sql: str, doing: str) -> Any:
        """Run a query in another thread, so that this one can show progress and receive Ctrl-C."""
        outcome: dict[str, Any] = {}
        # Joining a thread is not safe against signals in Python 3.11. And a query that nobody waits for could outlive
        # the interpreter, which then aborts. So the worker either never starts its query, or is waited for.
        begun, finished = threading.Event(), threading.Event()
        cancelled = self._cancelled = threading.Event()

        def worker() -> None:
            begun.set()
            try:
                if not cancelled.is_set():
                    outcome["value"] = run(sql)
            except BaseException as error:  # re-raised in the waiting thread
                outcome["error"] = error
            finally:
                finished.set()

        try:
            threading.Thread(target=worker, name=doing, daemon=True).start()
            while not finished.wait(_POLL_SECONDS):
                self._report(doing, self._con.query_progress())
        except BaseException:
            cancelled.set()
            while begun.is_set() and not finished.wait(_POLL_SECONDS):
                self._con.interrupt()  # repeatedly: the query may have started only now
            raise
        self._report(doing, 100.0)
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    def _report(self, doing: str, percent: float) -> None:
        if self._progress is not None:
            self._progress(doing, percent / 100 if percent >= 0 else None)

    def _close(self) -> None:
        try:
            if hasattr(self, "_con"):
                self._con.close()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()


def _store_rows(con: duckdb.DuckDBPyConnection, into: str, rows: pa.Table) -> None:
    con.register("streamed", rows)
    con.execute(f"{into} SELECT * FROM streamed")
    con.unregister("streamed")


def _connect(resources: Resources, folder: Path) -> duckdb.DuckDBPyConnection:
    config: dict[str, Any] = {
        "temp_directory": str(folder),
        "preserve_insertion_order": False,
        **OFFLINE,
    }
    if resources.memory is not None:
        config["memory_limit"] = resources.memory
    if resources.threads is not None:
        config["threads"] = resources.threads
    try:
        con = duckdb.connect(":memory:", config=config)
    except duckdb.Error:
        raise ParameterError(f"The engine cannot be started with {resources}.") from None
    con.execute("SET TimeZone = 'UTC'")
    # Joins are written with the smaller side on the right. DuckDB does not know how many rows a text file has, and
    # would rather build a hash table of all of them.
    con.execute("SET disabled_optimizers = 'build_side_probe_side'")
    # Sums by place take half as long in an array over all codes, up to this power of two, as in a hash table.
    con.execute("SET perfect_ht_threshold = 18")
    # It would write to standard output. In a notebook without ipywidgets there is none, and DuckDB refuses the setting.
    with suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    return con


@lru_cache(maxsize=256)
def _sql_of(operation: Any) -> str:
    """The SQL of an expression, cached: on a small table, generating it takes as long as running it.

    Equal operations give the same query. They consist of names, types and constants, and hold no data.
    """
    return str(ibis.to_sql(operation.to_expr(), dialect="duckdb"))
