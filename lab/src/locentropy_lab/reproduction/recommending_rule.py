"""The paper's rule for dense and sparse data, with its n_CB and with the corrected one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from locentropy.core.bounds import Bounds
from locentropy.evaluation.advice.density import DENSE_SHARE
from locentropy_lab.reproduction.sensitivities import crossings
from locentropy_lab.reproduction.sweeping import FIRST_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy_lab.reproduction.counted import Counted
    from locentropy_lab.reproduction.settings import Settings


def recommendations(sets: Sequence[Counted], settings: Settings) -> pa.Table:
    """For each data set, way of finding n_CB and first-M rule: is it dense, and what does the rule advise?"""
    rows: list[dict[str, Any]] = []
    for data in sets:
        for first_m in FIRST_MS:
            bounds = Bounds(settings.max_locations, settings.max_visits, data.keep(first_m))
            bounded = data.profile(bounds).user_counts
            for compared, n_cb in crossings(settings).items():
                there = np.inf if n_cb is None else n_cb
                share = float(np.mean(bounded >= there))
                dense = share >= DENSE_SHARE
                rows.append({
                    "data": data.name, "first_m": first_m, "compared": compared, "n_cb": n_cb,
                    "share": share, "share_before_bounding": float(np.mean(data.user_counts >= there)),
                    "dense": dense, "advised": "limit-ss" if dense else "limit-cb",
                })  # fmt: skip
    return pa.Table.from_pylist(rows)
