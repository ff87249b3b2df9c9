"""Options that choose mechanisms and a selection of places, generated from the parameters' own dataclasses.

Which mechanisms there are, what they take and what that means is known to the mechanisms alone: their fields carry the
help texts, and the registry lists them.
"""

from __future__ import annotations

import dataclasses
import warnings
from contextlib import contextmanager
from functools import cached_property
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from locentropy.cli.console import warn
from locentropy.cli.error_format import missing, restated
from locentropy.cli.option_groups import GeneratedGroup, option_for, option_name
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.select import SelectLocations


class MechanismOptions(GeneratedGroup):
    """A mechanism and its parameters: one option for each parameter that any built-in mechanism has."""

    panel: ClassVar = "Mechanism"

    @classmethod
    def parameters(cls) -> Iterable[Parameter]:
        """The mechanism, its parameters, and those of mechanisms from outside."""
        from locentropy.mechanisms.registry import mechanism_names

        default, *others = mechanism_names()
        names = f"{default} (the default), {', '.join(others)}, or one of another installed distribution."
        yield _text_option("mechanism", f"{names} How to choose: docs/choosing.md", cls.panel)
        for field, help_text in _fields_of_all():
            yield option_for(field, help_text, cls.panel)
        outside = "name=value of a mechanism from another distribution; may be repeated."
        yield _text_option("parameter", outside, cls.panel, repeated=True)

    @property
    def mechanism(self) -> str | None:
        """The name that was given."""
        return self.given.get("mechanism")

    @cached_property
    def parameters_given(self) -> dict[str, Any]:
        """The parameters that were given, as they were written."""
        named = {name: value for name, value in self.given.items() if name not in ("mechanism", "parameter")}
        for each in self.given.get("parameter", ()):
            name, equals, value = each.partition("=")
            if not equals:
                raise ParameterError(
                    f"--parameter {each[:80]} must be name=value. For example: --parameter sigma=2.5"
                )
            named[name.replace("-", "_")] = value
        return named

    @property
    def chosen(self) -> Mechanism:
        """The mechanism that the options describe."""
        from locentropy.mechanisms.parameters import example_call
        from locentropy.mechanisms.registry import default_mechanism, mechanism_class, mechanism_from

        name = self.mechanism or default_mechanism()
        with restated(example=example_call(mechanism_class(default_mechanism()))):
            kind = mechanism_class(name)
        self._check_names(name)
        with restated(example=example_call(kind)), warnings_told():
            return mechanism_from(name, self.parameters_given)

    def _check_names(self, name: str) -> None:
        """Raise for a parameter that the mechanism does not take, and for one that it needs."""
        from locentropy.mechanisms.parameters import example_call
        from locentropy.mechanisms.registry import (
            mechanism_class,
            mechanism_names,
            required_parameters,
            takes,
        )

        example = example_call(mechanism_class(name))
        given = self.parameters_given
        for key in given:
            if not takes(name, key, given):
                who = name if self.mechanism else f"{name}, the default,"
                partner = mechanism_class(name).only_with.get(key)
                only = "" if partner is None else f" without {option_name(partner)}"
                others = [each for each in mechanism_names() if takes(each, key, given)]
                of_others = f" It is an option of {', '.join(others)}." if others else ""
                raise ParameterError(f"{who} takes no {option_name(key)}{only}.{of_others}", example=example)
        needed = [each for each in required_parameters(name) if each not in self.parameters_given]
        if needed:
            raise missing(name, needed, example)


