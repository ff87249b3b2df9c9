"""Figures of users and locations: activity, sparsity, published ratio, and a dot for each location's entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from locentropy.evaluation.plots import MUTED, REFERENCE
from locentropy_lab.reproduction.figures.style import (
    line,
    log_numbers,
    panels,
    shared_legend,
    style_of,
    titled,
)
from locentropy_lab.reproduction.simulations import SHOWN, label

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from locentropy_lab.reproduction.settings import Settings

    Reals = NDArray[np.float64]

_NAMES = {"paper": "first M: lowest ids (paper)", "release": "first M: as released"}


def activity(table: pa.Table) -> Figure:
    """Figure 3: activity of users."""
    figure, axes = panels(1, 2, 4.8, 3.3)
    for axis, what, words in zip(
        axes,
        ("locations", "largest visits"),
        ("locations of a user", "most visits of a user to one location"),
        strict=True,
    ):
        rows = table.filter(pc.equal(table["what"], what))
        _dots(axis, rows["value"].to_numpy(), rows["users"].to_numpy())
        axis.set_xlabel(words)
        axis.set_ylabel("users")
    return titled(figure, "Gowalla, New York: activity of users")


def sparsity(table: pa.Table) -> Figure:
    """Figure 4: locations by their number of users."""
    figure, [axis] = panels(1, 1, 6.0, 3.5)
    _dots(axis, table["users"].to_numpy(), table["locations"].to_numpy())
    axis.axvline(10, color=MUTED, linestyle="--", linewidth=1)
    axis.text(10.5, 0.95, "10 users", transform=axis.get_xaxis_transform(), color=MUTED, va="top")
    axis.set_xlabel("users of a location")
    axis.set_ylabel("locations")
    return titled(figure, "Gowalla, New York: sparsity")


def ratios(table: pa.Table, settings: Settings) -> Figure:
    """Figure 7: published ratio by k."""
    sets = list(dict.fromkeys(table["data"].to_pylist()))
    figure, axes = panels(1, len(sets), 4.0, 3.3)
    for axis, data in zip(axes, sets, strict=True):
        for first_m, words in _NAMES.items():
            for name in ("limit-cb", "limit-ptr"):
                keep = pc.and_(
                    pc.and_(pc.equal(table["data"], data), pc.equal(table["first_m"], first_m)),
                    pc.equal(table["mechanism"], name),
                )
                rows = table.filter(keep)
                style = line(name) | {"linestyle": "--" if first_m == "paper" else "-"}
                axis.plot(
                    rows["min_users"].to_numpy(),
                    100 * rows["ratio"].to_numpy(),
                    label=f"{label(name)}, {words}",
                    **style,
                )
        axis.set_ylim(-4, 104)
        axis.set_xticks(list(settings.k_grid))
        axis.set_xlabel("k, users of a published location at least")
        axis.set_title(data.capitalize())
    axes[0].set_ylabel(f"published, % of locations of ≥ {settings.eligible} users")
    shared_legend(figure, axes[0], 2)
    return titled(figure, f"Published ratio by k (K = {settings.eligible})")


def _dots(axis: Axes, at: NDArray[np.int64], height: NDArray[np.int64]) -> None:
    axis.scatter(at, height, s=12, color=REFERENCE, alpha=0.6, linewidths=0)
    axis.set_xscale("log")
    axis.set_yscale("log")
    log_numbers(axis.xaxis, 1, 1e9)
    log_numbers(axis.yaxis, 1, 1e9)


# --- entropy of every location ------------------------------------------------------------------------------------

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
    colour = REFERENCE if name == "actual" else style_of(name).colour
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
    axis.set_title(f"{data.capitalize()}: {'actual' if name == 'actual' else label(name)}")
    axis.set_xlabel("location, by actual entropy" if data == "gowalla" else "location id, most popular first")
    axis.set_ylabel("entropy (nats)")
