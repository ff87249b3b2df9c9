"""Squares that European offices share: the INSPIRE grid, in metres of ETRS89-LAEA (EPSG:3035), with its ids.

The grid of statistical offices. A square is named by its size and its lower left corner: 1kmN2689E4337 has its corner
2,689 km north and 4,337 km east of the origin. Degrees are taken as ETRS89, which for Europe is WGS 84 to within a
metre; so the projection is pure arithmetic, without a datum shift or a file of corrections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from locentropy.core.attributes import COORDINATES, check_cell_attributes
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Cells, Locations, Locator
from locentropy.places.extra import require_geo
from locentropy.places.region import Box, Region, checked_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.places.zones import Zones

    Reals = NDArray[np.float64]
    Integers = NDArray[np.int64]

SIZES: Final = {
    "100m": 100,
    "250m": 250,
    "500m": 500,
    "1km": 1_000,
    "2km": 2_000,
    "5km": 5_000,
    "10km": 10_000,
    "25km": 25_000,
    "50km": 50_000,
    "100km": 100_000,
}
"""The sides of squares, in metres."""

MAX_SQUARES: Final = 1_000_000
_EUROPE: Final = (24.6, -35.58, 84.73, 44.83)
"""South, west, north, east: where EPSG:3035 is to be used."""
_CALL: Final = 'InspireSquares("1km", within=(52.34, 13.09, 52.68, 13.76))'
_PER_EDGE: Final = 4
"""Edges are drawn in so many pieces: a straight line in metres is curved in degrees."""


@dataclass(frozen=True)
class InspireSquares(Cells):
    """The squares of the INSPIRE grid whose centres lie within a box or within the zones of a public map, in Europe.

    The box or the map is public: take it from a map or an office, never from the visits. Every square is published. A
    visit belongs to the square that its projected point is in, and is left out if that is not one of these.
    """

    kind: ClassVar[str] = "inspire"

    size: str
    """The side: 100m, 250m, 500m, 1km, 2km, 5km, 10km, 25km, 50km or 100km."""
    within: Box | Zones
    """A box (south, west, north, east) in degrees, or `Zones`."""
    attributes: Sequence[str] = (COORDINATES,)
    """Mechanisms that use attributes let estimates lean on cells nearby; [] for none of that."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", check_cell_attributes(self.attributes, _CALL))
        if self.size not in SIZES:
            raise ParameterError(
                f"is not one of {', '.join(SIZES)}.", parameter="size", value=self.size, example=_CALL
            )
        object.__setattr__(self, "within", checked_within(self.within, _CALL))

    @property
    def described(self) -> str:
        """The squares in the words of a release."""
        return f"INSPIRE squares of {self.size} (ETRS89-LAEA), {Region(self.within).described}"

    @property
    def origin(self) -> str | None:
        """Where the zones came from, in the owner's words; None for a box."""
        return Region(self.within).origin

    @cached_property
    def _corners(self) -> Integers:
        """Northing and easting of the lower left corner of each square, in sides, from the south-west, row by row."""
        require_geo()
        import shapely

        region, side = Region(self.within), SIZES[self.size]
        polygons = region.polygons()
        west, south, east, north = shapely.total_bounds(polygons)
        if south < _EUROPE[0] or west < _EUROPE[1] or north > _EUROPE[2] or east > _EUROPE[3]:
            raise ParameterError(
                "must lie in Europe, where ETRS89-LAEA is defined: south 24.6, west -35.58, north 84.73, east 44.83. "
                "Elsewhere use H3 cells or a grid of your own (--h3, --grid).",
                parameter="within",
                example=_CALL,
            )
        found = [_centres_in(region, polygon, side) for polygon in polygons]
        corners = np.unique(np.concatenate(found), axis=0)
        if not 0 < len(corners) <= MAX_SQUARES:
            raise _number_error(self.size, len(corners))
        return corners

    def _outlines(self) -> NDArray[Any]:
        """The squares as polygons in degrees, each edge in several pieces."""
        import shapely

        along = np.arange(_PER_EDGE) / _PER_EDGE
        none, all_ = np.zeros(_PER_EDGE), np.ones(_PER_EDGE)
        x = np.concatenate([along, all_, 1 - along, none])
        y = np.concatenate([none, along, all_, 1 - along])
        side = SIZES[self.size]
        north, east = self._corners[:, :1], self._corners[:, 1:]
        lon, lat = to_degrees((east + x) * side, (north + y) * side)
        outlines: NDArray[Any] = shapely.polygons(np.stack([lon, lat], axis=2))
        return outlines

    def locations(self) -> Locations:
        """Every square, with its INSPIRE id, its outline and its centre."""
        north, east = self._corners.T
        import shapely

        side = SIZES[self.size]
        lon, lat = to_degrees((east + 0.5) * side, (north + 0.5) * side)
        # The zeros at the end of the side are not written: 2,689,000 m is N2689 at 1km, and N268900 at 250m is in 10 m.
        written = side // 10 ** (len(str(side)) - len(str(side).rstrip("0")))
        codes = zip((north * written).tolist(), (east * written).tolist(), strict=True)
        return Locations(
            pa.array([f"{self.size}N{n}E{e}" for n, e in codes], pa.string()),
            None,
            lat,
            lon,
            leans_on_coordinates=bool(self.attributes),
            outlines=pa.array(shapely.to_wkb(self._outlines()), pa.binary()),
        )

    def locator(self) -> Locator:
        """The square that the projected point is in, if it is one of these."""
        return InspireLocator(self._corners, SIZES[self.size])


