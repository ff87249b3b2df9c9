"""The releases of a series, on the page of the latest: a switch between periods, and what each place was in each.

The page carries the latest periods, each as it was published; a line for each place shows them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from locentropy.core.html import Html, joined, script_json, tag
from locentropy.release.report.ranking import numbers

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.report.rows import Rows

MOST_PERIODS: Final = 24
"""Periods that a page shows: the latest ones."""
_DECIMALS: Final = 2
_BAND: Final = ("entropy", "low", "high")


def periods(release: Release) -> tuple[Release, ...]:
    """The release, and then the earlier ones that its page shows, the first first; itself if it is in no series."""
    return (release, *release.earlier[max(0, len(release.earlier) - MOST_PERIODS + 1) :])


def period_switch(say: Words, whole: Release, shown: Release) -> Html:
    """Links to all periods, in their order; empty where there is one."""
    latest, *earlier = periods(whole)
    if not earlier:
        return _not_shown(say, whole)
    links = [
        tag(
            "li",
            tag(
                "a",
                _named(each),
                href=f"#level={number}",
                aria_current="page" if each is shown else None,
            ),
        )
        for number, each in (*enumerate(earlier, start=2), (1, latest))
    ]
    return joined(
        Html("\n"),
        tag(
            "nav",
            tag("span", say("series.label")),
            tag("ul", *links),
            class_="levels",
            aria_label=say("series.all"),
        ),
        tag("noscript", tag("p", say("series.noscript"), class_="notice")),
        tag("p", _words(say, shown), class_="hint"),
        _not_shown(say, whole),
    )


def history(release: Release, shown: Rows) -> Html:
    """For the script: what each of the places that are shown was in each period; empty where there is one."""
    latest, *earlier = periods(release)
    if not earlier:
        return Html("")
    every = [*earlier, latest]
    values = [_values(each, latest) for each in every]
    known = {text: at for at, text in enumerate(latest.table["location"].cast(pa.string()).to_pylist())}
    places = {
        name: [row for value in values for row in value[known[name]]]
        for name in shown.columns["id"]
        if name in known  # a long id is cut on the page
    }
    data: dict[str, Any] = {"periods": [_named(each) for each in every], "places": places}
    return joined(tag("script", script_json(data), type="application/json", id="history"), Html("\n"))


def _values(release: Release, latest: Release) -> list[list[float | None]]:
    """Entropy, low and high of each place; in the unit of the latest release, None where there is none."""
    units = release.statement.entropy_unit, latest.statement.entropy_unit
    factor = {("nats", "bits"): 1 / np.log(2.0), ("bits", "nats"): np.log(2.0)}.get(units, 1.0)
    table = release.to_arrow()
    columns = [
        np.round(numbers(table, name if name in table.column_names else "entropy") * factor, _DECIMALS)
        for name in _BAND
    ]
    return [
        [None if value != value else value for value in row] for row in np.stack(columns, axis=1).tolist()
    ]


def _named(release: Release) -> str:
    """The window of a release, as short as it is written."""
    window = release.statement.window
    return "" if window is None else window.text


def _words(say: Words, shown: Release) -> str:
    note = shown.statement.series
    if note is None:
        return say("series.first", period=_named(shown))
    return say("series.shown", period=_named(shown), number=str(note.number))


def _not_shown(say: Words, whole: Release) -> Html:
    """That earlier releases are not on this page, if that is so."""
    note = whole.statement.series
    if note is None or len(periods(whole)) == note.number:
        return Html("")
    return tag("p", say.count("series.not_shown", note.number - len(periods(whole))), class_="hint")
