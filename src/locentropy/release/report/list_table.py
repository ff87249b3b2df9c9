"""The table of the ranked list, as the page has it before its script runs: headings, and the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.html import Html, joined, tag
from locentropy.release.report.naming import named_column
from locentropy.release.report.ranking import TOP

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.report.rows import Rows
    from locentropy.release.statement import Statement

_COUNTED: Final = ("counted_visitors", "counted_visits")
_COLUMNS: Final = ("rank", "name", "trend", "visitors", "entropy", "std_error", *_COUNTED, "chance")


def head(say: Words, statement: Statement, ranking: Ranking, rows_shown: Rows, *, trend: bool) -> Html:
    """The headings of the table; the script makes them buttons that sort."""
    shown = [
        name
        for name in _COLUMNS
        if not (name == "rank" and len(ranking.rank) == 1)
        and not (name == "chance" and ranking.chance is None)
        and not (name == "std_error" and ranking.certainty is None)
        and not (name in _COUNTED and name not in rows_shown.columns)
        and not (name == "trend" and not trend)
    ]
    cells = [
        tag(
            "th",
            named_column(say, statement) if name == "name" else say("list.heading", of=name, top=str(TOP)),
            scope="col",
            class_=f"count {name}" if name in _COUNTED else name,
            data_sort=name,
        )
        for name in shown
    ]
    bar = tag("th", class_="bar", scope="col", aria_label=say("list.bar"))
    cells.insert(shown.index("entropy") + 1, bar)
    return tag("tr", *cells)


def first_rows(say: Words, shown: Rows, *, trend: bool) -> Html:
    """The first rows, for browsers without scripts; the script replaces them."""
    columns = shown.first(TOP)
    made = []
    for at in range(len(columns["id"])):
        if columns["rank"][at] is None:
            break  # places without a value come last
        name = columns.get("name", columns["id"])[at] or columns["id"][at]
        cells = [tag("td", str(columns["rank"][at]))] if len(shown) > 1 or shown.left_out else []
        cells.append(tag("td", tag("bdi", name)))
        # The script has the rule by which effective visitors are rounded; without it the entropy is enough.
        cells += [tag("td")] * trend
        cells += [tag("td"), tag("td", say.number(columns["entropy"][at], ".2f")), tag("td")]
        if "std_error" in columns:
            cells.append(tag("td", say.number(columns["std_error"][at], ".2g")))
        cells += [tag("td", say.number(columns[name][at], ",.0f")) for name in _COUNTED if name in columns]
        if "chance" in columns:
            cells.append(tag("td", say.number(columns["chance"][at], ".0%")))
        made.append(tag("tr", *cells))
    return joined(*made)
