"""Simulated releases: the lines of every comparison, one parameter varied at a time, and one release in full.

The lines are the paper's algorithms as printed, the corrected ones, and what was added to them. Values are clipped to
[0, ln N], as in the paper's experiments: N, the number of users, is public there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.evaluation import metrics
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.paper.limit_cb import LimitCB
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy_lab import as_printed
from locentropy_lab.reproduction.data_counts import FirstM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy.visits.engines.base import Progress
    from locentropy_lab.reproduction.data_counts import DataCounts
    from locentropy_lab.reproduction.settings import Settings

    Reals = NDArray[np.float64]

PAPERS: Final = ("limit", "limit-ss", "limit-cb")
"""The paper's own."""
PRINTED: Final = tuple(f"{name}-as-printed" for name in PAPERS)
ADDED: Final = ("limit-ptr", "moments", "shares")
LINES: Final = (*PRINTED, *PAPERS, *ADDED)
SHOWN: Final = (*PRINTED, "moments", "shares")
"""Those of which one release is shown in full."""
CONSTANT: Final = "best constant"
"""One number for all locations, the mean of the true entropies: nothing published should be worse."""

LABELS: Final = {
    "limit": "Limit",
    "limit-ss": "Limit-SS",
    "limit-cb": "Limit-CB",
    "limit-ptr": "Limit-PTR",
    "moments": "Moments",
    "shares": "Shares",
    "baseline": "Baseline",
    CONSTANT: "Best constant",
}

SCHEMA: Final = pa.schema([
    ("data", pa.string()), ("first_m", pa.string()), ("varied", pa.string()), ("mechanism", pa.string()),
    ("epsilon", pa.float64()), ("max_locations", pa.int64()), ("max_visits", pa.int64()), ("min_users", pa.int64()),
    ("seed", pa.int64()), ("mse", pa.float64()), ("kl", pa.float64()), ("mse_throwaway", pa.float64()),
    ("kl_throwaway", pa.float64()), ("published", pa.float64()),
])  # fmt: skip
METRICS: Final = ("kl", "kl_throwaway", "mse", "mse_throwaway")
FIRST_MS: Final[tuple[FirstM, ...]] = get_args(FirstM)


def label(name: str) -> str:
    """What a line is called in legends and sentences."""
    bare = name.removesuffix("-as-printed")
    return LABELS[bare] + (", as printed" if bare != name else "")


@dataclass(frozen=True)
class Point:
    """One choice of parameters."""

    epsilon: float
    max_locations: int
    max_visits: int
    min_users: int
    first_m: FirstM

    @classmethod
    def default(cls, settings: Settings, first_m: FirstM) -> Point:
        """The paper's defaults."""
        s = settings
        return cls(s.epsilon, s.max_locations, s.max_visits, s.min_users, first_m)


class Simulations:
    """Simulated releases of one data set."""

    def __init__(self, data: DataCounts, settings: Settings) -> None:
        self.data = data
        self._settings = settings
        self._shares: dict[tuple[float, int], Reals] = {}

    def bounds(self, point: Point) -> Bounds:
        """The bounds of a point, with its rule for the first M."""
        return Bounds(point.max_locations, point.max_visits, self.data.keep(point.first_m))

    def crowded(self, point: Point) -> NDArray[np.bool_]:
        """The places that Limit-CB publishes: the paper's Throwaway."""
        return self.data.profile(self.bounds(point)).user_counts >= point.min_users

    def published(self, name: str, point: Point, seed: int) -> Reals | None:
        """What a line would publish, NaN where withheld; None where the printed sensitivity is infinite."""
        if name in PRINTED:
            return self._printed(name, point, seed)
        if name == "shares":  # has neither M nor C, so that all points of an ε share it
            if (point.epsilon, seed) not in self._shares:
                made = Shares(point.epsilon, max_users=self.data.users)
                self._shares[point.epsilon, seed] = self._estimated(made, seed)
            return self._shares[point.epsilon, seed]
        keep = self.data.keep(point.first_m)
        return self._estimated(_mechanism(name, point, keep, self.data.users, self._settings), seed)

    def _estimated(self, mechanism: Any, seed: int) -> Reals:
        entropy: Reals = mechanism.estimate(
            mechanism.measure(self.data, self.data.listed, SimulatedNoise(seed)), self.data.listed
        ).entropy
        return entropy

    def _printed(self, name: str, point: Point, seed: int) -> Reals | None:
        if point.max_visits < 2:
            return None
        profile = self.data.profile(self.bounds(point))
        users, published = profile.user_counts, np.array(True)
        bound = (point.epsilon, point.max_locations, point.max_visits)
        if name.startswith("limit-cb"):
            scale = as_printed.limit_cb_scale(*bound, point.min_users)
            published = users >= point.min_users
        elif name.startswith("limit-ss"):
            scale = as_printed.limit_ss_scales(
                users, point.epsilon, self._settings.delta, *bound[1:], self._settings.floor
            )
        else:
            scale = np.array(as_printed.limit_scale(*bound))
        noisy = as_printed.noisy(profile.entropy, scale, seed, published).entropy
        return np.clip(noisy, 0.0, math.log(self.data.users))


