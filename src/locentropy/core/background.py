"""Background: the public outlines behind the places on a page's map, and the GeoJSON file that a release keeps of them.

The file may come from anywhere, so reading bounds its size and takes just what is written here: polygons and lines in
degrees, without properties. Nothing in it can be anything but corners.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.errors import ReleaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Line = NDArray[np.float64]

MOST_POINTS: Final = 20_000
"""Corners of all outlines together: about 150 kB of a page."""
MOST_BYTES: Final = 2_000_000
"""Of the file; as it is written, it takes less than a third."""
DECIMALS: Final = 5
"""Of degrees: about a metre."""
_FEWEST: Final = {"area": 4, "line": 2}


@dataclass(frozen=True, eq=False)
class Background:
    """Areas and lines, as arrays of (longitude, latitude)."""

    areas: tuple[tuple[Line, ...], ...]
    """Polygons: each its outer ring and its holes, whose last corner is the first."""
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        for kind, lines in (("area", self.rings), ("line", self.lines)):
            for line in lines:
                if line.ndim != 2 or line.shape[1] != 2 or len(line) < _FEWEST[kind]:
                    raise _unreadable()
                if not (np.abs(line) <= (180, 90)).all():  # also of NaN
                    raise _unreadable()
                if kind == "area" and not np.array_equal(line[0], line[-1]):
                    raise _unreadable()
        if not 0 < self.n_points <= MOST_POINTS or not all(self.areas):
            raise _unreadable()

    @property
    def rings(self) -> Iterator[Line]:
        """The rings of all areas."""
        return (ring for area in self.areas for ring in area)

    @property
    def n_points(self) -> int:
        """How many corners there are."""
        return sum(len(line) for line in (*self.rings, *self.lines))

    def to_geojson(self) -> bytes:
        """The file: a MultiPolygon and a MultiLineString. The same outlines give the same bytes."""
        shapes = {
            "MultiPolygon": [[ring.tolist() for ring in area] for area in self.areas],
            "MultiLineString": [line.tolist() for line in self.lines],
        }
        features = [
            {"type": "Feature", "properties": {}, "geometry": {"type": kind, "coordinates": found}}
            for kind, found in shapes.items()
            if found
        ]
        return f"{json.dumps({'type': 'FeatureCollection', 'features': features})}\n".encode()

    @classmethod
    def from_geojson(cls, content: bytes) -> Background:
        """The outlines in a file that `to_geojson` has written; ReleaseError for any other."""
        if len(content) > MOST_BYTES:
            raise _unreadable()
        try:
            shapes = {
                feature["geometry"]["type"]: feature["geometry"]["coordinates"]
                for feature in json.loads(content)["features"]
            }
            areas = tuple(tuple(map(_line, area)) for area in shapes.get("MultiPolygon", []))
            found = cls(areas, tuple(map(_line, shapes.get("MultiLineString", []))))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _unreadable() from None
        if found.to_geojson() != content:  # whatever else it holds would be published unseen
            raise _unreadable()
        return found


def _line(corners: Any) -> Line:
    return np.array(corners, dtype=np.float64)


def _unreadable() -> ReleaseError:
    return ReleaseError(
        f"The outline is not one that a release has: polygons and lines in degrees, of at most {MOST_POINTS:,} corners."
    )
