"""Hexagons that people share: the cells of H3 within a box or within zones, with the ids that H3 gives them.

H3 numbers the cells of the whole Earth, at sixteen sizes: a release by H3 can be laid beside anybody else's. The
library says in which cell a point is; its index is the exact rule here, and the raster in front of it only saves calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from locentropy.core.attributes import COORDINATES, check_cell_attributes
from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Cells, Locations, Locator
from locentropy.places.date_line import outline_across
from locentropy.places.extra import require_geo
from locentropy.places.region import Box, Region, checked_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.places.zones import Zones

    Reals = NDArray[np.float64]

MAX_CELLS: Final = 1_000_000
_CALL: Final = "H3Cells(resolution=9, within=(40.70, -74.03, 40.80, -73.92))"
_STRIP: Final = 60.0
"""Degrees of longitude: H3 takes wider polygons for ones that cross the date line."""
_METRES_PER_DEGREE: Final = 111_195.0
_INDEXED_FROM: Final = 4
"""The resolution from which a raster helps; larger cells have borders that are far from straight in degrees."""
_MAX_INDEXED: Final = 20_000
"""With more cells, borders touch too many squares of the raster."""
_HIGHEST_LATITUDE: Final = 80.0
"""Nearer the poles borders are far from straight in degrees, and there is no raster."""


@dataclass(frozen=True)
class H3Cells(Cells):
    """The H3 cells of one resolution whose centres lie within a box or within the zones of a public map.

    The box or the map is public: take it from a map or an office, never from the visits. Every cell is published. A
    visit belongs to the cell that H3 names for its point, and is left out if that is not one of these.
    """

    kind: ClassVar[str] = "h3"

    resolution: int
    """0 to 15: an edge is about 1.4 km long at 7, 530 m at 8, 200 m at 9, 76 m at 10."""
    within: Box | Zones
    """A box (south, west, north, east) in degrees, or `Zones`."""
    attributes: Sequence[str] = (COORDINATES,)
    """Mechanisms that use attributes let estimates lean on cells nearby; [] for none of that."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", check_cell_attributes(self.attributes, _CALL))
        check_whole(_CALL, "resolution", self.resolution, 0, 15)
        object.__setattr__(self, "within", checked_within(self.within, _CALL))

    @property
    def described(self) -> str:
        """The cells in the words of a release."""
        return f"H3 cells of resolution {self.resolution}, {Region(self.within).described}"

    @property
    def origin(self) -> str | None:
        """Where the zones came from, in the owner's words; None for a box."""
        return Region(self.within).origin

    @cached_property
    def _cells(self) -> NDArray[np.uint64]:
        """The cells as numbers, ascending."""
        require_geo()
        import h3.api.basic_int as h3
        import shapely

        region = Region(self.within)
        polygons = region.polygons()
        self._check_number(polygons)
        found: set[int] = set()
        for polygon in polygons:
            for strip in _strips(polygon):
                rings = [shapely.get_coordinates(ring)[:, ::-1].tolist() for ring in shapely.get_rings(strip)]
                found.update(h3.polygon_to_cells(h3.LatLngPoly(*rings), self.resolution))
        if not 0 < len(found) <= MAX_CELLS:
            raise _number_error(self.resolution, len(found))
        return np.array(sorted(found), dtype=np.uint64)

    def _check_number(self, polygons: NDArray[Any]) -> None:
        """Raise before millions of cells are listed."""
        import h3.api.basic_int as h3
        import shapely

        # In square metres; a degree of longitude is shorter away from the equator, by at most the cosine there.
        nearest = np.clip(shapely.bounds(polygons)[:, [1, 3]], -90, 90)
        width = np.cos(np.radians(np.abs(nearest).min(axis=1) * (nearest.prod(axis=1) > 0)))
        area = float((shapely.area(polygons) * width).sum()) * _METRES_PER_DEGREE**2
        expected = area / h3.average_hexagon_area(self.resolution, unit="m^2")
        if expected > 2 * MAX_CELLS:
            raise _number_error(self.resolution, int(expected))

    @cached_property
    def _outlines(self) -> NDArray[Any]:
        """The cells as polygons in degrees, cut at the date line."""
        import h3.api.basic_int as h3
        import shapely

        corners = [np.array(h3.cell_to_boundary(cell)) for cell in self._cells.tolist()]
        cell = np.repeat(np.arange(len(corners)), [len(each) for each in corners])
        outlines: NDArray[Any] = shapely.polygons(
            shapely.linearrings(np.concatenate(corners)[:, ::-1], indices=cell)
        )
        west, _, east, _ = shapely.bounds(outlines).T
        for at in np.flatnonzero(east - west > 180):
            outlines[at] = outline_across(*corners[at].T)
        return outlines

    def locations(self) -> Locations:
        """Every cell, with its id as H3 writes it, its outline and its centre."""
        cells = self._cells.tolist()
        import h3.api.basic_int as h3
        import shapely

        lat, lon = np.array([h3.cell_to_latlng(cell) for cell in cells]).T
        return Locations(
            pa.array([h3.int_to_str(cell) for cell in cells], pa.string()),
            None,
            lat.copy(),
            lon.copy(),
            leans_on_coordinates=bool(self.attributes),
            outlines=pa.array(shapely.to_wkb(self._outlines), pa.binary()),
        )

    def locator(self) -> Locator:
        """The cell that H3 names, if it is one of these."""
        return self._locator

    @cached_property
    def _locator(self) -> Locator:
        exact = H3Locator(self._cells, self.resolution)
        if self.resolution < _INDEXED_FROM or len(self._cells) > _MAX_INDEXED:
            return exact
        import shapely

        from locentropy.places.map_index import IndexedLocator

        west, south, east, north = shapely.bounds(self._outlines).T
        # A cell at the date line has parts at both ends of the world.
        if (east - west).max() > 180 or max(abs(south.min()), abs(north.max())) > _HIGHEST_LATITUDE:
            return exact
        return IndexedLocator(exact, self._outlines, _bend(self._outlines))


