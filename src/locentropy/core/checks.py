"""Checks of parameters, each with an error that shows a call that works."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_whole(call: str, name: str, value: object, low: int, high: int) -> None:
    """Raise ParameterError unless `value` is a whole number in low..high; `call` is a call that works."""
    # True is an int in Python, and never what was meant.
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise ParameterError(
            f"must be a whole number from {low:,} to {high:,}.", parameter=name, value=value, example=call
        )


def check_choice(call: str, name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ParameterError unless `value` is one of `choices`; `call` is a call that works."""
    if value not in choices:
        raise ParameterError(
            f"is not one of {', '.join(choices)}.", parameter=name, value=value, example=call
        )


def positive_integer(name: str, value: object, call: str) -> None:
    """Raise ParameterError unless `value` is a whole number from 1 that fits 32 bits."""
    check_whole(call, name, value, 1, 2**31 - 1)
