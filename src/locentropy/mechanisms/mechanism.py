"""The contract of a mechanism: what it is given, what it promises, what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from locentropy.core.estimates import Estimates
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import Noise


class Mechanism(Protocol):
    """An algorithm that turns private counts into estimates, and says what that costs.

    Its parameters are public numbers; none is ever read off the data. One call of `estimate` spends the whole
    of `guarantee` once; two calls spend it twice.
    """

    @property
    def guarantee(self) -> Guarantee:
        """What one release promises, to whom, under which neighbours, and what it takes as public.

        It holds for the noise of `OpenDPNoise`; the estimates say whether that is what was used.
        """
        ...

    def estimate(self, queries: Queries, locations: Locations | None, noise: Noise) -> Estimates:
        """Ask, add noise, post-process.

        `queries` may be asked more than once, and what is asked may depend on what was already noised: the
        whole is then one adaptive composition, which `guarantee` covers. Nothing that was asked may steer a
        question before it was noised.

        `locations` is the public list, and must be the one that the queries were opened with: a user's
        visits are bounded after they were restricted to it. With a list, every location of it is in the
        result, in its order, withheld ones with a null. None is for mechanisms that select locations by themselves;
        withheld locations are then left out, for a null would tell that the data holds such a place.
        """
        ...
