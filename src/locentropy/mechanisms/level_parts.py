"""How the budget of a release is divided among its levels: by a public rule, exactly.

Claim: a release of levels costs what its mechanism costs: the parts of ε add up to ε, and those of δ to δ, exactly.
Why: every level is measured by the mechanism at its own part. Sequential composition adds these up, also when a later
level is measured after an earlier one was noised. Parts are decimals, and no sum is rounded: what cannot be divided so
is refused. Proof: docs/proofs/levels.md.

The rule: a fiftieth of ε for each level, and the rest in proportion to the cube roots of the numbers of locations, in
whole hundredths; what rounding leaves is the first level's. These numbers are public. Why cube roots: each of L
locations has about 1/L of all people, and errors fall about as the square root of people times ε; the sum of √(Lᵢ/εᵢ)
over levels is least, for a given sum of εᵢ, where εᵢ is in proportion to the cube root of Lᵢ. So larger units, of which
there are fewer, get less. Of δ, which hardly matters to errors, each further level has a tenth. Owners may divide ε
otherwise, if their parts add up to it.
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
    from collections.abc import Sequence

    from locentropy.core.levels import Levels
    from locentropy.mechanisms.base import Mechanism

HUNDREDTHS: Final = 100
LEAST: Final = 2
"""Hundredths of ε that each level has at least."""
OF_DELTA: Final = Fraction(1, 10)
"""The part of δ of each further level."""

_SIZES_EXAMPLE: Final = (
    'plan(Shares(epsilon=1.0), levels=["place", "district", "all"], level_sizes=[14_058, 20, 1])'
)


def divided(mechanism: Mechanism, levels: Levels, sizes: Sequence[int] = ()) -> dict[str, Mechanism]:
    """The mechanism of each level, at its part of the budget; ParameterError if it cannot be divided exactly.

    `sizes` are the numbers of locations of the levels; they are not needed where the owner divided ε.
    """
    whole = mechanism.guarantee
    names: list[str] = [field.name for field in fields(mechanism)] if is_dataclass(mechanism) else []
    if whole.epsilon is None or "epsilon" not in names or (whole.delta and "delta" not in names):
        raise ParameterError(
            f"divide the ε of a release, and {type(mechanism).__name__} has none to divide. Publish one level at a "
            "time, or use a mechanism that has one.",
            parameter="levels",
            example=f'publish(visits, Shares(epsilon=1.0), {LEVELS_EXAMPLE}, ledger="city.ledger")',
        )
    epsilons = _stated(levels, whole.epsilon) if levels.epsilons else _by_rule(whole.epsilon, levels, sizes)
    further = [OF_DELTA * whole.delta] * (len(levels.names) - 1)
    deltas = [whole.delta - sum(further, Fraction(0)), *further]
    made = {
        name: _at(mechanism, name, epsilon, delta)
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


def concentrated_sum(levels: Sequence[Mechanism]) -> dict[str, Any]:
    """ρ of all levels together, and the δ up to which it holds: sums of theirs; none unless all have Gaussian noise.

    docs/proofs/levels.md: each level is ρ-zCDP for the ρ of its own part, given the measurements of those before it.
    """
    parts = [level.guarantee for level in levels]
    if not parts or any(part.rho is None for part in parts):
        return {"rho": None, "rho_delta": Fraction(0)}
    rho, rho_delta = (
        sum(each, Fraction(0)) for each in zip(*(part.concentrated_cost for part in parts), strict=True)
    )
    return {"rho": rho, "rho_delta": rho_delta}


def _by_rule(whole: Fraction, levels: Levels, sizes: Sequence[int]) -> list[Fraction]:
    """Parts as the cube roots of the numbers of locations, in integers, so that every machine divides alike."""
    if len(sizes) != len(levels.names):
        raise ParameterError(
            "must be the number of locations of each level, by which ε is divided; or say the part of each level.",
            parameter="level_sizes",
            example=_SIZES_EXAMPLE,
        )
    roots = [_cube_root(size * 10**9) for size in sizes]
    shared = HUNDREDTHS - LEAST * len(roots)
    further = [Fraction(LEAST + shared * root // sum(roots), HUNDREDTHS) * whole for root in roots[1:]]
    return [whole - sum(further, Fraction(0)), *further]


def _cube_root(number: int) -> int:
    """The largest whole number whose cube is not above this one."""
    low, high = 0, 1 << (number.bit_length() // 3 + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle)
    return low


def _stated(levels: Levels, whole: Fraction) -> list[Fraction]:
    """The parts that the owner gave, if they are above 0 and add up to ε."""
    parts = [_stated_part(name, part) for name, part in zip(levels.names, levels.epsilons, strict=True)]
    if sum(parts, Fraction(0)) != whole or not all(parts):
        raise ParameterError(
            f"must divide ε = {exact_text(whole)}: parts above 0 that add up to it exactly, and these add up to "
            f"{exact_text(sum(parts, Fraction(0)))}.",
            parameter="levels",
            example=f'publish(visits, Shares(epsilon=1.0), {DIVIDED_EXAMPLE}, ledger="city.ledger")',
        )
    return parts


def _stated_part(name: str, part: str) -> Fraction:
    try:
        return exact(part)
    except ParameterError:
        raise ParameterError(
            f"must say the part of ε of the level {name!r} as a number above 0.",
            parameter="levels",
            example=f'publish(visits, Shares(epsilon=1.0), {DIVIDED_EXAMPLE}, ledger="city.ledger")',
        ) from None


def _at(mechanism: Mechanism, name: str, epsilon: Fraction, delta: Fraction) -> Mechanism:
    """The mechanism at other numbers. Parameters are floats that stand for the decimals they are written as."""
    numbers: dict[str, Any] = {"epsilon": float(epsilon)}
    if delta:
        numbers["delta"] = float(delta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeDeltaWarning)  # the whole has warned already
        try:
            made: Mechanism = replace(mechanism, **numbers)  # type: ignore[type-var]  # checked by the caller
        except ParameterError as error:
            raise ParameterError(
                f"would leave ε = {exact_text(epsilon)} for the level {name!r}, which {type(mechanism).__name__} does "
                f"not take: {error.problem}",
                parameter="levels",
            ) from None
    return made
