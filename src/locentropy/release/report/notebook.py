"""A release as a notebook shows it: what is promised, the first places, and the page in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.html import Html, joined, table, tag
from locentropy.release.report.page import drawn
from locentropy.release.report.ranking import TOP, numbers, ranking_of

if TYPE_CHECKING:
    from locentropy.release.release import Release

_MOST_FRAMED: Final = 2_000_000
"""Bytes of a page that a notebook still takes: it is saved within the notebook's file."""
_HEADINGS: Final = {
    "entropy": "entropy",
    "low": "from",
    "high": "to",
    "effective_visitors": "effective visitors",
}


def shown(release: Release) -> Html:
    """The release for a notebook. Everything in it is public."""
    statement = release.statement
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
        frame = tag(
            "p", "The page is too large for a notebook: release.save(directory) writes it as report.html."
        )
    return joined(
        tag("p", tag("strong", statement.title), f" — {len(release):,} places. {statement.guarantee}"),
        _first(release),
        frame,
    )


def _first(release: Release) -> Html:
    """The places that rank first."""
    places, ranking = release.to_arrow(), ranking_of(release)
    first = ranking.order[: min(TOP, ranking.published)]
    names = places["name" if "name" in places.column_names else "location"]
    columns = [name for name in _HEADINGS if name in places.column_names]
    values = {name: numbers(places, name) for name in columns}
    rows = [
        [
            str(ranking.rank[position]),
            str(names[int(position)].as_py()),
            *(f"{values[name][position]:,.{0 if name == 'effective_visitors' else 2}f}" for name in columns),
        ]
        for position in first
    ]
    return table(["rank", "place", *(_HEADINGS[name] for name in columns)], rows)
