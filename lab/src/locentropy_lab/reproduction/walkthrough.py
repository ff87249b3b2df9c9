"""The page: the paper's evaluation section, claim by claim, with our figures and verdicts. It loads nothing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from locentropy.core.version import __version__
from locentropy_lab.reproduction.claims.claim import AGREES, CORRECTED, FAILS, OPEN, RULE
from locentropy_lab.reproduction.paper_data import DENSE, SPARSE
from locentropy_lab.reproduction.registry import EXPERIMENTS
from locentropy_lab.reproduction.settings import PAPER_DENSE, PAPER_SPARSE
from locentropy_lab.reproduction.summing_up import beside, table_2_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy_lab.reproduction.claims.claim import Finding
    from locentropy_lab.reproduction.reproducing import Reproduction

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
.note { background: #f3f3f3; border-left: 4px solid #666; padding: .6rem 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { font-size: .9rem; color: #333; }
.verdict { font-weight: 600; white-space: nowrap; }
.claim { border: 1px solid #ddd; padding: .6rem 1rem; margin: 1rem 0; }
.claim p { margin: .3rem 0; }
blockquote { margin: .3rem 0; padding-left: .8rem; border-left: 3px solid #bbb; }
"""
_MARKS: Final = {AGREES: "✓", CORRECTED: "≈", FAILS: "✗", OPEN: "–"}
"""Beside the words: a verdict is never told by colour."""


def walkthrough(made: Reproduction, drawn: Mapping[str, Mapping[str, str]]) -> str:
    """The page of a run, with the SVG of every figure by experiment and file."""
    sections = "\n".join(_section(name, made, drawn.get(name, {})) for name in made.results.tables)
    skipped = "".join(
        f"<li>{escape(name)}, {escape(EXPERIMENTS[name].title)}: {escape(why)}</li>"
        for name, why in made.skipped.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Location entropy: the paper again</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>The paper again, figure by figure</h1>
<p>To, Nguyen and Shahabi, “Differentially private publication of location entropy” (SIGSPATIAL 2016): its evaluation,
run anew with locentropy {escape(__version__)}, and what was added to it beside it.</p>
{_size(made)}
<p class="note">Noise is simulated from public seeds and exact values are shown. That is right for data that is made up
or public, and never for data about people whom a release is to protect.</p>
<h2>Verdicts</h2>
<p>{escape(RULE)} <em>As printed</em> are the paper's algorithms as printed with the lowest location ids kept, as in its
experiments; <em>corrected</em> are the algorithms of this package with the locations that a release would keep.</p>
<div class="scroll">{_overview(made.findings)}</div>
{f"<h2>Left out</h2><ul>{skipped}</ul>" if skipped else ""}
{beside(made.results)}
{sections}
</body>
</html>
"""


def _size(made: Reproduction) -> str:
    s = made.settings
    words = (
        f"Run “{s.label}”: Sparse has {s.sparse_users:,} users, Dense {s.dense_users:,}, both {s.locations:,} "
        f"locations; {s.seeds} seeds."
    )
    sizes = {SPARSE: PAPER_SPARSE, DENSE: PAPER_DENSE}
    smaller = [
        f"{name.capitalize()} has {n:,} users" for name, n in sizes.items() if not s.is_paper_size(name)
    ]
    if smaller:
        words += (
            f" In the paper {' and '.join(smaller)}: what is said about that here is about smaller data, and may come "
            "out otherwise in the full run."
        )
    return f'<p class="note">{escape(words)}</p>'


def _overview(findings: Sequence[Finding]) -> str:
    rows = "".join(
        f'<tr><td><a href="#{_anchor(each)}">{escape(each.claim.name)}</a></td><td>{escape(each.claim.experiment)}</td>'
        f'<td class="verdict">{_MARKS[each.verdict]} {escape(each.verdict)}</td><td>{escape(each.summary)}</td></tr>\n'
        for each in findings
    )
    head = "<tr><th>claim</th><th>where</th><th>verdict</th><th></th></tr>"
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _section(name: str, made: Reproduction, drawn: Mapping[str, str]) -> str:
    experiment = EXPERIMENTS[name]
    shown = "".join(
        f"<figure>{svg}<figcaption>{escape(file)}: {escape(experiment.about)}</figcaption></figure>\n"
        for file, svg in drawn.items()
    )
    if name == "table2":
        shown = f'<div class="scroll">{table_2_rows(made.results)}</div>'
    claims = "".join(_claim(each) for each in made.findings if each.claim.experiment == name)
    files = f"Numbers: numbers/{name}.parquet, numbers/{name}.csv."
    return f'<h2 id="{name}">{escape(name)}: {escape(experiment.title)}</h2>\n{shown}{claims}<p>{files}</p>'


def _claim(finding: Finding) -> str:
    claim = finding.claim
    rows = "".join(
        f"<tr><td>{'✓' if case.holds else '✗'}</td><td>{case.way}</td><td>{escape(case.where)}</td>"
        f"<td>{escape(case.numbers)}</td></tr>\n"
        for case in finding.cases
    )
    cases = (
        f"<details{'' if finding.verdict == AGREES else ' open'}><summary>{len(finding.cases)} cases</summary>"
        f'<div class="scroll"><table>{rows}</table></div></details>'
        if rows
        else ""
    )
    return f"""<div class="claim" id="{_anchor(finding)}"><p><strong>{escape(claim.name)}</strong></p>
<blockquote>{escape(claim.paper)}</blockquote>
<p>True where {escape(claim.judged)}.</p>
<p class="verdict">{_MARKS[finding.verdict]} {escape(finding.verdict)}</p><p>{escape(finding.summary)}</p>{cases}</div>
"""


def _anchor(finding: Finding) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in finding.claim.name)
