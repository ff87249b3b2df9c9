"""Every experiment: the paper's tables and figures by their numbers there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from locentropy_lab.reproduction import describing, distributions, publishing_ratio, sensitivities
from locentropy_lab.reproduction.paper_data import DENSE, GOWALLA, SPARSE
from locentropy_lab.reproduction.recommending_rule import recommendations
from locentropy_lab.reproduction.sweeping import sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from locentropy_lab.reproduction.laboratory import Laboratory


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper, and how its numbers are made."""

    name: str
    title: str
    about: str
    """What it shows, and what was added."""
    compute: Callable[[Laboratory], pa.Table]
    data: tuple[str, ...] = ()
    """The data sets it uses; one that is missing is left out, unless none is left."""


def _sets(laboratory: Laboratory, *names: str) -> list[str]:
    return [name for name in names if laboratory.has(name)]


def _sweeps(*wanted: tuple[str, str]) -> Callable[[Laboratory], pa.Table]:
    """The errors of every line, a parameter varied on a data set."""

    def compute(laboratory: Laboratory) -> pa.Table:
        return pa.concat_tables([
            sweep(laboratory.simulations(name), varied, laboratory.settings, laboratory.progress)
            for name, varied in wanted
        ])  # fmt: skip

    return compute


def _distributions(*names: str) -> Callable[[Laboratory], pa.Table]:
    def compute(laboratory: Laboratory) -> pa.Table:
        return pa.concat_tables([
            distributions.distribution(laboratory.simulations(name), laboratory.settings) for name in names
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
            lambda laboratory: sensitivities.noise_by_users(laboratory.settings),
        ),
        Experiment(
            "fig3", "Gowalla: activity of users", "Locations per user, and the most visits of a user to one location.",
            lambda laboratory: describing.activity(laboratory.counted(GOWALLA)), (GOWALLA,),
        ),
        Experiment(
            "fig4", "Gowalla: sparsity", "Locations by their number of users.",
            lambda laboratory: describing.sparsity(laboratory.counted(GOWALLA)), (GOWALLA,),
        ),
        Experiment(
            "fig5", "Local sensitivity by n", "Theorem 2, and the exact value, for some C.",
            lambda _: sensitivities.by_users(),
        ),
        Experiment(
            "table2", "Statistics of the data", "Printed and recomputed.",
            lambda laboratory: describing.table_2([laboratory.counted(name) for name in _sets(laboratory, *_ALL)]),
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
            lambda laboratory: publishing_ratio.published_ratios(
                [laboratory.counted(name) for name in _sets(laboratory, *_ALL)], laboratory.settings
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
            lambda laboratory: recommendations(
                [laboratory.counted(name) for name in _sets(laboratory, *_ALL)], laboratory.settings
            ),
            _ALL,
        ),
    )
}  # fmt: skip
"""In the paper's order."""
