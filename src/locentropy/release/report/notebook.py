"""A release as a notebook shows it: what is promised, the first places, and the page in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.html import Html, joined, table, tag
from locentropy.core.language import words_in
from locentropy.release.report.page import drawn
from locentropy.release.report.ranking import TOP, numbers, ranking_of

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release

_MOST_FRAMED: Final = 2_000_000
"""Bytes of a page that a notebook still takes: it is saved within the notebook's file."""
_COLUMNS: Final = ("entropy", "low", "high", "effective_visitors")


def shown(release: Release) -> Html:
    """The release for a notebook. Everything in it is public."""
    statement, say = release.statement, words_in(release.statement.language)
    page = drawn(release)
    if len(page) <= _MOST_FRAMED:
        # Without the permission to be of the same origin, the page can read nothing of the notebook around it.
        frame = tag(
            "iframe",
            srcdoc=page.decode(),
            sandbox="allow-scripts allow-downloads",
            width="100%",
            height=600,
            style="border: 0",
        )
    else:
        frame = tag("p", say("notebook.large"))
    told = f" — {say.count('places', len(release))}. {statement.guarantee.in_words(say)}"
    return joined(
        tag("p", tag("strong", say.stored("title", statement.title)), told),
        _first(say, release),
        frame,
    )


def _first(say: Words, release: Release) -> Html:
    """The places that rank first."""
    places, ranking = release.to_arrow(), ranking_of(release)
    first = ranking.order[: min(TOP, ranking.published)]
    names = places["name" if "name" in places.column_names else "location"]
    columns = [name for name in _COLUMNS if name in places.column_names]
    values = {name: numbers(places, name) for name in columns}
    rows = [
        [
            str(ranking.rank[position]),
            str(names[int(position)].as_py()),
            *(
                say.number(values[name][position], f",.{0 if name == 'effective_visitors' else 2}f")
                for name in columns
            ),
        ]
        for position in first
    ]
    return table([say("notebook.heading", of=name) for name in ("rank", "place", *columns)], rows)
