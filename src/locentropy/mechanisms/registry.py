"""The mechanisms by name, for everything that is written down: a command line, a plan file.

A mechanism and its description are worth the same: ``mechanism_from(*described(m)) == m``. Numbers that decide about
privacy travel as the decimals that were written, never as the binary fraction next to them.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from locentropy.core.estimates import Estimand
    from locentropy.mechanisms.mechanism import Mechanism

Value = str | int | bool
"""A parameter as it is written: real numbers as decimal text, whole numbers, flags, words."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a mechanism."""

    name: str
    required: bool


@dataclass(frozen=True)
class _Entry:
    """Where a mechanism lives, and parameters that make one."""

    module: str
    kind: str
    example: Mapping[str, Value]
    estimand: Estimand = "bounded"


_BOUNDED: Final[dict[str, Value]] = {"max_locations": 5, "max_visits": 5}
_DELTA: Final[dict[str, Value]] = {"epsilon": "1.0", "delta": "1e-8", **_BOUNDED}
_MECHANISMS: Final = {
    # The first one is the default.
    "shares": _Entry("shares.mechanism", "Shares", {"epsilon": "1.0"}, "true"),
    "moments": _Entry("moments", "Moments", {"epsilon": "1.0", **_BOUNDED}),
    "baseline": _Entry("baseline", "Baseline", {"epsilon": "1.0", "max_locations": 100, "max_visits": 1000}),
    "limit": _Entry("limit", "Limit", {"epsilon": "1.0", **_BOUNDED}),
    "limit-ss": _Entry("limit_ss", "LimitSS", _DELTA),
    "limit-ptr": _Entry("limit_ptr", "LimitPTR", {**_DELTA, "min_users": 50}),
    "limit-cb": _Entry(
        "limit_cb",
        "LimitCB",
        {"epsilon": "1.0", **_BOUNDED, "min_users": 50, "accept_no_guarantee": True},
    ),
}

_REAL: Final = frozenset({"epsilon", "delta", "split", "floor"})
_WHOLE: Final = frozenset({"max_locations", "max_visits", "min_users", "max_users"})
_FLAGS: Final = frozenset({"accept_no_guarantee"})
_TEXTS: Final = {"true": True, "false": False}


def mechanism_names() -> tuple[str, ...]:
    """The names, as on the command line; the first one is the default."""
    return tuple(_MECHANISMS)


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """What a mechanism takes, in its own order."""
    return tuple(Parameter(field.name, field.default is MISSING) for field in fields(_class_of(name)))


def example_of(name: str) -> dict[str, Value]:
    """Parameters that make one, for messages."""
    return dict(_entry(name).example)


def mechanism_from(name: str, parameters: Mapping[str, object]) -> Mechanism:
    """The mechanism of a name, from its parameters as numbers or as they were written."""
    kind = _class_of(name)
    known = parameters_of(name)
    call = f"mechanism_from({name!r}, {example_of(name)!r})"
    for given in parameters:
        if given not in {parameter.name for parameter in known}:
            names = ", ".join(parameter.name for parameter in known)
            raise ParameterError(
                f"{given!r} is no parameter of {name}, which takes {names}. A correct call: {call}"
            )
    missing = [
        parameter.name for parameter in known if parameter.required and parameter.name not in parameters
    ]
    if missing:
        raise ParameterError(f"{name} needs {', '.join(missing)}. A correct call: {call}")
    made: Mechanism = kind(**read_parameters(parameters))
    return made


def described(mechanism: Mechanism) -> tuple[str, dict[str, Value]]:
    """The name and the parameters from which `mechanism_from` makes an equal mechanism; what is None is left out."""
    return _name_of(mechanism), written_parameters(mechanism)


def estimand_of(mechanism: Mechanism) -> Estimand:
    """Which entropy a mechanism estimates, known before it is run; its estimates say the same."""
    return _MECHANISMS[_name_of(mechanism)].estimand


def written_parameters(holder: Any) -> dict[str, Value]:
    """The parameters of a mechanism, or of a selection, as they are written."""
    written: dict[str, Value] = {}
    for field in fields(holder):
        value = getattr(holder, field.name)
        if value is not None:
            written[field.name] = str(value) if field.name in _REAL else value
    return written


def read_parameters(parameters: Mapping[str, object]) -> dict[str, Any]:
    """Parameters as they were written, as the numbers they stand for. Ranges are checked by who takes them."""
    return {name: _reader_of(name)(name, value) for name, value in parameters.items()}


def _name_of(mechanism: Mechanism) -> str:
    kind = type(mechanism)
    for name, entry in _MECHANISMS.items():
        if (kind.__module__, kind.__name__) == (f"locentropy.mechanisms.{entry.module}", entry.kind):
            return name
    raise ParameterError(
        f"{kind.__name__} is none of the mechanisms that have a name: {', '.join(_MECHANISMS)}. "
        'For example: described(mechanism_from("shares", {"epsilon": 1.0}))'
    )


def _entry(name: str) -> _Entry:
    if name not in _MECHANISMS:
        first = next(iter(_MECHANISMS.values())).example
        raise ParameterError(
            f"{name!r} is none of the mechanisms {', '.join(_MECHANISMS)}. "
            f"A correct call: mechanism_from({next(iter(_MECHANISMS))!r}, {dict(first)!r})"
        )
    return _MECHANISMS[name]


def _class_of(name: str) -> Any:
    entry = _entry(name)
    return getattr(import_module(f"locentropy.mechanisms.{entry.module}"), entry.kind)


def _reader_of(name: str) -> Callable[[str, object], object]:
    if name in _REAL:
        return _real
    if name in _WHOLE:
        return _whole
    return _flag if name in _FLAGS else _as_given


def _real(name: str, value: object) -> object:
    """The float whose shortest decimals are the text; refuses a text with more digits, which would be lost."""
    from locentropy.privacy.guarantee import exact

    if not isinstance(value, str):
        return value
    # Three digits of exponent at most: a fraction with a billion zeros would take all memory.
    if not re.fullmatch(r"[+-]?([0-9]{1,40}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?", value):
        raise ParameterError(f"{name}={value[:40]!r} must be a decimal number. For example: {name}=0.5")
    # A whole number stays one, so that it is shown as it was written.
    number = int(value) if value.isdecimal() and len(value) <= 15 else float(value)
    if exact(number, name) != exact(value, name):
        raise ParameterError(
            f"{name}={value[:40]!r} has more digits than a number here can hold. Write at most 15 of them, "
            f"for example: {name}={number:.6g}"
        )
    return number


def _whole(name: str, value: object) -> object:
    if isinstance(value, str):
        if not (value.isascii() and value.isdecimal() and len(value) <= 15):
            raise ParameterError(f"{name}={value[:40]!r} must be a whole number. For example: {name}=5")
        return int(value)
    return value


def _flag(name: str, value: object) -> object:
    if isinstance(value, str):
        if value not in _TEXTS:
            raise ParameterError(f"{name}={value[:40]!r} must be true or false. For example: {name}=true")
        return _TEXTS[value]
    return value


def _as_given(name: str, value: object) -> object:
    return value
