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
        known = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
        if not known.all():
            found = np.full(len(lat), -1)
            found[known] = self.positions(lat[known], lon[known])
            return found
        first = self._first_at(lon, lat)
        ends = np.flatnonzero(np.abs(lon) == 180)
        if len(ends):
            first[ends] = np.minimum(first[ends], self._first_at(-lon[ends], lat[ends]))
        return np.where(first < len(self._zones), first, -1)

    def _first_at(self, x: Reals, y: Reals) -> Integers:
        """The first zone at each point; the number of zones where there is none.

        Candidates of a point are tested in their order, and no further than to the first that has it: the test takes
        longer than finding them.
        """
        first = np.full(len(x), len(self._zones))
        point, zone = self._candidates_at(x, y)
        while len(point):
            next_of = np.ones(len(point), dtype=np.bool_)
            next_of[1:] = point[1:] != point[:-1]
            at, tested = point[next_of], zone[next_of]
            # Zone by zone, so that the index of each is fetched into the processor's cache once.
            order = np.argsort(tested)
            at, tested = at[order], tested[order]
            there = shapely.intersects_xy(self._zones[tested], x[at], y[at])
            first[at[there]] = tested[there]
            left = ~next_of & (first[point] == len(self._zones))
            point, zone = point[left], zone[left]
        return first

    def _gridded(self) -> tuple[Integers, Integers]:
        """For each cell of a coarse grid the zones whose boxes touch it: where its list starts, and the lists.

        In NumPy, because a tree of shapes would need a Shapely point for each visit, which takes longer than the test.
        """
        self._low, self._high = self._boxes[:, :2].min(axis=0), self._boxes[:, 2:].max(axis=0)
        self._side = _SIDE
        while True:
            first, last = (
                np.column_stack([self._cell_of(edges[:, axis], axis) for axis in (0, 1)])
                for edges in (self._boxes[:, :2], self._boxes[:, 2:])
            )
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

    def _cell_of(self, x: Reals, axis: int) -> Integers:
        """Column (axis 0) or row (1); outside the grid, of its nearest cell. Never decreases with x."""
        width = max(self._high[axis] - self._low[axis], 1e-9)
        along = (x - self._low[axis]) / width * self._side
        cell: Integers = np.minimum(np.maximum(along, 0.0), self._side - 1.0).astype(np.int64)
        return cell

    def _candidates_at(self, x: Reals, y: Reals) -> tuple[Integers, Integers]:
        """Pairs of a point and a zone in whose box it is, by point and then in the order of zones."""
        cell = self._cell_of(y, 1) * self._side + self._cell_of(x, 0)
        start = self._starts[cell]
        number = self._starts[cell + 1] - start
        point = np.repeat(np.arange(len(x)), number)
        within = np.arange(len(point)) - np.repeat(np.cumsum(number) - number - start, number)
        zone = self._candidates[within]
        west, south, east, north = self._boxes[zone].T
        x, y = x[point], y[point]
        inside = (west <= x) & (x <= east) & (south <= y) & (y <= north)
        return point[inside], zone[inside]


def _outer_ring(zones: NDArray[Any]) -> NDArray[Any]:
    """The outer ring of the first part of each zone."""
    rings: NDArray[Any] = shapely.get_exterior_ring(shapely.get_geometry(zones, 0))
    return rings
