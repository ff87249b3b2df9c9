"""The rules of a ledger: what an entry may be, and which spends fit the budget. Knows nothing about files.

Claim: whatever was admitted keeps the caps of the ledger as a whole, also when each spend was chosen after seeing the
releases before it: (ε, δ) of the budget for the ledger's unit, and, per period, that of the person for somebody who is
always in the data. One spend is charged to both, its cell and the person, and admitted only if neither is exceeded
(`accounts`: when an account admits; `parts`: which cell a window is charged to; docs/proofs/units.md).

The same rules are checked before an entry is written and whenever the entries are read again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from locentropy.core.civil_time import intersection
from locentropy.core.errors import BudgetError, LedgerError, LocentropyError, ParameterError
from locentropy.ledger.accounts import Budget, Cap, Charge, check_length
from locentropy.ledger.parts import Calendar, Part
from locentropy.ledger.terms import Terms
from locentropy.privacy.guarantee import Guarantee, exact, exact_text
from locentropy.privacy.units import cell_of, period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locentropy.core.windows import Window
    from locentropy.privacy.units import Unit

Kind = Literal["budget", "spend", "release", "evaluation", "rules", "part", "input_check"]
State = Literal["staged", "published"]

INFINITE: Final = "inf"
"""How an infinite ε is written."""

_STATES: Final = ("staged", "published")
_MAX_WORDS_LENGTH: Final = 300


@dataclass(frozen=True)
class Entry:
    """One line of the ledger, as text."""

    kind: Kind
    values: Mapping[str, str]


@dataclass(frozen=True)
class Spend:
    """What one release has taken from the budget, permanently."""

    id: str
    """A random id; the manifest of the release names it."""
    number: int
    """1, 2, 3, …: the order of spends. Clocks may jump, numbers do not."""
    epsilon: Fraction | None
    """ε, exactly; None stands for ∞: a release without a guarantee."""
    delta: Fraction
    """δ, exactly."""
    purpose: str
    """The purpose, in the owner's words."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """The time in UTC, by the machine's clock; nothing depends on it."""


@dataclass(frozen=True)
class ReleaseRecord:
    """The state of a spend's release."""

    spend: str
    """The id of the spend."""
    release: str
    """The id of the release."""
    state: State
    """`staged`: its numbers are drawn and on disk; `published`: it is in its final place."""
    time: str
    """When, in UTC."""


