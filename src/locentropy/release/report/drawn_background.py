"""The background of the map as the script reads it: corners in whole steps, as those of zones are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.html import Html, joined, script_json, tag
from locentropy.release.report.drawn_outlines import FINEST, MOST_STEPS, stepped

if TYPE_CHECKING:
    from locentropy.core.background import Background


def drawn_background(background: Background | None) -> Html:
    """The element that holds the outlines, for every level and period; empty where there are none."""
    if background is None:
        return Html("")
    corners = np.concatenate([*background.rings, *background.lines])
    west, south = corners.min(axis=0).tolist()
    step = max(FINEST, float(np.ptp(corners, axis=0).max()) / MOST_STEPS)
    data = {
        "scale": [west, south, step],
        "areas": [[stepped(ring[:-1], west, south, step) for ring in area] for area in background.areas],
        "lines": [stepped(line, west, south, step) for line in background.lines],
    }
    return joined(tag("script", script_json(data), type="application/json", id="background"), Html("\n"))
