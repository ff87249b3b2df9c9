"""Actual and noisy entropies, place by place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from locentropy_lab.reproduction.lines import PRINTED, Point
from locentropy_lab.reproduction.sweeping import FIRST_MS

if TYPE_CHECKING:
    from locentropy_lab.reproduction.lines import Simulations
    from locentropy_lab.reproduction.settings import Settings

SHOWN = (*PRINTED, "moments", "shares")


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
