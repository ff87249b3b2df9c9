"""The two ends of a mechanism: counts that were asked for as they must be, and estimates of noisy values.

Asking: the rows were restricted to the public list before they were counted, or the guarantee would be about
other data than was read. Returning: only noisy lattice points and public numbers get in, so all that happens here is
post-processing and costs nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.errors import EngineError, ParameterError
from locentropy.core.estimates import Estimates
from locentropy.privacy.noise import LATTICE, OpenDPNoise, from_lattice

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.locations import Locations
    from locentropy.core.profile import VisitProfile
    from locentropy.core.queries import Queries
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

CONFIDENCE = 0.95
"""How often an interval holds the bounded entropy, at least."""


def required(locations: Locations | None, mechanism: str) -> Locations:
    """The public list, for a mechanism that cannot do without."""
    if locations is None:
        raise ParameterError(
            f"{mechanism} needs a public list, and locations=None gives none: which places the visits name is "
            "private. Give Locations.of([...]), or use LimitPTR, which selects places privately."
        )
    return locations


def is_private(noise: Noise) -> bool:
    """Whether noise promises anything: by what it is, not by what it says of itself."""
    return isinstance(noise, OpenDPNoise)


def check_list(queries: Queries, locations: Locations) -> None:
    """Refuse queries about other visits than those at the public list."""
    if not queries.locations.equals(locations.ids):
        raise ParameterError(
            "The queries were not opened with the public list: their locations are others, or in another order "
            "or type. For example: open_queries(visits, locations=locations)"
        )


def bounded_profile(queries: Queries, bounds: Bounds, locations: Locations | None) -> VisitProfile:
    """The profile under `bounds` of visits restricted to the public list, if there is one. Private."""
    if locations is not None:
        check_list(queries, locations)
    profile = queries.profile(bounds)
    held = profile.bounds
    if (
        held is None
        or (held.max_locations, held.max_visits) != (bounds.max_locations, bounds.max_visits)
        or bounds.keep not in (None, held.keep)
        or profile.visits.max(initial=0) > bounds.max_visits
        or not profile.locations.equals(queries.locations)
    ):
        raise EngineError("The engine answered with another profile than the bounded one that was asked for.")
    return profile


def of_listed(
    locations: Locations, points: Integers, *, scale: float | None, max_users: int | None, private: bool
) -> Estimates:
    """Estimates for every location of a public list.

    `scale` is the noise scale where it is a public constant, and None where no error bar may be published.
    """
    return _estimates(locations.ids, points, scale, max_users, private=private)


def of_chosen(
    ids: pa.Array,
    chosen: Booleans,
    points: Integers,
    *,
    listed: bool,
    scale: float | None,
    max_users: int | None,
    private: bool,
) -> Estimates:
    """Estimates for the `chosen` among `ids`; the others are null if `listed`, and absent if not.

    Without a list, ids are texts in the order of their texts. Whether a source's ids are numbers, and hence their
    order, may hang on one id that only one user has; as texts they look the same either way.
    """
    if not listed:
        import pyarrow as pa  # slow to load, and a plan never gets here
        import pyarrow.compute as pc

        names = ids.filter(pa.array(chosen)).cast(pa.string())
        order = pc.sort_indices(names)
        return _estimates(names.take(order), points[order.to_numpy()], scale, max_users, private=private)
    return _estimates(ids, points, scale, max_users, private=private, at=np.flatnonzero(chosen))


def std_error(scale: float) -> float:
    """Standard deviation, in nats, of discrete Laplace noise of a scale in lattice units."""
    return math.sqrt(2.0) * math.exp(-0.5 / scale) / -math.expm1(-1.0 / scale) / LATTICE


def half_width(scale: float) -> int:
    """The smallest q, in lattice units, with P(|noise| > q) = 2r^(q+1)/(1+r) ≤ 5 %, r = e^(−1/scale)."""
    above = 2.0 / (1.0 + math.exp(-1.0 / scale)) / (1.0 - CONFIDENCE)
    return max(0, math.ceil(scale * math.log(above) - 1.0))


def _estimates(
    ids: pa.Array,
    points: Integers,
    scale: float | None,
    max_users: int | None,
    *,
    private: bool,
    at: NDArray[np.intp] | None = None,
) -> Estimates:
    """Lattice points as entropies within what is possible; `at` places them among the ids, the rest is NaN."""

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
        return Estimates(ids, entropy(points), "bounded", private)
    reach = half_width(scale)
    return Estimates(
        ids,
        entropy(points),
        "bounded",
        private,
        std_error=column(np.full(len(points), std_error(scale))),
        low=entropy(points - reach),
        high=entropy(points + reach),
    )
