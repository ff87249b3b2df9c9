"""Parquet files."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from typing import TYPE_CHECKING

from locentropy.core.errors import SourceError
from locentropy.visits.sources.part import Column, Relation, described
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
    types: dict[str, str]

    reads_once = False

    @property
    def label(self) -> str:
        """The first file stands for all."""
        return str(self.paths[0])

    @property
    def columns(self) -> list[str]:
        """The columns' names."""
        return list(self.types)

    def bind(self, con: duckdb.DuckDBPyConnection, roles: Roles, *, drop_bad: bool) -> Relation:
        """Select from the files in place."""
        columns = {role: Column(identifier(name), self.types[name]) for role, name in roles.items()}
        return Relation(_reading(self.paths), columns)


def parts(con: duckdb.DuckDBPyConnection, paths: list[Path]) -> list[ParquetPart]:
    """The files, grouped by their layout."""
    import duckdb

    groups: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for path in paths:
        try:
            layout = tuple(described(con, _reading((path,))).items())
        except duckdb.Error:
            raise SourceError(
                f"{path}: cannot be read as Parquet. Is it whole? Copy it again from where it came."
            ) from None
        groups.setdefault(layout, []).append(path)
    return [ParquetPart(tuple(group), dict(layout)) for layout, group in groups.items()]
