"""The budget of a population of people, on disk: spent before noise is drawn, never refunded.

    ledger = Ledger.create("city.ledger", "riders of the city's bicycles", epsilon=4, delta=1e-6)
    spend = ledger.spend(Guarantee.pure(0.5), purpose="map of May")      # BudgetError if it does not fit
    print(ledger.remaining)                                              # ε = 3.5, δ = 1e-6

When `spend` returns, the spend is on disk; if anything goes wrong after it, the budget is gone and nothing was
published, never the other way round. What is admitted: ledger_book.py. How it is kept: ledger_store.py.
Nothing in a ledger is taken from the data; ids are random.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import LedgerError, LocentropyError, ParameterError
from locentropy.core.version import __version__
from locentropy.ledger import store as ledger_store
from locentropy.ledger.rules import FORGOTTEN, Account, Budget, Entry, ReleaseRecord, Spend, State, written
from locentropy.privacy.guarantee import Guarantee, Number, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from locentropy.ledger.rules import Kind

WAIT: Final = 30.0
"""Seconds to wait for another process that is writing to the ledger."""


def new_id() -> str:
    """A random id, for a ledger, a spend or a release: it tells nothing about anything."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Ledger:
    """The budget of a population, in a file. Made by `Ledger.create`, found again by `Ledger.open`.

    Nothing is kept in memory: every answer is read from the file and checked, so several processes and threads may
    use one ledger at once.
    """

    path: Path
    """The file."""
    wait: float = WAIT
    """Seconds to wait for another process that is writing."""

    @classmethod
    def create(cls, path: str | Path, population: str, epsilon: Number, delta: Number = 0) -> Ledger:
        """Make the ledger of a population: everybody whose data, now or later, shares this budget."""
        ledger = cls(Path(path))
        amounts = written(exact(epsilon), exact(delta, "delta"))
        first = Entry("budget", {"id": new_id(), "population": population, **amounts, **_stamp()})
        Account(str(path), [first])  # the rules, before there is a file
        ledger_store.create(ledger.path, first)
        return ledger

    @classmethod
    def open(cls, path: str | Path, wait: float = WAIT) -> Ledger:
        """The ledger in a file; LedgerError if there is none or if it is damaged."""
        ledger = cls(Path(path), wait)
        ledger.read()
        return ledger

    def read(self) -> Account:
        """Everything the ledger says at this moment, at one moment."""
        with ledger_store.transaction(self.path, wait=self.wait, write=False) as store:
            return self._book(store)

    @property
    def remaining(self) -> Budget:
        """What is left of the budget; nothing once the ledger is closed."""
        return self.read().remaining

    @property
    def tuned_unaccounted(self) -> bool:
        """Whether parameters may have been tuned on the data without budget."""
        return bool(self.read().evaluations)

    def history(self) -> tuple[Spend, ...]:
        """Every spend, the oldest first."""
        return tuple(self.read().spends)

    def releases(self) -> tuple[ReleaseRecord, ...]:
        """How far the releases of the spends have come, the oldest record first."""
        return tuple(self.read().releases)

    def check(self, guarantee: Guarantee) -> None:
        """BudgetError if a release with this guarantee does not fit now; writes nothing and reserves nothing."""
        if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
            raise LedgerError(
                f"{self.path} or its folder may not be written, so nothing can be spent from it."
            )
        self.read().after(*_asked(guarantee))

    def spend(self, guarantee: Guarantee, purpose: str, spend_id: str | None = None) -> Spend:
        """Take a guarantee's ε and δ from the budget, for ever; returns when that is on disk.

        A guarantee that promises nothing spends ε = ∞ and closes the ledger. `purpose` is one line in the owner's
        words; it must tell nothing about the data. Whoever may be interrupted makes the id beforehand (`new_id`) and
        keeps it: to spend again under an id that is in the ledger takes nothing, and gives the spend that is there.
        """
        amounts = written(*_asked(guarantee))
        own = spend_id or new_id()

        def known(book: Account) -> bool:
            return any(spend.id == own for spend in book.spends)

        book = self._append("spend", {"id": own, **amounts, "purpose": purpose, **_stamp()}, unless=known)
        [made] = [spend for spend in book.spends if spend.id == own]
        if (made.epsilon, made.delta) != _asked(guarantee):
            raise LedgerError(f"{self.path} knows the spend {own} with another ε or δ than is asked for now.")
        return made

    def record_release(self, spend_id: str, release_id: str, state: State) -> None:
        """Note that the release of a spend is staged or published; noting the same again changes nothing.

        One spend pays for one release. So a retry that finds a staged release may finish it and must not draw again.
        """

        def known(book: Account) -> bool:
            return (spend_id, release_id, state) in [
                (record.spend, record.release, record.state) for record in book.releases
            ]

        values = {"spend": spend_id, "release": release_id, "state": state, "time": _stamp()["time"]}
        self._append("release", values, unless=known)

    def record_evaluation(self, note: str) -> None:
        """Note that the exact data of these people was looked at without budget: what is tuned on it is unaccounted."""
        self._append("evaluation", {"note": note, **_stamp()})

    def verify(self, spends: Iterable[str] = ()) -> Account:
        """Check the whole file, and that it knows these spend ids, taken from published releases.

        Without ids a restored backup looks like a whole ledger: it is one, of an earlier day.
        """
        with ledger_store.transaction(self.path, wait=self.wait, write=False) as store:
            store.check_pages()
            book = self._book(store)
        known = {spend.id for spend in book.spends}
        for spend in spends:
            if spend not in known:
                raise LedgerError(f"{self.path} knows no spend {spend}. {FORGOTTEN}")
        return book

    def _append(
        self, kind: Kind, values: dict[str, str], unless: Callable[[Account], bool] | None = None
    ) -> Account:
        with ledger_store.transaction(self.path, wait=self.wait, write=True) as store:
            book = self._book(store)
            if unless is None or not unless(book):
                entry = Entry(kind, values)
                book.add(entry)
                store.append(entry)
        return book

    def _book(self, store: ledger_store.Store) -> Account:
        entries = store.read()
        try:
            return Account(str(self.path), entries)
        except LocentropyError as error:
            # These very rules let each entry in, so somebody else has written it.
            raise LedgerError(
                f"{self.path} holds an entry that its rules forbid ({error}). Do not publish with it."
            ) from None


def _asked(guarantee: Guarantee) -> tuple[Fraction | None, Fraction]:
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(
            "guarantee must be a Guarantee. For example: "
            'ledger.spend(Guarantee.pure(0.5), purpose="map of May")'
        )
    return guarantee.epsilon, guarantee.delta


def _stamp() -> dict[str, str]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"software": f"locentropy {__version__}", "time": now}
