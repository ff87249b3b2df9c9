"""Whether a place changed: how likely its rate has moved by more than a quarter, and by more than all places together.

Where all places grow, or empty in August, a place that does the same has not changed in a way worth telling of it.
Rates below one visitor count as one: between a place that expects a visitor in a year and one that expects three there
is no change worth telling. Against the period before, the joint law of both rates is that of the filter. Against LONG
periods ago the two laws are taken for independent: both lean on the same answers, so their difference is less uncertain
than that, and a slow change is told later rather than too early.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from locentropy.mechanisms.shares.series.transitions import Transition

    Reals = NDArray[np.float64]

NOTABLE: Final = math.log(1.25)
"""A rate moved if it rose or fell by more than this, in nats;"""
SHUT_BY: Final = math.log(10)
"""and a place closed if its rate fell by more than this."""
SURE: Final = 0.95
"""A change is told if it is at least so likely."""
LONG: Final = 3
"""Periods ago that the present is compared with, besides the one before."""
KINDS: Final = ("rose", "fell", "closed")
NONE: Final = "none"


class Moves(NamedTuple):
    """Probabilities for each place."""

    rose: Reals
    """That its rate rose by more than a quarter,"""
    fell: Reals
    """that it fell by more than a quarter,"""
    closed: Reals
    """and that it fell to less than a tenth."""
    since: NDArray[np.int64]
    """The number of periods ago that this is against."""

    def or_since(self, other: Moves, periods: int) -> Moves:
        """The same, or those against so many periods ago, whichever tells more about a place."""
        more = np.maximum(other.rose, other.fell) > np.maximum(self.rose, self.fell)
        rose, fell, closed = (np.where(more, new, old) for new, old in zip(other[:3], self[:3], strict=True))
        return Moves(rose, fell, closed, np.where(more, periods, self.since))

    @staticmethod
    def joined(parts: Sequence[Moves]) -> Moves:
        """Of all places."""
        return Moves(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def told(self) -> tuple[NDArray[np.str_], Reals, NDArray[np.int64]]:
        """The change of each place, its probability, and since when; where none is sure, the likeliest one's."""
        change = np.full(self.rose.size, NONE, dtype="<U6")
        probability = np.maximum(self.rose, self.fell)
        change[self.rose >= SURE] = "rose"
        change[self.fell >= SURE] = "fell"
        shut = self.closed >= SURE
        change[shut] = "closed"
        since = np.where(change == NONE, 0, self.since)
        return change, np.clip(np.where(shut, self.closed, probability), 0.0, 1.0), since


def compare(log_rates: Reals, growth: float, then: Reals, now: Reals) -> Moves:
    """Two laws of rates (rate × place), as if independent; `growth` is that of all places between them."""
    rose, fell, closed = ((now * (moved @ then)).sum(axis=0) for moved in _moved(log_rates, growth))
    return Moves(rose, fell, closed, np.ones(then.shape[1], dtype=np.int64))


def compare_neighbours(
    log_rates: Reals, transition: Transition, before: Reals, anew: Reals, seen: Reals
) -> Moves:
    """The law of the period before, and what is seen in the next: under their joint law."""
    comes = transition.comes(anew)
    total = np.maximum((transition.foresee(before, anew) * seen).sum(axis=0), 1e-300)
    rose, fell, closed = (
        (seen * (transition.stays((transition.kernel * moved) @ before) + comes * (moved @ before))).sum(
            axis=0
        )
        / total
        for moved in _moved(log_rates, transition.growth)
    )
    return Moves(rose, fell, closed, np.ones(before.shape[1], dtype=np.int64))


def _moved(log_rates: Reals, growth: float) -> tuple[Reals, Reals, Reals]:
    """Whether a new rate is above, below, and far below an old one, beyond the growth of all: new × old."""
    rates = np.maximum(log_rates, 0.0)
    by = rates[:, None] - rates
    up, down = max(growth, 0.0), min(growth, 0.0)
    rose, fell, closed = by > NOTABLE + up, by < down - NOTABLE, by < down - SHUT_BY
    return rose.astype(np.float64), fell.astype(np.float64), closed.astype(np.float64)
