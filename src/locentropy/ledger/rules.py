"""The rules of a ledger: what an entry may be, and which spends fit the budget. Knows nothing about files.

Claim: whatever was admitted keeps the caps of the ledger as a whole, also when each spend was chosen after seeing the
releases before it: (ε, δ) of the budget for the ledger's unit, and, per period, that of the person for somebody who is
always in the data. One spend is charged to both, its cell and the person, and admitted only if neither is exceeded
(`accounts`: when an account admits; `parts`: which cell a window is charged to; docs/proofs/units.md).

The same rules are checked before an entry is written and whenever the entries are read again.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from locentropy.core.civil_time import intersection
from locentropy.core.errors import BudgetError, LedgerError, LocentropyError, ParameterError
from locentropy.ledger.accounts import Budget, Cap, Charge, check_length
from locentropy.ledger.entries import Entry, Evaluation, InputCheck, ReleaseRecord, Spend, Withdrawal
from locentropy.ledger.parts import Calendar, Part
from locentropy.ledger.terms import Terms
from locentropy.privacy.guarantee import Guarantee, exact, exact_text
from locentropy.privacy.units import cell_of, period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locentropy.core.windows import Window
    from locentropy.ledger.entries import State
    from locentropy.privacy.units import Unit

INFINITE: Final = "inf"
"""How an infinite ε is written."""

_STATES: Final[tuple[State, ...]] = ("staged", "published")
_MAX_WORDS_LENGTH: Final = 300


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
        self.withdrawals: list[Withdrawal] = []
        self.rebuilt = False
        """Whether it was rebuilt from the releases that an earlier ledger had paid for."""
        self.complete = True
        """Whether its owner says that it holds all spends; until then a rebuilt ledger admits nothing."""
        self.earlier = 0
        """How many spends, the first ones, were made under an earlier ledger."""
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
        """What is left for somebody who is always in the data; 0 where nothing is admitted any more, or not yet."""
        return _NOTHING if self.why_nothing is not None else self.person_cap.left(self.person)

    def remaining_in(self, window: Window | None) -> Budget:
        """What is left for a release about this window: in its period, and for the person; whichever is less."""
        return self.left_in(cell_of(self.unit, window))

    def left_in(self, cell: str | None) -> Budget:
        """What is left for a release about a window in this cell; None under the person unit."""
        if cell is None or self.why_nothing is not None:
            return self.remaining
        one, other = self.terms.caps(self.total)[0].left(self.charged_in(cell)), self.remaining
        rho = None if one.rho is None or other.rho is None else min(one.rho, other.rho)
        return Budget(min(one.epsilon, other.epsilon), min(one.delta, other.delta), rho)

    def charged_in(self, cell: str) -> Charge:
        """What was charged to a cell."""
        return self._cells.get(cell, Charge())

    @property
    def why_nothing(self) -> str | None:
        """Why nothing at all is admitted; None if what fits is."""
        if self.closed:
            return (
                f"{self.name} is closed: a release without a guarantee has used up the whole budget of "
                f"'{self.population}', and nothing can be spent after it. What was published cannot be taken back."
            )
        if not self.complete:
            return (
                f"{self.name} was rebuilt and is not complete: it admits nothing before its owner says that it holds "
                "every release that was ever published or possibly drawn. If so: locentropy ledger rebuild, as before, "
                "with --complete."
            )
        if self.rebuilt and self.overspent:
            return (
                f"{self.name} was rebuilt, and what was published exceeds the budget of '{self.population}' already. "
                "Nothing more can be spent."
            )
        return None

    @property
    def overspent(self) -> bool:
        """Whether more was charged than a cap admits: two copies of an earlier ledger may have paid for it."""
        cap = self.terms.caps(self.total)[0]
        return not self.person_cap.admits(self.person) or not all(map(cap.admits, self._cells.values()))

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
            "withdrawal": self._withdraw,
            "rebuild": self._rebuild,
            "earlier": self._add_earlier,
            "complete": self._complete,
        }
        if self._pending and entry.kind not in ("part", "spend", "earlier"):
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
        if self.why_nothing is not None:
            raise BudgetError(f"{self.why_nothing} To see the spends: locentropy ledger show {self.name}")
        self._charge(values)

    def _charge(self, values: Mapping[str, str]) -> None:
        infinite = values["epsilon"] == INFINITE
        epsilon = None if infinite else exact(values["epsilon"])
        delta = exact(values["delta"], "delta")
        call = 'ledger.spend(guarantee, purpose="weekly map, week 12")'
        purpose = _checked_words("purpose", values["purpose"], call)
        spend_id = _checked_id("id", values["id"])
        if any(spend.id == spend_id for spend in self.spends):
            raise LedgerError(f"spend {spend_id} is there already")
        parts, self._pending = self._parts_of(spend_id, epsilon, delta), []
        cells, person = self.after(parts)
        self.spends.append(
            Spend(spend_id, len(self.spends) + 1, epsilon, delta, purpose, values["software"], values["time"])
        )
        for part in parts:
            self.calendar.add(part)
        self.parts += parts
        self._cells, self.person, self.closed = cells, person, self.closed or infinite

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
        if self.complete and not cap.admits(after):  # what an earlier ledger paid for was spent, fit or not
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
            advice = f"With the selection of its places, if there is one, a release can have at most {left}."
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
        self.refuse_earlier(spend)
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

    def _withdraw(self, values: Mapping[str, str]) -> None:
        release = _checked_id("release_id", values["release"])
        why = _checked_words("why", values["why"], _WITHDRAW)
        if all(known.release != release for known in self.releases):
            raise LedgerError(f"{self.name} has not paid for the release {release}.")
        if any(known.release == release for known in self.withdrawals):
            raise LedgerError(f"{self.name} says already that the release {release} was withdrawn.")
        self.withdrawals.append(Withdrawal(release, why, len(self.spends) + 1, values["time"]))

    def _rebuild(self, _: Mapping[str, str]) -> None:
        if self.rebuilt or self.spends or self.evaluations or self.input_checks:
            raise LedgerError("a ledger is rebuilt from its beginning on")
        self.rebuilt, self.complete = True, False

    def _add_earlier(self, values: Mapping[str, str]) -> None:
        """A spend of an earlier ledger: it was made, so it is charged."""
        if self.complete:
            raise LedgerError("what an earlier ledger paid for is charged before a rebuilt one is complete")
        self._charge(values)
        self.earlier = len(self.spends)
        if values["release"]:
            spend, release = values["id"], _checked_id("release_id", values["release"])
            if any(known.release == release for known in self.releases):
                raise LedgerError(f"release {release} was paid for by two spends")
            self.releases += [ReleaseRecord(spend, release, state, values["time"]) for state in _STATES]

    def _complete(self, _: Mapping[str, str]) -> None:
        if self.complete:
            raise LedgerError("only what is being rebuilt is completed, and once")
        self.complete = True

    def refuse_earlier(self, spend: str) -> None:
        """Raise LedgerError for a spend of an earlier ledger: what was begun under it counts as spent, and is over."""
        if any(known.id == spend for known in self.spends[: self.earlier]):
            raise LedgerError(
                f"{self.name}: spend {spend} was made under an earlier ledger, and counts as spent. What was begun "
                "with it cannot be finished. Choose another directory; to publish there spends again."
            )


_WITHDRAW: Final = (
    'ledger.record_withdrawal(ledger.releases()[0].release, why="of the wrong month; replaced by 2026-06")'
)

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
