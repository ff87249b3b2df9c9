"""Privacy units: of whose visits, and of which of them, a guarantee hides whether they were made.

A unit is a partition of civil time into cells: everything (`person`), dates, ISO weeks, or calendar months. Two tables
are neighbours if one is the other without all visits of one person in one cell.

Claim: parts of a release each read the visits of one window, and each has a guarantee for the person whose visits there
are added or removed. If every window lies inside one cell, and what is charged to each cell stays within (ε, δ),
everything published together is (ε, δ)-differentially private for the unit; and for a person who is in the data in
several cells, or always, with what the parts of these cells cost together.

Why: a part whose window is outside the cell has the same law on both tables; one whose window is inside it sees
neighbours in the sense of its own guarantee. A window that straddles cells would see a person's record changed and not
removed, which costs up to twice as much (a month without one day): so it is refused. Proof: docs/proofs/units.md.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Literal, get_args

from locentropy.core.civil_time import merged
from locentropy.core.errors import ParameterError
from locentropy.core.language import ENGLISH
from locentropy.core.windows import shortest_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from locentropy.core.language import Words
    from locentropy.core.windows import Window

Unit = Literal["person", "person-day", "person-week", "person-month"]

UNIT_EXAMPLE: Final = (
    'Ledger.create("city.ledger", "riders of the city", epsilon=1, delta=1e-7, unit="person-month", person_epsilon=6, '
    "person_delta=1e-6)"
)

_PERIODS: Final[dict[str, str]] = {"person-day": "day", "person-week": "week", "person-month": "month"}


def check_unit(unit: object) -> Unit:
    """The unit; raises ParameterError for anything else."""
    if unit not in get_args(Unit):
        raise ParameterError(
            f"is not one of {', '.join(get_args(Unit))}.",
            parameter="unit",
            value=unit,
            example=UNIT_EXAMPLE,
        )
    return unit  # type: ignore[return-value]


def period_of(unit: Unit) -> str | None:
    """`day`, `week` or `month`; None for the person unit."""
    return _PERIODS.get(unit)


def protects(unit: Unit, say: Words = ENGLISH) -> str:
    """What a guarantee hides, in a few words."""
    return say("protects", of=period_of(unit) or "person")


def neighbours(unit: Unit, say: Words = ENGLISH) -> str:
    """Which tables are neighbours."""
    return say("neighbours", of=period_of(unit) or "person")


def cell_label(unit: Unit, day: date) -> str:
    """The cell of a date, written as the window that it is."""
    if unit == "person-month":
        return f"{day:%Y-%m}"
    if unit == "person-week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day.isoformat()


def cell_of(unit: Unit, window: Window | None) -> str | None:
    """The cell that a window lies in; None under the person unit, which has only one.

    Raises ParameterError, with the reason, for a window that straddles cells.
    """
    period = period_of(unit)
    if period is None:
        return None
    if window is None:
        raise ParameterError(
            f"A release about all times straddles every {period}, and this ledger protects what a person did in one "
            f"{period}: each of them would be charged twice the guarantee. Publish window by window, such as "
            f'window=Window("{_EXAMPLES[unit]}", zone="Europe/Berlin") (--window {_EXAMPLES[unit]}).'
        )
    first, last = (cell_label(unit, day) for day in (window.start, window.end - timedelta(days=1)))
    if first != last:
        raise ParameterError(
            f"lies in more than one {period}, from {first} to {last}, and this ledger protects what a person did in "
            f"one {period}. Without what somebody did in one of them, their record in this window is another one "
            "rather than none, which costs up to twice as much. Publish windows that lie inside one "
            f"{period} each.",
            parameter="window",
            value=window.text,
            example=f'Window("{first}", zone="{window.zone}")',
        )
    return first


def part_windows(
    unit: Unit, window: Window | None, windows: Sequence[Window] = ()
) -> tuple[Window | None, ...]:
    """The windows of a release's parts: what each of them reads, and is charged for.

    One part, about the whole window, which may be None; per period, if `windows` cut it, one for each cell: the windows
    that lie in it together. Raises ParameterError for windows that straddle cells.
    """
    if not windows or window is None or period_of(unit) is None:
        cell_of(unit, window)
        return (window,)
    by_cell: dict[str, list[Window]] = {}
    for each in windows:
        by_cell.setdefault(str(cell_of(unit, each)), []).append(each)
    return tuple(_together(window, each) for each in by_cell.values())


def _together(whole: Window, windows: Sequence[Window]) -> Window:
    """Neighbouring windows as one."""
    joined = replace(whole, text=shortest_text(windows[0].start, windows[-1].end), within=None)
    instants = merged(piece for each in windows for piece in each.instants)
    return joined if joined.instants == instants else replace(joined, within=instants)


_EXAMPLES: Final[dict[str, str]] = {
    "person-day": "2026-05-03",
    "person-week": "2026-W21",
    "person-month": "2026-05",
}