@dataclass(frozen=True)
class Evaluation:
    """A use of exact data that took nothing from the budget."""

    note: str
    """What was done, in the owner's words."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """When, in UTC."""


@dataclass(frozen=True)
class InputCheck:
    """A comparison of ids, dates and dropped rows with the exact data, which computed no result."""

    before: int
    """The number of the spend that comes next: releases from it on say so."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """When, in UTC."""


class Account:
    """What the entries of one ledger add up to; each entry is checked against those before it."""

    id: str
    """The random id of the ledger."""
    population: str
    """Who shares this budget, in the owner's words."""
    total: Budget
    """The whole budget; of a ledger per period, that of each of them."""
    created: str
    """When, in UTC."""

    def __init__(self, name: str, entries: Iterable[Entry] = ()) -> None:
        self.name = name
        """The ledger's name in messages."""
        self.terms = Terms()
        self.has_terms = False
        """Whether there is an entry of terms; ledgers of the first version have none."""
        self.calendar = Calendar("person", None)
        self.spends: list[Spend] = []
        self.parts: list[Part] = []
        self.releases: list[ReleaseRecord] = []
        self.evaluations: list[Evaluation] = []
        self.input_checks: list[InputCheck] = []
        self.closed = False
        """Whether a release without a guarantee has closed it."""
        self.person = Charge()
        """What was charged for somebody who is always in the data."""
        self._cells: dict[str, Charge] = {}
        self._pending: list[Part] = []
        """Parts that are written, and their spend not yet."""
        for entry in entries:
            self.add(entry)
        if self._pending:
            raise LedgerError("the spend of its last part is missing")

    @property
    def unit(self) -> Unit:
        """Whose visits, and which of them, are protected."""
        return self.terms.unit

    @property
    def spent(self) -> Budget:
        """The plain sums of ε and δ of all finite spends."""
        return Budget(self.person.epsilon, self.person.delta)

    @property
    def person_cap(self) -> Cap:
        """The cap of the person's account."""
        cell, person = self.terms.caps(self.total)
        return cell if person is None else person

    @property
    def remaining(self) -> Budget:
        """What is left for somebody who is always in the data; 0 once the ledger is closed."""
        return _NOTHING if self.closed else self.person_cap.left(self.person)

    def remaining_in(self, window: Window | None) -> Budget:
        """What is left for a release about this window: in its period, and for the person; whichever is less."""
        cell = cell_of(self.unit, window)
        if cell is None or self.closed:
            return self.remaining
        one, other = self.terms.caps(self.total)[0].left(self.charged_in(cell)), self.remaining
        rho = None if one.rho is None or other.rho is None else min(one.rho, other.rho)
        return Budget(min(one.epsilon, other.epsilon), min(one.delta, other.delta), rho)

    def charged_in(self, cell: str) -> Charge:
        """What was charged to a cell."""
        return self._cells.get(cell, Charge())

    def add(self, entry: Entry) -> None:
        """Add one more entry, or raise why it is not admitted."""
        adders = {
            "budget": self._open,
            "rules": self._fix_terms,
            "part": self._part,
            "spend": self._spend,
            "release": self._release,
            "evaluation": self._evaluate,
            "input_check": self._check_input,
        }
        if self._pending and entry.kind not in ("part", "spend"):
            raise LedgerError("a part is followed by its spend")
        adders[entry.kind](entry.values)

    def _open(self, values: Mapping[str, str]) -> None:
        if hasattr(self, "total"):
            raise LedgerError("a budget is set once, by the first entry")
        call = 'Ledger.create("city.ledger", "riders of the city", epsilon=4, delta=1e-6)'
        total = Budget(exact(values["epsilon"]), exact(values["delta"], "delta"))
        if not total.epsilon:
            raise ParameterError("must be above 0.", parameter="epsilon", value=0, example=call)
        if total.delta >= 1:
            raise ParameterError(
                "must be below 1.", parameter="delta", value=float(total.delta), example=call
            )
        check_length(total.epsilon, total.delta)
        self.id, self.created = _checked_id("id", values["id"]), values["time"]
        self.population, self.total = _checked_words("population", values["population"], call), total

    def _fix_terms(self, values: Mapping[str, str]) -> None:
        if self.has_terms:
            raise LedgerError("terms are set once")
        try:
            terms = Terms.from_values(values, self.total)
        except LocentropyError:
            raise
        except ValueError:
            raise LedgerError("its terms cannot be read") from None
        # Whoever saw a release was promised what the ledger counted then: its unit and its caps never change.
        if (self.spends or self.releases or self.evaluations) and not terms.plain:
            raise LedgerError("a ledger that is in use keeps its unit, its caps and how it counts")
        self.terms, self.has_terms = terms, True
        self.calendar = Calendar(terms.unit, terms.zone)

    def _part(self, values: Mapping[str, str]) -> None:
        if not self.has_terms:
            raise LedgerError("a ledger without terms has no parts")
        try:
            part = Part.from_values(values, self.unit)
        except LocentropyError:
            raise
        except ValueError:
            raise LedgerError("a part cannot be read") from None
        self.calendar.check(part, self.name)
        for other in self._pending:
            if part.spend != other.spend:
                raise LedgerError("a part is followed by its spend")
            if part.window is not None and other.window is not None:
                Calendar(self.unit, other.window.zone).check_zone(part.window, self.name)
            if part.cell != other.cell and intersection(part.borders, other.borders):
                raise LedgerError(f"{part.cell} and {other.cell} have instants in common")
        self._pending.append(part)

    def _spend(self, values: Mapping[str, str]) -> None:
        infinite = values["epsilon"] == INFINITE
        epsilon = None if infinite else exact(values["epsilon"])
        delta = exact(values["delta"], "delta")
        call = 'ledger.spend(guarantee, purpose="weekly map, week 12")'
        purpose = _checked_words("purpose", values["purpose"], call)
        spend_id = _checked_id("id", values["id"])
        parts, self._pending = self._parts_of(spend_id, epsilon, delta), []
        cells, person = self.after(parts)
        self.spends.append(
            Spend(spend_id, len(self.spends) + 1, epsilon, delta, purpose, values["software"], values["time"])
        )
        for part in parts:
            self.calendar.add(part)
        self.parts += parts
        self._cells, self.person, self.closed = cells, person, infinite

    def _parts_of(self, spend: str, epsilon: Fraction | None, delta: Fraction) -> list[Part]:
        """The parts that were written for a spend; in a ledger without terms there is one, about everything."""
        if epsilon is None:
            if self._pending:
                raise LedgerError("a release without a guarantee has no parts")
            return []
        if not self.has_terms:
            return [Part(spend, Guarantee(epsilon, delta))]
        charges = [part.charge for part in self._pending if part.spend == spend]
        whole = sum(charges, Charge())
        if not charges or (whole.epsilon, whole.delta) != (epsilon, delta):
            raise LedgerError("a spend does not have the parts that it is the sum of")
        return self._pending

    def after(self, parts: Sequence[Part]) -> tuple[dict[str, Charge], Charge]:
        """What each cell and the person will have been charged with these parts; raise BudgetError if that is too much.

        Every part is charged twice: to its cell, and to the person who is in all of them.
        """
        if self.closed:
            raise BudgetError(
                f"{self.name} is closed: a release without a guarantee has used up the whole budget of "
                f"'{self.population}', and nothing can be spent after it. What was published cannot be taken back. "
                f"To see the spends: locentropy ledger show {self.name}"
            )
        cells, person = dict(self._cells), self.person
        cap, person_cap = self.terms.caps(self.total)[0], self.person_cap
        for part in parts:
            if part.cell is not None:
                cells[part.cell] = self._charged(part, cells.get(part.cell, Charge()), cap, part.cell)
            always = None if part.cell is None else f"somebody who is there in every {period_of(self.unit)}"
            person = self._charged(part, person, person_cap, always)
        return cells, person

    def _charged(self, part: Part, before: Charge, cap: Cap, whose: str | None) -> Charge:
        """An account after a charge; `whose` names it where there are several."""
        after = before + part.charge
        if not cap.admits(after):
            raise BudgetError(self._refusal(part, before, cap, whose))
        cap.check_lengths(after)
        return after

    def _refusal(self, part: Part, before: Charge, cap: Cap, whose: str | None) -> str:
        left, stated = cap.left(before), part.guarantee
        asked = str(Budget(part.charge.epsilon, part.charge.delta))
        if cap.rho is not None:
            asked += f" (ρ = {exact_text(part.charge.rho)})"
        if not left.epsilon:
            advice = f"Nothing is left. To see the spends: locentropy ledger show {self.name}"
        elif cap.rho is not None and stated.concentrated_cost[1] > left.delta:
            advice = "Its δ is not of Gaussian noise: only the δ that was reserved for that can pay for it."
        elif stated.delta and not left.delta and cap.rho is None:
            advice = f"No δ is left. A mechanism without δ, such as shares, can have ε = {exact_text(left.epsilon)}."
        else:
            advice = f"The mechanism and the selection of places together can have at most {left}."
        whole = Budget(cap.epsilon, cap.delta)
        return (
            f"Over budget: this release asks for {asked}, but {self.name} has {left} left of {whole} for "
            f"{f'{whose}, of ' if whose else ''}'{self.population}'. Spends are never refunded. {advice}"
        )

    def _release(self, values: Mapping[str, str]) -> None:
        spend, release = (
            _checked_id("spend_id", values["spend"]),
            _checked_id("release_id", values["release"]),
        )
        state = values["state"]
        if state not in _STATES:
            raise ParameterError(
                f"state={state!r} is not one of staged, published. "
                'For example: ledger.record_release(spend.id, release_id, "staged")'
            )
        if all(known.id != spend for known in self.spends):
            raise LedgerError(f"{self.name} has no spend {spend}. {STALE_LEDGER}")
        earlier = [known for known in self.releases if known.spend == spend or known.release == release]
        if any((known.spend, known.release) != (spend, release) for known in earlier):
            raise LedgerError(
                f"{self.name}: spend {spend} and release {release} do not belong together: one spend pays for one "
                "release. Spend again for another release, or finish the one that was staged."
            )
        # A release is staged once and published once, in this order.
        if len(earlier) >= len(_STATES) or state != _STATES[len(earlier)]:
            raise LedgerError(
                f"{self.name}: release {release} cannot become {state} now. First "
                'ledger.record_release(spend.id, release_id, "staged"), then "published".'
            )
        self.releases.append(ReleaseRecord(spend, release, _STATES[len(earlier)], values["time"]))

    def _evaluate(self, values: Mapping[str, str]) -> None:
        note = _checked_words("note", values["note"], 'ledger.record_evaluation("compared mechanisms")')
        self.evaluations.append(Evaluation(note, values["software"], values["time"]))

    def _check_input(self, values: Mapping[str, str]) -> None:
        self.input_checks.append(InputCheck(len(self.spends) + 1, values["software"], values["time"]))


STALE_LEDGER: Final = (
    "If a release names it, this file is older than that release (a restored backup or a copy) and lacks spends: do "
    "not publish with it; docs/budget.md says what to do."
)


def _checked_words(name: str, value: object, call: str) -> str:
    """One printable line in the owner's words."""
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > _MAX_WORDS_LENGTH
        or not value.isprintable()
    ):
        raise ParameterError(
            f"must be one line of 1 to {_MAX_WORDS_LENGTH} printable characters.",
            parameter=name,
            example=call,
        )
    return value


def _checked_id(name: str, value: object) -> str:
    """An id as `new_id` makes them, so that it cannot be a path or carry data."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{32}", value):
        raise ParameterError(f"{name} must be 32 hexadecimal digits. For example: {name}=new_id()")
    return value


def amounts_as_text(epsilon: Fraction | None, delta: Fraction) -> dict[str, str]:
    """ε and δ as the ledger writes them: exactly, and ε = None as infinity."""
    check_length(epsilon or Fraction(0), delta)
    return {
        "epsilon": INFINITE if epsilon is None else exact_text(epsilon),
        "delta": exact_text(delta),
    }


_NOTHING: Final = Budget(Fraction(0), Fraction(0))
