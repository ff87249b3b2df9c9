"""Parts: which window each spend is about, and what it costs; the periods of time as the ledger first used them.

A spend is written after its parts, in one transaction. Windows and cells are public: nothing here is from the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from locentropy.core.civil_time import Intervals, difference, intersection, merged, read_intervals, written
from locentropy.core.errors import LedgerError
from locentropy.core.windows import Window, shortest_text
from locentropy.ledger.accounts import Charge
from locentropy.privacy.guarantee import Guarantee, exact, exact_text
from locentropy.privacy.units import cell_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from locentropy.privacy.units import Unit


@dataclass(frozen=True)
class Part:
    """A window of a spend, and what it costs."""

    spend: str
    """The id of the spend."""
    guarantee: Guarantee
    """ε and δ, and ρ if it is known."""
    window: Window | None = None
    """Which visits it read; None for all."""
    cell: str | None = None
    """The cell of the ledger's unit that the window lies in; None under the person unit."""
    borders: Intervals = ()
    """The instants of that cell."""

    @property
    def charge(self) -> Charge:
        """What it costs."""
        return Charge.of(self.guarantee)

    def as_values(self) -> dict[str, str]:
        """The part as the ledger writes it."""
        window, stated = self.window, self.guarantee
        assert stated.epsilon is not None  # noqa: S101  # a part has a guarantee
        return {
            "spend": self.spend,
            "epsilon": exact_text(stated.epsilon),
            "delta": exact_text(stated.delta),
            "rho": "" if stated.rho is None else exact_text(stated.rho),
            "rho_delta": "" if stated.rho is None else exact_text(stated.rho_delta),
            "start": "" if window is None else window.start.isoformat(),
            "end": "" if window is None else window.end.isoformat(),
            "weekdays": "" if window is None else window.weekdays or "",
            "hours": "" if window is None else window.hours or "",
            "zone": "" if window is None else window.zone,
            "cell": self.cell or "",
            "borders": written(self.borders),
        }

    @classmethod
    def from_values(cls, values: Mapping[str, str], unit: Unit) -> Part:
        """A part that a ledger holds; raises unless its window lies in its cell."""
        window = None
        if values["start"]:
            start, end = (date.fromisoformat(values[name]) for name in ("start", "end"))
            window = Window(
                shortest_text(start, end),
                zone=values["zone"],
                weekdays=values["weekdays"] or None,
                hours=values["hours"] or None,
            )
        stated = Guarantee(exact(values["epsilon"]), exact(values["delta"], "delta"), unit=unit)
        if values["rho"]:
            rho, rho_delta = exact(values["rho"], "rho"), exact(values["rho_delta"], "rho_delta")
            stated = replace(stated, rho=rho, rho_delta=rho_delta)
        cell = cell_of(unit, window)
        if (cell or "") != values["cell"]:
            raise LedgerError("the window of a part does not lie in its cell")
        return cls(values["spend"], stated, window, cell, read_intervals(values["borders"], values["zone"]))


@dataclass
class Calendar:
    """The time zone of a ledger, and the instants of each cell as they were when it was first used.

    Later versions of the time zone data may move the border of a month. Here it stays, and the cells are disjoint, so
    that no visit is ever in two of them: what was charged to one cell is all that was charged for it.
    """

    unit: Unit
    zone: str | None
    """None until it is fixed, by the terms or by the first window."""
    _cells: dict[str, Intervals] = field(default_factory=dict)
    _taken: Intervals = ()
    """All instants of these; neighbouring cells are one interval, so it stays short."""
    _read: dict[str, Intervals] = field(default_factory=dict)
    """Instants of cells that are not known yet, of which it is known that an earlier ledger charged them there."""

    def check_zone(self, window: Window, name: str) -> None:
        """Raise LedgerError for a window of another zone."""
        if self.zone is not None and window.zone != self.zone:
            raise LedgerError(
                f"{name} counts days by the clock of {self.zone}, and this window is of {window.zone}. By two clocks "
                "one visit could be in two periods, and be charged to the wrong one. Use the ledger's: "
                f'Window("{window.text}", zone="{self.zone}") (--time-zone {self.zone})'
            )

    def borders(self, window: Window | None) -> Intervals:
        """The instants of the cell that a window lies in: those recorded, else those of the calendar that are free."""
        cell = cell_of(self.unit, window)
        if cell is None or window is None:
            return ()
        if cell in self._cells:
            return self._cells[cell]
        elsewhere = merged(piece for other, pieces in self._read.items() if other != cell for piece in pieces)
        calendar = difference(Window(cell, zone=window.zone).instants, elsewhere)
        return difference(merged((*calendar, *self._read.get(cell, ()))), self._taken)

    def recall(self, windows: Iterable[Window | None]) -> None:
        """Let cells have the instants that were read as theirs, whatever the time zone data says of these now."""
        for window in windows:
            cell = cell_of(self.unit, window)
            if window is not None and cell is not None:
                self._read[cell] = merged((*self._read.get(cell, ()), *window.instants))

    def settled(self, window: Window) -> Window:
        """The window, without instants that are not in its cell as the ledger knows it."""
        borders = self.borders(window)
        if cell_of(self.unit, window) is None or not difference(window.instants, borders):
            return window
        return replace(window, within=borders)

    def add(self, part: Part) -> None:
        """Remember the zone and the cell of a part that was charged."""
        if part.window is None:
            return
        if self.zone is None:
            self.zone = part.window.zone
        if part.cell is not None:
            self._cells[part.cell] = part.borders
            self._taken = merged((*self._taken, *part.borders))

    def check(self, part: Part, name: str) -> None:
        """Raise LedgerError unless a part is of this zone and its cell is the one that is known."""
        if part.window is None:
            return
        self.check_zone(part.window, name)
        if part.cell is None:
            return
        known = self._cells.get(part.cell)
        # The calendar is not asked again: the time zone data may have changed. No instant may be in two cells.
        if part.borders != known if known is not None else intersection(part.borders, self._taken):
            raise LedgerError(f"the instants of {part.cell} are not those that the ledger first used")


def part_of(spend: str, guarantee: Guarantee, window: Window | None, calendar: Calendar) -> Part:
    """The part of a release that reads one window, or everything."""
    unit = calendar.unit
    stated = replace(guarantee, unit=unit, public_inputs=())
    borders = calendar.borders(window)
    cell = cell_of(unit, window)
    if window is not None and cell is not None and difference(window.instants, borders):
        raise LedgerError(
            f"The instants of {window.text} are not in those of its period as the ledger first used it: the time zone "
            "data has changed since. Publish again: nothing was spent."
        )
    return Part(spend, stated, window, cell, borders)


def same_windows(one: Sequence[Window | None], other: Sequence[Window | None]) -> bool:
    """Whether these are the same windows, in the same order, however they are written."""
    return len(one) == len(other) and all(
        a is b is None or (a is not None and a.same_as(b)) for a, b in zip(one, other, strict=True)
    )
