"""The terms of a ledger, fixed when it is made: the unit, the time zone, how charges are counted, and the caps.

A ledger without terms is one of the first version: it counts plain sums for the person unit, and any window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, get_args

from locentropy.core.civil_time import check_zone
from locentropy.core.errors import LedgerError, ParameterError
from locentropy.ledger.accounts import Budget, Cap, Composition, check_length
from locentropy.privacy.concentrated import certified_rho, rho_at
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.privacy.units import UNIT_EXAMPLE, Unit, check_unit, period_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from locentropy.privacy.guarantee import Number

_IN_RHO: Final = (
    'Ledger.create("city.ledger", "riders of the city", epsilon=4, delta=1e-6, composition="concentrated")'
)


@dataclass(frozen=True)
class ConcentratedCap:
    """ρ* with the order α that certifies it: `rho_at(ε, δ, α)` is exact arithmetic, and not below ρ*."""

    order: Fraction
    rho: Fraction

    def check(self, epsilon: Fraction, delta: Fraction) -> None:
        """Raise LedgerError unless ρ*-zCDP is (ε, δ)-private."""
        if self.order <= 1 or self.rho <= 0 or self.rho > rho_at(epsilon, delta, self.order):
            raise LedgerError("its ρ is more than fits its ε and δ")


@dataclass(frozen=True)
class Terms:
    """What is fixed when a ledger is made."""

    unit: Unit = "person"
    """Whose visits, and which of them, are protected."""
    zone: str | None = None
    """The time zone of all windows; None until the first windowed release."""
    composition: Composition = "sum"
    """How charges are counted."""
    person: Budget | None = None
    """Of a ledger per period: the cap for somebody who is always in the data."""
    reserved: Fraction = Fraction(0)
    """Δ_s of the budget's δ, where ρ is counted."""
    certificates: tuple[ConcentratedCap, ...] = field(default=())
    """Where ρ is counted, one for the budget and, per period, one for the person."""

    @classmethod
    def made(
        cls,
        total: Budget,
        unit: object,
        zone: str | None,
        composition: object,
        person: tuple[Number | None, Number | None],
        reserved: Number,
    ) -> Terms:
        """The terms of a new ledger; raises ParameterError for what does not fit together."""
        chosen = check_unit(unit)
        if composition not in get_args(Composition):
            raise ParameterError(
                "is not one of sum, concentrated.",
                parameter="composition",
                value=composition,
                example=_IN_RHO,
            )
        made = cls(
            chosen,
            None if zone is None else check_zone(zone),
            composition,  # type: ignore[arg-type]
            _person_cap(chosen, total, *person),
            _reserve(total, composition == "concentrated", exact(reserved, "reserved_delta")),
        )
        if made.composition == "sum":
            return made
        certificates = [
            ConcentratedCap(*certified_rho(cap.epsilon, cap.delta - made._reserved_of(cap, total)))
            for cap in made._budgets(total)
        ]
        return Terms(made.unit, made.zone, made.composition, made.person, made.reserved, tuple(certificates))

    @property
    def plain(self) -> bool:
        """Whether a ledger of the first version can have them."""
        return self == Terms()

    def caps(self, total: Budget) -> tuple[Cap, Cap | None]:
        """The cap of each cell, which under the person unit is the only one, and that of the person."""
        found = [Cap(each.epsilon, each.delta) for each in self._budgets(total)]
        if self.composition == "concentrated":
            found = [
                Cap(cap.epsilon, cap.delta, proved.rho, self._reserved_of(cap, total))
                for cap, proved in zip(found, self.certificates, strict=True)
            ]
        return found[0], found[1] if len(found) > 1 else None

    def _budgets(self, total: Budget) -> list[Budget]:
        return [total] if self.person is None else [total, self.person]

    def _reserved_of(self, cap: Budget | Cap, total: Budget) -> Fraction:
        """Of every cap's δ the same part is reserved."""
        return Fraction(0) if not self.reserved else cap.delta * self.reserved / total.delta

    def as_values(self) -> dict[str, str]:
        """The terms as the ledger writes them."""
        person = self.person
        return {
            "unit": self.unit,
            "zone": self.zone or "",
            "composition": self.composition,
            "person_epsilon": "" if person is None else exact_text(person.epsilon),
            "person_delta": "" if person is None else exact_text(person.delta),
            "reserved_delta": exact_text(self.reserved),
            "orders": " ".join(str(each.order) for each in self.certificates),
            "rhos": " ".join(exact_text(each.rho) for each in self.certificates),
        }

    @classmethod
    def from_values(cls, values: Mapping[str, str], total: Budget) -> Terms:
        """The terms that a ledger holds, with every certificate checked."""
        person = (values["person_epsilon"] or None, values["person_delta"] or None)
        orders, rhos = values["orders"].split(), values["rhos"].split()
        found = cls(
            check_unit(values["unit"]),
            check_zone(values["zone"]) if values["zone"] else None,
            values["composition"],  # type: ignore[arg-type]
            _person_cap(check_unit(values["unit"]), total, *person),
            _reserve(
                total,
                values["composition"] == "concentrated",
                exact(values["reserved_delta"], "reserved_delta"),
            ),
            tuple(
                ConcentratedCap(exact(order, "order"), exact(rho, "rho"))
                for order, rho in zip(orders, rhos, strict=True)
            ),
        )
        budgets = found._budgets(total) if found.composition == "concentrated" else []
        if found.composition not in get_args(Composition) or len(found.certificates) != len(budgets):
            raise LedgerError("its composition rule is not one that this software knows")
        for cap, proved in zip(budgets, found.certificates, strict=True):
            proved.check(cap.epsilon, cap.delta - found._reserved_of(cap, total))
        return found