class InspireLocator(Locator):
    """The position of the square of each point, by projection, rounding to the micrometre, and division.

    Rounding gives a corner or border to the square north or east of it, whatever the last bit of a sine is.
    """

    def __init__(self, corners: Integers, side: int) -> None:
        """Keep the lower left corners, in sides, in order, and the side in metres."""
        self._side = side
        self._first, self._last = corners.min(axis=0), corners.max(axis=0)
        self._keys = self._key(corners[:, 0], corners[:, 1])

    def positions(self, lat: Reals, lon: Reals) -> Integers:
        """The position of the square of each pair of coordinates; -1 where it is none of these."""
        lat, lon = lat + 0.0, lon + 0.0  # -0.0 becomes 0.0: engines take the two for the same number
        found = np.full(len(lat), -1)
        # The projection is defined, and its numbers are ordinary, in Europe and around it.
        near = np.flatnonzero((lat > 20) & (lat <= 90) & (np.abs(lon - 10) < 90))
        x, y = to_metres(lon[near], lat[near])
        north, east = (np.rint(each * 1e6).astype(np.int64) // (self._side * 10**6) for each in (y, x))
        inside = (north >= self._first[0]) & (north <= self._last[0])
        inside &= (east >= self._first[1]) & (east <= self._last[1])
        key = np.where(inside, self._key(north, east), -1)
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        found[near] = np.where(self._keys[at] == key, at, -1)
        return found

    def _key(self, north: Integers, east: Integers) -> Integers:
        """One number for each square, ascending in the order of the squares."""
        columns = self._last[1] - self._first[1] + 1
        key: Integers = (north - self._first[0]) * columns + east - self._first[1]
        return key


def to_metres(lon: Reals, lat: Reals) -> tuple[Reals, Reals]:
    """Easting and northing in ETRS89-LAEA.

    Lambert's azimuthal equal-area projection of an ellipsoid, as EPSG method 9820 writes it. In NumPy rather than by
    PROJ, because engines call it from threads of their own, in which pyproj crashes; tests compare the two.
    """
    authalic = np.arcsin(_authalic(np.sin(np.radians(lat))) / _AT_POLE)
    along = np.radians(lon - _CENTRE[1])
    sine, cosine, ahead = np.sin(authalic), np.cos(authalic), np.cos(along)
    sine_0, cosine_0 = math.sin(_AUTHALIC_0), math.cos(_AUTHALIC_0)
    reach = _RADIUS * np.sqrt(2 / (1 + sine_0 * sine + cosine_0 * cosine * ahead))
    east = _FALSE[1] + reach * _STRETCH * cosine * np.sin(along)
    north = _FALSE[0] + reach / _STRETCH * (cosine_0 * sine - sine_0 * cosine * ahead)
    return east, north


def _authalic(sine: Any) -> Any:
    """The function q of EPSG method 9820, of the sine of a latitude."""
    squared = _ECCENTRICITY**2
    return (1 - squared) * (sine / (1 - squared * sine**2) + np.arctanh(_ECCENTRICITY * sine) / _ECCENTRICITY)


def to_degrees(x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """Longitude and latitude of points in ETRS89-LAEA."""
    import pyproj

    lon, lat = pyproj.Transformer.from_crs("EPSG:3035", "EPSG:4258", always_xy=True).transform(x, y)
    return lon, lat


def _centres_in(region: Region, polygon: Any, side: int) -> Integers:
    """The corners, in sides, of the squares near a polygon whose centres are in the region."""
    import shapely

    edge = shapely.get_coordinates(shapely.segmentize(polygon.envelope, 0.5))
    x, y = to_metres(edge[:, 0], edge[:, 1])
    # The border of a box in degrees bulges between points half a degree apart, by far less than two sides or 2 km.
    spare = max(2, 2_000 // side)
    low, high = (
        (int(np.floor(each.min() / side)) - spare, int(np.ceil(each.max() / side)) + spare) for each in (y, x)
    )
    number = (low[1] - low[0]) * (high[1] - high[0])
    if number > 20 * MAX_SQUARES:
        raise _number_error(f"{side} m", number)
    north, east = (each.ravel() for each in np.mgrid[low[0] : low[1], high[0] : high[1]])
    lon, lat = to_degrees((east + 0.5) * side, (north + 0.5) * side)
    inside = region.contains(lat, lon)
    return np.stack([north[inside], east[inside]], axis=1).astype(np.int64)


def _number_error(size: str, number: int) -> ParameterError:
    return ParameterError(
        f"gives about {number:,} squares in this region. From 1 to {MAX_SQUARES:,} can be published: choose another "
        "size or another region.",
        parameter="size",
        value=size,
        example=_CALL,
    )


_ECCENTRICITY: Final = math.sqrt((2 - 1 / 298.257222101) / 298.257222101)
"""Of the ellipsoid GRS 80."""
_CENTRE: Final = (52.0, 10.0)
_FALSE: Final = (3_210_000.0, 4_321_000.0)
"""Northing and easting of the centre."""
_AT_POLE: Final = float(_authalic(1.0))
_AUTHALIC_0: Final = math.asin(float(_authalic(math.sin(math.radians(_CENTRE[0])))) / _AT_POLE)
_RADIUS: Final = 6_378_137.0 * math.sqrt(_AT_POLE / 2)
_STRETCH: Final = (
    6_378_137.0
    * math.cos(math.radians(_CENTRE[0]))
    / math.sqrt(1 - (_ECCENTRICITY * math.sin(math.radians(_CENTRE[0]))) ** 2)
    / (_RADIUS * math.cos(_AUTHALIC_0))
)
