"""`locentropy ledger`: the budget of a population of people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import options
from locentropy.cli.commands import Command
from locentropy.cli.console import note, out, warn
from locentropy.cli.error_format import restated

if TYPE_CHECKING:
    from locentropy.core.windows import Window
    from locentropy.ledger.accounts import Budget
    from locentropy.ledger.rules import Account

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
CHECKED = (
    "The input was checked: ids, dates and dropped rows were compared with the exact data, without a result."
)
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
    epsilon: Annotated[
        str,
        typer.Option(
            "--epsilon",
            help="ε in total, such as 4; with a unit per period, of each of them.",
            show_default=False,
        ),
    ],
    delta: Annotated[
        str, typer.Option("--delta", help="δ likewise; 0 admits guarantees without δ only.")
    ] = "0",
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            help="What is protected: a person's whole record (person), or what they did in one day, week or month "
            "(person-day, person-week, person-month).",
        ),
    ] = "person",
    person_epsilon: Annotated[
        str | None,
        typer.Option(
            "--person-epsilon", help="With a unit per period: ε in total for somebody always there."
        ),
    ] = None,
    person_delta: Annotated[str | None, typer.Option("--person-delta", help="δ likewise.")] = None,
    time_zone: Annotated[
        str | None,
        typer.Option(
            "--time-zone",
            help="Of all windows: Europe/Berlin, or as-written. Default: that of the first release about one.",
        ),
    ] = None,
    composition: Annotated[
        str,
        typer.Option(
            "--composition",
            help="How costs add up: sum, of ε and of δ; or concentrated, of ρ, for many releases with Gaussian noise.",
        ),
    ] = "sum",
    reserved_delta: Annotated[
        str,
        typer.Option(
            "--reserved-delta",
            help="With concentrated: the part of δ for releases whose δ is not of Gaussian noise, such as selections.",
        ),
    ] = "0",
    large_epsilon: Annotated[
        bool,
        typer.Option("--large-epsilon", help="Needed for an ε above 10, also of the person."),
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

    chosen: Any = unit, composition  # checked by the ledger itself
    with restated(names={"zone": "time_zone"}):
        book = Ledger.create(
            path,
            population,
            epsilon,
            delta,
            unit=chosen[0],
            person_epsilon=person_epsilon,
            person_delta=person_delta,
            zone=time_zone,
            composition=chosen[1],
            reserved_delta=reserved_delta,
            large_epsilon=large_epsilon,
        ).read()
    if as_json:
        out.print_json(json.dumps(_as_json(book)))
    else:
        note(
            f"Made {path} for '{book.population}', with {_whole(book)}. Keep it: a restored copy forgets spends."
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
    for name, amount in (("total", _whole(book)), ("left", _left(book))):
        out.print(f"  {name}: {amount}", markup=False, soft_wrap=True)
    if book.spends:
        table = Table(title="Spends, the oldest first")
        # Where there is little room, times go: how much was spent, and for what, must be seen.
        headings = ("", "time (UTC)", "window", "ε", "δ", "purpose", "release")
        kept = [heading for heading in headings if out.width >= _WIDE or not heading.startswith("time")]
        if not any(row["window"] for row in _spends(book)):
            kept.remove("window")
        for heading in kept:
            words = heading in ("purpose", "release")
            table.add_column(heading, no_wrap=not words, min_width=12 if heading == "purpose" else None)
        for row in _spends(book):
            state = row["release_state"] or "none recorded"
            time = row["time"].removesuffix("+00:00").replace("T", " ")
            cells = (
                row["number"],
                time,
                row["window"] or "all",
                row["epsilon"],
                row["delta"],
                row["purpose"],
                state,
            )
            shown = dict(zip(headings, cells, strict=True))
            table.add_row(*(options.shown(shown[heading]) for heading in kept))
        out.print(table)
    if book.closed:
        warn("Closed: a release without a guarantee was published. Nothing can be spent after it.")
    if book.evaluations:
        warn(TUNED)
    if book.input_checks:
        note(CHECKED)


def _as_json(book: Account) -> dict[str, Any]:
    """Amounts are texts, because they are exact."""
    return {
        "id": book.id,
        "population": book.population,
        "created": book.created,
        "total": _amount(book.total),
        "remaining": _amount(book.remaining),
        **_terms(book),
        "closed": book.closed,
        "tuned_unaccounted": bool(book.evaluations),
        "input_checked": bool(book.input_checks),
        "spends": _spends(book),
    }


def _whole(book: Account) -> str:
    """The caps of a ledger, in words."""
    from locentropy.privacy.units import period_of

    period = period_of(book.unit)
    in_rho = "" if book.terms.composition == "sum" else ", counted in ρ"
    if period is None:
        return f"{book.total}{in_rho}"
    return (
        f"{book.total} for what a person did in one {period}, and {book.terms.person} for somebody who is there in "
        f"every {period}{in_rho}"
    )


def _left(book: Account) -> str:
    from locentropy.privacy.units import period_of

    period = period_of(book.unit)
    return f"{book.remaining}{'' if period is None else f' for somebody who is there in every {period}'}"


def _terms(book: Account) -> dict[str, Any]:
    """The unit, the zone and what was charged to each period; only of ledgers that have any of these."""
    if not book.has_terms:
        return {}
    person = book.terms.person
    cells = sorted({part.cell for part in book.parts if part.cell is not None})
    cap = book.terms.caps(book.total)[0]
    return {
        "unit": book.unit,
        "time_zone": book.calendar.zone,
        "composition": book.terms.composition,
        "person_total": None if person is None else _amount(person),
        "remaining_in": {cell: _amount(cap.left(book.charged_in(cell))) for cell in cells},
    }


def _amount(budget: Budget) -> dict[str, str]:
    from locentropy.privacy.guarantee import exact_text

    rho = {} if budget.rho is None else {"rho": exact_text(budget.rho)}
    return {"epsilon": exact_text(budget.epsilon), "delta": exact_text(budget.delta), **rho}


def _spends(book: Account) -> list[dict[str, Any]]:
    from locentropy.ledger.rules import amounts_as_text

    latest = {record.spend: record for record in book.releases}
    windows: dict[str, list[Window]] = {}
    for part in book.parts:
        if part.window is not None:
            windows.setdefault(part.spend, []).append(part.window)
    return [
        {
            "id": spend.id,
            "number": spend.number,
            "time": spend.time,
            **amounts_as_text(spend.epsilon, spend.delta),
            "window": _read(windows[spend.id]) if spend.id in windows else None,
            "purpose": spend.purpose,
            "software": spend.software,
            "release": latest[spend.id].release if spend.id in latest else None,
            "release_state": latest[spend.id].state if spend.id in latest else None,
        }
        for spend in book.spends
    ]


def _read(windows: list[Window]) -> str:
    """The window that a spend was charged for; of several, the first and the last."""
    first, *further = windows
    return (
        f"{first.text} to {further[-1].text} ({len(windows)} parts), {first.zone}" if further else str(first)
    )
