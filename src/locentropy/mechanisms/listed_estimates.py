"""Noisy entropies on the lattice: measured for listed or chosen locations, and turned into estimates.

Shared by the mechanisms that add noise to the entropy itself. Only noisy lattice points and public numbers get into an
estimate, so all of that is post-processing and costs nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.estimates import Estimates, Measurements
from locentropy.privacy.noise import LATTICE, from_lattice

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.locations import Locations

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

ENTROPY = "entropy"
"""The name of the measured entropies, in lattice points."""

CONFIDENCE = 0.95
"""How often an interval holds the bounded entropy, at least."""


def measured_entropies(
    ids: pa.Array,
    points: Integers,
    *,
    private: bool,
    chosen: Booleans | None = None,
    listed: bool = True,
) -> Measurements:
    """Measurements of one noisy entropy for each of the `chosen` ids, or for all of them.

    Without a list, ids are texts in the order of their texts. Whether a source's ids are numbers, and hence their
    order, may hang on one id that only one user has; as texts they look the same either way.
    """
    if chosen is not None:
        import pyarrow as pa  # slow to load, and a plan never gets here
        import pyarrow.compute as pc

        ids = ids.filter(pa.array(chosen))
        if not listed:
            ids = ids.cast(pa.string())
            order = pc.sort_indices(ids)
            ids, points = ids.take(order), points[order.to_numpy()]
    return Measurements(ids, {ENTROPY: points}, private)


def entropy_estimates(
    measurements: Measurements, locations: Locations | None, *, scale: float | None, max_users: int | None
) -> Estimates:
    """Estimates of measured entropies: locations of the list that were not measured are withheld.

    `scale` is the noise scale where it is a public constant, and None where no error bar may be published.
    """
    ids = measurements.locations if locations is None else locations.ids
    points = measurements.values[ENTROPY]
    at = None if ids.equals(measurements.locations) else _positions(measurements.locations, ids)

    def column(values: Reals) -> Reals:
        if at is None:
            return values
        spread = np.full(len(ids), np.nan)
        spread[at] = values
        return spread

    def entropy(lattice_points: Integers) -> Reals:
        # The entropy of n users is between 0 and ln n, whatever the noise says; an interval shrinks likewise.
        most = None if max_users is None else math.log(max_users)
        return column(np.clip(from_lattice(lattice_points), 0.0, most))

    if scale is None:
        return Estimates(ids, entropy(points), "bounded", measurements.private)
    reach = half_width(scale)
    return Estimates(
        ids,
        entropy(points),
        "bounded",
        measurements.private,
        std_error=column(np.full(len(points), std_error(scale))),
        low=entropy(points - reach),
        high=entropy(points + reach),
    )


def std_error(scale: float) -> float:
    """Standard deviation, in nats, of discrete Laplace noise of a scale in lattice units."""
    return math.sqrt(2.0) * math.exp(-0.5 / scale) / -math.expm1(-1.0 / scale) / LATTICE


def half_width(scale: float) -> int:
    """The smallest q, in lattice units, with P(|noise| > q) = 2r^(q+1)/(1+r) ≤ 5 %, r = e^(−1/scale)."""
    above = 2.0 / (1.0 + math.exp(-1.0 / scale)) / (1.0 - CONFIDENCE)
    return max(0, math.ceil(scale * math.log(above) - 1.0))


def _positions(ids: pa.Array, within: pa.Array) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    found: NDArray[np.int64] = pc.index_in(ids, value_set=within).to_numpy().astype(np.int64)
    return found
