"""Publish: from visits to a release, in the order that keeps the guarantee.

    request    settled from public things alone; refused if it does not fit the budget
    rehearse   earlier releases, attributes and coordinates, which may be forged, are tried on invented numbers
    read       the visits are read, checked and counted; whatever is wrong with them shows now
    spend      on disk in the ledger, before any noise is drawn; never refunded
    measure    noise from the operating system's randomness, once; every draw is on disk before it is used
    estimate   entropies from the noisy numbers on disk and public things alone
    write      all files beside the target, then one rename

Reading, spending and measuring: pay_and_measure.py. An interrupted call can be repeated: what was spent is not spent
again, what was drawn is not drawn again (publication.py).
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from locentropy.core.civil_time import merged
from locentropy.core.errors import ParameterError, ReleaseError
from locentropy.core.language import DEFAULT_LANGUAGE
from locentropy.core.locations import Cells
from locentropy.core.meanwhile import meanwhile
from locentropy.core.notebook_progress import shown_progress
from locentropy.core.window_split import split
from locentropy.ledger.entries import new_id
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.select import SelectLocations
from locentropy.privacy.noise import OpenDPNoise
from locentropy.publishing.inference import (
    WITHOUT,
    check_unsaved,
    check_without_series,
    inferred,
    listed_in,
    rehearse_inference,
)
from locentropy.publishing.notices import give, notices, published_words, warn_of_user_column
from locentropy.publishing.pay_and_measure import nobody_counted, pay_and_measure
from locentropy.publishing.publication import Publication, ResumedWarning, check_name
from locentropy.publishing.publication_file import locked_publication, taken_up, target_of
from locentropy.publishing.rebuilding import charge_in
from locentropy.publishing.request import Request
from locentropy.release.chain import read_chain
from locentropy.release.exports import check_also
from locentropy.release.ledger_notes import ledger_note
from locentropy.release.measurements import KeptMeasurements
from locentropy.release.release import Release
from locentropy.release.statement import About
from locentropy.visits.person_column import check_publishable
from locentropy.visits.queries import DEFAULT_RESOURCES, open_queries
from locentropy.visits.rows import READING_LOG
from locentropy.visits.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from locentropy.core.estimates import Measurements
    from locentropy.core.queries import Queries
    from locentropy.core.window_split import Period
    from locentropy.core.windows import Window
    from locentropy.mechanisms.base import Mechanism
    from locentropy.places.public_list import PublicLocations
    from locentropy.privacy.noise import Noise
    from locentropy.privacy.units import Unit
    from locentropy.publishing.chosen_locations import LocationsChoice
    from locentropy.release.statement import EntropyUnit
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Progress, Resources


_NEEDED_LATER: Final = ("pandas", "opendp.measurements", "locentropy.release.report.page")
"""Modules that load while visits are counted, for noise and for the files. Arrow imports pandas wherever it is."""

_RULES: Final = ("bad_rows", "missing_ids")
"""How rows are read; a release that is computed from kept measurements says how they were read then."""


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
    large_epsilon: bool = False,
    refuse_empty: bool = False,
    entropy_unit: EntropyUnit = "nats",
    max_std_error: float | None = None,
    also: Sequence[str] = (),
    window: Window | None = None,
    windows: Period | None = None,
    after: Release | str | Path | None = None,
    without_series: bool = False,
    outline: str | Path | None = None,
    language: str = DEFAULT_LANGUAGE,
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
        Which places are published: a `PublicLocations`, the cells of a map (`Grid`, `Zones`,
        `H3Cells`, `InspireSquares`) or a `SelectLocations`. None is for mechanisms that
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
    large_epsilon
        Must be True for an ε above 10, which hides hardly anything about one person; the page then says so.
    refuse_empty
        Whether to refuse, at no cost, if no visit is at any of the places. That a release exists then tells that
        somebody was there, which no ε covers: every file says so. Without it the private log tells the owner.
    entropy_unit
        "nats" or "bits".
    max_std_error
        Places with a larger standard error, in nats whatever the unit, get no value. It costs nothing and protects
        nobody: it is for readers who would take a number without looking at its error bar.
    also
        Further formats of the table in `out`: "geojson", "gpkg" (GeoPackage), and CSV for Excel, "excel-comma" or
        "excel-point" by the decimal mark of the country.
    window
        Only visits that began in this window, as with `visits.during(window)`. A ledger with a unit per period needs
        one, inside one of its periods.
    windows
        "month", "week" or "day": cut the window into these, and publish every place in each of them, in one table. In a
        ledger of people all are one measurement; in one per period each period is a part of its own, which costs the
        whole guarantee in its period, and is charged there.
    after
        The latest release of a series that this one goes on with: its directory, or the release that was read from
        there. Values then lean on the published measurements of all earlier releases as well, which costs nothing,
        and `change` tells what rose, fell or closed. It must be about the same list, by the same mechanism, and an
        earlier window; those before it are found beside it. See docs/series.md.
    without_series
        Finish an attempt with `after` that fails after the spend from its own measurements. Nothing can follow it.
    outline
        A public map, such as a GeoJSON file of the coast or the districts, whose lines and polygons are behind the
        places on the page's map: cut to their surroundings, simplified, and kept in the release. It is published, so
        it must not come from the visits.
    language
        Of the page, report.html: "en" or "de". The owner's words, and names of places, are shown as they were given;
        all other files are in English.
    resources
        Memory, threads and engine.
    progress
        A function that is called with what is being done.
    """
    _check_visits(visits)
    book = Ledger.open(ledger) if isinstance(ledger, str | Path) else ledger
    during = visits.window if window is None else visits.during(window).window
    settled, unit, cut = settle(during, book, windows)
    request = Request(
        mechanism,
        locations,
        exclude,
        about or About(),
        entropy_unit,
        not_private,
        refuse_empty,
        large_epsilon,
        max_std_error,
        settled,
        unit,
        cut,
        windows,
        outline,
        None if after is None else read_chain(_directory_of(after)),
        language,
        without_series,
        spelling=visits.spelling,
        missing_id_words=tuple(visits.missing_id_words),
    )
    # Before the list is read, for errors about a list name its columns.
    request.refuse_visits_as_public(visits)
    if out is not None:
        request = taken_up(request, out, book)
    request.chosen.warn_of_exclusions()
    give(notices(request, book))
    for words in published_words(request):
        READING_LOG.info("%s", words)
    with shown_progress(progress) as shown:
        return carry_out(
            request,
            visits,
            out=out,
            also=also,
            ledger=book,
            resources=resources,
            progress=shown,
            when_open=lambda columns: warn_of_user_column(
                visits, columns, private=request.guarantee.private, unit=request.unit
            ),
        )


