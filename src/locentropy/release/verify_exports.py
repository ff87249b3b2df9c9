"""Whether the further formats of a release hold its table. Their files may come from anywhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ReleaseError
from locentropy.release.exports import EXCEL, LAYER, excel_csv_of, geojson_of, shapes_in_gpkg
from locentropy.release.reading import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from locentropy.release.reading import Described
    from locentropy.release.release import Release

_HEADER: Final = 8
_ENVELOPES: Final = {1: 32, 2: 48, 3: 48, 4: 64}
"""Bytes of a bounding box in a geometry of a GeoPackage, by its kind."""


def has_exports(about: Described) -> bool:
    """Whether the details name any of them."""
    return bool(about.hashes.keys() & {about.names.geojson, about.names.gpkg, about.names.excel})


def differing_exports(
    directory: Path, release: Release, about: Described, *, same_words: bool
) -> Iterator[str]:
    """What is wrong; the words in a GeoJSON file are compared only if `same_words` are to be expected."""
    names = about.names
    agree: dict[str, Callable[[Path], bool]] = {
        names.geojson: lambda path: not same_words or path.read_bytes() == geojson_of(release),
        names.gpkg: lambda path: _rows_in_gpkg(path, len(release)) == _rows_for_gpkg(release),
        names.excel: lambda path: (
            path.read_bytes() in [excel_csv_of(release.to_arrow(), mark) for mark in EXCEL.values()]
        ),
    }
    for name, agrees in agree.items():
        if name in about.hashes and not agrees(regular(directory / name)):
            yield f"{name} and {names.parquet} hold different tables."


def _rows_for_gpkg(release: Release) -> list[tuple[Any, ...]]:
    """The rows as a GeoPackage holds them: the geometry, then the values of the table as SQLite has them."""
    values = ([_in_sqlite(each) for each in column.to_pylist()] for column in release.to_arrow().columns)
    return list(zip(shapes_in_gpkg(release), *values, strict=True))


def _rows_in_gpkg(path: Path, expected: int) -> list[tuple[Any, ...]]:
    """The rows of a GeoPackage in the same form, one more than expected at most."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as con:
            kind = con.execute("SELECT type FROM sqlite_master WHERE name = ?", [LAYER]).fetchall()
            if kind != [("table",)]:  # a view could run for ever
                raise ReleaseError(f"{path} has no table {LAYER!r}.")
            found = con.execute(f'SELECT * FROM "{LAYER}" ORDER BY 1 LIMIT {expected + 1}').fetchall()  # noqa: S608  # constants
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ReleaseError(f"{path} cannot be read as a GeoPackage: {type(error).__name__}.") from None
    return [(_wkb_in(blob), *values) for _, blob, *values in found]


def _in_sqlite(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return value.isoformat() if isinstance(value, date) else value


def _wkb_in(blob: Any) -> bytes | None:
    """The well-known binary in a geometry of a GeoPackage: after its header, whose length its flags tell."""
    if not isinstance(blob, bytes) or len(blob) < _HEADER:
        return None
    return blob[_HEADER + _ENVELOPES.get((blob[3] >> 1) & 7, 0) :]
