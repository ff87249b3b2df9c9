"""The pictures of docs/shares.md: synthetic places, simulated noise, and what Shares infers from it.

    python benchmarks/shares_figures.py            # writes docs/figures/shares-*.png and prints what they show

There is nobody's data in them: every visitor is drawn from a distribution, and noise from a public seed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pyarrow as pa

mpl.use("Agg")

from matplotlib import pyplot as plt

from locentropy.core.share_profile import ShareProfile
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.shares.estimator.inference import Inferred, infer
from locentropy.mechanisms.shares.measurements import SPLIT_MAX_VISITS, UNIT, Answers, ShareQueries

PLACES, BUSY, MOST = 4000, 20, 10_000_000
INK, ACCENT, PALE = "#1f2933", "#c2410c", "#94a3b8"


class Town(NamedTuple):
    """Rows of visitors: where, how often, and with what presence; and the truth."""

    place: np.ndarray
    visits: np.ndarray
    presence: np.ndarray
    crowds: np.ndarray

    @property
    def truth(self) -> np.ndarray:
        total = np.maximum(np.bincount(self.place, self.visits, PLACES), 1.0)
        logs = np.bincount(self.place, self.visits * np.log(self.visits), PLACES)
        return np.log(total) - logs / total


def town(epsilon: float, places_of, seed: int = 1) -> Town:
    """Crowds of all sizes; `places_of(draw, place)` says how many places each visitor has."""
    draw = np.random.default_rng(seed)
    crowds = draw.poisson(np.exp(draw.normal(1.5, 1.4, PLACES)))
    place = np.repeat(np.arange(PLACES), crowds)
    visits = np.maximum(1, np.rint(np.exp(draw.normal(0.6, 1.0, place.size)))).astype(np.int64)
    presence = np.minimum(ShareQueries(epsilon).largest, UNIT // places_of(draw, place).astype(np.int64))
    return Town(place, visits, presence, crowds)


def alike(draw: np.random.Generator, place: np.ndarray) -> np.ndarray:
    """Visitors of all places alike: some go to few places, some to many."""
    return np.ceil(np.exp(draw.exponential(1.3, place.size))).clip(1, 500)


def apart(draw: np.random.Generator, place: np.ndarray) -> np.ndarray:
    """Every other place is visited by people of one or two places, the others by people of many."""
    return np.where(place % 2 == 0, draw.integers(1, 3, place.size), draw.integers(8, 25, place.size))


def answers(made: Town, epsilon: float, seed: int) -> Answers:
    """What Shares measures in a town."""
    queries = ShareQueries(epsilon)
    profile = ShareProfile.from_rows(
        pa.array(np.arange(PLACES)),
        (UNIT, queries.largest, SPLIT_MAX_VISITS),
        (made.place, np.minimum(made.visits, SPLIT_MAX_VISITS), made.presence),
        (made.presence, made.presence),
        (made.visits, made.presence),
    )
    return queries.answers(queries.privatize(profile, SimulatedNoise(seed)))


def summary(found: Inferred, truth: np.ndarray, chosen: np.ndarray) -> str:
    """Error, bias and coverage over some of the places."""
    off = (found.entropy - truth)[chosen]
    covered = ((found.low <= truth) & (truth <= found.high))[chosen].mean()
    return f"MSE {np.mean(off**2):.2f}, bias {off.mean():+.2f}, intervals contain {covered:.0%}"


def look_figure(folder: Path) -> None:
    """What the presence at a place says, at three budgets."""
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.2), sharey=True)
    for axis, epsilon in zip(axes, (0.1, 1.0, 10.0), strict=True):
        made = town(epsilon, alike)
        asked = answers(made, epsilon, 2)
        found = infer(asked, MOST)
        shown = np.arcsinh(asked.look / asked.look_scale)
        order = np.argsort(shown)
        axis.plot(shown, made.truth, ".", ms=1.5, color=PALE, label="true", rasterized=True)
        thin = order[:: max(1, PLACES // 300)]
        axis.fill_between(shown[thin], found.low[thin], found.high[thin], color=ACCENT, alpha=0.15, lw=0)
        axis.plot(
            shown[thin], found.entropy[thin], ".", ms=2.5, color=ACCENT, label="published, with interval"
        )
        axis.set_title(f"ε = {epsilon:g}", fontsize=10, color=INK)
        axis.set_xlabel("look, in units of its noise (arcsinh)")
        print(f"look, ε = {epsilon:g}: {summary(found, made.truth, np.ones(PLACES, dtype=bool))}")
    axes[0].set_ylabel("entropy, nats")
    axes[0].legend(loc="upper left", fontsize=7, frameon=False)
    saved(figure, folder / "shares-look.png")


def busy_figure(folder: Path) -> None:
    """Two columns: right on average for all places, and for busy ones."""
    made = town(1.0, alike)
    found = infer(answers(made, 1.0, 3), MOST)
    busy = made.crowds >= BUSY
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 3.3), sharey=True)
    for axis, name in zip(axes, ("entropy", "entropy_busy"), strict=True):
        value = getattr(found, name)
        axis.plot(
            made.truth[~busy], value[~busy], ".", ms=1.5, color=PALE, label=f"fewer than {BUSY} visitors"
        )
        axis.plot(made.truth[busy], value[busy], ".", ms=2.5, color=ACCENT, label=f"{BUSY} and more")
        axis.plot([0, 7], [0, 7], lw=0.8, color=INK)
        axis.set_title(name, fontsize=10, color=INK)
        axis.set_xlabel("true entropy, nats")
        errors = [np.mean((value - made.truth)[rows] ** 2) for rows in (np.ones(PLACES, dtype=bool), busy)]
        print(f"{name}: MSE of all places {errors[0]:.2f}, of busy ones {errors[1]:.2f}")
    axes[0].set_ylabel("published, nats")
    axes[0].legend(loc="upper left", fontsize=7, frameon=False)
    saved(figure, folder / "shares-busy.png")


def clustered_figure(folder: Path) -> None:
    """When the assumption is wrong: visitors of some places have few others, visitors of the rest many."""
    made = town(5.0, apart)
    found = infer(answers(made, 5.0, 4), MOST)
    figure, axis = plt.subplots(figsize=(4.2, 3.6))
    for kind, colour, name in ((0, ACCENT, "people of 1 or 2 places"), (1, INK, "people of 8 to 24 places")):
        rows = np.arange(PLACES) % 2 == kind
        axis.plot(
            made.truth[rows], found.entropy[rows], ".", ms=1.8, color=colour, label=f"visited by {name}"
        )
        print(f"clustered, {name}: {summary(found, made.truth, rows)}")
        busy = rows & (made.crowds >= BUSY)
        print(f"clustered, {name}, busy: {summary(found, made.truth, busy)}")
    axis.plot([0, 7], [0, 7], lw=0.8, color=PALE)
    axis.set_xlabel("true entropy, nats")
    axis.set_ylabel("published, nats")
    axis.legend(loc="upper left", fontsize=7, frameon=False)
    saved(figure, folder / "shares-clustered.png")


def saved(figure: plt.Figure, path: Path) -> None:
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "figures"
    target.mkdir(parents=True, exist_ok=True)
    for draw_figure in (look_figure, busy_figure, clustered_figure):
        draw_figure(target)
