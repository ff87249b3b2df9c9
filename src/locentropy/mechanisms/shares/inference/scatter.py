"""Numbers scattered over (0, 1), always the same ones: for made-up places, where true randomness has no use.

The same noisy answers then always give the same release, on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def scattered(count: int, stream: int) -> Reals:
    """`count` numbers; another stream gives others. The mixing function of Steele, Lea and Flood (SplitMix)."""
    with np.errstate(over="ignore"):
        state = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream) * np.uint64(1 << 32)) * _STEP
        state = (state ^ (state >> np.uint64(30))) * _MIXERS[0]
        state = (state ^ (state >> np.uint64(27))) * _MIXERS[1]
        state ^= state >> np.uint64(31)
    numbers: Reals = ((state >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return numbers
