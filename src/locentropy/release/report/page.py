"""report.html: a release as one page that opens from a file and needs no network.

Everything on it comes from a `Release`. The browser is told to load nothing and to run only the script that is named
by its SHA-256, so a text in the release stays text, even if it were not escaped.
"""

from __future__ import annotations

import warnings
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from locentropy.core.html import Html, filled, joined, policy_hash, script_json, tag
from locentropy.core.strict_yaml import dump_document
from locentropy.release.files import names_of
from locentropy.release.manifest import heading, manifest
from locentropy.release.report import text
from locentropy.release.report.citation import citation, table_file
from locentropy.release.report.drawn_background import drawn_background
from locentropy.release.report.histogram import histogram
from locentropy.release.report.levels import switch
from locentropy.release.report.naming import named
from locentropy.release.report.ranking import TOP, numbers, ranking_of
from locentropy.release.report.rows import LARGEST, MOST, rows
from locentropy.release.report.series import history, period_switch, periods
from locentropy.release.report.windows import by_window, window_switch
from locentropy.release.statement import NOT_PRIVATE

if TYPE_CHECKING:
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.report.rows import Rows
    from locentropy.release.statement import Statement


SCRIPTS: Final = (
    "data.js",
    "format.js",
    "colours.js",
    "painting.js",
    "places.js",
    "outlines.js",
    "background.js",
    "labels.js",
    "map.js",
    "fingers.js",
    "pointing.js",
    "filters.js",
    "list.js",
    "files.js",
    "main.js",
)
"""Parts of the one script, in order."""

_HEADINGS: Final = {
    "rank": "Rank",
    "name": "Place",
    "trend": "Trend",
    "visitors": "Effective visitors",
    "entropy": "Entropy",
    "std_error": "Std. error",
    "counted_visitors": "Visitors, bounded",
    "counted_visits": "Visits, bounded",
    "chance": f"Top {TOP}",
}
_COUNTED: Final = ("counted_visitors", "counted_visits")


class PageWarning(UserWarning):
    """The page of a release could not be drawn; its numbers are not affected."""


def drawn(release: Release) -> bytes:
    """The page of a release. If drawing fails, a plain page that says so: the numbers are paid for by now."""
    try:
        return page(release)
    except Exception as error:
        warnings.warn(
            f"The page of the release could not be drawn ({type(error).__name__}), and a plain one stands in for it. "
            "The other files are whole. To try again: locentropy report DIR --out page.html",
            PageWarning,
            stacklevel=2,
        )
        return _plain(release)


def page(release: Release, *, most: int = MOST) -> bytes:
    """The page of a release, with at most so many places. The same release gives the same bytes."""
    statement = release.statement
    levels = (*by_window(release), *release.further, *periods(release)[1:])
    largest = LARGEST // (len(levels) + bool(release.earlier))
    scripts = [*SCRIPTS[:-1], "series.js", SCRIPTS[-1]] if statement.series is not None else SCRIPTS
    style, script = asset("style.css"), "\n".join(map(asset, scripts))
    if len(levels) > 1:
        style, script = style + asset("levels.css"), f"{asset('levels.js')}\n{script}"
    if statement.series is not None:
        style += asset("series.css")
    script = '"use strict";\n(() => {\n' + script + "\n})();\n"
    stated = dump_document(manifest(statement), heading(statement)).decode()
    # Of windows and periods, what is said about the guarantee is about all of them together.
    whole = release if statement.windows is not None or release.earlier else None
    main, *others = (_shown(level, stated, whole, most=most, largest=largest) for level in levels)
    made = filled(
        asset("template.html"),
        policy=_policy(style, script),
        title=joined(text.title(statement)),
        style=Html(style),
        banner=text.banner(statement),
        content=main.content,
        release_id=tag("code", statement.release_id),
        version=joined(statement.software_version),
        data=main.data,
        levels=joined(
            *(_stored(each, number) for number, each in enumerate(others, start=2)),
            history(release, main.rows),
            drawn_background(release.background),
        ),
        script=Html(script),
    )
    return made.encode()


class _Shown(NamedTuple):
    """What the page shows of a level: its header and body, and the data that the script reads."""

    content: Html
    data: Html
    rows: Rows


def _shown(release: Release, stated: str, whole: Release | None = None, *, most: int, largest: int) -> _Shown:
    """A level, a window or a period as the page shows it, with the manifest of the whole; else it is one level."""
    whole = whole or release
    statement, ranking = whole.statement, ranking_of(release)
    shown = rows(release, ranking, most=most, largest=largest)
    files, words = names_of(statement), named(statement)
    content = filled(
        asset("content.html"),
        header=text.header(release, ranking),
        switch=joined(
            switch(statement), window_switch(statement, release.statement), period_switch(whole, release)
        ),
        promise=text.promise(statement),
        guarantee=text.guarantee(statement),
        notices=joined(text.usefulness(release, ranking), text.selection(release, shown)),
        map=_map(release, shown),
        list_note=text.list_note(release, ranking),
        ranked=joined(words.ranked),
        find=joined(f"Find a {words.one}"),
        caption=joined(f"{words.many[:1].upper()}{words.many[1:]} with their entropy; headings sort"),
        head=_head(statement, ranking, shown, trend=bool(whole.earlier)),
        body=_first_rows(shown, trend=bool(whole.earlier)),
        distribution=_distribution(release, ranking),
        reading=text.reading(release, ranking),
        use=text.use(statement),
        tables=joined(tag("code", files.csv), " and ", tag("code", files.parquet)),
        details=tag("code", files.details),
        citation=joined(citation(statement)),
        manifest=joined(stated),
    )
    return _Shown(content, script_json(_data(release, shown)), shown)


