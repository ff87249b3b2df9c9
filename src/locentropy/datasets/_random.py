"""Random streams that a seed and a few whole numbers name."""

from __future__ import annotations

import numpy as np

MAX_SEED = 2**63 - 1


def stream(seed: int, *key: int) -> np.random.Generator:
    """The generator of this seed and key; streams of different keys are independent."""
    # The generator is named rather than left to NumPy's default, which may change.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
