"""The windows of a release, on its page: one is shown at a time, and a switch leads to the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from locentropy.core.html import Html, joined, tag
from locentropy.core.window_split import split
from locentropy.release.columns import WINDOW

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.statement import Statement


def by_window(release: Release) -> tuple[Release, ...]:
    """The rows of each window as a release about it, to be shown; the whole, if there are no windows."""
    statement = release.statement
    if statement.windows is None:
        return (release,)
    windows = split(statement.window, statement.windows)
    places = len(release) // len(windows)
    signals = None if release.signal is None else release.signal.windows
    table = release.table.drop_columns(list(WINDOW))
    return tuple(
        replace(
            release,
            table=table.slice(at * places, places),
            statement=replace(
                statement, window=window, windows=None, signal=None if signals is None else signals[at]
            ),
            measurements=None,
            outlines=None if release.outlines is None else release.outlines.slice(at * places, places),
        )
        for at, window in enumerate(windows)
    )


def window_switch(say: Words, whole: Statement, shown: Statement) -> Html:
    """Links to all windows; empty where there is one."""
    if whole.windows is None:
        return Html("")
    links = [
        tag(
            "li",
            tag(
                "a",
                each.text,
                href=f"#level={number}",
                aria_current="page" if each.same_as(shown.window) else None,
            ),
        )
        for number, each in enumerate(split(whole.window, whole.windows), start=1)
    ]
    return joined(
        Html("\n"),
        tag(
            "nav",
            tag("span", say("windows.label")),
            tag("ul", *links),
            class_="levels",
            aria_label=say("windows.all"),
        ),
        tag("noscript", tag("p", say("windows.noscript"), class_="notice")),
    )
