"""Private selection of the locations to name, by the number of their users.

Claim: when each user is in at most `max_locations` locations, naming every location with probability
π(users above the threshold), each by its own coin, is (ε, δ)-differentially private, both for the
locations that appear and for those that do not. Proof: docs/proofs/selection.md.

π is the optimal curve of Desfontaines, Voss, Gipson and Mandayam (Differentially private partition
selection, 2022), for e = ε/max_locations and d = δ/max_locations:
π(0) = 0 and π(j+1) = min(e^e·π(j) + d, 1 − e^−e·(1 − π(j) − d), 1).
It is evaluated in closed form, so a curve takes no memory however small ε is, and names a location at most
1/4096 of a user later than the optimum (plus a part of 2^-40 of e and d, reserved for rounding).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from locentropy.core.checks import positive_integer
from locentropy.core.errors import ParameterError
from locentropy.privacy.guarantee import Guarantee, Number, exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.privacy.noise import Noise

    Reals = NDArray[np.float64]

SLACK = 2.0**-40
"""Subtracted from e, and in proportion from d, to cover the rounding errors of floating point."""

SMALLEST_EPSILON = 2.0**-30
LARGEST_EPSILON = 100.0
SMALLEST_DELTA = 1e-200
"""The range of e and d, per location, for which the proof bounds the rounding."""

MAX_TABLE_ROWS = 10_000_000

_CALL = "SelectionCurve(epsilon=0.5, delta=1e-8, max_locations=5)"
_GRID = 4096  # The end of the curve is rounded up to 1/4096 of a user, so that distances to it are exact.


@dataclass(frozen=True)
class SelectionCurve:
    """The probability of naming a location, by how many of its users are above the threshold."""

    epsilon: Number
    """ε of the whole selection, for one user's record."""
    delta: Number
    """δ of the whole selection."""
    max_locations: int
    """M, the most locations one user can be in."""

    def __post_init__(self) -> None:
        positive_integer("max_locations", self.max_locations, _CALL)
        share, slip = self._per_location
        if not SMALLEST_EPSILON <= share <= LARGEST_EPSILON:
            raise ParameterError(
                f"must leave each of the M = {self.max_locations} locations between 2^-30 and 100.",
                parameter="epsilon",
                value=_shown(self.epsilon),
                example=_CALL,
            )
        if not SMALLEST_DELTA <= slip < 1:
            raise ParameterError(
                f"must leave each of the M = {self.max_locations} locations at least {SMALLEST_DELTA} and less than 1.",
                parameter="delta",
                value=_shown(self.delta),
                example=_CALL,
            )

    @property
    def _per_location(self) -> tuple[Fraction, Fraction]:
        """e and d: what one location may spend, since a user can be in `max_locations` of them."""
        return (
            exact(self.epsilon, "epsilon") / int(self.max_locations),
            exact(self.delta, "delta") / int(self.max_locations),
        )

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of selecting by this curve."""
        return Guarantee.approximate(self.epsilon, self.delta)

    @cached_property
    def _shape(self) -> _Shape:
        return _Shape.of(*self._per_location)

    @property
    def certain_from(self) -> int:
        """The number of users above the threshold from which a location is always named."""
        return int(np.ceil(self._shape.end))

    def probability(self, users_above_threshold: NDArray[np.integer]) -> Reals:
        """π, rounded to a float: for plans and figures. To select, use `select`."""
        tail, named = self.coins(users_above_threshold)
        return np.where(named, 1 - tail, tail)

    def coins(self, users_above_threshold: NDArray[np.integer]) -> tuple[Reals, NDArray[np.bool_]]:
        """π without loss of digits: the less likely outcome's probability, and whether the other outcome is "named"."""
        users = _whole_numbers(users_above_threshold)
        distinct, where = np.unique(users, return_inverse=True)
        tail, named = self._shape.coins(distinct)
        return tail[where].reshape(users.shape), named[where].reshape(users.shape)

    def select(self, users_above_threshold: NDArray[np.integer], noise: Noise) -> NDArray[np.bool_]:
        """Whether each location is named: one coin each, with exactly the probability of the proof."""
        tail, named = self.coins(users_above_threshold)
        return noise.bernoulli_each(tail) ^ named


