"""The paper's parameters and grids, and how much of its experiments a run repeats."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

PAPER_DENSE: Final = 10_000_000
"""Users of Dense in the paper."""
PAPER_SPARSE: Final = 100_000
"""Users of Sparse."""
PAPER_LOCATIONS: Final = 10_000
"""Locations of both."""

C_MAX: Final = 1000
M_MAX: Final = 100
"""Baseline's bounds in the paper's figure of noise by users."""


@dataclass(frozen=True)
class Settings:
    """The paper's parameters (defaults in bold there), and the size of a run."""

    label: str
    """What the run is called on the page."""
    sparse_users: int = PAPER_SPARSE
    dense_users: int = PAPER_DENSE
    locations: int = 10_000
    """Locations of Sparse and Dense."""
    seeds: int = 10
    """Simulated releases of each kind."""
    data_seed: int = 0
    """Seed of Sparse and Dense."""
    epsilons: tuple[float, ...] = (0.1, 0.5, 1.0, 5.0, 10.0)
    m_grid: tuple[int, ...] = (1, 2, 5, 10, 20, 30)
    c_grid: tuple[int, ...] = tuple(range(1, 51))
    k_grid: tuple[int, ...] = (10, 20, 30, 40, 50)
    epsilon: float = 5.0
    max_locations: int = 5
    """M."""
    max_visits: int = 5
    """C."""
    min_users: int = 50
    """k."""
    eligible: int = 20
    """K: locations of fewer users do not count in the published ratio."""
    delta: float = 1e-8
    floor: float = 1e-3
    """ξ."""

    def is_paper_size(self, data: str) -> bool:
        """Whether a data set is as large as the paper's."""
        users = {"sparse": (self.sparse_users, PAPER_SPARSE), "dense": (self.dense_users, PAPER_DENSE)}
        return data not in users or (users[data][0] == users[data][1] and self.locations == PAPER_LOCATIONS)

    @property
    def all_m(self) -> tuple[int, ...]:
        """Every M that is needed, from the smallest."""
        return tuple(sorted({*self.m_grid, self.max_locations}))

    @property
    def most_visits(self) -> int:
        """The largest C: visits are told apart up to this many."""
        return max(*self.c_grid, self.max_visits)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings for a file, and for the key of results."""
        return asdict(self)


FULL: Final = Settings("full")
FAST: Final = Settings(
    "fast",
    dense_users=1_000_000,
    seeds=5,
    c_grid=(1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50),
)
"""A tenth of Dense, half the seeds, a coarser grid of C."""
