"""A check of the input before anything is spent on it: do ids and times fit, and what would be dropped?

A request is settled and the visits are read as publishing does, and then nothing is measured, spent or drawn. What is
found is exact, so it is for the owner of the data alone; acting upon it is a choice that the data influenced, which the
ledger notes before anybody sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from locentropy.core.notebook_progress import shown_progress
from locentropy.evaluation.input_problems import examples, problems
from locentropy.ledger.ledger import Ledger
from locentropy.mechanisms.base import require_mechanism
from locentropy.publishing.publish import settle, visits_of
from locentropy.publishing.request import Request
from locentropy.visits.overview import overview
from locentropy.visits.person_column import check_publishable
from locentropy.visits.queries import DEFAULT_RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from locentropy.core.window_split import Period
    from locentropy.core.windows import Window
    from locentropy.mechanisms.base import Mechanism
    from locentropy.places.public_list import PublicLocations
    from locentropy.publishing.chosen_locations import LocationsChoice
    from locentropy.visits.columns import Roles
    from locentropy.visits.engines.base import Progress, Resources
    from locentropy.visits.overview import AtPlaces, Overview
    from locentropy.visits.visits import Visits

WARNING: Final = "NOT PRIVATE: these numbers are exact, and for the owner of the data. Do not publish them."
LOOKS_RIGHT: Final = "Looks right."
LOOKS_WRONG: Final = "What looks wrong:"
_CALL: Final = 'check(visits, Shares(epsilon=1.0), PublicLocations("places.csv"), ledger="city.ledger")'


@dataclass(frozen=True, eq=False, repr=False)
class CheckedInput:
    """What a check of the input found. Private; `print(checked.report())` shows it."""

    found: Overview
    """The numbers."""
    problems: tuple[str, ...]
    """What looks wrong, and what mends it."""

    def __repr__(self) -> str:
        """No value: what is found shows only where it is asked for."""
        return "<CheckedInput: NOT PRIVATE, see report()>"

    @property
    def looks_right(self) -> bool:
        """Whether nothing looks wrong."""
        return not self.problems

    def report(self) -> str:
        """All of it in words, for the owner of the data."""
        lines = [WARNING, "", *(f"{name:<32} {value}" for name, value in _facts(self.found)), ""]
        if self.looks_right:
            return "\n".join([*lines, LOOKS_RIGHT])
        told = (each.replace("\n", "\n  ") for each in self.problems)
        return "\n".join([*lines, LOOKS_WRONG, *(f"- {each}" for each in told)])


def check(
    visits: Visits,
    mechanism: Mechanism,
    locations: LocationsChoice | None = None,
    *,
    ledger: Ledger | str | Path | None,
    exclude: PublicLocations | None = None,
    window: Window | None = None,
    windows: Period | None = None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
) -> CheckedInput:
    """Compare ids, dates and dropped rows with the exact data before anything is spent on them. Private.

    It takes what `publish` takes, as far as that decides what is read. Nothing is spent, and no result is computed.

    Parameters
    ----------
    visits, mechanism, locations, exclude, window, windows, resources, progress
        As for `publish`.
    ledger
        The ledger of these people, or its file: it notes, before anything is returned, that the input was checked, and
        manifests of later releases say so. None is for synthetic data.

    Returns
    -------
    CheckedInput
        `looks_right`, `problems` with what mends them, and all of it in words as `report()`.

    Examples
    --------
    >>> checked = le.private.check(visits, le.Shares(epsilon=1.0), places, ledger="city.ledger")  # doctest: +SKIP
    >>> print(checked.report())  # doctest: +SKIP
    """
    require_mechanism(mechanism, _CALL)
    book = Ledger.open(ledger) if isinstance(ledger, str | Path) else ledger
    settled, unit, cut = settle(
        visits.window if window is None else visits.during(window).window, book, windows
    )
    request = Request(
        mechanism,
        locations,
        exclude,
        # Whether these are agreed to is asked before a release; here there is none.
        not_private=not mechanism.guarantee.private,
        large_epsilon=True,
        window=settled,
        unit=unit,
        windows=cut,
        windows_of=windows,
        spelling=visits.spelling,
        missing_id_words=tuple(visits.missing_id_words),
    )
    with shown_progress(progress) as shown:
        return check_request(request, visits, ledger=book, resources=resources, progress=shown)


def check_request(
    request: Request,
    visits: Visits,
    *,
    ledger: Ledger | None,
    resources: Resources = DEFAULT_RESOURCES,
    progress: Progress | None = None,
    when_open: Callable[[Roles], None] = lambda columns: None,
) -> CheckedInput:
    """Read the visits as publishing would, and note that in the ledger before anything is returned."""
    visits = visits_of(request, visits)

    def opened(columns: Roles) -> None:
        check_publishable(columns["user"])
        when_open(columns)

    found = overview(
        visits,
        request.chosen.compared,
        request.chosen.excluded,
        first_times=request.needs_first_times,
        resources=resources,
        progress=progress,
        when_open=opened,
        windows=request.windows,
    )
    if ledger is not None:
        ledger.record_check()
    return CheckedInput(found, tuple(problems(found, request)))


def _facts(found: Overview) -> Iterator[tuple[str, str]]:
    """The numbers, each with its name."""
    yield "rows read", f"{found.rows:,}"
    if found.outside:
        yield "rows outside the window", f"{found.outside:,}"
    yield "rows dropped", f"{found.left_out:,}"
    for each in found.dropped:
        yield f"  {each.rows:,}", each.why
    yield "people", f"{found.people:,}"
    if found.at is None:
        yield "visits", f"{found.visits:,}"
    else:
        yield from _facts_of(found.at)
    unknown = "not known: no times, or none of a known unit"
    yield "first and last date", unknown if found.days is None else " to ".join(map(str, found.days))


def _facts_of(at: AtPlaces) -> Iterator[tuple[str, str]]:
    if at.unlisted is None:
        yield "visits in the cells", f"{at.visits:,}"
        yield "visits outside them", f"{at.elsewhere:,}"
        yield "cells with a visit", f"{at.visited:,} of {at.places:,}"
        return
    yield "visits at listed places", f"{at.visits:,}"
    yield "visits at unlisted places", f"{at.elsewhere:,}"
    yield "listed places with a visit", f"{at.visited:,} of {at.places:,}"
    yield "unlisted ids in the visits", f"{at.unlisted:,}"
    if at.near:
        yield "  near misses of listed ids", f"{len(at.near):,}"
    if examples(at):
        yield "  such as", ", ".join(examples(at))
