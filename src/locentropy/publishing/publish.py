"""Publish: the one story from visits to a release, in the order that keeps the promise.

    order      settled from public things alone; refused if it does not fit the budget
    read       the visits are read, checked and counted; whatever is wrong with them shows now
    spend      on disk in the ledger, before any noise is drawn; never refunded
    draw       noise from the operating system's randomness, once
    write      all files beside the target, then one rename

Whoever is interrupted calls again: what was spent is not spent again, what was drawn is not drawn again.
"""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locentropy.core.bounds import Bounds
from locentropy.core.errors import ParameterError, ReleaseError, SourceError
from locentropy.core.grid import Grid
from locentropy.core.locations import Locations
from locentropy.mechanisms.select_locations import SelectLocations
from locentropy.mechanisms.shares import Shares
from locentropy.privacy.ledger import Ledger, new_id
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing.about import About
from locentropy.publishing.claim import Claim, check_name, ledger_note
from locentropy.publishing.claim_file import claimed
from locentropy.publishing.order import Order
from locentropy.publishing.remembered import Remembered
from locentropy.release.names import marked_target
from locentropy.release.release import Release
from locentropy.visits.queries import DEFAULT_RESOURCES, open_queries
from locentropy.visits.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from locentropy.core.estimates import Estimates
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.mechanism import Mechanism
    from locentropy.publishing.order import PlacesChoice
    from locentropy.release.statement import Unit
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.engine import Progress, Resources
    from locentropy.visits.public_list import PublicLocations
    from locentropy.visits.visits import BadRows


class ResumedWarning(UserWarning):
    """What was published is what an earlier attempt had drawn."""


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
    return carry_out(order, visits, out=out, ledger=book, resources=resources, progress=progress)


def carry_out(
    order: Order,
    visits: Visits,
    *,
    out: str | Path | None,
    ledger: Ledger | None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
) -> Release:
    """Publish what an order says. `when_open` hears which column plays which role, while nothing is spent."""
    if not isinstance(visits, Visits):
        raise ParameterError(
            f"visits is a {type(visits).__name__}, and must say which column is what. For example: "
            'publish(Visits("checkins.parquet", user="uid", location="venue"), …)'
        )
    read = partial(open_queries, visits, resources=resources, progress=progress, when_open=when_open)
    draw = partial(_drawn, order, ledger=ledger, read=read, progress=progress, bad_rows=visits.bad_rows)
    if out is None:
        return draw(Claim(Path(), new_id(), new_id()))
    named = Path(os.path.abspath(out))  # noqa: PTH100  # without dots
    if not named.name:
        raise ReleaseError(f"{out} is no directory of its own. For example: out='may'")
    target = marked_target(named, private=order.guarantee.private)
    check_name(target)
    with claimed(target, order.in_short(ledger), ledger) as claim:
        claim.recover()
        if claim.is_drawn:
            claim.check_drawn()
            warnings.warn(
                f"An earlier attempt had drawn the release for {target}: it was finished as it was, and the visits "
                "were not read again.",
                ResumedWarning,
                stacklevel=3,
            )
        else:
            claim.check_target()
            claim.refuse_second_draw(ledger)
            claim.stage(draw(claim))
        claim.finish(ledger)
    try:
        return Release.load(target)
    except BaseException as error:
        error.add_note(f"The release is published and complete: {target}")
        raise


def _drawn(
    order: Order,
    claim: Claim,
    *,
    ledger: Ledger | None,
    read: Callable[..., AbstractContextManager[Queries]],
    progress: Progress | None,
    bad_rows: BadRows,
) -> Release:
    """Read, spend, draw: the release, not yet on disk."""
    if ledger is not None and not claim.is_paid(ledger):
        ledger.check(order.guarantee)  # before the data is read; the spend itself decides
    wanted = order.places if isinstance(order.places, Grid) else order.listed
    with read(locations=wanted) as opened:
        queries = Remembered(_without_excluded(order, opened))
        _rehearse(order, queries)
        if progress is not None:
            progress(
                "Drawing noise", None
            )  # the last moment at which whoever reports can stop it for nothing
        book = claim.pay(ledger, order.guarantee, order.about.title)
        estimates, places = _estimates(order, queries)
    note = None if book is None else ledger_note(book, claim.spend_id)
    tuned = book is not None and bool(book.evaluations)
    statement = order.statement(claim.release_id, note, tuned=tuned, bad_rows=bad_rows)
    return Release.of(estimates, places, statement)


def _without_excluded(order: Order, queries: Queries) -> Queries:
    """Queries as if no visit to an excluded place had been made; a public list was opened without them."""
    if order.excluded is None:
        return queries
    if order.listed is None:
        return queries.restricted_to(Locations(queries.locations).without(order.excluded))
    return queries.restricted_to(order.listed) if isinstance(order.places, Grid) else queries


def _rehearse(order: Order, queries: Remembered) -> None:
    """Ask what will be asked first, so that what can fail for the data's sake fails before the spend."""
    if isinstance(order.places, SelectLocations):
        queries.profile(Bounds(order.places.max_locations, 1, order.places.keep))
    if not _finds_anybody(order.mechanism, queries):
        ask = (
            "Are its edges in the order south, west, north, east, and do lat and lon name the right columns?"
            if isinstance(order.places, Grid)
            else "Are ids written alike in both, and is the list's column of ids (--places-location) the right one?"
        )
        where = "the grid" if isinstance(order.places, Grid) else "the places that are to be published"
        raise SourceError(
            f"No visit is in {where}, so all that could be published is noise. {ask} Nothing was spent."
        )


def _finds_anybody(mechanism: Any, queries: Remembered) -> bool:
    """Whether what the mechanism asks for counts anybody at all."""
    if isinstance(mechanism, Shares):
        shares = mechanism.questions.ask(queries, Locations(queries.locations))
        return bool(shares.look.any())
    profile = queries.profile(Bounds(mechanism.max_locations, mechanism.max_visits, mechanism.keep))
    return bool(profile.users.any())


def _estimates(order: Order, queries: Queries) -> tuple[Estimates, Locations | None]:
    """The crossing: from here on, everything is fit to publish."""
    noise, listed = OpenDPNoise(), order.listed
    if isinstance(order.places, SelectLocations):
        listed = order.places.select(queries, noise)
        queries = queries.restricted_to(listed)
    return order.mechanism.estimate(queries, listed, noise), listed
