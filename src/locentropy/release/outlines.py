"""The outlines of published zones and cells, as polygons in well-known binary: checked, measured and taken apart.

A release may come from anywhere, and its page is drawn without the extra `geo`. So this reads just what this package
writes: polygons and multipolygons in two dimensions, little endian, in degrees, with closed rings.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.cell_kinds import OUTLINED
from locentropy.core.errors import ReleaseError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.places.grid import Grid
    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

    Ring = NDArray[np.float64]

_POLYGON: Final = 3
_MULTIPOLYGON: Final = 6
_HEADER: Final = struct.Struct("<BII")
"""Byte order, kind of geometry, number of its rings or parts."""


def has_outlines(statement: Statement) -> bool:
    """Whether locations are published with their outlines, rather than as points: groups of listed areas are not."""
    level = statement.part
    return statement.locations_source.startswith(OUTLINED) and (level is None or level.scope == "place")


def square_grid(statement: Statement) -> Grid | None:
    """The grid whose squares are published, if it is one: as points in the table, and drawn as the squares they are."""
    from locentropy.places.grid import Grid

    return Grid.of_description(statement.locations_source)


def shapes_of(release: Release) -> pa.Array | None:
    """The outline of each place: those that are published, or the squares of a grid; None where places are points."""
    grid = square_grid(release.statement)
    if grid is None:
        return release.outlines
    number = release.table["location"].to_numpy()
    whole = np.issubdtype(number.dtype, np.integer) and (number >= 0).all()
    return grid.outlines(number) if whole and (number < grid.rows * grid.columns).all() else None


def rings_of(outline: bytes) -> list[list[Ring]]:
    """The polygons of an outline, each as its outer ring and its holes, of (longitude, latitude)."""
    try:
        kind, number = _header(outline, 0)
        at = _HEADER.size
        if kind == _MULTIPOLYGON:
            polygons = []
            for _ in range(number):
                polygon, at = _polygon(outline, at)
                polygons.append(polygon)
        else:
            polygon, at = _polygon(outline, 0)
            polygons = [polygon]
    except (struct.error, ValueError):
        raise _unreadable() from None
    if at != len(outline) or not polygons:
        raise _unreadable()
    return polygons


def bounds_of(outlines: pa.ChunkedArray | pa.Array) -> list[float]:
    """West, south, east and north of all outlines together; raises ReleaseError unless all of them can be read."""
    corners = [
        np.concatenate([ring for polygon in rings_of(each) for ring in polygon]) for each in _bytes(outlines)
    ]
    low, high = (np.array([edge(each, axis=0) for each in corners]) for edge in (np.min, np.max))
    return [*low.min(axis=0).tolist(), *high.max(axis=0).tolist()]


def _bytes(outlines: Any) -> list[bytes]:
    found = outlines.to_pylist()
    if not found or not all(isinstance(each, bytes) for each in found):
        raise _unreadable()
    return list(found)


def _polygon(outline: bytes, at: int) -> tuple[list[Ring], int]:
    """A polygon that begins at a byte, and where it ends."""
    kind, number = _header(outline, at)
    if kind != _POLYGON or number == 0:
        raise ValueError
    at += _HEADER.size
    rings = []
    for _ in range(number):
        [points] = struct.unpack_from("<I", outline, at)
        ring = np.frombuffer(outline, "<f8", 2 * points, at + 4).reshape(points, 2)
        limit = np.abs(ring) <= (180, 90)
        if points < 4 or not limit.all() or not np.array_equal(ring[0], ring[-1]):
            raise ValueError
        rings.append(ring)
        at += 4 + ring.nbytes
    return rings, at


def _header(outline: bytes, at: int) -> tuple[int, int]:
    order, kind, number = _HEADER.unpack_from(outline, at)
    if order != 1:
        raise ValueError
    return kind, number


def _unreadable() -> ReleaseError:
    return ReleaseError("An outline is not a polygon in degrees, as a release has it.")
