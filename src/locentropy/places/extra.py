"""The extra `geo`: readers of maps and the arithmetic of hexagons, which a list or a grid does without."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from locentropy.core.errors import SourceError

_PACKAGES: Final = ("h3", "pyogrio", "pyproj", "shapely")


def require_geo() -> None:
    """Raise SourceError, with how to install the extra, unless all of it is installed."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise SourceError(
            f"Zones, hexagons and INSPIRE squares need {', '.join(missing)}, which is not installed. To install it: "
            "pip install 'locentropy[geo]'"
        )
