"""The HTML page of a run: the paper's evaluation, claim by claim, with figures and verdicts. It loads nothing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.number_format import six_digits
from locentropy.core.version import __version__
from locentropy_lab.reproduction.claims.judging import (
    CORRECTED_ONLY,
    FAILS,
    HOLDS,
    MOSTLY,
    OPEN,
    PRINTED_ONLY,
    RULE,
)
from locentropy_lab.reproduction.experiments import EXPERIMENTS
from locentropy_lab.reproduction.paper_data import DENSE, SPARSE
from locentropy_lab.reproduction.settings import PAPER_DENSE, PAPER_SPARSE
from locentropy_lab.reproduction.simulations import CONSTANT, LINES, label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from locentropy_lab.reproduction.claims.judging import Finding, Results
    from locentropy_lab.reproduction.run import Reproduction


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
_MARKS: Final = {HOLDS: "✓", MOSTLY: "✓", PRINTED_ONLY: "≠", CORRECTED_ONLY: "≠", FAILS: "✗", OPEN: "–"}
"""Signs beside the words: no verdict is told by colour alone."""


def page(made: Reproduction, drawn: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page of a run, with the SVG of every figure by experiment and file."""
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
<p class="note">Noise is simulated from public seeds and exact values are shown. That is right for synthetic or
public data, and never for data about people whom a release is to protect.</p>
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
        f"<details{'' if finding.verdict == HOLDS else ' open'}><summary>{len(finding.cases)} cases</summary>"
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


_WHERE: Final = (("fig8", "dense"), ("fig8", "sparse"), ("fig12", "gowalla"))


def errors_by_line(
    results: Results, experiment: str, data: str, first_m: str
) -> dict[str, dict[float, float]]:
    """MSE over all locations by line and ε, means over the seeds."""
    rows = results.rows(experiment, data=data, first_m=first_m, varied="epsilon")
    names, at, mse = (rows[name].to_numpy(zero_copy_only=False) for name in ("mechanism", "epsilon", "mse"))
    return {
        name: {float(e): float(mse[(names == name) & (at == e)].mean()) for e in np.unique(at[names == name])}
        for name in (*LINES, CONSTANT)
    }


def beside(results: Results) -> str:
    """Return the section that compares the added mechanisms with the paper's: mean squared errors by ε."""
    parts = []
    for experiment, data in _WHERE:
        if results.has(experiment, data):
            for first_m, words in (("paper", "lowest ids kept, as in the paper"), ("release", "as released")):
                table = errors_by_line(results, experiment, data, first_m)
                parts.append(f"<h3>{data.capitalize()}, first M: {words}</h3>{_errors(table)}")
    if not parts:
        return ""
    about = (
        "<h2>What was added, beside the paper's own</h2><p>Mean squared error over all locations, in nats², against "
        "the true entropy; a withheld location counts as 0. The paper's own MSE is on entropy in steps of 0.1, about "
        "100 times as large. Limit-CB protects nobody; Moments and Shares keep ε-differential privacy without a δ.</p>"
    )
    return about + "".join(f'<div class="scroll">{part}</div>' for part in parts)


def _errors(table: dict[str, dict[float, float]]) -> str:
    epsilons = sorted({e for row in table.values() for e in row})
    head = "".join(f'<th class="number">ε = {e:g}</th>' for e in epsilons)
    rows = "".join(
        f"<tr><td>{escape(label(name))}</td>"
        + "".join(f'<td class="number">{row[e]:.3g}</td>' if e in row else "<td></td>" for e in epsilons)
        + "</tr>\n"
        for name, row in table.items()
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"


def table_2_rows(results: Results) -> str:
    """Return Table 2 as HTML, printed and recomputed."""
    rows = "".join(
        f"<tr><td>{escape(row['data'].capitalize())}</td><td>{escape(row['row'])}</td>"
        f'<td class="number">{six_digits(row["printed"])}</td><td class="number">{six_digits(row["ours"])}</td>'
        f'<td class="number">{six_digits(row["ours_meant"])}</td><td>{escape(row["meant"])}</td></tr>\n'
        for row in results.rows("table2").to_pylist()
    )
    head = (
        '<tr><th>data</th><th>row</th><th class="number">printed</th><th class="number">ours, as labelled</th>'
        '<th class="number">ours, as meant</th><th>what the number is</th></tr>'
    )
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