def carry_out(
    request: Request,
    visits: Visits,
    *,
    out: str | Path | None,
    ledger: Ledger | None,
    also: Sequence[str] = (),
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
) -> Release:
    """Publish what a request says. `when_open` is called with the role of each column, before anything is spent."""
    visits = visits_of(request, visits)
    if not request.needs_first_times:
        visits = visits.without_unused_times()
    check_files(request, also, saved=out is not None)
    columns: Roles = {}

    def opened(found: Roles) -> None:
        check_publishable(found["user"])
        columns.update(found)
        when_open(found)

    read = partial(
        open_queries,
        visits,
        resources=resources,
        progress=meanwhile(progress, _NEEDED_LATER, request.mechanism.prepare_estimate),
        when_open=opened,
        refuse_empty=request.refuse_empty,
        first_times=request.needs_first_times,
    )
    rules = {rule: str(getattr(visits, rule)) for rule in _RULES}
    measure = partial(
        _measure, request, ledger=ledger, read=read, progress=progress, columns=columns, rules=rules
    )
    infer = partial(_infer, request, ledger=ledger)
    if out is None:
        check_unsaved(request, counted=ledger is not None)
        publication = Publication(Path(), new_id())
        kept = measure(publication, lambda _: nullcontext(OpenDPNoise()))
        publication.release_id = kept[0].release_id
        publication.record_draw(ledger)
        release = infer(publication, kept)
        if ledger is not None:  # there is no file to name: it is in the caller's hands
            ledger.record_release(publication.spend_id, publication.drawn_id, "published")
        return release
    target = target_of(request, out)
    check_name(target)
    charge = None if ledger is None else lambda: charge_in(ledger.read(), request.charged, request.parts)
    with locked_publication(target, request.identity(ledger), ledger, charge) as publication:
        if request.begun_before and not publication.begun:
            raise ReleaseError(
                f"{target}: the earlier attempt was finished, or given up, in the meantime. Repeat the call."
            )
        earlier = publication.measurements()
        publication.check_staged(measured=earlier is not None)
        check_without_series(request, target, begun=publication.begun, staged=publication.staged_statement)
        if publication.is_staged or earlier is not None:
            warnings.warn(
                f"An earlier attempt had drawn the release for {target}: it was finished as it was, and the visits "
                "were not read again.",
                ResumedWarning,
                stacklevel=3,
            )
        if not publication.is_staged:
            publication.check_target()
            if earlier is None:
                publication.refuse_second_draw(ledger)
                publication.keep(measure(publication, publication.journaled_noise))
            publication.record_draw(ledger)
            publication.stage(infer(publication, publication.measurements()), also)
        publication.finish(ledger)
    try:
        return Release.load(target).with_earlier(request.earlier)
    except BaseException as error:
        error.add_note(f"The release is published and complete: {target}")
        raise


