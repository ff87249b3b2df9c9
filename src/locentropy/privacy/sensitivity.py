"""How much one user can change the entropy of one location.

Claim. Neighbours differ in one user, who after bounding has an integer count 1..C at a location (or none).
``largest_change(C, m)`` is D(m), the supremum of |H' − H| over all ways of adding one user to a location
of m users; ``local_sensitivity(C, n)`` = max(D(n−1), D(n)) bounds the change at a location of n users
whether the user is added or removed; ``global_sensitivity(C)`` and ``supremum_from(C, k)`` are the suprema of D
over all m and over m ≥ k.

Why. The largest decrease has a closed form, the largest increase is a maximum over C² candidates which does
not grow with m, and a closed-form bound tells for which m the increase can matter at all.
Proof: docs/proofs/sensitivity.md.

Accuracy. Every float returned here is within ``FLOAT_ERROR`` = 2^-40 of the exact value, above or below.
Mechanisms on the lattice of 2^-20 add two units for this and for the rounding of H itself, which covers it a million
times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from locentropy.core.checks import positive_integer
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

FLOAT_ERROR = 2.0**-40
"""Bound on |returned − exact| for every sensitivity of this module."""

MAX_TABULATED_VISITS = 10_000
"""Largest C for which D(m) is supported: the work at the smallest m grows as C²."""

MAX_USERS = 2**53
"""Largest number of users: integers up to it are exact as floats."""

_CALL = "local_sensitivity(5, [0, 3, 120])"
_CELLS_AT_ONCE = 2**20  # entries of one temporary array: bounds memory, whatever the number of locations


def largest_change(max_visits: int, users: ArrayLike) -> Floats:
    """D(m): the largest |change| of entropy when one user joins a location of ``users`` = m users.

    Vectorised over ``users``; D(0) = 0, because a location's first user leaves its entropy at 0.
    """
    check_visits(max_visits)
    flat = check_users(users)
    change = _change(max_visits, flat.ravel())
    return change.reshape(flat.shape)


def local_sensitivity(max_visits: int, users: ArrayLike) -> Floats:
    """LS(C, n) = max(D(n−1), D(n)): the most that adding or removing one user changes at a location of n users.

    ``max_visits`` is C, ``users`` the n of each location (any shape). LS(C, 0) = 0 and LS(C, 1) = ln 2.
    """
    check_visits(max_visits)
    n = check_users(users)
    flat = n.ravel()
    local = np.empty_like(flat)
    for first in range(0, len(flat), _CELLS_AT_ONCE):
        part = slice(first, first + _CELLS_AT_ONCE)
        local[part] = _local(max_visits, flat[part])
    return local.reshape(n.shape)


def global_sensitivity(max_visits: int) -> float:
    """GS(C) = the maximum of D(m) over all m: ln 2, or the peak of the largest decrease where that is more."""
    check_visits(max_visits, largest=2**31)  # a closed form, so MAX_TABULATED_VISITS does not apply
    return max(math.log(2.0), _decrease_from(max_visits, 1))


def supremum_from(max_visits: int, users: int) -> float:
    """Supremum of D(m) over m ≥ ``users``.

    Limit-CB with threshold k needs it at k−1 (sup of LS(C, n) over n ≥ k), Limit-PTR at k+1.
    The increase is searched over a window that doubles until a bound, falling in m, shows that nothing
    beyond the window is larger; so the result is the supremum itself, not only a bound on it.
    """
    check_visits(max_visits)
    start = int(check_users(users).item())
    if start <= 1:
        return global_sensitivity(max_visits)
    best = _decrease_from(max_visits, start)
    width = 1
    while best < float(increase_bound(max_visits, np.array([float(start)]))[0]):
        window = np.arange(start, start + width, dtype=np.float64)
        best = max(best, float(_increase(max_visits, window).max()))
        start, width = start + width, width * 2
    return best


def largest_decrease(max_visits: int, users: Floats) -> Floats:
    """G(m) = C·lnC/(m+C) − ln(1+C/m) for m ≥ 1: m users with one visit each, joined by one with C visits.

    Where G(m) is not positive, no user can lower the entropy. G rises up to m = C/(lnC − 1), then falls.
    """
    visits = float(max_visits)
    decrease: Floats = visits * math.log(visits) / (users + visits) - np.log1p(visits / users)
    return decrease


def increase_bound(max_visits: int, users: Floats) -> Floats:
    """R*(m): no user can raise the entropy of m ≥ 1 users by more; falls with m.

    The smallest entropy of m users with total s is relaxed to the chord between "all at 1" and "all at C";
    the best real total s then solves a quadratic, one for each count c of the user who joins.
    """
    if max_visits == 1:
        return np.log1p(1.0 / users)
    slope = _slope(max_visits)
    bound = np.zeros_like(users)
    for count in range(1, max_visits + 1):
        total = _best_total(max_visits, count, users)
        np.maximum(bound, _gain(count, total, slope * (total - users)), out=bound)
    return np.minimum(bound, math.log(2.0))


def simple_increase_bound(max_visits: int, users: Floats) -> Floats:
    """min(ln 2, ln(1 + a/m)), a = e^(κ−1)/κ: weaker than ``increase_bound``, but one logarithm per m."""
    slope = _slope(max_visits)
    return np.minimum(math.log(2.0), np.log1p(math.exp(slope - 1.0) / slope / users))


def _local(max_visits: int, users: Floats) -> Floats:
    """max(D(n−1), D(n)) for a flat array; D is computed once for each number of users."""
    distinct, place = np.unique(users, return_inverse=True)
    points = np.union1d(distinct, np.maximum(distinct - 1.0, 0.0))
    change = _change(max_visits, points)
    here = np.searchsorted(points, distinct)
    # points holds n−1 just before n, unless n = 0, where both are D(0)
    local: Floats = np.maximum(change[here], change[np.maximum(here - 1, 0)])
    return local[place]


def _change(max_visits: int, users: Floats) -> Floats:
    """D(m) for a flat array; the increase is computed only for those m where it can exceed the decrease."""
    change = np.zeros_like(users)
    some = users >= 1.0
    if max_visits == 1:
        change[some] = np.log1p(1.0 / users[some])
        return change
    change[some] = largest_decrease(max_visits, users[some])
    undecided = np.flatnonzero(some)
    undecided = undecided[change[undecided] < simple_increase_bound(max_visits, users[undecided])]
    distinct, place = np.unique(users[undecided], return_inverse=True)
    increase = _increase(max_visits, distinct)
    change[undecided] = np.maximum(change[undecided], increase[place])
    return change


def _increase(max_visits: int, users: Floats) -> Floats:
    """Largest increase of entropy when a user joins m ≥ 1 users: exact, in C² evaluations per m."""
    if max_visits == 1:
        return np.log1p(1.0 / users)
    increase = np.zeros_like(users)
    step = max(1, _CELLS_AT_ONCE // max_visits)
    for first in range(0, len(users), step):
        part = slice(first, first + step)
        increase[part] = _increase_of_chunk(max_visits, users[part])
    return increase


def _increase_of_chunk(max_visits: int, users: Floats) -> Floats:
    """As ``_increase``: for each count c of the new user, search the one grid cell around the best total.

    The m users of least entropy for their total are j at C, one at x, the others at 1. Totals m + j(C−1),
    where x is 1 or C, are the grid; between two of them the true entropy lies above the relaxed one, and the
    relaxed gain rises up to the best total and falls after it: nothing outside its cell can be larger.
    """
    spread = max_visits - 1.0
    odd = np.arange(1, max_visits + 1, dtype=np.float64)  # x, the one count that may be neither 1 nor C
    odd_weight = odd * np.log(odd)
    full_weight = max_visits * math.log(max_visits)
    best = np.zeros_like(users)
    for count in range(1, max_visits + 1):
        full = np.floor((_best_total(max_visits, count, users) - users) / spread)
        full = np.clip(full, 0.0, users - 1.0)  # j
        total = (users + full * spread)[:, None] + (odd - 1.0)
        weight = (full * full_weight)[:, None] + odd_weight
        np.maximum(best, _gain(count, total, weight).max(axis=1), out=best)
    return best


def _gain(count: int, total: Floats, weight: Floats) -> Floats:
    """H' − H when a user with c visits joins users with s visits in all and weight T = Σ c_i·ln c_i."""
    joined = total + count
    gain: Floats = (
        np.log1p(count / total) - count * math.log(count) / joined + count / total * (weight / joined)
    )
    return gain


