"""Invented answers and noise, with which a request is rehearsed before anything is spent: no data, and no chance.

They depend on the list of places alone. What is computed from them is thrown away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.visit_profile import VisitProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds
    from locentropy.core.locations import Locations
    from locentropy.core.shares import ShareRule

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_GOLDEN: Final = (5**0.5 - 1) / 2
_STEEP: Final = 5.0
"""The busiest place has e^5 visitors, and the quietest one."""


class InventedQueries:
    """`Queries` about nobody: every place has some visitors, a third of whom return, with two places each."""

    def __init__(self, locations: Locations) -> None:
        self.locations: pa.Array = locations.ids
        self._visitors = np.exp(_STEEP * _spread((len(locations),))).astype(np.int64)

    def profile(self, bounds: Bounds) -> VisitProfile:
        """One visit of most, and as many as count of the others."""
        return self._profile(bounds.max_visits, bounds)

    def profiles(self, bounds: Sequence[Bounds]) -> list[VisitProfile]:
        """The profiles under several bounds."""
        return [self.profile(each) for each in bounds]

    def exact_profile(self) -> VisitProfile:
        """The profile without bounds."""
        return self._profile(3, None)

    def _profile(self, visits: int, bounds: Bounds | None) -> VisitProfile:
        every, returning = np.arange(self._visitors.size), np.flatnonzero(self._visitors >= 3)
        return VisitProfile.from_rows(
            self.locations,
            np.concatenate([every, returning]),
            np.repeat(np.array([1, visits], dtype=np.int64), [every.size, returning.size]),
            np.concatenate([self._visitors, self._visitors[returning] // 3]),
            bounds,
        )

    def look(self, rule: ShareRule) -> Integers:
        """Half of a unit for each visitor; where one visit weighs nothing, for those who return."""
        presence: Integers = self._visitors * rule.largest // (2 if rule.weights[0] else 6)
        return presence

    def presence(
        self, rule: ShareRule, bands: Integers, places: Sequence[int], visits: Sequence[int]
    ) -> Integers:
        """Less of the same in every further cell."""
        cells = np.zeros((int(bands.max(initial=0)) + 1, len(places) + 1, len(visits) + 1), dtype=np.int64)
        by_band = np.zeros(len(cells), dtype=np.int64)
        np.add.at(by_band, bands, self.look(rule))
        for at in np.ndindex(cells.shape[1:]):
            cells[(slice(None), *at)] = by_band >> (2 + sum(at))
        return cells

    def restricted_to(self, locations: Locations) -> InventedQueries:
        """The same about other places."""
        return InventedQueries(locations)

    def locations_per_user(self) -> Integers:
        """Two for everybody."""
        return np.array([0, 0, self._visitors.sum()], dtype=np.int64)

    def largest_visits_per_user(self) -> tuple[Integers, Integers]:
        """One for everybody."""
        return np.ones(1, dtype=np.int64), self._visitors.sum(keepdims=True)


class InventedNoise:
    """`Noise` that is the same every time: values spread as those of the law are. It protects nobody."""

    private = False

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Values plus as many quantiles of a Laplace law."""
        return self.laplace_each(values, np.full(np.shape(values), float(scale)))

    def laplace_each(self, values: Integers, scales: Reals) -> Integers:
        """The same, each of its own scale."""
        off = _spread(np.shape(values)) - 0.5
        return _moved(values, scales * -np.sign(off) * np.log1p(-2 * np.abs(off)))

    def gaussian(self, values: Integers, scale: float) -> Integers:
        """Values within ±2σ."""
        return _moved(values, scale * (4 * _spread(np.shape(values)) - 2))

    def bernoulli_each(self, probabilities: Reals) -> NDArray[np.bool_]:
        """Coins that fall as often as they should."""
        fallen: NDArray[np.bool_] = _spread(np.shape(probabilities)) < probabilities
        return fallen


def _spread(shape: tuple[int, ...]) -> Reals:
    """Numbers above 0 and below 1, evenly spread, and neighbours far apart."""
    spread: Reals = np.mod((np.arange(int(np.prod(shape))) + 1) * _GOLDEN, 1.0).reshape(shape)
    return spread


def _moved(values: Integers, by: Any) -> Integers:
    moved: Integers = values + np.rint(by).astype(np.int64)
    return moved
