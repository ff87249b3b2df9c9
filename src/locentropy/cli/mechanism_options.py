"""Options that choose a mechanism, for every command that needs one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from locentropy.cli import error_format as wording
from locentropy.cli.console import warn
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.select import SelectLocations

DEFAULT: Final = "shares"
"""The mechanism that is used where none is named: the first of the registry."""

_MECHANISM = "Mechanism"
_SELECTION = "Selecting places, where no list of them is public"
_SELECTING = "--select-epsilon 0.2 --select-delta 1e-8 --select-max-locations 20"

# ε and δ are texts: they are taken as they are written, not as the binary fractions next to them.
Name = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        help="shares (the default): the true entropy, nothing to choose but ε; moments: the entropy of bounded visits; "
        "limit-ptr: needs no list. To compare with the paper: limit, limit-ss, baseline, limit-cb.",
        rich_help_panel=_MECHANISM,
    ),
]
Epsilon = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        help="ε: how much one person's whole record may show; smaller is safer.",
        rich_help_panel=_MECHANISM,
    ),
]
Delta = Annotated[
    str | None,
    typer.Option(
        "--delta",
        help="δ: how often that may fail; far below one over the number of people.",
        rich_help_panel=_MECHANISM,
    ),
]
MaxLocations = Annotated[
    int | None,
    typer.Option(
        "--max-locations",
        help="M: a person counts in at most this many places; not for shares, which bounds nobody.",
        rich_help_panel=_MECHANISM,
    ),
]
MaxVisits = Annotated[
    int | None,
    typer.Option(
        "--max-visits",
        help="C: a person counts with at most this many visits in each; not for shares.",
        rich_help_panel=_MECHANISM,
    ),
]
MinUsers = Annotated[
    int | None,
    typer.Option(
        "--min-users",
        help="k: places of at most k people (limit-ptr), or of fewer (limit-cb), are withheld.",
        rich_help_panel=_MECHANISM,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="The part of ε for the first of two steps (limit-ss: values, limit-ptr: choosing).",
        rich_help_panel=_MECHANISM,
    ),
]
Floor = Annotated[
    str | None,
    typer.Option("--floor", help="ξ: the least sensitivity assumed (limit-ss).", rich_help_panel=_MECHANISM),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep", help="Which M places count: first, most-visited, lowest-id.", rich_help_panel=_MECHANISM
    ),
]
MaxUsers = Annotated[
    int | None,
    typer.Option(
        "--max-users",
        help="A public bound on the number of people: values are cut at its logarithm.",
        rich_help_panel=_MECHANISM,
    ),
]
AcceptNoGuarantee = Annotated[
    bool,
    typer.Option(
        "--accept-no-guarantee",
        help="Needed for limit-cb, which protects nobody.",
        rich_help_panel=_MECHANISM,
    ),
]
SelectEpsilon = Annotated[
    str | None,
    typer.Option("--select-epsilon", help="ε of the selection, on top.", rich_help_panel=_SELECTION),
]
SelectDelta = Annotated[
    str | None,
    typer.Option("--select-delta", help="δ of the selection, on top.", rich_help_panel=_SELECTION),
]
SelectMaxLocations = Annotated[
    int | None,
    typer.Option(
        "--select-max-locations",
        help="A person counts in at most this many places when places are selected.",
        rich_help_panel=_SELECTION,
    ),
]


@dataclass(frozen=True)
class Choosing:
    """A mechanism and its parameters."""

    mechanism: Name = None
    epsilon: Epsilon = None
    delta: Delta = None
    max_locations: MaxLocations = None
    max_visits: MaxVisits = None
    min_users: MinUsers = None
    split: Split = None
    floor: Floor = None
    keep: Keep = None
    max_users: MaxUsers = None
    accept_no_guarantee: AcceptNoGuarantee = False

    @property
    def name(self) -> str:
        """The mechanism that was named, or the one for whoever names none."""
        return self.mechanism or DEFAULT

    @property
    def parameters(self) -> dict[str, Any]:
        """Those that were given."""
        named = {key: value for key, value in vars(self).items() if key != "mechanism"}
        return {key: value for key, value in named.items() if value is not None and value is not False}

    @property
    def chosen(self) -> Mechanism:
        """The mechanism that the options describe."""
        from locentropy.mechanisms.registry import mechanism_class, mechanism_from, mechanism_names

        def example_of(name: str) -> dict[str, str | int | bool]:
            return dict(mechanism_class(name).example)

        if self.name not in mechanism_names():
            raise ParameterError(
                f"Unknown mechanism --mechanism {self.name}. Choose from {', '.join(mechanism_names())}. "
                f"For example: {_line(DEFAULT, example_of(DEFAULT))}"
            )
        self._check_names()
        with (
            wording.example(_line(self.name, example_of(self.name))),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            mechanism = mechanism_from(self.name, self.parameters)
        for each in caught:
            warn(str(each.message))
        return mechanism

    def _check_names(self) -> None:
        """Nothing that the mechanism does not know, and all that it needs."""
        from locentropy.mechanisms.registry import (
            mechanism_class,
            mechanism_names,
            parameter_names,
            required_parameters,
        )

        def taken(name: str) -> set[str]:
            return set(parameter_names(name))

        def example_of(name: str) -> dict[str, str | int | bool]:
            return dict(mechanism_class(name).example)

        example = _line(self.name, example_of(self.name))
        for key in self.parameters:
            if key not in taken(self.name):
                who = self.name if self.mechanism else f"{self.name}, the default,"
                others = [each for each in mechanism_names() if key in taken(each)]
                raise ParameterError(
                    f"{who} takes no {_option(key)}. For example: {example}. For {', '.join(others)} it is one: "
                    f"{_line(others[0], example_of(others[0]))}"
                )
        needed = required_parameters(self.name)
        if "accept_no_guarantee" in taken(self.name) and not self.accept_no_guarantee:
            instead = "limit-ptr"
            raise ParameterError(
                f"{self.name} is not differentially private: which places it publishes is decided without noise, so "
                "one person alone can make a place appear or vanish, and whoever sees the release can tell. Use "
                f"{_line(instead, example_of(instead))}; or, to compare with the paper, add --accept-no-guarantee"
            )
        missing = [_option(name) for name in needed if name not in self.parameters]
        if missing:
            raise ParameterError(f"{self.name} needs {', '.join(missing)}. For example: {example}")


@dataclass(frozen=True)
class Selecting:
    """A selection of places."""

    select_epsilon: SelectEpsilon = None
    select_delta: SelectDelta = None
    select_max_locations: SelectMaxLocations = None

    @property
    def selection(self) -> SelectLocations | None:
        """The selection that the options describe, or None if there is none of them."""
        missing = [_option(name) for name, value in vars(self).items() if value is None]
        if len(missing) == len(vars(self)):
            return None
        if missing:
            raise ParameterError(
                f"Selecting places also needs {', '.join(missing)}. For example: {_SELECTING}"
            )
        from locentropy.mechanisms.parameters import read_parameters
        from locentropy.mechanisms.select import SelectLocations

        given = {name.removeprefix("select_"): value for name, value in vars(self).items()}
        with wording.example(_SELECTING):
            return SelectLocations(**read_parameters(SelectLocations, given))


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _line(name: str, parameters: dict[str, str | int | bool]) -> str:
    """The options of a correct call."""
    words = [
        _option(key) if value is True else f"{_option(key)} {value}" for key, value in parameters.items()
    ]
    return " ".join(["--mechanism", name, *words])
