"""The pictures of docs/shares.md: synthetic people, simulated noise, and what Shares infers from it.

    python benchmarks/shares_figures.py            # writes docs/figures/shares-*.png and prints what they show

There is nobody's data in them: everybody is drawn from a distribution, and noise from a public seed.
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

import locentropy as le
from locentropy.evaluation.simulated_noise import SimulatedNoise

PLACES, PEOPLE, BUSY, DELTA = 2000, 20_000, 20, 1e-8
INK, ACCENT, PALE = "#1f2933", "#c2410c", "#94a3b8"


class Town(NamedTuple):
    """One row for each person and place."""

    user: np.ndarray
    place: np.ndarray
    visits: np.ndarray

    @property
    def crowds(self) -> np.ndarray:
        return np.bincount(self.place, minlength=PLACES)

    @property
    def truth(self) -> np.ndarray:
        """The entropy of every place."""
        total = np.maximum(np.bincount(self.place, self.visits, PLACES), 1.0)
        return np.log(total) - np.bincount(self.place, self.visits * np.log(self.visits), PLACES) / total

    def estimates(self, mechanism: le.Shares, seed: int) -> tuple[np.ndarray, le.mechanisms.Estimates]:
        """The noisy look, in units of its noise, and what is published."""
        table = pa.table({"user": self.user, "location": self.place, "visits": self.visits})
        listed = le.mechanisms.Locations.of(np.arange(PLACES))
        with le.private.open_queries(le.Visits(table), locations=listed) as queries:
            measured = mechanism.measure(queries, listed, SimulatedNoise(seed))
        look = measured.values["look"] / mechanism.public_scales(listed)["look"]
        return look, mechanism.estimate(measured, listed)


def town(places_of_user: np.ndarray, of_kind: np.ndarray | None = None, seed: int = 1) -> Town:
    """People who choose so many places each by popularity; those of a kind among the places of that kind."""
    draw = np.random.default_rng(seed)
    popular = np.exp(draw.normal(0, 1.3, PLACES))
    user = np.repeat(np.arange(places_of_user.size), places_of_user)
    place = np.empty(user.size, dtype=np.int64)
    kind = np.zeros(user.size, dtype=np.int64) if of_kind is None else of_kind[user]
    for each in np.unique(kind):
        among = np.arange(PLACES) if of_kind is None else np.flatnonzero(np.arange(PLACES) % 2 == each)
        chances = popular[among] / popular[among].sum()
        place[kind == each] = draw.choice(among, np.count_nonzero(kind == each), p=chances)
    user, place = np.unique(np.stack([user, place]), axis=1)
    return Town(user, place, np.ceil(np.exp(draw.normal(0, 1.2, user.size))).astype(np.int64))


def summary(found: le.mechanisms.Estimates, truth: np.ndarray, chosen: np.ndarray) -> str:
    """Error, bias and coverage over some of the places."""
    assert found.low is not None
    assert found.high is not None
    off = (found.entropy - truth)[chosen]
    covered = ((found.low <= truth) & (truth <= found.high))[chosen].mean()
    return f"MSE {np.mean(off**2):.2f}, bias {off.mean():+.2f}, intervals contain {covered:.0%}"


def look_figure(folder: Path) -> None:
    """What the presence at a place says, at three budgets."""
    draw = np.random.default_rng(0)
    made = town(np.ceil(np.exp(draw.normal(1.6, 1.0, PEOPLE // 4))).astype(np.int64))
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.2), sharey=True)
    for axis, epsilon in zip(axes, (0.1, 1.0, 10.0), strict=True):
        look, found = made.estimates(le.Shares(epsilon), 2)
        shown = np.arcsinh(look)
        thin = np.argsort(shown)[:: max(1, PLACES // 300)]
        axis.plot(shown, made.truth, ".", ms=1.5, color=PALE, label="true", rasterized=True)
        axis.fill_between(shown[thin], found.low[thin], found.high[thin], color=ACCENT, alpha=0.15, lw=0)
        label = "published, with interval"
        axis.plot(shown[thin], found.entropy[thin], ".", ms=2.5, color=ACCENT, label=label)
        axis.set_title(f"ε = {epsilon:g}", fontsize=10, color=INK)
        axis.set_xlabel("look, in units of its noise (arcsinh)")
        print(f"look, ε = {epsilon:g}: {summary(found, made.truth, np.ones(PLACES, dtype=bool))}")
    axes[0].set_ylabel("entropy, nats")
    axes[0].legend(loc="upper left", fontsize=7, frameon=False)
    saved(figure, folder / "shares-look.png")


def clustered_figure(folder: Path) -> None:
    """When the assumption is wrong: visitors of some places have few others, visitors of the rest many."""
    draw = np.random.default_rng(0)
    kind = (np.arange(PEOPLE) >= 0.9 * PEOPLE).astype(np.int64)
    made = town(np.where(kind == 0, draw.integers(1, 3, PEOPLE), draw.integers(8, 25, PEOPLE)), kind)
    names = ((0, ACCENT, "people of 1 or 2 places"), (1, INK, "people of 8 to 24 places"))
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.6), sharey=True)
    for axis, delta in zip(axes, (0.0, DELTA), strict=True):
        _, found = made.estimates(le.Shares(5.0, delta=delta), 4)
        title = f"δ = {delta:g}" if delta else "without δ"
        for each, colour, name in names:
            rows = np.arange(PLACES) % 2 == each
            label = f"visited by {name}"
            axis.plot(made.truth[rows], found.entropy[rows], ".", ms=1.8, color=colour, label=label)
            busy = rows & (made.crowds >= BUSY)
            print(f"clustered, {title}, {name}, busy: {summary(found, made.truth, busy)}")
        axis.plot([0, 7], [0, 7], lw=0.8, color=PALE)
        axis.set_title(title, fontsize=10, color=INK)
        axis.set_xlabel("true entropy, nats")
    axes[0].set_ylabel("published, nats")
    axes[0].legend(loc="upper left", fontsize=7, frameon=False)
    saved(figure, folder / "shares-clustered.png")


def saved(figure: plt.Figure, path: Path) -> None:
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "figures"
    look_figure(folder)
    clustered_figure(folder)