def visits_of(request: Request, visits: Visits) -> Visits:
    """The visits in the window of a request; raise unless they can be what it is about."""
    _check_visits(visits)
    if visits.window is not None and not visits.window.same_as(request.window):
        raise ParameterError("The visits are those of another window than the request is about.")
    visits = replace(visits, window=request.window)
    request.refuse_visits_as_public(visits)
    return visits


def settle(
    window: Window | None, ledger: Ledger | None, windows: Period | None = None
) -> tuple[Window | None, Unit, tuple[Window, ...]]:
    """The window as the ledger can charge it, the ledger's unit, and the windows that it is cut into.

    Raises if it cannot be charged. Reads no visits.
    """
    cut = () if windows is None else split(window, windows)
    if ledger is None:
        return window, "person", cut
    unit = ledger.read().unit
    if window is None or not cut:
        return (window if window is None else ledger.settled(window)), unit, cut
    cut = tuple(map(ledger.settled, cut))
    instants = merged(piece for each in cut for piece in each.instants)
    return (window if window.instants == instants else replace(window, within=instants)), unit, cut


def _directory_of(after: Release | str | Path) -> Path:
    """The directory of the release to go on with."""
    if isinstance(after, str | Path):
        return Path(after)
    directory = after.directory if isinstance(after, Release) else None
    if directory is None:
        raise ParameterError(
            "after must be the directory of a release, or a release that was read from one or published into one "
            '(out=): later releases name it by the fingerprint of its files. For example: after="april"'
        )
    return directory


def check_files(request: Request, also: Sequence[str], *, saved: bool) -> None:
    """Raise if the outline or a further format of the table cannot be written; from public things alone."""
    _ = request.background
    listed = request.listed
    check_also(also, coordinates=listed is not None and listed.lat is not None)
    if also and not saved:
        raise ParameterError("asks for files, so out must name a directory for them.", parameter="also")


def _check_visits(visits: object) -> None:
    if not isinstance(visits, Visits):
        raise ParameterError(
            f"visits is a {type(visits).__name__}, and must say which column is what. For example: "
            'publish(Visits("checkins.parquet", user="uid", location="venue"), Shares(epsilon=1.0), '
            'PublicLocations("places.csv"), ledger="city.ledger")'
        )


