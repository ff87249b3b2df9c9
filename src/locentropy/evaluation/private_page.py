"""An evaluation to read: the tables and sentences that the screen shows too, and one private page with all of it.

The page holds everything it shows and loads nothing from any network.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

from locentropy.evaluation.compare import BANNER, NOT_FOR_PUBLICATION
from locentropy.evaluation.outcome import BUSY_FROM, METRICS
from locentropy.evaluation.plots import PLOTS_MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy.evaluation.compare import Evaluation, Score

_NONE: Final = "—"
ERRORS: Final = {
    "mse": "all places",
    "mse_published": "published ones",
    "mse_throwaway": "Throwaway",
    "mse_busy": f"n ≥ {BUSY_FROM}",
    "mse_busy_of_entropy_busy": f"n ≥ {BUSY_FROM}, entropy_busy",
    "bias": "bias (nats)",
}
"""Headings of the first table: mean squared errors over which places, and the bias."""
OTHERS: Final = {
    "kl": "KL",
    "spearman": "rank corr.",
    "published": "published %",
    "coverage": "covers true %",
    "coverage_own": "covers own %",
    "width": "width",
    "top_10": "top 10 found %",
    "top_100": "top 100 found %",
}
"""Headings of the second table."""
_SHARES: Final = frozenset({"published", "coverage", "coverage_own", "top_10", "top_100"})


def rows(evaluation: Evaluation, columns: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return headings, and a row for each candidate, by ε, and each reference; without columns that hold no number."""
    everything = [each for _, group in evaluation.by_epsilon for each in group] + evaluation.references
    filled = [name for name in columns if not all(math.isnan(each.scores[name].mean) for each in everything)]
    headings = ["mechanism", "ε", *(columns[name] for name in filled)]
    return headings, [
        [each.label, each.epsilon or _NONE, *(_cell(name, each.scores[name]) for name in filled)]
        for each in everything
    ]


def _cell(name: str, score: Score) -> str:
    if name == "mse":
        return _with_sd(score)
    return _percent(score.mean) if name in _SHARES else _number(score.mean)


def best_sentences(evaluation: Evaluation) -> list[str]:
    """Say which candidate did best, in a sentence for each ε."""
    constant = _number(evaluation.references[0].scores["mse"].mean)
    return [
        f"ε = {best.epsilon or 'not stated'}: {best.label}, MSE {_with_sd(best.error)} nats²"
        + ("" if best.published == 1 else f" with {_percent(best.published)} % of places published")
        + (
            f"; one constant for all places would do better ({constant})."
            if best.worse_than_constant
            else f", against {constant} of the best constant."
        )
        for best in evaluation.best()
    ]


def _number(value: float) -> str:
    """Three digits."""
    if math.isnan(value):
        return _NONE
    value = 0.0 if abs(value) < 1e-12 else value  # rounding errors of zero
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _percent(value: float) -> str:
    """A fraction in per cent."""
    return _NONE if math.isnan(value) else f"{100 * value:.1f}"


def _with_sd(score: Score) -> str:
    """A mean and its standard deviation."""
    if math.isnan(score.sd):
        return _number(score.mean)
    return f"{_number(score.mean)} ± " + (f"{score.sd:.2g}" if score.sd < 100 else f"{score.sd:,.0f}")


# Nothing may be loaded from anywhere: the browser enforces it, whatever the page says.
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
    """Return the page: banner, lowest errors, tables, pictures, and what every metric means.

    `drawn` has a caption and an SVG for each picture.
    """
    places, seeds = len(evaluation.truth.entropy), evaluation.seeds
    best = "".join(f"<li>{escape(sentence)}</li>" for sentence in best_sentences(evaluation))
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
<p>{places:,} places, {seeds:,} simulated release{"" if seeds == 1 else "s"} of each mechanism.
Errors are against the true entropy, in nats. Simulated noise protects nobody.</p>
<h2>Lowest error</h2>
<ul>{best}</ul>
<h2>Mean squared error, in nats²</h2>
<div class="scroll">{_table(evaluation, ERRORS)}</div>
<h2>Everything else</h2>
<div class="scroll">{_table(evaluation, OTHERS)}</div>
<h2>Pictures</h2>
{figures or f"<p>{escape(PLOTS_MISSING)}</p>"}
<h2>What the numbers mean</h2>
<p>As the tables call them, and in brackets as the files do.</p>
<dl>{meanings}</dl>
<p>All of them, with standard deviations, are in evaluation-PRIVATE.csv and evaluation-PRIVATE.json.</p>
<div class="banner">{escape(BANNER)}</div>
</body>
</html>
"""


def _term(name: str) -> str:
    """A metric as the tables call it, and as the files do; some are in the files only."""
    heading = (ERRORS | OTHERS).get(name)
    code = f"<code>{escape(name)}</code>"
    return code if heading is None else f"{escape(heading)} ({code})"


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
