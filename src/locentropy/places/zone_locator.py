"""Point in polygon, exactly: the rule for zones, stated in docs/places.md.

A point belongs to the first zone, in the order of the file, that contains it or has it on its border. So a point on a
common border, or where zones overlap, has one zone; a hole is not part of a zone, but its edge is. Edges are straight
in degrees of longitude and latitude. Orientation is computed without rounding (GEOS), so the answer is exact for the
given doubles. The meridians 180 and −180 are the same line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from locentropy.core.locations import Locator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]


class ZoneLocator(Locator):
    """Finds the first zone at each point, by a tree of the zones' boxes and then the polygons."""

    def __init__(self, zones: NDArray[Any]) -> None:
        """Keep a copy of the zones, which are valid Shapely polygons in degrees."""
        self._zones = np.array(zones, dtype=object)
        self._open()

    def _open(self) -> None:
        shapely.prepare(self._zones)
        self._tree = shapely.STRtree(self._zones)
        # GEOS indexes a polygon when it is first asked, which is not safe in two threads: ask each once, here.
        first = shapely.get_coordinates(shapely.get_point(_outer_ring(self._zones), 0))
        shapely.intersects_xy(self._zones, first[:, 0], first[:, 1])

    def __getstate__(self) -> NDArray[Any]:
        return self._zones

    def __setstate__(self, zones: NDArray[Any]) -> None:
        self._zones = zones
        self._open()

    def positions(self, lat: Reals, lon: Reals) -> NDArray[np.int64]:
        """The position of the zone of each pair of coordinates; -1 where there is none."""
        known = np.flatnonzero((np.abs(lat) <= 90) & (np.abs(lon) <= 180))
        ends = known[np.abs(lon[known]) == 180]
        row = np.concatenate([known, ends])
        x, y = np.concatenate([lon[known], -lon[ends]]), lat[row]
        point, zone = self._tree.query(shapely.points(x, y))
        there = shapely.intersects_xy(self._zones[zone], x[point], y[point])
        first = np.full(len(lat), len(self._zones))
        np.minimum.at(first, row[point[there]], zone[there])
        return np.where(first < len(self._zones), first, -1)


def _outer_ring(zones: NDArray[Any]) -> NDArray[Any]:
    """The outer ring of the first part of each zone."""
    rings: NDArray[Any] = shapely.get_exterior_ring(shapely.get_geometry(zones, 0))
    return rings
