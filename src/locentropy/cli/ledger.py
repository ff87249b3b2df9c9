"""`locentropy ledger`: the budget of a population of people."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from locentropy.cli import options
from locentropy.cli.commands import Command
from locentropy.cli.console import note, out, warn
from locentropy.cli.error_format import restated
from locentropy.cli.ledger_show import account_as_json, left, show_account, whole
from locentropy.cli.option_groups import with_option_groups
from locentropy.core.errors import ReleaseError

app = typer.Typer(
    help="The privacy budget of a population of people: made once, spent by every release, never refunded.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)

File = Annotated[
    Path, typer.Argument(metavar="FILE", readable=False, help="The ledger's file.", show_default=False)
]

_WITHDRAW: Final = 'locentropy ledger withdraw city.ledger may --why "of the wrong week; replaced by may-2"'
_REBUILD: Final = (
    'locentropy ledger rebuild new.ledger may june --population "riders of trams" --epsilon 4 --complete'
)


Population = Annotated[
    str,
    typer.Option(
        "--population",
        help="Who these people are, in your words; all releases about them share the budget.",
        show_default=False,
    ),
]
Epsilon = Annotated[
    str,
    typer.Option(
        "--epsilon",
        help="ε in total, such as 4; with a unit per period, of each of them.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class TermOptions:
    """The terms of a ledger beside its population and ε."""

    delta: Annotated[
        str, typer.Option("--delta", help="δ, as for ε; 0 admits guarantees without δ only.")
    ] = "0"
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            help="What is protected: a person's whole record (person), or what they did in one day, week or month "
            "(person-day, person-week, person-month).",
        ),
    ] = "person"
    person_epsilon: Annotated[
        str | None,
        typer.Option(
            "--person-epsilon", help="With a unit per period: ε in total for somebody always there."
        ),
    ] = None
    person_delta: Annotated[
        str | None, typer.Option("--person-delta", help="With a unit per period: δ in total for them.")
    ] = None
    time_zone: Annotated[
        str | None,
        typer.Option(
            "--time-zone",
            help="Of all windows: Europe/Berlin, or as-written. Default: that of the first release about one.",
        ),
    ] = None
    composition: Annotated[
        str,
        typer.Option(
            "--composition",
            help="How costs add up: sum, of ε and of δ; or concentrated, of ρ, for many releases with Gaussian noise.",
        ),
    ] = "sum"
    reserved_delta: Annotated[
        str,
        typer.Option(
            "--reserved-delta",
            help="With concentrated: the part of δ for releases whose δ is not of Gaussian noise, such as selections.",
        ),
    ] = "0"
    large_epsilon: Annotated[
        bool, typer.Option("--large-epsilon", help="Needed for an ε above 10, also of the person.")
    ] = False

    @property
    def given(self) -> dict[str, Any]:
        """The same as parameters of `Ledger.create`, which checks them."""
        terms = asdict(self)
        return {"zone": terms.pop("time_zone"), **terms}


@app.command(cls=Command)
@with_option_groups
def create(
    *,
    path: File,
    population: Population,
    epsilon: Epsilon,
    terms: TermOptions,
    another: Annotated[
        bool,
        typer.Option(
            "--another", help="Needed if the folder has a ledger of this population: a second budget."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    r"""Make the ledger of a population. Make one per population, not one per file, day or release.

    Examples:

      locentropy ledger create city.ledger --epsilon 4 \
      --population "riders of the city's bicycles"

      locentropy ledger create city.ledger --epsilon 4 --delta 1e-6 \
      --population "riders of the city's bicycles"

      locentropy ledger create city.ledger --epsilon 0.5 --unit person-month \
      --person-epsilon 6 --time-zone Europe/Berlin \
      --population "riders of the city's bicycles"
    """
    from locentropy.ledger.ledger import Ledger

    with restated(names={"zone": "time_zone"}):
        book = Ledger.create(path, population, epsilon, another=another, **terms.given).read()
    if as_json:
        out.print_json(json.dumps(account_as_json(book)))
    else:
        note(
            f"Made {path} for '{book.population}', with {whole(book)}. Keep it: a restored copy forgets spends."
        )


@app.command(cls=Command)
@with_option_groups
def rebuild(
    *,
    path: Annotated[Path, typer.Argument(metavar="NEW", help="The new ledger's file.", show_default=False)],
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE...",
            help="The directories of all releases, and the records of attempts that were not finished "
            "(.NAME.publishing).",
            show_default=False,
        ),
    ],
    population: Population,
    epsilon: Epsilon,
    terms: TermOptions,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete",
            help="These are all releases that were ever published or possibly drawn. Before that the ledger admits "
            "nothing.",
        ),
    ] = False,
    another: Annotated[
        bool,
        typer.Option(
            "--another",
            help="Needed if the folder has a ledger rebuilt from one of these spends: a second budget.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    r"""Rebuild a ledger that was lost, from the releases that it paid for.

    Each release states what was spent for it, and is verified first. Give the
    budget as it was: releases state it. An attempt that was not finished counts
    as spent, and cannot be finished. Nothing can be spent before --complete: it
    says that these are all releases that were ever published or possibly drawn.
    If you cannot know that, nothing is left.

    Examples:

      locentropy ledger rebuild new.ledger may june .july.publishing \
      --population "riders of the city's bicycles" --epsilon 4

      locentropy ledger rebuild new.ledger may june .july.publishing \
      --population "riders of the city's bicycles" --epsilon 4 --complete
    """
    from locentropy.publishing.rebuilding import rebuild_ledger

    with restated(names={"zone": "time_zone"}, example=_REBUILD):
        book = rebuild_ledger(
            path, sources, population, epsilon, complete=complete, another=another, **terms.given
        ).read()
    if as_json:
        out.print_json(json.dumps(account_as_json(book)))
        return
    note(
        f"Rebuilt {path} for '{book.population}', with {whole(book)}: spends taken over: {len(book.spends)}."
    )
    if book.why_nothing is None:
        note(f"Left: {left(book)}. Remove what remains of the old ledger: it would be a second budget.")
    else:
        warn(book.why_nothing)


@app.command(cls=Command)
def withdraw(
    path: File,
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="The directory of the release, or its id.", show_default=False
        ),
    ],
    why: Annotated[
        str,
        typer.Option(
            "--why",
            help="In a line, which later releases publish: it must say nothing about the data.",
            show_default=False,
        ),
    ],
) -> None:
    r"""Note that a release was withdrawn or replaced, which later releases say.

    Nothing is refunded: somebody may have a copy of it.

    Examples:

      locentropy ledger withdraw city.ledger may \
      --why "of the wrong week; replaced by may-2"
    """
    from locentropy.ledger.ledger import Ledger
    from locentropy.release.reading import describe

    directory = Path(release)
    if not directory.is_dir() and not re.fullmatch("[0-9a-f]{32}", release):
        raise ReleaseError(f"{release} is not the directory of a release, and not a release's id.")
    known = describe(directory).statement.release_id if directory.is_dir() else release
    with restated(example=_WITHDRAW):
        Ledger.open(path).record_withdrawal(known, why)
    note(f"Noted in {path}: pages and manifests of later releases will say it. Nothing is refunded.")


@app.command(cls=Command)
def show(path: File, as_json: options.Json = False) -> None:
    """Show what is left of a budget, and what the rest was spent on.

    Examples:

      locentropy ledger show city.ledger

      locentropy ledger show city.ledger --json
    """
    from locentropy.ledger.ledger import Ledger

    book = Ledger(path).read()
    if as_json:
        out.print_json(json.dumps(account_as_json(book)))
    else:
        show_account(book)


@app.command(cls=Command)
def verify(
    path: File,
    spends: Annotated[
        list[str] | None,
        typer.Option(
            "--spend",
            help="A spend's id from a published manifest, which the ledger must know; as often as needed.",
            show_default=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    r"""Check that a ledger is whole, and that it knows the spends of published releases.

    The file alone cannot tell a restored backup from the ledger: it has
    forgotten the latest spends. The releases have not. Exit code 8 if anything
    is wrong.

    Examples:

      locentropy ledger verify city.ledger

      locentropy ledger verify city.ledger \
      --spend 0f6c0b1d6d9b4c3f8d1b0a2e4c5d6e7f
    """
    from locentropy.ledger.ledger import Ledger

    book = Ledger(path).verify(spends or ())
    if as_json:
        out.print_json(
            json.dumps({"whole": True, "spends_compared": len(spends or ()), **account_as_json(book)})
        )
        return
    out.print(
        f"{path}: whole; {len(book.spends)} spends, {book.remaining} left.", markup=False, soft_wrap=True
    )
    if not spends:
        note("To find out whether it is the newest copy, compare it with what was published: --spend ID.")