@lru_cache(maxsize=256)
def _mechanism(name: str, point: Point, keep: Keep, users: int, settings: Settings) -> Any:
    """The corrected mechanism; cached, because calibrating it takes time."""
    bound = {"max_locations": point.max_locations, "max_visits": point.max_visits}
    common: dict[str, Any] = {"keep": keep, "max_users": users, **bound}
    k = point.min_users
    if name == "limit":
        return Limit(point.epsilon, **common)
    if name == "limit-ss":
        return LimitSS(point.epsilon, delta=settings.delta, floor=settings.floor, **common)
    if name == "limit-cb":
        return LimitCB(point.epsilon, min_users=k, accept_no_guarantee=True, **common)
    if name == "limit-ptr":
        return LimitPTR(point.epsilon, delta=settings.delta, min_users=k, **common)
    return Moments(point.epsilon, **common)


def grid(varied: str, settings: Settings) -> Sequence[Any]:
    """The paper's grid of a parameter."""
    return {
        "epsilon": settings.epsilons, "max_locations": settings.m_grid, "max_visits": settings.c_grid
    }[varied]  # fmt: skip


def sweep(simulations: Simulations, varied: str, settings: Settings, progress: Progress) -> pa.Table:
    """A row for each first-M rule, value, line and seed."""
    data, rows = simulations.data, []
    values = grid(varied, settings)
    for place, first_m in enumerate(FIRST_MS):
        for at, value in enumerate(values):
            progress(
                f"Varying {varied.replace('_', ' ')} on {data.name.capitalize()}",
                (place + at / len(values)) / len(FIRST_MS),
            )
            point = replace(Point.default(settings, first_m), **{varied: value})
            rows += _at(simulations, varied, point, settings.seeds)
    data.forget_profiles()
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _at(simulations: Simulations, varied: str, point: Point, seeds: int) -> list[dict[str, Any]]:
    true, crowded = simulations.data.entropy, simulations.crowded(point)
    about = {
        "data": simulations.data.name, "first_m": point.first_m, "varied": varied, "epsilon": point.epsilon,
        "max_locations": point.max_locations, "max_visits": point.max_visits, "min_users": point.min_users,
    }  # fmt: skip
    constant = np.full(len(true), true.mean())
    rows = [about | {"mechanism": CONSTANT, "seed": 0} | errors(true, constant, crowded)]
    for name in LINES:
        for seed in range(seeds):
            published = simulations.published(name, point, seed)
            if published is not None:
                rows.append(about | {"mechanism": name, "seed": seed} | errors(true, published, crowded))
    return rows


def errors(true: Reals, published: Reals, crowded: NDArray[np.bool_]) -> dict[str, float]:
    """The paper's metrics, over all places and over its Throwaway."""
    return {
        "mse": metrics.mse(true, published),
        "kl": metrics.kl_divergence(true, published),
        "mse_throwaway": metrics.mse(true[crowded], published[crowded]),
        "kl_throwaway": metrics.kl_divergence(true[crowded], published[crowded]),
        "published": metrics.published_ratio(published),
    }


def distribution(simulations: Simulations, settings: Settings) -> pa.Table:
    """One simulated release of each line at the defaults; locations in the paper's order."""
    data = simulations.data
    # Sparse and Dense by id, Gowalla by the actual entropy, as in the paper.
    order = np.arange(len(data)) if data.name != "gowalla" else np.argsort(-data.entropy, kind="stable")
    tables = []
    for first_m in FIRST_MS:
        point = Point.default(settings, first_m)
        columns = {"actual": data.entropy[order]}
        for name in SHOWN:
            published = simulations.published(name, point, 0)
            if published is not None:
                columns[name] = published[order]
        about = {
            "data": [data.name] * len(data),
            "first_m": [first_m] * len(data),
            "location": data.ids[order],
        }
        tables.append(pa.table(about | columns))
    return pa.concat_tables(tables)
