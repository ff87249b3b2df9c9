"""Synthetic data to try things on: a city in which nobody is real.

Everything is drawn from a seed and comes out the same each time. Nothing here is private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.lazy import lazy_names

if TYPE_CHECKING:
    from locentropy.datasets.city import City as City

__all__ = ["City"]

__getattr__, __dir__ = lazy_names(__name__, {"City": "datasets.city"})
