"""Where the cells of a world-wide system are published: within a box, or within the zones of a map.

A cell is in the region if its centre is. Cells are whole: a visit counts if its cell is one of them, also where the
cell reaches beyond the region. The region is public, as the cells are: it never comes from the visits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.places.extra import require_geo
from locentropy.places.zones import Zones

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

Box = tuple[float, float, float, float]
"""South, west, north, east, in degrees."""


def checked_within(within: object, example: str) -> Box | Zones:
    """A box or zones; raise ParameterError for anything else."""
    if isinstance(within, Zones):
        return within
    problem = "must be a box (south, west, north, east) in degrees, or Zones."
    if not isinstance(within, Sequence) or isinstance(within, str) or len(within) != 4:
        raise ParameterError(problem, parameter="within", example=example)
    for edge in within:
        if isinstance(edge, bool) or not isinstance(edge, int | float) or not math.isfinite(edge):
            raise ParameterError(problem, parameter="within", value=tuple(within), example=example)
    south, west, north, east = (float(edge) for edge in within)
    if not (-90 <= south < north <= 90 and -180 <= west < east <= 180):
        raise ParameterError(
            "must lie within ±90 and ±180 degrees, south below north and west before east.",
            parameter="within",
            value=tuple(within),
            example=example,
        )
    return south, west, north, east


@dataclass(frozen=True)
class Region:
    """A box or zones, as polygons and as a question."""

    within: Box | Zones

    @property
    def described(self) -> str:
        """The region in the words of a release."""
        if isinstance(self.within, Zones):
            return f"within {self.within.described}"
        south, west, north, east = self.within
        return f"south {south}, west {west}, north {north}, east {east}"

    @property
    def origin(self) -> str | None:
        """Where the zones came from, in the owner's words; None for a box."""
        return self.within.provenance if isinstance(self.within, Zones) else None

    @property
    def box(self) -> Box:
        """The smallest box around the region."""
        if not isinstance(self.within, Zones):
            return self.within
        zones = self.within.map.zones  # says how to install the extra, if it is missing
        import shapely

        west, south, east, north = (float(edge) for edge in shapely.total_bounds(zones))
        return south, west, north, east

    def polygons(self) -> NDArray[Any]:
        """The region as Shapely polygons in degrees, without multipolygons."""
        require_geo()
        import shapely

        if isinstance(self.within, Zones):
            return np.asarray(shapely.get_parts(self.within.map.zones))
        south, west, north, east = self.within
        return np.array([shapely.box(west, south, east, north)], dtype=object)

    def contains(self, lat: Reals, lon: Reals) -> NDArray[np.bool_]:
        """Which points are in the region; its border is part of it."""
        if isinstance(self.within, Zones):
            return np.asarray(self.within.locator().positions(lat, lon) >= 0)
        south, west, north, east = self.within
        return np.asarray((lat >= south) & (lat <= north) & (lon >= west) & (lon <= east))
