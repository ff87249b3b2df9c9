"""A raster in front of an exact rule: most points are in a square that lies wholly in one location, or in none.

Testing ten million points against thousands of polygons takes far longer than counting them. So the box around all
locations is divided into squares, once. A square that no outline touches lies in one location, or in none: all its
points are where its centre is. Only points in the other squares go to the exact rule. The answers are those of the
exact rule alone; tests compare the two.
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

LEVELS: Final = 10
"""The raster has 2^LEVELS squares a side. Outlines of 2,000 zones touch about a tenth of them."""

_FIRST_LEVEL: Final = 3
_MAX_TOUCHED: Final = 150_000
"""Where more squares are touched, dividing them again would cost more than it saves."""
_UNSURE: Final = -2
_ROUNDING: Final = 1e-9
"""In sides of a square: more than the rounding error with which a point's square is found."""


class IndexedLocator(Locator):
    """The answers of an exact rule, most of them from a raster."""

    def __init__(self, exact: Locator, outlines: NDArray[Any], margin: float = 0.0) -> None:
        """Build the raster.

        Parameters
        ----------
        exact
            The rule.
        outlines
            The outline of every location, as Shapely polygons in degrees.
        margin
            How far, in degrees, the true border of a location may be from its outline.
        """
        self._exact = exact
        west, south, east, north = shapely.total_bounds(outlines)
        self._side = 1 << LEVELS
        wide, high = (max(east - west, 1e-6), max(north - south, 1e-6))
        # A little larger than the outlines, so that no point of a location is outside.
        self._west, self._south = west - margin - wide * 1e-6, south - margin - high * 1e-6
        self._width = (wide * (1 + 2e-6) + 2 * margin) / self._side
        self._height = (high * (1 + 2e-6) + 2 * margin) / self._side
        self._raster = self._rastered(_segments(outlines), margin)

    def positions(self, lat: Reals, lon: Reals) -> Integers:
        """The position of each pair of coordinates; -1 where there is none."""
        lat, lon = lat + 0.0, lon + 0.0  # -0.0 becomes 0.0: engines take the two for the same number
        with np.errstate(all="ignore"):  # NaN and infinities compare as outside
            column, row = (lon - self._west) / self._width, (lat - self._south) / self._height
            inside = (column >= 0) & (column < self._side) & (row >= 0) & (row < self._side)
            # The two ends of the world are one line, so a point there may be in a location at the other end.
            at_the_end = np.abs(lon) == 180
        column, row = (np.where(inside, each, 0).astype(np.int64) for each in (column, row))
        found = np.where(inside, self._raster[row, column], -1).astype(np.int64)
        unsure = np.flatnonzero((found == _UNSURE) | at_the_end)
        if len(unsure):
            found[unsure] = self._exact.positions(lat[unsure], lon[unsure])
        return found

    def _rastered(self, segments: NDArray[Any], margin: float) -> NDArray[np.int32]:
        """Divide squares that an outline touches into four, level by level; ask the exact rule for the others."""
        raster = np.full((self._side, self._side), _UNSURE, dtype=np.int32)
        tree = shapely.STRtree(segments)
        across = 1 << _FIRST_LEVEL
        row, column = (each.ravel() for each in np.indices((across, across)))
        while len(row):
            block = self._side // across
            touched = self._touched(tree, row, column, block, margin)
            middle = [(each[~touched] + 0.5) * block for each in (row, column)]
            lat, lon = self._south + middle[0] * self._height, self._west + middle[1] * self._width
            blocks = raster.reshape(across, block, across, block)
            blocks[row[~touched], :, column[~touched], :] = self._exact.positions(lat, lon)[:, None, None]
            if block == 1 or touched.sum() > _MAX_TOUCHED:
                break
            row, column = row[touched], column[touched]
            row = (2 * row[:, None] + np.array([0, 0, 1, 1])).ravel()
            column = (2 * column[:, None] + np.array([0, 1, 0, 1])).ravel()
            across *= 2
        return raster

    def _touched(
        self, tree: Any, row: Integers, column: Integers, block: int, margin: float
    ) -> NDArray[np.bool_]:
        """Which squares an outline touches, or might, by its margin and by rounding."""
        wider, higher = margin + self._width * _ROUNDING, margin + self._height * _ROUNDING
        squares = shapely.box(
            self._west + column * block * self._width - wider,
            self._south + row * block * self._height - higher,
            self._west + (column + 1) * block * self._width + wider,
            self._south + (row + 1) * block * self._height + higher,
        )
        touched = np.zeros(len(row), dtype=np.bool_)
        touched[tree.query(squares, predicate="intersects")[0]] = True
        return touched


def _segments(outlines: NDArray[Any]) -> NDArray[Any]:
    """Every straight piece of every outline, holes included."""
    rings = shapely.get_rings(shapely.get_parts(outlines))  # of multipolygons as well
    coordinates, ring = shapely.get_coordinates(rings, return_index=True)
    joined = ring[1:] == ring[:-1]
    ends = np.stack([coordinates[:-1][joined], coordinates[1:][joined]], axis=1)
    segments: NDArray[Any] = shapely.linestrings(ends)
    return segments
