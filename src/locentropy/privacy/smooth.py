"""Smooth sensitivity of location entropy: a noise scale that depends on n without revealing n.

Claim. Neighbours change the number of users n of a location by one. ``SmoothSensitivity(C, β, ξ)`` is a
function S of n alone which, for the floats it returns, satisfies for every n ≥ 0

    S(n) ≥ LS(C, n) − 2^-40,    S(n) ≥ ξ,    |ln S(n) − ln S(n+1)| ≤ β − 2^-41,

and which, apart from rounding, is the smallest such function, max(ξ, max_j LS(C, j)·e^(−β|n−j|)).

Why. A table up to a public N, made by one running maximum upwards and one downwards, is smooth by construction.
Beyond N the local sensitivity is log-convex, so only n itself and N can attain the maximum.
N depends on C alone, never on the data. Proof: docs/proofs/smooth-sensitivity.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.errors import ParameterError
from locentropy.privacy.sensitivity import (
    check_users,
    check_visits,
    increase_bound,
    largest_decrease,
    local_sensitivity,
    simple_increase_bound,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

SMALLEST_BETA = 2.0**-30
"""Smallest β: below it the rounding errors of floats would no longer be negligible."""

RATE_SLACK = 2.0**-40
"""ln S is built to change by at most β − 2^-40, so that with its float errors it changes by less than β."""

_RELAXED_FROM = 10_000  # for C = 2, 3: from here on a bound within 10^-8 of LS replaces it


@dataclass(frozen=True)
class SmoothSensitivity:
    """S(n), a function of an array of numbers of users: ``SmoothSensitivity(5, 0.02)([0, 12])``."""

    max_visits: int
    """C, the largest number of visits a user has at a location after bounding."""
    beta: float
    """β, the most by which ln S may change from n to n ± 1."""
    floor: float = 0.0
    """ξ, a public lower bound of S. The maximum with it is taken after smoothing."""
    _table: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_visits(self.max_visits)
        if not (math.isfinite(self.beta) and self.beta >= SMALLEST_BETA):
            raise ParameterError(
                "must be finite and at least 2^-30.",
                parameter="beta",
                value=self.beta,
                example="SmoothSensitivity(5, beta=0.02)",
            )
        if not (math.isfinite(self.floor) and self.floor >= 0.0):
            raise ParameterError(
                "must be finite and at least 0.",
                parameter="floor",
                value=self.floor,
                example="SmoothSensitivity(5, beta=0.02, floor=0.001)",
            )
        table = np.maximum(_smooth_table(self.max_visits, self.beta), self.floor)
        table.flags.writeable = False
        object.__setattr__(self, "_table", table)

    @property
    def table_size(self) -> int:
        """N, the last n in the table; beyond it S is computed. It depends on C alone."""
        return len(self._table) - 1

    def __call__(self, users: ArrayLike) -> Floats:
        """S(n) for each n of ``users``."""
        n = check_users(users)
        last = float(self.table_size)
        smooth = np.asarray(self._table[np.minimum(n, last).astype(np.int64)])
        beyond = n > last
        if beyond.any():
            far = n[beyond]
            decayed = self._table[-1] * np.exp(-_rate(self.beta) * (far - last))
            smooth[beyond] = np.maximum(np.maximum(decayed, _tail(self.max_visits, far)), self.floor)
        return smooth


def last_tabulated(max_visits: int) -> int:
    """N(C): from here on the local sensitivity is ``_tail``, which decreases and is log-convex."""
    if max_visits == 1:
        return 2
    if max_visits <= 3:
        return _RELAXED_FROM
    peak = math.ceil(max_visits / (math.log(max_visits) - 1.0))
    users = 4 * max(max_visits, peak)
    # If the decrease exceeds every increase at one m, it does so at all larger m (sensitivity.md, step 5).
    while not _decrease_leads(max_visits, users):
        users *= 2
    return users + 1


def _decrease_leads(max_visits: int, users: int) -> bool:
    at = np.array([float(users)])
    decrease, increase = largest_decrease(max_visits, at), simple_increase_bound(max_visits, at)
    return bool((decrease > increase * (1.0 + 2.0**-40))[0])


def _tail(max_visits: int, users: Floats) -> Floats:
    """LS(C, n) for n ≥ N, as D(n−1): the decrease for C ≥ 4, the relaxed increase for C ≤ 3."""
    before = users - 1.0
    if max_visits <= 3:
        return increase_bound(max_visits, before)
    return largest_decrease(max_visits, before)


def _rate(beta: float) -> float:
    return beta - RATE_SLACK


@lru_cache(maxsize=64)
def _local_table(max_visits: int) -> Floats:
    last = last_tabulated(max_visits)
    local = local_sensitivity(max_visits, np.arange(last + 1))
    local[last] = max(local[last], float(_tail(max_visits, np.array([float(last)]))[0]))
    local.flags.writeable = False
    return local


def _smooth_table(max_visits: int, beta: float) -> Floats:
    """max_j LS(j)·e^(−β|n−j|) for n = 0..N.

    A loop, not a cumulative maximum of ln LS(j) ± βj: each entry is then one product away from its neighbour, and the
    smoothness of the floats does not depend on the size of βN. N is a few thousand.
    """
    decay = math.exp(-_rate(beta))
    table = _local_table(max_visits).tolist()
    for n in range(1, len(table)):
        table[n] = max(table[n], table[n - 1] * decay)
    for n in range(len(table) - 2, -1, -1):
        table[n] = max(table[n], table[n + 1] * decay)
    return np.array(table, dtype=np.float64)
