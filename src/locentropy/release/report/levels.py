"""The switch between the levels of a release, on its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.release.level_words import NOT_ADDITIVE, consists_of, cost_of
from locentropy.release.report.html import Html, joined, tag

if TYPE_CHECKING:
    from locentropy.release.statement import Statement


def switch(statement: Statement) -> Html:
    """Links to all levels, what the one that is shown consists of and costs; empty where there is one level only.

    A link changes the address and the script shows that level: it can be kept, sent, and gone back from.
    """
    part = statement.part
    if part is None:
        return Html("")
    links = [
        tag("li", tag("a", each.name, href=f"#level={number}", aria_current="page" if each == part else None))
        for number, each in enumerate(statement.levels, start=1)
    ]
    files = "The tables of every level are beside this page."
    return joined(
        Html("\n"),
        tag("nav", tag("span", "Level"), tag("ul", *links), class_="levels", aria_label="Levels"),
        tag(
            "noscript", tag("p", f"Without scripts, this page shows one level only. {files}", class_="notice")
        ),
        tag(
            "p",
            f"Level {part.name}: {consists_of(part)}. It has {cost_of(part)} of the budget of this release; the "
            f"guarantee below is that of all levels together. {NOT_ADDITIVE}",
            class_="hint",
        ),
    )
