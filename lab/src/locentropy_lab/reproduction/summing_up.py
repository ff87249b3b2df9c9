"""Tables for the page: Table 2, and how the paper's algorithms compare with what was added."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.evaluation.outcome import six_digits
from locentropy_lab.reproduction.lines import CONSTANT, LINES, label

if TYPE_CHECKING:
    from locentropy_lab.reproduction.claims.results import Results

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
    """What was added, beside the paper's own: mean squared errors by ε."""
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
    """Table 2, printed and ours."""
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
