"""Checks of parameters, each with an error that shows a correct call."""

from __future__ import annotations

from numbers import Integral

from locentropy.core.errors import ParameterError


def check_whole(call: str, name: str, value: object, low: int, high: int) -> None:
    """Raise ParameterError unless `value` is a whole number in low..high; `call` shows a correct call."""
    # True is an int in Python, and never what was meant.
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise ParameterError(
            f"{name}={value!r}: expected a whole number from {low:,} to {high:,}. A correct call: {call}"
        )


def positive_integer(name: str, value: object, call: str) -> None:
    """Raise ParameterError unless `value` is a whole number from 1 that fits 32 bits."""
    check_whole(call, name, value, 1, 2**31 - 1)
