"""Rebuilding: a ledger that was lost is made anew from the releases that it had paid for.

Each of them states its spend, what that cost, and the sums right after it; so does the record of an attempt that was
interrupted. All of it is charged, whether it fits or not. What was spent and is stated nowhere is not known, so nothing
is admitted before the owner says that there is no more; and not even then if sums show that something is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import LedgerError
from locentropy.ledger.accounts import Charge
from locentropy.ledger.entries import Entry, stamp
from locentropy.ledger.spending import amounts, spend_entries
from locentropy.privacy.guarantee import exact_text
from locentropy.privacy.units import cell_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from locentropy.core.windows import Window
    from locentropy.ledger.rules import Account
    from locentropy.privacy.guarantee import Guarantee

_NOTHING: Final = Charge()
_TAKEN_OVER: Final = "noted by the ledger before this one"


@dataclass(frozen=True)
class Earlier:
    """A spend of an earlier ledger, as a release that it paid for, or the record of an attempt, states it."""

    source: str
    """Where it is stated, for messages."""
    spend: str
    """The id of the spend."""
    purpose: str
    """The purpose, in the owner's words."""
    guarantee: Guarantee
    """What each part cost."""
    windows: tuple[Window | None, ...]
    """What each part read."""
    terms: Mapping[str, str]
    """Of that ledger, as far as they are stated (`stated_terms`)."""
    release: str = ""
    """The id of the release; empty if it is only known that it may have been drawn."""
    person: Charge = _NOTHING
    """What had been spent right after it, for somebody who is always in the data."""
    cell: Charge = _NOTHING
    """The same of whichever of its periods most was charged to."""
    tuned: bool = False
    """Whether that ledger had recorded an evaluation on the exact data."""
    input_checked: bool = False
    """Whether it had recorded a check of the input."""
    withdrawn: tuple[tuple[str, str], ...] = ()
    """The ids of releases that were withdrawn by then, and why."""


def stated_terms(account: Account) -> dict[str, str]:
    """What releases state of the terms of the ledger that pays for them."""
    cap, person = account.terms.caps(account.total)
    stated = {
        "unit": account.unit,
        "population": account.population,
        "composition": account.terms.composition,
        "epsilon": exact_text(cap.epsilon),
        "delta": exact_text(cap.delta),
    }
    if person is not None:
        stated |= {"person_epsilon": exact_text(person.epsilon), "person_delta": exact_text(person.delta)}
    if cap.rho is not None:
        stated["rho"] = exact_text(cap.rho)
    return stated


def rebuilt_entries(account: Account, earlier: Iterable[Earlier], *, complete: bool) -> Iterator[Entry]:
    """What is written for these spends, those that the account has already left out; each is added to it."""
    if account.complete:
        raise LedgerError(
            f"{account.name} is a complete ledger, which is not rebuilt. Use it, or choose a new name."
        )
    given = sorted(_once_each(account, earlier), key=lambda each: (not each.release, each.person.epsilon))
    account.calendar.recall(window for each in given for window in each.windows)
    for each in given:
        for entry in _entries_of(account, each):
            account.add(entry)
            yield entry
    for release, why in dict(pair for each in given for pair in each.withdrawn).items():
        if _has_release(account, release) and all(known.release != release for known in account.withdrawals):
            entry = Entry("withdrawal", {"release": release, "why": why, **stamp()})
            account.add(entry)
            yield entry
    if complete:
        _refuse_gaps(account, given)
        entry = Entry("complete", stamp())
        account.add(entry)
        yield entry


def _once_each(account: Account, earlier: Iterable[Earlier]) -> Iterable[Earlier]:
    """One for each spend; raise for what does not belong to one ledger of these terms."""
    given: dict[str, Earlier] = {}
    due = stated_terms(account)
    for each in earlier:
        for name, said in each.terms.items():
            if said != due.get(name):
                option = "ρ" if name == "rho" else f"--{name.replace('_', '-')}"
                raise LedgerError(
                    f"{each.source} was paid for by another ledger, or by one of other terms: {option} is {said!r} "
                    f"there, and {due.get(name, 'none')!r} in {account.name}. If it is about the same people, give the "
                    "terms that it states; if it is about others, leave it out."
                )
        other = given.get(each.spend)
        if other is not None and other.release and each.release and other.release != each.release:
            raise LedgerError(
                f"{other.source} and {each.source} name one spend, and are two releases. One of them is not what it "
                "says: see locentropy verify."
            )
        if other is not None and (other.guarantee.epsilon, other.guarantee.delta, len(other.windows)) != (
            each.guarantee.epsilon,
            each.guarantee.delta,
            len(each.windows),
        ):
            raise LedgerError(f"{other.source} and {each.source} name one spend, and another cost of it.")
        if other is None or each.release:
            given[each.spend] = each
    return given.values()


def _entries_of(account: Account, each: Earlier) -> Iterator[Entry]:
    """The entries of one spend, and what its ledger had recorded before it."""
    known = [spend for spend in account.spends if spend.id == each.spend]
    if known:
        if (known[0].epsilon, known[0].delta) != amounts(each.guarantee, len(each.windows)):
            raise LedgerError(f"{account.name} has the spend of {each.source} with another ε or δ.")
        return
    if each.input_checked and not account.input_checks:
        yield Entry("input_check", stamp())
    if each.tuned and not account.evaluations:
        yield Entry("evaluation", {"note": _TAKEN_OVER, **stamp()})
    yield from spend_entries(account, each.spend, each.guarantee, each.purpose, each.windows, each.release)


def _has_release(account: Account, release: str) -> bool:
    return any(known.release == release for known in account.releases)


def _refuse_gaps(account: Account, given: list[Earlier]) -> None:
    """Raise LedgerError if what was given says itself that there is more."""
    forgotten = {spend.id for spend in account.spends} - {each.spend for each in given}
    if forgotten:
        raise LedgerError(
            f"{account.name} holds {len(forgotten)} spends of releases that were not named now. To say that it is "
            "complete, name all of them."
        )
    for each in given:
        cells = {cell_of(account.unit, window) for window in each.windows} - {None}
        fullest = [account.charged_in(str(cell)) for cell in cells]
        for noted, here in ((each.person, account.person), (each.cell, _most(fullest))):
            if any(getattr(noted, name) > getattr(here, name) for name in ("epsilon", "delta", "rho")):
                raise LedgerError(
                    f"Something is missing: after {each.source}, ε = {exact_text(noted.epsilon)} and δ = "
                    f"{exact_text(noted.delta)} had been spent, as it states, and what was named adds up to ε = "
                    f"{exact_text(here.epsilon)} and δ = {exact_text(here.delta)}. {_GIVE_ALL}"
                )
        for release, _ in each.withdrawn:
            if not _has_release(account, release):
                raise LedgerError(
                    f"Something is missing: {each.source} states that the release {release} was withdrawn, and it was "
                    f"not named. {_GIVE_ALL}"
                )


def _most(charges: list[Charge]) -> Charge:
    """The most of each kind; nothing if there are none."""
    return Charge(
        *(max(getattr(each, field.name) for each in (_NOTHING, *charges)) for field in fields(Charge))
    )


_GIVE_ALL: Final = (
    "Name every release, and the record of every attempt that was not finished (.NAME.publishing). Paid surveys leave "
    "no such file. If what is missing cannot be found, this ledger cannot be completed: docs/budget.md says what then."
)
