"""What a mechanism may ask of private data: integer queries, and the same queries with their answers kept."""

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
    """Integer queries on one table of visits, read, checked and reduced to (user, location, visits).

    The rows were checked and reduced when this object was made, restricted to `locations` before anything
    was counted. Every answer is made of integers, is exact, and is the same on every engine. Answers are
    private; a mechanism asks, adds noise, and may then ask again depending on what it has released.
    """

    @property
    def locations(self) -> pa.Array:
        """The locations that are counted, in the order that every answer follows."""

    def profile(self, bounds: Bounds) -> VisitProfile:
        """How many users made 1, 2, …, C visits to each location, after bounding each user."""

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """`profile` for several bounds; those that keep locations by one rule share one pass."""

    def exact_profile(self) -> VisitProfile:
        """The profile with nobody bounded: one user can change it without limit."""

    def shares(self, unit: int, largest: int, max_visits: int) -> ShareProfile:
        """Where everyone's presence is: min(largest, ⌊unit/m⌋) at each location of a user who is at m of them.

        Nobody is bounded, and yet one user moves no answer that is made of it by more than `unit`. Locations are
        told apart by visits up to `max_visits`, all presence together by visits without a limit.
        """

    def restricted_to(self, locations: Locations) -> Queries:
        """The same queries about some of the locations only, as if no other visit had been made.

        For a list that was selected privately: from there on it is public, and users are bounded within it.
        """

    def locations_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations (entry 0 is always 0)."""

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their most visits to one location: the numbers of visits, rising, and how many users have each."""


class CachedQueries:
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

    def locations_per_user(self) -> NDArray[np.int64]:
        """How many users were in exactly 0, 1, 2, … of the locations."""
        if self._places_per_user is None:
            self._places_per_user = self._queries.locations_per_user()
        return self._places_per_user

    def largest_visits_per_user(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users by their most visits to one location."""
        if self._largest_visits is None:
            self._largest_visits = self._queries.largest_visits_per_user()
        return self._largest_visits
