"""What is said about the levels of a release: what they are, what each costs, and why entropy does not add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.privacy.guarantee import exact_text

if TYPE_CHECKING:
    from locentropy.core.levels import LevelPart
    from locentropy.release.statement import Statement

NOT_ADDITIVE: Final = (
    "Entropy does not add up over levels. That of a district, say, is about its visitors as a whole: who was at "
    "three of its places is a visitor of three places, and one visitor of the district. So neither the entropies of "
    "its places nor their effective visitors add up to those of the district. Every level also has its own noise, so "
    "levels need not agree with each other."
)


def consists_of(part: LevelPart) -> str:
    """What the locations of a level are."""
    return {
        "place": "each place of the public list by itself",
        "column": f"places that agree in their public {part.name!r} are one location",
        "list": "all places of the public list are one location",
    }[part.scope]


def cost_of(part: LevelPart) -> str:
    """What a level costs."""
    return f"ε = {exact_text(part.epsilon)}" + (f", δ = {exact_text(part.delta)}" if part.delta else "")


def levels_words(statement: Statement) -> str:
    """The levels and what each costs; empty where there is one."""
    if not statement.levels:
        return ""
    told = "; ".join(
        f"{part.name} ({consists_of(part)}) at {cost_of(part)}, by {part.measured_by}"
        for part in statement.levels
    )
    return (
        f"This release has {len(statement.levels)} levels: {told}. Each is measured at its own part of the budget, on "
        "the same visits, and the parts add up to the whole. At every level a person's visits to all places of one "
        "location are visits to that location, and what the person can change is bounded there anew. "
    )


def level_words(statement: Statement) -> str:
    """Which level the table of a statement is about; empty where there is one level only."""
    part = statement.part
    if part is None:
        return ""
    return f"The level {part.name!r}: {consists_of(part)}. It has {cost_of(part)} of the release's budget."
