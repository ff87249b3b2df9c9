"""Metrics of how far published values are from the truth. They use exact values, so results are private.

All functions take one entry per place: `true` entropies, `published` ones with NaN where a place is withheld, both in
nats. Over all places a withheld one counts as 0, as in the paper; to judge some places only, take these entries of
both arrays. A metric of no places is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

NEGLIGIBLE = 1e-15
"""Shares below this are left out of the KL divergence, as in the paper's experiments."""


def is_published(published: Reals) -> Booleans:
    """Return which places are not withheld."""
    return ~np.isnan(published)


def filled(published: Reals) -> Reals:
    """Return published values, withheld ones as 0."""
    return np.where(is_published(published), published, 0.0)


def published_ratio(published: Reals) -> float:
    """Return the share of places that are not withheld."""
    return _mean(is_published(published))


def mse(true: Reals, published: Reals) -> float:
    """Return the mean squared error, in nats²."""
    return _mean((filled(published) - true) ** 2)


def bias(true: Reals, published: Reals) -> float:
    """Return the mean of published minus true."""
    return _mean(filled(published) - true)


def kl_divergence(true: Reals, published: Reals) -> float:
    """Return KL(P ‖ Q) in nats: P are the published values and Q the true ones, each scaled to sum to 1.

    This is the paper's definition; as in its experiments, negative values count as 0, and terms in which a share is
    below 1e-15 are skipped. A strict divergence would be infinite as soon as a place of true entropy 0 is published
    above 0, which is nearly always. Skipped terms may make the result negative, so use it to compare
    mechanisms, not as a distance.
    """
    p, q = _shares(filled(published)), _shares(true)
    if p is None or q is None:
        return float("nan")
    kept = (p >= NEGLIGIBLE) & (q >= NEGLIGIBLE)
    return float(np.sum(p[kept] * np.log(p[kept] / q[kept])))


def _shares(values: Reals) -> Reals | None:
    positive = np.maximum(values, 0.0)
    largest = float(positive.max(initial=0.0))
    if largest <= 0.0:
        return None
    scaled = positive / largest  # so that the sum can neither overflow nor lose everything
    return np.asarray(scaled / scaled.sum(), dtype=np.float64)


def average_ranks(values: Reals) -> Reals:
    """Return ranks from 1 up; equal values share the mean of their ranks."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    middle: Reals = last - (sizes - 1) / 2.0
    return middle[group]


def spearman(true: Reals, published: Reals) -> float:
    """Return Spearman's rank correlation; NaN if all values of either side are equal."""
    if len(true) == 0:
        return float("nan")
    a, b = (average_ranks(each) for each in (true, filled(published)))
    a, b = a - a.mean(), b - b.mean()
    spread = np.sqrt(np.sum(a * a) * np.sum(b * b))
    return float(np.clip(np.sum(a * b) / spread, -1.0, 1.0)) if spread > 0 else float("nan")


def coverage(true: Reals, low: Reals | None, high: Reals | None) -> float:
    """Return the share of published intervals that contain the true value; NaN if there are no intervals."""
    if low is None or high is None:
        return float("nan")
    there = is_published(low)
    return _mean(((low <= true) & (true <= high))[there])


def interval_width(low: Reals | None, high: Reals | None) -> float:
    """Return the mean width of the published intervals; NaN if there are none."""
    if low is None or high is None:
        return float("nan")
    return _mean((high - low)[is_published(low)])


def found_at_top(true: Reals, published: Reals, k: int) -> float:
    """Return the share of the k highest published places that are truly among the k highest (precision at k).

    A place that ties with the k-th highest is truly among them. Published values that tie share the positions that
    are left, each with the same probability. A withheld place is never found. With fewer than k places, k is their
    number.
    """
    k = min(k, len(true))
    if k == 0:
        return float("nan")
    truly = true >= np.partition(true, len(true) - k)[len(true) - k]
    values = np.where(is_published(published), published, -np.inf)
    edge = np.partition(values, len(values) - k)[len(values) - k]
    above = values > edge
    drawn = np.zeros(len(values)) if edge == -np.inf else (values == edge).astype(np.float64)
    chance = above + drawn * ((k - above.sum()) / max(drawn.sum(), 1.0))
    return float(np.sum(chance[truly]) / k)


@dataclass(frozen=True)
class Octave:
    """Places of `low` to `high` users."""

    low: int
    high: int

    @property
    def label(self) -> str:
        """Such as 8–15."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


def octaves(users: Integers) -> list[Octave]:
    """Return 0, 1, 2–3, 4–7, 8–15, … up to the largest place, without octaves that have no places."""
    # frexp is exact: n = m·2^e with m in [1/2, 1), so e is the number of binary digits, and 0 for 0.
    digits = np.unique(np.frexp(np.asarray(users, dtype=np.float64))[1])
    return [Octave(int(2**e) // 2, int(2**e) - 1) for e in digits.tolist()]


def within(users: Integers, octave: Octave) -> Booleans:
    """Return which places have that many users."""
    return (users >= octave.low) & (users <= octave.high)


def _mean(values: Reals | Booleans) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
