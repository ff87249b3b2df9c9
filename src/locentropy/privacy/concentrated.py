"""Zero-concentrated differential privacy (zCDP): how much ρ fits a guarantee (ε, δ), rounded to the safe side.

Claim. Whatever is ρ-zCDP with ρ ≤ `admissible_rho(ε, δ)` is (ε, δ)-differentially private.

Why. By Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), Proposition 12 and
Corollary 13, a ρ-zCDP mechanism is (ε, δ)-differentially private if for some order α > 1

    ln δ ≥ (α − 1)(αρ − ε) + α·ln(1 − 1/α) − ln(α − 1),    that is, if

    ρ ≤ ρ(α) = [ε − ln(1 − 1/α) + (ln δ + ln α)/(α − 1)] / α.

So every α > 1 is a certificate, and a search in floats may choose one. Only ρ(α) at that α, a rational number, has to
be right, and not too large: `rho_at` bounds its three logarithms with `Decimal`, whose `ln` is correctly rounded, so
that the true value lies between the neighbours of the result; all else is exact arithmetic on fractions. The result is
rounded down once more, to a short number.

Spends of ρ add up, also when a later query is chosen after seeing earlier answers (Bun and Steinke 2016, Lemma 2.3).
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import exact

if TYPE_CHECKING:
    from locentropy.privacy.guarantee import Number

_DIGITS: Final = 50
_SHORT: Final = 12
"""Significant digits of an admissible ρ."""
_ORDER_BITS: Final = 24
"""Of α − 1: its last bits change ρ by less than what is rounded off."""
_CALL = "admissible_rho(epsilon=1.0, delta=1e-8)"


def admissible_rho(epsilon: Number, delta: Number) -> Fraction:
    """As much ρ as fits (ε, δ), both as they were written; to twelve digits, rounded down."""
    return certified_rho(epsilon, delta)[1]


def certified_rho(epsilon: Number, delta: Number) -> tuple[Fraction, Fraction]:
    """The order α that proves an admissible ρ, and that ρ: `rho_at(ε, δ, α)` is not below it, on every machine."""
    whole, share = exact(epsilon), exact(delta, "delta")
    if whole == 0:
        raise ParameterError("must be above 0.", parameter="epsilon", value=epsilon, example=_CALL)
    if not 0 < share < 1:
        raise ParameterError("must be above 0 and below 1.", parameter="delta", value=delta, example=_CALL)
    # Not cached: a float and the fraction that it is stored as are equal, and are not written alike.
    order = _best_order(whole, share)
    rho = rho_at(whole, share, order)
    if rho <= 0:  # no float search could be so wrong; but a ρ of 0 would mean infinite noise
        raise ParameterError("is too small.", parameter="epsilon", value=epsilon, example=_CALL)
    return order, _short_below(rho)


def rho_at(epsilon: Fraction, delta: Fraction, order: Fraction) -> Fraction:
    """A number not above ρ(α) at this order α."""
    # Fractions before any sum: operators of Decimal would round by the context of the thread.
    lost = _ln_above(1 - 1 / order)
    rare = _ln_below(delta) + _ln_below(order)
    return (epsilon - lost + rare / (order - 1)) / order


def _best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The order that admits most, as far as floats can tell; any other would be safe as well."""
    rare = math.log(delta.numerator) - math.log(delta.denominator)

    def rho(log_excess: float) -> float:
        excess = math.exp(log_excess)
        log_order = math.log1p(excess)
        return (float(epsilon) + log_order - log_excess + (rare + log_order) / excess) / (1 + excess)

    low, high = -30.0, 60.0
    for _ in range(120):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if rho(left) < rho(right):
            low = left
        else:
            high = right
    mantissa, exponent = math.frexp(math.exp((low + high) / 2))
    return 1 + Fraction(round(mantissa * 2**_ORDER_BITS)) * Fraction(2) ** (exponent - _ORDER_BITS)


def _ln_above(value: Fraction) -> Fraction:
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return Fraction(context.next_plus(_quotient(value, context).ln(context)))


def _ln_below(value: Fraction) -> Fraction:
    context = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    return Fraction(context.next_minus(_quotient(value, context).ln(context)))


def _quotient(value: Fraction, context: Context) -> Decimal:
    """The value, rounded as the context says: ln increases, so it is rounded the same way."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _short_below(value: Fraction) -> Fraction:
    """The value rounded down to a decimal of few digits, which sums and manifests can hold."""
    context = Context(prec=_SHORT, rounding=ROUND_FLOOR)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
