"""Queries that remember their answers, so that what was asked before the spend cannot fail after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.locations import Locations
    from locentropy.core.profile import VisitProfile
    from locentropy.core.queries import Queries
    from locentropy.core.share_profile import ShareProfile


class Remembered:
    """The same answers as the queries it is made of, each computed once."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._profiles: dict[Bounds, VisitProfile] = {}
        self._shares: dict[tuple[int, int, int], ShareProfile] = {}
        self._places_per_user: NDArray[np.int64] | None = None
        self._largest_visits: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    @property
    def locations(self) -> pa.Array:
        """The locations that are counted."""
        return self._queries.locations

    def profile(self, bounds: Bounds) -> VisitProfile:
        """The profile under bounds, computed when it is first asked for."""
        if bounds not in self._profiles:
            self._profiles[bounds] = self._queries.profile(bounds)
        return self._profiles[bounds]

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """Several of them."""
        return [self.profile(each) for each in bounds]

    def exact_profile(self) -> VisitProfile:
        """The profile with nobody bounded."""
        return self._queries.exact_profile()

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        """Where everyone's presence is, computed when it is first asked for."""
        asked = (unit, largest, max_visits)
        if asked not in self._shares:
            self._shares[asked] = self._queries.shares(*asked)
        return self._shares[asked]

    def restricted_to(self, locations: Locations) -> Queries:
        """The same queries about some of the locations only."""
        return self._queries.restricted_to(locations)

    def places_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations."""
        if self._places_per_user is None:
            self._places_per_user = self._queries.places_per_user()
        return self._places_per_user

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their most visits to one location."""
        if self._largest_visits is None:
            self._largest_visits = self._queries.largest_visits_per_user()
        return self._largest_visits
