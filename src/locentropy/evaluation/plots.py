"""Pictures of an evaluation, drawn with matplotlib. They show exact values, so they are private.

matplotlib is the extra `plots`: `can_draw` tells whether it is there, and everything else works without it.
"""

from __future__ import annotations

import io
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.evaluation.compare import BANNER
from locentropy.evaluation.metrics import within
from locentropy.mechanisms.registry import mechanism_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from locentropy.evaluation.compare import Compared, Evaluation

# Okabe and Ito's colours, which colour-blind readers can tell apart. Markers are for print without colours; there is
# one more of them, so that mechanisms that share a colour differ by the marker.
_COLOURS: Final = ("#0072B2", "#D55E00", "#F0E442", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
_MARKERS: Final = ("o", "s", "X", "^", "D", "v", "P", "*")

REFERENCE: Final = "#000000"
"""The colour of what no mechanism made: a constant, the truth, a nominal level."""
MUTED: Final = "#666666"
"""The colour of words and lines in the background; dark enough to be read on white."""

PLOTS_MISSING: Final = (
    "Without pictures, because matplotlib is not installed. To draw them: pip install 'locentropy[plots]'"
)


class PlotsMissingWarning(UserWarning):
    """No pictures were drawn, because matplotlib is not installed."""


def can_draw() -> bool:
    """Return whether matplotlib can be imported."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class LineStyle:
    """How the lines and points of one mechanism look."""

    colour: str
    marker: str


def line_styles(names: Iterable[str]) -> dict[str, LineStyle]:
    """Return a style for each mechanism: built-in ones always look the same, and others take the first free styles."""
    built_in = {name: number for number, name in enumerate(mechanism_names())}
    wanted = list(dict.fromkeys(names))
    taken = {built_in[name] for name in wanted if name in built_in}
    free = (number for number in count() if number not in taken)
    numbers = {name: built_in[name] if name in built_in else next(free) for name in wanted}
    return {
        name: LineStyle(_COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)])
        for name, number in numbers.items()
    }


_STYLE: Final[dict[Any, Any]] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "path",  # letters as shapes: a page needs no font
}
_DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_ACROSS: Final = 3


def pictures(evaluation: Evaluation) -> dict[str, tuple[str, Figure]]:
    """Draw every picture; by the name of its file, with a caption."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        made = {
            "error-by-users": (
                "Mean squared error by the number of users of a place. Lines are means over the seeds, bands one "
                "standard deviation. Below the dashed line a mechanism does better than one constant for all places. "
                "An error of exactly 0 is not drawn.",
                error_by_users(evaluation),
            ),
            "true-and-published": (
                "Every place: its true entropy, and what would be published with the first seed. On the line both "
                "agree. Places that are withheld are not drawn.",
                true_and_published(evaluation),
            ),
        }
        if len(evaluation.epsilons) > 1:
            made["error-by-epsilon"] = (
                "Mean squared error over all places by ε; bars are one standard deviation over the seeds.",
                error_by_epsilon(evaluation),
            )
        if any(_has(each, "coverage") for each in evaluation.compared):
            made["coverage"] = (
                "How often the 95 % intervals contain the true entropy, over all places and over busy ones, and how "
                "often they contain what they are about. Intervals about the bounded entropy say nothing about the "
                "true one.",
                coverage(evaluation),
            )
    return made


def svg_of(name: str, figure: Figure) -> str:
    """Return a picture as SVG for use within a page; the same evaluation gives the same text."""
    import matplotlib as mpl

    written = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure.savefig(written, format="svg", metadata=nothing, dpi=150)
    text = written.getvalue()
    return text[text.index("<svg") :]


