"""The districts of the invented town: one around each quarter, between the river, the coast and the town's limits.

On either side of the river a district is where its quarter is the nearest one. Nothing here is drawn at random, so the
districts are the same for every city, and places and people do not depend on them.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from locentropy.datasets._town import QUARTERS, Quarter, coast_y, river_x, to_degrees

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

WEST, EAST, NORTH = -2900.0, 2900.0, 2700.0
"""The limits of the town, in metres from its square; the fourth is the coast."""

_STEP = 100.0
"""Metres between the points of the river and the coast."""


def district_of(lat: Floats, lon: Floats) -> list[str]:
    """The district of each place: that whose outline it is in, as anybody finds who has the map."""
    found = np.full(len(lat), -1)
    for index, outline in reversed(list(enumerate(_outlines()))):
        found[_inside(lat, lon, outline)] = index
    middle_lat, middle_lon = to_degrees(*np.array([(q.x, q.y) for q in QUARTERS]).T)
    # Outlines have six decimals as places have, and a place could be between two of them: then the nearest quarter.
    nearest = np.argmin((lat[:, None] - middle_lat) ** 2 + (lon[:, None] - middle_lon) ** 2, axis=1)
    return [QUARTERS[at].name for at in np.where(found >= 0, found, nearest)]


def districts_geojson() -> dict[str, Any]:
    """The districts as GeoJSON (RFC 7946): polygons with the property `name`."""
    features = [
        {
            "type": "Feature",
            "properties": {"name": quarter.name},
            "geometry": {"type": "Polygon", "coordinates": [[[lon, lat] for lat, lon in outline.tolist()]]},
        }
        for quarter, outline in zip(QUARTERS, _outlines(), strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


@cache
def _outlines() -> tuple[Floats, ...]:
    """For each quarter the corners of its district, latitude and longitude, counter-clockwise and closed."""
    west, east = _banks()
    is_west = {quarter: quarter.x < float(river_x(np.array(quarter.y))) for quarter in QUARTERS}
    made = []
    for quarter in QUARTERS:
        corners = west if is_west[quarter] else east
        for other in QUARTERS:
            if other is not quarter and is_west[other] == is_west[quarter]:
                corners = _nearer(corners, quarter, other)
        degrees = np.column_stack(to_degrees(*corners.T))
        kept = np.concatenate([[True], (np.diff(degrees, axis=0) != 0).any(axis=1)])
        ring = degrees[kept]
        made.append(ring if (ring[0] == ring[-1]).all() else np.concatenate([ring, ring[:1]]))
    return tuple(made)


def _banks() -> tuple[Floats, Floats]:
    """The land west and east of the middle of the river, counter-clockwise."""
    mouth = np.array([0.0])
    for _ in range(100):
        mouth = coast_y(river_x(mouth))
    y = np.append(np.arange(NORTH, float(mouth[0]), -_STEP), mouth)
    river = np.column_stack([river_x(y), y])  # from the north to its mouth
    end = float(river[-1, 0])
    coasts = []
    for low, high in ((WEST, end), (end, EAST)):
        x = np.linspace(low, high, int((high - low) / _STEP) + 2)
        coasts.append(np.column_stack([x, coast_y(x)]))
    west = np.concatenate([coasts[0], river[::-1][1:], [[WEST, NORTH]]])
    east = np.concatenate([river, coasts[1][1:], [[EAST, NORTH]]])
    return west, east


def _nearer(corners: Floats, quarter: Quarter, other: Quarter) -> Floats:
    """The part of a polygon that is nearer to one quarter than to another: it is cut by the line between them."""
    normal = np.array([other.x - quarter.x, other.y - quarter.y])
    middle = np.array([other.x + quarter.x, other.y + quarter.y]) / 2
    beyond = (corners - middle) @ normal
    kept: list[Floats] = []
    for at, (corner, away) in enumerate(zip(corners, beyond, strict=True)):
        before, was = corners[at - 1], beyond[at - 1]
        if (away > 0) != (was > 0):
            kept.append(before + (corner - before) * (was / (was - away)))
        if away <= 0:
            kept.append(corner)
    return np.array(kept)


def _inside(lat: Floats, lon: Floats, outline: Floats) -> npt.NDArray[np.bool_]:
    """Whether points are inside an outline: a line to the east crosses it an odd number of times."""
    odd = np.zeros(len(lat), dtype=bool)
    for (lat_1, lon_1), (lat_2, lon_2) in pairwise(outline):
        if lat_1 == lat_2:
            continue
        crosses = (lat_1 > lat) != (lat_2 > lat)
        odd ^= crosses & (lon < lon_1 + (lat - lat_1) * (lon_2 - lon_1) / (lat_2 - lat_1))
    return odd
