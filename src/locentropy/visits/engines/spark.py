"""Spark: the visits stay on the cluster, and only integers come back to the driver.

The expressions are those of every engine; Ibis writes them as Spark's SQL. What is kept (places, pairs) is a
persisted view: should an executor die, Spark computes its part again from the visits, and gets the same rows, because
no expression depends on the order of rows.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.errors import SourceError
from locentropy.visits.engines.ibis import IbisEngine
from locentropy.visits.engines.spark_session import local_session
from locentropy.visits.readers import files
from locentropy.visits.readers.base import FileFingerprints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import pyarrow as pa

    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import Visits

_NUMBERS: Final = count()
_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",  # as Ibis expects; and what Ibis sets for good is set back afterwards
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parser.escapedStringLiterals": "false",  # as Ibis writes them
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # an id 007 in a folder's name is no 7
}


class SparkEngine(IbisEngine):
    """Runs expressions in a Spark session: that of the table, the one given, or a local one of its own."""

    def __init__(
        self, visits: Visits, required: Sequence[str], resources: Resources, progress: Progress | None
    ) -> None:
        self._closing = ExitStack()
        self._fingerprints = FileFingerprints()
        try:
            self._closing.enter_context(_silent())
            self._session = self._session_for(visits.source, resources)
            self._apply_settings()
            self._connection = ibis.pyspark.connect(self._session)
            table = self._table_of(visits)
            super().__init__(replace(visits, source=table), required, progress)
            self._check_repeatable()
        except BaseException:
            self._closing.close()
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
        self._closing.callback(session.stop)
        return session

    def _apply_settings(self) -> None:
        """Settings that the answers rely on, until the end; a session that is given gets back its own."""
        for key, value in _SETTINGS.items():
            before = self._session.conf.get(key, None)
            if before is None:
                self._closing.callback(self._session.conf.unset, key)
            else:
                self._closing.callback(self._session.conf.set, key, before)
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
        """Parquet files where they are, or a table of the catalog."""
        if "://" in source:
            return self._parquet([source])
        if not _looks_like_path(source):
            if not self._session.catalog.tableExists(source):
                raise SourceError(
                    f"{source}: is neither a file here nor a table of Spark's catalog. For example: "
                    'Visits("visits/*.parquet"), or Visits("mobility.checkins")'
                )
            return self._session.table(source)
        paths = files.find_files(source)
        if files.common_kind(paths) != "parquet":
            raise SourceError(
                f"{paths[0]}: Spark reads Parquet files and tables here. Text files mean different things to "
                "different programs; convert them once, with ids as texts, so that 007 does not become 7. In Python: "
                "duckdb.sql(\"COPY (FROM read_csv('visits.csv', types={'user': 'VARCHAR', 'location': 'VARCHAR'})) TO "
                "'visits.parquet'\"). Or leave out --engine spark."
            )
        self._fingerprints = FileFingerprints.of(paths)
        found = [str(path.resolve()) for path in paths]
        _refuse_patterns(found)
        return self._parquet(found)

    def _parquet(self, paths: Sequence[str]) -> Any:
        # Files that disagree about a column's type are refused rather than read as the first one says.
        return self._session.read.option("mergeSchema", "true").parquet(*paths)

    def _check_repeatable(self) -> None:
        """Rows are read more than once, and again after a fault: they must be the same every time."""
        frame = self._session.sql(self._connection.compile(self.visits))
        plan = getattr(frame, "_jdf", None)  # a remote session shows no plan
        if plan is not None and not plan.queryExecution().analyzed().deterministic():
            raise SourceError(
                f"{self.label}: its rows are drawn at random each time they are read. Write them to a table first."
            )

    def run(self, expression: ibis.Table, doing: str) -> pa.Table:
        """The rows of an expression, as an Arrow table; not by way of Python objects."""
        self._report(doing)
        with self._translated():
            rows = self._session.sql(self._connection.compile(expression)).toArrow()
        self._fingerprints.check()  # each time: what is kept may be computed only now, or again
        return rows

    def materialize(self, name: str, expression: ibis.Table, doing: str) -> ibis.Table:
        """Persist the rows of an expression on the cluster, in memory or on its disks."""
        self._report(doing)
        with self._translated():
            frame = self._session.sql(self._connection.compile(expression)).persist()
            self._closing.callback(_quietly, frame.unpersist)
            return self._view(name, frame)

    def upload(self, name: str, table: pa.Table) -> ibis.Table:
        """Send a table of ours to the cluster."""
        with self._translated():
            return self._view(name, self._session.createDataFrame(table))

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
    """Whether this is a Spark DataFrame, without importing Spark to find out."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "pyspark" and kind.__name__ == "DataFrame"


def _looks_like_path(source: str) -> bool:
    """A catalog's names have dots and letters; files have endings, folders and patterns have their own signs."""
    return any(sign in source for sign in "/\\*?[~") or files.exists(source)


def _refuse_patterns(paths: Sequence[str]) -> None:
    """Spark takes some signs in a file's name for a pattern, and would read other files than those that were found."""
    for path in paths:
        if set(path) & set("*?[]{}\\"):
            raise SourceError(
                f"{path}: Spark takes some of *?[]{{}}\\ in the name for a pattern. Rename the file or its folder, or "
                "leave out --engine spark."
            )


@contextmanager
def _silent() -> Iterator[None]:
    """Spark's Python side writes failed queries to standard error, and the data that made them fail."""
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


def _quietly(undo: Any, *args: Any) -> None:
    with suppress(Exception):  # gone with the session at the latest
        undo(*args)