def error_by_users(evaluation: Evaluation) -> Figure:
    """Draw the mean squared error by n, a panel for each ε."""
    panels, styles = evaluation.by_epsilon, _styles(evaluation)
    figure, axes = _figure(len(panels), 1, width=9.0, height=3.6)
    at = np.arange(len(evaluation.octaves))
    lowest = []
    for axis, (epsilon, group) in zip(axes, panels, strict=True):
        for each in group:
            mean, sd = _by_users(each, "mse")
            lowest.append(mean[mean > 0].min(initial=np.inf))
            style = styles[each.name]
            shown = np.where(mean > 0, mean, np.nan)
            axis.plot(
                at, shown, label=each.label, linestyle=_dash(evaluation, each), color=style.colour,
                marker=style.marker, markersize=4,
            )  # fmt: skip
            # A band that reaches 0 would leave a logarithmic axis.
            axis.fill_between(
                at,
                np.maximum(shown - sd, shown / 10),
                shown + sd,
                color=style.colour,
                alpha=0.15,
                linewidth=0,
            )
        constant, _ = _by_users(evaluation.references[0], "mse")
        axis.plot(
            at, np.where(constant > 0, constant, np.nan), color=REFERENCE, linestyle="--", linewidth=1,
            label=evaluation.references[0].label,
        )  # fmt: skip
        axis.set_title(f"ε = {epsilon}", loc="left")
        axis.set_xticks(at, [_octave_label(evaluation, number) for number in range(len(at))], fontsize=7.5)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    floor = min(lowest, default=np.inf)
    for axis in axes:
        _error_axis(axis, bottom=max(floor / 3, 1e-7) if np.isfinite(floor) else None)
    axes[-1].set_xlabel(
        "users of a place, from each number to the next; in brackets, how many such places there are"
    )
    return _marked(figure, "Error by the users of a place")


