"""The published table in further formats, for programs that read no Parquet: GeoJSON, GeoPackage, CSV for Excel.

They repeat the table and add nothing: whoever has release.parquet has all of it. Nothing in them comes from a clock.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import struct
from contextlib import closing
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.release.outlines import rings_of
from locentropy.release.tables import GEOMETRY, points, summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.release.release import Release

EXCEL: Final = {"excel-comma": ",", "excel-point": "."}
"""CSV for Excel where decimals have a comma, or a point. Only one of them: they are one file."""
GEOGRAPHIC: Final = ("geojson", "gpkg")
FORMATS: Final = (*GEOGRAPHIC, *EXCEL)
"""What `also` may name."""

_LAYER: Final = "release"
_NO_CLOCK: Final = "2000-01-01T00:00:00.000Z"
"""A GeoPackage must say when it was changed. When the data was read is nobody's business, so it is always this."""
_ONE_POLYGON: Final = struct.Struct("<BII").pack(1, 6, 1)
"""What makes a multipolygon of the well-known binary of a polygon."""
_POLYGON: Final = 3
_GPKG_HEADER: Final = 8
_ENVELOPES: Final = {1: 32, 2: 48, 3: 48, 4: 64}
"""Bytes of a bounding box in a geometry of a GeoPackage, by its kind."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_EXAMPLE: Final = 'publish(…, out="may", also=["geojson", "gpkg"])'


def check_also(also: Sequence[str], *, coordinates: bool) -> tuple[str, ...]:
    """The further formats, each once; ParameterError if one is unknown, or cannot be written here."""
    if isinstance(also, str):
        raise ParameterError("must be a list of formats.", parameter="also", value=also, example=_EXAMPLE)
    chosen = tuple(dict.fromkeys(also))
    for name in chosen:
        if name not in FORMATS:
            raise ParameterError(
                f"names {name!r}, which is not one of {', '.join(FORMATS)}.",
                parameter="also",
                example=_EXAMPLE,
            )
    if set(EXCEL) <= set(chosen):
        raise ParameterError("can have one of excel-comma and excel-point, not both.", parameter="also")
    geographic = [name for name in chosen if name in GEOGRAPHIC]
    if geographic and not coordinates:
        raise ParameterError(
            f"names {geographic[0]!r}, and the places have no coordinates. They come from the public list: its columns "
            "lat and lon (--places-lat, --places-lon), or from a grid.",
            parameter="also",
        )
    if "gpkg" in chosen and find_spec("pyogrio") is None:
        raise ParameterError(
            "names 'gpkg', which needs an extra to be written: pip install 'locentropy[geo]'. Without it: geojson",
            parameter="also",
        )
    return chosen


def exported(release: Release, name: str) -> bytes:
    """The table in one of the formats."""
    if name == "geojson":
        return geojson_of(release)
    return gpkg_of(release) if name == "gpkg" else excel_csv_of(release.to_arrow(), EXCEL[name])


def geometry_of(release: Release) -> pa.Array:
    """The outline or the point of each place, as well-known binary; null where it has no coordinates."""
    if release.outlines is not None:
        return release.outlines.cast(pa.binary())
    return points(release.table["lat"], release.table["lon"])


def geojson_of(release: Release) -> bytes:
    """A FeatureCollection (RFC 7946), one feature on each line; properties are the columns of the table."""
    head = json.dumps({"locentropy": summary(release.statement)}, ensure_ascii=False)[1:-1]
    features = (
        json.dumps({"type": "Feature", "geometry": shape, "properties": row}, ensure_ascii=False, default=str)
        for shape, row in zip(_shapes(release), release.to_arrow().to_pylist(), strict=True)
    )
    lines = ",\n".join(features)
    return f'{{"type": "FeatureCollection", {head}, "features": [\n{lines}\n]}}\n'.encode()


def gpkg_of(release: Release) -> bytes:
    """A GeoPackage with one layer, `release`."""
    import pyogrio

    wkb = geometry_of(release)
    if release.outlines is not None:
        wkb = pa.array([_as_multipolygon(each) for each in wkb.to_pylist()], pa.binary())
    table = release.to_arrow().append_column(GEOMETRY, wkb).replace_schema_metadata(None)
    sink = io.BytesIO()
    before = pyogrio.get_gdal_config_option("OGR_CURRENT_DATE")
    pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": _NO_CLOCK})
    try:
        pyogrio.write_arrow(
            table,
            sink,
            driver="GPKG",
            layer=_LAYER,
            geometry_name=GEOMETRY,
            geometry_type="Point" if release.outlines is None else "MultiPolygon",
            crs="EPSG:4326",
            layer_metadata=summary(
                release.statement
            ),  # of the data set, GDAL would write another file when reading
        )
    finally:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": before})
    return sink.getvalue()


def rows_for_gpkg(release: Release) -> list[tuple[Any, ...]]:
    """The rows as a GeoPackage holds them: the geometry, then the values of the table as SQLite has them."""
    wkb = geometry_of(release).to_pylist()
    if release.outlines is not None:
        wkb = [_as_multipolygon(each) for each in wkb]
    values = ([_in_sqlite(each) for each in column.to_pylist()] for column in release.to_arrow().columns)
    return list(zip(wkb, *values, strict=True))


def rows_in_gpkg(path: Path) -> list[tuple[Any, ...]]:
    """The rows of a GeoPackage in the same form; ReleaseError if it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as con:
            found = con.execute(f'SELECT * FROM "{_LAYER}" ORDER BY fid').fetchall()  # noqa: S608  # a constant
    except sqlite3.Error as error:
        raise ReleaseError(f"{path} cannot be read as a GeoPackage: {type(error).__name__}.") from None
    return [(_wkb_in(blob), *values) for _, blob, *values in found]


