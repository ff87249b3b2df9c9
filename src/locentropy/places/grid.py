"""A grid: square cells over a public box, for when there is no public list of places."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations, SquareCells

METRES_PER_DEGREE = 111_195.0
"""Metres per degree of latitude, on a sphere of the Earth's mean radius."""

MAX_CELLS = 10_000_000

_CALL = "Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)"


@dataclass(frozen=True)
class Grid(SquareCells):
    """Square cells of `cell` metres over a box, numbered from the south-west corner, row by row.

    The box is public: take it from a map, never from the visits. Every cell is published, so the number of rows of a
    release depends on the grid alone. Visits outside the box are left out before anything is counted.
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

    def __post_init__(self) -> None:
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
        """The grid in the words of a release: its size, its cells and its box."""
        return (
            f"grid of {self.rows} × {self.columns} square cells of {self.cell} m, south {self.south}, west "
            f"{self.west}, north {self.north}, east {self.east}"
        )

    def locations(self) -> Locations:
        """Every cell, with its number, a name and the coordinates of its centre."""
        number = np.arange(self.rows * self.columns)
        row, column = np.divmod(number, self.columns)
        names = [f"row {r}, column {c}" for r, c in zip(row.tolist(), column.tolist(), strict=True)]
        return Locations(
            pa.array(number),
            pa.array(names, pa.string()),
            self.south + (row + 0.5) * self.lat_step,
            self.west + (column + 0.5) * self.lon_step,
        )
