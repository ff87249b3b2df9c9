"""Zones from a file: GeoJSON, GeoParquet, GeoPackage or shapefile, as polygons in degrees (WGS 84).

Only what can be taken one way is taken. Each refusal names the file and the zone: a map is public, so its ids may be
shown. Nothing is repaired: a zone that was silently changed would not be the zone that people know by its name.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyproj
import pyproj.exceptions
import shapely
from pyproj.network import is_network_enabled, set_network_enabled  # type: ignore[attr-defined,unused-ignore]

from locentropy.core.attributes import MAX_VALUE
from locentropy.core.errors import BadRowsError, ColumnError, SourceError
from locentropy.places.map_formats import (
    DEGREES,
    GEOPACKAGE,
    JSON,
    PARQUET,
    PARTS_OF_SHAPEFILE,
    SHAPEFILE,
    Shapes,
    map_parts,
    shapes_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

MAX_ZONES: Final = 100_000
MAX_VERTICES: Final = 10_000_000
_ENDINGS: Final = (*JSON, GEOPACKAGE, SHAPEFILE, *PARQUET)
_FINGERPRINTED: Final = PARTS_OF_SHAPEFILE[:3]
_REGISTERED: Final = re.compile(r"(urn:ogc:def:crs:)?(EPSG|ESRI|IGNF|OGC):[\d.]*:?\w{1,20}", re.IGNORECASE)
"""The name of a system of coordinates in a register."""
_OPENS_FILES: Final = ("PARAMETERFILE", "PROJ-based", "EXTENSION")
"""What stands in a definition of coordinates that names a file of corrections, or commands for PROJ."""
_POLYGONS: Final = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
_CALL: Final = 'Zones("districts.geojson", id="name")'


@dataclass(frozen=True, eq=False)
class MapFile:
    """What a map says, in the order of the file."""

    ids: pa.Array
    """The id of each zone: texts or whole numbers."""
    names: pa.Array | None
    """Their names."""
    zones: NDArray[Any]
    """Valid Shapely polygons and multipolygons, in degrees."""
    columns: tuple[str, ...]
    """The names of all its columns, or properties."""
    fingerprint: str
    """SHA-256 of the file, in hexadecimal; of a shapefile, of its .shp, .dbf and .prj, one after another."""


def read_map(source: str | Path, id_column: str, name_column: str | None, layer: str | None) -> MapFile:
    """Read a map, and raise unless every zone has an id of its own and a polygon that can be taken one way."""
    columns = [id_column, *([] if name_column is None else [name_column])]
    path = Path(source)
    parts, (table, zones, crs, every) = _read(path, columns, layer, _CALL)
    ids = _ids(table[id_column], str(path), id_column)
    names = None if name_column is None else _names(table[name_column], str(path), name_column)
    zones = _checked(zones, ids, str(path))
    return MapFile(ids, names, in_degrees(zones, ids, crs, str(path)), tuple(every), _digest(parts))


def read_shapes(source: str | Path, columns: list[str], layer: str | None, example: str) -> Shapes:
    """The columns, the shapes and the reference system of a map, as they are; `example` is a call that works."""
    return _read(Path(source), columns, layer, example)[1]


def _read(path: Path, columns: list[str], layer: str | None, example: str) -> tuple[dict[str, bytes], Shapes]:
    """The content of the files, read once, and what it means."""
    check_map_file(path, example)
    parts = map_parts(path)
    return parts, shapes_in(path, parts, columns, layer)


def check_map_file(path: Path, example: str) -> None:
    """Raise SourceError unless there is such a file, whose name ends like that of a map."""
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file.", example=example)
    if path.suffix.lower() not in _ENDINGS:
        raise SourceError(
            f"{path}: a map is read from GeoJSON, GeoParquet, GeoPackage or a shapefile: a file whose name ends in "
            f"{', '.join(_ENDINGS)}.",
            example=example,
        )


def _ids(column: pa.ChunkedArray, label: str, name: str) -> pa.Array:
    """The ids as texts or whole numbers, each once."""
    ids = column.combine_chunks()
    if pa.types.is_large_string(ids.type) or pa.types.is_string_view(ids.type):
        ids = ids.cast(pa.string())
    if not (pa.types.is_string(ids.type) or pa.types.is_integer(ids.type)):
        raise ColumnError(f"{label}: the ids in {name!r} must be texts or whole numbers, not {ids.type}.")
    if not 0 < len(ids) <= MAX_ZONES:
        raise SourceError(f"{label}: it has {len(ids):,} zones. From 1 to {MAX_ZONES:,} can be published.")
    text = pa.types.is_string(ids.type)
    if ids.null_count or (text and pc.any(pc.equal(pc.utf8_trim_whitespace(ids), "")).as_py()):
        raise BadRowsError(f"{label}: some zones have no id in {name!r}. Give every zone an id.")
    if text and not all(
        each == each.strip() and each.isprintable() and len(each) <= MAX_VALUE for each in ids.to_pylist()
    ):
        raise BadRowsError(
            f"{label}: some ids in {name!r} begin or end with blanks, are not printable, or have more than {MAX_VALUE} "
            "characters. They are published: give zones plain, short ids."
        )
    repeated = pc.value_counts(ids).filter(pc.greater(pc.value_counts(ids).field("counts"), 1))
    if len(repeated):
        raise BadRowsError(
            f"{label}: the id {repeated.field('values')[0].as_py()!r} in {name!r} is there more than once. Make the "
            "parts of one zone one multipolygon, or choose a column that tells zones apart."
        )
    return ids


def _names(column: pa.ChunkedArray, label: str, name: str) -> pa.Array:
    """The names as texts."""
    try:
        return pc.cast(column, pa.string()).combine_chunks()
    except pa.ArrowException:
        raise ColumnError(f"{label}: the names in {name!r} must be texts, not {column.type}.") from None


def _checked(zones: NDArray[Any], ids: pa.Array, label: str) -> NDArray[Any]:
    """The zones, all of them polygons that are not empty, and valid."""
    vertices = int(shapely.get_num_coordinates(zones).sum())
    if vertices > MAX_VERTICES:
        raise SourceError(
            f"{label}: its outlines have {vertices:,} points, and at most {MAX_VERTICES:,} are read. Simplify them, "
            "for example with mapshaper or GDAL's -simplify."
        )
    polygons = np.isin(shapely.get_type_id(zones), _POLYGONS)
    _refuse(~polygons, ids, label, "is not a polygon or a multipolygon, or has no geometry.")
    _refuse(shapely.is_empty(zones), ids, label, "has an empty geometry.")
    return zones


def in_degrees(
    zones: NDArray[Any], ids: pa.Array, crs: Any, label: str, *, each: str = "zone"
) -> NDArray[Any]:
    """The zones in degrees of WGS 84. Their corners are transformed; edges are straight between them."""
    if crs is None:
        raise SourceError(
            f"{label}: it does not say which coordinates these are. A shapefile says so in a .prj file beside it. For "
            "degrees, write the map as GeoJSON."
        )
    try:
        theirs = _system(crs)
        if not theirs.equals(pyproj.CRS(DEGREES), ignore_axis_order=True):
            with _offline():
                change = pyproj.Transformer.from_crs(theirs, DEGREES, always_xy=True)
                zones = shapely.transform(zones, change.transform, interleaved=False)
    except pyproj.exceptions.ProjError:
        raise SourceError(
            f"{label}: its coordinates cannot be transformed to degrees. Do that first: ogr2ogr -t_srs EPSG:4326 "
            "districts.geojson YOUR_FILE"
        ) from None
    west, south, east, north = shapely.bounds(zones).T
    inside = (west >= -180) & (south >= -90) & (east <= 180) & (north <= 90)
    _refuse(
        ~inside,
        ids,
        label,
        "reaches beyond ±180 degrees of longitude or ±90 of latitude. Cut it at the date line, as RFC 7946 asks.",
        each,
    )
    _refuse(
        _spans_the_world(zones),
        ids,
        label,
        "has an edge longer than 180 degrees of longitude, so which way around the Earth it goes is not said. Cut it "
        "at the date line, as RFC 7946 asks, or give the edge more points.",
        each,
    )
    invalid = ~shapely.is_valid(zones)
    why = shapely.is_valid_reason(zones[np.flatnonzero(invalid)[:1]])
    _refuse(
        invalid,
        ids,
        label,
        f"is not a valid polygon ({''.join(why)}). Repair the map where it is made, or with GDAL: ogr2ogr -makevalid "
        "districts.geojson YOUR_FILE",
        each,
    )
    return zones


def _system(crs: Any) -> pyproj.CRS:
    """The reference system by its name in a register or its definition; ProjError if that would open a file."""
    if isinstance(crs, str) and _REGISTERED.fullmatch(crs):
        return pyproj.CRS.from_user_input(crs)
    # With these keys pyproj takes it for commands, not for PROJJSON.
    if isinstance(crs, dict) and not {"proj", "init"} & crs.keys():
        system = pyproj.CRS.from_json_dict(crs)
    else:
        system = pyproj.CRS.from_wkt(str(crs))
    written = system.to_wkt()
    if written is None or any(word in written for word in _OPENS_FILES):
        raise pyproj.exceptions.CRSError("it names a file, or commands")
    return system


@contextmanager
def _offline() -> Iterator[None]:
    """Let PROJ fetch no files of corrections, whatever PROJ_NETWORK says: nothing is downloaded at run time."""
    before = is_network_enabled()
    set_network_enabled(active=False)
    try:
        yield
    finally:
        set_network_enabled(active=before)


def _spans_the_world(zones: NDArray[Any]) -> NDArray[np.bool_]:
    """Which zones have an edge of more than 180 degrees, other than along a pole."""
    coordinates, zone = shapely.get_coordinates(zones, return_index=True)
    joined = zone[1:] == zone[:-1]  # also from one ring to the next, which is put right below
    long = joined & (np.abs(np.diff(coordinates[:, 0])) > 180)
    at_a_pole = (np.abs(coordinates[1:, 1]) == 90) & (coordinates[1:, 1] == coordinates[:-1, 1])
    wide = np.zeros(len(zones), dtype=np.bool_)
    for at in np.unique(zone[1:][long & ~at_a_pole]):
        parts = shapely.get_parts(zones[at])
        lines = parts[shapely.get_type_id(parts) == shapely.GeometryType.LINESTRING]
        for ring in (*shapely.get_rings(parts), *lines):
            x, y = shapely.get_coordinates(ring).T
            polar = (np.abs(y[1:]) == 90) & (y[1:] == y[:-1])
            wide[at] |= bool(((np.abs(np.diff(x)) > 180) & ~polar).any())
    return wide


def _refuse(broken: NDArray[np.bool_], ids: pa.Array, label: str, problem: str, each: str = "zone") -> None:
    """Raise BadRowsError for the first zone that breaks a rule."""
    if broken.any():
        raise BadRowsError(f"{label}: the {each} {ids[int(np.argmax(broken))].as_py()!r} {problem}")


def fingerprint(path: Path) -> str:
    """SHA-256 of the files of a map, in hexadecimal."""
    return _digest(map_parts(path))


def _digest(parts: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for ending, content in parts.items():
        if len(parts) == 1 or ending in _FINGERPRINTED:
            digest.update(content)
    return digest.hexdigest()
