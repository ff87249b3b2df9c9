"""What the mechanisms' parameters have in common: their help texts, checks, how they are written, and a warning.

Numbers that decide about privacy travel as the decimals that were written, never as the binary fraction next to them.
"""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from dataclasses import MISSING, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.bounds import Bounds
from locentropy.core.checks import check_whole, positive_integer
from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import PublicInput, exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.core.bounds import Keep

Value = str | int | bool
"""A parameter as it is written: real numbers as decimal text, whole numbers, flags, words."""

MAX_LATTICE_VISITS: Final = 1_000_000
"""Largest C for which the float entropy is accurate enough for the lattice: docs/proofs/lattice.md."""

LISTED: Final = PublicInput("locations", "the list, which was not made from the visits")
SELECTED: Final = PublicInput(
    "locations", "the list, if one is given; without one, places are selected privately"
)
COUNTED: Final = PublicInput(
    "locations", "the list, if one is given; without one, places are named without protection"
)

HELP: Final = {
    "epsilon": "ε: how much one person's whole record may show; smaller is safer.",
    "delta": "δ: how often that may fail; far below one over the number of people.",
    "max_locations": "M: a person counts in at most this many places.",
    "max_visits": "C: a person counts with at most this many visits in each.",
    "keep": "Which M places count: first, most-visited, lowest-id.",
    "max_users": "A public bound on the number of people: values are cut at its logarithm.",
}
"""What parameters that several mechanisms have mean, in a line."""

_KEEP: Final = "first where the table has a time column, else most-visited"
_FLAGS: Final = {"true": True, "false": False}
# Three digits of exponent at most: a fraction with a billion zeros would take all memory.
_DECIMAL: Final = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?")


class LargeDeltaWarning(UserWarning):
    """δ is so large that it would allow publishing somebody's whole record now and then."""


def parameter(help_text: str, default: Any = MISSING, *, positional: bool = False) -> Any:
    """Return a dataclass field for a parameter, with the help text of its option; by keyword unless `positional`."""
    return dataclasses.field(default=default, kw_only=not positional, metadata={"help": help_text})


def help_of(field: dataclasses.Field[Any]) -> str:
    """What a parameter means, in a line."""
    return str(field.metadata.get("help", ""))


def normalize_numpy_scalars(mechanism: Any) -> None:
    """Turn NumPy's numbers among the parameters into Python's, whose products do not overflow."""
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        if isinstance(value, Integral) and not isinstance(value, bool):
            object.__setattr__(mechanism, field.name, int(value))
        elif isinstance(value, float):
            object.__setattr__(mechanism, field.name, float(value))


def check_bounds(
    call: str,
    max_locations: int,
    max_visits: int,
    keep: Keep | None,
    largest_visits: int = MAX_LATTICE_VISITS,
) -> None:
    """Raise unless both bounds are positive integers, and C is within what the proofs cover."""
    positive_integer("max_locations", max_locations, call)
    check_whole(call, "max_visits", max_visits, 1, largest_visits)
    Bounds(max_locations, max_visits, keep)


def check_epsilon(call: str, epsilon: float) -> None:
    """Raise unless ε is a finite number above 0.

    Narrow floats are refused as well: their text and their value differ by more than the margins for rounding.
    """
    if not _is_number(epsilon) or not 0 < epsilon < math.inf:
        raise ParameterError(
            "must be a finite number above 0.", parameter="epsilon", value=epsilon, example=call
        )


def check_fraction(call: str, name: str, value: float) -> None:
    """Raise unless a number, such as δ, lies strictly between 0 and 1."""
    if not _is_number(value) or not 0 < value < 1:
        raise ParameterError(
            "must be a number above 0 and below 1.", parameter=name, value=value, example=call
        )


def check_max_users(call: str, max_users: int | None) -> None:
    """Raise unless the public bound on the number of users is a positive integer, or not given."""
    if max_users is not None:
        positive_integer("max_users", max_users, call)


