"""Reading noisy moments: the entropy, its standard error and an interval, from a noisy pair and public numbers alone.

All of this is post-processing. Let (ĉ, Ŝ) be the noisy pair turned back, z the noise in its units, and a = S/c the
slope of the location, so that H = ln c − a. Two things are known about the noise, whatever c and a are:

    (1 + a)·ĉ − Ŝ − c = (1 + a)·z_c − z_S    is within ±q_a with probability 95.5 % at least, and
    |K₁| + |K₂| ≤ R                          with 99.5 %, K being the noise in the coordinates where it was added.

So with probability 95 % at least, the true (c, a) is among those that pass both tests, and the interval is the
range of ln c − a over these, or a little more: it holds for every number of users, also none. The first test is
what is sharp for large locations; the second keeps a from wandering far. Proof, and why a few cells are enough:
docs/proofs/moments.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from locentropy.mechanisms.listed_estimates import CONFIDENCE
from locentropy.privacy.moments import MomentsTable, directions, visit_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

AWAY_RISK = 0.005
"""The part of an interval's risk that the noise is larger than R; the rest is for c, given a."""

_CELLS = 16  # of slopes; between the ends of a cell, chords stand for convex functions
_FARTHER_END = 2.5  # standard deviations to the farther end of an interval; 2.1 to 2.3 at large locations
_CHUNK = 2**16  # locations read at a time: what is made on the way stays small


class MomentsEstimate(NamedTuple):
    """What a location's noisy pair says; nats."""

    entropy: Reals
    std_error: Reals
    low: Reals
    high: Reals


