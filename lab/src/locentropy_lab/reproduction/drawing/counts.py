"""Figures that count users and locations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from locentropy.evaluation.plots import MUTED, REFERENCE
from locentropy_lab.reproduction.drawing.style import (
    line,
    log_numbers,
    named,
    panels,
    shared_legend,
    titled,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from locentropy_lab.reproduction.settings import Settings

_NAMES = {"paper": "first M: lowest ids (paper)", "release": "first M: as released"}


def activity(table: pa.Table) -> Figure:
    """Figure 3."""
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
    """Figure 4."""
    figure, [axis] = panels(1, 1, 6.0, 3.5)
    _dots(axis, table["users"].to_numpy(), table["locations"].to_numpy())
    axis.axvline(10, color=MUTED, linestyle="--", linewidth=1)
    axis.text(10.5, 0.95, "10 users", transform=axis.get_xaxis_transform(), color=MUTED, va="top")
    axis.set_xlabel("users of a location")
    axis.set_ylabel("locations")
    return titled(figure, "Gowalla, New York: sparsity")


def ratios(table: pa.Table, settings: Settings) -> Figure:
    """Figure 7."""
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
                    label=f"{named(name)}, {words}",
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
