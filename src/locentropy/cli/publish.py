"""`locentropy publish`: from a table of visits to a release fit to leave the building."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import disclosure as looking
from locentropy.cli import mechanism_options, options, place_options
from locentropy.cli import plan_check as approved
from locentropy.cli.console import note, progress_bar, warn
from locentropy.cli.options import with_option_groups
from locentropy.cli.signals import ignore_signals
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.places.public_list import PublicLocations
    from locentropy.planning.plans import Plan
    from locentropy.publishing.request import Request
    from locentropy.release.statement import About

_WORDS = "Your words, which are published"
Word = str | None


def _word(option: str, help_: str) -> Any:
    return typer.Option(option, help=help_, rich_help_panel=_WORDS)


@with_option_groups
def publish(
    source: options.Input,
    *,
    choosing: mechanism_options.Choosing,
    places: place_options.Places = None,
    places_location: place_options.PlacesLocation = None,
    places_name: place_options.PlacesName = None,
    places_lat: place_options.PlacesLat = None,
    places_lon: place_options.PlacesLon = None,
    provenance: place_options.Provenance = None,
    grid: place_options.Box = None,
    cell: place_options.Cell = None,
    selecting: mechanism_options.Selecting,
    exclude: place_options.Exclude = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", readable=False, help="The budget of these people; see `locentropy ledger`."),
    ] = None,
    to: Annotated[Path | None, typer.Option("--out", help="Directory of the release, a new one.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show promise, cost and expected error; read no visits.")
    ] = False,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Run an approved plan, made by `locentropy plan --out`.")
    ] = None,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Needed where nothing is promised; closes the ledger.")
    ] = False,
    entropy_unit: Annotated[
        str, typer.Option("--entropy-unit", help="Unit of the entropy: nats, bits.")
    ] = "nats",
    title: Annotated[Word, _word("--title", "What it is called; also noted in the ledger.")] = None,
    curator: Annotated[Word, _word("--curator", "Who answers for it.")] = None,
    description: Annotated[Word, _word("--description", "What it is about.")] = None,
    intended_use: Annotated[Word, _word("--intended-use", "What it is for.")] = None,
    region: Annotated[Word, _word("--region", "Which part of the world it is about.")] = None,
    sector: Annotated[
        Word, _word("--sector", "Technology, Healthcare, Education, Government, Energy, Finance.")
    ] = None,
    date: Annotated[Word, _word("--date", "Day of publication, such as 2026-11-15.")] = None,
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
    """
    from locentropy.cli.publish_summary import rehearse, tell, warn_of_few
    from locentropy.ledger.ledger import Ledger
    from locentropy.places.public_list import PublicLocations
    from locentropy.publishing.publish import carry_out
    from locentropy.publishing.request import Request
    from locentropy.release.files import marked_target

    listed = {"location": places_location, "name": places_name, "lat": places_lat, "lon": places_lon}
    public = place_options.list_from_options(places, listed, provenance)
    box = place_options.grid_from_options(grid, cell)
    selection = selecting.selection
    chosen = place_options.one_of(public, box, selection)
    words = {
        "title": title, "curator": curator, "description": description, "intended_use": intended_use,
        "region": region, "sector": sector, "publication_date": date,
    }  # fmt: skip
    planned: Plan | None = None
    if plan is None:
        using = choosing.chosen
    else:
        with _told():
            planned = approved.read_plan(plan, choosing.mechanism, choosing.parameters)
        kind = "public-list" if public else "grid" if box else "selection" if selection else None
        approved.check_places(plan, planned, kind, selection)
        using, chosen = planned.mechanism, chosen or planned.selection
        words = _words_with(plan, planned, words)
    order = Request(
        using,
        chosen,
        None if exclude is None else PublicLocations(exclude),
        _about(words),
        entropy_unit,  # type: ignore[arg-type]  # checked by the order itself
        not_private,
    )
    if (
        planned is not None
        and order.listed is not None
        and planned.n_locations not in (None, len(order.listed))
    ):
        warn(f"{plan} expects {planned.n_locations:,} places, and there are {len(order.listed):,}.")
    book = None if ledger is None else Ledger.open(ledger)
    target = None if to is None else marked_target(to, private=order.guarantee.private)
    hints = _hints(order, public)
    if dry_run:
        rehearse(order, planned, target, book, as_json=as_json)
        _say(hints)
        return
    if order.listed is not None:
        warn_of_few(using, len(order.listed))  # a dry run says it among what to expect
    if to is None or target is None:
        raise ParameterError("--out names the directory of the release. For example: --out may, or --dry-run")
    visits, resources = reading.visits_of(source), reading.resources
    _say(hints)  # now: once it is paid for, what it says cannot be changed
    with _told(), progress_bar() as progress:
        release = carry_out(
            order,
            visits,
            out=to,
            ledger=book,
            resources=resources,
            progress=progress,
            when_open=partial(looking.tell_who, private=order.guarantee.private),
        )
    ignore_signals()  # it is published: only telling so is left
    try:
        tell(release, target, book, as_json=as_json)
    except OSError:
        note(f"What is published is complete, only telling about it failed: {target}")
        raise
    if order.listed is None:
        warn_of_few(using, len(release))


def _hints(order: Request, public: PublicLocations | None) -> list[str]:
    """What is easily forgotten and would be seen by every reader of the release."""
    found = []
    if getattr(order.mechanism, "max_users", None) is None:
        found.append(
            "Without --max-users, a public bound on the number of people (such as the city's population), values may "
            "come out larger than any entropy can be."
        )
    if public is None:
        return found
    if public.provenance == place_options.UNSTATED:
        found.append(
            'The manifest does not say where the list of places comes from. To have it said: --provenance "the '
            "city's register\""
        )
    if order.listed is not None and order.listed.lat is None and public.lat is not None:
        found.append(
            "No columns of the list are called lat and lon, or similar, so the page has no map. If it has coordinates "
            "by other names: --places-lat y --places-lon x; if it has none: --places-lat '' --places-lon ''"
        )
    return found


def _say(hints: list[str]) -> None:
    for hint in hints:
        note(hint)


def _words_with(path: Path, plan: Plan, words: dict[str, str | None]) -> dict[str, str | None]:
    """The words of the options and of the plan together."""
    planned = plan.about.stated()
    return words | {
        name: approved.agreed(path, f"--{name.replace('_', '-')}", words[name], known)
        for name, known in planned.items()
    }


def _about(words: dict[str, str | None]) -> About:
    from locentropy.release.statement import About

    given: dict[str, Any] = {name: value for name, value in words.items() if value is not None}
    return About(**given)


@contextmanager
def _told() -> Iterator[None]:
    """Say in sentences what happened on the way: warnings, and that a failed attempt can be taken up again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except BaseException as error:
            for text in getattr(error, "__notes__", ()):
                warn(text)
            raise
        finally:
            for each in caught:
                if issubclass(each.category, UserWarning):
                    warn(str(each.message))
