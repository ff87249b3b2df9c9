"""What a release says about its ledger: the caps that are guaranteed, and the sums right after its own spend."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from locentropy.ledger.accounts import Charge
from locentropy.privacy.guarantee import Guarantee, exact_text
from locentropy.privacy.units import period_of
from locentropy.release.statement import INFINITE, LedgerNote, amount

if TYPE_CHECKING:
    from locentropy.ledger.accounts import Cap
    from locentropy.ledger.parts import Part
    from locentropy.ledger.rules import Account


def ledger_note(book: Account, spend_id: str) -> LedgerNote:
    """The note of the release that a spend paid for."""
    [spend] = [each for each in book.spends if each.id == spend_id]
    paid = {each.id for each in book.spends[: spend.number]}
    parts = [part for part in book.parts if part.spend in paid]
    cells = [part.cell for part in parts if part.spend == spend_id and part.cell is not None]
    always = sum((part.charge for part in parts), Charge())
    there = _fullest(parts, cells) if cells else always
    cap, person_cap = book.terms.caps(book.total)
    return LedgerNote(
        population=book.population,
        spend_id=spend.id,
        total_epsilon=exact_text(book.total.epsilon),
        total_delta=exact_text(book.total.delta),
        spent_epsilon=INFINITE if spend.epsilon is None else exact_text(there.epsilon),
        spent_delta=exact_text(there.delta),
        unit=book.unit,
        cell=_named(cells),
        composition=book.terms.composition,
        **_rho("", cap, there),
        **({} if person_cap is None else _person(person_cap, always)),
    )


def _fullest(parts: list[Part], cells: list[str]) -> Charge:
    """The most that was charged to any of the periods that a release is about, whichever sum it is."""
    charged = [sum((part.charge for part in parts if part.cell == cell), Charge()) for cell in cells]
    return Charge(*(max(getattr(each, field.name) for each in charged) for field in fields(Charge)))


def _named(cells: list[str]) -> str | None:
    """The period that a release was charged to, or the first and the last of several."""
    if not cells:
        return None
    return cells[0] if len(cells) == 1 else f"{cells[0]}{_UP_TO}{cells[-1]}"


def _person(cap: Cap, charged: Charge) -> dict[str, Any]:
    return {
        "person_epsilon": exact_text(cap.epsilon),
        "person_delta": exact_text(cap.delta),
        "person_spent_epsilon": exact_text(charged.epsilon),
        "person_spent_delta": exact_text(charged.delta),
        **_rho("person_", cap, charged),
    }


def _rho(prefix: str, cap: Cap, charged: Charge) -> dict[str, str]:
    if cap.rho is None:
        return {}
    return {f"{prefix}rho": exact_text(cap.rho), f"{prefix}spent_rho": exact_text(charged.rho)}


def note_words(note: LedgerNote) -> str:
    """What is guaranteed for everything that this ledger pays for, and what is left of it."""
    closed = " (a release about them had no guarantee)" if note.spent_epsilon == INFINITE else ""
    period = period_of(note.unit)
    begins = f"A ledger keeps count for this population: {note.population}. "
    if period is None:
        counted = _account(note, "Its budget", "", closed)
    else:
        counted = (
            f"{_account(note, f'What a person did in one {period} has a budget of its own, which', note.cell, closed)} "
            f"{_always(note, period)}"
        )
    in_rho = "" if note.composition == "sum" else f" {_CONCENTRATED}"
    return f"{begins}{counted}{in_rho} The spend of this release is {note.spend_id}."


_UP_TO: Final = " to "

_CONCENTRATED = (
    "Costs are counted in ρ (zero-concentrated differential privacy) and converted once, for the whole budget, unless "
    "all of them are pure and plain sums of ε are less: what was spent so far is no guarantee of its own."
)


def _account(note: LedgerNote, what: str, cell: str | None, closed: str) -> str:
    where = f" in {cell}" if cell else ""
    most = ""
    if cell and _UP_TO in cell:
        most, where = "at most ", f" in each period from {cell}"
    spent = _spent(note.rho, note.spent_rho, note.spent_epsilon, note.spent_delta)
    whole = f"{what} is ε = {note.total_epsilon}, δ = {note.total_delta}"
    return f"{whole}; after this release {most}{spent}{where}{closed}."


def _spent(rho: str | None, spent_rho: str | None, epsilon: str | None, delta: str | None) -> str:
    """What is spent of an account, by the rule that admits it: ρ, unless plain sums of ε alone do."""
    if rho is None or spent_rho is None or amount(spent_rho, "spent_rho") > amount(rho, "rho"):
        return f"ε = {epsilon}, δ = {delta} of it are spent"
    return f"ρ = {spent_rho} of {rho} is spent"


def _always(note: LedgerNote, period: str) -> str:
    """What somebody is guaranteed who is in the data in every period: the cap, never a multiple of that of one."""
    cap = f"ε = {note.person_epsilon}, δ = {note.person_delta}"
    spent = _spent(note.person_rho, note.person_spent_rho, note.person_spent_epsilon, note.person_spent_delta)
    return (
        f"Somebody who is in the data in every {period} is guaranteed {cap} for all releases together; {spent} so far. "
        f"{_always_strength(note)}"
    )


def _always_strength(note: LedgerNote) -> str:
    person = Guarantee(
        amount(note.person_epsilon, "person_epsilon"), Fraction(amount(note.person_delta, "person_delta"))
    )
    return f"For them: {person.explain_strength()}"
