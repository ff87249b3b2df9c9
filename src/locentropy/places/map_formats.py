"""The four formats of a map, each read as what its name says it is: GeoJSON, GeoParquet, GeoPackage, shapefile.

A map is by somebody else more often than not. GDAL would take a file for whatever its content looks like, and some of
its formats are programs: they name further files, addresses, queries. So the name of the file decides, its content is
checked against it, and it is read once. GeoJSON is read as JSON, GeoParquet as Parquet, GeoPackage as stored tables;
GDAL reads the parts of a shapefile, from a folder where nothing else is. No format names what else to open.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import shapely
import shapely.errors

from locentropy.core.errors import ColumnError, LocentropyError, SourceError
from locentropy.core.parquet import TooLargeError, read_bounded
from locentropy.places.geopackage import GeoPackageError, opened_geopackage, wkb_in
from locentropy.places.wkb import is_flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

MAX_BYTES: Final = 1 << 30
"""Of each file of a map."""
PARQUET: Final = (".parquet", ".geoparquet")
JSON: Final = (".geojson", ".json")
GEOPACKAGE: Final = ".gpkg"
SHAPEFILE: Final = ".shp"
PARTS_OF_SHAPEFILE: Final = (".shp", ".dbf", ".prj", ".shx", ".cpg")
DEGREES: Final = "OGC:CRS84"
_NAMED: Final = {
    **dict.fromkeys(JSON, "GeoJSON"),
    **dict.fromkeys(PARQUET, "GeoParquet"),
    GEOPACKAGE: "a GeoPackage",
    SHAPEFILE: "a shapefile",
}
_SHAPEFILE_MAGIC: Final = struct.pack(">i20x", 9994)
"""A number, and five that are always 0."""


class Shapes(NamedTuple):
    """What a map holds, as it is."""

    table: pa.Table
    """The columns that were asked for."""
    shapes: NDArray[Any]
    """Of each row, in two dimensions; None where there is none, or a collection of shapes of several kinds."""
    crs: Any
    """Which coordinates these are; None if the map does not say."""
    every: Sequence[str]
    """The names of all columns but the geometry."""


def map_parts(path: Path) -> dict[str, bytes]:
    """The content of the files that a map consists of, by their endings; the one that is named first."""
    ending = path.suffix.lower()
    parts = {ending: _content(path)}
    for other in PARTS_OF_SHAPEFILE[1:] if ending == SHAPEFILE else ():
        beside = next(
            (path.with_suffix(each) for each in (other, other.upper()) if path.with_suffix(each).is_file()),
            None,
        )
        if beside is not None:
            parts[other] = _content(beside)
    return parts


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{path}: cannot be opened ({error.strerror}).") from None
    if len(content) > MAX_BYTES:
        raise SourceError(
            f"{path}: is larger than {MAX_BYTES >> 20:,} MB. Simplify the map, for example with mapshaper or GDAL's "
            "-simplify."
        )
    return content


def shapes_in(path: Path, parts: Mapping[str, bytes], columns: Sequence[str], layer: str | None) -> Shapes:
    """What the files hold; raises SourceError unless they are what their names say."""
    ending, content = next(iter(parts.items()))
    if layer is not None and ending != GEOPACKAGE:
        raise SourceError(f"{path}: of these formats only a GeoPackage has layers. Leave out layer.")
    try:
        if ending in JSON:
            found = _geojson(path, content, columns)
        elif ending in PARQUET:
            found = _geoparquet(path, content, columns)
        elif ending == GEOPACKAGE:
            found = _geopackage(path, content, columns, layer)
        else:
            found = _shapefile(path, parts, columns)
        _check_texts(path, found.table)
        return found
    except LocentropyError:
        raise
    except GeoPackageError as error:
        raise SourceError(f"{path}: {error}.") from None
    except shapely.errors.ShapelyError:
        raise SourceError(f"{path}: its geometry cannot be read. Write the file again.") from None
    except TooLargeError:
        raise SourceError(
            f"{path}: it unpacks to a map that is much larger than its file. Write it again."
        ) from None
    except Exception:  # a file may hold anything, and its reader may fail in any way
        raise SourceError(
            f"{path}: it cannot be read as a map. Is it complete, and is it {_NAMED[ending]}, as its name says?"
        ) from None


def _geojson(path: Path, content: bytes, columns: Sequence[str]) -> Shapes:
    # Each geometry becomes a shape as soon as its object ends, so that its numbers do not all wait as Python's.
    top = json.loads(content.decode("utf-8-sig"), object_hook=_shaped)
    if isinstance(top, shapely.Geometry):
        top = {"type": "Feature", "properties": None, "geometry": top}
    kind = top.get("type") if isinstance(top, dict) else None
    features = [top] if kind == "Feature" else top["features"] if kind == "FeatureCollection" else None
    if features is None or not all(
        isinstance(each, dict) and each.get("type") == "Feature" for each in features
    ):
        raise SourceError(
            f"{path}: it is not GeoJSON, that is a FeatureCollection. Write the map again as GeoJSON."
        )
    own = ({"id": each["id"]} if "id" in each else {} for each in features)  # beside its properties
    rows = [{**found, **(each.get("properties") or {})} for found, each in zip(own, features, strict=True)]
    every = list(dict.fromkeys(name for row in rows for name in row))
    _check_columns(path, columns, every)
    table = pa.table({name: _values(path, name, [row.get(name) for row in rows]) for name in columns})
    geometries = [each.get("geometry") for each in features]
    shapes = np.array(
        [each if isinstance(each, shapely.Geometry) else None for each in geometries], dtype=object
    )
    return Shapes(table, shapes, _crs_of_geojson(path, top), every)


def _crs_of_geojson(path: Path, top: dict[str, Any]) -> str | None:
    """The name of the coordinates, which older files have. They could give an address as well, which nobody opens."""
    if "crs" not in top:
        return DEGREES
    if top["crs"] is None:
        return None
    name = top["crs"]["properties"].get("name") if top["crs"].get("type") == "name" else None
    if not isinstance(name, str):
        raise SourceError(
            f"{path}: it says by a link which coordinates these are, and no link is followed. Write it again in "
            "degrees: ogr2ogr -t_srs EPSG:4326 districts.geojson YOUR_FILE"
        )
    return name


def _shaped(found: dict[str, Any]) -> Any:
    """The shape in a JSON object, if it is one of a single kind; the object, if it is not."""
    kind, corners = found.get("type"), found.get("coordinates")
    if not isinstance(kind, str) or corners is None:
        return found
    if kind == "Polygon":
        return _polygon(corners)
    if kind == "MultiPolygon":
        return shapely.multipolygons([_polygon(each) for each in corners])
    if kind == "LineString":
        return shapely.linestrings(_corners(corners))
    if kind == "MultiLineString":
        return shapely.multilinestrings([shapely.linestrings(_corners(each)) for each in corners])
    if kind in ("Point", "MultiPoint"):
        return shapely.multipoints(_corners(corners if kind == "MultiPoint" else [corners]))
    return found


def _polygon(rings: list[Any]) -> Any:
    corners = [_corners(ring) for ring in rings]
    if not all(len(ring) >= 4 and (ring[0] == ring[-1]).all() for ring in corners):
        raise shapely.errors.ShapelyError("a ring is not closed")
    lines = [shapely.linearrings(ring) for ring in corners]
    return shapely.polygons(lines[0], lines[1:] or None) if lines else shapely.Polygon()


def _corners(given: Any) -> NDArray[np.float64]:
    found = np.asarray(given) if len(given) else np.empty((0, 2))
    if found.ndim != 2 or found.shape[1] < 2 or found.dtype.kind not in "iuf":
        raise shapely.errors.ShapelyError("coordinates are not pairs of numbers")
    return found[:, :2].astype(np.float64)


def _geoparquet(path: Path, content: bytes, columns: Sequence[str]) -> Shapes:
    """GDAL as it is commonly installed does not read these."""
    buffer = pa.py_buffer(content)
    try:
        schema = pq.read_schema(pa.BufferReader(buffer))
        said = json.loads((schema.metadata or {})[b"geo"])
        geometry = said["primary_column"]
        about = said["columns"][geometry]
        encoding, edges, crs = about["encoding"], about.get("edges", "planar"), about.get("crs", DEGREES)
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SourceError(
            f"{path}: it is not a GeoParquet file: it has no metadata about geometry."
        ) from None
    if encoding != "WKB" or edges != "planar":
        raise SourceError(
            f"{path}: its geometry is encoded as {str(encoding)[:40]!r} with {str(edges)[:40]!r} edges; WKB with "
            "planar edges is read. Write it again with GeoPandas or GDAL, or as GeoJSON."
        )
    every = [name for name in schema.names if name != geometry]
    _check_columns(path, columns, every)
    table = read_bounded(buffer, [*dict.fromkeys(columns), geometry])
    return Shapes(table, _from_wkb(table[geometry].to_pylist()), crs, every)


def _geopackage(path: Path, content: bytes, columns: Sequence[str], layer: str | None) -> Shapes:
    with opened_geopackage(content) as tables:
        kinds = tables.rows("gpkg_contents", ["table_name", "data_type"])
        layers = [str(name) for name, kind in kinds if kind == "features"]
        if layer not in layers if layer is not None else len(layers) != 1:
            raise _which_layer(path, layers, layer)
        name = layers[0] if layer is None else layer
        about = tables.rows("gpkg_geometry_columns", ["table_name", "column_name", "srs_id"])
        [(geometry, system)] = [(str(column), srs) for table, column, srs in about if table == name]
        systems = tables.rows(
            "gpkg_spatial_ref_sys", ["srs_id", "organization", "organization_coordsys_id", "definition"]
        )
        [(office, number, definition)] = [found for each, *found in systems if each == system]
        every = [each for each in tables.columns(name) if each != geometry]
        _check_columns(path, columns, every)
        rows = tables.rows(name, [*columns, geometry])
    *values, blobs = zip(*rows, strict=True) if rows else [()] * (len(columns) + 1)
    table = pa.table(
        {each: _values(path, each, list(found)) for each, found in zip(columns, values, strict=True)}
    )
    known = f"EPSG:{int(number)}" if str(office).upper() == "EPSG" else definition
    return Shapes(table, _from_wkb(map(wkb_in, blobs)), None if definition == "undefined" else known, every)


def _which_layer(path: Path, layers: Sequence[str], layer: str | None) -> SourceError:
    problem = f"it has no layer {layer!r}" if layer is not None else "it has several layers, and one is read"
    if not layers:
        return SourceError(f"{path}: it has no layer of shapes.")
    return SourceError(
        f"{path}: {problem}. Its layers: {', '.join(layers)}. Name one, or write it to a file of its own: ogr2ogr "
        f"layer.gpkg {path.name} {layers[0]}",
        example=f'Zones("{path.name}", id="name", layer="{layers[0]}")',
    )


def _shapefile(path: Path, parts: Mapping[str, bytes], columns: Sequence[str]) -> Shapes:
    if not parts[SHAPEFILE].startswith(_SHAPEFILE_MAGIC):
        raise SourceError(f"{path}: it is not a shapefile. Write the map again, for example as GeoJSON.")
    with TemporaryDirectory(prefix="locentropy-") as folder:
        for ending in parts.keys() - {".prj"}:
            Path(folder, f"map{ending}").write_bytes(parts[ending])
        own = Path(folder, f"map{SHAPEFILE}")
        about, table = pyogrio.read_arrow(own, columns=list(columns))
        every = [str(name) for name in pyogrio.read_info(own)["fields"]]
        _check_columns(path, columns, every)
    shapes = _from_wkb(table[about["geometry_name"] or "wkb_geometry"].to_pylist())
    # Not by GDAL: it opens the files of corrections that a definition of coordinates names.
    crs = parts[".prj"].decode("utf-8", "replace") if ".prj" in parts else None
    return Shapes(table, shapes, crs, every)


def _check_columns(path: Path, columns: Sequence[str], there: Sequence[str]) -> None:
    for name in columns:
        if name not in there:
            raise ColumnError(f"{path}: there is no column {name!r}. It has: {', '.join(there)}.")


def _check_texts(path: Path, table: pa.Table) -> None:
    try:
        table.validate(full=True)
    except pa.ArrowException:
        raise SourceError(
            f"{path}: its texts are not UTF-8. Write the map again as GeoJSON; or, of a shapefile, name their encoding "
            "in a .cpg file beside it."
        ) from None


def _values(path: Path, name: str, values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise ColumnError(
            f"{path}: the column {name!r} mixes values of several kinds. Make them all texts, or all whole numbers."
        ) from None


def _from_wkb(found: Iterable[Any]) -> NDArray[Any]:
    try:
        blobs = [each if isinstance(each, bytes) and is_flat(each) else None for each in found]
    except (struct.error, IndexError):
        raise shapely.errors.ShapelyError("it ends too early") from None
    shapes: NDArray[Any] = shapely.force_2d(shapely.from_wkb(np.array(blobs, dtype=object)))
    return shapes
