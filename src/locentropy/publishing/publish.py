"""Publish: from visits to a release, in the order that keeps the guarantee.

    request    settled from public things alone; refused if it does not fit the budget
    read       the visits are read, checked and counted; whatever is wrong with them shows now
    spend      on disk in the ledger, before any noise is drawn; never refunded
    measure    noise from the operating system's randomness, once
    estimate   entropies from the noisy numbers and public things alone
    write      all files beside the target, then one rename

Reading, spending and measuring: pay_and_measure.py. An interrupted call can be repeated: what was spent is not spent
again, what was drawn is not drawn again (publication.py).
"""

from __future__ import annotations

import os
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from locentropy.core.errors import ParameterError, ReleaseError, SourceError
from locentropy.ledger.ledger import Ledger, new_id
from locentropy.mechanisms.select import SelectLocations
from locentropy.places.grid import Grid
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing.pay_and_measure import pay_and_measure
from locentropy.publishing.publication import Publication, check_name, ledger_note
from locentropy.publishing.publication_file import locked_publication
from locentropy.publishing.request import Request
from locentropy.release.files import marked_target
from locentropy.release.release import Release
from locentropy.release.statement import About
from locentropy.visits.queries import DEFAULT_RESOURCES, open_queries
from locentropy.visits.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from locentropy.core.estimates import Measurements
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.base import Mechanism
    from locentropy.places.public_list import PublicLocations
    from locentropy.publishing.chosen_locations import LocationsChoice
    from locentropy.release.statement import EntropyUnit
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.visits import BadRows


class ResumedWarning(UserWarning):
    """The release is the one that an earlier, interrupted attempt had drawn."""


def publish(
    visits: Visits,
    mechanism: Mechanism,
    locations: LocationsChoice | None = None,
    *,
    ledger: Ledger | str | Path | None,
    out: str | Path | None = None,
    about: About | None = None,
    exclude: PublicLocations | None = None,
    not_private: bool = False,
    entropy_unit: EntropyUnit = "nats",
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> Release:
    """Publish the location entropy of places, under the mechanism's guarantee.

    Parameters
    ----------
    visits
        The private table, such as `Visits("checkins.parquet", user="uid", location="venue")`.
    mechanism
        What computes the values, such as `Shares(epsilon=1.0)`.
    locations
        Which places are published: a `PublicLocations`, a `Grid` or a `SelectLocations`. None is for mechanisms that
        select places by themselves.
    ledger
        The budget that pays for it: a `Ledger` or its file. With None the release is counted against no budget: use
        that only with synthetic data.
    out
        A directory for the files of the release. An interrupted call can be repeated: what was spent is not spent
        again. Without it the release is returned only; what was spent for it is spent, whether or not it is saved.
    about
        The owner's words about the release, all published.
    exclude
        Places never to publish: visits to them do not count at all.
    not_private
        Must be True for a mechanism without a guarantee; every file is then marked.
    entropy_unit
        "nats" or "bits".
    resources
        Memory, threads and engine.
    progress
        A function that is called with what is being done.
    """
    request = Request(mechanism, locations, exclude, about or About(), entropy_unit, not_private)
    book = Ledger.open(ledger) if isinstance(ledger, str | Path) else ledger
    return carry_out(request, visits, out=out, ledger=book, resources=resources, progress=progress)


def carry_out(
    request: Request,
    visits: Visits,
    *,
    out: str | Path | None,
    ledger: Ledger | None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
) -> Release:
    """Publish what a request says. `when_open` is called with the role of each column, before anything is spent."""
    if not isinstance(visits, Visits):
        raise ParameterError(
            f"visits is a {type(visits).__name__}, and must say which column is what. For example: "
            'publish(Visits("checkins.parquet", user="uid", location="venue"), Shares(epsilon=1.0), '
            'PublicLocations("places.csv"), ledger="city.ledger")'
        )
    read = partial(open_queries, visits, resources=resources, progress=progress, when_open=when_open)
    make = partial(
        _make_release, request, ledger=ledger, read=read, progress=progress, bad_rows=visits.bad_rows
    )
    if out is None:
        return make(Publication(Path(), new_id(), new_id()))
    named = Path(os.path.abspath(out))  # noqa: PTH100  # without dots
    if not named.name:
        raise ReleaseError(f"{out} is no directory of its own. Name one: out='may', or --out may")
    target = marked_target(named, private=request.guarantee.private)
    check_name(target)
    with locked_publication(target, request.identity(ledger), ledger) as publication:
        publication.recover()
        if publication.is_drawn:
            publication.check_drawn()
            warnings.warn(
                f"An earlier attempt had drawn the release for {target}: it was finished as it was, and the visits "
                "were not read again.",
                ResumedWarning,
                stacklevel=3,
            )
        else:
            publication.check_target()
            publication.refuse_second_draw(ledger)
            publication.stage(make(publication))
        publication.finish(ledger)
    try:
        return Release.load(target)
    except BaseException as error:
        error.add_note(f"The release is published and complete: {target}")
        raise


def _make_release(
    request: Request,
    publication: Publication,
    *,
    ledger: Ledger | None,
    read: Callable[..., AbstractContextManager[Queries]],
    progress: Progress | None,
    bad_rows: BadRows,
) -> Release:
    """Read, pay, measure and estimate: the release, not yet on disk."""

    def check() -> None:
        if ledger is not None and not publication.is_paid(ledger):
            ledger.check(request.guarantee)  # the spend itself decides; this refuses before the data is read

    book, (measurements, listed) = pay_and_measure(
        check=check,
        read=lambda: request.chosen.open(read),
        rehearse=lambda queries: _rehearse(request, queries),
        pay=lambda: publication.pay(ledger, request.guarantee, request.about.title),
        measure=lambda queries: _measure(request, queries),
        progress=progress,
    )
    estimates = request.mechanism.estimate(measurements, listed)
    note = None if book is None else ledger_note(book, publication.spend_id)
    tuned = book is not None and bool(book.evaluations)
    statement = request.statement(publication.release_id, note, tuned=tuned, bad_rows=bad_rows)
    return Release.of(estimates, listed, statement)


def _rehearse(request: Request, queries: Queries) -> None:
    """Ask what will be asked first, so that what can fail because of the data fails before the spend."""
    if isinstance(request.locations, SelectLocations):
        request.locations.rehearse(queries)
    if not request.mechanism.rehearse(queries):
        grid = isinstance(request.locations, Grid)
        where = "the grid" if grid else "the places that are to be published"
        ask = (
            "Are its edges in the order south, west, north, east, and do lat and lon name the right columns?"
            if grid
            else "Are ids written alike in both, and is the list's column of ids (--places-location) the right one?"
        )
        raise SourceError(
            f"No visit is in {where}, so all that could be published is noise. {ask} Nothing was spent."
        )


def _measure(request: Request, queries: Queries) -> tuple[Measurements, Locations | None]:
    """The crossing: from here on, everything is fit to publish."""
    noise, listed = OpenDPNoise(), request.listed
    if isinstance(request.locations, SelectLocations):
        listed = request.locations.select(queries, noise)
        queries = queries.restricted_to(listed)
    return request.mechanism.measure(queries, listed, noise), listed
