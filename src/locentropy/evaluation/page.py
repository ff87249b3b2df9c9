"""One page about an evaluation, for its owner: everything is in it, and it asks nothing of any network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from locentropy.evaluation.compare import NOT_FOR_PUBLICATION
from locentropy.evaluation.outcome import ERRORS, METRICS, OTHERS, rows, told_best
from locentropy.evaluation.plots import BANNER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.evaluation.compare import Evaluation

# Nothing may be loaded from anywhere: the browser sees to it, whatever the page says.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
.banner { background: #7a1600; color: #fff; padding: .8rem 1rem; font-weight: 600; position: sticky; top: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr.reference td { color: #555; font-style: italic; }
figure { margin: 2rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { font-size: .9rem; color: #333; }
dt { font-weight: 600; } dt code { font-weight: 400; } dd { margin: 0 0 .4rem 1rem; }
"""


def page(evaluation: Evaluation, drawn: Sequence[tuple[str, str]]) -> str:
    """The page: banner, advice, table, plots (a caption and SVG each), and what every metric means."""
    places, seeds = len(evaluation.truth.entropy), evaluation.seeds
    advice = "".join(f"<li>{escape(words)}</li>" for words in told_best(evaluation))
    figures = "".join(
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>\n" for caption, svg in drawn
    )
    meanings = "".join(f"<dt>{_term(name)}</dt><dd>{escape(words)}</dd>" for name, words in METRICS.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{escape(BANNER)}: mechanisms compared</title>
<style>{_STYLE}</style>
</head>
<body>
<div class="banner">{escape(NOT_FOR_PUBLICATION)}</div>
<h1>Mechanisms compared</h1>
<p>{places:,} places, {seeds:,} simulated release{"" if seeds == 1 else "s"} of each.
Errors are against the true entropy, in nats. Simulated noise protects nobody.</p>
<h2>Lowest error</h2>
<ul>{advice}</ul>
<h2>Mean squared error, in nats²</h2>
<div class="scroll">{_table(evaluation, ERRORS)}</div>
<h2>Everything else</h2>
<div class="scroll">{_table(evaluation, OTHERS)}</div>
<h2>Pictures</h2>
{figures}
<h2>What the numbers mean</h2>
<p>As the tables call them, and in brackets as the files do.</p>
<dl>{meanings}</dl>
<p>All of them, with standard deviations, are in evaluation-PRIVATE.csv and evaluation-PRIVATE.json.</p>
<div class="banner">{escape(BANNER)}</div>
</body>
</html>
"""


def _term(name: str) -> str:
    """A number as the tables call it, and as the files do; some are in the files only."""
    heading = (ERRORS | OTHERS).get(name)
    called = f"<code>{escape(name)}</code>"
    return called if heading is None else f"{escape(heading)} ({called})"


def _table(evaluation: Evaluation, columns: Mapping[str, str]) -> str:
    headings, body = rows(evaluation, columns)
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    written = "".join(
        ("<tr>" if number < len(evaluation.compared) else '<tr class="reference">')
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>\n"
        for number, row in enumerate(body)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{written}</tbody></table>"
