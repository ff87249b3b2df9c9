"""A part of a source: rows that share one layout, as the embedded engine sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import duckdb

    from locentropy.visits.columns import Roles
    from locentropy.visits.readers.files import Unchanged


@dataclass(frozen=True)
class Column:
    """A column as a query refers to it."""

    expression: str
    """SQL that gives its value."""

    type_name: str
    """Its DuckDB type."""


@dataclass(frozen=True)
class Relation:
    """A part, ready to be selected from."""

    sql: str
    """What stands after FROM."""

    columns: dict[str, Column]
    """The column of each role that is played."""


class Part(Protocol):
    """Rows of one layout: the files of a source may come in several."""

    @property
    def label(self) -> str:
        """How an error names it."""

    @property
    def columns(self) -> list[str]:
        """The columns' names, in order."""

    @property
    def reads_once(self) -> bool:
        """Whether reading is so costly, or so fleeting, that the rows should be loaded first."""

    @property
    def unchanged(self) -> Unchanged:
        """How its files stood before anything was read of them; to be checked when the last row was."""

    @property
    def hint(self) -> str:
        """What to say where no column has a usual name."""

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Make the rows selectable on a connection."""


def described(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """The columns of a relation and their types, in order: rows of DESCRIBE, as any, come in whatever order."""
    found = con.sql(f"SELECT * FROM {relation}")
    return {name: str(type_name) for name, type_name in zip(found.columns, found.types, strict=True)}
