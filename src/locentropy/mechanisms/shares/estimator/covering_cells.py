"""Whether the places of a list are cells that cover an area: squares, hexagons.

Somebody put a café on a list because people go there; nobody asked that of a cell of a grid. So cells are empty far
more often, and at small ε nothing else tells (`visitor_prior.py`). Cells give themselves away by their coordinates: the
nearest neighbour of each is equally far. This is a function of the public list alone, and only of one whose coordinates
the inference may lean on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from locentropy.core.locations import Locations

FEWEST: Final = 50
"""Fewer places may be evenly spaced by chance."""
AROUND: Final = 20_000
"""Places around the middle of the list among which neighbours are looked for,"""
EXAMINED: Final = 2_000
"""and how many of them are asked for theirs."""
EVEN: Final = 0.1
"""How much distances may differ, in part: hexagons and projected squares are not all of one size."""
MOSTLY: Final = (0.05, 0.95)
"""Quantiles of the distances that are compared: a list may have gaps."""


def are_cells(locations: Locations) -> bool:
    """Whether these are cells that cover an area. Without coordinates that may be used, they are not."""
    lat, lon = locations.lat, locations.lon
    if not locations.leans_on_coordinates or lat is None or lon is None or lat.size < FEWEST:
        return False
    if not (np.isfinite(lat).all() and np.isfinite(lon).all()):
        return False
    from scipy.spatial import KDTree  # takes a seventh of a second, and most lists never need it

    middle = float(np.median(lat))
    east = (lon - float(np.median(lon)) + 180.0) % 360.0 - 180.0
    position = np.stack([lat - middle, east * math.cos(math.radians(middle))], axis=1)
    around = position[np.argsort((position**2).sum(axis=1), kind="stable")[:AROUND]]
    distance, _ = KDTree(around).query(around[:EXAMINED], k=2)
    near, usual, far = np.quantile(distance[:, 1], [MOSTLY[0], 0.5, MOSTLY[1]])
    return bool(usual > 0 and far - near <= EVEN * usual)
