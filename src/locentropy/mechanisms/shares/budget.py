"""What each query of Shares may spend: exact parts of ε, or of ρ.

Pure ε adds up over queries; so does ρ of zero-concentrated differential privacy, which stands for (ε, δ) here. The look
has what the others leave, so that the parts add up to the whole exactly. All are functions of ε, δ and the number of
public attributes alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

MOST_OF_SUMS: Final = Fraction(6, 10)
"""All attributes together have at most this part of what profile and split leave."""
SUMS_BELOW: Final = 1
"""From this ε on, sums by attribute are not asked: the looks themselves say as much."""


@dataclass(frozen=True)
class ShareBudget:
    """What each query may spend, of ε (pure) or of ρ (with δ)."""

    whole: Fraction
    """ε or ρ."""
    sizes: Fraction
    """For the histogram by the number of places,"""
    visits: Fraction
    """by visits,"""
    split: Fraction
    """for the split,"""
    sums: Fraction
    """and for the sums by each attribute; 0 if they are not asked."""
    attributes: int
    """How many attributes are summed by."""

    @property
    def look(self) -> Fraction:
        """For the presence at every place: what is left."""
        return self.whole - self.sizes - self.visits - self.split - self.attributes * self.sums

    @classmethod
    def pure(cls, epsilon: Fraction, attributes: int = 0) -> ShareBudget:
        """The parts of ε."""
        # Histograms are about everybody at once: a small part serves, but their noise must stay below the people.
        profile = min(epsilon / 2, max(epsilon / 20, Fraction(3, 20)))
        split = Fraction(6, 100) * epsilon * epsilon**2 / (epsilon**2 + Fraction(1, 4))
        wanted = Fraction(4, 10) * epsilon / (1 + epsilon) ** 2
        return cls._of(epsilon, profile, split, wanted, attributes if epsilon < SUMS_BELOW else 0)

    @classmethod
    def concentrated(cls, epsilon: Fraction, rho: Fraction, attributes: int = 0) -> ShareBudget:
        """The parts of ρ, which is admissible for ε and a δ."""
        profile = rho * min(Fraction(1, 5), max(Fraction(1, 50), 1 / (400 * rho)))
        split = Fraction(5, 100) * rho
        wanted = rho * Fraction(1, 10) / (1 + 2 * rho)
        return cls._of(rho, profile, split, wanted, attributes if epsilon < SUMS_BELOW else 0)

    @classmethod
    def _of(
        cls, whole: Fraction, profile: Fraction, split: Fraction, wanted: Fraction, attributes: int
    ) -> ShareBudget:
        most = MOST_OF_SUMS * (whole - profile - split)
        sums = min(wanted, most / attributes) if attributes else Fraction(0)
        return cls(whole, profile / 2, profile / 2, split, sums, attributes)
