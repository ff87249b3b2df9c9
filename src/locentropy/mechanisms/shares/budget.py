"""How Shares divides ε among its three queries: a public function of ε, in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from locentropy.privacy.guarantee import exact

if TYPE_CHECKING:
    from locentropy.privacy.guarantee import Number

PROFILE: Final = Fraction(8, 100)
"""The profile is about everybody at once, so a small part serves it,"""
LEAST_PROFILE: Final = Fraction(3, 100)
"""but its noise must stay below the number of people, so it has this much if it can,"""
MOST_PROFILE: Final = Fraction(3, 10)
"""and never more than this part."""
SPLIT: Final = Fraction(16, 100)
"""The split gets this part of a large ε,"""
HALF: Final = Fraction(3, 10)
"""half of that at this ε, and little below, where no place could show how its visits are split,"""
LEAST_SPLIT: Final = Fraction(1, 100)
"""but never less than this part: noise must fit 64 bits."""


@dataclass(frozen=True)
class Budget:
    """What each query may spend; the three add up to ε exactly."""

    look: Fraction
    """For the presence at every place."""
    profile: Fraction
    """For two histograms of all presence, together."""
    split: Fraction
    """For the pair of every place."""

    @classmethod
    def of(cls, epsilon: Number) -> Budget:
        """The parts of ε."""
        whole = exact(epsilon)
        profile = max(PROFILE * whole, min(LEAST_PROFILE, MOST_PROFILE * whole))
        split = max(SPLIT * whole * whole**2 / (whole**2 + HALF**2), LEAST_SPLIT * whole)
        return cls(whole - profile - split, profile, split)
