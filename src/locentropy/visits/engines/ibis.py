"""Any Ibis backend: the visits stay in their warehouse, and only integers come back."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

import ibis
import ibis.expr.datatypes as dt

from locentropy.core.errors import ColumnError, ColumnProblems, EngineError, LocentropyError, SourceError
from locentropy.core.locations import SquareCells
from locentropy.core.missing import missing_module
from locentropy.visits.column_types import MAX_VISITS_PER_ROW, Kind, check_type
from locentropy.visits.columns import resolve_roles
from locentropy.visits.engines.bytewise import bytewise, check_ids_distinct
from locentropy.visits.engines.locating import located
from locentropy.visits.expressions import in_squares
from locentropy.visits.private_log import PRIVATE_LOG
from locentropy.visits.readers.resolve import TEXT_OPTIONS, TYPED_ONLY, WRITING_OPTIONS, reject_options
from locentropy.visits.spelled import spelled, unless_word
from locentropy.visits.time_kinds import check_clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import pyarrow as pa

    from locentropy.core.locations import Cells
    from locentropy.visits.engines.base import Clock, Progress
    from locentropy.visits.visits import MissingIds, Visits

_NUMBERS: Final = count()
_CASTS: Final = {"time": "timestamp", "visits": "int64", "lat": "float64", "lon": "float64"}


class IbisEngine:
    """Runs expressions on the backend of an Ibis table. Its temporary tables are dropped at the end."""

    described = ""
    rows_stay: Final = False  # others may write to the table

    def __init__(
        self, visits: Visits, required: Sequence[str], progress: Progress | None, label: str | None = None
    ) -> None:
        table = visits.source
        reject_options(visits, ("table", "views", *TEXT_OPTIONS), "an Ibis table")
        reject_options(visits, WRITING_OPTIONS, f"an Ibis table, {TYPED_ONLY}")
        if not isinstance(table, ibis.Table):
            raise SourceError(
                f"An Ibis {type(table).__name__} is not a table. For example: Visits(con.table('checkins'))"
            )
        self._progress = progress
        self._kept: list[str] = []
        self.label = label or _name(table)
        with self._translated():
            self._backend = ibis.get_backend(table)
        problems = ColumnProblems()
        choices = visits.choices_for(required)
        roles = resolve_roles(choices, table.columns, self.label, required, problems=problems)
        self.columns = roles
        for role, name in roles.items():
            with problems.caught():
                _check_type(role, name, table[name].type(), self.label)
        stored = _kind(table[roles["location"]].type()) if "location" in roles else "integer"
        self.typed_locations = visits.spelling.text or stored != "big-integer"
        self.only_dates = "time" in roles and table[roles["time"]].type().is_date()
        self.clock = self._clock_of(table) if "time" in roles else None
        if problems.found:  # a clock alone is told once it is known what else is asked of times
            with problems.caught():
                check_clock(self, visits)
        problems.tell()
        self.visits = table.select(
            **{role: self._cast(role, table[name], visits) for role, name in roles.items()}
        )

    def _clock_of(self, table: ibis.Table) -> Clock | None:
        """What the times are by their type."""
        return _clock(table[self.columns["time"]].type())

    def _cast(self, role: str, column: Any, visits: Visits) -> Any:
        """The column in the type of its role."""
        kind = _kind(column.type())
        if role in ("user", "location"):
            if kind == "text":
                ids = bytewise(column.cast("string"), self._backend.name)
            else:
                ids = column.cast("int64" if kind == "integer" and not visits.spelling.text else "string")
            ids = spelled(ids, visits.spelling, self._backend.name)
            return unless_word(ids, visits.missing_id_words) if role == "user" else ids
        if role == "time":
            if kind != "moment":
                return column.cast("int64")
            zone = column.type().timezone if column.type().is_timestamp() else None
            return column.cast(dt.Timestamp(timezone=zone, scale=6))  # to the microsecond, as on every engine
        if role != "visits":
            return column.cast("float64")
        valid = column.between(1, MAX_VISITS_PER_ROW) & (column == column.floor())
        return valid.ifelse(column, 0).cast("int64")

    def keep_only(self, visits: ibis.Table) -> None:
        """From here on, `visits` are these, some of its rows."""
        self.visits = visits

    def check_ids(self, missing_ids: MissingIds) -> None:
        """Raise ColumnError if the backend takes different ids for equal, whether they are missing or not."""
        check_ids_distinct(self, self._backend)

    def find_bad_file(self, condition: ibis.Expr) -> str:
        """The label of the table, which has no files."""
        return self.label

    def run(self, expression: ibis.Table, doing: str) -> pa.Table:
        """The rows of an expression, as an Arrow table."""
        self._report(doing)
        with self._translated():
            return self._backend.to_pyarrow(expression)

    def materialize(self, name: str, expression: ibis.Table, doing: str) -> ibis.Table:
        """Store the rows of an expression in a temporary table of the backend."""
        self._report(doing)
        unique = f"locentropy_{name}_{next(_NUMBERS)}"
        with self._translated():
            kept = self._backend.create_table(unique, expression, temp=True)
        self._kept.append(unique)
        return kept

    def upload(self, name: str, table: pa.Table) -> ibis.Table:
        """Send an Arrow table to the backend with the queries that use it."""
        sent = ibis.memtable(table)
        self._kept.append(sent.get_name())
        return sent

    def locate(self, visits: ibis.Table, cells: Cells) -> ibis.Table:
        """Squares by arithmetic in SQL; for other cells, distinct coordinates come here and their positions go back.

        Coordinates are compared as the numbers they are, which a backend and Arrow pass on unchanged.
        """
        if isinstance(cells, SquareCells):
            return in_squares(visits, cells)
        known = visits.filter(visits.lat.between(-90, 90) & visits.lon.between(-180, 180))
        points = self.run(known.select("lat", "lon").distinct(), "Finding places")
        positions = located(cells.locator(), points["lat"], points["lon"])
        found = points.append_column("location", positions).filter(positions.is_valid())
        kept = known.drop("location") if "location" in known.columns else known
        return kept.inner_join(self.upload("points", found), ["lat", "lon"])

    @property
    def repeats_columns(self) -> bool:
        """Of PostgreSQL it is known; others keep their plans."""
        return bool(self._backend.name == "postgres")

    @property
    def embedded(self) -> None:
        """None: rows are where they are."""

    def store_source(self) -> None:
        """Do nothing: rows are where they are."""

    def free_source(self) -> None:
        """Do nothing: no row was copied."""

    def _report(self, doing: str) -> None:
        if self._progress is not None:
            self._progress(doing, None)

    @contextmanager
    def _translated(self, label: str | None = None) -> Iterator[None]:
        """Replace a backend's errors by plain ones; the originals, which may quote data, go to the private log."""
        label = label or self.label
        try:
            yield
        except LocentropyError:
            raise
        except Exception as error:
            PRIVATE_LOG.info("%s: %s", label, error)
            missing = missing_module(error, self._extra())
            if missing:
                raise EngineError(f"{label}: {missing}") from None
            if "INVALID_UTF8" in str(error):
                raise ColumnError(
                    f"{label}: some ids are not UTF-8 text, so different ids might be taken for the same. Write them "
                    "as UTF-8 where the table is made."
                ) from None
            if "ModuleNotFoundError" in str(error):
                raise EngineError(
                    f"{label}: Spark's executors lack a Python package. Zones, hexagons and INSPIRE squares are found "
                    "there: install 'locentropy[geo]' on every worker, or ship it with spark.archives."
                ) from None
            raise EngineError(
                f"{label}: its backend could not run the query ({type(error).__name__}). It must support md5, window "
                "functions and temporary tables. The private log (--private-log FILE) has the details."
            ) from None

    def _extra(self) -> str:
        """What has all that this backend needs; before one is known, it is Ibis's default."""
        backend = self._backend.name if hasattr(self, "_backend") else "duckdb"
        return "locentropy[spark]" if backend == "pyspark" else f"ibis-framework[{backend}]"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in self._kept:
            with suppress(Exception):  # dropped with the session at the latest
                self._backend.drop_table(name, force=True)


