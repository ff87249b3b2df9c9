"""`locentropy publish`: from a table of visits to a release that may be given away."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from locentropy.cli import options, place_options
from locentropy.cli.console import note, progress_bar
from locentropy.cli.disclosure import tell_privacy_unit
from locentropy.cli.mechanism_options import MechanismOptions, SelectionOptions
from locentropy.cli.option_groups import AboutOptions, with_option_groups
from locentropy.cli.place_options import PlaceOptions
from locentropy.cli.request_options import RequestOptions, asked_for, told
from locentropy.cli.signals import ignore_signals
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from locentropy.publishing.request import Request

CHECK_FIRST: Final = (
    "If ids or times do not match, the release is noise, and only says so when the budget is spent. Look before you "
    "publish: locentropy check, with the same options. It costs nothing."
)

WHICH_LEDGER: Final = (
    "Say whether this release is counted. --ledger city.ledger counts it against the budget of these people, and "
    "refuses what would exceed it; make one with: locentropy ledger create city.ledger --population "
    "'riders of the city' --epsilon 4. --no-ledger does not count it against any budget: use this only with "
    "synthetic data."
)


@with_option_groups
def publish(
    source: options.Input,
    *,
    using: MechanismOptions,
    where: PlaceOptions,
    selecting: SelectionOptions,
    asking: RequestOptions,
    to: Annotated[Path | None, typer.Option("--out", help="Directory of the release, a new one.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show guarantee, cost and expected error; read no visits.")
    ] = False,
    words: AboutOptions,
    reading: options.Reading,
    as_json: options.Json = False,
) -> None:
    r"""Publish the location entropy of places under differential privacy: a directory of files fit to be given away.

    If it is interrupted, repeat the same command: nothing is spent or drawn twice.

    Examples:

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --provenance "the city's register" --ledger city.ledger --dry-run

      locentropy publish checkins.parquet --plan plan.yaml \
      --places venues.csv --ledger city.ledger --out may

      locentropy publish trips.csv --mechanism moments --epsilon 1 \
      --max-locations 5 --max-visits 5 --grid 40.70,-74.03,40.80,-73.92 \
      --cell 500 --ledger city.ledger --out may-grid

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --window 2026-05 --time-zone Europe/Berlin --time-type local \
      --ledger city.ledger --out may-2026

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --window 2026-01/2026-07 --windows month --time-zone Europe/Berlin \
      --time-type local --ledger city.ledger --out first-half-of-2026

      locentropy publish checkins.parquet --epsilon 1 --places venues.csv \
      --window 2026-06 --time-type local --after may-2026 \
      --ledger city.ledger --out june-2026
    """
    from locentropy.cli.publish_summary import tell, tell_dry_run, warn_of_few
    from locentropy.publishing.notices import published_words
    from locentropy.publishing.publication_file import taken_up
    from locentropy.publishing.publish import carry_out
    from locentropy.release.files import marked_target

    _check_ledger(asking, dry_run=dry_run)
    request, account, planned, formats = asked_for(source, using, where, selecting, words, reading, asking)
    if to is not None:
        request = taken_up(request, to, account)
    listed = request.listed
    target = None if to is None else marked_target(to, private=request.guarantee.private)
    hints = _hints(request)
    if planned is not None and planned.publish_columns is None:
        hints.append(
            f"{asking.plan} is of a version that published all columns of a list, and names none. To publish columns "
            "besides those above: --publish-column NAME"
        )
    if dry_run:
        tell_dry_run(request, planned, target, account, as_json=as_json)
        _say(hints)
        return
    for level in request.levels:
        if level.locations is not None:  # a dry run says it among what to expect
            warn_of_few(level.mechanism, len(level.locations), level.part)
    if to is None or target is None:
        raise ParameterError(
            "Publishing needs a directory for the release: --out may; or try it first: --dry-run"
        )
    visits, resources = reading.visits_of(source, request.window), reading.resources
    _say([*published_words(request), *hints])  # now: once it is paid for, it cannot be changed
    with told(), progress_bar() as progress:
        release = carry_out(
            request,
            visits,
            out=to,
            also=formats,
            ledger=account,
            resources=resources,
            progress=progress,
            when_open=partial(tell_privacy_unit, private=request.guarantee.private, unit=request.unit),
        )
    ignore_signals()  # it is published: only telling so is left
    try:
        tell(release, target, account, as_json=as_json)
    except OSError:
        note(f"What is published is complete, only telling about it failed: {target}")
        raise
    if listed is None:
        warn_of_few(request.mechanism, len(release))


def _check_ledger(asking: RequestOptions, *, dry_run: bool) -> None:
    """Raise unless it was said whether the release is counted; a dry run may leave that open."""
    if asking.ledger is not None and asking.no_ledger:
        raise ParameterError("--ledger and --no-ledger contradict each other: leave one out.")
    if asking.ledger is None and not asking.no_ledger and not dry_run:
        raise ParameterError(WHICH_LEDGER)


def _hints(request: Request) -> list[str]:
    """What is easily forgotten and would be seen by every reader of the release."""
    from locentropy.places.public_list import PublicLocations
    from locentropy.publishing.notices import left_out_words, ungrouped_words

    words, public = left_out_words(request), request.locations
    found = [*([] if words is None else [words]), CHECK_FIRST]
    if getattr(request.mechanism, "max_users", None) is None:
        found.append(
            "Without --max-users, a public bound on the number of people (such as the city's population), values may "
            "come out larger than any entropy can be."
        )
    found += [
        ungrouped_words(places, group, level=bool(request.chosen.level_names))
        for group, places in request.chosen.ungrouped.items()
    ]
    if not isinstance(public, PublicLocations):
        return found
    if public.provenance == place_options.UNSTATED:
        found.append(
            'The manifest does not say where the list of places comes from. To have it said: --provenance "the '
            "city's register\""
        )
    if request.listed is not None and request.listed.lat is None and public.lat is not None:
        found.append(
            "No columns of the list are called lat and lon, or similar, so the page has no map. If it has coordinates "
            "by other names: --places-lat y --places-lon x; if it has none: --places-lat '' --places-lon ''"
        )
    return found


def _say(hints: list[str]) -> None:
    for hint in hints:
        note(hint)
