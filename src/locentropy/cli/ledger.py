"""`locentropy ledger`: the budget of a population of people."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.cli import options
from locentropy.cli.commands import Command
from locentropy.cli.console import note, out, warn
from locentropy.cli.error_format import restated
from locentropy.core.errors import ReleaseError

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

_WITHDRAW = 'locentropy ledger withdraw city.ledger may --why "of the wrong week; replaced by may-2"'
_REBUILD = 'locentropy ledger rebuild new.ledger may june --population "riders of the bicycles" --epsilon 4 --complete'
_PERIODS = 24  # that are shown of a ledger per period
_WIDE = 80  # columns of a terminal in which every spend fits on a line
CHECKED = (
    "The input was checked: ids, dates and dropped rows were compared with the exact data, without a result."
)
TUNED = "Parameters were tuned on the data, unaccounted: exact data was looked at without budget."


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
Delta = Annotated[str, typer.Option("--delta", help="δ likewise; 0 admits guarantees without δ only.")]
Unit = Annotated[
    str,
    typer.Option(
        "--unit",
        help="What is protected: a person's whole record (person), or what they did in one day, week or month "
        "(person-day, person-week, person-month).",
    ),
]
PersonEpsilon = Annotated[
    str | None,
    typer.Option("--person-epsilon", help="With a unit per period: ε in total for somebody always there."),
]
PersonDelta = Annotated[str | None, typer.Option("--person-delta", help="δ likewise.")]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        help="Of all windows: Europe/Berlin, or as-written. Default: that of the first release about one.",
    ),
]
Composition = Annotated[
    str,
    typer.Option(
        "--composition",
        help="How costs add up: sum, of ε and of δ; or concentrated, of ρ, for many releases with Gaussian noise.",
    ),
]
ReservedDelta = Annotated[
    str,
    typer.Option(
        "--reserved-delta",
        help="With concentrated: the part of δ for releases whose δ is not of Gaussian noise, such as selections.",
    ),
]
LargeEpsilon = Annotated[
    bool, typer.Option("--large-epsilon", help="Needed for an ε above 10, also of the person.")
]


@app.command(cls=Command)
def create(
    path: File,
    population: Population,
    epsilon: Epsilon,
    delta: Delta = "0",
    unit: Unit = "person",
    person_epsilon: PersonEpsilon = None,
    person_delta: PersonDelta = None,
    time_zone: TimeZone = None,
    composition: Composition = "sum",
    reserved_delta: ReservedDelta = "0",
    large_epsilon: LargeEpsilon = False,
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
            another=another,
        ).read()
    if as_json:
        out.print_json(json.dumps(_as_json(book)))
    else:
        note(
            f"Made {path} for '{book.population}', with {_whole(book)}. Keep it: a restored copy forgets spends."
        )


@app.command(cls=Command)
def rebuild(
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
    delta: Delta = "0",
    unit: Unit = "person",
    person_epsilon: PersonEpsilon = None,
    person_delta: PersonDelta = None,
    time_zone: TimeZone = None,
    composition: Composition = "sum",
    reserved_delta: ReservedDelta = "0",
    large_epsilon: LargeEpsilon = False,
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
    r"""Make a ledger that was lost anew, from the releases that it paid for.

    Each release states what was spent for it, and is verified first. The budget
    is given as it was: releases state it. An attempt that was not finished counts
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

    chosen: Any = unit, composition  # checked by the ledger itself
    with restated(names={"zone": "time_zone"}, example=_REBUILD):
        book = rebuild_ledger(
            path,
            sources,
            population,
            epsilon,
            delta,
            complete=complete,
            another=another,
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
        return
    note(
        f"Rebuilt {path} for '{book.population}', with {_whole(book)}: spends taken over: {len(book.spends)}."
    )
    if book.why_nothing is None:
        note(f"{_left(book)} left. Remove what is left of the old ledger: it would be a second budget.")
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
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    _line(f"Budget of '{book.population}'")
    for name, amount in (("total", _whole(book)), ("left", _left(book)), *_left_in(book)):
        _line(f"  {name}: {amount}")
    if book.spends:
        table = Table(title="Spends, the oldest first", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        # Where there is little room, times go: how much was spent, and for what, must be seen.
        headings = ("", "time (UTC)", "purpose", "ε", "δ", "release")
        kept = [heading for heading in headings if out.width >= _WIDE or not heading.startswith("time")]
        for heading in kept:
            table.add_column(
                heading,
                no_wrap=heading in ("", "time (UTC)"),
                overflow="fold",
                min_width=12 if heading == "purpose" else None,
            )
        for row in _spends(book):
            time = row["time"].removesuffix("+00:00").replace("T", " ")
            cells = (row["number"], time, row["purpose"], row["epsilon"], row["delta"], _state(row))
            shown = dict(zip(headings, map(options.shown, cells), strict=True))
            if row["window"] is not None:
                shown["purpose"] += f"\n{options.shown(row['window'])}"
            table.add_row(*(shown[heading] for heading in kept))
        out.print(table)
    for each in book.withdrawals:
        note(f"Withdrawn: release {each.release}: {each.why}")
    if book.closed:
        warn("Closed: a release without a guarantee was published. Nothing can be spent after it.")
    elif book.why_nothing is not None:
        warn(book.why_nothing)
    if book.evaluations:
        warn(TUNED)
    if book.input_checks:
        note(CHECKED)


def _line(text: str) -> None:
    """Print text that goes on, indented, in the next line."""
    whole = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    for line in wrap(whole, max(out.width, 40), subsequent_indent="    ", break_on_hyphens=False):
        out.print(line.replace("\N{NO-BREAK SPACE}", " "), markup=False, soft_wrap=True)


def _state(row: dict[str, Any]) -> str:
    return "withdrawn" if row.get("withdrawn") else row["release_state"] or "none recorded"


def _left_in(book: Account) -> list[tuple[str, str]]:
    """What is left in each period that something was spent in, the latest ones, and in every other."""
    from locentropy.privacy.units import period_of

    period, cells = period_of(book.unit), _cells(book)
    if period is None or book.why_nothing is not None:
        return []
    earlier = [f"in {len(cells) - _PERIODS} earlier {period}s"] if len(cells) > _PERIODS else []
    return [
        *((f"left {where}", "see --json") for where in earlier),
        *((f"left in {cell}", str(book.left_in(cell))) for cell in cells[-_PERIODS:]),
        (f"left in every {'other ' if cells else ''}{period}", str(book.left_in(""))),
    ]


def _cells(book: Account) -> list[str]:
    """The periods that something was spent in."""
    return sorted({part.cell for part in book.parts if part.cell is not None})


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
        **({"rebuilt": True, "complete": book.complete} if book.rebuilt else {}),
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
    cap = book.terms.caps(book.total)[0]
    return {
        "unit": book.unit,
        "time_zone": book.calendar.zone,
        "composition": book.terms.composition,
        "person_total": None if person is None else _amount(person),
        "remaining_in": {cell: _amount(cap.left(book.charged_in(cell))) for cell in _cells(book)},
    }


def _amount(budget: Budget) -> dict[str, str]:
    from locentropy.privacy.guarantee import exact_text

    rho = {} if budget.rho is None else {"rho": exact_text(budget.rho)}
    return {"epsilon": exact_text(budget.epsilon), "delta": exact_text(budget.delta), **rho}


def _spends(book: Account) -> list[dict[str, Any]]:
    from locentropy.ledger.rules import amounts_as_text

    latest = {record.spend: record for record in book.releases}
    paid = {record.release: record.spend for record in book.releases}
    withdrawn = {paid[each.release]: each.why for each in book.withdrawals}
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
            **({"withdrawn": withdrawn[spend.id]} if spend.id in withdrawn else {}),
        }
        for spend in book.spends
    ]


def _read(windows: list[Window]) -> str:
    """The window that a spend was charged for; of several, the first and the last."""
    first, *further = windows
    return (
        f"{first.text} to {further[-1].text} ({len(windows)} parts), {first.zone}" if further else str(first)
    )
