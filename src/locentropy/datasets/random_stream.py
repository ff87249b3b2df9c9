"""The random numbers of all datasets: a seed and a key name an independent stream, the same on every machine.

A module of its own because every dataset draws from it, also those of `locentropy-lab`, and because changing one line
here would change all of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

MAX_SEED: Final = 2**63 - 1
"""The largest seed that a dataset takes."""


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return the generator of this seed and key; streams of different keys are independent."""
    # The generator is named rather than left to NumPy's default, which may change.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
