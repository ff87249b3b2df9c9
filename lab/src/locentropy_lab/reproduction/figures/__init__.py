"""Figures of every experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy_lab.reproduction.figures import curves, locations

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from locentropy_lab.reproduction.settings import Settings


def figures_of(name: str, table: pa.Table, settings: Settings) -> dict[str, Figure]:
    """Return the figures of an experiment by the names of their files; none for a table."""
    from locentropy_lab.reproduction.figures.style import styled

    with styled():
        if name == "fig1":
            return {name: curves.sensitivity_by_c(table)}
        if name == "fig2":
            return {name: curves.noise(table)}
        if name == "fig3":
            return {name: locations.activity(table)}
        if name == "fig4":
            return {name: locations.sparsity(table)}
        if name == "fig5":
            return {name: curves.sensitivity_by_n(table)}
        if name in ("fig6", "fig11"):
            return locations.distributions(name, table, settings)
        if name == "fig7":
            return {name: locations.ratios(table, settings)}
        if name in ("fig8", "fig9", "fig10", "fig12"):
            return curves.errors(name, table, settings)
        if name == "recommendations":
            return {name: curves.crossing(settings)}
        return {}
