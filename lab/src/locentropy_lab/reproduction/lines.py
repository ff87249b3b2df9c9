"""The lines of every comparison: the paper's algorithms as printed, the corrected ones, and what is added to them.

Values are cut to [0, ln N], as in the paper's experiments: N, the number of users, is public there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from locentropy.core.bounds import Bounds
from locentropy.evaluation.simulated_noise import SimulatedNoise
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.moments.mechanism import Moments
from locentropy.mechanisms.paper.limit import Limit
from locentropy.mechanisms.paper.limit_cb import LimitCB
from locentropy.mechanisms.paper.limit_ss import LimitSS
from locentropy.mechanisms.shares.mechanism import Shares
from locentropy_lab.reproduction import as_printed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.core.bounds import Keep
    from locentropy_lab.reproduction.counted import Counted, FirstM
    from locentropy_lab.reproduction.settings import Settings

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

PAPERS: Final = ("limit", "limit-ss", "limit-cb")
"""The paper's own."""
PRINTED: Final = tuple(f"{name}-as-printed" for name in PAPERS)
ADDED: Final = ("limit-ptr", "moments", "shares")
LINES: Final = (*PRINTED, *PAPERS, *ADDED)
CONSTANT: Final = "best constant"
"""One number for all places, the mean of the true entropies: what nothing published should be worse than."""

LABELS: Final = {
    "limit": "Limit",
    "limit-ss": "Limit-SS",
    "limit-cb": "Limit-CB",
    "limit-ptr": "Limit-PTR",
    "moments": "Moments",
    "shares": "Shares",
    "baseline": "Baseline",
    CONSTANT: "Best constant",
}


def label(name: str) -> str:
    """What a line is called in legends and sentences."""
    bare = name.removesuffix("-as-printed")
    return LABELS[bare] + (", as printed" if bare != name else "")


@dataclass(frozen=True)
class Point:
    """One choice of parameters."""

    epsilon: float
    max_locations: int
    max_visits: int
    min_users: int
    first_m: FirstM

    @classmethod
    def default(cls, settings: Settings, first_m: FirstM) -> Point:
        """The paper's defaults."""
        s = settings
        return cls(s.epsilon, s.max_locations, s.max_visits, s.min_users, first_m)


class Simulations:
    """Simulated releases of one data set."""

    def __init__(self, data: Counted, settings: Settings) -> None:
        self.data = data
        self._settings = settings
        self._shares: dict[tuple[float, int], Reals] = {}

    def bounds(self, point: Point) -> Bounds:
        """Of a point, with the rule for the first M."""
        return Bounds(point.max_locations, point.max_visits, self.data.keep(point.first_m))

    def crowded(self, point: Point) -> NDArray[np.bool_]:
        """The places that Limit-CB publishes: the paper's Throwaway."""
        return self.data.profile(self.bounds(point)).user_counts >= point.min_users

    def published(self, name: str, point: Point, seed: int) -> Reals | None:
        """What a line would publish, NaN where withheld; None where what the paper prints is infinite."""
        if name in PRINTED:
            return self._printed(name, point, seed)
        if name == "shares":  # has neither M nor C, so that all points of an ε share it
            if (point.epsilon, seed) not in self._shares:
                made = Shares(point.epsilon, max_users=self.data.users)
                self._shares[point.epsilon, seed] = self._estimated(made, seed)
            return self._shares[point.epsilon, seed]
        keep = self.data.keep(point.first_m)
        return self._estimated(_mechanism(name, point, keep, self.data.users, self._settings), seed)

    def _estimated(self, mechanism: Any, seed: int) -> Reals:
        entropy: Reals = mechanism.estimate(
            mechanism.measure(self.data, self.data.listed, SimulatedNoise(seed)), self.data.listed
        ).entropy
        return entropy

    def _printed(self, name: str, point: Point, seed: int) -> Reals | None:
        if point.max_visits < 2:
            return None
        profile = self.data.profile(self.bounds(point))
        users, published = profile.user_counts, np.array(True)
        bound = (point.epsilon, point.max_locations, point.max_visits)
        if name.startswith("limit-cb"):
            scale = as_printed.limit_cb_scale(*bound, point.min_users)
            published = users >= point.min_users
        elif name.startswith("limit-ss"):
            scale = printed_smooth_scales(users, *bound, self._settings)
        else:
            scale = np.array(as_printed.limit_scale(*bound))
        noisy = as_printed.noisy(profile.entropy, scale, seed, published).entropy
        return np.clip(noisy, 0.0, math.log(self.data.users))


@lru_cache(maxsize=256)
def _mechanism(name: str, point: Point, keep: Keep, users: int, settings: Settings) -> Any:
    """The corrected mechanism; kept, so that what it works out of its parameters is worked out once."""
    bound = {"max_locations": point.max_locations, "max_visits": point.max_visits}
    common: dict[str, Any] = {"keep": keep, "max_users": users, **bound}
    k = point.min_users
    if name == "limit":
        return Limit(point.epsilon, **common)
    if name == "limit-ss":
        return LimitSS(point.epsilon, delta=settings.delta, floor=settings.floor, **common)
    if name == "limit-cb":
        return LimitCB(point.epsilon, min_users=k, accept_no_guarantee=True, **common)
    if name == "limit-ptr":
        return LimitPTR(point.epsilon, delta=settings.delta, min_users=k, **common)
    return Moments(point.epsilon, **common)


def printed_smooth_scales(
    users: Integers, epsilon: float, max_locations: int, max_visits: int, settings: Settings
) -> Reals:
    """Noise scales of Limit-SS as printed, also for places of millions of users: far out they are at the floor."""
    smooth = _printed_smooth(max_visits, epsilon, settings.delta, settings.floor)
    return 2.0 * max_locations * smooth[np.minimum(users, len(smooth) - 1)] / epsilon


@lru_cache(maxsize=1024)
def _printed_smooth(max_visits: int, epsilon: float, delta: float, floor: float) -> Reals:
    """Algorithm 4 up to where it has reached ξ for good."""
    largest = 4 * max_visits
    while (smooth := as_printed.algorithm_4(max_visits, epsilon, delta, floor, largest))[-1] != floor:
        largest *= 4
    return smooth
