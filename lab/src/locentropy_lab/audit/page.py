"""An audit as one page: nothing of it is loaded from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from locentropy.core.version import __version__
from locentropy.release.report.html import Html, filled, joined, policy_hash, tag
from locentropy_lab.audit import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy_lab.audit.outcome import Audit

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top; }
.verdict { padding: .6rem 1rem; border-left: .4rem solid; font-weight: 600; }
"""

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src $policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of locentropy</title>
<style>$style</style>
</head>
<body>
$body
</body>
</html>
"""


def page(found: Audit) -> str:
    """The page."""
    body = [
        tag("h1", f"Audit of locentropy {__version__}"),
        tag("p", words.told_verdict(found), class_="verdict"),
        tag("h2", "What the worst neighbours cost"),
        tag(
            "p", "Computed from the integers and scales that each mechanism really uses, in both directions."
        ),
        _table(words.NUMERICAL, words.numerical_rows(found)),
        tag("h2", "What attackers could show"),
        tag("p", "Lower bounds on ε from outputs alone, each wrong with a probability of at most 1 %."),
        _table(words.STATISTICAL, words.statistical_rows(found)),
    ]
    if found.statistical:
        body.append(tag("p", words.told_teeth(found.teeth)))
    if found.mutation:
        body += [
            tag("h2", "Planted faults"),
            tag("p", words.told_faults(found)),
            _table(words.TRIED, words.tried_rows(found)),
        ]
    return filled(_PAGE, policy=Html(policy_hash(_STYLE)), style=Html(_STYLE), body=joined(*body))


def _table(headings: Sequence[str], rows: words.Rows) -> Html:
    head = tag("tr", *(tag("th", heading) for heading in headings))
    body = joined(*(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")
