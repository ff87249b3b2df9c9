"""What to expect of Shares, from public numbers: a rule of thumb, taken from measurements.

Every person has one unit of presence, so a listed place has people/locations units on average, under noise of about
1/ε. Their ratio, the *signal* ε·people/locations, is public, and tells how much of the spread of the true entropies
is left as error: all of it when the signal is far below one (then one number for all places would do as well), little
when it is far above. Between data sets of the same signal this varies, so the rule gives the range of what was
measured at a similar one, and says that it does not know where nothing was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

SHORT_LIST: Final = 10
"""Shares learns from the other places how to read one; it was measured on lists of this length and more."""

TYPICAL_SPREAD: Final = 1.3
"""Nats: the standard deviation of the true entropies over the places of the data sets below was 0.93 to 2.13."""

SIMILAR: Final = 3.0
"""Measurements within this factor of the signal are taken as similar."""

HARDLY: Final = 0.9
"""Where at least this share of the spread (of its variance) is left, one number for all places is about as good."""

TOO_THIN: Final = (
    "The data is too thin for so many places at this ε: values would hardly be better than one number for all places. "
    "Take fewer and larger places (districts, a coarser grid), or gather more people; a larger ε weakens the promise."
)


@dataclass(frozen=True)
class Measured:
    """The mean squared error of Shares on one data set, beside that of the best constant."""

    data: str
    people: int
    locations: int
    epsilon: float
    error: float
    constant: float

    @property
    def signal(self) -> float:
        """ε·people/locations."""
        return self.epsilon * self.people / self.locations

    @property
    def left(self) -> float:
        """The share of the spread that is left as error; 1 is as good as a constant."""
        return min(1.0, self.error / self.constant)


MEASURED: Final = (
    *(
        Measured("Sparse", 100_000, 10_000, epsilon, error, 1.008)
        for epsilon, error in ((0.1, 0.711), (0.5, 0.294), (1, 0.191), (5, 0.08), (10, 0.056))
    ),
    *(
        Measured("Sparse, a million people", 1_000_000, 10_000, epsilon, error, 0.979)
        for epsilon, error in ((0.1, 0.19), (0.5, 0.038), (1, 0.026), (5, 0.017), (10, 0.012))
    ),
    *(
        Measured("Gowalla New York", 5_800, 14_058, epsilon, error, 0.861)
        for epsilon, error in ((0.1, 0.919), (0.5, 0.85), (1, 0.783), (5, 0.541), (10, 0.434))
    ),
    *(
        Measured("City", 20_000, 3_000, epsilon, error, 1.792)
        for epsilon, error in ((0.1, 1.567), (0.5, 0.744), (1, 0.46), (5, 0.155), (10, 0.098))
    ),
    *(
        Measured("City, clustered", 20_000, 3_000, epsilon, error, 2.249)
        for epsilon, error in ((0.1, 2.255), (0.5, 1.739), (1, 1.524), (5, 0.971), (10, 0.584))
    ),
    *(
        Measured("City, homes", 19_496, 3_000, epsilon, error, 4.536)
        for epsilon, error in ((0.1, 3.621), (0.5, 0.902), (1, 0.507), (5, 0.478), (10, 0.537))
    ),
    *(
        Measured("City, regulars", 19_936, 3_000, epsilon, error, 2.015)
        for epsilon, error in ((0.1, 1.74), (0.5, 0.985), (1, 0.746), (5, 0.419), (10, 0.345))
    ),
)
"""Mean squared errors in nats² over all listed places, means of ten draws of noise: see `benchmarks/utility.py`."""


@dataclass(frozen=True)
class SharesExpectation:
    """The range of errors that was measured where the signal was similar."""

    signal: float
    low: float
    """Root mean squared error over all listed places, in nats, where it went well; about."""
    high: float
    """The same where it went less well."""
    hardly: bool
    """Whether one number for all places would be about as good."""

    @property
    def words(self) -> str:
        """The range, as it is shown."""
        low, high = f"{self.low:.2f}", f"{self.high:.2f}"
        return low if low == high else f"{low} to {high}"


def shares_expectation(epsilon: float, locations: int | None, people: int | None) -> SharesExpectation | None:
    """The rule of thumb; None where a number is missing or nothing similar was measured."""
    if locations is None or people is None:
        return None
    return expectation_at(float(epsilon) * people / locations)


def expectation_at(signal: float) -> SharesExpectation | None:
    """The rule of thumb at a signal; None where nothing similar was measured."""
    smallest, largest = (pick(each.signal for each in MEASURED) for pick in (min, max))
    if signal < smallest:  # the error of a constant is the worst there is
        return SharesExpectation(signal, TYPICAL_SPREAD, TYPICAL_SPREAD, hardly=True)
    similar = [each.left for each in MEASURED if 1 / SIMILAR <= each.signal / signal <= SIMILAR]
    if signal > largest * SIMILAR or not similar:
        return None
    low, high = (TYPICAL_SPREAD * math.sqrt(pick(similar)) for pick in (min, max))
    return SharesExpectation(signal, low, high, hardly=min(similar) >= HARDLY)


def shares_error(rule: SharesExpectation | None, people: int | None) -> list[str]:
    """The rule in sentences, or why there is none."""
    if rule is None:
        why = (
            "the number of people is not given" if people is None else "nothing like it has been measured yet"
        )
        return [f"Unknown: {why}. The error bars of the release itself will tell."]
    return [
        f"About {rule.words} nats (root mean square over all listed places): that was measured where the signal, "
        f"ε·people/places, was about {rule.signal:.3g} as here. A rule of thumb; where a few regulars make most "
        "visits, busy places come out worse.",
        "An error of 0.7 nats misses the number of equally loyal visitors by a factor of two.",
    ]
