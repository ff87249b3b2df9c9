"""Made-up crowds of C = 5, by how the visits of their users are spread, and what Moments makes of them."""

from __future__ import annotations

import math

import numpy as np

from locentropy.core.locations import Locations
from locentropy.evaluation.simulated_noise import SimulatedNoise

from .recording import CrowdQueries

ZIPF = [*(np.arange(1, 5) ** -2.0 / (math.pi**2 / 6))]
LAWS = {
    "zipf": [*ZIPF, 1 - sum(ZIPF)],
    "once": [1.0, 0.0, 0.0, 0.0, 0.0],
    "twice": [0.0, 1.0, 0.0, 0.0, 0.0],
    "always": [0.0, 0.0, 0.0, 0.0, 1.0],
    "few regulars": [0.9, 0.0, 0.0, 0.0, 0.1],
    "even": [0.2] * 5,
}
"""How the visits 1..5 of a user are spread."""


def crowds(users: int, many: int, law: str = "zipf") -> CrowdQueries:
    counts = np.random.default_rng(users).multinomial(users, LAWS[law], size=many)
    return CrowdQueries([dict(enumerate(row.tolist(), start=1)) for row in counts])


def estimated(mechanism, queries: CrowdQueries, seed: int = 1):
    return mechanism.estimate(
        mechanism.measure(queries, Locations(queries.locations), SimulatedNoise(seed)),
        Locations(queries.locations),
    )
