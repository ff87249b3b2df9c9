"""Verify the account: whether a ledger has charged what a release says, and says what the release says of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from locentropy.core.window_split import split
from locentropy.ledger.parts import same_windows
from locentropy.privacy.units import part_windows
from locentropy.release.ledger_notes import ledger_note
from locentropy.release.statement import INFINITE, amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.core.windows import Window
    from locentropy.ledger.ledger import Ledger
    from locentropy.release.statement import LedgerNote, Statement


_TERMS: Final = ("population", "unit", "composition", "cell")
_FIXED: Final = ("total_epsilon", "total_delta", "rho", "person_epsilon", "person_delta", "person_rho")
"""What a ledger states alike in all releases."""


def ledger_problems(statement: Statement, ledger: Ledger) -> Iterator[str]:
    """Compare what the release says about its ledger with the ledger."""
    note, book = statement.ledger, ledger.read()
    if note is None:
        yield f"The release says that it was made without a ledger, so it is not in {ledger.path}."
        return
    paid = [spend for spend in book.spends if spend.id == note.spend_id]
    if not paid:
        yield (
            f"{ledger.path} has no spend {note.spend_id}. It is another ledger, or an older copy that lacks "
            "spends: do not publish with it."
        )
        return
    spend = paid[0]
    parts, stated = _parts_of(statement), statement.guarantee
    whole = (None if stated.epsilon is None else len(parts) * stated.epsilon, len(parts) * stated.delta)
    if (spend.epsilon, spend.delta) != whole:
        yield "The ledger has charged another ε or δ for this release than the release states."
    released = {record.release for record in book.releases if record.spend == spend.id}
    if released and released != {statement.release_id}:
        yield "The ledger says that this spend paid for another release."
    windows = [part.window for part in book.parts if part.spend == spend.id]
    if windows and not same_windows(windows, parts):
        yield "The ledger has charged this release for another window than the release is about."
    if book.unit != statement.guarantee.unit:
        yield "The ledger protects another unit than the release says."
    due = ledger_note(book, spend.id)
    if spend.number <= book.earlier:  # sums, and what was known then, are those of the ledger before this one
        due = replace(note, **{name: getattr(due, name) for name in (*_FIXED, *_TERMS)})
    yield from _budget(note, due)


def _parts_of(statement: Statement) -> tuple[Window | None, ...]:
    """What each part of the release reads, and is charged for."""
    windows = () if statement.windows is None else split(statement.window, statement.windows)
    return part_windows(statement.guarantee.unit, statement.window, windows)


def _budget(note: LedgerNote, due: LedgerNote) -> Iterator[str]:
    """Compare what the release says about sums with what the ledger had spent right after it."""

    def numbers_of(said: LedgerNote, *names: str) -> list[object]:
        values = [getattr(said, name) for name in names]
        return [each if each in (None, INFINITE) else amount(each, "amount") for each in values]

    if note.input_checked != due.input_checked:
        yield "The ledger says otherwise than the release whether the input was checked before it."
    if (note.rebuilt, note.withdrawn) != (due.rebuilt, due.withdrawn):
        yield "The ledger says otherwise than the release whether it was rebuilt, or what was withdrawn before."
    if [getattr(note, name) for name in _TERMS] != [getattr(due, name) for name in _TERMS] or numbers_of(
        note, *_FIXED
    ) != numbers_of(due, *_FIXED):
        yield "The ledger is of another population or budget than the release says."
    sums = [f"{whose}spent_{what}" for whose in ("", "person_") for what in ("epsilon", "delta", "rho")]
    if numbers_of(note, *sums) != numbers_of(due, *sums):
        yield "The ledger had spent another sum after this release than the release says."
