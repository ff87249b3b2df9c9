"""Faults of ledgers that count per period, or in ρ."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any, Final

from locentropy.ledger import parts, rules
from locentropy.ledger.accounts import Cap, Charge
from locentropy.ledger.parts import Calendar
from locentropy.ledger.rules import Account
from locentropy.privacy.units import cell_label
from locentropy_lab.audit.mutation.planting import Change, Fault

_CHARGED: Final = "no day is charged more than its budget, and no person more than theirs"
_IN_RHO: Final = "sums of ρ stay within what converts to the budget"


def _first_day(_: Any) -> Any:
    def cell_of(unit: Any, window: Any) -> str | None:
        return None if unit == "person" else cell_label(unit, date.min if window is None else window.start)

    return cell_of


FAULTS: Final = (
    Fault(
        "a window that straddles two days",
        "it is charged to the first of them, and the second is published for nothing",
        _CHARGED,
        (
            Change(parts, "cell_of", _first_day),
            Change(rules, "cell_of", _first_day),
            Change(Calendar, "settled", lambda _: lambda self, window: window),
            Change(parts, "difference", lambda _: lambda one, other: ()),
        ),
    ),
    Fault(
        "the account of the person forgotten",
        "every day keeps its budget, and somebody who is there every day has none",
        _CHARGED,
        (Change(Account, "person_cap", lambda _: property(lambda self: Cap(Fraction(10**6), Fraction(1)))),),
    ),
    Fault(
        "a zone that moves a day",
        "by another clock the same hours are another day, with a budget of its own",
        _CHARGED,
        (Change(Calendar, "check_zone", lambda _: lambda self, window, name: None),),
    ),
    Fault(
        "a quarter of ρ for a pure part",
        "ε²/8 is for the exponential mechanism; Laplace noise costs ε²/2",
        _IN_RHO,
        (
            Change(
                Charge,
                "of",
                lambda true: classmethod(
                    lambda cls, guarantee: (
                        replace(true(guarantee), rho=true(guarantee).rho / 4)
                        if guarantee.rho is None
                        else true(guarantee)
                    )
                ),
            ),
        ),
    ),
    Fault(
        "δ of a selection forgotten where ρ is counted",
        "the reserve is never used up, and the whole fails more often than promised",
        _IN_RHO,
        (
            Change(
                Charge,
                "of",
                lambda true: classmethod(
                    lambda cls, guarantee: replace(true(guarantee), rho_delta=Fraction(0))
                ),
            ),
        ),
    ),
)
"""The faults of accounts, cells and clocks."""