def true_and_published(evaluation: Evaluation) -> Figure:
    """Draw true against published entropy for each candidate, at the middle ε."""
    panels, styles = evaluation.by_epsilon, _styles(evaluation)
    epsilon, group = panels[len(panels) // 2]
    across = min(_ACROSS, len(group))
    figure, axes = _figure(-(-len(group) // across), across, width=3.3 * across, height=3.1)
    most = max(float(evaluation.truth.entropy.max(initial=0.0)), 1.0)
    floor, ceiling = -0.08 * most, 1.6 * most
    for axis, each in zip(axes, group, strict=False):
        published = each.example.entropy
        axis.plot([0, most], [0, most], color=REFERENCE, linewidth=0.8)
        axis.scatter(
            evaluation.truth.entropy, np.clip(published, floor, ceiling), **_dots(published),
            color=styles[each.name].colour, linewidths=0, rasterized=True,
        )  # fmt: skip
        axis.set_xlim(-0.03 * most, 1.03 * most)
        axis.set_ylim(1.3 * floor, 1.3 * ceiling)  # room for words above all points
        axis.set_title(each.label, loc="left")
        words = _not_shown(published, floor, ceiling)
        axis.text(0.02, 0.98, words, transform=axis.transAxes, va="top", fontsize=7.5, color=MUTED)
        axis.set_xlabel("true entropy (nats)")
        axis.set_ylabel("published (nats)")
    for axis in axes[len(group) :]:
        axis.set_visible(False)
    return _marked(figure, f"True and published, ε = {epsilon}, one simulation")


def error_by_epsilon(evaluation: Evaluation) -> Figure:
    """Draw the mean squared error by ε."""
    styles = _styles(evaluation)
    figure, [axis] = _figure(1, 1, width=8.0, height=4.0)
    for label in dict.fromkeys(each.label for each in evaluation.compared if each.epsilon is not None):
        points = [each for each in evaluation.compared if each.label == label and each.epsilon is not None]
        points.sort(key=_epsilon)
        mean, sd = (
            np.array([getattr(each.scores["mse"], part) for each in points]) for part in ("mean", "sd")
        )
        axis.errorbar(
            [_epsilon(each) for each in points], mean, yerr=np.minimum(np.nan_to_num(sd), 0.9 * mean),
            color=styles[points[0].name].colour, marker=styles[points[0].name].marker, markersize=5, capsize=3,
            linestyle=_dash(evaluation, points[0]), label=label,
        )  # fmt: skip
    for reference, dash in zip(evaluation.references, ("--", ":"), strict=False):
        axis.axhline(
            reference.scores["mse"].mean, color=REFERENCE, linestyle=dash, linewidth=1, label=reference.label
        )
    axis.set_xscale("log")
    values = [float(Fraction(epsilon)) for epsilon in evaluation.epsilons]
    axis.set_xticks(values, evaluation.epsilons)
    axis.set_xticks([], minor=True)
    axis.set_xlabel("ε (larger: less protection)")
    _error_axis(axis)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _marked(figure, "Error by ε, all places")


_COVERAGES: Final = (
    ("coverage", "true entropy, all places", "o", 0.0),
    ("coverage_busy", "true entropy, busy places", "^", 0.2),
    ("coverage_own", "what the interval is about, all places", "D", -0.2),
)


def coverage(evaluation: Evaluation) -> Figure:
    """Draw the coverage of the intervals, a row for each candidate that has them."""
    styles = _styles(evaluation)
    rows = [each for _, group in evaluation.by_epsilon for each in group if _has(each, "coverage")]
    figure, [axis] = _figure(1, 1, width=8.0, height=1.5 + 0.42 * len(rows))
    for metric, words, marker, shift in _COVERAGES:
        inside = None if metric != "coverage_own" else "none"
        for number, each in enumerate(rows):
            colour = styles[each.name].colour
            axis.plot(
                [each.scores[metric].mean], [number + shift], marker=marker, markersize=6, color=colour,
                markerfacecolor=inside or colour, linestyle="none", clip_on=False,
            )  # fmt: skip
        axis.plot(
            [], [], marker=marker, color=MUTED, markerfacecolor=inside or MUTED, linestyle="none", label=words
        )
    axis.axvline(0.95, color=REFERENCE, linestyle="--", linewidth=1, label="nominal: 0.95")
    axis.set_xlim(0, 1)
    axis.set_yticks(range(len(rows)), [f"{each.label}, ε = {each.epsilon}" for each in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlabel("share of intervals that contain it")
    axis.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return _marked(figure, "Coverage of the 95 % intervals")


def _figure(rows: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Make a figure outside any window system, and its axes in a row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height * rows + 0.5), layout="constrained")
    return figure, [figure.add_subplot(rows, columns, number + 1) for number in range(rows * columns)]


def _error_axis(axis: Axes, bottom: float | None = None) -> None:
    """Make a logarithmic axis of errors with plain numbers on it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_yscale("log")
    if bottom is not None:
        axis.set_ylim(bottom=bottom)
    low, high = axis.get_ylim()
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_ylabel("mean squared error (nats²)")


_LETTERS_PER_INCH: Final = 9
"""Of a title, at its size."""


def _marked(figure: Figure, title: str) -> Figure:
    """Add a title that starts with the banner, so that a copy of the picture carries it too."""
    lines = textwrap.wrap(title, int(_LETTERS_PER_INCH * figure.get_figwidth()))
    figure.suptitle("\n".join([BANNER, *lines]), fontsize=10.5, fontweight="bold", x=0.01, ha="left")
    return figure


def _styles(evaluation: Evaluation) -> dict[str, LineStyle]:
    return line_styles(each.name for each in evaluation.compared)


def _epsilon(each: Compared) -> float:
    return float(Fraction(each.epsilon or 0))


def _by_users(each: Compared, metric: str) -> tuple[Any, Any]:
    rows = [row[metric] for row in each.by_users]
    return np.array([row.mean for row in rows]), np.nan_to_num(np.array([row.sd for row in rows]))


def _octave_label(evaluation: Evaluation, number: int) -> str:
    octave = evaluation.octaves[number]
    return f"{octave.low:,}\n({np.count_nonzero(within(evaluation.truth.users, octave)):,})"


def _dash(evaluation: Evaluation, each: Compared) -> Any:
    """Return a line style that differs between candidates of one colour."""
    styles = _styles(evaluation)
    colour = styles[each.name].colour
    same = dict.fromkeys(other.label for other in evaluation.compared if styles[other.name].colour == colour)
    return _DASHES[list(same).index(each.label) % len(_DASHES)]


def _has(each: Compared, metric: str) -> bool:
    return not np.isnan(each.scores[metric].mean)


def _dots(published: Any) -> dict[str, Any]:
    """Return the size and opacity of points: smaller and fainter where there are many."""
    many = int(np.count_nonzero(~np.isnan(published)))
    return {"s": 5 if many > 300 else 14, "alpha": float(np.clip(300 / max(many, 1), 0.12, 0.8))}


def _not_shown(published: Any, floor: float, ceiling: float) -> str:
    """Return what a scatter plot does not show: places that are withheld, or drawn at an edge."""
    there = ~np.isnan(published)
    words = [] if there.all() else [f"{there.sum():,} of {len(there):,} places published"]
    edge = np.count_nonzero((published < floor) | (published > ceiling))
    if edge:
        words.append(f"{edge / there.sum():.1%} beyond the edges")
    return "\n".join(words)
