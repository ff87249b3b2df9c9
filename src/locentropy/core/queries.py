"""What a mechanism may ask of private data: integer queries, and a cache of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.locations import Locations
    from locentropy.core.share_profile import ShareProfile
    from locentropy.core.visit_profile import VisitProfile


class Queries(Protocol):
    """Integer queries on one table of visits.

    The rows were checked, restricted to `locations` and reduced to (user, location, visits) when this object was made.
    Every answer consists of integers, is exact, and is the same on every engine. Answers are private: a mechanism asks,
    adds noise, and may then ask again, depending on what it has released.
    """

    @property
    def locations(self) -> pa.Array:
        """The locations that are counted, in the order of every answer."""

    def profile(self, bounds: Bounds) -> VisitProfile:
        """How many users made 1, 2, …, C visits to each location, after bounding each user."""

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """`profile` for several bounds; bounds with the same `keep` share one pass over the data."""

    def exact_profile(self) -> VisitProfile:
        """The profile without bounds: one user can change it without limit."""

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        """Everyone's presence: min(largest, ⌊unit/m⌋) at each location of a user with m locations.

        No user is truncated, and yet one user changes each sum of presence by at most `unit`. By location, visits
        above `max_visits` count as `max_visits`; in the histogram over all locations they are not clipped.
        """

    def restricted_to(self, locations: Locations) -> Queries:
        """The same queries about some of the locations only, as if no other visit had been made.

        For a list that was selected privately: it is public from then on, and users are bounded within it.
        """

    def locations_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations (entry 0 is always 0)."""

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their largest number of visits to one location: the numbers, ascending, and the users of each."""


class CachedQueries:
    """The same answers as the given queries, each computed once."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._profiles: dict[Bounds, VisitProfile] = {}
        self._shares: dict[tuple[int, int, int], ShareProfile] = {}
        self._locations_per_user: NDArray[np.int64] | None = None
        self._largest_visits: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def __repr__(self) -> str:
        """The number of locations, and no answer."""
        return f"<CachedQueries on {len(self.locations):,} locations (private)>"

    @property
    def locations(self) -> pa.Array:
        """The locations that are counted."""
        return self._queries.locations

    def profile(self, bounds: Bounds) -> VisitProfile:
        """The profile under bounds, computed once."""
        if bounds not in self._profiles:
            self._profiles[bounds] = self._queries.profile(bounds)
        return self._profiles[bounds]

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """The profiles under several bounds."""
        return [self.profile(each) for each in bounds]

    def exact_profile(self) -> VisitProfile:
        """The profile without bounds, computed each time."""
        return self._queries.exact_profile()

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        """Everyone's presence, computed once."""
        asked = (unit, largest, max_visits)
        if asked not in self._shares:
            self._shares[asked] = self._queries.shares(*asked)
        return self._shares[asked]

    def restricted_to(self, locations: Locations) -> Queries:
        """The same queries about some of the locations only."""
        return self._queries.restricted_to(locations)

    def locations_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations."""
        if self._locations_per_user is None:
            self._locations_per_user = self._queries.locations_per_user()
        return self._locations_per_user

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their largest number of visits to one location."""
        if self._largest_visits is None:
            self._largest_visits = self._queries.largest_visits_per_user()
        return self._largest_visits