def _measure(
    request: Request,
    publication: Publication,
    open_noise: Callable[[Mapping[str, str | None]], AbstractContextManager[OpenDPNoise]],
    *,
    ledger: Ledger | None,
    read: Callable[..., AbstractContextManager[Queries]],
    progress: Progress | None,
    columns: Roles,
    rules: dict[str, str],
) -> tuple[KeptMeasurements, ...]:
    """Read, pay and measure: every level, on one reading of the visits, for one spend."""
    asked: list[Queries] = []

    def check() -> None:
        if ledger is not None and not publication.is_paid(ledger):
            # The spend itself decides; this refuses before the data is read.
            ledger.check(request.charged, request.parts)
        rehearse_inference(request, publication, progress)

    def rehearse(queries: Queries) -> None:
        # Made once: the measurement shares the answers.
        asked.extend(level.of(queries) for level in request.levels)
        _rehearse(request, asked)

    def measure(queries: Queries) -> list[Measurements]:
        read_as = {**rules, "user": columns.get("user")}
        with open_noise(read_as) as noise:
            return _cross(request, asked, noise)

    _, measured = pay_and_measure(
        check=check,
        read=lambda: request.chosen.open(read, request.windows),
        rehearse=rehearse,
        pay=lambda: publication.pay(ledger, request.charged, request.about.title, request.parts),
        measure=measure,
        progress=progress,
    )
    # The id is made now, when the draw is complete: whoever else draws for this spend has another one.
    release_id, user = new_id(), columns.get("user")
    return tuple(
        KeptMeasurements.of(
            release_id, measurements, level.mechanism, listed_in(request, level, measurements), user, rules
        )
        for level, measurements in zip(request.levels, measured, strict=True)
    )


def _cross(request: Request, asked: list[Queries], noise: Noise) -> list[Measurements]:
    """The crossing, level by level: from here on, everything is fit to publish."""
    measured = []
    for level, queries in zip(request.levels, asked, strict=True):
        listed, about = level.locations, queries
        if isinstance(request.locations, SelectLocations):
            listed = request.locations.select(queries, noise)
            about = queries.restricted_to(listed)
        measured.append(level.mechanism.measure(about, listed, noise))
    return measured


def _infer(
    request: Request,
    publication: Publication,
    kept: tuple[KeptMeasurements, ...] | None,
    *,
    ledger: Ledger | None,
) -> Release:
    """The release, from measurements and public things alone."""
    if kept is None or len(kept) != len(request.levels):
        raise ReleaseError(f"{publication.target}: the measurements beside it are gone.")
    book = None if ledger is None else ledger.read()
    note = None if book is None else ledger_note(book, publication.spend_id)
    tuned = book is not None and bool(book.evaluations)
    made = []
    for level, each in zip(request.levels, kept, strict=True):
        statement = request.statement(
            each.release_id,
            note,
            tuned=tuned,
            user_column=each.user_column,
            level=level,
            **{rule: each.rules[rule] for rule in _RULES if rule in each.rules},  # type: ignore[arg-type]
        )
        try:
            made.append(inferred(request, level, each, statement))
        except Exception as error:
            if request.series is not None and publication.target.name:  # else nothing was kept
                error.add_note(WITHOUT)
            raise
    return made[0].with_levels(made[1:]).with_earlier(request.earlier).with_background(request.background)


def _rehearse(request: Request, asked: list[Queries]) -> None:
    """Ask what will be asked first, so that what can fail because of the data fails before the spend."""
    if isinstance(request.locations, SelectLocations):
        request.locations.rehearse(asked[0])
    counted = [
        level.mechanism.rehearse(queries) for level, queries in zip(request.levels, asked, strict=True)
    ]
    if not any(counted):
        nobody_counted(grid=isinstance(request.locations, Cells), refuse_empty=request.refuse_empty)
