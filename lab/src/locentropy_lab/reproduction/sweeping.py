"""One parameter varied, the others at the paper's defaults: the errors of every line, on every seed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
import pyarrow as pa

from locentropy.evaluation import metrics
from locentropy_lab.reproduction.counted import FirstM
from locentropy_lab.reproduction.lines import CONSTANT, LINES, Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.visits.engines.base import Progress
    from locentropy_lab.reproduction.lines import Simulations
    from locentropy_lab.reproduction.settings import Settings

    Reals = NDArray[np.float64]

SCHEMA: Final = pa.schema([
    ("data", pa.string()), ("first_m", pa.string()), ("varied", pa.string()), ("mechanism", pa.string()),
    ("epsilon", pa.float64()), ("max_locations", pa.int64()), ("max_visits", pa.int64()), ("min_users", pa.int64()),
    ("seed", pa.int64()), ("mse", pa.float64()), ("kl", pa.float64()), ("mse_throwaway", pa.float64()),
    ("kl_throwaway", pa.float64()), ("published", pa.float64()),
])  # fmt: skip
METRICS: Final = ("kl", "kl_throwaway", "mse", "mse_throwaway")
FIRST_MS: Final[tuple[FirstM, ...]] = get_args(FirstM)


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
