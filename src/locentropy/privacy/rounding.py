"""Numbers about a guarantee that are rounded to the safe side, so that no risk is understated.

Claim: each function returns a number that is not below (or, where it says so, not above) the true one.

Why: e^x is irrational, so its bounds are computed with `Decimal`, whose `exp` is correctly rounded: the true value lies
between the neighbours of the result. Everything else is exact arithmetic on fractions, rounded once, at the end, away
from the truth on the safe side.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

_DIGITS: Final = 50
_SHOWN: Final = 6
"""Significant digits of a δ that is not exact."""
LARGEST_POWER: Final = 10_000
"""Beyond it e^x is not computed; e^−x is bounded below by 0."""


def exponential_above(power: Fraction, digits: int = _DIGITS) -> Fraction:
    """A number not below e^power, for powers up to `LARGEST_POWER`; exactly 1 at 0."""
    if power == 0:
        return Fraction(1)
    context = Context(prec=digits, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(power.numerator), Decimal(power.denominator))
    return Fraction(rounded.exp(context).next_plus(context))


def exponential_below(power: Fraction, digits: int = _DIGITS) -> Fraction:
    """A number from 0 to e^power, for powers up to `LARGEST_POWER`; exactly 1 at 0."""
    if power == 0:
        return Fraction(1)
    if power < -LARGEST_POWER:
        return Fraction(0)
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    rounded = context.divide(Decimal(power.numerator), Decimal(power.denominator))
    return Fraction(rounded.exp(context).next_minus(context))


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction | None:
    """A number not below δ(1 + e^ε + … + e^((k−1)ε)) = δ(e^(kε) − 1)/(e^ε − 1), or None if it is not below 1.

    Six significant digits, rounded up; exact if ε or δ is 0 or k is 1.
    """
    if delta == 0 or size == 1:
        return delta
    if epsilon == 0:
        return size * delta if size * delta < 1 else None
    if size * epsilon > LARGEST_POWER:
        return None
    # e^ε − 1 cancels as many digits as ε has zeros after its point.
    digits = _DIGITS + len(str(epsilon.denominator // epsilon.numerator))
    above = exponential_above(size * epsilon, digits) - 1
    bound = delta * above / (exponential_below(epsilon, digits) - 1)
    if bound >= 1:
        return None
    context = Context(prec=_SHOWN, rounding=ROUND_CEILING)
    rounded = Fraction(context.divide(Decimal(bound.numerator), Decimal(bound.denominator)))
    return rounded if rounded < 1 else None


def float_above(value: Fraction) -> float:
    """The smallest float that is not below the value."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_below(value: Fraction) -> float:
    """The largest float that is not above the value."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def percent_up(probability: float) -> str:
    """A probability, rounded up to a tenth of a percent."""
    return f"{min(1000, math.ceil(Fraction(probability) * 1000)) / 10:g} %"


def percent_down(probability: float) -> str:
    """A probability, rounded down to a tenth of a percent."""
    return f"{math.floor(Fraction(probability) * 1000) / 10:g} %"
