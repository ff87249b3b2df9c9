"""Tables in memory: pandas, Polars, Arrow, and whatever else speaks Arrow's C stream interface."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy.core.errors import ColumnError, SourceError
from locentropy.visits.sources.part import Column, Relation, described
from locentropy.visits.sql import identifier

if TYPE_CHECKING:
    import duckdb

    from locentropy.visits.columns import Roles

_NAMES: Final = count()


def is_frame(source: object) -> bool:
    """Whether this is a table in memory that we can read."""
    return _library(source) == "pandas" or hasattr(source, "__arrow_c_stream__") or _is_lazy(source)


def _library(source: object) -> str:
    return type(source).__module__.partition(".")[0]


def _is_lazy(source: object) -> bool:
    return _library(source) == "polars" and type(source).__name__ == "LazyFrame"


@dataclass(frozen=True)
class FramePart:
    """A table in memory; only the columns that play a role are converted."""

    frame: Any
    label: str = field(init=False)

    reads_once = False
    hint = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", f"the {_library(self.frame)} table")
        if not _is_lazy(self.frame) and _library(self.frame) not in ("pandas", "polars", "pyarrow"):
            object.__setattr__(self, "frame", pa.table(self.frame))
        elif isinstance(self.frame, pa.RecordBatchReader):
            object.__setattr__(self, "frame", self.frame.read_all())

    @property
    def columns(self) -> list[str]:
        """The columns' names; names that are not text cannot be asked for."""
        if _is_lazy(self.frame):
            names = self.frame.collect_schema().names()
        elif _library(self.frame) == "pyarrow":
            names = self.frame.schema.names
        else:
            names = self.frame.columns
        return [name for name in names if isinstance(name, str)]

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Show the engine an Arrow table of the columns that play a role."""
        table = pa.table({role: self._column(name) for role, name in roles.items()})
        name = f"frame_{next(_NAMES)}"
        con.register(name, table)
        types = described(con, identifier(name))
        return Relation(identifier(name), {role: Column(identifier(role), types[role]) for role in types})

    def _column(self, name: str) -> Any:
        try:
            column = self._arrow(name)
        except (pa.ArrowException, TypeError, ValueError):
            raise ColumnError(
                f"{self.label}: the column {name!r} mixes values of different types. One id must have one "
                "spelling: 7, '7' and 7.0 would be three users. Make the column all whole numbers or all "
                f"texts first, for example df[{name!r}] = df[{name!r}].astype(str)."
            ) from None
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    def _arrow(self, name: str) -> Any:
        if _library(self.frame) == "pandas":
            return _chunked(pa.Array.from_pandas(self.frame[name]))
        if _library(self.frame) == "polars":
            series = self.frame.select(name)
            return (series.collect() if _is_lazy(self.frame) else series).to_arrow().column(0)
        return _chunked(self.frame.column(name))


def _chunked(column: Any) -> Any:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def part(source: object) -> FramePart:
    """A table in memory as a part."""
    if not is_frame(source):
        raise SourceError(
            f"{type(source).__name__} is not a table that can be read. Give a path, a pandas, Polars or Arrow "
            'table, or an Ibis table. For example: Visits("checkins.parquet")'
        )
    return FramePart(source)
