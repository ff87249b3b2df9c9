"""`locentropy advise`: which mechanism and which parameters, from public numbers or for a small part of the budget."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import options
from locentropy.cli.console import note, out, progress_bar, warn
from locentropy.cli.disclosure import tell_privacy_unit
from locentropy.cli.error_format import EXAMPLES, restated
from locentropy.cli.option_groups import with_option_groups
from locentropy.cli.place_options import PlaceOptions, Provenance
from locentropy.cli.signals import ignore_signals
from locentropy.core.errors import BudgetError, ParameterError

if TYPE_CHECKING:
    from locentropy.core.locations import Cells
    from locentropy.evaluation.advice.advice import Advice
    from locentropy.mechanisms.survey import Activity
    from locentropy.places.public_list import PublicLocations
    from locentropy.visits.engines.base import Resources
    from locentropy.visits.visits import Visits

_PUBLIC = "Rough numbers, from common knowledge, never from the visits"
_PAID = "Asking the data, for a part of the budget"
_EXAMPLE = EXAMPLES["advise"]
_SPENDING = (
    "locentropy advise checkins.parquet --places places.csv --spend 0.05 --ledger city.ledger --epsilon 1"
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
        str | None, typer.Option("--epsilon", help="ε of the release to be advised on.")
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
    period: options.Period = None,
    periods: Annotated[
        int | None, typer.Option("--periods", help="How many of them; ε is then that of all together.")
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
    refuse_empty: Annotated[
        bool,
        typer.Option(
            "--refuse-empty",
            help="Refuse if no visit is at any of the places. An answer then reveals that somebody was there.",
            rich_help_panel=_PAID,
        ),
    ] = False,
    where: PlaceOptions,
    provenance: Provenance = None,
    reading: options.Reading,
    as_json: options.Json = False,
) -> None:
    r"""Recommend a mechanism and its parameters, and say what error to expect and why.

    Without INPUT it reads no visits and costs nothing. With INPUT it spends a small ε on noisy statistics first.

    Examples:

      locentropy advise --n-locations 14058 --n-users 10000 --epsilon 1

      locentropy advise --n-locations 1000 --n-users 5000 --epsilon 4 \
      --period month --periods 24

      locentropy advise checkins.parquet --places places.csv --epsilon 1 \
      --spend 0.05 --ledger city.ledger
    """
    from locentropy.evaluation.advice.advisor import advise as advised
    from locentropy.mechanisms.parameters import read_parameters
    from locentropy.mechanisms.select import SelectLocations

    if epsilon is None:
        raise ParameterError("Advice needs the --epsilon of the release.", example=_EXAMPLE)
    with restated(example=_EXAMPLE):
        numbers = read_parameters(
            SelectLocations, {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
        )
    listed = where.read_like(reading).chosen(provenance)
    n_locations = _number_of(listed, n_locations)
    rough: dict[str, Any] = {"n_users": n_users, "locations_per_user": locations_per_user}
    said = {**numbers, **rough, "visits_per_location": visits_per_location, "bounded_is_enough": bounded}
    said |= _levels(listed) | {"period": period, "periods": periods}
    found: Activity | None = None
    if source is None:
        _refuse_spending(spend, ledger, refuse_empty=refuse_empty)
    else:
        advised(**said, n_locations=n_locations)  # raises what it would raise later, while that costs nothing
        visits = reading.visits_of(source)
        found = _asked(
            visits, listed, spend, ledger, numbers | rough, reading.resources, refuse_empty=refuse_empty
        )
        ignore_signals()  # it is paid for: only telling is left
    advice = advised(**said, n_locations=n_locations, activity=found)
    command = _next_command(advice, source, ledger, where, provenance, reading)
    try:
        if as_json:
            out.print_json(json.dumps(advice.to_dict() | {"command": command}))
        else:
            _show(advice, command, made_up=source is None)
    finally:
        if found is not None:  # it is paid for, whether or not it could be shown
            _tell_cost(found, ledger)


def _levels(listed: PublicLocations | Cells | None) -> dict[str, Any]:
    """Return the levels and how many locations each has, by the list, which is public and may be read."""
    from locentropy.places.public_list import PublicLocations

    if not isinstance(listed, PublicLocations) or not listed.levels:
        return {}
    sizes = [len(level.locations) for level in listed.load_levels()]
    return {"levels": listed.levels, "level_sizes": sizes}


def _number_of(listed: PublicLocations | Cells | None, n_locations: int | None) -> int | None:
    """Return how many places there are: by the list, which is public and may be read, or as given."""
    from locentropy.places.grid import Grid
    from locentropy.places.public_list import PublicLocations

    if listed is None:
        return n_locations
    if isinstance(listed, Grid):
        there = listed.rows * listed.columns
    else:
        levels = listed.load_levels() if isinstance(listed, PublicLocations) else ()
        whole = listed.load() if isinstance(listed, PublicLocations) else listed.locations()
        there = len(levels[0].locations if levels else whole)
    if n_locations not in (None, there):
        raise ParameterError(
            f"--n-locations {n_locations} contradicts the places, of which there are {there}. Leave it out."
        )
    return there


def _refuse_spending(spend: str | None, ledger: Path | None, *, refuse_empty: bool) -> None:
    given = [name for name, value in (("--spend", spend), ("--ledger", ledger)) if value is not None]
    if given:
        raise ParameterError(
            f"{' and '.join(given)} pay for statistics of INPUT, and no INPUT was given.", example=_SPENDING
        )
    if refuse_empty:
        raise ParameterError("--refuse-empty is about INPUT, and no INPUT was given.", example=_SPENDING)


def _asked(
    visits: Visits,
    listed: PublicLocations | Cells | None,
    spend: str | None,
    ledger: Path | None,
    thought_of: dict[str, Any],
    resources: Resources,
    *,
    refuse_empty: bool,
) -> Activity:
    """Return noisy statistics of the visits, paid for through the ledger."""
    if spend is None:
        raise ParameterError(
            f"Reading INPUT costs budget, and no --spend says how much. Leave INPUT out to read nothing: {_EXAMPLE}.",
            example=_SPENDING,
        )
    if ledger is None:
        raise ParameterError(
            f"--spend {spend} needs the budget that pays, and no --ledger was given. Make one: "
            f"{EXAMPLES['ledger create']}.",
            example=_SPENDING,
        )
    if listed is None:
        raise ParameterError(
            "Statistics of busy places need places that are public: --places places.csv, or a --grid. Where no list is "
            "public, leave INPUT out: locentropy advise --epsilon 1 --n-users 10000.",
            example=_SPENDING,
        )
    from locentropy.evaluation.advice.paid_survey import measure_activity, survey_for
    from locentropy.mechanisms.parameters import read_parameters
    from locentropy.mechanisms.select import SelectLocations
    from locentropy.privacy.guarantee import Guarantee, exact, exact_text

    with restated(names={"epsilon": "spend"}, example=_SPENDING):
        price = read_parameters(SelectLocations, {"epsilon": spend})["epsilon"]
        survey = survey_for(spend=price, **thought_of)
    try:
        with progress_bar() as progress:
            return measure_activity(
                visits, listed, survey, ledger=ledger, before=Guarantee.pure(thought_of["epsilon"]),
                refuse_empty=refuse_empty, resources=resources, progress=progress, when_open=tell_privacy_unit,
            )  # fmt: skip
    except BudgetError as error:
        release = exact_text(exact(thought_of["epsilon"]))
        raise BudgetError(
            f"{error} Two things must be paid for: these statistics (--spend {spend}) and then the release itself "
            f"(--epsilon {release})."
        ) from None
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            warn(text)
        raise


def _next_command(
    advice: Advice,
    source: str | None,
    ledger: Path | None,
    where: PlaceOptions,
    provenance: str | None,
    reading: options.Reading,
) -> str:
    """Return the command to run next, which reads the table as the advice did."""
    given = {
        "source": source,
        "ledger": None if ledger is None else str(ledger),
        "places": [*where.words, *([] if provenance is None else ["--provenance", provenance])] or None,
    }
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