def _in_sqlite(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return value.isoformat() if isinstance(value, date) else value


def _wkb_in(blob: Any) -> bytes | None:
    """The well-known binary in a geometry of a GeoPackage: after its header, whose length its flags tell."""
    if not isinstance(blob, bytes) or len(blob) < _GPKG_HEADER:
        return None
    envelope = (blob[3] >> 1) & 7
    return blob[_GPKG_HEADER + _ENVELOPES.get(envelope, 0) :]


def excel_csv_of(table: pa.Table, decimal: str) -> bytes:
    """A CSV file that opens in Excel with a double click, where decimals have this mark.

    Excel takes the separator from the country, a semicolon where decimals have a comma, and the encoding from the mark
    at the beginning. Texts that it would take for formulas get an apostrophe: nothing is joined by this file.
    """
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=";" if decimal == "," else ",", lineterminator="\r\n")
    writer.writerow(_cell(name, decimal) for name in table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        writer.writerow(_cell(value, decimal) for value in row)
    return sink.getvalue().encode("utf-8-sig")


def _cell(value: Any, decimal: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(value).replace(".", decimal)
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return str(value)


def _shapes(release: Release) -> list[dict[str, Any] | None]:
    if release.outlines is not None:
        return [_areas(each) for each in release.outlines.to_pylist()]
    lat, lon = (release.table[name].to_pylist() for name in ("lat", "lon"))
    return [
        None if y is None or x is None else {"type": "Point", "coordinates": [x, y]}
        for y, x in zip(lat, lon, strict=True)
    ]


def _areas(outline: bytes) -> dict[str, Any]:
    polygons = [
        [_turned(ring, outer=at == 0).tolist() for at, ring in enumerate(polygon)]
        for polygon in rings_of(outline)
    ]
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}


def _turned(ring: NDArray[np.float64], *, outer: bool) -> NDArray[np.float64]:
    """The ring in the direction that the standard asks for: outer ones anticlockwise, holes clockwise."""
    x, y = ring[:-1].T - ring[0][:, None]
    following = ring[1:].T - ring[0][:, None]
    anticlockwise = float((x * following[1] - following[0] * y).sum()) > 0
    return ring if anticlockwise == outer else ring[::-1]


def _as_multipolygon(outline: bytes) -> bytes:
    return _ONE_POLYGON + outline if outline[1] == _POLYGON else outline
