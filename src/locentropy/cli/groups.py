"""Options that come together: a dataclass among the parameters of a command, spelled out for Typer."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from functools import wraps
from inspect import Parameter
from typing import Any

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every field of its groups as an option of its own, in their place.

    Typer reads options off the signature of a function, one for each parameter. A parameter that is a dataclass stands
    for its fields here, and the command gets it whole.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation
        for name, each in signature.parameters.items()
        if dataclasses.is_dataclass(each.annotation)
    }

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            fields = {field.name: given.pop(field.name) for field in dataclasses.fields(group)}
            given[name] = group(**fields)
        command(**given)

    shown = [
        option
        for each in signature.parameters.values()
        for option in (
            _options(groups[each.name])
            if each.name in groups
            else [each.replace(kind=Parameter.KEYWORD_ONLY)]
        )
    ]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # what `inspect` looks for first
    run.__annotations__ = {option.name: option.annotation for option in shown}
    return run


def _options(group: Any) -> Iterator[Parameter]:
    types = typing.get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name]
        )