def check_min_users(call: str, min_users: int, least: int) -> None:
    """Raise unless the threshold k is an integer from `least` up."""
    check_whole(call, "min_users", min_users, least, 2**31 - 1)


def warn_of_large_delta(delta: float, max_users: int | None, stacklevel: int = 4) -> None:
    """Warn where δ is above 1/max_users: publishing one user in every 1/δ, chosen at random, would be allowed."""
    if max_users is not None and delta * max_users > 1:
        warnings.warn(
            f"δ = {delta!r} is above one over the number of users, {1 / max_users:.3g}: a guarantee that weak allows "
            f"publishing somebody's whole record. Choose it far smaller, such as {1e-2 / max_users:.0e}.",
            LargeDeltaWarning,
            stacklevel=stacklevel,  # here, __post_init__, __init__, the caller
        )


def public_inputs(mechanism: Any, locations: PublicInput) -> list[PublicInput]:
    """Every parameter of a mechanism, as what its guarantee takes to be known; and the list of locations."""
    listed = [locations]
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        if field.name == "keep":
            value = value or _KEEP
        if value is not None and field.name != "accept_no_guarantee":
            listed.append(PublicInput(field.name, str(value)))
    return listed


def written_parameters(holder: Any) -> dict[str, Value]:
    """The parameters of a mechanism, or of a selection, as they are written.

    Those that are None are left out, and so is a δ of 0: a guarantee without a δ does not speak of one.
    """
    written: dict[str, Value] = {}
    for field in fields(holder):
        value = getattr(holder, field.name)
        if value is not None and (field.name, value, field.default) != ("delta", 0, 0):
            written[field.name] = str(value) if type_of(field) == "float" else value
    return written


def read_parameters(kind: Any, parameters: Mapping[str, object]) -> dict[str, Any]:
    """Parameters of a dataclass as they were written, as the numbers they stand for.

    Ranges are checked by the dataclass itself.
    """
    types = {field.name: type_of(field) for field in fields(kind)}
    readers = {"float": _read_real, "int": _read_whole, "bool": _read_flag}
    call = example_call(kind)
    return {
        name: readers[types[name]](call, name, value)
        if isinstance(value, str) and types.get(name) in readers
        else value
        for name, value in parameters.items()
    }


def example_call(kind: Any) -> str:
    """A call that works, for messages: from the `example` of a mechanism or a selection."""
    types = {field.name: type_of(field) for field in fields(kind)}
    shown = (
        f"{name}={value if types[name] == 'float' else repr(value)}" for name, value in kind.example.items()
    )
    return f"{kind.__name__}({', '.join(shown)})"


def type_of(field: dataclasses.Field[Any]) -> str:
    """The type of a parameter, without `| None`: annotations are texts where a module postpones them."""
    text = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    return text.removesuffix("| None").strip()


def _read_real(call: str, name: str, value: str) -> float:
    """The float whose shortest decimals are the text; refuses a text with more digits, which would be lost."""
    if not _DECIMAL.fullmatch(value):
        raise ParameterError("must be a decimal number.", parameter=name, value=value[:40], example=call)
    # A whole number stays one, so that it is shown as it was written.
    number = int(value) if value.isdecimal() and len(value) <= 15 else float(value)
    if exact(number, name) != exact(value, name):
        raise ParameterError(
            f"has more digits than a number here can hold. Write at most 15 of them, such as {number:.6g}.",
            parameter=name, value=value[:40], example=call,
        )  # fmt: skip
    return number


def _read_whole(call: str, name: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= 15):
        raise ParameterError("must be a whole number.", parameter=name, value=value[:40], example=call)
    return int(value)


def _read_flag(call: str, name: str, value: str) -> bool:
    if value not in _FLAGS:
        raise ParameterError("must be true or false.", parameter=name, value=value[:40], example=call)
    return _FLAGS[value]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
