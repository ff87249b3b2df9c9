"""Outlines as a page draws them: corners in whole steps from one origin, each as the difference from the last one.

Steps are a small part of a pixel of the whole map, so that detailed outlines stay small; common borders stay common,
because every corner is rounded alike. The tables beside the page have all digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from locentropy.release.outlines import bounds_of, rings_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.release.outlines import Ring

MOST_STEPS: Final = 20_000
"""Across the map."""
FINEST: Final = 1e-5
"""In degrees: about a metre."""
MOST_NUMBERS: Final = 1_500_000
"""With more, the page would be too large: places are drawn as dots."""


class Drawn(NamedTuple):
    """Outlines for the script."""

    rings: list[list[list[int]]]
    """For each place its rings, for each ring: column, row, and then differences."""
    scale: tuple[float, float, float]
    """West, south, and the step in degrees."""


def drawn_outlines(outlines: pa.Array, order: NDArray[np.int64]) -> Drawn | None:
    """The outlines of the places in this order; None if they are too detailed for a page."""
    chosen = outlines.take(order)
    if len(chosen) == 0 or chosen.nbytes > 16 * MOST_NUMBERS * 4:
        return None
    west, south, _, north = bounds_of(chosen)
    places = [[ring for polygon in rings_of(each) for ring in polygon] for each in chosen.to_pylist()]
    step = max(FINEST, max(_width(places), north - south) / MOST_STEPS)
    rings = [[stepped(ring[:-1], west, south, step) for ring in place] for place in places]
    if sum(len(ring) for place in rings for ring in place) > MOST_NUMBERS:
        return None
    return Drawn(rings, (west, south, step))


def _width(places: list[list[Ring]]) -> float:
    """Degrees of longitude across all rings; on both sides of the date line, the way that the map is drawn."""
    lon = np.concatenate([ring[:, 0] for place in places for ring in place])
    return float(min(np.ptp(lon), np.ptp(np.where(lon < 0, lon + 360, lon))))


def stepped(line: Ring, west: float, south: float, step: float) -> list[int]:
    """Corners in steps, without repeated ones; of a ring without the last, which is the first."""
    corners = np.rint((line - (west, south)) / step).astype(np.int64)
    moved = np.ones(len(corners), dtype=bool)
    moved[1:] = (corners[1:] != corners[:-1]).any(axis=1)
    kept = corners[moved]
    differences: list[int] = np.diff(kept, axis=0, prepend=np.zeros((1, 2), dtype=np.int64)).ravel().tolist()
    return differences
