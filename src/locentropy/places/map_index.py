"""A raster in front of an exact rule: most points are in a square that lies wholly in one location, or in none.

Testing ten million points against thousands of polygons takes far longer than counting them. So the box around all
locations is divided into squares, once. A square that no outline touches lies in one location, or in none; so do all
squares of a patch of them, side by side: the exact rule is asked for one point of each patch. Points in squares that an
outline touches go to the exact rule. The answers are those of the exact rule alone; tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import shapely
from scipy import ndimage

from locentropy.core.locations import Locator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Integers = NDArray[np.int64]

LEVELS: Final = 11
"""The raster has 2^LEVELS squares a side. Outlines of 2,000 zones touch about a twentieth of them."""

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
        self._size = tuple((each * (1 + 2e-6) + 2 * margin) / self._side for each in (wide, high))
        self._width, self._height = self._size
        # With a frame of squares around, which are at no location.
        self._framed = np.pad(self._rastered(self._touched(outlines, margin)), 1, constant_values=-1).ravel()
        self._frame = self._west - self._width, self._south - self._height
        self._reaches_the_end = bool(west <= -180 or east >= 180)

    def positions(self, lat: Reals, lon: Reals) -> Integers:
        """The position of each pair of coordinates; -1 where there is none."""
        square = self._along(lat, self._frame[1], self._height)
        square *= self._side + 2
        square += self._along(lon, self._frame[0], self._width)
        found: Integers = self._framed.take(square).astype(np.int64)
        unsure = found == _UNSURE
        if self._reaches_the_end:
            # The two ends of the world are one line, so a point there may be in a location at the other end.
            unsure |= np.abs(lon) == 180
        at = np.flatnonzero(unsure)
        if len(at):
            # -0.0 becomes 0.0: engines take the two for the same number.
            found[at] = self._exact.positions(lat[at] + 0.0, lon[at] + 0.0)
        return found

    def _along(self, degrees: Reals, start: float, size: float) -> NDArray[np.int32]:
        """The row or column of each point, with the frame; far away, infinite or NaN is in the frame."""
        with np.errstate(all="ignore"):
            along = degrees - start
            along /= size
        np.fmin(along, self._side + 1.0, out=along)
        np.fmax(along, 0.0, out=along)
        return along.astype(np.int32)

    def _rastered(self, touched: NDArray[np.bool_]) -> NDArray[np.int32]:
        """The location of each square, by the exact rule at the centre of one square of each patch."""
        patches, number = ndimage.label(
            ~touched
        )  # of squares that share a side: no outline passes between them
        one_of = np.empty(number + 1, dtype=np.int64)
        one_of[patches.ravel()] = np.arange(patches.size)
        row, column = np.divmod(one_of[1:], self._side)
        lat, lon = self._south + (row + 0.5) * self._height, self._west + (column + 0.5) * self._width
        found = np.concatenate([[_UNSURE], self._exact.positions(lat, lon)]).astype(np.int32)
        raster: NDArray[np.int32] = found[patches]
        return raster

    def _touched(self, outlines: NDArray[Any], margin: float) -> NDArray[np.bool_]:
        """Which squares an outline touches, or might, by its margin and by rounding; by row and column.

        Every edge is cut into pieces that are shorter than a square, and all squares are marked that the box around a
        piece touches: a few too many, and none too few.
        """
        starts, ends = ((each - (self._west, self._south)) / self._size for each in _edges(outlines))
        step = ends - starts
        pieces = np.maximum(np.ceil(np.abs(step).max(axis=1) / _PIECE), 1).astype(np.int64)
        touched = np.zeros((self._side, self._side), dtype=np.bool_)
        last = np.cumsum(pieces)
        batches = np.searchsorted(last, np.arange(_AT_ONCE, last[-1], _AT_ONCE))
        for edges in np.split(np.arange(len(pieces)), batches):
            edge = np.repeat(edges, pieces[edges])
            first = last[edges] - pieces[edges]
            share = (np.arange(len(edge)) + first[:1] - np.repeat(first, pieces[edges])) / pieces[edge]
            low, high = [], []
            for axis, size in enumerate(self._size):
                here = starts[edge, axis] + step[edge, axis] * share
                there = starts[edge, axis] + step[edge, axis] * (share + 1 / pieces[edge])
                spare = (margin + _ROUNDING) / size
                low.append(self._clipped(np.minimum(here, there) - spare))
                high.append(self._clipped(np.maximum(here, there) + spare))
            _mark(touched, low, high)
        return touched

    def _clipped(self, along: Reals) -> Integers:
        """The row or column at a distance in squares; beyond the last of them, the last."""
        return np.clip(np.floor(along), 0, self._side - 1).astype(np.int64)


def _mark(touched: NDArray[np.bool_], low: Sequence[Integers], high: Sequence[Integers]) -> None:
    """Mark the squares from one (column, row) to another, of many boxes at once."""
    across, up = (range(int((end - start).max()) + 1) for start, end in zip(low, high, strict=True))
    for right in across:
        column = np.minimum(low[0] + right, high[0])
        for above in up:
            touched[np.minimum(low[1] + above, high[1]), column] = True


def _edges(outlines: NDArray[Any]) -> tuple[Reals, Reals]:
    """Start and end (longitude, latitude) of every straight piece of every outline, holes included."""
    rings = shapely.get_rings(shapely.get_parts(outlines))  # of multipolygons as well
    coordinates, ring = shapely.get_coordinates(rings, return_index=True)
    joined = ring[1:] == ring[:-1]
    return coordinates[:-1][joined], coordinates[1:][joined]
