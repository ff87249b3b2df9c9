"""The mechanisms by name, for everything that is written down: a command line, a plan file, a release.

A mechanism and its description are worth the same: ``mechanism_from(*described(m)) == m``. Other distributions offer
mechanisms through the entry point group `locentropy.mechanisms`.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError
from locentropy.mechanisms.parameters import read_parameters, written_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.parameters import Value

GROUP: Final = "locentropy.mechanisms"
"""The entry point group of mechanisms that other distributions bring."""

_BUILT_IN: Final = {
    # The first one is the default.
    "shares": "shares.mechanism:Shares",
    "moments": "moments.mechanism:Moments",
    "baseline": "paper.limit:Baseline",
    "limit": "paper.limit:Limit",
    "limit-ss": "paper.limit_ss:LimitSS",
    "limit-ptr": "limit_ptr:LimitPTR",
    "limit-cb": "paper.limit_cb:LimitCB",
}


def mechanism_names() -> tuple[str, ...]:
    """The names of the built-in mechanisms; the first one is the default."""
    return tuple(_BUILT_IN)


def default_mechanism() -> str:
    """The name of the mechanism that is used where none is named."""
    return next(iter(_BUILT_IN))


@cache
def installed_names() -> tuple[str, ...]:
    """The names of mechanisms that other installed distributions bring."""
    return tuple(sorted({each.name for each in entry_points(group=GROUP)} - set(_BUILT_IN)))


def mechanism_class(name: str) -> type[Mechanism]:
    """The mechanism of a name; raises ParameterError for an unknown name."""
    if name in _BUILT_IN:
        module, _, kind = _BUILT_IN[name].partition(":")
        found: type[Mechanism] = getattr(import_module(f"{__package__}.{module}"), kind)
        return found
    if name in installed_names():
        [entry] = entry_points(group=GROUP, name=name)
        loaded: type[Mechanism] = entry.load()
        return loaded
    default = default_mechanism()
    raise ParameterError(
        f"Unknown mechanism {name!r}. Choose from {', '.join((*_BUILT_IN, *installed_names()))}.",
        example=f"mechanism_from({default!r}, {dict(mechanism_class(default).example)!r})",
    )


def built_in_class(class_name: str) -> type[Mechanism] | None:
    """The built-in mechanism whose class has this name, as releases of early versions give it; None if none has."""
    for name, home in _BUILT_IN.items():
        if home.endswith(f":{class_name}"):
            return mechanism_class(name)
    return None


def class_called(class_name: str) -> type[Mechanism] | None:
    """The mechanism whose class has this name, built in or installed; None if there is none."""
    built_in = built_in_class(class_name)
    if built_in is not None:
        return built_in
    installed = (mechanism_class(name) for name in installed_names())
    return next((kind for kind in installed if kind.__name__ == class_name), None)


def required_parameters(name: str) -> tuple[str, ...]:
    """The parameters that a mechanism cannot do without, in its own order."""
    return tuple(field.name for field in _fields(name) if field.default is MISSING)


def parameter_names(name: str) -> tuple[str, ...]:
    """What a mechanism takes, in its own order."""
    return tuple(field.name for field in _fields(name))


def takes(name: str, parameter: str, given: Iterable[str]) -> bool:
    """Whether a mechanism takes a parameter together with those that are given: some need a partner."""
    partner = mechanism_class(name).only_with.get(parameter)
    return parameter in parameter_names(name) and (partner is None or partner in given)


def mechanism_from(name: str, parameters: Mapping[str, object]) -> Mechanism:
    """The mechanism of a name, from its parameters as numbers or as they were written."""
    kind = mechanism_class(name)
    known = parameter_names(name)
    call = f"mechanism_from({name!r}, {dict(kind.example)!r})"
    for given in parameters:
        if given not in known:
            raise ParameterError(
                f"{name} takes no parameter {given!r}; it takes {', '.join(known)}.", example=call
            )
    missing = [each for each in required_parameters(name) if each not in parameters]
    if missing:
        raise ParameterError(f"{name} needs {', '.join(missing)}.", example=call)
    return kind(**read_parameters(kind, parameters))


def described(mechanism: Mechanism) -> tuple[str, dict[str, Value]]:
    """The name and the parameters from which `mechanism_from` makes an equal mechanism."""
    return mechanism.name, written_parameters(mechanism)


def _fields(name: str) -> tuple[Any, ...]:
    kind: Any = mechanism_class(name)
    return fields(kind)
