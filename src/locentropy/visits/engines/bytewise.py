"""Comparing texts byte by byte, whatever the collation of their column.

A column may have a collation for which "a" equals "A" or "é" equals "e". Grouping by it would merge two people into
one, and each of them would be protected only half. Bytes have no collation: a text that is converted to bytes and back
has the backend's default collation, which distinguishes all texts. PostgreSQL allows no other default; that of Spark is
binary; so is that of DuckDB, unless the session has set another, which is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ibis

from locentropy.core.errors import ColumnError
from locentropy.visits.expressions import id_columns, md5

if TYPE_CHECKING:
    from collections.abc import Callable

    from locentropy.visits.engines.base import Engine


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def convert_to(text: str, encoding: str) -> bytes:
    """PostgreSQL: a text as bytes."""
    raise AssertionError("runs in the engine")


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def convert_from(data: bytes, encoding: str) -> str:
    """PostgreSQL: bytes as a text."""
    raise AssertionError("runs in the engine")


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def validate_utf8(text: str) -> str:
    """Spark: the same text, or an error if its bytes are not UTF-8."""
    raise AssertionError("runs in the engine")


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def encode(text: str) -> bytes:
    """DuckDB: a text as bytes."""
    raise AssertionError("runs in the engine")


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def decode(data: bytes) -> str:
    """DuckDB: bytes as a text."""
    raise AssertionError("runs in the engine")


_THROUGH_BYTES: Final[dict[str, Callable[[Any], Any]]] = {
    "postgres": lambda text: convert_from(convert_to(text, "UTF8"), "UTF8"),
    # Not by encoding: Spark would replace every invalid byte by the same character.
    "pyspark": lambda text: validate_utf8(text.cast("binary").cast("string")),
    "duckdb": lambda text: decode(encode(text)),
}


def bytewise(text: Any, backend: str) -> Any:
    """The same text, compared byte by byte on known backends; on others `check_ids_distinct` checks the ids."""
    through_bytes = _THROUGH_BYTES.get(backend)
    return text if through_bytes is None else through_bytes(text)


def check_ids_distinct(engine: Engine, backend: Any) -> None:
    """Raise ColumnError if the backend treats differently written ids as equal."""
    texts = [role for role in id_columns(engine.visits) if engine.visits[role].type().is_string()]
    if not texts:
        return
    if backend.name == "duckdb":
        _check_binary_collation(backend, engine.label)
    if backend.name in _THROUGH_BYTES:
        return
    counts = {role: engine.visits[role].nunique() for role in texts}
    counts |= {f"written_{role}": md5(engine.visits[role]).nunique() for role in texts}
    row = engine.run(engine.visits.aggregate(**counts), "Checking").to_pylist()[0]
    for role in texts:
        if row[role] != row[f"written_{role}"]:
            raise ColumnError(
                f"{engine.label}: the {role} column {engine.columns[role]!r} has a collation that treats "
                "different ids as equal. Two people would be protected as one. Give it a binary collation in the "
                "warehouse."
            )


def _check_binary_collation(backend: Any, label: str) -> None:
    [[collation]] = backend.con.execute("SELECT current_setting('default_collation')").fetchall()
    if collation.lower() not in ("", "binary", "c", "posix"):
        raise ColumnError(
            f"{label}: the session compares texts by the collation {collation!r}, which may treat different ids as "
            "equal. Two people would be protected as one. Reset it: RESET default_collation"
        )
