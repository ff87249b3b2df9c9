"""What a series of releases would be worth: what each release gets, and the errors to expect in later periods.

Every release by itself errs as the first. With `--after` each leans on those before it; what that takes from the error
is a calculation about supposed cities (`mechanisms/shares/series_risk.py`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.parameters import LargeDeltaWarning
from locentropy.planning.schedule import scheduled
from locentropy.privacy.guarantee import exact_text, numbers_in_words

if TYPE_CHECKING:
    from locentropy.mechanisms.base import Mechanism
    from locentropy.planning.plans import Plan
    from locentropy.planning.schedule import Schedule
    from locentropy.privacy.guarantee import Guarantee

SHOWN: Final = (1, 6)
"""Periods whose errors are told, besides the last."""
COMPARED_DELTA: Final = 1e-8
"""δ of all releases, where a plan without one is compared with Gaussian noise."""
SUPPOSED: Final = (
    "Later {period}s are those of releases that each lean on the ones before them (--after); without that, every "
    "{period} is as the first. They are computed for supposed cities, whose places change little from {period} to "
    "{period}; the larger number counts on half of that gain. Where places have only a handful of visitors in a "
    "{period}, or change a lot, there is less to gain."
)


@dataclass(frozen=True)
class SeriesOutlook:
    """One way to divide a budget: what each release has, and the errors to expect."""

    schedule: Schedule
    mechanism: Mechanism
    """Of each release."""
    errors: dict[int, tuple[float, float]]
    """By period the range of errors, in nats; none if it is not known."""

    @property
    def each(self) -> str:
        """What each release has."""
        stated = self.mechanism.guarantee
        if self.schedule.composition == "sum":
            return numbers_in_words(stated)
        rho = exact_text(stated.concentrated_cost[0])
        return f"ρ = {rho}, which by itself is {numbers_in_words(stated)}"

    @property
    def words(self) -> str:
        """Both in a sentence."""
        errors = "; ".join(
            f"{self.schedule.period} {period}: {low:.2f} to {high:.2f}"
            for period, (low, high) in self.errors.items()
        )
        return f"each release has {self.each}{f'. Expected errors in nats, {errors}' if errors else ''}."

    def to_dict(self) -> dict[str, Any]:
        """The same, for machines."""
        stated: Guarantee = self.mechanism.guarantee
        return {
            "composition": self.schedule.composition,
            "epsilon": None if stated.epsilon is None else exact_text(stated.epsilon),
            "delta": exact_text(stated.delta),
            **({} if stated.rho is None else {"rho": exact_text(stated.rho)}),
            "expected_error": {str(period): list(each) for period, each in self.errors.items()},
        }


def series_outlook(
    plan: Plan, mechanism: Mechanism | None = None, schedule: Schedule | None = None
) -> SeriesOutlook:
    """What to expect of a plan with a schedule; of another way to divide the same budget, if one is given."""
    scheduled_as = schedule or plan.schedule
    assert scheduled_as is not None  # noqa: S101  # asked by the caller
    each = mechanism or plan.mechanism
    supposed = Supposed(
        plan.n_locations, plan.n_users, plan.users_per_location, plan.selection, plan.locations_per_user
    )
    last = scheduled_as.periods
    periods = tuple(
        dict.fromkeys(each for each in (*SHOWN, last) if each is not None and (last is None or each <= last))
    )
    expected = each.expected_error(supposed)
    return SeriesOutlook(scheduled_as, each, expected.in_series(periods))


def other_outlook(plan: Plan) -> SeriesOutlook | None:
    """The same budget in the other way: by plain sums without a δ, or counted in ρ with one; None if there is none."""
    schedule = plan.schedule
    if schedule is None or schedule.epsilon is None or schedule.periods is None:
        return None
    if getattr(plan.mechanism, "delta", None) is None or plan.selection is not None or plan.levels:
        return None
    delta = 0.0 if schedule.delta else COMPARED_DELTA
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeDeltaWarning)  # nobody has chosen it
        whole = replace(plan.mechanism, epsilon=float(schedule.epsilon), delta=delta)  # type: ignore[type-var]
    other, each = scheduled(whole, schedule.period, schedule.periods)
    return series_outlook(plan, each, other)


def series_lines(plan: Plan) -> list[str]:
    """What a schedule means, in words; none if there is none."""
    schedule = plan.schedule
    if schedule is None:
        return []
    own, period = series_outlook(plan), schedule.period
    told = [SUPPOSED.format(period=period)] if own.errors else []
    if schedule.epsilon is None:
        return [f"A release in every {period}: {own.words}", *told]
    delta = f", δ = {exact_text(schedule.delta)}" if schedule.delta else ""
    counted = "by plain sums" if schedule.composition == "sum" else "counted in ρ"
    lines = [
        f"A release in every {period}, {schedule.periods} of them, from ε = {exact_text(schedule.epsilon)}{delta} in "
        f"all for somebody who is always there, {counted}: {own.words}"
    ]
    if (other := other_outlook(plan)) is not None:
        how = (
            "By plain sums and without a δ"
            if other.schedule.composition == "sum"
            else f"Counted in ρ, with δ = {exact_text(other.schedule.delta)} in all"
        )
        lines.append(f"{how}: {other.words}")
    return [*lines, *told, f"Its ledger: {_ledger(plan, schedule)}"]


def _ledger(plan: Plan, schedule: Schedule) -> str:
    """The call that makes a ledger for the schedule."""
    assert schedule.epsilon is not None  # noqa: S101  # asked by the caller
    whole = {"epsilon": schedule.epsilon, **({"delta": schedule.delta} if schedule.delta else {})}
    options = [f"--{name} {exact_text(number)}" for name, number in whole.items()]
    if plan.unit != "person":
        stated = plan.guarantee
        options = [
            f"--unit {plan.unit} --epsilon {exact_text(stated.epsilon or schedule.epsilon)}",
            *([f"--delta {exact_text(stated.delta)}"] if stated.delta else []),
            *(option.replace("--", "--person-", 1) for option in options),
        ]
    if schedule.composition == "concentrated":
        options.append("--composition concentrated")
    if schedule.zone is not None:
        options.append(f"--time-zone {schedule.zone}")
    return f"locentropy ledger create FILE --population WHO {' '.join(options)}"
