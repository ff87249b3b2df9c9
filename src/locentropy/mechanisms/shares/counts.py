"""Bounded counts: how many visitors and visits each place has, each person counting at few places and with few visits.

The number of visitors that the inference holds likeliest is too uncertain to publish. Who needs numbers of people sets
a part of the budget aside for two plain queries:

    visitor_counts   at each place, the users who were there
    visit_counts     at each place, their visits

after every user was cut to at most M places, chosen by their own rows (`Bounds`), and at most C visits in each.

Claim. One user moves the first by at most M in ℓ₁ and √M in ℓ₂, the second by at most M·C and √M·C. Each has half of
the part, of ε or of ρ. The published intervals hold the bounded counts in at least 95 % of draws, whatever the data.

Why. After bounding a user is in at most M entries of each, and changes an entry by 1, or by at most C. The intervals
rest on the law of the noise alone. Proof: docs/proofs/shares.md, "Counts".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.base import bounded_profile
from locentropy.mechanisms.parameters import check_bounds
from locentropy.privacy.guarantee import exact
from locentropy.privacy.noise import LARGEST_VALUE, LATTICE, gaussian_scale, laplace_scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from locentropy.core.bounds import Bounds, Keep
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.mechanisms.shares.answers import NoiseKind
    from locentropy.privacy.noise import Noise

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

VISITOR_COUNTS: Final = "visitor_counts"
VISIT_COUNTS: Final = "visit_counts"
"""The names of the queries."""

UNIT: Final = LATTICE
"""Lattice points that stand for 1. √M is no integer; ⌈UNIT·√M⌉ is one, and larger by next to nothing."""

MOST: Final = Fraction(9, 10)
"""The largest part that may be set aside: entropies are what a release is about."""

MAX_LOCATIONS: Final = 1_000_000
"""The largest M, with which sensitivities fit 64 bits. Far smaller ones are useful."""

REACH: Final = {"laplace": Fraction("2.995732273553991"), "gaussian": Fraction("1.959963984540055")}
"""ln 20 and the normal quantile of 0.975, rounded up: as many scales hold noise with a probability of at least 95 %."""

EXAMPLE: Final = "Shares(epsilon=1.0, counts=0.2, max_locations=10, max_visits=5)"


@dataclass(frozen=True)
class CountQueries:
    """The two counts under some bounds, and their noise. Public numbers."""

    bounds: Bounds
    """M and C, and which locations are kept."""
    part: Fraction
    """What both queries may spend together: of ε (Laplace) or of ρ (Gaussian)."""
    noise: NoiseKind
    """The noise."""

    @property
    def names(self) -> tuple[str, ...]:
        """The queries, in the order in which they are asked."""
        return (VISITOR_COUNTS, VISIT_COUNTS)

    @property
    def sensitivities(self) -> Mapping[str, int]:
        """How far one user moves each query, in lattice points: in ℓ₁ for Laplace noise, in ℓ₂ for Gaussian noise."""
        places, often = self.bounds.max_locations, {VISITOR_COUNTS: 1, VISIT_COUNTS: self.bounds.max_visits}
        if self.noise == "laplace":
            return {name: UNIT * places * each for name, each in often.items()}
        return {name: _root_above(places * (UNIT * each) ** 2) for name, each in often.items()}

    @cached_property
    def scales(self) -> Mapping[str, float]:
        """The scale of the noise of each query, in lattice points; public."""
        scale_for = laplace_scale if self.noise == "laplace" else gaussian_scale
        return {name: scale_for(moves, self.part / 2) for name, moves in self.sensitivities.items()}

    def deviations(self) -> Mapping[str, float]:
        """The standard deviation of the noise of each count, in people and in visits."""
        widths = math.sqrt(2.0) if self.noise == "laplace" else 1.0
        return {name: widths * scale / UNIT for name, scale in self.scales.items()}

    def measure(self, queries: Queries, locations: Locations, noise: Noise) -> dict[str, Integers]:
        """The crossing: count, and add noise. What is returned is not private."""
        draw = noise.laplace if self.noise == "laplace" else noise.gaussian
        return {name: draw(each, self.scales[name]) for name, each in self.ask(queries, locations).items()}

    def ask(self, queries: Queries, locations: Locations | None) -> dict[str, Integers]:
        """The exact bounded counts, in lattice points. Private."""
        profile = bounded_profile(queries, self.bounds, locations)
        # Held to what the noise takes; a minimum brings neighbours no further apart.
        return {
            name: np.minimum(each, LARGEST_VALUE // UNIT) * UNIT
            for name, each in ((VISITOR_COUNTS, profile.user_counts), (VISIT_COUNTS, profile.visit_counts))
        }

    def columns(self, values: Mapping[str, Integers], places: int) -> dict[str, Reals]:
        """What is published: whole numbers, not below 0, with 95 % intervals rounded outwards. Post-processing."""
        published = {}
        for column, name in (("visitors", VISITOR_COUNTS), ("visits", VISIT_COUNTS)):
            if name not in values or values[name].shape != (places,):
                raise ParameterError(f"The measurements have no {name} of the places of this list.")
            noisy = np.clip(values[name], -LARGEST_VALUE, LARGEST_VALUE)  # kept ones may come from anywhere
            margin = interval_margin(self.noise, self.scales[name])
            published[column] = (noisy + UNIT // 2) // UNIT
            published[f"{column}_low"] = (noisy - margin) // UNIT
            published[f"{column}_high"] = -((-noisy - margin) // UNIT)
        return {name: np.maximum(each, 0).astype(np.float64) for name, each in published.items()}


def interval_margin(noise: NoiseKind, scale: float) -> int:
    """A whole number that noise of this scale exceeds, on either side, with a probability of at most 5 %.

    Laplace: P(|Z| > t) = 2q^(t+1)/(1 + q) ≤ q^t, q = e^(−1/scale), and that is 1/20 at t = scale·ln 20. Gaussian:
    P(|Z| > t) is at most that of a continuous Gaussian of the same scale.
    """
    return math.ceil(REACH[noise] * Fraction(scale))


def check_counts(
    counts: float | None, max_locations: int | None, max_visits: int | None, keep: Keep | None
) -> None:
    """Raise unless there is a valid part with both bounds, or neither a part nor a bound."""
    part = 0 if counts is None else counts
    usable = isinstance(part, int | float) and not isinstance(part, bool)
    if not usable or not 0 <= part <= 1 or exact(part, "counts") > MOST:
        raise ParameterError(
            f"must be a part of the budget above 0 and at most {float(MOST)}, or 0 for no counts.",
            parameter="counts",
            value=counts,
            example=EXAMPLE,
        )
    given = {"max_locations": max_locations, "max_visits": max_visits, "keep": keep}
    if part == 0:
        for name, value in given.items():
            if value is not None:
                raise ParameterError(
                    "is about counts of visitors and visits, for which no part of the budget is set aside. Give counts "
                    "as well, or leave it out: entropies of Shares need no bounds.",
                    parameter=name,
                    value=value,
                    example=EXAMPLE,
                )
        return
    if max_locations is None or max_visits is None:
        raise ParameterError(
            "must be given with counts: how much of one person is counted decides how much noise there is.",
            parameter="max_locations" if max_locations is None else "max_visits",
            example=EXAMPLE,
        )
    check_whole(EXAMPLE, "max_locations", max_locations, 1, MAX_LOCATIONS)
    check_bounds(EXAMPLE, max_locations, max_visits, keep)


def _root_above(square: int) -> int:
    """The smallest whole number whose square is at least this, which is above 0."""
    return math.isqrt(square - 1) + 1
