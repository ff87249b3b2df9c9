"""Names and texts as parts of a query: everything that is put into one goes through here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

OFFLINE: Final = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
"""Settings of every connection of DuckDB: nothing is downloaded, and no code is loaded that did not come with it."""


def identifier(name: str) -> str:
    """A name as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def confine(con: duckdb.DuckDBPyConnection) -> None:
    """Let no query on this connection open a further file or change a setting; files for spilled rows stay allowed."""
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def list_literal(texts: Iterable[str]) -> str:
    """Texts as a list literal."""
    return "[" + ", ".join(map(literal, texts)) + "]"
