"""What is compared: mechanisms by name, at every ε and with every combination of the chosen parameters."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from locentropy.mechanisms.registry import (
    described,
    mechanism_class,
    mechanism_from,
    mechanism_names,
    parameter_names,
    required_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locentropy.mechanisms.base import Mechanism

_LETTERS: Final = {
    "max_locations": "M",
    "max_visits": "C",
    "min_users": "k",
    "max_users": "N",
    "delta": "δ",
    "floor": "ξ",
}


def default_names() -> tuple[str, ...]:
    """The mechanisms that are compared unless told otherwise."""
    return tuple(name for name in mechanism_names() if mechanism_class(name).compared)


def candidates(
    names: Sequence[str] | None = None,
    epsilons: Sequence[str | float] = ("1",),
    choices: Mapping[str, Sequence[Any]] | None = None,
) -> list[Mechanism]:
    """Every mechanism of these names at every ε, and with every combination of the choices that it takes.

    What is not chosen is as in the mechanism's example: M = 5, C = 5, k = 50, δ = 1e-8.
    """
    made: list[Mechanism] = []
    for name in names or default_names():
        usual = {key: [value] for key, value in _usual(name).items()}
        taken = parameter_names(name)
        own = {key: list(values) for key, values in (choices or {}).items() if key in taken}
        table: dict[str, Sequence[Any]] = {**usual, **own, "epsilon": list(epsilons)}
        made += [
            mechanism_from(name, dict(zip(table, each, strict=True))) for each in product(*table.values())
        ]
    return list(dict.fromkeys(made))


def _usual(name: str) -> dict[str, Any]:
    """What a mechanism cannot do without, and flags that its example sets."""
    example, required = mechanism_class(name).example, required_parameters(name)
    return {key: value for key, value in example.items() if key in required or value is True}


def labels(mechanisms: Iterable[Mechanism]) -> list[str]:
    """A short name for each: with the parameters, ε aside, in which it differs from others of its name."""
    all_described = [described(each) for each in mechanisms]
    return [_label(name, parameters, all_described) for name, parameters in all_described]


def _label(name: str, own: Mapping[str, Any], others: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    alike = [parameters for other, parameters in others if other == name]
    telling = [
        f"{_LETTERS.get(key, key)}={value}"
        for key, value in own.items()
        if key != "epsilon" and any(each.get(key) != value for each in alike)
    ]
    return f"{name} {', '.join(telling)}" if telling else name
