"""What to expect of Shares, from public numbers: a rule of thumb, taken from measurements.

Every person has one unit of presence, so a listed place has people/locations units on average, under noise of about
1/ε. Their ratio, the *signal* ε·people/locations, is public, and tells how much of the spread of the true entropies
is left as error: all of it when the signal is far below one (then one number for all places would do as well), little
when it is far above. Between data sets of the same signal this varies, so the rule gives the range of what was
measured at a similar one, and says that it does not know where nothing was.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from locentropy.core.number_format import nats
from locentropy.mechanisms.expected_error import USEFUL_BELOW, ExpectedError, named_from
from locentropy.mechanisms.shares.measurements import TABLE, UNIT
from locentropy.privacy.noise import laplace_scale

if TYPE_CHECKING:
    from locentropy.mechanisms.expected_error import Supposed
    from locentropy.mechanisms.shares.mechanism import Shares

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
    "Take fewer and larger places (districts, a coarser grid), or gather more people; a larger ε weakens the guarantee."
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


def shares_expectation(
    epsilon: float, n_locations: int | None, n_users: int | None
) -> SharesExpectation | None:
    """The rule of thumb; None where a number is missing or nothing similar was measured."""
    if n_locations is None or n_users is None:
        return None
    return expectation_at(float(epsilon) * n_users / n_locations)


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


def shares_error(rule: SharesExpectation | None, n_users: int | None) -> list[str]:
    """The rule in sentences, or why there is none."""
    if rule is None:
        why = (
            "the number of people is not given"
            if n_users is None
            else "nothing like it has been measured yet"
        )
        return [f"Unknown: {why}. The error bars of the release itself will tell."]
    return [
        f"About {rule.words} nats (root mean square over all listed places): that was measured where the signal, "
        f"ε·people/places, was about {rule.signal:.3g} as here. A rule of thumb; where a few regulars make most "
        "visits, busy places come out worse.",
        "An error of 0.7 nats misses the number of equally loyal visitors by a factor of two.",
    ]


PER_PLACE: Final = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""People for each listed place that a plan shows."""

SIGNALS: Final = (0.1, 1.0, 10.0, 100.0)
"""Values of ε·people/places that a manifest tells errors for."""

ASSUMED: Final = (
    "These errors were measured on other data. Shares reads each place by what all places together are like: where "
    "visitors of some places are unlike those of others, those places come out worse."
)

Verdict = Literal["useful", "rough", "as one number for all", "not measured"]


@dataclass(frozen=True)
class PeopleRow:
    """What to expect where there are so many people for each place."""

    per_place: float
    """People divided by places."""
    people: int | None
    """People in all, where the number of places is known."""
    expected: SharesExpectation | None
    """The errors that were measured at a similar signal; None where nothing was."""

    @property
    def verdict(self) -> Verdict:
        """The row in a word."""
        if self.expected is None:
            return "not measured"
        if self.expected.hardly:
            return "as one number for all"
        return "useful" if self.expected.high < USEFUL_BELOW else "rough"


@dataclass(frozen=True)
class NoiseScales:
    """The noise of the three queries: scales of Laplace noise, in what one person can change a sum by at most."""

    presence: float
    """On the presence at every place."""
    habits: float
    """On each cell of two histograms of all presence: by places and by visits of a person."""
    split: float
    """On each of two sums at every place, which tell how its visits are split."""


