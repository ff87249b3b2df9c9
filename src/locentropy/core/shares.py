"""How the presence of a user is divided among the user's locations, in integers.

Everyone has one unit. A user who was at m locations, with weights t₁, …, t_m there (a public table says what a number
of visits weighs), has at the i-th of them the share

    norm "l1"   min(largest, ⌊unit·tᵢ/Σt⌋)     the shares add up to at most `unit`
    norm "l2"   min(largest, ⌊unit·tᵢ/N⌋)      with N the smallest integer for which N² ≥ Σt²:
                                                the squares of the shares add up to at most unit²

Shares depend on the user's own rows only. So sums of shares, each row added to one entry of an answer, move by at most
`unit` in ℓ₁ ("l1", and then in ℓ₂ as well). Under "l2" this holds in ℓ₂, and only if no two rows of a user are added to
the same entry: a sum over several locations moves by more. Nobody is truncated. Proof: docs/proofs/shares.md.

Ranges: no sum of shares exceeds unit · users: with unit = 2^20 they fit 64 bits for 2^43 users. Weights are at most
2^15 and a user has fewer than 2^31 locations, so Σt² is below 2^61, and N is at most 2^31.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from locentropy.core.checks import check_choice, check_whole
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

Norm = Literal["l1", "l2"]
"""The norm in which the shares of one user have at most the length `unit`."""

LARGEST_UNIT = 2**31
LARGEST_WEIGHT = 2**15
"""With these, every product and every sum of one user fits 64 bits."""
EQUAL = (1,)
"""The weights of equal shares, whatever the visits."""

_CALL = "ShareRule(unit=2**20, largest=2**20, weights=(2, 1))"


@dataclass(frozen=True)
class ShareRule:
    """A public rule that divides a user's unit among the user's locations."""

    unit: int
    """Q: the whole presence of a user."""
    largest: int
    """The most of it that a user has at one location."""
    weights: tuple[int, ...] = EQUAL
    """What 1, 2, … visits weigh; more visits than there are entries weigh as much as the last. A row of weight 0 has
    the share 0, and so has a user all of whose rows have."""
    norm: Norm = "l1"
    """Whether shares, or their squares, add up to at most those of one unit."""

    def __post_init__(self) -> None:
        check_whole(_CALL, "unit", self.unit, 1, LARGEST_UNIT)
        check_whole(_CALL, "largest", self.largest, 1, int(self.unit))
        check_choice(_CALL, "norm", self.norm, get_args(Norm))
        if not self.weights:
            raise ParameterError("must not be empty.", parameter="weights", example=_CALL)
        for weight in self.weights:
            check_whole(_CALL, "weights", weight, 0, LARGEST_WEIGHT)

    @property
    def equal(self) -> bool:
        """Whether visits make no difference."""
        return set(self.weights) == {1}


def check_bands(bands: Integers, locations: int) -> int:
    """The number of bands; ParameterError unless each location has one of 0, 1, 2, …"""
    given = np.asarray(bands)
    if given.shape != (locations,) or given.dtype.kind != "i" or (given.size and given.min() < 0):
        raise ParameterError("bands must be a whole number from 0 for each of the locations.")
    return int(given.max(initial=0)) + 1


def check_thresholds(name: str, thresholds: Sequence[int]) -> None:
    """Raise ParameterError unless thresholds are integers in ascending order.

    k of them make k + 1 cells: cell 0 is below the first, cell j from threshold j − 1 up to, but without, threshold
    j, and the last cell is from the last threshold. So every number is in exactly one cell.
    """
    edges = np.asarray(thresholds, dtype=np.int64 if len(thresholds) == 0 else None)
    if edges.ndim != 1 or edges.dtype.kind != "i" or (edges[1:] <= edges[:-1]).any():
        raise ParameterError(f"{name} must be integers in ascending order. For example: (2, 3, 5, 9)")
