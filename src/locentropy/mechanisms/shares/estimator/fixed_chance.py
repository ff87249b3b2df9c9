"""Chance for simulated places that is always the same: equal answers give equal releases, on every machine.

Every n has `COPIES` simulated places. Their chances are evenly spread over the copies, so that means over copies are
steady although there are only dozens of them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

COPIES: Final = 64
"""Simulated places for each n, here called copies."""
GROUP: Final = 8
"""Copies among which chance is evenly spread."""

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@cache
def fixed_uniforms(count: int, stream: int) -> Reals:
    """`count` numbers in (0, 1), always the same; another stream gives others.

    The same noisy answers then always give the same release, on every machine. The mixing function is that of Steele,
    Lea and Flood (SplitMix).
    """
    with np.errstate(over="ignore"):
        state = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream) * np.uint64(1 << 32)) * _STEP
        state = (state ^ (state >> np.uint64(30))) * _MIXERS[0]
        state = (state ^ (state >> np.uint64(27))) * _MIXERS[1]
        state ^= state >> np.uint64(31)
    numbers: Reals = ((state >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    numbers.flags.writeable = False
    return numbers


@cache
def spread_uniforms(count: int, stream: int) -> Reals:
    """The same for each copy of a place, `count` numbers each (copy × number), evenly spread over the copies.

    A copy's own numbers are independent, as chance has it; the k-th numbers of the copies are a Latin hypercube, among
    all copies and among any `GROUP` in turn, so that means over copies vary far less than chance would have them.
    """
    groups = COPIES // GROUP
    raw = fixed_uniforms((2 * COPIES + groups) * count, stream).reshape(-1, count)
    member = np.argsort(raw[:COPIES].reshape(groups, GROUP, count), axis=1)
    group = np.argsort(raw[COPIES : COPIES + groups], axis=0)[:, None]
    within = raw[COPIES + groups :].reshape(groups, GROUP, count)
    numbers: Reals = ((member + (group + within) / groups) / GROUP).reshape(COPIES, count)
    numbers.flags.writeable = False
    return numbers


@cache
def fixed_deviates(stream: int) -> Reals:
    """Normal deviates of the copies of a place: evenly spread, in a fixed order of their own for each stream."""
    deviates: Reals = ndtri((np.floor(COPIES * spread_uniforms(1, stream)[:, 0]) + 0.5) / COPIES)
    return deviates
