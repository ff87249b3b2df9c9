"""The rules of a ledger: what an entry may be, and which spends fit the budget. Knows nothing about files.

Claim: whatever was admitted keeps (total ε, total δ)-differential privacy as a whole, also when each spend
was chosen after seeing the releases before it. A spend is admitted while the plain sums of ε and of δ stay
within the total: a valid stop rule, unlike tighter composition theorems, which want every ε beforehand
(docs/budget.md proves it). Sums are exact.

The same rules are checked before an entry is written and whenever the entries are read again.
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
"""How an infinite ε is written."""

_STATES: Final = ("staged", "published")
_MAX_WORDS_LENGTH: Final = 300
_MAX_SUM_BITS: Final = 600
"""Bits in the numerator and denominator of a sum. Fractions could grow without limit; decimals stay below it."""


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


class Account:
    """What the entries of one ledger add up to; each entry is checked against those before it."""

    id: str
    """The random id of the ledger."""
    population: str
    """Who shares this budget, in the owner's words."""
    total: Budget
    """The whole budget."""
    created: str
    """When, in UTC."""

    def __init__(self, name: str, entries: Iterable[Entry] = ()) -> None:
        self.name = name
        """The ledger's name in messages."""
        self.spends: list[Spend] = []
        self.releases: list[ReleaseRecord] = []
        self.evaluations: list[Evaluation] = []
        self.spent = Budget(Fraction(0), Fraction(0))
        """The sum of the finite spends."""
        self.closed = False
        """Whether a release without a guarantee has closed it."""
        for entry in entries:
            self.add(entry)

    @property
    def remaining(self) -> Budget:
        """The remaining budget; 0 once the ledger is closed."""
        if self.closed:
            return Budget(Fraction(0), Fraction(0))
        return Budget(self.total.epsilon - self.spent.epsilon, self.total.delta - self.spent.delta)

    def add(self, entry: Entry) -> None:
        """Add one more entry, or raise why it is not admitted."""
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
        """The sum of finite spends after spending this much more; raise BudgetError if it does not fit."""
        if self.closed:
            raise BudgetError(
                f"{self.name} is closed: a release without a guarantee has used up the whole budget of "
                f"'{self.population}', and nothing can be spent after it. What was published cannot be taken back. "
                f"To see the spends: locentropy ledger show {self.name}"
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
            advice = f"Nothing is left. To see the spends: locentropy ledger show {self.name}"
        elif asked.delta and not left.delta:
            advice = f"No δ is left. A mechanism without δ, such as shares, can have ε = {exact_text(left.epsilon)}."
        else:
            advice = f"The mechanism and the selection of places together can have at most {left}."
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
    _check_length(epsilon or Fraction(0), delta)
    return {
        "epsilon": INFINITE if epsilon is None else exact_text(epsilon),
        "delta": exact_text(delta),
    }


def _check_length(epsilon: Fraction, delta: Fraction) -> None:
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value.numerator.bit_length() + value.denominator.bit_length() > _MAX_SUM_BITS:
            raise ParameterError(
                "has too many digits to be summed exactly. Write it with fewer.",
                parameter=name,
                example="Guarantee.approximate(epsilon=0.1, delta=1e-6)",
            )
