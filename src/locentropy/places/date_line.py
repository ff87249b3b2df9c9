"""Outlines cut at the date line, as RFC 7946 asks: a cell that crosses it has a part at either end of the world.

H3 gives the corners of a cell, each with a longitude from −180 to 180. Taken as they are, the outline of a cell at 180
degrees runs once around the Earth, and that of a cell around a pole does not contain the pole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_WORLD = (-180.0, -90.0, 180.0, 90.0)


def outline_across(lat: Reals, lon: Reals) -> Any:
    """The Shapely polygons with these corners, some of which are beyond the date line; one if they surround a pole.

    Its edges are shorter than half of the Earth's circumference, so from one corner to the next the longitude changes
    by less than 180 degrees. If it has gone once around at the end, the outline surrounds a pole.
    """
    import shapely

    x, y = np.append(lon, lon[0]), np.append(lat, lat[0])
    # How often the date line was crossed eastwards, up to each corner.
    turns = np.cumsum(-np.rint(np.diff(x) / 360))
    if turns[-1]:
        return _around_a_pole(lat, lon)
    x[1:] += 360 * turns
    whole = shapely.Polygon(np.column_stack([x, y]))
    parts = []
    for turn in (-360.0, 0.0, 360.0):
        world = shapely.box(_WORLD[0] + turn, _WORLD[1], _WORLD[2] + turn, _WORLD[3])
        inside = shapely.get_parts(shapely.intersection(whole, world))
        parts += [_moved(part, -turn) for part in inside if part.geom_type == "Polygon"]
    return shapely.MultiPolygon(parts)


def _around_a_pole(lat: Reals, lon: Reals) -> Any:
    """The polygon from the west end of the world to its east end, and back along the pole that the corners surround."""
    import shapely

    order = np.argsort(lon)
    x, y = lon[order], lat[order]
    at_the_end = np.interp(180.0, [x[-1], x[0] + 360], [y[-1], y[0]])
    pole = np.copysign(90.0, y.mean())
    return shapely.Polygon(
        np.column_stack(
            [
                np.concatenate([[-180.0], x, [180.0, 180.0, -180.0]]),
                np.concatenate([[at_the_end], y, [at_the_end, pole, pole]]),
            ]
        )
    )


def _moved(polygon: Any, degrees: float) -> Any:
    """The polygon, so many degrees east. A corner at the end of the world stays exactly there."""
    import shapely

    return shapely.transform(
        polygon, lambda corners: np.column_stack([np.clip(corners[:, 0] + degrees, -180, 180), corners[:, 1]])
    )
