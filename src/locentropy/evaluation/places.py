"""The visits, opened at the places that are judged."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.core.queries import CachedQueries
from locentropy.mechanisms.select import SelectLocations
from locentropy.places.grid import Grid
from locentropy.places.public_list import PublicLocations
from locentropy.publishing.request import LocationsChoice
from locentropy.visits.queries import open_queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.core.queries import Queries
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import Visits


@dataclass(frozen=True)
class Opened:
    """Queries about every place that is judged, and how a mechanism learns of places."""

    queries: Queries
    """About all places that are judged."""
    listed: Locations | None
    """The public list, if there is one; without one, all places of the visits are judged."""
    selection: SelectLocations | None
    """What selects places privately, before the mechanism, if anything does."""


@contextmanager
def opened(
    visits: Visits,
    places: LocationsChoice | None,
    exclude: PublicLocations | None,
    resources: Resources,
    progress: Progress | None,
) -> Iterator[Opened]:
    """Read the visits, once, as publishing would."""
    if places is not None and not isinstance(places, LocationsChoice):
        raise ParameterError(
            f"{type(places).__name__} is not a way to say which places. "
            'For example: evaluate(visits, mechanisms, PublicLocations("places.csv"))'
        )
    excluded = None if exclude is None else exclude.load()
    listed = _listed(places, excluded)
    wanted = places if isinstance(places, Grid) else listed
    with open_queries(visits, locations=wanted, resources=resources, progress=progress) as queries:
        kept = listed if listed is not None else _all_but(queries, excluded)
        if kept is not None and excluded is not None and not isinstance(places, PublicLocations):
            queries = queries.restricted_to(kept)
        selection = places if isinstance(places, SelectLocations) else None
        yield Opened(CachedQueries(queries), listed, selection)


def _listed(places: LocationsChoice | None, excluded: Locations | None) -> Locations | None:
    if isinstance(places, PublicLocations):
        every = places.load()
    elif isinstance(places, Grid):
        every = places.locations()
    else:
        return None
    if excluded is None:
        return every
    kept = every.without(excluded)
    if len(kept) in (0, len(every)):
        raise ParameterError(
            "All places of the list are excluded, so there is nothing to compare."
            if len(kept) == 0
            else "None of the places to exclude is on the list of places. Are ids written the same way in both?"
        )
    return kept


def _all_but(queries: Queries, excluded: Locations | None) -> Locations | None:
    return None if excluded is None else Locations(queries.locations).without(excluded)
