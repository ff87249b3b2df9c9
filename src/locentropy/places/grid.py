"""A grid: square cells over a public box, for when there is no public list of places.

Within the zones of a public map, only cells whose centre is in a zone are published: land, without the water around it.
A cell keeps its number, so releases with and without the water can be laid beside each other.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pyarrow as pa

from locentropy.core.attributes import COORDINATES, check_cell_attributes
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations, SquareCells
from locentropy.places.region import Region
from locentropy.places.zones import Zones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

METRES_PER_DEGREE = 111_195.0
"""Metres per degree of latitude, on a sphere of the Earth's mean radius."""

MAX_CELLS = 10_000_000

_NUMBER = r"(-?[0-9.]+(?:e[-+]?[0-9]+)?)"
_DESCRIBED = re.compile(
    rf"grid of [0-9]+ × [0-9]+ square cells of {_NUMBER} m, "
    rf"south {_NUMBER}, west {_NUMBER}, north {_NUMBER}, east {_NUMBER}"
)
_SQUARE = np.dtype([("head", "S13"), ("corners", "<f8", (5, 2))])
"""A polygon of one ring of five corners, in well-known binary."""
_HEAD = struct.pack("<BIII", 1, 3, 1, 5)

_CALL = "Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)"
_OVER = 'Grid.over(Zones("districts.geojson", id="name"), cell=500)'


@dataclass(frozen=True)
class Grid(SquareCells):
    """Square cells of `cell` metres over a box, numbered from the south-west corner, row by row.

    The box is public: take it from a map, never from the visits. Every cell is published, so the number of rows of a
    release depends on the grid alone. Visits outside the box are left out before anything is counted. Within the zones
    of a public map, the cells are those whose centre is in a zone; visits in other cells are left out likewise.
    """

    kind: ClassVar[str] = "grid"

    south: float
    """Latitude of the lower edge, in degrees."""
    west: float
    """Longitude of the left edge."""
    north: float
    """Latitude of the upper edge. The last row extends beyond it if the cells do not fit evenly."""
    east: float
    """Longitude of the right edge. The last column extends beyond it likewise."""
    cell: float
    """Side of a cell in metres. Cells are square at the middle latitude of the box."""
    within: Zones | None = None
    """Zones of a public map: only cells whose centre is in one of them are published."""
    attributes: Sequence[str] = (COORDINATES,)
    """Mechanisms that use attributes let estimates lean on cells nearby; [] for none of that."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", check_cell_attributes(self.attributes, _CALL))
        for name in ("south", "west", "north", "east", "cell"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ParameterError("must be a finite number.", parameter=name, value=value, example=_CALL)
        if not (-90 <= self.south < self.north <= 90 and -180 <= self.west < self.east <= 180):
            raise ParameterError(
                f"The box south {self.south}, west {self.west}, north {self.north}, east {self.east} must lie within "
                "±90 and ±180 degrees, south below north and west before east.",
                example=_CALL,
            )
        if self.cell <= 0 or not self.rows * self.columns <= MAX_CELLS:
            raise ParameterError(
                f"must be above 0 and make at most {MAX_CELLS:,} cells.",
                parameter="cell",
                value=self.cell,
                example=_CALL,
            )

        if self.within is not None and not isinstance(self.within, Zones):
            raise ParameterError("must be Zones, or left out.", parameter="within", example=_OVER)

    @classmethod
    def over(cls, zones: Zones, cell: float) -> Self:
        """The grid of the box around zones, of which the cells within them are published."""
        if not isinstance(zones, Zones):
            raise ParameterError("must be Zones.", parameter="zones", example=_OVER)
        return cls(*Region(zones).box, cell, zones)

    @classmethod
    def of_description(cls, described: str) -> Self | None:
        """The whole grid of a release, by its words; None if they are not those of a grid."""
        found = _DESCRIBED.match(described)
        if found is None:
            return None
        try:
            cell, south, west, north, east = map(float, found.groups())
            return cls(south, west, north, east, cell)
        except (ParameterError, ValueError):  # a release may come from anywhere
            return None

    @property
    def lat_step(self) -> float:
        """Height of a cell in degrees."""
        return self.cell / METRES_PER_DEGREE

    @property
    def lon_step(self) -> float:
        """Width of a cell in degrees."""
        return self.lat_step / math.cos(math.radians((self.south + self.north) / 2))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.ceil((self.north - self.south) / self.lat_step)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return math.ceil((self.east - self.west) / self.lon_step)

    @property
    def described(self) -> str:
        """The grid in the words of a release: its size, its cells, its box, and the zones they are within."""
        whole = (
            f"grid of {self.rows} × {self.columns} square cells of {self.cell} m, south {self.south}, west "
            f"{self.west}, north {self.north}, east {self.east}"
        )
        if self.within is None:
            return whole
        return f"{whole}; the {len(self._numbers):,} cells {Region(self.within).described}"

    @property
    def origin(self) -> str | None:
        """Where the zones came from, in the owner's words; None for a box."""
        return None if self.within is None else Region(self.within).origin

    def numbers(self) -> NDArray[np.int64]:
        """The number of each cell that is published, ascending."""
        return self._numbers

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        every = super().numbers()
        if self.within is None:
            return every
        inside = every[Region(self.within).contains(*self._centres(every))]
        if len(inside) == 0:
            raise ParameterError(
                "has no zone with the centre of a cell in it. Are the box and the map of the same region, and are "
                "cells smaller than zones?",
                parameter="within",
                example=_OVER,
            )
        return inside

    def _centres(self, number: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Latitude and longitude of the centres of cells."""
        row, column = np.divmod(number, self.columns)
        return self.south + (row + 0.5) * self.lat_step, self.west + (column + 0.5) * self.lon_step

    def outlines(self, number: NDArray[np.int64]) -> pa.Array:
        """The squares of cells as well-known binary, in degrees, longitude first; neighbours share their border."""
        row, column = np.divmod(number, self.columns)
        south, north = (np.minimum(self.south + (row + at) * self.lat_step, 90.0) for at in (0, 1))
        west, east = (np.minimum(self.west + (column + at) * self.lon_step, 180.0) for at in (0, 1))
        squares = np.empty(len(number), _SQUARE)
        squares["head"] = _HEAD
        for at, corner in enumerate(
            ((west, south), (east, south), (east, north), (west, north), (west, south))
        ):
            squares["corners"][:, at] = np.stack(corner, axis=1)
        fixed = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(_SQUARE.itemsize), len(squares), [None, pa.py_buffer(squares.tobytes())]
        )
        return fixed.cast(pa.binary())

    def locations(self) -> Locations:
        """Every cell that is published, with its number, a name and the coordinates of its centre."""
        number = self._numbers
        row, column = np.divmod(number, self.columns)
        names = [f"row {r}, column {c}" for r, c in zip(row.tolist(), column.tolist(), strict=True)]
        return Locations(
            pa.array(number),
            pa.array(names, pa.string()),
            *self._centres(number),
            leans_on_coordinates=bool(self.attributes),
        )