class H3Locator(Locator):
    """The position of the H3 cell of each point, by the library's own index."""

    def __init__(self, cells: NDArray[np.uint64], resolution: int) -> None:
        """Keep the cells, ascending, and their resolution."""
        self._cells = cells
        self._resolution = resolution

    def positions(self, lat: Reals, lon: Reals) -> NDArray[np.int64]:
        """The position of the cell of each pair of coordinates; -1 where it is none of these."""
        import h3.api.basic_int as h3

        lat, lon = lat + 0.0, lon + 0.0  # as in the raster: -0.0 is 0.0
        found = np.full(len(lat), -1)
        known = np.flatnonzero((np.abs(lat) <= 90) & (np.abs(lon) <= 180))
        points = zip(lat[known].tolist(), lon[known].tolist(), strict=True)
        named = np.fromiter(
            (h3.latlng_to_cell(north, east, self._resolution) for north, east in points),
            np.uint64,
            len(known),
        )
        at = np.minimum(np.searchsorted(self._cells, named), len(self._cells) - 1)
        found[known] = np.where(self._cells[at] == named, at, -1)
        return found


def _strips(polygon: Any) -> list[Any]:
    """The polygon, cut into strips if it is wide."""
    import shapely

    west, south, east, north = polygon.bounds
    if east - west <= _STRIP:
        return [polygon]
    edges = np.arange(west, east, _STRIP)
    cut = shapely.intersection(polygon, shapely.box(edges, south, np.minimum(edges + _STRIP, east), north))
    return [part for part in shapely.get_parts(cut) if part.geom_type == "Polygon"]


def _bend(outlines: NDArray[Any]) -> float:
    """How far, in degrees, a border may be from the straight line in degrees between its corners.

    Borders are great circles. The middle of an arc of l radians, at latitude φ, is off that line by no more than about
    l²·(1 + tan φ)/8. Twice that is taken.
    """
    import shapely

    coordinates, cell = shapely.get_coordinates(outlines, return_index=True)
    joined = cell[1:] == cell[:-1]
    step = np.abs(np.diff(coordinates, axis=0))[joined]
    longest = float(np.radians(np.hypot(step[:, 0], step[:, 1]).max()))
    slope = np.tan(np.radians(np.abs(coordinates[:, 1]).max()))
    return float(np.degrees(longest**2 * (1 + slope) / 4)) + 1e-9


def _number_error(resolution: int, number: int) -> ParameterError:
    return ParameterError(
        f"gives about {number:,} cells in this region. From 1 to {MAX_CELLS:,} can be published: choose another "
        "resolution or another region.",
        parameter="resolution",
        value=resolution,
        example=_CALL,
    )
