"""Numbers as people read them."""

from __future__ import annotations


def nats(value: float) -> str:
    """Three significant digits, without exponent for anything one would publish."""
    return f"{value:.3g}" if 1e-4 <= value < 1000 or value == 0 else f"{value:.2e}"


def counted(number: int, thing: str) -> str:
    """A number of things."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(probability: float) -> str:
    """A probability that reads as 0 or 100 % only where it is."""
    if 0 < probability < 0.001:
        return "< 0.1 %"
    if 0.999 < probability < 1:
        return "> 99.9 %"
    return f"{probability * 100:.3g} %"


def six_digits(value: float) -> str:
    """Six significant digits; numbers from a million up are written out, not as 1e+07."""
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,.6g}"
