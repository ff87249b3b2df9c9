"""The switch between the levels of a release, on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.html import Html, joined, tag
from locentropy.release.level_words import consists_of, cost_of, level_name

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.statement import Statement


def switch(say: Words, statement: Statement) -> Html:
    """Links to all levels, what the one that is shown consists of and costs; empty where there is one level only.

    A link changes the address and the script shows that level: it can be kept, sent, and gone back from.
    """
    part = statement.part
    if part is None:
        return Html("")
    links = [
        tag(
            "li",
            tag(
                "a",
                level_name(each, say),
                href=f"#level={number}",
                aria_current="page" if each == part else None,
            ),
        )
        for number, each in enumerate(statement.levels, start=1)
    ]
    told = say(
        "levels.shown",
        name=level_name(part, say),
        consists=consists_of(part, say),
        cost=cost_of(part, say),
        sums=say("levels.sums"),
    )
    return joined(
        Html("\n"),
        tag(
            "nav",
            tag("span", say("levels.label")),
            tag("ul", *links),
            class_="levels",
            aria_label=say("levels.all"),
        ),
        tag("noscript", tag("p", say("levels.noscript"), class_="notice")),
        tag("p", told, class_="hint"),
    )
