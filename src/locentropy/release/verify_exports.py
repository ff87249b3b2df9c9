"""Whether the further formats of a release hold its table. Their files may come from anywhere."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from locentropy.core.errors import ReleaseError
from locentropy.places.geopackage import GeoPackageError, opened_geopackage, wkb_in
from locentropy.release.exports import EXCEL, LAYER, excel_csv_of, geojson_of, shapes_in_gpkg
from locentropy.release.reading import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from locentropy.release.reading import Described
    from locentropy.release.release import Release


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
        names.gpkg: lambda path: _rows_in_gpkg(path) == _rows_for_gpkg(release),
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


def _rows_in_gpkg(path: Path) -> list[tuple[Any, ...]]:
    """The rows of a GeoPackage in the same form."""
    try:
        with opened_geopackage(path.read_bytes()) as tables:
            found = tables.rows(LAYER)
    except GeoPackageError as error:
        raise ReleaseError(f"{path} cannot be read as a GeoPackage: {error}.") from None
    return [(wkb_in(blob), *values) for _, blob, *values in found]


def _in_sqlite(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return value.isoformat() if isinstance(value, date) else value
