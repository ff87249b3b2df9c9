"""The part of Shares that touches data: integer queries in stages, each noised before the next is asked.

Every user has one unit of presence, Q, divided among the places where they were (`core/shares.py`). In order:

    look     the sum of shares at each place, shares by weights that fall with visits
    sums     the same by level of each public attribute, where that is asked
    sizes    equal shares by band of the noisy look and number of the user's places
    visits   equal shares by band, few or many places, and visits to the place
    split    at the places whose noisy look is clear of the noise, the sum of equal shares among those of them to which
             a user returned

Bands, the cut between few and many, and the clear places are public when they are used: functions of what was noised
before (`stages.py`). Whatever they are, one user moves each of these answers by at most Q: in ℓ₁ for pure ε, where the
noise is discrete Laplace; in ℓ₂ with a δ, where it is discrete Gaussian. Proof: docs/proofs/shares.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.errors import EngineError, ParameterError
from locentropy.core.shares import ShareRule
from locentropy.mechanisms.base import check_locations
from locentropy.mechanisms.shares import stages
from locentropy.mechanisms.shares.answers import Answers
from locentropy.mechanisms.shares.budget import ShareBudget
from locentropy.mechanisms.shares.levels import public_levels
from locentropy.mechanisms.shares.stages import LOOK_WEIGHTS, SPLIT_WEIGHTS
from locentropy.privacy.concentrated import admissible_rho
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import LATTICE, gaussian_scale, laplace_scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.core.shares import Norm
    from locentropy.mechanisms.shares.answers import NoiseKind
    from locentropy.privacy.guarantee import Number
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]

LOOK: Final = "look"
SUMS: Final = "sums"
SIZES: Final = "sizes"
VISITS: Final = "visits"
SPLIT: Final = "split"
"""The names of the queries."""

UNIT: Final = LATTICE
"""Q: one user's whole presence, in lattice points."""


