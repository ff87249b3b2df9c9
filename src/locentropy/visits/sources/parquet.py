"""Parquet files."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from locentropy.core.errors import SourceError
from locentropy.visits.sources.part import Column, Relation, described
from locentropy.visits.sources.unchanged import Unchanged
from locentropy.visits.sql import identifier, list_of

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from locentropy.visits.columns import Roles


def _reading(paths: tuple[Path, ...]) -> str:
    names = list_of(glob.escape(str(path)) for path in paths)
    return f"read_parquet({names}, hive_partitioning=false)"


@dataclass(frozen=True)
class ParquetPart:
    """Parquet files with the same columns of the same types, read where they are."""

    paths: tuple[Path, ...]
    layout: tuple[tuple[str, Column], ...]
    """The name of each column in the file, and what the engine calls it: it renames those that clash."""
    unchanged: Unchanged

    reads_once = False
    hint = ""

    @property
    def label(self) -> str:
        """The first file stands for all."""
        return str(self.paths[0])

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.layout]

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Select from the files in place."""
        columns = dict(self.layout)
        return Relation(_reading(self.paths), {role: columns[name] for role, name in roles.items()})


def parts(con: duckdb.DuckDBPyConnection, paths: list[Path]) -> list[ParquetPart]:
    """The files, grouped by their layout."""
    unchanged = Unchanged.of(paths)
    groups: dict[tuple[tuple[str, Column], ...], list[Path]] = {}
    for path in paths:
        groups.setdefault(_layout(con, path), []).append(path)
    return [ParquetPart(tuple(group), layout, unchanged) for layout, group in groups.items()]


def _layout(con: duckdb.DuckDBPyConnection, path: Path) -> tuple[tuple[str, Column], ...]:
    import duckdb

    try:
        names = pq.read_schema(path).names
        types = described(con, _reading((path,)))
        columns = [Column(identifier(name), type_name) for name, type_name in types.items()]
        return tuple(zip(names, columns, strict=True))
    except (
        duckdb.Error,
        pa.ArrowException,
        OSError,
        ValueError,
    ):  # the last where names are no texts, or not alike
        raise SourceError(
            f"{path}: cannot be read as Parquet. Is it whole? Copy it again from where it came."
        ) from None
