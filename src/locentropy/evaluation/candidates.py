"""What is compared: mechanisms by name, at every ε and with every combination of the chosen parameters.

`evaluate` takes any mechanisms; this makes many of them at once.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from locentropy.mechanisms.registry import (
    described,
    mechanism_class,
    mechanism_from,
    mechanism_names,
    required_parameters,
    takes,
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
    """Return the names of the mechanisms that are compared by default."""
    return tuple(name for name in mechanism_names() if mechanism_class(name).compared)


def candidates(
    names: Sequence[str] | None = None,
    epsilons: Sequence[str | float] = ("1",),
    choices: Mapping[str, Sequence[Any]] | None = None,
) -> list[Mechanism]:
    """Make every mechanism of these names at every ε, with every combination of the choices that it takes.

    Parameters
    ----------
    names
        Such as `["shares", "moments"]`; by default those that `default_names` returns.
    epsilons
        Every ε.
    choices
        Values to try for other parameters, such as `{"max_locations": [2, 5]}`. A mechanism that does not take a
        parameter ignores it, or that takes it only with another that is not chosen. A required parameter that is not
        chosen is as in the mechanism's example.
    """
    made: list[Mechanism] = []
    for name in names or default_names():
        required = {key: [value] for key, value in _from_example(name).items()}
        own = {
            key: list(values) for key, values in (choices or {}).items() if takes(name, key, choices or ())
        }
        table: dict[str, Sequence[Any]] = {**required, **own, "epsilon": list(epsilons)}
        made += [
            mechanism_from(name, dict(zip(table, each, strict=True))) for each in product(*table.values())
        ]
    return list(dict.fromkeys(made))


def _from_example(name: str) -> dict[str, Any]:
    """Return the required parameters as in the example, and the flags that the example sets."""
    example, required = mechanism_class(name).example, required_parameters(name)
    return {key: value for key, value in example.items() if key in required or value is True}


def labels(mechanisms: Iterable[Mechanism]) -> list[str]:
    """Return a short name for each: with the parameters, except ε, in which it differs from others of its name."""
    all_described = [described(each) for each in mechanisms]
    return [_label(name, parameters, all_described) for name, parameters in all_described]


def _label(name: str, own: Mapping[str, Any], others: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    same_name = [parameters for other, parameters in others if other == name]
    differing = [
        f"{_LETTERS.get(key, key)}={value}"
        for key, value in own.items()
        if key != "epsilon" and any(each.get(key) != value for each in same_name)
    ]
    return f"{name} {', '.join(differing)}" if differing else name
