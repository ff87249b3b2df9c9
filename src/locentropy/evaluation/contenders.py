"""What is compared: mechanisms, and if asked for the paper's algorithms as printed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError
from locentropy.evaluation.experiments.as_printed import (
    limit_cb_scale,
    limit_scale,
    limit_ss_scales,
    noisy,
)
from locentropy.mechanisms.limit_cb import LimitCB
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.registry import (
    described,
    example_of,
    mechanism_from,
    mechanism_names,
    parameters_of,
    read_parameters,
    written_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.mechanism import Mechanism

    Reals = NDArray[np.float64]

_WANTED: Final = ("shares", "moments", "limit", "limit-ss", "limit-ptr")
_PRINTED: Final[dict[str, dict[str, Any]]] = {
    "limit-as-printed": {"max_locations": 5, "max_visits": 5},
    "limit-ss-as-printed": {"delta": "1e-8", "max_locations": 5, "max_visits": 5},
    "limit-cb-as-printed": {"max_locations": 5, "max_visits": 5, "min_users": 50},
}
_LETTERS: Final = {
    "max_locations": "M",
    "max_visits": "C",
    "min_users": "k",
    "max_users": "N",
    "delta": "δ",
    "floor": "ξ",
}


@dataclass(frozen=True)
class AsPrinted:
    """An algorithm as the paper prints it. It protects nobody, and is compared only, never published with."""

    name: str
    """limit-as-printed, limit-ss-as-printed or limit-cb-as-printed."""
    epsilon: float
    """ε as the paper has it."""
    max_locations: int = 5
    """M."""
    max_visits: int = 5
    """C; from 2 up, for the paper's sensitivity is infinite at 1."""
    delta: float | None = None
    """δ, of Limit-SS only."""
    min_users: int | None = None
    """k, of Limit-CB only."""
    keep: Keep | None = None
    """Which M locations are kept; see `Bounds`."""

    def __post_init__(self) -> None:
        if self.name not in _PRINTED:
            raise ParameterError(f"{self.name!r} is none of {', '.join(_PRINTED)}.")
        if not 0 < self.epsilon < np.inf:
            raise ParameterError(f"epsilon={self.epsilon!r} must be a finite number above 0.")
        if self.max_visits < 2:
            raise ParameterError(
                f"max_visits={self.max_visits}: what the paper prints is infinite at C = 1. For example: max_visits=5"
            )

    def values(self, queries: Queries, seed: int) -> Reals:
        """Noisy entropies; NaN where a location is thrown away. Not clipped, as nothing about that is printed."""
        profile = queries.profile(Bounds(self.max_locations, self.max_visits, self.keep))
        users, entropy = profile.user_counts, profile.entropy
        if self.min_users is not None:
            scale = limit_cb_scale(self.epsilon, self.max_locations, self.max_visits, self.min_users)
            return noisy(entropy, scale, seed, users >= self.min_users).entropy
        if self.delta is not None:
            scales = limit_ss_scales(users, self.epsilon, self.delta, self.max_locations, self.max_visits)
            return noisy(entropy, scales, seed).entropy
        return noisy(entropy, limit_scale(self.epsilon, self.max_locations, self.max_visits), seed).entropy


if TYPE_CHECKING:
    Contender: TypeAlias = Mechanism | AsPrinted


def contender_names() -> tuple[str, ...]:
    """All that can be compared by name."""
    return (*mechanism_names(), *_PRINTED)


def default_names() -> tuple[str, ...]:
    """What is compared unless told otherwise."""
    return tuple(name for name in _WANTED if name in mechanism_names())


def taken_by(name: str) -> frozenset[str]:
    """The parameters that a contender takes."""
    if name in _PRINTED:
        return frozenset(_PRINTED[name]) | {"epsilon", "keep"}
    return frozenset(parameter.name for parameter in parameters_of(name))


def contenders(
    names: Sequence[str] | None = None,
    epsilons: Sequence[str | float] = ("1",),
    choices: Mapping[str, Sequence[Any]] | None = None,
) -> list[Contender]:
    """Every contender of these names at every ε, and with every combination of the choices that it takes.

    What is not chosen is as in the paper's experiments: M = 5, C = 5, k = 50, δ = 1e-8.
    """
    made: list[Contender] = []
    for name in names or default_names():
        if name not in contender_names():
            raise ParameterError(f"{name!r} is none of {', '.join(contender_names())}.")
        usual = {key: [value] for key, value in _usual(name).items()}
        own = {key: list(values) for key, values in (choices or {}).items() if key in taken_by(name)}
        table: dict[str, Sequence[Any]] = {**usual, **own, "epsilon": list(epsilons)}
        made += [_made(name, dict(zip(table, each, strict=True))) for each in product(*table.values())]
    return list(dict.fromkeys(made))


def _usual(name: str) -> dict[str, Any]:
    """What a contender cannot do without, as in the paper's experiments."""
    if name in _PRINTED:
        return _PRINTED[name]
    example = example_of(name)
    return {
        each.name: example[each.name]
        for each in parameters_of(name)
        if each.name in example and (each.required or each.name == "accept_no_guarantee")
    }


def _made(name: str, parameters: dict[str, Any]) -> Contender:
    if name in _PRINTED:
        return AsPrinted(name, **read_parameters(parameters))
    return mechanism_from(name, parameters)


def chooses(contender: Contender) -> bool:
    """Whether it selects places by itself, so that it needs neither a list nor a selection before it."""
    return isinstance(contender, LimitPTR | LimitCB)


def named(contender: Contender) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a contender, as they are written."""
    if isinstance(contender, AsPrinted):
        return contender.name, {k: v for k, v in written_parameters(contender).items() if k != "name"}
    try:
        return described(contender)
    except ParameterError:  # somebody's own
        return type(contender).__name__, {}


def labels(all_named: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """A short name for each: with the parameters, ε aside, in which it differs from others of its name."""
    described_ones = list(all_named)
    return [_label(name, parameters, described_ones) for name, parameters in described_ones]


def _label(name: str, own: Mapping[str, Any], others: list[tuple[str, Mapping[str, Any]]]) -> str:
    alike = [parameters for other, parameters in others if other == name]
    telling = [
        f"{_LETTERS.get(key, key)}={value}"
        for key, value in own.items()
        if key != "epsilon" and any(each.get(key) != value for each in alike)
    ]
    return f"{name} {', '.join(telling)}" if telling else name
