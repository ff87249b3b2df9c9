"""Checks of the crossing from private to public: nothing gets across but noisy numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.audit.mutation.check import check
from locentropy.audit.mutation.predictable import PredictableNoise
from locentropy.audit.recording import crowd_queries
from locentropy.audit.subjects import at_defaults
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Locations
from locentropy.mechanisms.limit_ptr import LimitPTR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.audit.recording import Crowd

    Integers = NDArray[np.int64]

_DENSE: Final[list[Crowd]] = [{1: 900, 3: 40}, {2: 400}, {5: 300}] * 4
_THIN: Final[list[Crowd]] = [{1: 70}, {}, {4: 60}] * 4
"""Two towns that nobody could take for one another, at the same places."""


class Drowned:
    """`Noise` so large that nothing is left of the values: the same answers whatever is asked about."""

    private = False

    def __init__(self) -> None:
        self._asked = 0

    def laplace(self, values: Integers, scale: float) -> Integers:
        """Numbers that have nothing to do with the values."""
        return self._answer(values)

    def laplace_each(self, values: Integers, scales: NDArray[np.float64]) -> Integers:
        """The same."""
        return self._answer(values)

    def bernoulli_each(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Coins that never come up."""
        return np.zeros(np.shape(probabilities), dtype=np.bool_)

    def _answer(self, values: Integers) -> Integers:
        self._asked += 1
        steps = np.arange(np.size(values), dtype=np.int64).reshape(np.shape(values))
        return (steps * 7_919 + self._asked * 104_729) % 5_000_000 + 2_000_000


@check("what is published is computed from noisy numbers alone")
def from_noise() -> list[str]:
    """When noise has drowned everything, two towns that differ in everything look the same."""
    wrong = []
    for name in ("shares", "moments", "baseline", "limit", "limit-ss"):
        tables = [_published(at_defaults(name).holder, crowds) for crowds in (_DENSE, _THIN)]
        if not tables[0].equals(tables[1]):
            wrong.append(f"{name} publishes something of the data beside the noisy numbers")
    return wrong


def _published(mechanism: Any, crowds: list[Crowd]) -> Any:
    queries = crowd_queries(crowds)
    return mechanism.estimate(queries, Locations(queries.locations), Drowned()).to_arrow()


@check("withheld places are not named")
def withheld() -> list[str]:
    """Without a public list, a place that is not selected is not there, not even without a number."""
    shown = LimitPTR(1.0, 1e-8, 5, 5, 50).estimate(
        crowd_queries([{1: 3}, {1: 5000}]), None, PredictableNoise()
    )
    named = shown.locations.to_pylist()
    return [] if named == ["000001"] else [f"{len(named)} places are named, of which one may be"]


@check("no promise where there is none")
def honest() -> list[str]:
    """Predictable noise is never private, and Limit-CB promises nothing, whatever the noise."""
    wrong = []
    for name in ("shares", "moments", "limit", "limit-ss", "limit-ptr"):
        queries = crowd_queries(_DENSE)
        shown = at_defaults(name).holder.estimate(queries, Locations(queries.locations), PredictableNoise())
        if shown.private:
            wrong.append(f"{name} calls predictable noise private")
    blended = at_defaults("limit-cb").holder
    if blended.guarantee.private:
        wrong.append("limit-cb promises privacy")
    try:
        type(blended)(1.0, 5, 5, 50)
        wrong.append("limit-cb can be had without accepting that it promises nothing")
    except ParameterError:
        pass
    return wrong
