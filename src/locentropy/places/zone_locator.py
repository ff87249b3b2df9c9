"""Point in polygon, exactly: the rule for zones, stated in docs/places.md.

A point belongs to the first zone, in the order of the file, that contains it or has it on its border. So a point on a
common border, or where zones overlap, has one zone; a hole is not part of a zone, but its edge is. Edges are straight
in degrees of longitude and latitude. Orientation is computed without rounding (GEOS), so the answer is exact for the
given doubles. The meridians 180 and −180 are the same line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import shapely

from locentropy.core.locations import Locator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Integers = NDArray[np.int64]

_SIDE: Final = 256
"""Cells of the coarse grid a side; fewer where zones are so large that lists would be long."""
_MOST_LISTED: Final = 4_000_000


class ZoneLocator(Locator):
    """Finds the first zone at each point, by a grid of the zones' boxes and then the polygons."""

    def __init__(self, zones: NDArray[Any]) -> None:
        """Keep a copy of the zones, which are valid Shapely polygons in degrees."""
        self._zones = np.array(zones, dtype=object)
        self._open()

    def _open(self) -> None:
        shapely.prepare(self._zones)
        self._boxes = shapely.bounds(self._zones)
        self._starts, self._candidates = self._gridded()
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
        point, zone = self._candidates_at(x, y)
        there = shapely.intersects_xy(self._zones[zone], x[point], y[point])
        first = np.full(len(lat), len(self._zones))
        np.minimum.at(first, row[point[there]], zone[there])
        return np.where(first < len(self._zones), first, -1)

    def _gridded(self) -> tuple[Integers, Integers]:
        """For each cell of a coarse grid the zones whose boxes touch it: where its list starts, and the lists.

        In NumPy, because a tree of shapes would need a Shapely point for each visit, which takes longer than the test.
        """
        self._low, self._high = self._boxes[:, :2].min(axis=0), self._boxes[:, 2:].max(axis=0)
        self._side = _SIDE
        while True:
            first, last = self._cell_of(self._boxes[:, :2]), self._cell_of(self._boxes[:, 2:])
            across, down = (last - first + 1).T
            if (across * down).sum() <= _MOST_LISTED or self._side == 1:
                break
            self._side //= 2
        zone = np.repeat(np.arange(len(self._boxes)), across * down)
        number = np.arange(len(zone)) - np.repeat(np.cumsum(across * down) - across * down, across * down)
        column, row = first[zone, 0] + number % across[zone], first[zone, 1] + number // across[zone]
        cell = row * self._side + column
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(self._side**2 + 1))
        return starts, zone[order]

    def _cell_of(self, points: Reals) -> Integers:
        """Column and row of points (x, y); outside the grid, of its nearest cell. Never decreases with x or y."""
        width = np.maximum(self._high - self._low, 1e-9)
        cell: Integers = ((points - self._low) / width * self._side).astype(np.int64)
        return np.clip(cell, 0, self._side - 1)

    def _candidates_at(self, x: Reals, y: Reals) -> tuple[Integers, Integers]:
        """Pairs of a point and a zone in whose box it is."""
        column, row = self._cell_of(np.column_stack([x, y])).T
        cell = row * self._side + column
        number = self._starts[cell + 1] - self._starts[cell]
        point = np.repeat(np.arange(len(x)), number)
        within = np.arange(len(point)) - np.repeat(np.cumsum(number) - number, number)
        zone = self._candidates[self._starts[cell][point] + within]
        west, south, east, north = self._boxes[zone].T
        inside = (west <= x[point]) & (x[point] <= east) & (south <= y[point]) & (y[point] <= north)
        return point[inside], zone[inside]


def _outer_ring(zones: NDArray[Any]) -> NDArray[Any]:
    """The outer ring of the first part of each zone."""
    rings: NDArray[Any] = shapely.get_exterior_ring(shapely.get_geometry(zones, 0))
    return rings
