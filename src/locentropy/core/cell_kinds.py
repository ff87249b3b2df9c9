"""How releases call the cells of a map and the areas of a list: words alone, so that plans read them without arrays."""

from __future__ import annotations

from typing import Final

GRID: Final = "grid"
CELL_KINDS: Final = (GRID, "zones", "H3 cells", "INSPIRE squares")
"""How the description of any cells begins."""

OUTLINED_LIST: Final = "public list with outlines"
"""How the description of a public list begins whose places are areas."""

OUTLINED: Final = (*CELL_KINDS[1:], OUTLINED_LIST)
"""How the description of locations begins whose outlines are published."""


def public_words(source: str, listed: str = "list of places") -> str:
    """What locations were taken from, by how their source is described: a map, a grid, or a list."""
    if source.startswith("zones"):
        return "map of zones"
    return "grid of cells" if source.startswith(CELL_KINDS) else listed