def selection_probabilities(epsilon: Number, delta: Number, max_locations: int) -> Reals:
    """The curve as a table, from 0 users above the threshold to the first number that is certain."""
    curve = SelectionCurve(epsilon, delta, max_locations)
    if curve.certain_from >= MAX_TABLE_ROWS:
        raise ParameterError(
            f"epsilon={epsilon} over max_locations={max_locations} makes a table of {curve.certain_from} rows. Ask for "
            "single values instead.",
            example=f"{_CALL}.probability(np.array([10, 200]))",
        )
    return curve.probability(np.arange(curve.certain_from + 1))


@dataclass(frozen=True)
class _Shape:
    """The closed form: A(j) up to the turn, 1 − A(end − j) after it, A(x) = d·(e^(x·e) − 1)/(e^e − 1)."""

    rate: float
    """e minus the slack."""
    start: float
    """d/(e^e − 1), with d minus the slack."""
    turn: int
    """The last j on the rising branch."""
    end: float
    """Where 1 − π reaches 0; a multiple of 1/4096."""
    corners: tuple[float, float]
    """The less likely outcome's probability at the turn and one after it: only there can a branch pass ½, where
    taking the complement would lose digits."""
    named: tuple[bool, bool]
    """Whether "named" is the likelier outcome there."""

    @classmethod
    def of(cls, share: Fraction, slip: Fraction) -> _Shape:
        """The curve for e = `share` and d = `slip`."""
        rate = float(share) - SLACK
        first = float(slip) * (1 - SLACK)
        with localcontext() as context:  # to 80 digits, so that rounding decides no tie
            context.prec = 80
            e, d, one = Decimal(rate), Decimal(first), Decimal(1)
            growth = e.exp() - one

            def rise(x: Decimal) -> Decimal:  # A
                return d * ((x * e).exp() - one) / growth

            def reach(value: Decimal) -> Decimal:  # the inverse of A
                return (value * growth / d + one).ln() / e

            turn = int(reach((one - d) / (growth + 2))) + 1
            last = rise(Decimal(turn))
            # The optimal next step leaves A(x) with A(x + 1) = 1 − A(turn); x is rounded up, never down.
            x = ((reach(one - last) - one) * _GRID).to_integral_value(rounding="ROUND_CEILING") / _GRID
            left = max(rise(x), Decimal(0))
            return cls(
                rate,
                float(d / growth),
                turn,
                turn + 1 + float(x),
                (float(min(last, one - last)), float(min(left, one - left))),
                (last > one - last, left < one - left),
            )

    def coins(self, users: NDArray[np.int64]) -> tuple[Reals, NDArray[np.bool_]]:
        """The less likely outcome's probability and whether the other one is "named", for each j."""
        # Clipped first: beyond either end the result is constant, and differences stay exact.
        inside = np.clip(users, 0, self.turn + 2 + int(np.ceil(self.end)))
        named = inside > self.turn
        distance = np.where(named, np.maximum(self.end - inside, 0.0), inside)
        corner = (inside == self.turn, inside == self.turn + 1)
        distance[corner[0] | corner[1]] = 0.0
        tail = self.start * np.expm1(distance * self.rate)
        for at, value, likelier in zip(corner, self.corners, self.named, strict=True):
            tail[at] = value
            named[at] = likelier
        return tail, named


def _whole_numbers(users: NDArray[np.integer]) -> NDArray[np.int64]:
    given = np.asarray(users)
    if given.size and given.dtype.kind not in "iu":
        raise ParameterError(
            f"of type {given.dtype} must be integers.",
            parameter="users_above_threshold",
            example=f"{_CALL}.probability(np.array([10, 200]))",
        )
    # Counts beyond 64 bits do not occur, and far beyond the end of the curve all counts are equivalent.
    wide = given.astype(np.uint64 if given.dtype.kind == "u" else np.int64)  # narrower types cannot hold 2^62
    return np.minimum(wide, 2**62).astype(np.int64)


def _shown(budget: Number) -> object:
    """A part of a budget as messages show it."""
    return float(budget) if isinstance(budget, Fraction) else budget
