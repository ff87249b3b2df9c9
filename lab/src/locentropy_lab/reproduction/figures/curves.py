"""Figures of curves: sensitivity and noise by public numbers, and the errors of every line as one parameter varies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc

from locentropy.evaluation.plots import MUTED, REFERENCE
from locentropy.mechanisms.paper.limit_cb import LimitCB
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.privacy.noise import LATTICE
from locentropy_lab import as_printed
from locentropy_lab.reproduction.figures.style import (
    line,
    log_numbers,
    panels,
    plain_numbers,
    shared_legend,
    titled,
)
from locentropy_lab.reproduction.sensitivities import crossings
from locentropy_lab.reproduction.simulations import CONSTANT, LINES, METRICS, label

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from locentropy_lab.reproduction.settings import Settings


_BY_C = ("#00224e", "#434e6c", "#7d7c78", "#b7a971", "#e0cb4f")
"""From dark to light (of cividis, which colour-blind people can tell apart): these curves are about no mechanism, so
that they have no mechanism's colour."""


def sensitivity_by_c(table: pa.Table) -> Figure:
    """Figure 1: global sensitivity by C."""
    figure, [axis] = panels(1, 1, 7.0, 3.6)
    visits, printed, exact = (table[name].to_numpy() for name in ("max_visits", "theorem_1", "exact"))
    finite = np.where(np.isfinite(printed), printed, np.nan)
    axis.plot(visits, finite, color=REFERENCE, linestyle="--", linewidth=2.6, label="Theorem 1 (C ≥ 2)")
    axis.plot(visits, exact, color=_BY_C[3], label="exact")
    axis.set_ylim(0, 1.1 * float(np.nanmax(exact)))
    axis.annotate(
        "C = 1: Theorem 1 is infinite, the value is ln 2", (1, exact[0]), (8, 0.35), color=MUTED,
        arrowprops={"arrowstyle": "->", "color": MUTED},
    )  # fmt: skip
    axis.set_xlabel("C, visits of a user to a location at most")
    axis.set_ylabel("global sensitivity (nats)")
    axis.legend(loc="lower right")
    return titled(figure, "Global sensitivity of location entropy by C")


def sensitivity_by_n(table: pa.Table) -> Figure:
    """Figure 5: local sensitivity by n."""
    figure, [axis] = panels(1, 1, 8.0, 4.0)
    for colour, c in zip(_BY_C, sorted(set(table["max_visits"].to_pylist())), strict=False):
        rows = table.filter(pc.equal(table["max_visits"], c))
        users = rows["users"].to_numpy()
        axis.plot(users, rows["theorem_2"].to_numpy(), color=colour, linestyle="--")
        axis.plot(users, rows["exact"].to_numpy(), color=colour, label=f"C = {c}")
    axis.plot([], [], color=MUTED, linestyle="--", label="Theorem 2")
    axis.plot([], [], color=MUTED, label="exact")
    axis.set_xscale("log")
    axis.set_yscale("log")
    log_numbers(axis.xaxis, 1, 1e9)
    log_numbers(axis.yaxis, 1, 1e9)
    axis.set_xlabel("n, users of a location")
    axis.set_ylabel("local sensitivity (nats)")
    axis.legend(loc="lower left", ncols=2)
    return titled(figure, "Local sensitivity of location entropy by n")


def noise(table: pa.Table) -> Figure:
    """Figure 2: noise by number of users."""
    figure, [axis] = panels(1, 1, 8.5, 4.2)
    for name in dict.fromkeys(table["mechanism"].to_pylist()):
        rows = table.filter(pc.equal(table["mechanism"], name))
        style = line(name) | {"markevery": 12}
        axis.plot(rows["users"].to_numpy(), rows["scale"].to_numpy(), label=label(name), **style)
    axis.set_xscale("log")
    axis.set_yscale("log")
    log_numbers(axis.xaxis, 1, 1e9)
    log_numbers(axis.yaxis, 1, 1e9)
    axis.set_xlabel("n, users of a location")
    axis.set_ylabel("scale of the noise (nats)")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return titled(figure, "Noise by number of users: ε = 5, C = 20, M = 5, k = 25, δ = 1e-8")


def crossing(settings: Settings) -> Figure:
    """n_CB: the noise of Limit-SS and of Limit-CB at the defaults."""
    s = settings
    users = np.unique(np.round(np.geomspace(10, 1000, 200)).astype(np.int64))
    bound = (s.epsilon, s.max_locations, s.max_visits)
    smooth = LimitSS(
        s.epsilon, delta=s.delta, max_locations=s.max_locations, max_visits=s.max_visits, floor=s.floor
    )
    crowd = LimitCB(
        s.epsilon,
        max_locations=s.max_locations,
        max_visits=s.max_visits,
        min_users=s.min_users,
        accept_no_guarantee=True,
    )
    flat = np.ones(len(users))
    scales = {
        "limit-ss-as-printed": as_printed.limit_ss_scales(
            users, s.epsilon, s.delta, s.max_locations, s.max_visits, s.floor
        ),
        "limit-cb-as-printed": flat * as_printed.limit_cb_scale(*bound, s.min_users),
        "limit-ss": smooth.scales(users) / LATTICE,
        "limit-cb": flat * crowd.scale / LATTICE,
    }
    figure, [axis] = panels(1, 1, 8.5, 4.0)
    for name, scale in scales.items():
        axis.plot(users, scale, label=label(name), **(line(name) | {"markevery": 25}))
    told: dict[int, list[str]] = {}
    for compared, n in crossings(settings).items():
        if n is not None:
            told.setdefault(n, []).append(f"by {compared}")
    for place, (n, kinds) in enumerate(sorted(told.items())):
        axis.axvline(n, color=MUTED, linewidth=1, linestyle=":")
        axis.text(
            n * 1.04, 0.98 - 0.075 * place, f"n_CB = {n} {', '.join(kinds)}", color=MUTED, va="top",
            transform=axis.get_xaxis_transform(),
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("log")
    log_numbers(axis.xaxis, 1, 100)
    log_numbers(axis.yaxis, 1, 100)
    axis.set_xlabel("n, users of a location")
    axis.set_ylabel("scale of the noise (nats)")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return titled(figure, "From how many users on is Limit-SS's noise the smaller one? (defaults)")


# --- errors by one parameter --------------------------------------------------------------------------------------

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
    """Figures 8, 9, 10 and 12: errors, one figure for each rule for the first M."""
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
            below.append(label(name))
        drawn = np.where(mean > 0, mean, np.nan)  # nothing else is on a logarithmic axis
        style: dict[str, Any] = line(name)
        axis.plot(values, drawn, label=label(name), **style)
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
