"""The experiments, by the numbers of the paper's tables and figures, and the data sets that they run on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from locentropy_lab.reproduction import data_statistics, sensitivities
from locentropy_lab.reproduction.paper_data import DENSE, GOWALLA, SPARSE, counted, identity
from locentropy_lab.reproduction.simulations import Simulations, distribution, sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from locentropy.visits.engines.base import Progress
    from locentropy_lab.reproduction.data_counts import DataCounts
    from locentropy_lab.reproduction.result_files import Store
    from locentropy_lab.reproduction.settings import Settings


class DataSets:
    """The data sets of a run: each is counted when it is first needed, and kept for later runs."""

    def __init__(self, settings: Settings, store: Store, gowalla: Path | None, progress: Progress) -> None:
        self.settings = settings
        self.progress = progress
        self._store = store
        self._gowalla = gowalla
        self._identities: dict[str, dict[str, Any]] = {}
        self._simulations: dict[str, Simulations] = {}

    def has(self, name: str) -> bool:
        """Whether a data set is available: Gowalla only if there is a file."""
        return name != GOWALLA or self._gowalla is not None

    def identity(self, name: str) -> dict[str, Any]:
        """What decides the counts of a data set."""
        if name not in self._identities:
            self._identities[name] = identity(name, self.settings, self._gowalla)
        return self._identities[name]

    def counted(self, name: str) -> DataCounts:
        """What was counted of a data set."""
        return self.simulations(name).data

    def simulations(self, name: str) -> Simulations:
        """Simulated releases of a data set."""
        if name not in self._simulations:
            data = self._store.counted(
                self.identity(name), lambda: counted(name, self.settings, self._gowalla, self.progress)
            )
            self._simulations[name] = Simulations(data, self.settings)
        return self._simulations[name]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper, and how its numbers are made."""

    name: str
    title: str
    about: str
    """What it shows, and what was added."""
    compute: Callable[[DataSets], pa.Table]
    data: tuple[str, ...] = ()
    """The data sets it uses; one that is missing is left out, unless none is left."""


def _sets(data_sets: DataSets, *names: str) -> list[str]:
    return [name for name in names if data_sets.has(name)]


def _sweeps(*wanted: tuple[str, str]) -> Callable[[DataSets], pa.Table]:
    """The errors of every line, a parameter varied on a data set."""

    def compute(data_sets: DataSets) -> pa.Table:
        return pa.concat_tables([
            sweep(data_sets.simulations(name), varied, data_sets.settings, data_sets.progress)
            for name, varied in wanted
        ])  # fmt: skip

    return compute


def _distributions(*names: str) -> Callable[[DataSets], pa.Table]:
    def compute(data_sets: DataSets) -> pa.Table:
        return pa.concat_tables([
            distribution(data_sets.simulations(name), data_sets.settings) for name in names
        ])  # fmt: skip

    return compute


_BOTH: Final = (DENSE, SPARSE)
_ALL: Final = (SPARSE, DENSE, GOWALLA)
_LINES: Final = (
    "Lines are means over the seeds, bands one standard deviation. Broken lines are the algorithms as printed, whole "
    "ones the corrected algorithms and what was added. Errors are in nats, against the true entropy."
)

EXPERIMENTS: Final = {
    each.name: each
    for each in (
        Experiment(
            "fig1", "Global sensitivity by C", "Theorem 1, and the exact value.",
            lambda _: sensitivities.by_visits(),
        ),
        Experiment(
            "fig2", "Noise by number of users",
            "Scale of the Laplace noise (ε = 5, C_max = 1000, M_max = 100, C = 20, M = 5, δ = 1e-8, k = 25), as "
            "printed and corrected. The paper draws natural logarithms of it.",
            lambda data_sets: sensitivities.noise_by_users(data_sets.settings),
        ),
        Experiment(
            "fig3", "Gowalla: activity of users", "Locations per user, and the most visits of a user to one location.",
            lambda data_sets: data_statistics.activity(data_sets.counted(GOWALLA)), (GOWALLA,),
        ),
        Experiment(
            "fig4", "Gowalla: sparsity", "Locations by their number of users.",
            lambda data_sets: data_statistics.sparsity(data_sets.counted(GOWALLA)), (GOWALLA,),
        ),
        Experiment(
            "fig5", "Local sensitivity by n", "Theorem 2, and the exact value, for some C.",
            lambda _: sensitivities.by_users(),
        ),
        Experiment(
            "table2", "Statistics of the data", "Printed and recomputed.",
            lambda data_sets: data_statistics.table_2([data_sets.counted(name) for name in _sets(data_sets, *_ALL)]),
            _ALL,
        ),
        Experiment(
            "fig6", "Actual and noisy entropies, Dense and Sparse",
            "One simulated release of each at the defaults; the paper's algorithms as printed, Moments and Shares "
            "added.",
            _distributions(*_BOTH), _BOTH,
        ),
        Experiment(
            "fig7", "Published ratio by k",
            "Of the locations with at least K = 20 users. Limit-PTR added: the part that is expected. Moments and "
            "Shares publish every location of the list.",
            lambda data_sets: data_statistics.published_ratios(
                [data_sets.counted(name) for name in _sets(data_sets, *_ALL)], data_sets.settings
            ),
            _ALL,
        ),
        Experiment(
            "fig8", "Varying ε", _LINES, _sweeps((DENSE, "epsilon"), (SPARSE, "epsilon")), _BOTH,
        ),
        Experiment(
            "fig9", "Varying M", _LINES, _sweeps((DENSE, "max_locations"), (SPARSE, "max_locations")), _BOTH,
        ),
        Experiment(
            "fig10", "Varying C",
            _LINES + " Theorem 1 is infinite at C = 1, so that printed lines begin at 2.",
            _sweeps((DENSE, "max_visits"), (SPARSE, "max_visits")), _BOTH,
        ),
        Experiment(
            "fig11", "Actual and noisy entropies, Gowalla",
            "As above; locations in the order of their actual entropy.", _distributions(GOWALLA), (GOWALLA,),
        ),
        Experiment(
            "fig12", "Gowalla: varying ε and M", _LINES,
            _sweeps((GOWALLA, "epsilon"), (GOWALLA, "max_locations")), (GOWALLA,),
        ),
        Experiment(
            "recommendations", "Recommendations",
            "Where the noise of Limit-SS falls below that of Limit-CB at the defaults: n_CB as the paper finds it, and "
            "as it is.",
            lambda data_sets: data_statistics.recommendations(
                [data_sets.counted(name) for name in _sets(data_sets, *_ALL)], data_sets.settings
            ),
            _ALL,
        ),
    )
}  # fmt: skip
"""In the paper's order."""
