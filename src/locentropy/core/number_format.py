"""Numbers formatted for readers."""

from __future__ import annotations


def nats(value: float) -> str:
    """Three significant digits; an exponent only for very small and very large values."""
    return f"{value:.3g}" if 1e-4 <= value < 1000 or value == 0 else f"{value:.2e}"


def counted(number: int, thing: str) -> str:
    """A number and a noun, in the plural unless the number is 1."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(probability: float) -> str:
    """A probability in percent, shown as 0 % or 100 % only if it is exactly that."""
    if 0 < probability < 0.001:
        return "< 0.1 %"
    if 0.999 < probability < 1:
        return "> 99.9 %"
    return f"{probability * 100:.3g} %"


def six_digits(value: float) -> str:
    """Six significant digits; numbers from a million up are written out, not as 1e+07."""
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,.6g}"
