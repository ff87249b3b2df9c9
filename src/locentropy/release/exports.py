"""The published table in further formats, for programs that read no Parquet: GeoJSON, GeoPackage, CSV for Excel.

They repeat the table and add nothing: whoever has release.parquet has all of it. Nothing in them comes from a clock.
"""

from __future__ import annotations

import csv
import io
import json
import struct
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy.core.errors import ParameterError
from locentropy.release.outlines import rings_of, shapes_of
from locentropy.release.tables import GEOMETRY, points, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.release.release import Release

EXCEL: Final = {"excel-comma": ",", "excel-point": "."}
"""CSV for Excel where decimals have a comma, or a point. Only one of them: they are one file."""
GEOGRAPHIC: Final = ("geojson", "gpkg")
FORMATS: Final = (*GEOGRAPHIC, *EXCEL)
"""What `also` may name."""

LAYER: Final = "release"
"""Of the GeoPackage."""
_NO_CLOCK: Final = "2000-01-01T00:00:00.000Z"
"""A GeoPackage must say when it was changed. When the data was read is nobody's business, so it is always this."""
_ONE_POLYGON: Final = struct.Struct("<BII").pack(1, 6, 1)
"""What makes a multipolygon of the well-known binary of a polygon."""
_POLYGON: Final = 3
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
    shapes = shapes_of(release)
    if shapes is not None:
        return shapes.cast(pa.binary())
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


def shapes_in_gpkg(release: Release) -> list[bytes | None]:
    """The geometry of each place; all areas are multipolygons, for a layer has one kind of geometry."""
    shapes: list[bytes | None] = geometry_of(release).to_pylist()
    return [_ONE_POLYGON + each if each is not None and each[1] == _POLYGON else each for each in shapes]


def gpkg_of(release: Release) -> bytes:
    """A GeoPackage with one layer, `release`."""
    import pyogrio

    wkb = pa.array(shapes_in_gpkg(release), pa.binary())
    table = release.to_arrow().append_column(GEOMETRY, wkb).replace_schema_metadata(None)
    sink = io.BytesIO()
    before = pyogrio.get_gdal_config_option("OGR_CURRENT_DATE")
    pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": _NO_CLOCK})
    try:
        pyogrio.write_arrow(
            table,
            sink,
            driver="GPKG",
            layer=LAYER,
            geometry_name=GEOMETRY,
            geometry_type="Point" if shapes_of(release) is None else "MultiPolygon",
            crs="EPSG:4326",
            layer_options={"FID": _free_name(table.column_names), "GEOMETRY_NAME": GEOMETRY},
            # Not of the whole file: GDAL would repeat that in another file whenever this one is read.
            layer_metadata=summary(release.statement),
        )
    finally:
        pyogrio.set_gdal_config_options({"OGR_CURRENT_DATE": before})
    return sink.getvalue()


def _free_name(taken: Sequence[str]) -> str:
    """A name for the numbers of rows that a GeoPackage has; names are compared without case."""
    name = "fid"
    while name in {each.casefold() for each in taken}:
        name = f"_{name}"
    return name


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
    shapes = shapes_of(release)
    if shapes is not None:
        return [_areas(each) for each in shapes.to_pylist()]
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
