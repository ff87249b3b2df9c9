"""The style of all figures: one colour for each mechanism, readable text, nothing that a page must load."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from locentropy.evaluation.plots import REFERENCE, LineStyle, line_styles
from locentropy.mechanisms.registry import mechanism_names
from locentropy_lab.reproduction.simulations import CONSTANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_STYLE: Final[dict[Any, Any]] = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.fonttype": "path",  # letters as shapes: a page needs no font
}
DPI: Final = 110


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style while the block runs."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure that needs no window system, and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows + 0.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.09, h_pad=0.06)  # type: ignore[union-attr, call-arg]
    return figure, [figure.add_subplot(rows, columns, at + 1) for at in range(rows * columns)]


def style_of(name: str) -> LineStyle:
    """Return colour and marker of a mechanism; one as printed has those of the corrected one."""
    return line_styles(mechanism_names())[name.removesuffix("-as-printed")]


def line(name: str) -> dict[str, Any]:
    """How a line is drawn: the colour of its mechanism, broken where it is as printed."""
    if name == CONSTANT:
        return {"color": REFERENCE, "linestyle": ":", "linewidth": 1.2}
    printed, style = name.endswith("-as-printed"), style_of(name)
    return {
        "color": style.colour, "marker": style.marker, "linestyle": "--" if printed else "-",
        "markerfacecolor": "none" if printed else style.colour,
    }  # fmt: skip


def shared_legend(figure: Figure, axis: Axes, columns: int) -> None:
    """Put one legend below all panels."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def titled(figure: Figure, words: str) -> Figure:
    """Put a title over all panels, and return the figure."""
    figure.suptitle(words, fontsize=11.5, fontweight="bold", x=0.01, ha="left")
    return figure


def plain_numbers(axis: Any) -> None:
    """Label an axis with 1000 rather than 10³."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def log_numbers(axis: Any, low: float, high: float) -> None:
    """Set the ticks of a logarithmic axis: also at 2 and 5 if it spans little."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    plain_numbers(axis)


def svg_of(name: str, figure: Figure) -> str:
    """Return a figure as SVG for a page; the same numbers give the same text."""
    import matplotlib as mpl

    written = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure.savefig(written, format="svg", metadata=nothing, dpi=DPI)
    figure.set_layout_engine("none")  # panels are where they belong; finding that takes longest
    text = written.getvalue()
    return text[text.index("<svg") :]


def png_of(figure: Figure) -> bytes:
    """Return a figure as PNG."""
    import matplotlib as mpl

    written = io.BytesIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(written, format="png", dpi=DPI, metadata={"Software": None})
    return written.getvalue()
