"""Option groups: several options that a command takes as one object.

Typer reads options off the signature of a function, one for each parameter. A parameter whose annotation is an option
group stands for all options of the group, and the command gets the object. A group is a dataclass whose fields are
options, or a `GeneratedGroup`, whose options come from the fields of other dataclasses.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_TYPES: Mapping[str, type] = {"int": int, "bool": bool}
"""How an option is parsed. All else is text: ε and δ are taken as they are written, not as binary fractions."""


class GeneratedGroup:
    """Options generated from the fields of dataclasses. Subclasses say which."""

    def __init__(self, **values: Any) -> None:
        self.given = {
            name: value
            for name, value in values.items()
            if value is not None and value is not False and value != []
        }
        """What was given, by the name of the field."""

    @classmethod
    def parameters(cls) -> Iterable[Parameter]:
        """The options, as parameters of a signature."""
        raise NotImplementedError


class AboutOptions(GeneratedGroup):
    """The owner's words, from the fields of `About`."""

    panel: ClassVar = "Your words, which are published"
    option_names: ClassVar = {"publication_date": "--date"}

    @classmethod
    def parameters(cls) -> Iterable[Parameter]:
        """One option for each field."""
        from locentropy.mechanisms.parameters import help_of
        from locentropy.release.statement import About

        for field in dataclasses.fields(About):
            yield option_for(field, help_of(field), cls.panel, option=cls.option_names.get(field.name))


def option_for(
    field: dataclasses.Field[Any],
    help_text: str,
    panel: str,
    *,
    prefix: str = "",
    option: str | None = None,
    repeated: bool = False,
) -> Parameter:
    """Return the option of a field: its name with dashes, after `prefix`; never required; parsed by its annotation."""
    from locentropy.mechanisms.parameters import type_of

    name = f"{prefix}{field.name}"
    declared = typer.Option(
        option or option_name(name), help=help_text, rich_help_panel=panel, show_default=False
    )
    kind: Any = _TYPES.get(type_of(field), str)
    default: Any = None
    if repeated:
        annotation: Any = list[kind] | None
    elif kind is bool:
        annotation, default = bool, False
    else:
        annotation = kind | None
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, declared]
    )


def option_name(parameter: str) -> str:
    """Return the option of a parameter: `--max-locations` of `max_locations`."""
    return f"--{parameter.replace('_', '-')}"


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of its groups in their place."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, list[Parameter]] = {
        name: _parameters_of(each.annotation)
        for name, each in signature.parameters.items()
        if _is_group(each.annotation)
    }

    @wraps(command)
    def run(**given: Any) -> None:
        for name, parameters in groups.items():
            values = {each.name: given.pop(each.name) for each in parameters}
            given[name] = signature.parameters[name].annotation(**values)
        command(**given)

    shown = [
        option
        for each in signature.parameters.values()
        for option in groups.get(each.name, [each.replace(kind=Parameter.KEYWORD_ONLY)])
    ]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # what `inspect` looks for first
    run.__annotations__ = {option.name: option.annotation for option in shown}
    return run


def _is_group(annotation: Any) -> bool:
    return dataclasses.is_dataclass(annotation) or (
        inspect.isclass(annotation) and issubclass(annotation, GeneratedGroup)
    )


def _parameters_of(group: Any) -> list[Parameter]:
    if issubclass(group, GeneratedGroup):
        return list(group.parameters())
    types = typing.get_type_hints(group, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name])
        for field in dataclasses.fields(group)
    ]
