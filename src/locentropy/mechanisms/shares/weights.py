"""What visits weigh when a user's unit of presence is divided: public tables of integers.

The inference reads the very same integers, so nothing is lost by their rounding; and the guarantee holds for any table.
"""

from __future__ import annotations

import math
from typing import Final

from locentropy.core.shares import LARGEST_WEIGHT
from locentropy.mechanisms.shares.stages import RETURNING

TABULATED_VISITS: Final = 1024
"""A user's further visits to a place weigh as much as these."""

LOOK_WEIGHTS: Final = tuple(
    math.isqrt(LARGEST_WEIGHT**2 // visits) for visits in range(1, TABULATED_VISITS + 1)
)
"""⌊2^15/√visits⌋: a place that somebody visits often has less of their unit, since its entropy gains little by them."""

SPLIT_WEIGHTS: Final = (*(0,) * (RETURNING - 1), 1)
"""Equal shares among the places to which somebody returned, and nothing elsewhere."""