@dataclass(frozen=True)
class MomentsEstimator:
    """Reads pairs of lattice points of a table that were noised with one scale."""

    table: MomentsTable
    """The table that the pairs are sums of."""
    scale: float
    """The scale of the noise in lattice units."""
    max_users: int | None = None
    """A public bound on the number of users."""

    def estimate(self, points: Integers) -> MomentsEstimate:
        """One estimate for each pair."""
        columns = np.empty((4, len(points)))
        for start in range(0, len(points), _CHUNK):
            at = slice(start, start + _CHUNK)
            columns[:, at] = self._estimate(np.asarray(points[at], dtype=np.float64))
        return MomentsEstimate(*columns)

    def entropy(self, points: Integers | Reals) -> Reals:
        """The estimate alone."""
        visits, logs = self.projected(np.asarray(points, dtype=np.float64))
        return self._possible(np.log(visits) - logs / visits)

    def projected(self, points: Reals) -> tuple[Reals, Reals]:
        """(c, S) of the nearest pairs with c ≥ 1 and 0 ≤ S ≤ c·ln C, near in the coordinates that were noised.

        There the noise is the same in every direction. The region has a corner at each of two rays t·(1, 0) and
        t·(1, ln C), t ≥ 1, and a side between the corners; the nearest point is on one of these three.
        """
        most = self._steepest
        visits, logs = self.table.moments(points).T
        if most == 0.0:
            return np.maximum(visits, 1.0), np.zeros(visits.shape)
        outside = np.flatnonzero((visits < 1.0) | (logs < 0.0) | (logs > most * visits))
        given = points[outside]
        flat, steep = self.table.matrix @ [1.0, 0.0], self.table.matrix @ [1.0, most]
        on_flat = np.maximum(given @ flat / (flat @ flat), 1.0)
        on_steep = np.maximum(given @ steep / (steep @ steep), 1.0)
        side = steep - flat
        on_side = np.clip((given - flat) @ side / (side @ side), 0.0, 1.0)
        found_visits = np.stack([on_flat, on_steep, np.ones(len(given))])
        found_logs = np.stack([np.zeros(len(given)), most * on_steep, most * on_side])
        found = np.stack([found_visits, found_logs], axis=2) @ self.table.matrix.T
        nearest = ((found - given) ** 2).sum(axis=2).argmin(axis=0), np.arange(len(given))
        visits, logs = visits.copy(), logs.copy()
        visits[outside], logs[outside] = found_visits[nearest], found_logs[nearest]
        return visits, logs

    def deviation(self, slopes: Reals) -> Reals:
        """The standard deviation of (1 + a)·z_c − z_S: of the entropy, to first order, times c."""
        each = math.sqrt(2.0) * math.exp(-0.5 / self.scale) / -math.expm1(-1.0 / self.scale)
        deviations: Reals = each * np.linalg.norm(directions(slopes) @ self.table.inverse, axis=1)
        return deviations

    def _estimate(self, points: Reals) -> tuple[Reals, Reals, Reals, Reals]:
        visits, logs = self.projected(points)
        slopes = logs / visits
        entropy = self._possible(np.log(visits) - slopes)
        low, high = self._range(points, slopes)
        low, high = np.minimum(self._possible(low), entropy), np.maximum(self._possible(high), entropy)
        # First order, where that is fit. Where the pair says little it is not: what is within an interval has half its
        # length as standard deviation at most, and the farther end is hardly ever more than 2.5 deviations away.
        first_order = self.deviation(slopes) / visits
        least = np.maximum(entropy - low, high - entropy) / _FARTHER_END
        return entropy, np.clip(first_order, least, (high - low) / 2.0), low, high

    def _range(self, points: Reals, fallback: Reals) -> tuple[Reals, Reals]:
        """The smallest and the largest ln c − a over all (c, a) that pass both tests, or a little beyond.

        In each of a few cells between the first and the last slope: (1 + a)·ĉ − Ŝ − q_a is concave in a, hence its
        logarithm minus a smallest at an end of the cell; with the chord of q_a instead, (1 + a)·ĉ − Ŝ + q_a is
        linear, and its logarithm minus a largest where it equals its own slope.
        """
        visits, logs = self.table.moments(points).T
        first, last = self._slopes(visits, logs, fallback)
        width = (last - first) / _CELLS
        low, high = np.full(visits.shape, np.inf), np.zeros(visits.shape)
        right, there = first, np.interp(first, self._knots, self._reach)
        for cell in range(_CELLS):
            left, here = right, there
            right = first + (cell + 1) * width
            there = np.interp(right, self._knots, self._reach)
            start, end = (1.0 + left) * visits - logs, (1.0 + right) * visits - logs
            least = np.minimum(_entropy(start - here, left), _entropy(end - there, right))
            low = np.minimum(low, np.maximum(least, self._least_nearby(points, left, right)))
            rise = end + there - start - here
            with np.errstate(divide="ignore", invalid="ignore"):
                best = np.where(rise > 0.0, 1.0 / width - (start + here) / rise, 0.0)
            best = np.where(width > 0.0, np.clip(best, 0.0, 1.0), 0.0)
            high = np.maximum(high, _entropy(start + here + best * rise, left + best * width))
        rounding = self._rounding
        return np.minimum(low, high) - math.log1p(rounding), high - math.log1p(-rounding)

    def _least_nearby(self, points: Reals, left: Reals, right: Reals) -> Reals:
        """A bound from below for ln c − a in a cell, from the noise being at most R in ℓ₁.

        That is four inequalities c·k(a) ≥ γ, k linear in a; where γ > 0, ln(γ/k) − a is convex, and smallest where
        k = −k'.
        """
        least = np.full(left.shape, -np.inf)
        if self._steepest == 0.0:
            return least
        for signs in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
            level = points @ signs - self._radius
            start, rise = signs @ self.table.matrix + [1.0, 0.0]  # 1 for the rounding of the table
            # Where k falls, the smallest is at k = −k'; where it rises, at the end.
            best = np.clip(-1.0 - start / rise, left, right) if rise < 0.0 else right
            factor = start + rise * best
            with np.errstate(divide="ignore", invalid="ignore"):
                bound = np.where(factor > 0.0, np.log(level / factor) - best, np.inf)
            least = np.where(level > 0.0, np.maximum(least, bound), least)
        return least

    def _slopes(self, visits: Reals, logs: Reals, fallback: Reals) -> tuple[Reals, Reals]:
        """The first and last a that pass |Ŝ − a·ĉ| ≤ Q_a, which the second test implies; the fallback where none does.

        a·ĉ − Q_a is concave and a·ĉ + Q_a convex in a, so each crosses Ŝ once on its way to where the test fails.
        """
        reach = self._slope_reach
        # The rounding of the table is at most one lattice point for each visit; this is the most visits there can be.
        off = self._visits_per_point
        blur = 1.0 + np.maximum(visits + self._radius * off, 0.0) / (1.0 - off) / self._radius
        first = np.where(reach[0] * blur >= logs, 0.0, np.inf)
        last = np.where(self._steepest * visits - reach[-1] * blur <= logs, self._steepest, -np.inf)
        for left, right, here, there in self._cells(reach):
            for edge, sign in ((first, 1.0), (last, -1.0)):
                before, after = left * visits + sign * here * blur, right * visits + sign * there * blur
                with np.errstate(divide="ignore", invalid="ignore"):
                    crossing = left + (right - left) * (logs - before) / (after - before)
                crosses = np.isinf(edge) & (before <= logs) & (logs <= after) & (before < after)
                edge[crosses] = crossing[crosses]
        none = ~(first <= last)
        return np.where(none, fallback, first), np.where(none, fallback, last)

    def _cells(self, values: Reals) -> list[tuple[float, float, float, float]]:
        knots = self._knots
        cells = zip(knots[:-1], knots[1:], values[:-1], values[1:], strict=True)
        return [(float(a), float(b), float(c), float(d)) for a, b, c, d in cells]

    def _possible(self, entropy: Reals) -> Reals:
        """The entropy of n users is between 0 and ln n, whatever the noise says."""
        return np.clip(entropy, 0.0, None if self.max_users is None else math.log(self.max_users))

    @cached_property
    def _steepest(self) -> float:
        """ln C: the largest that a can be."""
        return math.log(self.table.max_visits)

    @cached_property
    def _knots(self) -> Reals:
        """The slopes at which q_a and Q_a are computed."""
        return np.linspace(0.0, self._steepest, _CELLS + 1) if self._steepest else np.zeros(1)

    @cached_property
    def _reach(self) -> Reals:
        """q_a at the knots."""
        weights = directions(self._knots) @ self.table.inverse
        return noise_quantiles(weights, self.scale, 1.0 - CONFIDENCE - AWAY_RISK)

    @cached_property
    def _slope_reach(self) -> Reals:
        """Q_a at the knots: R times the largest weight of the noise in S − a·c."""
        across = np.stack([-self._knots, np.ones(self._knots.shape)], axis=1)
        reach: Reals = self._radius * np.abs(across @ self.table.inverse).max(axis=1)
        return reach

    @cached_property
    def _radius(self) -> float:
        """R, in lattice points: |K₁| + |K₂| is within 2 of scale·(E + E'), and P(E + E' > x) = (1 + x)·e^(−x)."""
        below, above = 0.0, 100.0
        for _ in range(60):
            middle = (below + above) / 2.0
            if (1.0 + middle) * math.exp(-middle) > AWAY_RISK:
                below = middle
            else:
                above = middle
        return self.scale * above + 2.0

    @cached_property
    def _visits_per_point(self) -> float:
        """The most that one lattice point counts in c."""
        return float(np.abs(self.table.inverse[0]).max())

    @cached_property
    def _rounding(self) -> float:
        """How far the rounding of the table moves (1 + a)·c − S, at most, for each visit."""
        moments = visit_moments(self.table.max_visits)
        off = (self.table.moments(self.table.rows) - moments) / moments[:, :1]
        return float(np.abs(directions(self._knots) @ off.T).max())


