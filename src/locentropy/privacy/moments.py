"""The two sums that entropy is computed from, transformed so that one user changes them as little as possible.

H = ln c − S/c, where c = Σ x and S = Σ x·ln x over the visits x of each user of a location. A user of x visits
changes (c, S) by v(x) = (x, x·ln x): by a point on a short curve, not in a box. `moments_matrix` transforms the plane
by a 2×2 matrix B so that no v(x) is longer than 1 in ℓ₁, and such that equal noise in both transformed coordinates
disturbs H least.

Claim. `MomentsTable.rows` are integers, one pair for each x; a user of x visits adds the pair of x, so that the ℓ₁
norm of a location's sums changes by at most `MomentsTable.sensitivity`, which is computed from these integers.
Privacy does not rest on B being good, on the logarithms, or on the optimiser. Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.checks import check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

MAX_MOMENTS_VISITS = 100
"""Largest C for which B was searched, and checked against many random starts."""

UNIT = 2**16
"""The default number of lattice points per unit of B·v."""

_LARGEST_UNIT = 2**30
_DIRECTIONS, _RATIOS, _STARTS, _APART = 48, 9, 6, 3  # of the search for B


def visit_moments(max_visits: int) -> Reals:
    """v(x) = (x, x·ln x) for x = 1..C, one row each."""
    visits = np.arange(1, max_visits + 1, dtype=np.float64)
    return np.stack([visits, visits * np.log(visits)], axis=1)


def directions(slopes: Reals) -> Reals:
    """u_a = (1 + a, −1), one row each: c·dH along (dc, dS), at a location with S/c = a."""
    return np.stack([1.0 + slopes, np.full(slopes.shape, -1.0)], axis=1)


@cache
def moments_matrix(max_visits: int) -> Reals:
    """B: of all 2×2 matrices with max ‖B·v(x)‖₁ = 1, the one that disturbs H least.

    B minimises the variance of u_a·B⁻¹·noise, where the noise in both coordinates is independent with variance 1, on
    average over a in [0, ln C], the range of S/c. With W the mean of u_a·u_aᵀ this is the trace of B⁻ᵀ·W·B⁻¹.
    ‖B·v‖₁ ≤ 1 is four linear inequalities for each v, so a smooth function is minimised over a polytope, from
    several starts. Rows are ordered and signed so that the first row has the larger first entry, which is positive, as
    is the last entry of the second row.

    For C = 1 there is no S and one coordinate suffices; the second row is 0.
    """
    check_whole("moments_matrix(5)", "max_visits", max_visits, 1, MAX_MOMENTS_VISITS)
    if max_visits == 1:
        return _frozen(np.array([[1.0, 0.0], [0.0, 0.0]]))
    from scipy.optimize import minimize  # takes a fifth of a second, and only Moments needs it

    moments, weight = visit_moments(max_visits), _mean_square_direction(max_visits)
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    sides = np.concatenate([np.concatenate([s * moments, t * moments], axis=1) for s, t in signs])
    inside = {"type": "ineq", "fun": lambda flat: 1.0 - sides @ flat, "jac": lambda _: -sides}
    found = []
    for start in _starts(moments, weight):
        best = minimize(
            lambda flat: _log_variance(flat, weight),
            start.ravel(),
            jac=True,
            method="SLSQP",
            constraints=[inside],
            options={"maxiter": 300, "ftol": 1e-14},
        )
        matrix = _normalised(best.x.reshape(2, 2), moments)
        found.append((_log_variance(matrix.ravel(), weight)[0], matrix))
    return _frozen(_canonical(min(found, key=lambda each: each[0])[1]))


@dataclass(frozen=True)
class MomentsTable:
    """What a user with 1, 2, …, C visits adds to the two integers of a location."""

    max_visits: int
    """C."""
    unit: int = UNIT
    """Lattice points per unit of B·v; a larger number is finer."""

    def __post_init__(self) -> None:
        call = "MomentsTable(max_visits=5)"
        check_whole(call, "max_visits", self.max_visits, 1, MAX_MOMENTS_VISITS)
        check_whole(call, "unit", self.unit, 1, _LARGEST_UNIT)

    @cached_property
    def matrix(self) -> Reals:
        """B times the unit: the rows are B·v(x)·unit, rounded."""
        return _frozen(moments_matrix(self.max_visits) * self.unit)

    @cached_property
    def inverse(self) -> Reals:
        """From lattice points back to (c, S). For C = 1 the second coordinate is ignored, and S is 0."""
        if self.max_visits == 1:
            return _frozen(np.array([[1.0 / self.unit, 0.0], [0.0, 0.0]]))
        return _frozen(np.asarray(np.linalg.inv(self.matrix), dtype=np.float64))

    @cached_property
    def rows(self) -> Integers:
        """The pair of integers that a user with x visits adds, in row x − 1."""
        rows: Integers = np.rint(visit_moments(self.max_visits) @ self.matrix.T).astype(np.int64)
        rows.flags.writeable = False
        return rows

    @cached_property
    def sensitivity(self) -> int:
        """The most that one user adds at one location, in ℓ₁: the largest |t₁| + |t₂| of the rows. Exact."""
        return int(np.abs(self.rows).sum(axis=1).max())

    def sums(self, index: Integers, visits: Integers, users: Integers, locations: int) -> Integers:
        """The pairs of all locations, from rows (location, visits, users) of a visit profile. Exact."""
        sums = np.zeros((locations, 2), dtype=np.int64)
        for at in range(2):
            np.add.at(sums[:, at], index, users * self.rows[visits - 1, at])
        return sums

    def moments(self, points: Integers | Reals) -> Reals:
        """(c, S) of pairs of lattice points, noisy or not; one row each."""
        moments: Reals = np.asarray(points, dtype=np.float64) @ self.inverse.T
        return moments


def _mean_square_direction(max_visits: int) -> Reals:
    """W: the mean of u_a·u_aᵀ over a in [0, ln C]."""
    most = math.log(max_visits)
    return np.array([[1.0 + most + most**2 / 3.0, -1.0 - most / 2.0], [-1.0 - most / 2.0, 1.0]])


def _log_variance(flat: Reals, weight: Reals) -> tuple[float, Reals]:
    """ln tr(B⁻ᵀ·W·B⁻¹) and its gradient: with A = B⁻¹, dA = −A·dB·A."""
    inverse = np.linalg.inv(flat.reshape(2, 2))
    variance = float(np.trace(inverse.T @ weight @ inverse))
    gradient = -2.0 * (inverse @ inverse.T @ weight @ inverse).T
    return math.log(variance), gradient.ravel() / variance


def _starts(moments: Reals, weight: Reals) -> list[Reals]:
    """The best few of a grid of matrices, no two of them close to each other.

    The columns p, q of B⁻¹ are the corners of the parallelogram ‖B·v‖₁ ≤ 1, and the variance is |p|² + |q|² once
    the plane is transformed by a root of W. So the grid is over the directions of p and q, and over the ratio of
    their lengths.
    """
    root = np.linalg.cholesky(weight).T
    turned = moments @ root.T
    angles = np.arange(_DIRECTIONS) * math.pi / _DIRECTIONS
    one, other = np.triu_indices(_DIRECTIONS, 1)
    p, q = (np.stack([np.cos(angles[at]), np.sin(angles[at])]) for at in (one, other))
    area = p[0] * q[1] - p[1] * q[0]
    along_p = np.abs((np.outer(q[1], turned[:, 0]) - np.outer(q[0], turned[:, 1])) / area[:, None])
    along_q = np.abs((np.outer(p[0], turned[:, 1]) - np.outer(p[1], turned[:, 0])) / area[:, None])
    ratios = np.geomspace(1 / 30, 30, _RATIOS)
    sizes = np.array([(along_p + along_q / ratio).max(axis=1) for ratio in ratios])
    variances = (1.0 + ratios[:, None] ** 2) * sizes**2
    starts: list[Reals] = []
    taken: list[tuple[int, int]] = []
    for rank in np.argsort(variances, axis=None, kind="stable"):
        ratio, pair = divmod(int(rank), len(one))
        here = int(one[pair]), int(other[pair])
        if any(max(abs(here[0] - i), abs(here[1] - j)) <= _APART for i, j in taken):
            continue
        taken.append(here)
        corners = np.stack([p[:, pair], ratios[ratio] * q[:, pair]], axis=1)
        starts.append(_normalised(np.linalg.inv(np.linalg.solve(root, corners)), moments))
        if len(starts) == _STARTS:
            break
    return starts


def _normalised(matrix: Reals, moments: Reals) -> Reals:
    """The multiple with max ‖B·v(x)‖₁ = 1."""
    scaled: Reals = matrix / np.abs(moments @ matrix.T).sum(axis=1).max()
    return scaled


def _canonical(matrix: Reals) -> Reals:
    """The same matrix with its rows in a fixed order and with fixed signs, which changes nothing."""
    ordered = matrix[np.argsort(-np.abs(matrix[:, 0]), kind="stable")]
    signs = np.where([ordered[0, 0] < 0, ordered[1, 1] < 0], -1.0, 1.0)
    turned: Reals = ordered * signs[:, None]
    return turned


def _frozen(matrix: Reals) -> Reals:
    """The matrix, read-only: it is cached and shared."""
    matrix.flags.writeable = False
    return matrix
