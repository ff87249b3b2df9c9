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
    from locentropy.core.shares import ShareRule
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

    def look(self, rule: ShareRule) -> NDArray[np.int64]:
        """The presence at each location: the sum of the shares that its users have there by the rule."""

    def presence(
        self, rule: ShareRule, bands: NDArray[np.int64], places: Sequence[int], visits: Sequence[int]
    ) -> NDArray[np.int64]:
        """All presence in cells: by band of the location, number of the user's locations, and visits of the row.

        `bands` has a number from 0 for each location; `places` and `visits` are ascending thresholds, k of which make
        k + 1 cells, open at both ends. Each row adds its share to exactly one cell, and visits are not clipped.
        """

    def restricted_to(self, locations: Locations) -> Queries:
        """The same queries about some of the locations only, as if no other visit had been made.

        For a list that was selected privately: it is public from then on, and users are bounded within it. Where
        `locations` are groups, their members are the locations that are kept: a visit to any of them is one to the
        group, so that a user who was at three of them was at one location.
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
        self._looks: dict[ShareRule, NDArray[np.int64]] = {}
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

    def look(self, rule: ShareRule) -> NDArray[np.int64]:
        """The presence at each location, computed once."""
        if rule not in self._looks:
            self._looks[rule] = self._queries.look(rule)
            self._looks[rule].flags.writeable = False
        return self._looks[rule]

    def presence(
        self, rule: ShareRule, bands: NDArray[np.int64], places: Sequence[int], visits: Sequence[int]
    ) -> NDArray[np.int64]:
        """All presence in cells, computed each time: bands follow noise, which is never the same."""
        return self._queries.presence(rule, bands, places, visits)

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
