"""Public maps that tests share, and points that are awkward for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BOX = (40.60, -74.05, 40.85, -73.85)


ODD = np.array(
    [
        np.nan,
        np.inf,
        -np.inf,
        1e300,
        -1e300,
        90,
        -90,
        90.0000001,
        180,
        -180,
        180.0000001,
        0,
        -0.0,
        5e-324,
        -5e-324,
        1e-310,
    ]
)
"""Coordinates that are at the end of something, hardly numbers, or none."""


def feature(name: Any, *polygons: list[list[tuple[float, float]]]) -> dict[str, Any]:
    """A feature of GeoJSON; each polygon is its outer ring and its holes, of (lon, lat)."""
    closed = [[[*ring, ring[0]] for ring in polygon] for polygon in polygons]
    geometry = (
        {"type": "Polygon", "coordinates": closed[0]}
        if len(closed) == 1
        else {"type": "MultiPolygon", "coordinates": closed}
    )
    return {"type": "Feature", "properties": {"name": name, "label": f"Zone {name}"}, "geometry": geometry}


def square(west: float, south: float, side: float = 1.0) -> list[tuple[float, float]]:
    return [(west, south), (west + side, south), (west + side, south + side), (west, south + side)]


def geojson(path: Path, *features: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": list(features)}))
    return path


def districts(path: Path, across: int = 8) -> Path:
    """Crooked quadrangles that fill a box: neighbours share their borders to the last bit."""
    rng = np.random.default_rng(7)
    south, west, north, east = BOX
    x, y = np.meshgrid(
        np.linspace(west, east, across + 1), np.linspace(south, north, across + 1), indexing="ij"
    )
    x, y = x + rng.normal(0, 0.002, x.shape), y + rng.normal(0, 0.002, y.shape)
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    found = [
        feature(f"d{i}-{j}", [[(float(x[i + a, j + b]), float(y[i + a, j + b])) for a, b in corners]])
        for i in range(across)
        for j in range(across)
    ]
    return geojson(path, *found)


def awkward_points(number: int, *outlines: NDArray[Any], seed: int = 1) -> NDArray[np.float64]:
    """Pairs of (lat, lon): in and around the box, on corners and borders and a rounding beside them, and no places."""
    rng = np.random.default_rng(seed)
    south, west, north, east = BOX
    points = np.column_stack(
        [rng.uniform(south - 0.05, north + 0.05, number), rng.uniform(west - 0.05, east + 0.05, number)]
    )
    for at, corners in enumerate(outlines):
        edge = rng.integers(0, len(corners) - 1, number // 4)
        share = rng.choice([0.0, 0.25, 0.5, 1 / 3, 1.0], (len(edge), 1))
        on = corners[edge] + (corners[edge + 1] - corners[edge]) * share
        beside = np.nextafter(on, rng.choice([-np.inf, np.inf], on.shape))
        near = np.where(rng.random((len(on), 1)) < 0.5, on, beside)
        points[at * len(near) : (at + 1) * len(near)] = near[:, ::-1]
    odd = [float(each) for each in ODD if not np.isnan(each)]
    pairs = np.array([(lat, lon) for lat in (*odd, 40.7) for lon in (*odd, -74.0)])
    points[-len(pairs) :] = pairs
    return points


def world(path: Path) -> Path:
    """A zone on both sides of the date line, one around a pole, one with a hole and an island in it, and overlaps."""
    ring = [square(10, 10, 10), square(13, 13, 4)]
    return geojson(
        path,
        feature(
            "fiji",
            [[(177, -20), (180, -20), (180, -15), (177, -15)]],
            [[(-180, -20), (-178, -20), (-178, -15), (-180, -15)]],
        ),
        feature("pole", [[(-180, 80), (-60, 82), (60, 81), (180, 80), (180, 90), (-180, 90)]]),
        feature("ring", ring),
        feature("island", [square(14, 14, 2)]),
        feature("over", [square(18, 8, 5)]),
        feature("beside", [square(20, 20, 5)], [square(0, 0, 1)]),
        feature("thin", [[(-1, 0), (-1 + 2**-45, 0), (-1, 40)]]),
    )
