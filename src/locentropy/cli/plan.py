"""`locentropy plan`: what a release would promise and be worth, before anybody opens the data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import mechanism_options, options, wording
from locentropy.cli.console import note, out, warn
from locentropy.cli.groups import spelled_out
from locentropy.core.errors import ParameterError
from locentropy.core.files import check_writable

if TYPE_CHECKING:
    from rich.table import Table

    from locentropy.planning.plans import Plan
    from locentropy.planning.shares_outlook import SharesOutlook

_WORDS = "Your words, for the plan file"
_SELECTING = (
    "locentropy plan --epsilon 1 --people 10000 --places-kind selection --select-epsilon 0.2 --select-delta 1e-8 "
    "--select-max-locations 20"
)
_EXAMPLE = "locentropy plan --epsilon 1 --locations 14058 --people 10000"


@spelled_out
def plan(
    *,
    choosing: mechanism_options.Choosing,
    selecting: mechanism_options.Selecting,
    places: Annotated[
        str | None,
        typer.Option(
            "--places-kind",
            help="Where the list of places comes from: public-list, grid, selection, by-mechanism.",
        ),
    ] = None,
    locations: Annotated[int | None, typer.Option("--locations", help="How many places there are.")] = None,
    people: Annotated[
        int | None, typer.Option("--people", help="A guess for shares: about how many people there are.")
    ] = None,
    users_per_location: Annotated[
        str | None,
        typer.Option(
            "--users-per-location",
            help="A guess for the others: about how many people count at a place; one number, or several such as "
            "1,5,50 that each stand for an equal share of places.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="What it is called.", rich_help_panel=_WORDS)
    ] = None,
    curator: Annotated[
        str | None, typer.Option("--curator", help="Who answers for it.", rich_help_panel=_WORDS)
    ] = None,
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="What it is for.", rich_help_panel=_WORDS)
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="Write a plan file, for somebody to approve and to run.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    r"""Show what a release would promise and be worth. Reads no data: every number is yours, and must be public.

    Examples:

      locentropy plan --epsilon 1 --locations 14058 --people 10000 --out plan.yaml

      locentropy plan --mechanism moments --epsilon 1 --max-locations 5 \
      --max-visits 5 --locations 14058 --users-per-location 1,2,5,50,500
    """
    from locentropy.planning import Words
    from locentropy.planning import plan as planned

    using, selection = choosing.chosen, selecting.selection
    target = None if to is None else _target(to)
    sizes = _sizes(users_per_location)
    _check_guesses(choosing.name, people, sizes)
    with wording.example(_SELECTING if places == "selection" else _EXAMPLE, places="places_kind"):
        made = planned(
            using,
            locations=locations,
            users_per_location=sizes,
            places=places,  # type: ignore[arg-type]  # checked by Plan itself
            selection=selection,
            words=Words(title, curator, purpose),
            people=people,
        )
    if target is not None:
        made.to_yaml(target)
    if as_json:
        out.print_json(json.dumps(made.to_dict()))
    else:
        show(made)
    if target is not None:
        note(f"Written to {target}")


def show(made: Plan) -> None:
    """A plan on screen."""
    from locentropy.planning.telling import headline, noise, promise, usefulness

    def say(text: str, style: str | None = None) -> None:
        out.print(text, style=style, markup=False)

    say(headline(made), "bold")
    say(promise(made.guarantee))
    say(made.guarantee.odds())
    say(noise(made))
    out.print(_by_users(made) if made.shares is None else _by_people(made.shares))
    say(usefulness(made))
    for text in made.warnings:
        warn(text)


def _by_users(made: Plan) -> Table:
    from rich.table import Table

    from locentropy.planning.outlook import USEFUL_BELOW
    from locentropy.planning.telling import nats, percent

    table = Table(
        title="What to expect, in nats, by the users of a place",
        caption=f"useful: off by less than {USEFUL_BELOW}; rough: off by less than a guess",
    )
    for heading in ("users", "expected error", "a guess is off by"):
        table.add_column(heading, justify="right")
    withheld = any(row.published < 1 for row in made.rows)
    if withheld:
        table.add_column("published", justify="right")
    table.add_column("")
    for row in made.rows:
        error = nats(row.error) if row.published else "—"
        chance = [percent(row.published)] if withheld else []
        cells = (f"{row.users:,}", error, nats(row.guess), *chance, row.verdict)
        table.add_row(*cells, style=_STYLES[row.verdict])
    return table


def _by_people(shares: SharesOutlook) -> Table:
    from rich.table import Table

    from locentropy.planning.outlook import USEFUL_BELOW
    from locentropy.planning.telling import people_in

    table = Table(
        title="What to expect, in nats, by the people in the data",
        caption=f"root mean square over all places; useful: below {USEFUL_BELOW}",
    )
    for heading in ("people", "expected error"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in shares.rows:
        error = "—" if row.expected is None else row.expected.words
        table.add_row(people_in(row), error, row.verdict, style=_STYLES[row.verdict])
    return table


_STYLES: dict[str, Any] = {
    "useful": "green",
    "rough": None,
    "worse than a guess": "red",
    "as one number for all": "red",
    "never published": "dim",
    "not measured": "dim",
}


def _check_guesses(name: str, people: int | None, sizes: list[int] | None) -> None:
    """Refuse a guess that tells nothing about this mechanism, in the words of the command line."""
    if name == mechanism_options.DEFAULT and sizes is not None:
        raise ParameterError(
            f"--users-per-location tells nothing about {name}, whose error at a place depends on all places together; "
            f"--people does. For example: {_EXAMPLE}"
        )
    if name != mechanism_options.DEFAULT and people is not None:
        raise ParameterError(
            f"--people tells nothing about {name}, which reads each place on its own; --users-per-location does. "
            "For example: --users-per-location 1,5,50"
        )


def _sizes(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) <= 15 for part in parts):
        raise ParameterError(
            f"--users-per-location {text[:40]!r} must be whole numbers. For example: --users-per-location 1,5,50"
        )
    return [int(part) for part in parts]


def _target(path: Path) -> Path:
    if path.suffix not in (".yaml", ".yml"):
        raise ParameterError(f"{path}: the name must end in .yaml. For example: --out plan.yaml")
    check_writable(path)
    if os.path.lexists(path):
        raise ParameterError(
            f"{path} is already there, and may be what somebody has approved. Choose a new name, for example --out "
            f"{path.with_stem(f'{path.stem}-2')}, or remove it first."
        )
    return path
