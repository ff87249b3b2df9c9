"""The numbers of the experiments that ran, as claims read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy_lab.reproduction.claims.claim import Way
    from locentropy_lab.reproduction.settings import Settings

    Reals = NDArray[np.float64]

FIRST_M: Final[dict[Way, str]] = {"as printed": "paper", "corrected": "release"}
TIED: Final = 0.05
"""Errors this close are equal: seeds decide which is the lower one."""
WAYS: Final[tuple[Way, ...]] = ("as printed", "corrected")


def line_of(mechanism: str, way: Way) -> str:
    """The name of one of the paper's mechanisms among the lines."""
    return f"{mechanism}-as-printed" if way == "as printed" else mechanism


@dataclass(frozen=True)
class Results:
    """Tables by the name of the experiment."""

    settings: Settings
    tables: dict[str, pa.Table]

    def rows(self, experiment: str, **equal: Any) -> pa.Table:
        """The rows of an experiment in which columns have these values."""
        table = self.tables[experiment]
        for name, value in equal.items():
            table = table.filter(pc.equal(table[name], value))
        return table

    def has(self, experiment: str, data: str) -> bool:
        """Whether an experiment ran on a data set."""
        return experiment in self.tables and self.rows(experiment, data=data).num_rows > 0

    def curve(
        self, experiment: str, varied: str, data: str, way: Way, mechanism: str, metric: str
    ) -> dict[float, float]:
        """The mean over the seeds of a metric, by the varied parameter; values that are not defined are left out."""
        table = self.rows(
            experiment, varied=varied, data=data, first_m=FIRST_M[way], mechanism=line_of(mechanism, way)
        )
        at, found = table[varied].to_numpy(), table[metric].to_numpy()
        means = {float(x): float(np.mean(found[at == x])) for x in np.unique(at)}
        return {x: mean for x, mean in means.items() if not np.isnan(mean)}


def is_best(errors: dict[str, float], name: str) -> bool:
    """Whether no other error is clearly lower."""
    return errors[name] <= (1 + TIED) * min(errors.values())


def rank_correlation(curve: dict[float, float]) -> float:
    """Spearman's, of the parameter and the error."""
    from locentropy.evaluation.metrics import spearman

    return spearman(np.array(list(curve)), np.array(list(curve.values())))
