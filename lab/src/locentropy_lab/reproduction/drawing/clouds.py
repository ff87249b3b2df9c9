"""Actual and noisy entropies, a dot for each location."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from locentropy.evaluation.plots import MUTED, REFERENCE, colour_of
from locentropy_lab.reproduction.distributions import SHOWN
from locentropy_lab.reproduction.drawing.style import log_numbers, named, panels, titled

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from locentropy_lab.reproduction.settings import Settings

    Reals = NDArray[np.float64]

_WAYS = {"paper": "lowest ids, as in the paper's experiments", "release": "as a release would keep them"}


def distributions(name: str, table: pa.Table, settings: Settings) -> dict[str, Figure]:
    """Figures 6 and 11, one for each rule for the first M."""
    return {
        name if first_m == "paper" else f"{name}-release": _one(table, first_m, words, settings)
        for first_m, words in _WAYS.items()
    }


def _one(table: pa.Table, first_m: str, words: str, settings: Settings) -> Figure:
    table = table.filter(pc.equal(table["first_m"], first_m))
    sets = list(dict.fromkeys(table["data"].to_pylist()))
    columns = ("actual", *SHOWN)
    per_row = 3
    rows_each = -(-len(columns) // per_row)
    figure, axes = panels(rows_each * len(sets), per_row, 3.9, 2.5)
    for place, data in enumerate(sets):
        rows = table.filter(pc.equal(table["data"], data))
        actual = rows["actual"].to_numpy()
        top = 1.15 * float(max(np.nanmax(rows[each].to_numpy()) for each in columns))
        own = axes[place * rows_each * per_row : (place + 1) * rows_each * per_row]
        for axis, each in zip(own, columns, strict=True):
            _cloud(axis, each, data, rows[each].to_numpy(), actual, top)
    title = f"Actual and published entropy at ε = {settings.epsilon:g}, M = {settings.max_locations}, "
    title += f"C = {settings.max_visits}; first M: {words}"
    return titled(figure, title)


def _cloud(axis: Axes, name: str, data: str, published: Reals, actual: Reals, top: float) -> None:
    at = np.arange(1, len(published) + 1)
    colour = REFERENCE if name == "actual" else colour_of(name)
    axis.scatter(at, published, s=3, color=colour, alpha=0.35, linewidths=0, rasterized=True)
    if name != "actual":
        axis.plot(at, actual, color=REFERENCE, linewidth=0.5, alpha=0.5, rasterized=True)
        there = ~np.isnan(published)
        if not there.all():
            words = f"{there.sum():,} of {len(there):,} published"
            axis.text(
                0.98, 0.97, words, transform=axis.transAxes, ha="right", va="top", color=MUTED, fontsize=8.5
            )
    axis.set_xscale("log")
    log_numbers(axis.xaxis, 1, 1e9)
    axis.set_ylim(-0.03 * top, top)
    axis.set_title(f"{data.capitalize()}: {'actual' if name == 'actual' else named(name)}")
    axis.set_xlabel("location, by actual entropy" if data == "gowalla" else "location id, most popular first")
    axis.set_ylabel("entropy (nats)")
