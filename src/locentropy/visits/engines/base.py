"""The contract of an engine, and the choice of one for a table of visits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, get_args

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import ibis
    import pyarrow as pa

    from locentropy.core.locations import Cells
    from locentropy.visits.runs import Packing
    from locentropy.visits.visits import MissingIds, Visits

Progress = Callable[[str, float | None], None]
"""Called now and then with what is being done and the fraction that is done (0 to 1, None if unknown)."""

EngineName = Literal["duckdb", "spark"]

Clock = Literal["instant", "local", "number", "mixed"]
"""Times that name their zone, times that do not, whole numbers, and several of these."""


@dataclass(frozen=True)
class Resources:
    """The engine that runs queries, and what it may use; None leaves a choice to the engine."""

    memory: str | None = None
    """Working memory, such as "500MB" or "2GB"; data beyond it is spilled to disk."""

    threads: int | None = None
    """Number of threads."""

    spill: str | Path | None = None
    """Folder for data that does not fit into memory. A subfolder that only the owner can read is made in it, and
    removed afterwards."""

    engine: EngineName = "duckdb"
    """`duckdb`, embedded in this process, or `spark`. A Spark DataFrame or an Ibis table runs on its own engine."""

    session: Any | None = None
    """The Spark session to use, which implies `spark`; None makes a local one with `memory` and `threads`."""

    def __post_init__(self) -> None:
        if self.session is not None:
            object.__setattr__(self, "engine", "spark")
        if self.engine not in get_args(EngineName):
            raise ParameterError(
                f"is not one of {', '.join(get_args(EngineName))}.",
                parameter="engine",
                value=self.engine,
                example='Resources(engine="duckdb")',
            )
        if self.memory is not None and not re.fullmatch(r"0*[1-9]\d{0,5}(\.\d+)?\s*[KMGT]i?B", self.memory):
            raise ParameterError(
                "is not an amount.", parameter="memory", value=self.memory, example='Resources(memory="2GB")'
            )
        if self.threads is not None:
            check_whole("Resources(threads=2)", "threads", self.threads, 1, 1024)
        if self.spill is not None and not Path(self.spill).is_dir():
            raise ParameterError(
                "is not a folder. Make it first, or leave it out.", parameter="spill", value=str(self.spill)
            )


class Engine(Protocol):
    """Runs expressions on the visits where they are stored."""

    @property
    def visits(self) -> ibis.Table:
        """The rows as (user, location, time?, visits?, lat?, lon?), with ids as whole numbers or texts."""

    @property
    def label(self) -> str:
        """The table's name in error messages."""

    @property
    def columns(self) -> dict[str, str]:
        """The name of the column of each role."""

    @property
    def clock(self) -> Clock | None:
        """What the times are, as far as their stored type tells; None if they are texts, or there are none."""

    @property
    def only_dates(self) -> bool:
        """Whether the times have no time of day, by their stored type or the format that was said."""

    @property
    def described(self) -> str:
        """How files were read, as far as that was recognised; empty where every column has its type."""

    def keep_only(self, visits: ibis.Table) -> None:
        """From here on, `visits` are these, some of its rows."""

    def check_ids(self, missing_ids: MissingIds) -> None:
        """Raise ColumnError if ids of `visits` could be taken in two ways where they are stored."""

    @property
    def typed_locations(self) -> bool:
        """Whether location ids keep their stored type; false if they were read as text."""

    @property
    def rows_stay(self) -> bool:
        """Whether `visits` has the same rows each time, or `free_source` raises."""

    @property
    def repeats_columns(self) -> bool:
        """Whether it computes a column of a subquery anew wherever it is used, as PostgreSQL does."""

    @property
    def embedded(self) -> EmbeddedEngine | None:
        """This engine, if it is one in this process."""

    def store_source(self) -> None:
        """Make sure that the rows can be read several times at no great cost."""

    def find_bad_file(self, condition: ibis.Expr) -> str:
        """The label of a file with a row that meets a condition; of the table, if files are not told apart."""

    def run(self, expression: ibis.Table, doing: str) -> pa.Table:
        """The rows of an expression."""

    def materialize(self, name: str, expression: ibis.Table, doing: str) -> ibis.Table:
        """Compute an expression once and store its rows, for later expressions to use."""

    def upload(self, name: str, table: pa.Table) -> ibis.Table:
        """Make a small Arrow table usable in expressions."""

    def locate(self, visits: ibis.Table, cells: Cells) -> ibis.Table:
        """The visits with the position of their cell as the location; those in none have null, or are left out."""

    def free_source(self) -> None:
        """Free the rows, which are no longer needed; raise SourceError if they changed while they were read."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class EmbeddedEngine(Engine, Protocol):
    """An engine in this process, to which a small question costs little, as does a row that Python is to see."""

    def ready_for_one_pass(self) -> bool:
        """Whether it can count rows before they are checked (one_pass.py), and then is ready to do so."""

    @property
    def reads_to_keep(self) -> bool:
        """Whether what is needed of the rows is better stored than read twice: of text, if it fits into memory."""

    def first_row(self, columns: Sequence[str]) -> dict[str, Any] | None:
        """Some columns of any one row that is stored; None if there is no row."""

    def materialize_runs(
        self, name: str, rows: ibis.Table, packing: Packing | None, most: int | None, doing: str
    ) -> ibis.Table:
        """Store the pairs of at most so many rows, of a user and a code, with what each user's add up to: see runs.py.

        `packing` makes one number of both; None where that does not fit.
        """

    def drop(self, *names: str) -> None:
        """Free what was materialized under these names, if anything was."""


def engine_for(
    visits: Visits, required: Sequence[str], resources: Resources, progress: Progress | None
) -> Engine:
    """Open the visits in the engine that fits them."""
    library = type(visits.source).__module__.partition(".")[0]
    if library == "pyspark" or resources.engine == "spark" or (library == "ibis" and _on_spark(visits)):
        from locentropy.visits.engines.spark import SparkEngine
        from locentropy.visits.engines.spark_session import require_spark

        require_spark()
        return SparkEngine(visits, required, resources, progress)
    if library == "ibis":
        from locentropy.visits.engines.ibis import IbisEngine

        return IbisEngine(visits, required, progress)
    from locentropy.visits.engines.duckdb import DuckDBEngine

    return DuckDBEngine(visits, required, resources, progress)


def _on_spark(visits: Visits) -> bool:
    import ibis

    try:
        return bool(ibis.get_backend(visits.source).name == "pyspark")
    except Exception:  # IbisEngine reports expressions that are not tables, or have two backends
        return False
