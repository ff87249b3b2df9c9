"""The background of a page's map from a public file: coasts, borders, large streets, cut and simplified to a size.

The rule, in this order, so that the same file and the same places always give the same background:

    cut        to the box around the places, extended by its own width and height on every side
    simplify   by Douglas and Peucker, at 1/20,000 of the box; a part smaller than the tolerance is left out
    repeat     with twice the tolerance, until at most 20,000 corners are left

Longitudes are shortened by the cosine of the middle latitude while that is done, so that a tolerance is a distance.
Needs the extra `geo`; a release keeps the result, so that its page is drawn without.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.core.background import DECIMALS, MOST_POINTS, Background
from locentropy.core.errors import SourceError
from locentropy.places.extra import require_geo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.locations import Locations

    Reals = NDArray[np.float64]

_CALL: Final = (
    'publish(Visits("checkins.parquet"), Shares(epsilon=1.0), PublicLocations("places.csv"), '
    'outline="coast.geojson", ledger="city.ledger")'
)
_STEPS: Final = 20_000
"""Across the box: a small part of a pixel."""
_SMALLEST_BOX: Final = 0.05
"""Degrees: where all places are at one point, some kilometres around it are shown."""


def outline_fingerprint(source: str | Path) -> str:
    """The SHA-256 of the file; raises SourceError unless it is there and may be a map."""
    require_geo()
    from locentropy.places.map_files import check_map_file, fingerprint

    check_map_file(Path(source), _CALL)
    return fingerprint(Path(source))


def read_outline(source: str | Path, places: Locations) -> Background:
    """The outlines in a file around these places, simplified; raises SourceError if there are none."""
    require_geo()
    shapes = _shapes(Path(source))
    import shapely

    west, south, east, north = box = _box(places)
    near = shapely.intersection(shapes, shapely.box(*box))
    # What only touches the edge of the box is a point, or a line around nothing.
    parts = shapely.get_parts(shapely.get_parts(near[~shapely.is_empty(near)]))
    squeeze = np.array([np.cos(np.radians((south + north) / 2)), 1.0])
    parts = shapely.transform(parts, lambda corners: corners * squeeze)
    tolerance = max((east - west) * squeeze[0], north - south) / _STEPS
    while True:
        simple = shapely.simplify(parts, tolerance)
        kept = [_written(each, squeeze) for each in simple[_extent(simple) > tolerance]]
        areas = tuple(rings for kind, rings in kept if kind == "area" and rings)
        lines = tuple(rings[0] for kind, rings in kept if kind == "line" and rings)
        if sum(len(line) for line in (*(ring for area in areas for ring in area), *lines)) <= MOST_POINTS:
            break
        tolerance *= 2
    if not areas and not lines:
        raise SourceError(
            f"{source}: none of its outlines is near the places, or all are too small to be seen there. An outline is "
            "that of the city, its coast, its districts or its large streets.",
            example=_CALL,
        )
    return Background(areas, lines)


def _shapes(path: Path) -> NDArray[Any]:
    """The polygons and lines of the file, in degrees."""
    import shapely

    from locentropy.places.map_files import MAX_VERTICES, in_degrees, read_shapes

    _, found, crs, _ = read_shapes(path, [], None, _CALL)
    if int(shapely.get_num_coordinates(found).sum()) > MAX_VERTICES:
        raise SourceError(
            f"{path}: it has more than {MAX_VERTICES:,} points. Simplify it, for example with mapshaper or GDAL's "
            "-simplify."
        )
    kinds = shapely.GeometryType
    drawn = (kinds.LINESTRING, kinds.MULTILINESTRING, kinds.POLYGON, kinds.MULTIPOLYGON)
    numbers = np.flatnonzero(np.isin(shapely.get_type_id(found), drawn) & ~shapely.is_empty(found))
    if not len(numbers):
        raise SourceError(
            f"{path}: it has no lines or polygons, and an outline is made of these.", example=_CALL
        )
    return in_degrees(found[numbers], pa.array(numbers + 1), crs, str(path), each="feature number")


def _box(places: Locations) -> tuple[float, float, float, float]:
    """West, south, east and north of what is drawn around the places: their box, and its size on every side."""
    sides = []
    for values, most in ((places.lon, 180.0), (places.lat, 90.0)):
        known = np.array([], dtype=np.float64) if values is None else values[~np.isnan(values)]
        if not len(known):
            raise SourceError(
                "An outline is the background of the map, and there is no map: the places have no coordinates."
            )
        low, high = float(known.min()), float(known.max())
        around = max(high - low, _SMALLEST_BOX)
        sides.append((max(low - around, -most), min(high + around, most)))
    (west, east), (south, north) = sides
    return west, south, east, north


def _extent(shapes: NDArray[Any]) -> Reals:
    """The longer side of the box around each; -inf of one that is empty."""
    import shapely

    bounds = shapely.bounds(shapes)
    sides: Reals = np.maximum(bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1])
    return np.where(np.isnan(sides), -np.inf, sides)


def _written(shape: Any, squeeze: Reals) -> tuple[str, tuple[Reals, ...]]:
    """A part as the release keeps it: rounded to a metre; without rings that have lost their area to that."""
    import shapely
    from shapely.geometry.polygon import orient

    kind = "area" if shape.geom_type == "Polygon" else "line"
    turned = orient(shape) if kind == "area" else shape
    rings = [turned.exterior, *turned.interiors] if kind == "area" else [turned]
    rounded = [_distinct(shapely.get_coordinates(ring) / squeeze) for ring in rings]
    if kind == "line":
        return kind, (rounded[0],) if shape.geom_type == "LineString" and len(rounded[0]) > 1 else ()
    outer, *holes = rounded
    return kind, () if len(outer) < 4 else (outer, *(hole for hole in holes if len(hole) >= 4))


def _distinct(corners: Reals) -> Reals:
    """The corners, rounded, without repetitions."""
    bounded = np.clip(corners, np.array([-180.0, -90.0]), np.array([180.0, 90.0]))
    rounded: Reals = np.round(bounded, DECIMALS) + 0.0  # no negative zero
    moved = np.ones(len(rounded), dtype=bool)
    moved[1:] = (rounded[1:] != rounded[:-1]).any(axis=1)
    return rounded[moved]