class ComparedOptions(GeneratedGroup):
    """Mechanisms to compare: every option may be repeated, and every combination is compared."""

    panel: ClassVar = "What is compared: every combination; all of these may be repeated"

    @classmethod
    def parameters(cls) -> Iterable[Parameter]:
        """Names of mechanisms, and their parameters. Flags are as the mechanisms need them."""
        from locentropy.mechanisms.parameters import type_of
        from locentropy.mechanisms.registry import mechanism_names

        names = f"{', '.join(mechanism_names())}, and what other installed distributions bring."
        told = f"{names} Default: those that one would publish with."
        yield _text_option("mechanism", told, cls.panel, repeated=True)
        for field, help_text in _fields_of_all():
            if type_of(field) != "bool":
                usual = _usual(field.name)
                default = f" Default: {usual}." if usual is not None else ""
                yield option_for(field, f"{help_text}{default}", cls.panel, repeated=True)

    @property
    def names(self) -> list[str]:
        """The mechanisms, each once."""
        from locentropy.evaluation.candidates import default_names

        return list(dict.fromkeys(self.given.get("mechanism") or default_names()))

    @property
    def epsilons(self) -> list[str]:
        """Each ε."""
        return self.given.get("epsilon") or ["1"]

    @property
    def choices(self) -> dict[str, list[Any]]:
        """The other parameters that were given."""
        return {name: values for name, values in self.given.items() if name not in ("mechanism", "epsilon")}


class SelectionOptions(GeneratedGroup):
    """A private selection of places, from the fields of `SelectLocations`."""

    panel: ClassVar = "Selecting places, where no list of them is public"
    prefix: ClassVar = "select_"

    @classmethod
    def parameters(cls) -> Iterable[Parameter]:
        """One option for each field."""
        from locentropy.mechanisms.parameters import help_of
        from locentropy.mechanisms.select import SelectLocations

        for field in dataclasses.fields(SelectLocations):
            yield option_for(field, help_of(field), cls.panel, prefix=cls.prefix)

    @property
    def selection(self) -> SelectLocations | None:
        """The selection that the options describe, or None if there is none of them."""
        if not self.given:
            return None
        from locentropy.mechanisms.parameters import example_call, read_parameters
        from locentropy.mechanisms.select import SelectLocations

        example = example_call(SelectLocations)
        required = [
            f"{self.prefix}{field.name}"
            for field in dataclasses.fields(SelectLocations)
            if field.default is dataclasses.MISSING
        ]
        needed = [name for name in required if name not in self.given]
        if needed:
            raise missing("Selecting places also", needed, example)
        given = {name.removeprefix(self.prefix): value for name, value in self.given.items()}
        with restated(prefix=self.prefix, example=example), warnings_told():
            return SelectLocations(**read_parameters(SelectLocations, given))


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print warnings as sentences, each once, such as a δ that is too large or pictures that are missing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, UserWarning)):
        warn(text)


def _text_option(name: str, help_text: str, panel: str, *, repeated: bool = False) -> Parameter:
    annotation: Any = list[str] | None if repeated else str | None
    declared = typer.Option(option_name(name), help=help_text, rich_help_panel=panel, show_default=False)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[annotation, declared])


def _fields_of_all() -> Iterator[tuple[dataclasses.Field[Any], str]]:
    """Every parameter of the built-in mechanisms once, with what it means and for which of them."""
    from locentropy.mechanisms.parameters import help_of
    from locentropy.mechanisms.registry import mechanism_class, mechanism_names

    found: dict[str, dataclasses.Field[Any]] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    for name in mechanism_names():
        kind: Any = mechanism_class(name)
        for field in dataclasses.fields(kind):
            found.setdefault(field.name, field)
            texts.setdefault(field.name, {}).setdefault(help_of(field), []).append(name)
    for key, field in found.items():
        yield field, " ".join(f"{text}{_for_whom(names)}" for text, names in texts[key].items())


def _for_whom(names: list[str]) -> str:
    """Which mechanisms take a parameter: none are named where all do."""
    from locentropy.mechanisms.registry import mechanism_names

    others = [each for each in mechanism_names() if each not in names]
    if not others:
        return ""
    return f" (For {', '.join(names)}.)" if len(others) > 1 else f" (Not for {others[0]}.)"


def _usual(name: str) -> str | None:
    """What is compared where a parameter that a mechanism needs is not given."""
    from locentropy.mechanisms.registry import mechanism_class, mechanism_names, required_parameters

    if name == "epsilon":
        return "1"
    for each in mechanism_names():
        if name in required_parameters(each):
            return str(mechanism_class(each).example[name])
    return None
