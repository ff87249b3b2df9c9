"""`locentropy ledger`: the budget of a population of people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import options
from locentropy.cli.commands import Command
from locentropy.cli.console import note, out, warn

if TYPE_CHECKING:
    from locentropy.ledger.rules import Account, Budget

app = typer.Typer(
    help="The privacy budget of a population of people: made once, spent by every release, never refunded.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
)

File = Annotated[
    Path, typer.Argument(metavar="FILE", readable=False, help="The ledger's file.", show_default=False)
]

_WIDE = 80  # columns of a terminal in which every spend fits on a line
TUNED = "Parameters were tuned on the data, unaccounted: exact data was looked at without budget."


@app.command(cls=Command)
def create(
    path: File,
    population: Annotated[
        str,
        typer.Option(
            "--population",
            help="Who these people are, in your words; all releases about them share the budget.",
            show_default=False,
        ),
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", help="ε in total, such as 4.", show_default=False)],
    delta: Annotated[
        str, typer.Option("--delta", help="δ in total; 0 admits guarantees without δ only.")
    ] = "0",
    large_epsilon: Annotated[
        bool,
        typer.Option("--large-epsilon", help="Needed for an ε above 10, which hides hardly anything."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    r"""Make the ledger of a population. Make one per population, not one per file, day or release.

    Examples:

      locentropy ledger create city.ledger --epsilon 4 \
      --population "riders of the city's bicycles"

      locentropy ledger create city.ledger --epsilon 4 --delta 1e-6 \
      --population "riders of the city's bicycles"
    """
    from locentropy.ledger.ledger import Ledger

    book = Ledger.create(path, population, epsilon, delta, large_epsilon=large_epsilon).read()
    if as_json:
        out.print_json(json.dumps(_as_json(book)))
    else:
        note(
            f"Made {path} for '{book.population}', with {book.total}. Keep it: a restored copy forgets spends."
        )


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
        out.print_json(json.dumps(_as_json(book)))
    else:
        _show(book)


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
        out.print_json(json.dumps({"whole": True, "spends_compared": len(spends or ()), **_as_json(book)}))
        return
    out.print(
        f"{path}: whole; {len(book.spends)} spends, {book.remaining} left.", markup=False, soft_wrap=True
    )
    if not spends:
        note("To find out whether it is the newest copy, compare it with what was published: --spend ID.")


def _show(book: Account) -> None:
    from rich.table import Table

    out.print(f"Budget of '{book.population}'", markup=False, soft_wrap=True)
    for name, amount in (("total", book.total), ("left", book.remaining)):
        out.print(f"  {name}: {amount}", markup=False, soft_wrap=True)
    if book.spends:
        table = Table(title="Spends, the oldest first")
        # Where there is little room, times go: how much was spent, and for what, must be seen.
        headings = ("", "time (UTC)", "ε", "δ", "purpose", "release")
        kept = [heading for heading in headings if out.width >= _WIDE or not heading.startswith("time")]
        for heading in kept:
            words = heading in ("purpose", "release")
            table.add_column(heading, no_wrap=not words, min_width=12 if heading == "purpose" else None)
        for row in _spends(book):
            state = row["release_state"] or "none recorded"
            time = row["time"].removesuffix("+00:00").replace("T", " ")
            cells = (row["number"], time, row["epsilon"], row["delta"], row["purpose"], state)
            shown = dict(zip(headings, cells, strict=True))
            table.add_row(*(options.shown(shown[heading]) for heading in kept))
        out.print(table)
    if book.closed:
        warn("Closed: a release without a guarantee was published. Nothing can be spent after it.")
    if book.evaluations:
        warn(TUNED)


def _as_json(book: Account) -> dict[str, Any]:
    """Amounts are texts, because they are exact."""
    return {
        "id": book.id,
        "population": book.population,
        "created": book.created,
        "total": _amount(book.total),
        "remaining": _amount(book.remaining),
        "closed": book.closed,
        "tuned_unaccounted": bool(book.evaluations),
        "spends": _spends(book),
    }


def _amount(budget: Budget) -> dict[str, str]:
    from locentropy.privacy.guarantee import exact_text

    return {"epsilon": exact_text(budget.epsilon), "delta": exact_text(budget.delta)}


def _spends(book: Account) -> list[dict[str, Any]]:
    from locentropy.ledger.rules import amounts_as_text

    latest = {record.spend: record for record in book.releases}
    return [
        {
            "id": spend.id,
            "number": spend.number,
            "time": spend.time,
            **amounts_as_text(spend.epsilon, spend.delta),
            "purpose": spend.purpose,
            "software": spend.software,
            "release": latest[spend.id].release if spend.id in latest else None,
            "release_state": latest[spend.id].state if spend.id in latest else None,
        }
        for spend in book.spends
    ]
