"""A schedule in a plan: a release in every day, week or month, and how many of them one budget pays for.

    schedule, each = scheduled(Shares(epsilon=4, delta=1e-6), "month", 24, "concentrated")

What all of them may cost together is the budget of somebody who is always in the data, and the ledger's to keep: that
of its person unit, or of its person's account where the unit is a period. The mechanism of each release has the
largest ε, of three digits, of which so many fit by the ledger's own rule (`ledger.accounts.Cap`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, get_args

from locentropy.core.checks import check_whole
from locentropy.core.civil_time import check_zone
from locentropy.core.errors import ParameterError
from locentropy.core.window_split import Period, split
from locentropy.ledger.accounts import Cap, Charge, Composition
from locentropy.mechanisms.parameters import LargeDeltaWarning
from locentropy.privacy.concentrated import certified_rho
from locentropy.privacy.guarantee import exact, exact_text
from locentropy.privacy.units import period_of

if TYPE_CHECKING:
    from locentropy.core.windows import Window
    from locentropy.mechanisms.base import Mechanism
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.units import Unit

MOST_PERIODS: Final = 10_000
_DIGITS: Final = 3
_HALVINGS: Final = 40
_CALL: Final = 'plan(Shares(epsilon=4.0, delta=1e-6), period="month", periods=24)'
_INSIDE: Final = {"day": ("day", "week", "month"), "week": ("week",), "month": ("month",)}
"""Each period, and the units whose cells it always lies in."""


@dataclass(frozen=True)
class Schedule:
    """A release in every period, from one budget."""

    period: Period
    """A day, a week or a month."""
    periods: int | None = None
    """How many, if that is planned; the next three belong to it."""
    epsilon: Fraction | None = None
    """ε of all together, for somebody who is always there."""
    delta: Fraction = Fraction(0)
    """δ of all together."""
    composition: Composition = "sum"
    """How the ledger is to count."""
    zone: str | None = None
    """The time zone of the windows, if it is fixed here."""

    def __post_init__(self) -> None:
        for name, value, kind in (
            ("period", self.period, Period),
            ("composition", self.composition, Composition),
        ):
            if value not in get_args(kind):
                raise ParameterError(
                    f"is not one of {', '.join(get_args(kind))}.", parameter=name, value=value, example=_CALL
                )
        if self.periods is not None:
            check_whole(_CALL, "periods", self.periods, 2, MOST_PERIODS)
        if (self.periods is None) != (self.epsilon is None):
            raise ParameterError(
                "A number of periods and what all of them may cost belong together.", example=_CALL
            )
        if self.zone is not None:
            check_zone(self.zone)

    @property
    def cap(self) -> Cap | None:
        """What all releases may cost together, as a ledger keeps it; None if that is not planned."""
        if self.epsilon is None:
            return None
        if self.composition == "sum":
            return Cap(self.epsilon, self.delta)
        return Cap(self.epsilon, self.delta, certified_rho(self.epsilon, self.delta)[1])

    def check(self, guarantee: Guarantee, unit: Unit) -> None:
        """Raise unless releases with this guarantee fit, and a period lies inside a cell of the unit."""
        cell = period_of(unit)
        if cell is not None and cell not in _INSIDE[self.period]:
            raise ParameterError(
                f"A {self.period} does not always lie inside one {cell}, which the unit {unit} protects: a release "
                "about it would be refused.",
                example='plan(Shares(epsilon=1.0), period="month", unit="person-month")',
            )
        if (
            self.cap is not None
            and self.periods is not None
            and not admits(self.cap, guarantee, self.periods)
        ):
            each = exact_text(guarantee.epsilon or Fraction(0))
            raise ParameterError(
                f"{self.periods} releases at ε = {each} each cost more than all of them may together.",
                example=_CALL,
            )

    def check_window(self, window: Window | None) -> None:
        """Raise unless a window is one of the periods, whole."""
        try:
            whole = window is not None and not window.mask and _is_one(window, self.period)
        except ParameterError:
            whole = False
        if not whole:
            shown = {"day": "2026-05-03", "week": "2026-W21", "month": "2026-05"}[self.period]
            raise ParameterError(
                f"The plan is of a release in every {self.period}, so the window is one whole {self.period}, such as "
                f"--window {shown}."
            )
        if window is not None and self.zone not in (None, window.zone):
            raise ParameterError(
                f"The plan counts days by the clock of {self.zone}, and this window is of {window.zone}. Leave out "
                "--time-zone, or have another plan approved."
            )


def _is_one(window: Window, period: Period) -> bool:
    """Whether a window is a period: twice as long, it would be two."""
    following = replace(window, text=f"{window.start}/{window.end + (window.end - window.start)}")
    if period == "month":
        return window.start.day == window.end.day == 1 and (window.end - window.start).days <= 31
    return split(following, period)[0].same_as(window)


def scheduled(
    mechanism: Mechanism,
    period: Any,
    periods: int | None,
    composition: Any = None,
    zone: str | None = None,
) -> tuple[Schedule, Mechanism]:
    """The schedule, and the mechanism of each release: the given one, unless it is for so many periods together.

    Counted in ρ if there is a δ, unless `composition` says otherwise.
    """
    if periods is None:
        if composition is not None:
            raise ParameterError("is about several periods together.", parameter="composition", example=_CALL)
        return Schedule(period, zone=zone), mechanism
    whole = mechanism.guarantee
    names: list[str] = [field.name for field in fields(mechanism)] if is_dataclass(mechanism) else []
    if whole.epsilon is None or "epsilon" not in names or (whole.delta and "delta" not in names):
        raise ParameterError(
            f"divide ε, and {type(mechanism).__name__} has none to divide.",
            parameter="periods",
            example=_CALL,
        )
    if composition is None:
        composition = "concentrated" if whole.delta else "sum"
    if composition == "concentrated" and not whole.delta:
        raise ParameterError(
            "needs a δ of all releases together, which ρ is converted with.",
            parameter="composition",
            value=composition,
            example=_CALL,
        )
    made = Schedule(period, periods, whole.epsilon, whole.delta, composition, zone)
    return made, _each(mechanism, made)


def admits(cap: Cap, guarantee: Guarantee, releases: int) -> bool:
    """Whether an account with this cap admits so many releases."""
    one = Charge.of(guarantee)
    every = Charge(*(releases * getattr(one, field.name) for field in fields(Charge)))
    return cap.admits(every)


def _each(mechanism: Mechanism, schedule: Schedule) -> Mechanism:
    """The mechanism at the largest ε of which so many fit."""
    assert schedule.epsilon is not None  # noqa: S101  # asked by the caller
    assert schedule.periods is not None  # noqa: S101
    assert schedule.cap is not None  # noqa: S101
    # A Gaussian part counted in ρ keeps the whole δ: its own (ε, δ) is not what is charged.
    share = 1 if schedule.composition == "concentrated" else schedule.periods
    delta = _down(schedule.delta / share)
    low, high = Fraction(0), schedule.epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        made = _at(mechanism, _down(middle), delta)
        fits = made is not None and admits(schedule.cap, made.guarantee, schedule.periods)
        low, high = (middle, high) if fits else (low, middle)
    found = _at(mechanism, _down(low), delta)
    if found is None or not found.guarantee.epsilon:
        raise ParameterError(
            f"leave less for each release than {type(mechanism).__name__} takes.",
            parameter="periods",
            value=schedule.periods,
            example=_CALL,
        )
    return found


def _at(mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> Mechanism | None:
    """The mechanism at other numbers; None if it does not take them."""
    numbers = {"epsilon": float(epsilon)} | ({"delta": float(delta)} if delta else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeDeltaWarning)  # the whole has warned already
        try:
            return replace(mechanism, **numbers)  # type: ignore[type-var]  # checked by the caller
        except ParameterError:
            return None


def _down(number: Fraction) -> Fraction:
    """The number rounded down to a few digits, so that it can be written and read again exactly."""
    rounded = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    return exact(str(rounded.divide(number.numerator, number.denominator)), "epsilon")
