"""Accounts: how much may be charged to one cell, or to one person, and what is left.

Claim: while `Cap.admits` all that was charged to an account, everything published for these charges is (ε, δ)-private
together, also if each was chosen after seeing the releases before it.

    sum             the sums of ε and of δ stay within (ε, δ)                                docs/budget.md
    concentrated    the sum of ρ stays within ρ*, and that of δ within a reserve Δ_s, where ρ*-zCDP is
                    (ε, δ − Δ_s)-private; or nothing but pure parts were charged, and the sum of ε stays within ε
                                                                                             docs/proofs/concentrated.md

Sums are exact. A running sum of ρ, converted, would be no guarantee: what holds is the cap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import exact_text

if TYPE_CHECKING:
    from locentropy.privacy.guarantee import Guarantee

Composition = Literal["sum", "concentrated"]

_NOTHING: Final = Fraction(0)
_MAX_SUM_BITS: Final = 600
"""Bits in the numerator and denominator of a sum. Fractions could grow without limit; decimals stay below it."""
_SHOWN: Final = 10**12
"""One over the precision of an ε that follows from ρ."""


@dataclass(frozen=True)
class Budget:
    """An amount of ε and δ, exactly; of an account in ρ also that."""

    epsilon: Fraction
    """ε; where ρ is counted, the most that a release without δ can still have."""
    delta: Fraction
    """δ; where ρ is counted, for parts whose δ does not come from Gaussian noise."""
    rho: Fraction | None = None
    """ρ, where that is counted."""

    def __str__(self) -> str:
        if self.rho is None:
            return f"ε = {exact_text(self.epsilon)}, δ = {exact_text(self.delta)}"
        return (
            f"ρ = {exact_text(self.rho)} (without δ at most ε = {exact_text(self.epsilon)}; δ = "
            f"{exact_text(self.delta)} for δ that is not of Gaussian noise)"
        )


@dataclass(frozen=True)
class Charge:
    """What parts cost together, in both ways of counting."""

    epsilon: Fraction = _NOTHING
    delta: Fraction = _NOTHING
    rho: Fraction = _NOTHING
    """ρ of each part; ε²/2 of those that state none."""
    rho_delta: Fraction = _NOTHING
    """The δ up to which that holds; 0 for Gaussian noise, whose δ is in the cap."""

    @classmethod
    def of(cls, guarantee: Guarantee) -> Charge:
        """What a part with this guarantee costs."""
        if guarantee.epsilon is None:
            raise ParameterError("A part without a guarantee costs more than any account has.")
        check_length(guarantee.epsilon, guarantee.delta)
        return cls(guarantee.epsilon, guarantee.delta, *guarantee.concentrated_cost)

    def __add__(self, other: Charge) -> Charge:
        return Charge(
            self.epsilon + other.epsilon,
            self.delta + other.delta,
            self.rho + other.rho,
            self.rho_delta + other.rho_delta,
        )


@dataclass(frozen=True)
class Cap:
    """The most that may be charged to one account."""

    epsilon: Fraction
    """What is guaranteed for all that is charged to it."""
    delta: Fraction
    """Likewise."""
    rho: Fraction | None = None
    """ρ*, which with δ − `reserved` gives that guarantee; None if plain sums are counted."""
    reserved: Fraction = _NOTHING
    """Δ_s: the part of δ for parts that are ρ-zCDP only up to a δ of their own."""

    def admits(self, charged: Charge) -> bool:
        """Whether an account may have been charged this much in all."""
        if self.rho is None:
            return charged.epsilon <= self.epsilon and charged.delta <= self.delta
        pure_alone = charged.delta == 0 and charged.epsilon <= self.epsilon
        return pure_alone or (charged.rho <= self.rho and charged.rho_delta <= self.reserved)

    def left(self, charged: Charge) -> Budget:
        """What may still be charged."""
        if self.rho is None:
            return Budget(self.epsilon - charged.epsilon, self.delta - charged.delta)
        rho = max(_NOTHING, self.rho - charged.rho)
        by_rho = _root_below(2 * rho) if charged.rho_delta <= self.reserved else _NOTHING
        by_sums = max(_NOTHING, self.epsilon - charged.epsilon) if charged.delta == 0 else _NOTHING
        return Budget(max(by_rho, by_sums), max(_NOTHING, self.reserved - charged.rho_delta), rho)

    def check_lengths(self, charged: Charge) -> None:
        """Raise ParameterError if sums get too long to be kept exactly."""
        check_length(charged.epsilon, charged.delta)
        if self.rho is not None:
            check_length(charged.rho, charged.rho_delta)


def check_length(epsilon: Fraction, delta: Fraction) -> None:
    """Raise ParameterError for numbers with too many digits to be summed exactly."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value.numerator.bit_length() + value.denominator.bit_length() > _MAX_SUM_BITS:
            raise ParameterError(
                "has too many digits to be summed exactly. Write it with fewer.",
                parameter=name,
                example="Guarantee.approximate(epsilon=0.1, delta=1e-6)",
            )


def _root_below(value: Fraction) -> Fraction:
    """A short number not above the square root."""
    return Fraction(math.isqrt(math.floor(value * _SHOWN**2)), _SHOWN)
