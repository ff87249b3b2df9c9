"""Spark: the visits stay on the cluster, and only integers come back to the driver.

The expressions are those of every engine; Ibis translates them to Spark SQL. Materialized tables (locations, pairs)
are persisted views: if an executor dies, Spark computes its part again from the visits, and gets the same rows, because
no expression depends on the order of rows.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.errors import EngineError, SourceError
from locentropy.core.locations import SquareCells
from locentropy.visits.engines.ibis import IbisEngine
from locentropy.visits.engines.locating import located_batches
from locentropy.visits.engines.spark_session import local_session
from locentropy.visits.expressions import in_squares
from locentropy.visits.private_log import PRIVATE_LOG
from locentropy.visits.readers import files
from locentropy.visits.readers.base import FileFingerprints
from locentropy.visits.readers.encodings import UTF8, encoding_named
from locentropy.visits.readers.resolve import (
    TEXT_OPTIONS,
    TYPED_ONLY,
    WRITING_OPTIONS,
    common_roles,
    reject_options,
)
from locentropy.visits.readers.text import TextOptions, text_parts
from locentropy.visits.sql import identifier, list_literal, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    import pyarrow as pa

    from locentropy.core.locations import Cells
    from locentropy.visits.engines.base import Clock, Progress, Resources
    from locentropy.visits.visits import Visits

_NUMBERS: Final = count()
_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",  # as Ibis expects; Ibis would set it permanently
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parser.escapedStringLiterals": "false",  # as Ibis writes literals
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # an id 007 in a folder's name must not become 7
    # Java interprets a method of more bytes; checking text ids, all of a row in one method, took up to twice as long.
    "spark.sql.codegen.hugeMethodLimit": "8000",
}
_TYPES: Final = {"time": "TIMESTAMP", "visits": "BIGINT", "lat": "DOUBLE", "lon": "DOUBLE"}


class SparkEngine(IbisEngine):
    """Runs expressions in a Spark session: that of the table, the one given, or a new local one."""

    def __init__(
        self, visits: Visits, required: Sequence[str], resources: Resources, progress: Progress | None
    ) -> None:
        self._closing = ExitStack()
        self._fingerprints = FileFingerprints()
        try:
            _refuse_other_files(visits)  # before a session starts, as options are
            reject_options(visits, ("table", "views", *TEXT_OPTIONS), "Spark")
            reject_options(visits, WRITING_OPTIONS, f"Spark, {TYPED_ONLY}")
            self._closing.enter_context(_silent())
            self._session = self._session_for(visits.source, resources)
            self._apply_settings()
            self._connection = ibis.pyspark.connect(self._session)
            table = self._table_of(visits)
            label = str(visits.source) if visits.is_path else None
            super().__init__(replace(visits, source=table), required, progress, label)
            self._check_repeatable()
        except BaseException:
            self._closing.close()
            raise

    @contextmanager
    def _translated(self, label: str | None = None) -> Iterator[None]:
        """Replace Spark's errors by plain ones."""
        with super()._translated(label):
            try:
                yield
            except Exception as error:
                if _ended(error):
                    label = label or self.label
                    PRIVATE_LOG.info("%s: %s", label, error)
                    raise EngineError(
                        f"{label}: Spark ended in the middle of its work ({type(error).__name__}), as when Java runs "
                        "out of memory. Allow it more (--memory 8GB) or fewer threads (--threads 1)."
                    ) from None
                raise

    def _session_for(self, source: Any, resources: Resources) -> Any:
        if is_spark_frame(source):
            return source.sparkSession
        if isinstance(source, ibis.Table):
            return ibis.get_backend(source)._session
        if resources.session is not None:
            return resources.session
        folder = self._closing.enter_context(
            tempfile.TemporaryDirectory(prefix="locentropy-", dir=resources.spill, ignore_cleanup_errors=True)
        )
        session = local_session(resources, folder)
        self._closing.callback(_quietly, session.stop)
        return session

    def _apply_settings(self) -> None:
        """Set what the answers and their speed rely on, until the end; then restore the session's own settings."""
        for key, value in _SETTINGS.items():
            before = self._session.conf.get(key, None)
            if before is None:
                self._closing.callback(_quietly, self._session.conf.unset, key)
            else:
                self._closing.callback(_quietly, self._session.conf.set, key, before)
            self._session.conf.set(key, value)

    def _table_of(self, visits: Visits) -> ibis.Table:
        """The visits as an Ibis table of the session."""
        if isinstance(visits.source, ibis.Table):
            return visits.source
        if is_spark_frame(visits.source):
            return self._view("frame", visits.source)
        if not visits.is_path:
            raise SourceError(
                f"Spark does not read a {type(visits.source).__name__}. Give Parquet files, a table of its catalog, "
                'a Spark DataFrame or an Ibis table. For example: Visits("visits/*.parquet")'
            )
        with self._translated(str(visits.source)):
            return self._view("source", self._read(str(visits.source)))

    def _read(self, source: str) -> Any:
        """Read Parquet files in place, or a table of the catalog."""
        if "://" in source:
            return self._parquet([source])
        if not _looks_like_path(source):
            if not self._session.catalog.tableExists(source):
                raise SourceError(
                    f"{source}: is neither an existing file nor a table of Spark's catalog, such as mobility.checkins. "
                    'For example: Visits("visits/*.parquet")'
                )
            return self._session.table(source)
        paths = files.find_files(source)
        self._fingerprints = FileFingerprints.of(paths)
        found = [str(path.resolve()) for path in paths]
        _refuse_names(found)
        return self._parquet(found)

    def _parquet(self, paths: Sequence[str]) -> Any:
        # Files with different types for a column are refused, rather than read with the types of the first file.
        # A session may be set to pass over files that are damaged or missing; their visits would be.
        reader = self._session.read.options(
            mergeSchema="true", ignoreCorruptFiles="false", ignoreMissingFiles="false"
        )
        return reader.parquet(*paths)

    def _clock_of(self, table: ibis.Table) -> Clock | None:
        """What the times are; Ibis does not tell Spark's two types of timestamps apart."""
        clock = super()._clock_of(table)
        if clock != "local":
            return clock
        frame = self._session.sql(self._connection.compile(table))
        stored = frame.schema[self.columns["time"]].dataType.typeName()
        return "instant" if stored == "timestamp" else "local"  # others are timestamp_ntz and date

    def _check_repeatable(self) -> None:
        """Raise if the rows are random: they are read more than once, and must be the same every time."""
        frame = self._session.sql(self._connection.compile(self.visits))
        plan = getattr(frame, "_jdf", None)  # a remote session has no plan
        if plan is not None and not plan.queryExecution().analyzed().deterministic():
            raise SourceError(
                f"{self.label}: its rows change at random each time they are read. Write them to a table first."
            )

    def run(self, expression: ibis.Table, doing: str) -> pa.Table:
        """The rows of an expression, as an Arrow table, without Python objects in between."""
        self._report(doing)
        with self._translated():
            rows = self._session.sql(self._connection.compile(expression)).toArrow()
        self._fingerprints.check()  # each time: persisted rows may be computed only now, or again
        return rows

    def materialize(self, name: str, expression: ibis.Table, doing: str) -> ibis.Table:
        """Persist the rows of an expression on the cluster, in memory or on its disks."""
        self._report(doing)
        with self._translated():
            frame = self._session.sql(self._connection.compile(expression)).persist()
            self._closing.callback(_quietly, frame.unpersist)
            return self._view(name, frame)

    def upload(self, name: str, table: pa.Table) -> ibis.Table:
        """Send an Arrow table to the cluster."""
        with self._translated():
            return self._view(name, self._session.createDataFrame(table))

    def locate(self, visits: ibis.Table, cells: Cells) -> ibis.Table:
        """Squares by arithmetic in SQL; other cells by Python on the executors, which need this package there."""
        if isinstance(cells, SquareCells):
            return in_squares(visits, cells)
        from pyspark.sql.types import LongType

        with self._translated():
            frame = self._session.sql(self._connection.compile(visits))
            schema = frame.drop("location", "lat", "lon").schema.add("location", LongType())
            locate = partial(located_batches, cells.locator())
            return self._view("located", frame.mapInArrow(locate, schema))

    def _view(self, name: str, frame: Any) -> ibis.Table:
        unique = f"locentropy_{name}_{next(_NUMBERS)}"
        frame.createTempView(unique)
        self._closing.callback(_quietly, self._session.catalog.dropTempView, unique)
        return self._connection.table(unique)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()


