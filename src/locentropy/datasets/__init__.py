"""Data without people in it, to try things on: the paper's Sparse and Dense, and a synthetic city.

Everything is drawn from a seed and comes out the same each time. Nothing here is private.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locentropy.datasets.city import City as City
    from locentropy_lab.zipf import ZipfVisits as ZipfVisits

__all__ = ["City", "ZipfVisits"]

_HOME_OF = {"City": "locentropy.datasets.city", "ZipfVisits": "locentropy_lab.zipf"}


def __getattr__(name: str) -> object:
    """Load NumPy and PyArrow only when a dataset is asked for."""
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
