"""How releases call the cells of a map: words alone, so that plans need no arrays to read a statement."""

from __future__ import annotations

from typing import Final

OUTLINED: Final = ("zones", "H3 cells", "INSPIRE squares")
"""How the description of cells begins whose outlines are published."""

CELL_KINDS: Final = ("grid", *OUTLINED)
"""How the description of any cells begins."""