def _entropy(visits: Reals, slopes: Reals) -> Reals:
    """ln c − a, with at least one visit."""
    entropy: Reals = np.log(np.maximum(visits, 1.0)) - slopes
    return entropy


def noise_quantiles(weights: Reals, scale: float, risk: float) -> Reals:
    """What |w₁·K₁ + w₂·K₂| exceeds with probability `risk` at most, for each row w; K discrete Laplace of one scale.

    K is ⌊E₁·scale⌋ − ⌊E₂·scale⌋, E exponential, hence within 1 of Laplace noise Z: the quantile is that of Z, and
    |w₁| + |w₂|.
    """
    sizes = np.abs(weights)
    large, small = sizes.max(axis=1), sizes.min(axis=1)
    ratio = np.divide(small, large, out=np.zeros(large.shape), where=large > 0)
    below, above = np.zeros(large.shape), np.full(large.shape, 2.0 * math.log(4.0 / risk))
    for _ in range(60):
        middle = (below + above) / 2.0
        exceeds = tail(middle, ratio) > risk
        below, above = np.where(exceeds, middle, below), np.where(exceeds, above, middle)
    quantiles: Reals = large * scale * above + sizes.sum(axis=1)
    return quantiles


def tail(size: Reals, ratio: Reals) -> Reals:
    """P(|Z₁ + ratio·Z₂| > size), 0 ≤ ratio ≤ 1, Z Laplace of scale 1.

    (e^(−x) − ρ²·e^(−x/ρ))/(1 − ρ²), written so that nothing cancels as ρ nears 1: with d = x·(1 − ρ)/ρ it is
    e^(−x)·(1 + ρ²·(1 − e^(−d))/(1 − ρ²)), and the fraction is x·ρ/(1 + ρ)·(1 − e^(−d))/d.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = size * (1.0 - ratio) / ratio
        share = np.where(gap > 0, -np.expm1(-gap) / gap, 1.0)
    share = np.where(ratio > 0, share, 0.0)
    tails: Reals = np.exp(-size) * (1.0 + size * ratio / (1.0 + ratio) * share)
    return tails
