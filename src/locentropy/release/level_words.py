"""What is said about the levels of a release: what they are, what each costs, and why entropy does not add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.language import ENGLISH
from locentropy.privacy.guarantee import exact_text

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.core.levels import LevelPart
    from locentropy.release.statement import Statement

NOT_ADDITIVE: Final = ENGLISH("levels.sums")


def consists_of(part: LevelPart, say: Words = ENGLISH) -> str:
    """What the locations of a level are."""
    return say("levels.consists", of=part.scope, name=repr(part.name))


def level_name(part: LevelPart, say: Words = ENGLISH) -> str:
    """What a level is called: by its column, or by the word that stands for places or for the whole list."""
    return part.name if part.scope == "column" else say.stored("level", part.name)


def cost_of(part: LevelPart, say: Words = ENGLISH) -> str:
    """What a level costs."""
    delta = f", δ = {say.written(exact_text(part.delta))}" if part.delta else ""
    return f"ε = {say.written(exact_text(part.epsilon))}{delta}"


def levels_words(statement: Statement, say: Words = ENGLISH) -> str:
    """The levels and what each costs; empty where there is one."""
    if not statement.levels:
        return ""
    told = [
        say(
            "levels.one",
            name=level_name(part, say),
            consists=consists_of(part, say),
            cost=cost_of(part, say),
            mechanism=say.stored("measured", part.measured_by),
        )
        for part in statement.levels
    ]
    return say("levels", count=str(len(told)), levels="; ".join(told))


def level_words(statement: Statement) -> str:
    """Which level the table of a statement is about; empty where there is one level only."""
    part = statement.part
    if part is None:
        return ""
    return f"The level {part.name!r}: {consists_of(part)}. It has {cost_of(part)} of the release's budget."
