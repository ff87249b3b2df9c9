"""What a release says about its ledger: the caps that are guaranteed, and the sums right after its own spend."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.language import ENGLISH
from locentropy.ledger.accounts import Charge
from locentropy.privacy.guarantee import Guarantee, exact_text
from locentropy.privacy.units import period_of
from locentropy.release.statement import INFINITE, LedgerNote, WithdrawnRelease, amount

if TYPE_CHECKING:
    from locentropy.core.language import Words
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
        rebuilt=book.rebuilt,
        withdrawn=_withdrawn(book, spend.number),
        input_checked=any(check.before <= spend.number for check in book.input_checks),
        **_rho("", cap, there),
        **({} if person_cap is None else _person(person_cap, always)),
    )


def _withdrawn(book: Account, number: int) -> tuple[WithdrawnRelease, ...]:
    """The releases that had been withdrawn before this spend."""
    titles = {spend.id: spend.purpose for spend in book.spends}
    title_of = {known.release: titles[known.spend] for known in book.releases}
    return tuple(
        WithdrawnRelease(each.release, title_of[each.release], each.why)
        for each in book.withdrawals
        if each.before <= number
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


def note_words(note: LedgerNote, say: Words = ENGLISH) -> str:
    """What is guaranteed for everything that this ledger pays for, and what is left of it."""
    period = period_of(note.unit)
    return say(
        "ledger",
        population=note.population,
        account=_account(note, period, say),
        always="" if period is None else _always(note, period, say),
        counted="" if note.composition == "sum" else say("ledger.concentrated"),
        spend=note.spend_id,
        rebuilt=say("ledger.rebuilt") if note.rebuilt else "",
        withdrawn="".join(
            say("ledger.withdrawn", title=each.title, release=each.release, why=each.why)
            for each in note.withdrawn
        ),
    )


_UP_TO: Final = " to "


def _account(note: LedgerNote, period: str | None, say: Words) -> str:
    """The whole budget, and what is spent of it: in one period, or in each of several at most."""
    first, several, last = ("" if period is None else note.cell or "").partition(_UP_TO)
    where = say("ledger.in", period=first) if first else ""
    return say(
        "ledger.account",
        of=period or "person",
        whole=_numbers(note.total_epsilon, note.total_delta, say),
        spent=_spent(
            (note.rho, note.spent_rho),
            (note.spent_epsilon, note.spent_delta),
            "most" if several else "exactly",
            say,
        ),
        where=say("ledger.in_each", first=first, last=last) if several else where,
        closed=say("ledger.closed") if note.spent_epsilon == INFINITE else "",
    )


def _spent(
    rho: tuple[str | None, str | None], plain: tuple[str | None, str | None], how: str, say: Words
) -> str:
    """What is spent of an account, by the rule that admits it: ρ, unless plain sums of ε alone do."""
    whole, spent = rho
    if whole is None or spent is None or amount(spent, "spent_rho") > amount(whole, "rho"):
        return say("ledger.spent", of=how, spent=_numbers(*plain, say))
    return say("ledger.spent_rho", of=how, spent=say.written(spent), rho=say.written(whole))


def _always(note: LedgerNote, period: str, say: Words) -> str:
    """What somebody is guaranteed who is in the data in every period: the cap, never a multiple of that of one."""
    person = Guarantee(
        amount(note.person_epsilon, "person_epsilon"), Fraction(amount(note.person_delta, "person_delta"))
    )
    return say(
        "ledger.always",
        in_every=say("in_every", of=period),
        cap=_numbers(note.person_epsilon, note.person_delta, say),
        spent=_spent(
            (note.person_rho, note.person_spent_rho),
            (note.person_spent_epsilon, note.person_spent_delta),
            "exactly",
            say,
        ),
        strength=person.explain_strength(say),
    )


def _numbers(epsilon: str | None, delta: str | None, say: Words) -> str:
    return f"ε = {say.written(str(epsilon))}, δ = {say.written(str(delta))}"
