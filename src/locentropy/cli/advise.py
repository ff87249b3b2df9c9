"""`locentropy advise`: which mechanism and which parameters, from public numbers or for a small part of the budget."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import disclosure as looking
from locentropy.cli import options, place_options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.options import with_option_groups
from locentropy.cli.signals import ignore_signals
from locentropy.core.errors import BudgetError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.evaluation.advice.advice import Advice
    from locentropy.mechanisms.survey import Activity
    from locentropy.places.grid import Grid
    from locentropy.places.public_list import PublicLocations
    from locentropy.visits.engines.base import Resources
    from locentropy.visits.visits import Visits

_PUBLIC = "Rough numbers, from common knowledge, never from the visits"
_PAID = "Asking the data, for a part of the budget"
_EXAMPLE = "locentropy advise --n-locations 14058 --n-users 10000 --epsilon 1"
_SPENDING = (
    "locentropy advise checkins.parquet --places venues.csv --spend 0.05 --ledger city.ledger --epsilon 1"
)


def _rough(option: str, help_: str) -> Any:
    return typer.Option(option, help=help_, rich_help_panel=_PUBLIC)


@with_option_groups
def advise(
    *,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[INPUT]",
            help="A table of visits, read only with --spend; without it nothing private is read.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", help="ε of the release that is thought of.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", help="δ of that release, where a mechanism needs one.")
    ] = None,
    bounded: Annotated[
        bool, typer.Option("--bounded", help="The entropy of bounded visits is enough; see docs/choosing.md.")
    ] = False,
    n_locations: Annotated[
        int | None, _rough("--n-locations", "How many places are listed publicly.")
    ] = None,
    n_users: Annotated[int | None, _rough("--n-users", "About how many people are in the data.")] = None,
    locations_per_user: Annotated[
        int | None, _rough("--locations-per-user", "Listed places that a typical person goes to.")
    ] = None,
    visits_per_location: Annotated[
        int | None, _rough("--visits-per-location", "How often a typical person is where they go most.")
    ] = None,
    spend: Annotated[
        str | None,
        typer.Option(
            "--spend", help="ε for noisy statistics of INPUT, on top of --epsilon.", rich_help_panel=_PAID
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger", readable=False, help="The budget that pays for them.", rich_help_panel=_PAID
        ),
    ] = None,
    places: place_options.Places = None,
    places_location: place_options.PlacesLocation = None,
    places_name: place_options.PlacesName = None,
    places_lat: place_options.PlacesLat = None,
    places_lon: place_options.PlacesLon = None,
    grid: place_options.Box = None,
    cell: place_options.Cell = None,
    reading: options.Reading,
    as_json: options.Json = False,
) -> None:
    r"""Recommend a mechanism and its parameters, and say what error to expect and why.

    Without INPUT it reads no visits and costs nothing. With INPUT it spends a small ε on noisy statistics first.

    Examples:

      locentropy advise --n-locations 14058 --n-users 10000 --epsilon 1

      locentropy advise checkins.parquet --places venues.csv --epsilon 1 \
      --spend 0.05 --ledger city.ledger
    """
    from locentropy.evaluation.advice.advisor import advise as advised
    from locentropy.mechanisms.parameters import read_parameters
    from locentropy.mechanisms.select import SelectLocations

    if epsilon is None:
        raise ParameterError(f"Advice is about a release at some --epsilon. For example: {_EXAMPLE}")
    numbers = read_parameters(
        SelectLocations, {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
    )
    listed_by = {"location": places_location, "name": places_name, "lat": places_lat, "lon": places_lon}
    public = place_options.list_from_options(places, listed_by, None)
    box = place_options.grid_from_options(grid, cell)
    place_options.one_of(public, box, None)  # refuses both
    listed = public or box
    n_locations = _number_of(listed, n_locations)
    rough: dict[str, Any] = {"n_users": n_users, "locations_per_user": locations_per_user}
    said = {**numbers, **rough, "visits_per_location": visits_per_location, "bounded_is_enough": bounded}
    found: Activity | None = None
    if source is None:
        _refuse_spending(spend, ledger)
    else:
        advised(
            **said, n_locations=n_locations
        )  # refuses what nobody can advise on, while that costs nothing
        visits = reading.visits_of(source)
        found = _asked(visits, listed, spend, ledger, numbers | rough, reading.resources)
        ignore_signals()  # it is paid for: only telling is left
    advice = advised(**said, n_locations=n_locations, activity=found)
    columns = {f"--places-{role}": name for role, name in listed_by.items()}
    named = {"--places": places, **columns, "--grid": grid, "--cell": cell}
    command = _next_command(advice, source, ledger, named, reading)
    try:
        if as_json:
            out.print_json(json.dumps(advice.to_dict() | {"command": command}))
        else:
            _show(advice, command, made_up=source is None)
    finally:
        if found is not None:  # it is paid for, whether or not it could be shown
            _tell_cost(found, ledger)


def _number_of(listed: PublicLocations | Grid | None, n_locations: int | None) -> int | None:
    """How many places there are: by the list, which is public and may be read, or as was said."""
    from locentropy.places.grid import Grid

    if listed is None:
        return n_locations
    there = listed.rows * listed.columns if isinstance(listed, Grid) else len(listed.load())
    if n_locations not in (None, there):
        raise ParameterError(
            f"--n-locations {n_locations} contradicts the places, of which there are {there}. Leave it out."
        )
    return there


def _refuse_spending(spend: str | None, ledger: Path | None) -> None:
    given = [name for name, value in (("--spend", spend), ("--ledger", ledger)) if value is not None]
    if given:
        raise ParameterError(
            f"{' and '.join(given)}: no INPUT was named to ask about. For example: {_SPENDING}"
        )


def _asked(
    visits: Visits,
    listed: PublicLocations | Grid | None,
    spend: str | None,
    ledger: Path | None,
    thought_of: dict[str, Any],
    resources: Resources,
) -> Activity:
    """Noisy statistics of the visits, paid for through the ledger."""
    if spend is None:
        raise ParameterError(
            f"To read INPUT costs budget, and no --spend says how much. For example: {_SPENDING}; or, without reading "
            f"anything: {_EXAMPLE}"
        )
    if ledger is None:
        raise ParameterError(
            f"--spend {spend}: no --ledger says whose budget pays, and what nobody counts adds up unseen. Make one: "
            f"locentropy ledger create, and then: {_SPENDING}"
        )
    if listed is None:
        raise ParameterError(
            "Statistics of busy places need places that are public: --places places.csv, or --grid S,W,N,E --cell 500. "
            f"For example: {_SPENDING}; where no list is public: {_EXAMPLE.replace(' --n-locations 14058', '')}"
        )
    from locentropy.evaluation.advice.paid_survey import measure_activity, survey_for
    from locentropy.mechanisms.parameters import read_parameters
    from locentropy.mechanisms.select import SelectLocations
    from locentropy.privacy.guarantee import Guarantee, exact, exact_text

    price = read_parameters(SelectLocations, {"epsilon": spend})["epsilon"]
    survey = survey_for(spend=price, **thought_of)
    try:
        with progress_bar() as progress:
            return measure_activity(
                visits, listed, survey, ledger=ledger, before=Guarantee.pure(thought_of["epsilon"]),
                resources=resources, progress=progress, when_open=looking.tell_who,
            )  # fmt: skip
    except BudgetError as error:
        release = exact_text(exact(thought_of["epsilon"]))
        raise BudgetError(
            f"{error} Two things are to be paid for: these statistics (--spend {spend}) and then the release that they "
            f"are for (--epsilon {release})."
        ) from None
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            warn(text)
        raise


def _next_command(
    advice: Advice,
    source: str | None,
    ledger: Path | None,
    places: Mapping[str, str | float | None],
    reading: options.Reading,
) -> str:
    """What to run next, with the names that were given: it must read the table as the advice did."""
    named = [word for key, value in places.items() if value is not None for word in (key, str(value))]
    given = {"source": source, "ledger": None if ledger is None else str(ledger), "places": named or None}
    command = advice.command(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]
    return " ".join([command, *map(shlex.quote, reading.words)]) if source is not None else command


def _show(advice: Advice, command: str, *, made_up: bool) -> None:
    def say(text: str, style: str | None = None) -> None:
        out.print(text, style=style, markup=False)

    say(f"Use {' '.join(advice.choice.options).removeprefix('--mechanism ')}", "bold green")
    for heading, sentences in advice.sections:
        say(f"\n{heading}", "bold")
        for sentence in sentences:
            say(f"• {sentence}", "yellow" if heading == "Before you publish" else None)
    say("\nRun next" + (", with the names of your own files" if made_up else ""), "bold")
    out.print(command, markup=False, soft_wrap=True)


def _tell_cost(found: Activity, ledger: Path | None) -> None:
    from locentropy.ledger.ledger import Ledger
    from locentropy.privacy.guarantee import exact_text

    epsilon = found.guarantee.epsilon
    if epsilon is None or ledger is None:
        return
    note(
        f"Spent on this advice: ε = {exact_text(epsilon)}. Left of the budget: {Ledger.open(ledger).remaining}"
    )
