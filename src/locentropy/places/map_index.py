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

LEVELS: Final = 11
"""The raster has 2^LEVELS squares a side. Outlines of 2,000 zones touch about a twentieth of them."""

_FIRST_LEVEL: Final = 3
_UNSURE: Final = -2
_ROUNDING: Final = 1e-12
"""In degrees: more than the rounding errors with which the square of a point, or of a corner, is found."""
_PIECE: Final = 0.5
"""Outlines are followed in pieces of at most so many sides of a square."""
_AT_ONCE: Final = 1_000_000
"""Pieces."""


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
        # With a frame of squares around, which are at no location.
        self._framed = np.pad(self._rastered(self._touched(outlines, margin)), 1, constant_values=-1)
        self._frame = self._west - self._width, self._south - self._height
        self._reaches_the_end = bool(west <= -180 or east >= 180)

    def positions(self, lat: Reals, lon: Reals) -> Integers:
        """The position of each pair of coordinates; -1 where there is none."""
        with np.errstate(all="ignore"):  # far away, infinite or NaN: the frame, in which nothing is
            across, up = (lon - self._frame[0]) / self._width, (lat - self._frame[1]) / self._height
        edge = self._side + 1.0
        column, row = (np.fmax(np.fmin(each, edge), 0.0).astype(np.intp) for each in (across, up))
        found: Integers = self._framed[row, column].astype(np.int64)
        unsure = found == _UNSURE
        if self._reaches_the_end:
            # The two ends of the world are one line, so a point there may be in a location at the other end.
            unsure |= np.abs(lon) == 180
        if unsure.any():
            # -0.0 becomes 0.0: engines take the two for the same number.
            found[unsure] = self._exact.positions(lat[unsure] + 0.0, lon[unsure] + 0.0)
        return found

    def _rastered(self, touched: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Divide squares that an outline touches into four, level by level; ask the exact rule for the others."""
        raster = np.full((self._side, self._side), _UNSURE, dtype=np.int32)
        across = 1 << _FIRST_LEVEL
        row, column = (each.ravel() for each in np.indices((across, across)))
        while len(row):
            block = self._side // across
            unsure = np.any(touched.reshape(across, block, across, block), axis=(1, 3))[row, column]
            middle = [(each[~unsure] + 0.5) * block for each in (row, column)]
            lat, lon = self._south + middle[0] * self._height, self._west + middle[1] * self._width
            blocks = raster.reshape(across, block, across, block)
            blocks[row[~unsure], :, column[~unsure], :] = self._exact.positions(lat, lon)[:, None, None]
            if block == 1:
                break
            row, column = row[unsure], column[unsure]
            row = (2 * row[:, None] + np.array([0, 0, 1, 1])).ravel()
            column = (2 * column[:, None] + np.array([0, 1, 0, 1])).ravel()
            across *= 2
        return raster

    def _touched(self, outlines: NDArray[Any], margin: float) -> NDArray[np.bool_]:
        """Which squares an outline touches, or might, by its margin and by rounding; by row and column.

        Every edge is cut into pieces that are shorter than a square, and all squares are marked that the box around a
        piece touches: a few too many, and none too few.
        """
        corner = np.array([self._west, self._south])
        size = np.array([self._width, self._height])
        starts, ends = ((each - corner) / size for each in _edges(outlines))
        spare = (margin + _ROUNDING) / size
        pieces = np.maximum(np.ceil(np.abs(ends - starts).max(axis=1) / _PIECE), 1).astype(np.int64)
        touched = np.zeros((self._side, self._side), dtype=np.bool_)
        last = np.cumsum(pieces)
        for first in range(0, int(last[-1]), _AT_ONCE):
            number = np.arange(first, min(first + _AT_ONCE, int(last[-1])))
            edge = np.searchsorted(last, number, side="right")
            share = (number - last[edge] + pieces[edge])[:, None] / pieces[edge, None]
            step = ends[edge] - starts[edge]
            here, there = starts[edge] + step * share, starts[edge] + step * (share + 1 / pieces[edge, None])
            low = np.floor(np.minimum(here, there) - spare).astype(np.int64)
            high = np.floor(np.maximum(here, there) + spare).astype(np.int64)
            self._mark(touched, low, high)
        return touched

    def _mark(self, touched: NDArray[np.bool_], low: Integers, high: Integers) -> None:
        """Mark the squares from one column and row to another, of many boxes at once."""
        low, high = np.clip(low, 0, self._side - 1), np.clip(high, 0, self._side - 1)
        right, up = (high - low).max(axis=0)
        for column in range(right + 1):
            for row in range(up + 1):
                at = low + np.array([column, row])
                reached = (at <= high).all(axis=1)
                touched[at[reached, 1], at[reached, 0]] = True


def _edges(outlines: NDArray[Any]) -> tuple[Reals, Reals]:
    """Start and end (longitude, latitude) of every straight piece of every outline, holes included."""
    rings = shapely.get_rings(shapely.get_parts(outlines))  # of multipolygons as well
    coordinates, ring = shapely.get_coordinates(rings, return_index=True)
    joined = ring[1:] == ring[:-1]
    return coordinates[:-1][joined], coordinates[1:][joined]
