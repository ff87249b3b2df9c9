"""Signatures of mechanisms in the reference, as Python shows them.

A mechanism's parameters are made by `parameter(help, default)`, a dataclass field. The tool that reads the code for the
reference does not know it: it would show the call as a default, and keyword-only parameters as positional ones.
"""

from __future__ import annotations

from typing import Any

from griffe import (
    Attribute,
    Class,
    DataclassesExtension,
    ExprCall,
    ExprKeyword,
    Extension,
    Module,
    ParameterKind,
)


class Signatures(Extension):
    """Show the default that a parameter has, and the star before those that are keyword-only."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Rewrite the fields, and the parameters of the `__init__` that is made of them."""
        DataclassesExtension().on_package(pkg=pkg)
        classes = _classes(pkg)
        keyword_only = {
            (found.path, name): _rewritten(field)
            for found in classes
            for name, field in found.members.items()
            if isinstance(field, Attribute) and _is_parameter(field)
        }
        for found in classes:
            for parameter in getattr(found.members.get("__init__"), "parameters", ()):
                home = next((at for at in (found, *found.mro()) if parameter.name in at.members), found)
                if (home.path, parameter.name) in keyword_only:
                    parameter.default = home.members[parameter.name].value
                    if keyword_only[home.path, parameter.name]:
                        parameter.kind = ParameterKind.keyword_only


def _classes(module: Module) -> list[Class]:
    found: list[Class] = []
    for member in module.members.values():
        if isinstance(member, Module):
            found += _classes(member)
        elif isinstance(member, Class):
            found.append(member)
    return found


def _is_parameter(field: Attribute) -> bool:
    return isinstance(field.value, ExprCall) and field.value.canonical_name == "parameter"


def _rewritten(field: Attribute) -> bool:
    """Put the default in the place of the call; returns whether the parameter is keyword-only."""
    unnamed = [argument for argument in field.value.arguments if not isinstance(argument, ExprKeyword)]
    named = {argument.name for argument in field.value.arguments if isinstance(argument, ExprKeyword)}
    field.value = unnamed[1] if len(unnamed) > 1 else None
    return "positional" not in named
