"""Verify the guarantee: whether it is at least what the mechanism, with the parameters that are stated, costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.mechanisms.level_parts import concentrated_sum
from locentropy.privacy.guarantee import Guarantee
from locentropy.release.reestimate import mechanism_of
from locentropy.release.statement import amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.mechanisms.base import Mechanism
    from locentropy.release.reading import Described

_SELECTION: Final = re.compile(r"private selection \(epsilon=([^,)]+), delta=([^,)]+)[,)]")


def guarantee_problems(about: Described) -> Iterator[str]:
    """Compare the guarantee with its parts, where this software has the mechanism."""
    stated = about.statement.guarantee
    if stated.epsilon is None or unknown_cost(about) is not None:  # which a note says
        return
    mechanisms = [mechanism_of(level.statement) for level in about.levels]
    try:
        due = _due(mechanisms, about.statement.locations_source)
    except ParameterError as error:
        yield f"Its selection of places is not what it should be: {error}"
        return
    if due.epsilon is None:
        yield f"The release states a guarantee, and {about.statement.mechanism} has none."
        return
    costs = zip(stated.concentrated_cost, due.concentrated_cost, strict=True)
    if stated.epsilon < due.epsilon or stated.delta < due.delta or any(said < own for said, own in costs):
        yield "The release states a smaller ε, δ or ρ than its mechanism has with the parameters that are stated."


def unknown_cost(about: Described) -> str | None:
    """Why this software cannot tell what the mechanism costs; None if it can, or if there is no guarantee anyway."""
    if not about.statement.private:
        return None
    try:
        for level in about.levels:
            mechanism_of(level.statement)
    except ReleaseError as error:
        return str(error)
    return None


def _due(mechanisms: list[Mechanism], source: str) -> Guarantee:
    """What the parts cost together."""
    first, *further = (mechanism.guarantee.for_unit("person") for mechanism in mechanisms)
    due = sum(further, first)
    if further and due.private:
        due = Guarantee(due.epsilon, due.delta, **concentrated_sum(mechanisms))
    if (selection := _SELECTION.match(source)) is not None:
        epsilon, delta = (amount(text, "epsilon") for text in selection.groups())
        due = Guarantee.approximate(epsilon, delta) + due
    return due
