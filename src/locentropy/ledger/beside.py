"""Other ledgers in the same folder: a second one for the same people would be a second budget."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import LedgerError
from locentropy.ledger import store as ledger_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from locentropy.ledger.rules import Account


def refuse_second(path: Path, population: str, read: Callable[[Path], Account]) -> None:
    """Raise LedgerError if the folder of a new ledger has one of these people, or one that cannot be read."""
    for other, account in _ledgers_beside(path, read):
        if account is None:
            raise LedgerError(
                f"{other} is a ledger too, and cannot be read. If it is about the same people, do not begin anew: "
                "restore it, or rebuild it from its releases (locentropy ledger rebuild). "
                f"If not, say so: {_ANOTHER}"
            )
        if _folded(account.population) == _folded(population):
            raise LedgerError(
                f"{other} is the ledger of '{account.population}' already. Two ledgers are two budgets: what they "
                f"admit adds up for whoever is in both. Use that one. If a second budget is meant, say so: {_ANOTHER}"
            )


def refuse_second_rebuilt(path: Path, spends: set[str], read: Callable[[Path], Account]) -> None:
    """Raise LedgerError if the folder has a ledger that was rebuilt from one of these spends."""
    for other, account in _ledgers_beside(path, read):
        if account is not None and account.rebuilt and any(spend.id in spends for spend in account.spends):
            raise LedgerError(
                f"{other} was rebuilt from the same spends already. Two rebuilt ledgers are two budgets for the same "
                f"people. Use that one, or remove it if nothing was spent from it. If a second one is meant: {_ANOTHER}"
            )


_ANOTHER: Final = "another=True (--another)"


def _ledgers_beside(path: Path, read: Callable[[Path], Account]) -> Iterator[tuple[Path, Account | None]]:
    """The other ledgers in the folder, with what they hold; None if that cannot be read."""
    for other in sorted(path.parent.glob("*")) if path.parent.is_dir() else ():
        if other.name != path.name and other.is_file() and _is_ledger(other):
            account = None
            with suppress(LedgerError):
                account = read(other)
            yield other, account


def _is_ledger(path: Path) -> bool:
    """Whether the file calls itself a ledger. It may be anything: it is opened so that nothing is written or locked."""
    if path.name.startswith(".") and path.name.endswith(".part"):
        return False  # left by a `create` that was killed
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as connection:
        found: tuple[int] = connection.execute("PRAGMA application_id").fetchone()
        return found == (ledger_store.APPLICATION,)
    with suppress(OSError), path.open("rb") as damaged:  # nobody can hold a lock of SQLite on it
        return damaged.read(72)[68:] == ledger_store.APPLICATION.to_bytes(4, "big")
    return False


def _folded(population: str) -> str:
    return " ".join(population.split()).casefold()