def _best_total(max_visits: int, count: int, users: Floats) -> Floats:
    """The real total s at which the relaxed gain peaks: (1+κ−ln c)s² + (c−2κm)s − κmc = 0, s > 0."""
    slope = _slope(max_visits)
    lead = 1.0 + slope - math.log(count)
    half = slope * users - 0.5 * count
    root: Floats = (half + np.sqrt(half * half + lead * slope * count * users)) / lead
    return root


def _slope(max_visits: int) -> float:
    """κ = C·lnC/(C−1), the slope of the chord of x·ln x from 1 to C; its limit 1 at C = 1."""
    if max_visits == 1:
        return 1.0
    return max_visits * math.log(max_visits) / (max_visits - 1.0)


def _decrease_from(max_visits: int, users: int) -> float:
    """Supremum of G(m) over m ≥ ``users`` ≥ 1, at least 0: G rises to C/(lnC − 1) and falls after it."""
    rise = math.log(max_visits) - 1.0
    if rise <= 0.0:
        return 0.0  # G rises towards 0 without end
    peak = math.floor(max_visits / rise)
    # one more on either side, so that rounding cannot miss a peak next to an integer
    near = np.maximum(np.arange(peak - 1, peak + 3, dtype=np.float64), float(users))
    return max(0.0, float(largest_decrease(max_visits, near).max()))


def check_visits(max_visits: int, largest: int = MAX_TABULATED_VISITS) -> None:
    """Raise ParameterError unless C is a whole number in 1..largest."""
    positive_integer("max_visits", max_visits, _CALL)
    if max_visits > largest:
        raise ParameterError(
            f"must be at most {largest}.", parameter="max_visits", value=max_visits, example=_CALL
        )


def check_users(users: ArrayLike) -> Floats:
    """Numbers of users as floats, which hold them exactly; raise ParameterError unless all are integers in 0..2^53.

    The error shows no number: they may be private.
    """
    given: NDArray[Any] = np.asarray(users)
    if given.dtype.kind not in "iu" and given.size:
        raise ParameterError("must be whole numbers, not floats.", parameter="users", example=_CALL)
    if given.size and (int(given.min()) < 0 or int(given.max()) > MAX_USERS):
        raise ParameterError("must be between 0 and 2^53.", parameter="users", example=_CALL)
    return given.astype(np.float64)
