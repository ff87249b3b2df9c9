"""Checks of ledgers that count per period or in ρ: what they admit, looked at from outside, hour by hour."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from locentropy.core.errors import LocentropyError
from locentropy.core.windows import Window
from locentropy.ledger.ledger import Ledger
from locentropy.privacy.guarantee import Guarantee
from locentropy_lab.audit.mutation.planting import check

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOME: Final = "Europe/Berlin"
_ASKED: Final = (
    ("2026-05-03", _HOME),
    ("2026-05-04/2026-05-06", _HOME),
    ("2026-05-05", _HOME),
    ("2026-05-06", "Pacific/Kiritimati"),
    ("2026-05-07", "America/Los_Angeles"),
    ("2026-05-08", _HOME),
    ("2026-05-09", _HOME),
    ("2026-05-10", _HOME),
    ("2026-05-11", _HOME),
    ("2026-05-12", _HOME),
)
"""Windows, each at the whole budget of a day; some straddle days, and some are of other clocks."""
_PERSON: Final = 5
_HOURS: Final = [datetime(2026, 5, 1, 0, 30, tzinfo=UTC) + timedelta(hours=n) for n in range(24 * 14)]


def _admitted() -> Iterator[tuple[str, str]]:
    """The windows that a ledger of ε = 1 per day, and 5 for the person, lets be published at ε = 1 each."""
    with TemporaryDirectory() as folder:
        ledger = Ledger.create(
            Path(folder) / "ledger",
            "nobody",
            1,
            unit="person-day",
            person_epsilon=_PERSON,
        )
        for text, zone in _ASKED:
            with suppress(LocentropyError):
                window = ledger.settled(Window(text, zone=zone))
                ledger.spend(Guarantee.pure(1), "an audit", window=window)
                yield text, zone


def _read(text: str, zone: str, at: datetime) -> bool:
    """Whether a window reads an instant: by the clock of its own zone."""
    first, _, last = text.partition("/")
    shown = at.astimezone(ZoneInfo(zone)).date().isoformat()
    return first <= shown < last if last else shown == first


@check("no day is charged more than its budget, and no person more than theirs")
def charged() -> list[str]:
    """For every day by the clock of the first release, what a person's visits of that day alone would be charged."""
    admitted = list(_admitted())
    by_day: Counter[str] = Counter()
    for text, zone in admitted:
        days = {at.astimezone(ZoneInfo(_HOME)).date().isoformat() for at in _HOURS if _read(text, zone, at)}
        for day in days:
            by_day[day] += 1 if len(days) == 1 else 2
    wrong = [f"a day was charged {most} times its budget" for most in {*by_day.values()} if most > 1]
    if len(admitted) > _PERSON:
        wrong.append(
            f"somebody who is there every day was charged ε = {len(admitted)}, and promised {_PERSON}"
        )
    return wrong


_EPSILON, _DELTA = 2.0, 1e-6
_PARTS: Final[tuple[Any, ...]] = (
    *(Guarantee.approximate("0.1", "2e-7"),) * 4,
    *(Guarantee.pure("0.1"),) * 40,
    *(Guarantee(Fraction(1), Fraction(1, 10**6), rho=Fraction(1, 200)),) * 40,
)


@check("sums of ρ stay within what converts to the budget")
def converted() -> list[str]:
    """Spend what a ledger in ρ admits, and convert the sum by a formula of its own."""
    rho = delta = 0.0
    with TemporaryDirectory() as folder:
        ledger = Ledger.create(
            Path(folder) / "ledger",
            "nobody",
            _EPSILON,
            _DELTA,
            composition="concentrated",
            reserved_delta="5e-7",
        )
        ledger.spend(_PARTS[-1], "Gaussian noise, so that sums of ε do not count")
        rho += 1 / 200
        for part in _PARTS:
            with suppress(LocentropyError):
                ledger.spend(part, "an audit")
                rho += 1 / 200 if part.rho is not None else 0.1**2 / 2
                delta += 0.0 if part.rho is not None else float(part.delta)
    promised = min(_converted(rho, order) for order in (1 + 10 ** (k / 50 - 1) for k in range(200)))
    lost = promised + delta
    return (
        []
        if lost <= _DELTA * (1 + 1e-6)
        else [f"δ is {lost:.2g} at the ε that was promised, and not {_DELTA}"]
    )


def _converted(rho: float, order: float) -> float:
    """The δ at which ρ is (ε, δ)-private, by one order (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    power = (order - 1) * (order * rho - _EPSILON) + order * math.log1p(-1 / order) - math.log(order - 1)
    return math.exp(min(power, 700.0))
