"""Which part of the eligible locations is published, by k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy_lab.reproduction.sweeping import FIRST_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy_lab.reproduction.counted import Counted
    from locentropy_lab.reproduction.settings import Settings

EVERY = "limit, every location"
LEFT = "limit, locations with a user left"


def published_ratios(sets: Sequence[Counted], settings: Settings) -> pa.Table:
    """By data, first-M rule, line and k. Eligible are locations of at least K users, before bounding."""
    rows: list[dict[str, Any]] = []
    s = settings
    for data in sets:
        eligible = data.user_counts >= s.eligible
        for first_m in FIRST_MS:
            bounds = Bounds(s.max_locations, s.max_visits, data.keep(first_m))
            users = data.profile(bounds).user_counts[eligible]
            for k in s.k_grid:
                test = LimitPTR(
                    s.epsilon,
                    delta=s.delta,
                    max_locations=s.max_locations,
                    max_visits=s.max_visits,
                    min_users=k,
                )
                shares = {
                    "limit-cb": float(np.mean(users >= k)),
                    "limit-ptr": float(np.mean(test.curve.probability(users - k))),
                    EVERY: 1.0,  # Algorithm 2 publishes all of L
                    LEFT: float(np.mean(users >= 1)),
                }
                rows += [
                    {"data": data.name, "first_m": first_m, "mechanism": name, "min_users": k, "ratio": ratio}
                    for name, ratio in shares.items()
                ]
    return pa.Table.from_pylist(rows)