def is_spark_frame(source: object) -> bool:
    """Whether this is a Spark DataFrame, without importing Spark."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "pyspark" and kind.__name__ == "DataFrame"


def _looks_like_path(source: str) -> bool:
    """Whether a text is a path or a pattern rather than the name of a table in the catalog."""
    return any(sign in source for sign in "/\\*?[~") or files.exists(source)


def _refuse_other_files(visits: Visits) -> None:
    """Raise for files that are not Parquet, which Spark and DuckDB would read differently."""
    source = str(visits.source)
    if not visits.is_path or "://" in source or not _looks_like_path(source):
        return
    paths = files.find_files(source)
    kind = files.common_kind(paths)
    if kind != "parquet":
        utf8 = encoding_named(visits.encoding or UTF8) == UTF8 and files.is_plain(paths[0])
        how = (
            f"Make one of it:\n{_to_parquet(visits, paths[0])}\nOr"
            if kind == "text" and utf8
            else "Convert it, or"
        )
        raise SourceError(
            f"{paths[0]}: of files, only Parquet is read on Spark. {how} leave out --engine "
            "spark: DuckDB reads it as it is."
        )


def _to_parquet(visits: Visits, path: Path) -> str:
    """The command that makes Parquet of a text file. Ids stay texts, so that 007 does not become 7."""
    layout = TextOptions(visits.header, visits.columns, visits.delimiter)
    part = text_parts([path], layout, Path())[0]
    roles = common_roles(visits, [part], ())
    named = {role: identifier(name).replace('"', r"\"") for role, name in roles.items()}
    typed = [f"{named[role]}::{kind} AS {named[role]}" for role, kind in _TYPES.items() if role in named]
    columns = f"* REPLACE ({', '.join(typed)})" if typed else "*"
    header = "header=true" if part.layout.has_header else f"names={list_literal(part.columns)}, header=false"
    options = f"all_varchar=true, delim={literal(part.layout.delimiter)}, {header}"
    new = literal(str(path.with_suffix(".parquet")))
    query = f"COPY (SELECT {columns} FROM read_csv({literal(str(path))}, {options})) TO {new}"
    return f"python -c \"import duckdb; duckdb.sql('''{query} ''')\""


def _refuse_names(paths: Iterable[str]) -> None:
    """Raise for names that Spark takes for patterns, or passes over: it would read other files than were found."""
    for path in paths:
        if set(path) & set("*?[]{}\\"):
            raise SourceError(
                f"{path}: Spark reads some of *?[]{{}}\\ in the name as a pattern. Rename the file or its folder, or "
                "leave out --engine spark."
            )
        if Path(path).name.startswith((".", "_")):
            raise SourceError(
                f"{path}: Spark passes over files whose names begin with a dot or an underscore. Rename it, or leave "
                "out --engine spark."
            )


@contextmanager
def _silent() -> Iterator[None]:
    """Silence the loggers of PySpark that write failed queries, with data, to standard error."""
    from pyspark.logger import PySparkLogger

    loggers = [
        PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    ]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _ended(error: Exception) -> bool:
    """Whether Java is gone, or has no memory left; Py4J has no one error for the first."""
    gone = isinstance(error, ConnectionError | EOFError) or type(error).__name__ == "Py4JNetworkError"
    return gone or "OutOfMemoryError" in str(error)


def _quietly(undo: Any, *args: Any) -> None:
    """What was made is gone with the session at the latest; and a session that died has told why before."""
    with suppress(Exception):
        undo(*args)
