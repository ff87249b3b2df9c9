"""How long sensitivities take: processor time on one core, beside that of one logarithm per number of users.

python benchmarks/sensitivity.py
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from locentropy.privacy.calibration import calibrate, lattice_scales
from locentropy.privacy.sensitivity import local_sensitivity
from locentropy.privacy.smooth import SmoothSensitivity

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = ((1_000_000, 50), (1_000_000, 5), (10_000_000, 5), (10_000_000, 1000))


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def scales(users: np.ndarray, max_visits: int) -> np.ndarray:
    calibration = calibrate(1.0, 1e-8, 5)
    return lattice_scales(calibration, SmoothSensitivity(max_visits, calibration.beta, 1e-3), users)


def main() -> None:
    print(
        f"{'N':>12}{'C':>6}{'LS table':>12}{'ratio to ln':>13}{'Limit-SS scales':>17}   (CPU seconds, median of 3)"
    )
    for largest, max_visits in CASES:
        users = np.arange(largest + 1)
        turns = [
            (
                cpu(lambda u=users: np.log(u + 1.0)),
                cpu(lambda u=users, c=max_visits: local_sensitivity(c, u)),
                cpu(lambda u=users, c=max_visits: scales(u, c)),
            )
            for _ in range(3)
        ]
        log, local, scaled = (statistics.median(column) for column in zip(*turns, strict=True))
        print(f"{largest:>12,}{max_visits:>6}{local:>12.2f}{local / log:>13.1f}{scaled:>17.2f}")


if __name__ == "__main__":
    main()
