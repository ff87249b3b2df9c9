"""report.html: a release as one page that opens from a file and needs no network.

Everything on it comes from a `Release`. The browser is told to load nothing and to run only the script that is named
by its SHA-256, so a text in the release stays text, even if it were not escaped.
"""

from __future__ import annotations

import re
import warnings
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from locentropy.core.html import Html, filled, joined, policy_hash, script_json, tag
from locentropy.core.language import DEFAULT_LANGUAGE, words_in
from locentropy.core.strict_yaml import dump_document
from locentropy.release.files import names_of
from locentropy.release.manifest import heading, manifest
from locentropy.release.report import overview
from locentropy.release.report.citation import citation, table_file
from locentropy.release.report.drawn_background import drawn_background
from locentropy.release.report.guarantee_section import guarantee
from locentropy.release.report.histogram import histogram
from locentropy.release.report.levels import switch
from locentropy.release.report.list_table import first_rows, head
from locentropy.release.report.naming import kind_of, ranked
from locentropy.release.report.notes import distribution_note, labels_of, list_note, map_note
from locentropy.release.report.ranking import TOP, numbers, ranking_of
from locentropy.release.report.reading import reading, use
from locentropy.release.report.rows import LARGEST, MOST, rows
from locentropy.release.report.series import history, period_switch, periods
from locentropy.release.report.windows import by_window, window_switch

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.release.release import Release
    from locentropy.release.report.ranking import Ranking
    from locentropy.release.report.rows import Rows


SCRIPTS: Final = (
    "words.js",
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

_WORD: Final = re.compile(r"\{\{([a-z_.]+)\}\}")
"""How files of this package name a text: by its key, in two pairs of braces."""


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
    """The page of a release, with at most so many places. The same release gives the same bytes.

    It is in the language of the release, and so is what it shows of earlier releases, whatever their pages are in.
    """
    statement, say = release.statement, words_in(release.statement.language)
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
    main, *others = (_shown(say, level, stated, whole, most=most, largest=largest) for level in levels)
    made = filled(
        worded("template.html", say),
        language=joined(say.language),
        policy=_policy(style, script),
        title=joined(overview.title(say, statement)),
        style=Html(style),
        banner=overview.banner(say, statement),
        content=main.content,
        footer=say.html(
            "page.footer", id=tag("code", statement.release_id), version=statement.software_version
        ),
        data=main.data,
        words=script_json({"decimal": say.decimal, "texts": say.under("script.")}),
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


def _shown(
    say: Words, release: Release, stated: str, whole: Release | None = None, *, most: int, largest: int
) -> _Shown:
    """A level, a window or a period as the page shows it, with the manifest of the whole; else it is one level."""
    whole = whole or release
    statement, ranking = whole.statement, ranking_of(release)
    shown = rows(say, release, ranking, most=most, largest=largest)
    files, kind = names_of(statement), kind_of(statement)
    tables = say.html("files.tables", csv=tag("code", files.csv), parquet=tag("code", files.parquet))
    content = filled(
        worded("content.html", say),
        header=overview.header(say, release, ranking),
        switch=joined(
            switch(say, statement),
            window_switch(say, statement, release.statement),
            period_switch(say, whole, release),
        ),
        promise=overview.promise(say, statement),
        guarantee=guarantee(say, statement),
        notices=joined(
            overview.no_signal(say, release) or overview.usefulness(say, release, ranking),
            overview.selection(say, release, shown),
        ),
        map=_map(say, release, shown),
        list_note=list_note(say, release, ranking),
        ranked=joined(ranked(say, statement)),
        find=joined(say("list.find", of=kind)),
        caption=joined(say("list.caption", of=kind)),
        head=head(say, statement, ranking, shown, trend=bool(whole.earlier)),
        body=first_rows(say, shown, trend=bool(whole.earlier)),
        first_only=say.html("list.noscript", tables=tables),
        distribution=_distribution(say, release, ranking),
        reading=reading(say, release, ranking),
        use=use(say, statement),
        where=say.html(
            "files.where",
            tables=tables,
            details=tag("code", files.details),
            verify=tag("code", "locentropy verify"),
        ),
        citation=joined(citation(say, statement)),
        # The manifest is one text for all readers, and has no other language.
        manifest=tag("pre", stated, lang=None if say.language == DEFAULT_LANGUAGE else DEFAULT_LANGUAGE),
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


def worded(name: str, say: Words) -> str:
    """One of the files that come with this package, with its texts; what is left are names for `filled`."""
    return _WORD.sub(lambda found: escape(say(found[1])).replace("$", "$$"), asset(name))


def _plain(release: Release) -> bytes:
    statement, say = release.statement, words_in(release.statement.language)
    title = escape(overview.title(say, statement))
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="{say.language}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'\"><title>{title}</title></head>\n"
        f"<body><h1>{title}</h1><p>{escape(statement.guarantee.in_words(say))}</p><p>{escape(say('page.plain'))}"
        "</p></body></html>\n"
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


def _map(say: Words, release: Release, shown: Rows) -> Html:
    """The map, or why there is none; nothing for a single location."""
    if len(release) == 1:
        return Html("")
    note = map_note(say, release, shown)
    drawn = joined(note, Html(worded("map.html", say))) if shown.has_map else note
    return _section("map", say("map.title"), drawn)


def _distribution(say: Words, release: Release, ranking: Ranking) -> Html:
    """The histogram of published values; nothing for a single location."""
    if len(release) == 1:
        return Html("")
    values = numbers(release.to_arrow(), "entropy")
    drawing = histogram(say, values[~np.isnan(values)], release.statement.entropy_unit)
    caption = tag("figcaption", distribution_note(say, release, ranking))
    return _section("distribution", say("distribution.title"), tag("figure", drawing, caption))


def _section(name: str, title: str, body: Html) -> Html:
    heading = f"{name}-heading"
    return tag("section", tag("h2", title, id=heading), Html("\n"), body, aria_labelledby=heading)


def _data(release: Release, shown: Rows) -> dict[str, Any]:
    return {
        "unit": release.statement.entropy_unit,
        "total": len(release),
        "top": TOP,
        **table_file(release.statement),
        "labels": labels_of(release, shown),
        "attributes": shown.attributes,
        "filters": shown.filters,
        "columns": shown.columns,
        **({} if shown.outlines is None else {"outlines": shown.outlines}),
    }
