"""The privacy budget of a population, on disk: spent before noise is drawn, never refunded.

    ledger = Ledger.create("city.ledger", "riders of the city's bicycles", epsilon=4, delta=1e-6)
    spend = ledger.spend(Guarantee.pure(0.5), purpose="map of May")      # BudgetError if it does not fit
    print(ledger.remaining)                                              # ε = 3.5, δ = 1e-6

When `spend` returns, the spend is on disk. If anything fails after it, budget is lost and nothing was published; the
opposite, a release without its spend, cannot happen. `rules` decides which spends fit, `store` keeps them on disk.
Nothing in a ledger is taken from the data; ids are random.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import LedgerError, LocentropyError
from locentropy.core.html import joined, table, tag
from locentropy.ledger import store as ledger_store
from locentropy.ledger.accounts import Budget, Charge
from locentropy.ledger.beside import refuse_second, refuse_second_rebuilt
from locentropy.ledger.entries import Entry, new_id, stamp
from locentropy.ledger.parts import same_windows
from locentropy.ledger.rebuilding import rebuilt_entries
from locentropy.ledger.rules import STALE_LEDGER, Account, amounts_as_text
from locentropy.ledger.spending import amounts, each_window, spend_entries
from locentropy.ledger.terms import Terms
from locentropy.privacy.guarantee import exact
from locentropy.privacy.strength import check_large_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from locentropy.core.windows import Window
    from locentropy.ledger.accounts import Composition
    from locentropy.ledger.entries import Kind, ReleaseRecord, Spend, State
    from locentropy.ledger.rebuilding import Earlier
    from locentropy.ledger.spending import Windows
    from locentropy.privacy.guarantee import Guarantee, Number
    from locentropy.privacy.units import Unit

_CREATE: Final = 'Ledger.create("city.ledger", "riders of the city", epsilon=12, large_epsilon=True)'

WAIT: Final = 30.0
"""Seconds to wait for another process that is writing to the ledger."""


@dataclass(frozen=True)
class Ledger:
    """The privacy budget of a population, in a file. Made by `Ledger.create`, opened by `Ledger.open`.

    Nothing is cached in memory: every answer is read from the file and checked, so several processes and threads may
    use one ledger at the same time.
    """

    path: Path
    """The file."""
    wait: float = WAIT
    """Seconds to wait for another process that is writing."""

    @classmethod
    def create(
        cls,
        path: str | Path,
        population: str,
        epsilon: Number,
        delta: Number = 0,
        *,
        unit: Unit = "person",
        person_epsilon: Number | None = None,
        person_delta: Number | None = None,
        zone: str | None = None,
        composition: Composition = "sum",
        reserved_delta: Number = 0,
        large_epsilon: bool = False,
        another: bool = False,
    ) -> Ledger:
        """Create the ledger of a population. What is said here is fixed for good.

        Parameters
        ----------
        path
            The file to create. It must not exist.
        population
            One line that says who shares this budget: everybody whose data, now or later, is released under it.
        epsilon, delta
            The whole budget; with a unit per period, that of each day, week or month. Numbers are taken as they are
            written: 0.1 is one tenth.
        unit
            "person", or "person-day", "person-week", "person-month": then a guarantee hides what a person did in one
            of them, and every release is about a window inside one.
        person_epsilon, person_delta
            With a unit per period: the whole budget for somebody who is in the data all the time.
        zone
            The time zone of all windows, such as "Europe/Berlin"; None leaves it to the first release about one.
        composition
            "sum", plain sums of ε and of δ; or "concentrated", sums of ρ (zCDP), for many releases with Gaussian noise.
        reserved_delta
            With "concentrated": the part of `delta` for releases whose δ is not of Gaussian noise, such as private
            selections.
        large_epsilon
            Must be True for an ε above 10, also that of the person: all releases together may then hide hardly anything
            about one person.
        another
            Must be True if the folder has a ledger of this population already: two ledgers are two budgets.

        Returns
        -------
        Ledger
            The new ledger; its file is complete on disk.

        Raises
        ------
        ParameterError
            The budget or the population is not valid.
        LedgerError
            The file exists, or cannot be written, or the folder has a ledger of this population.

        Examples
        --------
        >>> Ledger.create("city.ledger", "riders of the city's bicycles", epsilon=4, delta=1e-6)  # doctest: +SKIP

        One for every month, and a year's worth for whoever rides in all of them:

        >>> Ledger.create("city.ledger", "riders", 0.5, unit="person-month", person_epsilon=6)  # doctest: +SKIP
        """
        ledger = cls(Path(path))
        entries = _first_entries(
            ledger.path,
            population,
            epsilon,
            delta,
            unit=unit,
            person_epsilon=person_epsilon,
            person_delta=person_delta,
            zone=zone,
            composition=composition,
            reserved_delta=reserved_delta,
            large_epsilon=large_epsilon,
        )
        if not another and not os.path.lexists(ledger.path):
            refuse_second(ledger.path, population, ledger._read_other)
        ledger_store.create(ledger.path, *entries)
        return ledger

    @classmethod
    def rebuild(
        cls,
        path: str | Path,
        earlier: Sequence[Earlier],
        population: str,
        epsilon: Number,
        delta: Number = 0,
        *,
        complete: bool = False,
        another: bool = False,
        **terms: Any,
    ) -> Ledger:
        """Rebuild a ledger that was lost, from what its releases and attempts state of their spends.

        `rebuild_ledger` reads these from files and says what the parameters are; `terms` are the others of `create`.
        Repeated for a ledger that is not complete, it adds what is missing there.
        """
        ledger = cls(Path(path))
        first = _first_entries(ledger.path, population, epsilon, delta, **terms)
        if not another:
            refuse_second_rebuilt(ledger.path, {each.spend for each in earlier}, ledger._read_other)
        if not os.path.lexists(ledger.path):
            first.append(Entry("rebuild", stamp()))
            added = rebuilt_entries(Account(str(path), first), earlier, complete=complete)
            ledger_store.create(ledger.path, *first, *added)
            return ledger
        with ledger_store.transaction(ledger.path, wait=ledger.wait, write=True) as store:
            account = ledger._account(store)
            begun = Account(str(path), first)
            if any(
                getattr(account, name) != getattr(begun, name) for name in ("population", "total", "terms")
            ):
                raise LedgerError(f"{path} is there already, with another population or budget.")
            for entry in rebuilt_entries(account, earlier, complete=complete):
                store.append(entry)
        return ledger

    @classmethod
    def open(cls, path: str | Path, wait: float = WAIT) -> Ledger:
        """Open the ledger in a file.

        Parameters
        ----------
        path
            The file that `Ledger.create` made.
        wait
            Seconds to wait for another process that is writing to it.

        Returns
        -------
        Ledger
            The ledger; its entries were read and checked once.

        Raises
        ------
        LedgerError
            There is no such file, it is damaged, or it is not a ledger.
        """
        ledger = cls(Path(path), wait)
        ledger.read()
        return ledger

    def read(self) -> Account:
        """All entries of the ledger, read in one transaction."""
        with ledger_store.transaction(self.path, wait=self.wait, write=False) as store:
            return self._account(store)

    def _repr_html_(self) -> str:
        account = self.read()
        left = tag("p", tag("strong", account.population), f": {account.remaining} left of {account.total}.")
        spent = ([str(spend.number), spend.time, _cost(spend), spend.purpose] for spend in account.spends)
        return joined(left, table(["", "when", "spent", "for"], spent))

    @property
    def remaining(self) -> Budget:
        """The remaining budget, of somebody who is always in the data; 0 if it is closed, or not complete."""
        return self.read().remaining

    def remaining_in(self, window: Window) -> Budget:
        """What is left for a release about a window: in its period, and for the person; whichever is less."""
        return self.read().remaining_in(window)

    def settled(self, window: Window) -> Window:
        """The window as this ledger can charge it, by its zone and its periods; raise why it cannot.

        Raises LedgerError for another time zone, and ParameterError for a window that straddles periods.
        """
        account = self.read()
        account.calendar.check_zone(window, str(self.path))
        return account.calendar.settled(window)

    @property
    def tuned_unaccounted(self) -> bool:
        """Whether parameters may have been tuned on the data without budget."""
        return bool(self.read().evaluations)

    def history(self) -> tuple[Spend, ...]:
        """All spends, the oldest first."""
        return tuple(self.read().spends)

    def releases(self) -> tuple[ReleaseRecord, ...]:
        """The recorded states of releases, the oldest first."""
        return tuple(self.read().releases)

    def check(self, guarantee: Guarantee, window: Windows = None) -> None:
        """Raise BudgetError if a release with this guarantee does not fit now. Nothing is written or reserved."""
        if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
            raise LedgerError(f"{self.path} or its folder is not writable, so nothing can be spent from it.")
        self.preview(guarantee, window)

    def preview(self, guarantee: Guarantee, window: Windows = None) -> Account:
        """The account as it would be after a release with this guarantee; raise BudgetError if it does not fit."""
        account = self.read()
        for entry in spend_entries(account, new_id(), guarantee, "preview", window):
            account.add(entry)
        return account

    def spend(
        self,
        guarantee: Guarantee,
        purpose: str,
        spend_id: str | None = None,
        *,
        window: Windows = None,
    ) -> Spend:
        """Take what a guarantee costs from the budget, permanently. Returns when the spend is on disk.

        Parameters
        ----------
        guarantee
            The guarantee of the release to pay for, or of each of its parts. `Guarantee.none` spends ε = ∞ and closes
            the ledger.
        purpose
            One line in the owner's words. It must say nothing about the data.
        spend_id
            An id from `new_id`, for callers that may be interrupted: spending again under an id that is already in
            the ledger takes nothing and returns the existing spend. None makes a new id.
        window
            The window that the release is about, as `settled` gave it; None if it is about all visits, which a ledger
            per period refuses. Several, if the release has a part for each: each is charged the guarantee.

        Returns
        -------
        Spend
            The spend as it is in the ledger.

        Raises
        ------
        BudgetError
            The budget does not suffice, or the ledger is closed. Nothing was spent.
        LedgerError
            The ledger cannot be read or written, or has the spend with another ε, δ or window, or counts by another
            time zone.
        ParameterError
            The window straddles periods of the ledger.
        """
        own = spend_id or new_id()
        with ledger_store.transaction(self.path, wait=self.wait, write=True) as store:
            account = self._account(store)
            account.refuse_earlier(own)
            if all(spend.id != own for spend in account.spends):
                for entry in spend_entries(account, own, guarantee, purpose, window):
                    account.add(entry)
                    store.append(entry)
        [made] = [spend for spend in account.spends if spend.id == own]
        asked = each_window(window)
        if (made.epsilon, made.delta) != amounts(guarantee, len(asked)):
            raise LedgerError(f"{self.path} has the spend {own} with another ε or δ than is asked for now.")
        parts = [part for part in account.parts if part.spend == own]
        if parts and not same_windows([part.window for part in parts], asked):
            raise LedgerError(f"{self.path} has the spend {own} for another window than is asked for now.")
        if account.has_terms and any(part.charge != Charge.of(guarantee) for part in parts):
            raise LedgerError(f"{self.path} has the spend {own} with another ρ than is asked for now.")
        return made

    def record_release(self, spend_id: str, release_id: str, state: State) -> None:
        """Record that the release of a spend is staged or published. Recording the same again changes nothing.

        One spend pays for one release, so a retry that finds a staged release finishes it and must not draw again.
        """

        def known(account: Account) -> bool:
            return (spend_id, release_id, state) in [
                (record.spend, record.release, record.state) for record in account.releases
            ]

        values = {"spend": spend_id, "release": release_id, "state": state, "time": stamp()["time"]}
        self._append("release", values, unless=known)

    def record_evaluation(self, note: str) -> None:
        """Record that exact data was used without budget: parameters tuned on it are not accounted for."""
        self._append("evaluation", {"note": note, **stamp()})

    def record_check(self) -> None:
        """Record that ids, dates and dropped rows were compared with the exact data, and no result was computed.

        It is on disk when this returns, so call it before anything is shown. Later releases say that it was done.
        """
        self._append("input_check", stamp())

    def record_withdrawal(self, release_id: str, why: str) -> None:
        """Record that a release was withdrawn or replaced. Later releases say so; what it cost stays spent.

        Parameters
        ----------
        release_id
            The id of a release that this ledger has paid for.
        why
            One line in the owner's words, which later releases publish. It must say nothing about the data.
        """
        self._append("withdrawal", {"release": release_id, "why": why, **stamp()})

    def verify(self, spends: Iterable[str] = ()) -> Account:
        """Check the whole file, and that it has these spends, whose ids are taken from published releases.

        Without ids a restored backup passes: it is a complete ledger of an earlier day.
        """
        with ledger_store.transaction(self.path, wait=self.wait, write=False) as store:
            store.check_pages()
            account = self._account(store)
        known = {spend.id for spend in account.spends}
        for spend in spends:
            if spend not in known:
                raise LedgerError(f"{self.path} has no spend {spend}. {STALE_LEDGER}")
        return account

    def _append(
        self, kind: Kind, values: dict[str, str], unless: Callable[[Account], bool] | None = None
    ) -> Account:
        with ledger_store.transaction(self.path, wait=self.wait, write=True) as store:
            account = self._account(store)
            if unless is None or not unless(account):
                entry = Entry(kind, values)
                account.add(entry)
                store.append(entry)
        return account

    def _read_other(self, path: Path) -> Account:
        return Ledger(path, self.wait).read()

    def _account(self, store: ledger_store.Store) -> Account:
        entries = store.read()
        try:
            return Account(str(self.path), entries)
        except LocentropyError as error:
            # These rules were checked before each entry was written, so something else has written it.
            raise LedgerError(
                f"{self.path} holds an entry that its rules forbid ({error}). Do not publish with it."
            ) from None


def _first_entries(
    path: Path,
    population: str,
    epsilon: Number,
    delta: Number,
    *,
    unit: Unit = "person",
    person_epsilon: Number | None = None,
    person_delta: Number | None = None,
    zone: str | None = None,
    composition: Composition = "sum",
    reserved_delta: Number = 0,
    large_epsilon: bool = False,
) -> list[Entry]:
    """What a new ledger begins with: its budget and, if they are not those of version 1, its terms."""
    for most, of in ((epsilon, "a ledger"), (person_epsilon, "somebody who is always in the data")):
        given = None if most is None else exact(most)
        check_large_epsilon(given, accepted=large_epsilon, of=of, example=_CREATE)
    whole = amounts_as_text(exact(epsilon), exact(delta, "delta"))
    entries = [Entry("budget", {"id": new_id(), "population": population, **whole, **stamp()})]
    total = Account(str(path), entries).total  # checks the rules before there is a file
    terms = Terms.made(total, unit, zone, composition, (person_epsilon, person_delta), reserved_delta)
    if not terms.plain:
        entries.append(Entry("rules", {**terms.as_values(), **stamp()}))
        Account(str(path), entries)
    return entries


def _cost(spend: Spend) -> str:
    return "everything" if spend.epsilon is None else str(Budget(spend.epsilon, spend.delta))
