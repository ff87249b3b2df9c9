"""Publish: the one story from visits to a release, in the order that keeps the promise.

    order      settled from public things alone; refused if it does not fit the budget
    read       the visits are read, checked and counted; whatever is wrong with them shows now
    spend      on disk in the ledger, before any noise is drawn; never refunded
    draw       noise from the operating system's randomness, once
    write      all files beside the target, then one rename

Whoever is interrupted calls again: what was spent is not spent again, what was drawn is not drawn again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from locentropy.core.bounds import Bounds
from locentropy.core.grid import Grid
from locentropy.mechanisms.select_locations import SelectLocations
from locentropy.privacy.ledger import Ledger, new_id
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing.claim import Claim, claimed
from locentropy.publishing.order import About, Order
from locentropy.publishing.remembered import Remembered
from locentropy.release.names import marked_target
from locentropy.release.release import Release
from locentropy.visits.queries import DEFAULT_RESOURCES, open_queries

if TYPE_CHECKING:
    from locentropy.core.estimates import Estimates
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.mechanism import Mechanism
    from locentropy.publishing.order import PlacesChoice
    from locentropy.release.statement import Unit
    from locentropy.visits.engines.engine import Progress, Resources
    from locentropy.visits.public_list import PublicLocations
    from locentropy.visits.visits import Visits


def publish(
    visits: Visits,
    mechanism: Mechanism,
    places: PlacesChoice | None = None,
    *,
    out: str | Path | None = None,
    ledger: Ledger | str | Path | None = None,
    about: About | None = None,
    exclude: PublicLocations | None = None,
    not_private: bool = False,
    unit: Unit = "nats",
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> Release:
    """Publish the location entropy of places, under the mechanism's guarantee.

    With `out` the release is written there, and an interrupted call can be repeated. Without it the release is
    returned only; what was spent for it is spent, whether or not it is saved.
    """
    order = Order(mechanism, places, exclude, about or About(), unit, not_private)
    book = Ledger.open(ledger) if isinstance(ledger, str | Path) else ledger
    if out is None:
        return _drawn(order, Claim(Path(), new_id(), new_id()), visits, book, resources, progress)
    target = marked_target(Path(out).absolute(), private=order.guarantee.private)
    with claimed(target, order.in_short(book)) as claim:
        if not claim.is_drawn:
            claim.stage(_drawn(order, claim, visits, book, resources, progress))
        claim.finish(book)
    return Release.load(target)


def _drawn(
    order: Order,
    claim: Claim,
    visits: Visits,
    book: Ledger | None,
    resources: Resources,
    progress: Progress | None,
) -> Release:
    """Read, spend, draw: the release, not yet on disk."""
    if book is not None and not claim.is_paid(book):
        book.check(order.guarantee)  # before the data is read; the spend itself decides
    listed = order.listed()
    wanted = order.places if isinstance(order.places, Grid) else listed
    with open_queries(visits, locations=wanted, resources=resources, progress=progress) as queries:
        if listed is not None and isinstance(wanted, Grid):
            queries = queries.restricted_to(listed)  # a grid less the excluded cells
        remembered = Remembered(queries)
        _rehearse(order, remembered)
        note = claim.pay(book, order.guarantee, order.about.title)
        estimates, places = _estimates(order, remembered, listed)
    tuned = book is not None and book.tuned_unaccounted
    return Release.of(estimates, places, order.statement(claim.release_id, note, tuned=tuned))


def _rehearse(order: Order, queries: Remembered) -> None:
    """Ask what will be asked first, so that what can fail for the data's sake fails before the spend."""
    asking: Any = order.mechanism
    if isinstance(order.places, SelectLocations):
        queries.profile(Bounds(order.places.max_locations, 1, order.places.keep))
    queries.profile(Bounds(asking.max_locations, asking.max_visits, asking.keep))


def _estimates(
    order: Order, queries: Queries, listed: Locations | None
) -> tuple[Estimates, Locations | None]:
    """The crossing: from here on, everything is fit to publish."""
    noise = OpenDPNoise()
    if isinstance(order.places, SelectLocations):
        listed = order.places.select(queries, noise)
        queries = queries.restricted_to(listed)
    return order.mechanism.estimate(queries, listed, noise), listed