@dataclass(frozen=True)
class ShareQueries:
    """What is asked at a given ε and δ of a list with so many attributes, and with how much noise. Public numbers."""

    epsilon: Number
    """ε of all queries together."""
    delta: Number = 0
    """δ of all queries together; 0 for pure ε."""
    attributes: int = 0
    """How many public attributes the list declares."""
    set_aside: Number = 0
    """The part of ε, or of ρ, that these queries leave to others: to counts (`counts.py`)."""

    @property
    def noise(self) -> NoiseKind:
        """Laplace for pure ε, Gaussian with a δ."""
        return "gaussian" if exact(self.delta, "delta") else "laplace"

    @cached_property
    def budget(self) -> ShareBudget:
        """The part of each query, of ε or of ρ."""
        if self.noise == "laplace":
            return ShareBudget.pure(self._left * exact(self.epsilon), self.attributes)
        rho = self._left * admissible_rho(self.epsilon, self.delta)
        return ShareBudget.concentrated(exact(self.epsilon), rho, self.attributes)

    @property
    def _left(self) -> Fraction:
        """The part of ε, or of ρ, that is not set aside."""
        return 1 - exact(self.set_aside, "counts")

    @property
    def names(self) -> tuple[str, ...]:
        """The queries, in the order in which they are asked."""
        return (LOOK, *((SUMS,) if self.budget.sums else ()), SIZES, VISITS, SPLIT)

    @cached_property
    def scales(self) -> Mapping[str, float]:
        """The scale of the noise of each query, in lattice points: one user moves it by at most Q; public."""
        return {name: self._scale(getattr(self.budget, name)) for name in self.names}

    def _scale(self, part: Fraction) -> float:
        return laplace_scale(UNIT, part) if self.noise == "laplace" else gaussian_scale(UNIT, part)

    @property
    def cap(self) -> Fraction:
        """M: pure, max(1, ε/2): where there is budget to spend, who has few places need not count in full."""
        return max(exact(1), self._left * exact(self.epsilon) / 2) if self.noise == "laplace" else exact(1)

    @property
    def largest(self) -> int:
        """⌊Q/M⌋: the largest share."""
        return max(1, math.floor(UNIT / self.cap))

    @property
    def norm(self) -> Norm:
        """The norm in which a user's shares at different places have length Q."""
        return "l1" if self.noise == "laplace" else "l2"

    @property
    def look_rule(self) -> ShareRule:
        """Of the look: every place is an entry of its own, so either norm serves."""
        return ShareRule(UNIT, self.largest, LOOK_WEIGHTS, self.norm)

    @property
    def sums_rule(self) -> ShareRule:
        """Of sums over places, to which a user may add many shares: they must add up to Q in ℓ₁ whatever the noise."""
        return ShareRule(UNIT, self.largest, LOOK_WEIGHTS, "l1")

    @property
    def equal_rule(self) -> ShareRule:
        """Of the histograms, where a user may add many shares to one cell."""
        return ShareRule(UNIT, self.largest)

    @property
    def split_rule(self) -> ShareRule:
        """Of the split: every place is an entry of its own."""
        return ShareRule(UNIT, self.largest, SPLIT_WEIGHTS, self.norm)

    @property
    def size_thresholds(self) -> tuple[int, ...]:
        """The numbers of places at which a user has more than M, 2M, 4M, … of them."""
        return tuple(math.floor(self.cap * 2**at) + 1 for at in range(stages.SIZE_OCTAVES - 1))

    def measure(self, queries: Queries, locations: Locations, noise: Noise) -> dict[str, Integers]:
        """The crossing: ask, add noise, and only then decide what to ask next. What is returned is not private."""
        check_locations(queries, locations)
        values: dict[str, Integers] = {}
        look = self.ask_look(queries)
        values[LOOK] = self._noised(noise, LOOK, look)
        if SUMS in self.names:
            summed = look if self.sums_rule == self.look_rule else _look(queries, self.sums_rule)
            by_level = [levels.add_up(summed) for levels in public_levels(locations)]
            values[SUMS] = self._noised(noise, SUMS, np.concatenate(by_level))
        del look
        for name in (SIZES, VISITS):
            values[name] = self._noised(noise, name, self._histogram(queries, name, Plan(self, values)))
        values[SPLIT] = self._split(queries, Plan(self, values).clear_places, noise)
        return values

    def ask_look(self, queries: Queries) -> Integers:
        """The exact look. Private."""
        return _look(queries, self.look_rule)

    def _histogram(self, queries: Queries, name: str, plan: Plan) -> Integers:
        """The exact cells of one of the histograms. Private."""
        places = plan.size_thresholds if name == SIZES else plan.many_threshold
        visits = () if name == SIZES else stages.VISIT_THRESHOLDS
        edges = plan.edges(name)
        # Without a place in the highest bands the engine would leave these out.
        shape = (len(edges) + 1, len(places) + 1, len(visits) + 1)
        found = queries.presence(self.equal_rule, plan.bands(name), places, visits)
        if found.shape[1:] != shape[1:] or len(found) > shape[0] or found.dtype != np.int64:
            raise EngineError("The engine answered with other cells than those that were asked for.")
        cells = np.zeros(shape, dtype=np.int64)
        cells[: len(found)] = found
        return cells[:, :, 0] if name == SIZES else cells

    def _split(self, queries: Queries, clear: Integers, noise: Noise) -> Integers:
        """The noisy split at some places; no question is asked if there are none."""
        from locentropy.core.locations import Locations  # a plan asks nothing, and does without Arrow

        if clear.size == 0:
            return np.zeros(0, dtype=np.int64)
        within = queries.restricted_to(Locations(queries.locations.take(clear)))
        return self._noised(noise, SPLIT, _look(within, self.split_rule))

    def _noised(self, noise: Noise, name: str, exact_values: Integers) -> Integers:
        draw = noise.laplace if self.noise == "laplace" else noise.gaussian
        return draw(exact_values, self.scales[name])

    def answers(self, values: Mapping[str, Integers], locations: Locations) -> Answers:
        """Noisy integers in units of presence, with the scales of their noise: post-processing."""
        plan = Plan(self, values)
        _check_shapes(plan, locations)
        scales = {name: scale / UNIT for name, scale in self.scales.items()}
        sums: tuple[NDArray[np.float64], ...] = ()
        if SUMS in self.names:
            ends = np.cumsum([levels.count for levels in public_levels(locations)])
            sums = tuple(np.split(values[SUMS] / UNIT, ends[:-1]))
        return Answers(
            look=values[LOOK] / UNIT,
            sizes=values[SIZES] / UNIT,
            visits=values[VISITS] / UNIT,
            split=values[SPLIT] / UNIT,
            split_at=plan.clear_places,
            sums=sums,
            size_edges=np.array(plan.edges(SIZES)) / UNIT,
            visit_edges=np.array(plan.edges(VISITS)) / UNIT,
            many_from=plan.many_from,
            noise=self.noise,
            look_scale=scales[LOOK],
            sizes_scale=scales[SIZES],
            visits_scale=scales[VISITS],
            split_scale=scales[SPLIT],
            sums_scale=scales.get(SUMS, 0.0),
            cap=float(self.cap),
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """What is asked next: a function of noisy answers and public numbers, when measuring and ever after."""

    asked: ShareQueries
    values: Mapping[str, Integers]
    """The noisy integers so far."""

    @property
    def size_thresholds(self) -> tuple[int, ...]:
        """The octaves of places."""
        return self.asked.size_thresholds

    def edges(self, name: str) -> tuple[int, ...]:
        """The looks at which the bands of a histogram begin, in lattice points."""
        needed = stages.SIZE_BAND if name == SIZES else stages.VISIT_BAND
        scales = self.asked.scales
        return stages.bands(self.values[LOOK], scales[LOOK], scales[name], self.asked.noise, needed)

    def bands(self, name: str) -> Integers:
        """The band of each place: how many edges its noisy look is above."""
        edges = np.array(self.edges(name), dtype=np.int64)
        return np.searchsorted(edges, self.values[LOOK], side="left").astype(np.int64)

    @property
    def many_from(self) -> int:
        """The octave of places from which a user has many."""
        return stages.many_from(self.values[SIZES], self.asked.scales[SIZES], self.asked.noise)

    @property
    def many_threshold(self) -> tuple[int]:
        """The number of places from which a user has many."""
        return (self.size_thresholds[self.many_from - 1],)

    @property
    def clear_places(self) -> Integers:
        """The places that the split is asked of."""
        return stages.clear_places(self.values[LOOK], self.asked.scales[LOOK], self.asked.noise)


def _look(queries: Queries, rule: ShareRule) -> Integers:
    found = queries.look(rule)
    if found.shape != (len(queries.locations),) or found.dtype != np.int64:
        raise EngineError("The engine answered about other places than those that were asked for.")
    return found


def _check_shapes(plan: Plan, locations: Locations) -> None:
    """Raise ParameterError unless kept measurements have the shapes that they must have: a file may hold anything."""
    values, octaves = plan.values, stages.SIZE_OCTAVES
    if set(values) == set(plan.asked.names) and values[LOOK].shape == (len(locations.ids),):
        expected: dict[str, tuple[int, ...]] = {SIZES: (len(plan.edges(SIZES)) + 1, octaves)}
        expected[VISITS] = (len(plan.edges(VISITS)) + 1, 2, stages.VISIT_OCTAVES)
        expected[SPLIT] = plan.clear_places.shape
        if SUMS in plan.asked.names:
            expected[SUMS] = (sum(levels.count for levels in public_levels(locations)),)
        if all(values[name].shape == shape for name, shape in expected.items()):
            return
    raise ParameterError("The measurements do not have the shapes that Shares gives them for this list.")
