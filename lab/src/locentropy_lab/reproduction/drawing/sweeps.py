"""Errors of every line as one parameter varies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc

from locentropy.evaluation.plots import MUTED
from locentropy_lab.reproduction.drawing.style import (
    line,
    log_numbers,
    named,
    panels,
    plain_numbers,
    shared_legend,
    titled,
)
from locentropy_lab.reproduction.lines import CONSTANT, LINES
from locentropy_lab.reproduction.sweeping import METRICS

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from locentropy_lab.reproduction.settings import Settings

_AXES: Final = {
    "epsilon": "ε (larger: less protection)",
    "max_locations": "M, locations of a user at most",
    "max_visits": "C, visits of a user to a location at most",
}
_LETTERS: Final = {"epsilon": "ε", "max_locations": "M", "max_visits": "C"}
_METRICS: Final = {
    "kl": ("KL divergence, all locations", "KL divergence (nats)"),
    "kl_throwaway": ("KL divergence, Throwaway", "KL divergence (nats)"),
    "mse": ("MSE, all locations", "mean squared error (nats²)"),
    "mse_throwaway": ("MSE, Throwaway", "mean squared error (nats²)"),
}
_WAYS: Final = {
    "paper": "lowest ids, as in the paper's experiments",
    "release": "as a release would keep them",
}


def errors(name: str, table: pa.Table, settings: Settings) -> dict[str, Figure]:
    """One figure for each rule for the first M."""
    return {
        name if first_m == "paper" else f"{name}-release": _one(table, first_m, settings) for first_m in _WAYS
    }


def _one(table: pa.Table, first_m: str, settings: Settings) -> Figure:
    """A row for each data set and varied parameter, a column for each metric."""
    table = table.filter(pc.equal(table["first_m"], first_m))
    rows = list(dict.fromkeys(zip(table["data"].to_pylist(), table["varied"].to_pylist(), strict=True)))
    figure, axes = panels(len(rows), len(METRICS), 3.7, 3.1)
    for place, (data, varied) in enumerate(rows):
        part = table.filter(pc.and_(pc.equal(table["data"], data), pc.equal(table["varied"], varied)))
        for column, metric in enumerate(METRICS):
            _panel(axes[place * len(METRICS) + column], part, data, varied, metric)
    shared_legend(figure, axes[0], 5)
    varying = " and ".join(dict.fromkeys(_LETTERS[varied] for _, varied in rows))
    shown = {"epsilon": f"ε = {settings.epsilon:g}", "max_locations": f"M = {settings.max_locations}",
             "max_visits": f"C = {settings.max_visits}"}  # fmt: skip
    fixed = ", ".join([*shown.values(), f"k = {settings.min_users}"])
    return titled(figure, f"Varying {varying} (defaults {fixed}); first M: {_WAYS[first_m]}")


def _panel(axis: Axes, table: pa.Table, data: str, varied: str, metric: str) -> None:
    lowest, highest = np.inf, 0.0
    below: list[str] = []
    for name in (*LINES, CONSTANT):
        rows = table.filter(pc.equal(table["mechanism"], name))
        at, found = rows[varied].to_numpy(), rows[metric].to_numpy()
        values = np.unique(at)
        if not len(values):
            continue
        mean = np.array([np.mean(found[at == x]) for x in values])
        if name == CONSTANT and np.isnan(mean).all():
            continue
        if (
            mean <= 0
        ).any():  # where a place is skipped, this KL divergence may be below 0: metrics.kl_divergence
            below.append(named(name))
        drawn = np.where(mean > 0, mean, np.nan)  # nothing else is on a logarithmic axis
        style: dict[str, Any] = line(name)
        axis.plot(values, drawn, label=named(name), **style)
        if np.isnan(drawn).all() or name == CONSTANT:
            continue
        sd = np.array([np.std(found[at == x], ddof=1) if np.sum(at == x) > 1 else 0.0 for x in values])
        low = np.maximum(drawn - sd, drawn / 3)
        axis.fill_between(values, low, drawn + sd, color=style["color"], alpha=0.18, linewidth=0)
        lowest, highest = min(lowest, float(np.nanmin(drawn))), max(highest, float(np.nanmax(drawn)))
    _scales(axis, varied, np.unique(table[varied].to_numpy()))
    axis.set_yscale("log")
    if highest > 0:
        log_numbers(axis.yaxis, lowest, highest)
    if below:
        words = "at or below 0, not drawn:\n" + ", ".join(below)
        axis.text(0.98, 0.6, words, transform=axis.transAxes, ha="right", color=MUTED, fontsize=8.5)
    title, unit = _METRICS[metric]
    axis.set_title(f"{data.capitalize()}: {title}")
    axis.set_ylabel(unit)
    axis.set_xlabel(_AXES[varied])


def _scales(axis: Axes, varied: str, values: Any) -> None:
    if varied != "max_visits":
        axis.set_xscale("log")
        plain_numbers(axis.xaxis)
        axis.set_xticks(list(values), [f"{value:g}" for value in values])
        axis.set_xticks([], minor=True)
