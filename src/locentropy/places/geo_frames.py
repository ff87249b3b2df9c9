"""Places from a GeoDataFrame of GeoPandas: its geometry says where they are.

Points become coordinates. Areas keep their outlines, which the release publishes and its map draws, and get the
coordinates of a point in them. A list is public, so what is refused may be described.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from locentropy.core.errors import BadRowsError, ColumnError

_DEGREES = "EPSG:4326"
_POINTS = frozenset({"Point"})
_AREAS = frozenset({"Polygon", "MultiPolygon"})


def is_geo_frame(source: object) -> bool:
    """Whether this is a GeoDataFrame, without importing GeoPandas."""
    return any(
        kind.__module__.partition(".")[0] == "geopandas" and kind.__name__ == "GeoDataFrame"
        for kind in type(source).__mro__
    )


def without_geometry(frame: Any) -> Any:
    """The columns that are not geometry, as a pandas DataFrame."""
    return frame.drop(columns=[name for name, kind in frame.dtypes.items() if str(kind) == "geometry"])


def coordinates_in(frame: Any) -> tuple[Any, Any, pa.Array | None]:
    """Latitude and longitude of each place in degrees, NaN where it has no geometry, and the outlines of areas."""
    import shapely

    if frame.active_geometry_name is None:
        raise ColumnError(
            'the GeoDataFrame has no geometry. Set it: frame.set_geometry(...); or name columns: lat="y", lon="x"'
        )
    shapes = frame.geometry if frame.crs is None else frame.geometry.to_crs(_DEGREES)
    kinds = set(shapes.geom_type.dropna())
    found = shapely.force_2d(shapes.to_numpy())
    if kinds <= _POINTS:
        return shapely.get_y(found), shapely.get_x(found), None
    if not kinds <= _AREAS or shapes.isna().any():
        raise ColumnError(
            "the GeoDataFrame's geometry must be all points, or an area (Polygon or MultiPolygon) for every place. For "
            "points in them: frame.set_geometry(frame.representative_point())"
        )
    west, south, east, north = shapely.total_bounds(found)
    if not (shapely.is_valid(found).all() and -180 <= west <= east <= 180 and -90 <= south <= north <= 90):
        raise BadRowsError(
            "the GeoDataFrame has areas that are not valid, or not in degrees. Give it its reference system, "
            "frame.set_crs(...), and mend areas: frame.make_valid()"
        )
    inside = shapely.get_coordinates(shapely.point_on_surface(found))
    outlines = pa.array(shapely.to_wkb(found, byte_order=1), pa.binary())
    return np.ascontiguousarray(inside[:, 1]), np.ascontiguousarray(inside[:, 0]), outlines
