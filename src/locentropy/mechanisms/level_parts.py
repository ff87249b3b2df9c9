"""How the budget of a release is divided among its levels: by a public rule, exactly.

Claim: a release of levels costs what its mechanism costs: the parts of ε add up to ε, and those of δ to δ, exactly.
Why: every level is measured by the mechanism at its own part. Sequential composition adds these up, also when a later
level is measured after an earlier one was noised. Parts are decimals, and no sum is rounded: what cannot be divided so
is refused. Proof: docs/proofs/levels.md.

The rule: each further level has a tenth of ε, and the first has the rest. A larger unit needs less: its visitors are
many, and one person changes as little of it as of a place. The rule depends on the number of levels alone, so that a
plan can be approved without the list. Owners may divide ε otherwise, if their parts add up to it.
"""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError
from locentropy.core.levels import DIVIDED_EXAMPLE, LEVELS_EXAMPLE
from locentropy.mechanisms.parameters import LargeDeltaWarning
from locentropy.privacy.guarantee import exact, exact_text

if TYPE_CHECKING:
    from locentropy.core.levels import Levels
    from locentropy.mechanisms.base import Mechanism

FURTHER: Final = Fraction(1, 10)
"""The part of each further level."""


def divided(mechanism: Mechanism, levels: Levels) -> dict[str, Mechanism]:
    """The mechanism of each level, at its part of the budget; ParameterError if it cannot be divided exactly."""
    whole = mechanism.guarantee
    names: list[str] = [field.name for field in fields(mechanism)] if is_dataclass(mechanism) else []
    if whole.epsilon is None or "epsilon" not in names or (whole.delta and "delta" not in names):
        raise ParameterError(
            f"divide the ε of a release, and {type(mechanism).__name__} has none to divide. Publish one level at a "
            "time, or use a mechanism that has one.",
            parameter="levels",
            example=f'publish(visits, Shares(epsilon=1.0), {LEVELS_EXAMPLE}, ledger="city.ledger")',
        )
    epsilons = _stated(levels, whole.epsilon) if levels.epsilons else _by_rule(whole.epsilon, levels)
    deltas = _by_rule(whole.delta, levels)
    made = {
        name: _at(mechanism, epsilon, delta)
        for name, epsilon, delta in zip(levels, epsilons, deltas, strict=True)
    }
    parts = [each.guarantee for each in made.values()]
    if (
        sum((part.epsilon or Fraction(0) for part in parts), Fraction(0)) != whole.epsilon
        or sum((part.delta for part in parts), Fraction(0)) != whole.delta
    ):
        raise ParameterError(
            f"cannot divide the budget of {type(mechanism).__name__}: its parts do not add up to the whole exactly. "
            "Write epsilon, and delta if there is one, with at most 12 digits.",
            parameter="levels",
        )
    return made


def _by_rule(whole: Fraction, levels: Levels) -> list[Fraction]:
    """A tenth for each further level, and the rest for the first."""
    further = [FURTHER * whole] * (len(levels.names) - 1)
    return [whole - sum(further, Fraction(0)), *further]


def _stated(levels: Levels, whole: Fraction) -> list[Fraction]:
    """The parts that the owner gave, if they are above 0 and add up to ε."""
    parts = [
        exact(part, f"levels[{name!r}]") for name, part in zip(levels.names, levels.epsilons, strict=True)
    ]
    if sum(parts, Fraction(0)) != whole or not all(parts):
        raise ParameterError(
            f"must divide ε = {exact_text(whole)}: parts above 0 that add up to it exactly, and these add up to "
            f"{exact_text(sum(parts, Fraction(0)))}.",
            parameter="levels",
            example=f'publish(visits, Shares(epsilon=1.0), {DIVIDED_EXAMPLE}, ledger="city.ledger")',
        )
    return parts


def _at(mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> Mechanism:
    """The mechanism at other numbers. Parameters are floats that stand for the decimals they are written as."""
    numbers: dict[str, Any] = {"epsilon": float(epsilon)}
    if delta:
        numbers["delta"] = float(delta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeDeltaWarning)  # the whole has warned already
        made: Mechanism = replace(mechanism, **numbers)  # type: ignore[type-var]  # checked by the caller
    return made