def _name(table: Any) -> str:
    try:
        return f"the Ibis table {table.get_name()}"
    except Exception:  # a computed table has no name, and raises various errors
        return "the Ibis table"


def _kind(dtype: Any) -> Kind:
    """The kind of an Ibis type."""
    if dtype.is_integer():
        return "big-integer" if dtype.is_uint64() else "integer"
    if dtype.is_decimal():
        return "big-integer" if dtype.scale == 0 else "real"
    if dtype.is_string() or dtype.is_uuid():
        return "text"
    if dtype.is_floating():
        return "real"
    return "moment" if dtype.is_timestamp() or dtype.is_date() else "other"


def _clock(dtype: Any) -> Clock | None:
    """What times of an Ibis type are; None if they cannot be times."""
    if _kind(dtype) != "moment":
        return "number" if _kind(dtype) in ("integer", "big-integer") else None
    return "instant" if dtype.is_timestamp() and dtype.timezone is not None else "local"


def _check_type(role: str, name: str, dtype: Any, label: str) -> None:
    """Raise unless a column fits its role. Only ids may be texts: backends parse times and numbers differently."""
    check_type(role, name, _kind(dtype), str(dtype), label)
    if role not in ("user", "location") and _kind(dtype) == "text":
        raise ColumnError(
            f"{label}: the {role} column {name!r} holds texts. Cast it in the warehouse. For example: "
            f"table.mutate(**{{{name!r}: table[{name!r}].cast('{_CASTS[role]}')}})"
        )
