"""What a ledger says and what it admits: the rules, entry by entry. Knows nothing of files.

Claim: whatever was admitted keeps (total ε, total δ)-differential privacy as a whole, also when each spend
was chosen after seeing the releases before it. A spend is admitted while the plain sums of ε and of δ stay
within the total: a valid stop rule, unlike tighter composition theorems, which want every ε beforehand
(docs/budget.md proves it). Sums are exact.

One set of rules serves twice: before an entry is written, and whenever the entries are read again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from locentropy.core.errors import BudgetError, LedgerError, ParameterError
from locentropy.privacy.guarantee import exact, exact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["budget", "spend", "release", "evaluation"]
State = Literal["staged", "published"]

INFINITE: Final = "inf"
"""How an ε without bound is written."""

_STATES: Final = ("staged", "published")
_LONGEST_WORDS: Final = 300
_LONGEST_SUM: Final = 600
"""Bits in the numerator and denominator of a sum: fractions could grow without end, decimals never get there."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger, as text."""

    kind: Kind
    values: Mapping[str, str]


@dataclass(frozen=True)
class Budget:
    """An amount of ε and δ, exactly."""

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return f"ε = {exact_text(self.epsilon)}, δ = {exact_text(self.delta)}"


@dataclass(frozen=True)
class Spend:
    """What one release has taken from the budget, for ever."""

    id: str
    """Random; a release names it in its manifest."""
    number: int
    """1, 2, 3, …: the order of spends. Times may jump, numbers do not."""
    epsilon: Fraction | None
    """ε, exactly; None stands for ∞: a release that promised nothing."""
    delta: Fraction
    """δ, exactly."""
    purpose: str
    """What for, in the owner's words."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """When, in UTC, by the clock of the machine; nothing depends on it."""


@dataclass(frozen=True)
class ReleaseRecord:
    """How far the release of a spend has come."""

    spend: str
    """The id of the spend."""
    release: str
    """The id of the release."""
    state: State
    """`staged`: its numbers are drawn and on disk; `published`: it has its name."""
    time: str
    """When, in UTC."""


@dataclass(frozen=True)
class Evaluation:
    """A look at the data that took nothing from the budget."""

    note: str
    """What was done, in the owner's words."""
    software: str
    """The version of this package that wrote it."""
    time: str
    """When, in UTC."""


class Account:
    """The entries of one ledger, each checked against those before it."""

    id: str
    """The random id of the ledger."""
    population: str
    """Whose budget this is, in the owner's words."""
    total: Budget
    """The whole budget."""
    created: str
    """When, in UTC."""

    def __init__(self, name: str, entries: Iterable[Entry] = ()) -> None:
        self.name = name
        """How messages call the ledger."""
        self.spends: list[Spend] = []
        self.releases: list[ReleaseRecord] = []
        self.evaluations: list[Evaluation] = []
        self.spent = Budget(Fraction(0), Fraction(0))
        """The sums of the finite spends."""
        self.closed = False
        """Whether a release without a promise has ended it."""
        for entry in entries:
            self.add(entry)

    @property
    def remaining(self) -> Budget:
        """What is left; nothing once the ledger is closed."""
        if self.closed:
            return Budget(Fraction(0), Fraction(0))
        return Budget(self.total.epsilon - self.spent.epsilon, self.total.delta - self.spent.delta)

    def add(self, entry: Entry) -> None:
        """Take in one more entry, or say why not."""
        adders = {
            "budget": self._open,
            "spend": self._spend,
            "release": self._release,
            "evaluation": self._evaluate,
        }
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
        _check_length(total.epsilon, total.delta)
        self.id, self.created = _checked_id("id", values["id"]), values["time"]
        self.population, self.total = _checked_words("population", values["population"], call), total

    def _spend(self, values: Mapping[str, str]) -> None:
        infinite = values["epsilon"] == INFINITE
        epsilon = None if infinite else exact(values["epsilon"])
        delta = exact(values["delta"], "delta")
        call = 'ledger.spend(guarantee, purpose="weekly map, week 12")'
        purpose = _checked_words("purpose", values["purpose"], call)
        after = self.after(epsilon, delta)
        self.spends.append(
            Spend(
                _checked_id("id", values["id"]), len(self.spends) + 1, epsilon, delta, purpose,
                values["software"], values["time"],
            )
        )  # fmt: skip
        self.spent, self.closed = after, infinite

    def after(self, epsilon: Fraction | None, delta: Fraction) -> Budget:
        """The finite sums once this much more is spent, or a BudgetError that says what is left."""
        if self.closed:
            raise BudgetError(
                f"{self.name} is closed: a release without a promise has used up any budget of "
                f"'{self.population}', and nothing can be spent after it. What it published cannot be taken back; "
                f"see: locentropy ledger show {self.name}"
            )
        if epsilon is None:
            return self.spent
        asked, left = Budget(epsilon, delta), self.remaining
        if asked.epsilon > left.epsilon or asked.delta > left.delta:
            raise BudgetError(self._refusal(asked, left))
        after = Budget(self.spent.epsilon + epsilon, self.spent.delta + delta)
        _check_length(after.epsilon, after.delta)
        return after

    def _refusal(self, asked: Budget, left: Budget) -> str:
        if not left.epsilon:
            advice = f"Nothing fits any more; see what it went to: locentropy ledger show {self.name}"
        elif asked.delta and not left.delta:
            advice = f"There is no δ left; what needs none, such as shares, can have ε = {exact_text(left.epsilon)}."
        else:
            advice = f"All that is paid for at once, a selection of places included, can have {left} at most."
        return (
            f"Over budget: this release asks for {asked}, but {self.name} has {left} left of {self.total} for "
            f"'{self.population}'. Spends are never refunded. {advice}"
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
            raise LedgerError(f"{self.name} knows no spend {spend}. {FORGOTTEN}")
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


FORGOTTEN: Final = (
    "If a release names it, this file is older than that release (a restored backup or a copy) and has forgotten "
    "spends: do not publish with it; docs/budget.md says what to do."
)


def _checked_words(name: str, value: object, call: str) -> str:
    """One readable line in the owner's words."""
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > _LONGEST_WORDS
        or not value.isprintable()
    ):
        raise ParameterError(
            f"must be one line of 1 to {_LONGEST_WORDS} printable characters.", parameter=name, example=call
        )
    return value


def _checked_id(name: str, value: object) -> str:
    """An id as `new_id` makes them: nothing that could name a file or tell about data."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{32}", value):
        raise ParameterError(f"{name} must be 32 hexadecimal digits. For example: {name}=new_id()")
    return value


def written(epsilon: Fraction | None, delta: Fraction) -> dict[str, str]:
    """ε and δ as the ledger writes them: exactly, and ε = None as infinite."""
    _check_length(epsilon or Fraction(0), delta)
    return {
        "epsilon": INFINITE if epsilon is None else exact_text(epsilon),
        "delta": exact_text(delta),
    }


def _check_length(epsilon: Fraction, delta: Fraction) -> None:
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value.numerator.bit_length() + value.denominator.bit_length() > _LONGEST_SUM:
            raise ParameterError(
                "has too many digits to be summed exactly. Write it with fewer, such as 0.1.", parameter=name
            )