def _person_cap(unit: Unit, total: Budget, epsilon: Number | None, delta: Number | None) -> Budget | None:
    """The cap for somebody who is always there, which a ledger per period needs, and no other has."""
    period = period_of(unit)
    if period is None:
        if epsilon is not None or delta is not None:
            raise ParameterError(
                "is for ledgers with a unit per period; under the person unit, epsilon and delta are for the person.",
                parameter="person_delta" if epsilon is None else "person_epsilon",
                example=UNIT_EXAMPLE,
            )
        return None
    if epsilon is None:
        raise ParameterError(
            f"is needed: epsilon is for what a person did in one {period}, and somebody who is there in every {period} "
            "gets the sum. Say how much that may be.",
            parameter="person_epsilon",
            example=UNIT_EXAMPLE,
        )
    if delta is None and total.delta:
        raise ParameterError(
            f"is needed: delta is for one {period}, and those of all of them add up.",
            parameter="person_delta",
            example=UNIT_EXAMPLE,
        )
    cap = Budget(exact(epsilon, "person_epsilon"), exact(delta or 0, "person_delta"))
    for name, most, least in (
        ("person_epsilon", cap.epsilon, total.epsilon),
        ("person_delta", cap.delta, total.delta),
    ):
        if most < least:
            raise ParameterError(
                f"must not be below that of one {period}.",
                parameter=name,
                value=float(most),
                example=UNIT_EXAMPLE,
            )
    if cap.delta >= 1:
        raise ParameterError(
            "must be below 1.", parameter="person_delta", value=float(cap.delta), example=UNIT_EXAMPLE
        )
    check_length(cap.epsilon, cap.delta)
    return cap


def _reserve(total: Budget, concentrated: bool, reserved: Fraction) -> Fraction:
    if not concentrated:
        if reserved:
            raise ParameterError(
                'is for composition="concentrated".', parameter="reserved_delta", example=_IN_RHO
            )
        return reserved
    if not total.delta:
        raise ParameterError(
            "must be above 0 where ρ is counted: it is converted to (ε, δ).",
            parameter="delta",
            example=_IN_RHO,
        )
    if reserved >= total.delta:
        raise ParameterError(
            "must be below delta: the rest is for Gaussian noise.",
            parameter="reserved_delta",
            example=_IN_RHO,
        )
    return reserved