@dataclass(frozen=True)
class SharesError(ExpectedError):
    """The error of Shares, by how many people there are for each place.

    Its error at one place depends on all the others, so there is no table by the users of a place as for the
    mechanisms that bound. What tells is how many people there are for each listed place, and ε.
    """

    mechanism: Shares
    supposed: Supposed

    guess = "n_users"
    headings = ("people", "expected error (nats)")

    @cached_property
    def noise_scales(self) -> NoiseScales:
        """The scales."""
        budget = self.mechanism.share_queries.budget
        # A person adds at most about one unit of the table to a pair; its integers need an optimiser to be known.
        return NoiseScales(
            laplace_scale(UNIT, budget.look) / UNIT,
            laplace_scale(2 * UNIT, budget.profile) / UNIT,
            laplace_scale(UNIT * TABLE.unit, budget.split) / (UNIT * TABLE.unit),
        )

    @property
    def noise(self) -> str:
        """The noise of the three queries."""
        scales = self.noise_scales
        return (
            "Noise: Laplace, in units of what one person can change at most, on the presence at every place (scale "
            f"{nats(scales.presence)}), on two histograms of all presence ({nats(scales.habits)}) and on how the "
            f"visits of every place are split ({nats(scales.split)}). Every value comes with its own error bar, "
            "computed from the noisy sums."
        )

    @property
    def rows(self) -> tuple[PeopleRow, ...]:
        """What to expect, by people for each place; people in all where that is a number there can be."""
        epsilon, places = float(self.mechanism.epsilon), self.supposed.n_locations
        if places is None:
            return tuple(PeopleRow(each, None, expectation_at(epsilon * each)) for each in PER_PLACE)
        numbers = [(each, round(each * places)) for each in PER_PLACE]
        return tuple(
            PeopleRow(each, people, expectation_at(epsilon * people / places))
            for each, people in numbers
            if 1 <= people <= self.mechanism.max_users
        )

    @property
    def expected(self) -> SharesExpectation | None:
        """What to expect of the people and places that were named; None where a number is missing."""
        return shares_expectation(self.mechanism.epsilon, self.supposed.n_locations, self.supposed.n_users)

    @property
    def usefulness(self) -> str:
        """The expected error in words, and which places are named."""
        supposed = self.supposed
        if supposed.selection is not None:
            return (
                f"{named_from(supposed.selection)} How large the errors are: unknown, because the number of selected "
                "places is."
            )
        missing = [
            name
            for name, number in (("places", supposed.n_locations), ("people", supposed.n_users))
            if number is None
        ]
        if missing:
            return f"The number of {' and of '.join(missing)} would tell which row it is."
        told = shares_error(self.expected, supposed.n_users)[0]
        return f"Expected error: {told[0].lower()}{told[1:]}"

    @property
    def summary(self) -> str:
        """The noise, and the errors that were measured on other data."""
        found = {signal: expectation_at(signal) for signal in SIGNALS}
        errors = "; ".join(f"{signal:g}: {each.words}" for signal, each in found.items() if each is not None)
        return (
            f"{self.noise} Root mean squared error over all places, in nats, as measured on other data, by a supposed "
            f"number of people, as ε·people/places: {errors}."
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """That the errors rest on an assumption, and whether the data is too thin for it."""
        told = [ASSUMED]
        if self.expected is not None and self.expected.hardly:
            told.append(TOO_THIN)
        if self.supposed.n_locations is not None and self.supposed.n_locations < SHORT_LIST:
            told.append(short_list_warning())
        return tuple(told)

    @property
    def table(self) -> list[list[str]]:
        """A row for each number of people."""
        return [
            [
                f"{row.per_place:,g} per place" if row.people is None else f"{row.people:,}",
                "—" if row.expected is None else row.expected.words,
                row.verdict,
            ]
            for row in self.rows
        ]

    @property
    def verdicts(self) -> str:
        """What useful means."""
        return (
            "Values are useful if the error that was measured at a similar ε·people/places, root mean square over all "
            f"places, was below {USEFUL_BELOW} nats everywhere; one number for all places would be as good where "
            "hardly any of the spread between places was left to see."
        )

    def to_dict(self) -> dict[str, Any]:
        """Noise scales, and rows by people."""
        return {
            "known": True,
            "noise_scales": asdict(self.noise_scales),
            "expected_error": _range(self.expected),
            "rows": [
                {
                    "n_users": row.people,
                    "users_per_location": row.per_place,
                    "error": _range(row.expected),
                    "verdict": row.verdict,
                }
                for row in self.rows
            ],
            "verdicts": self.verdicts,
        }


def short_list_warning() -> str:
    """What to know about a short list."""
    return (
        f"From fewer than {SHORT_LIST} places Shares learns little about how values are spread. Consider moments, "
        "which reads each place by its own counts."
    )


def _range(expected: SharesExpectation | None) -> list[float] | None:
    return None if expected is None else [expected.low, expected.high]
