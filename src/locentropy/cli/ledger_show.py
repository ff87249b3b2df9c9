"""What a ledger holds, on the screen and as JSON."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from locentropy.cli import options
from locentropy.cli.console import note, out, warn

if TYPE_CHECKING:
    from locentropy.core.windows import Window
    from locentropy.ledger.accounts import Budget
    from locentropy.ledger.rules import Account

_PERIODS: Final = 24
"""Those that are shown of a ledger per period."""
_WIDE: Final = 80
"""Columns of a terminal in which every spend fits on a line."""
CHECKED: Final = (
    "The input was checked: ids, dates and dropped rows were compared with the exact data, without a result."
)
TUNED: Final = "Parameters were tuned on the data, unaccounted: exact data was looked at without budget."


def show_account(book: Account) -> None:
    """Print what is left, and what the rest was spent on."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    _line(f"Budget of '{book.population}'")
    for name, amount in (("total", whole(book)), ("left", left(book)), *_left_in(book)):
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
    for row in _spends(book):
        if "withdrawn" in row:
            note(f"Spend {row['number']} was withdrawn (release {row['release']}): {row['withdrawn']}")
    if book.why_nothing is not None:
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


def account_as_json(book: Account) -> dict[str, Any]:
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


def whole(book: Account) -> str:
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


def left(book: Account) -> str:
    """What remains of it, in words."""
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