def _stored(shown: _Shown, number: int) -> Html:
    """A further level, inert until the script puts it in the place of the main one."""
    return joined(
        tag("template", shown.content, id=f"level-{number}"),
        tag("script", shown.data, type="application/json", id=f"data-{number}"),
        Html("\n"),
    )


def asset(name: str) -> str:
    """One of the files that come with this package."""
    return resources.files("locentropy.release.report").joinpath("assets", name).read_text(encoding="utf-8")


def _plain(release: Release) -> bytes:
    statement = release.statement
    title = statement.title if statement.private else f"{NOT_PRIVATE}: {statement.title}"
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'\"><title>{escape(title)}</title></head>\n"
        f"<body><h1>{escape(title)}</h1><p>{escape(str(statement.guarantee))}</p><p>This page could not be drawn. "
        "The numbers are in the table beside it, and the privacy guarantee in the manifest.</p></body></html>\n"
    ).encode()


def _policy(style: str, script: str) -> Html:
    parts = (
        "default-src 'none'",
        f"style-src {policy_hash(style)}",
        f"script-src {policy_hash(script)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return Html("; ".join(parts))


def _map(release: Release, shown: Rows) -> Html:
    """The map, or why there is none; nothing for a single location."""
    if len(release) == 1:
        return Html("")
    note = text.map_note(release, shown)
    return _section("map", "Map", joined(note, Html(asset("map.html"))) if shown.has_map else note)


def _distribution(release: Release, ranking: Ranking) -> Html:
    """The histogram of published values; nothing for a single location."""
    if len(release) == 1:
        return Html("")
    values = numbers(release.to_arrow(), "entropy")
    drawing = histogram(values[~np.isnan(values)], release.statement.entropy_unit)
    caption = tag("figcaption", text.distribution_note(release, ranking))
    return _section("distribution", "How entropy is distributed", tag("figure", drawing, caption))


def _section(name: str, title: str, body: Html) -> Html:
    heading = f"{name}-heading"
    return tag("section", tag("h2", title, id=heading), Html("\n"), body, aria_labelledby=heading)


def _data(release: Release, shown: Rows) -> dict[str, Any]:
    return {
        "unit": release.statement.entropy_unit,
        "total": len(release),
        "top": TOP,
        **table_file(release.statement, shown),
        "attributes": shown.attributes,
        "filters": shown.filters,
        "columns": shown.columns,
        **({} if shown.outlines is None else {"outlines": shown.outlines}),
    }


def _head(statement: Statement, ranking: Ranking, rows_shown: Rows, *, trend: bool) -> Html:
    """The headings of the table; the script makes them buttons that sort."""
    headings = _HEADINGS | {"name": named(statement).column}
    shown = [
        name
        for name in _HEADINGS
        if not (name == "rank" and len(ranking.rank) == 1)
        and not (name == "chance" and ranking.chance is None)
        and not (name == "std_error" and ranking.certainty is None)
        and not (name in _COUNTED and name not in rows_shown.columns)
        and not (name == "trend" and not trend)
    ]
    cells = [
        tag(
            "th",
            headings[name],
            scope="col",
            class_=f"count {name}" if name in _COUNTED else name,
            data_sort=name,
        )
        for name in shown
    ]
    cells.insert(shown.index("entropy") + 1, tag("th", class_="bar", scope="col", aria_label="Error bar"))
    return tag("tr", *cells)


def _first_rows(shown: Rows, *, trend: bool) -> Html:
    """The first rows, for browsers without scripts; the script replaces them."""
    columns = shown.columns
    made = []
    for at in range(min(TOP, len(shown))):
        if columns["rank"][at] is None:
            break  # places without a value come last
        name = columns.get("name", columns["id"])[at] or columns["id"][at]
        cells = [tag("td", str(columns["rank"][at]))] if len(shown) > 1 or shown.left_out else []
        cells.append(tag("td", tag("bdi", name)))
        # The script has the rule by which effective visitors are rounded; without it the entropy is enough.
        cells += [tag("td")] * trend
        cells += [tag("td"), tag("td", f"{columns['entropy'][at]:.2f}"), tag("td")]
        if "std_error" in columns:
            cells.append(tag("td", f"{columns['std_error'][at]:.2g}"))
        cells += [tag("td", f"{columns[name][at]:,.0f}") for name in _COUNTED if name in columns]
        if "chance" in columns:
            cells.append(tag("td", f"{columns['chance'][at]:.0%}"))
        made.append(tag("tr", *cells))
    return joined(*made)
