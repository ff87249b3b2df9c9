"""What to expect of Shares, from public numbers: the range of errors over cities of many kinds.

How many people there are for each listed place, how many places a person visits, and the noise decide how much of the
spread of the true entropies is left as error. `bayes_risk.py` computes that for cities from even to steep; a plan tells
the range. It is a calculation about supposed cities, checked against measurements on others
(`benchmarks/expected_error.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from locentropy.core.number_format import nats
from locentropy.mechanisms.expected_error import USEFUL_BELOW, ExpectedError, named_from
from locentropy.mechanisms.shares.bayes_risk import LookNoise, family
from locentropy.mechanisms.shares.counts import VISIT_COUNTS, VISITOR_COUNTS
from locentropy.mechanisms.shares.measurements import LOOK, SIZES, SPLIT, UNIT, VISITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.mechanisms.expected_error import Supposed
    from locentropy.mechanisms.shares.measurements import ShareQueries
    from locentropy.mechanisms.shares.mechanism import Shares

SHORT_LIST: Final = 10
"""Shares learns from the other places how to read one; it was measured on lists of this length and more."""

HARDLY: Final = 0.9
"""Where at least this share of the spread (of its variance) is left, one number for all places is about as good."""

MODEL: Final = (0.7, 1.2)
"""What the range is widened by: laws of a city are learnt from noisy answers, and places scatter in other ways too."""

NOTICEABLE: Final = 0.05
"""A part by which one kind of noise must be better than the other to be recommended."""

USUAL_DELTA: Final = "1e-8"
"""What a plan without δ compares with."""

FEWEST_PEOPLE: Final = 1e-4
MOST_PEOPLE: Final = 1e8
"""For each place: beyond these nothing is told."""

TOO_THIN: Final = (
    "The data is too thin for so many places at this ε: values would hardly be better than one number for all places. "
    "Take fewer and larger places (districts, a coarser grid), or gather more people; a larger ε weakens the guarantee."
)


@dataclass(frozen=True)
class SharesExpectation:
    """The range of errors over cities of many kinds."""

    low: float
    """Root mean squared error over all listed places, in nats, where it goes well; about."""
    high: float
    """The same where it goes less well."""
    hardly: bool
    """Whether one number for all places would be about as good."""
    busy: float | None = None
    """The same for places with at least 100 visitors, in the middle of such cities; None where there are hardly any."""

    @property
    def words(self) -> str:
        """The range, as it is shown."""
        low, high = f"{self.low:.2f}", f"{self.high:.2f}"
        return low if low == high else f"{low} to {high}"

    @property
    def middle(self) -> float:
        """The geometric middle of the range."""
        return math.sqrt(self.low * self.high)


def expectation(
    queries: ShareQueries, people_per_location: float, locations_per_user: float | None = None
) -> SharesExpectation | None:
    """What to expect where there are so many people for each place; None where no such city is supposed."""
    if not FEWEST_PEOPLE <= people_per_location <= MOST_PEOPLE:
        return None
    risks = family(look_noise(queries), people_per_location, locations_per_user)
    low, high = (pick(math.sqrt(each.error) for each in risks) for pick in (min, max))
    hardly = min(each.error / each.spread for each in risks) >= HARDLY
    busy = [math.log(each.busy) / 2 for each in risks if each.busy > 0]  # in cities that have such places
    middle = math.exp(sum(busy) / len(busy)) if busy else None
    return SharesExpectation(MODEL[0] * low, MODEL[1] * high, hardly, middle)


def shares_expectation(queries: ShareQueries, supposed: Supposed) -> SharesExpectation | None:
    """What to expect of the people and places that were named; None where a number is missing."""
    if supposed.n_locations is None or supposed.n_users is None:
        return None
    return expectation(queries, supposed.n_users / supposed.n_locations, supposed.locations_per_user)


def look_noise(queries: ShareQueries) -> LookNoise:
    """The noise on the presence at a place."""
    return LookNoise(queries.noise, queries.scales[LOOK] / UNIT, float(queries.cap))


def delta_pays(pure: SharesExpectation | None, gaussian: SharesExpectation | None) -> str:
    """Whether Gaussian noise is worth its δ, in a sentence."""
    meaning = "δ comes on top of what ε allows: choose it far below one over the number of people."
    if pure is None or gaussian is None:
        return (
            "noise of another kind, which is smaller where people visit many places; its guarantee has a δ. "
            f"{meaning}"
        )
    told = f"errors of about {gaussian.words} nats"
    ratios = [gaussian.middle / pure.middle]
    if gaussian.busy is not None and pure.busy is not None:
        told += (
            f", and at places of 100 visitors and more about {gaussian.busy:.2f} instead of {pure.busy:.2f}"
        )
        ratios.append(gaussian.busy / pure.busy)
    better, worse = min(ratios) < 1 - NOTICEABLE, max(ratios) > 1 + NOTICEABLE
    if better and worse:
        return f"{told}: a δ pays for some places and not for others. {meaning}"
    if better:
        return f"{told}, for a guarantee with a δ. {meaning}"
    return f"{told}: a δ {'does not pay' if worse else 'hardly pays'} here."


def shares_error(rule: SharesExpectation | None, supposed: Supposed) -> list[str]:
    """The range in sentences, or why there is none."""
    if rule is None:
        why = (
            "the number of people is not given"
            if supposed.n_users is None
            else "there are too few or too many people for each place"
        )
        return [f"Unknown: {why}. The error bars of the release itself will tell."]
    known = (
        "how many places a person visits is not given"
        if supposed.locations_per_user is None
        else f"a person visits about {supposed.locations_per_user:,} places"
    )
    return [
        f"About {rule.words} nats (root mean square over all listed places), from cities with even to cities with "
        f"steep crowds, where {known}. Where a few regulars make most visits, busy places come out worse; public "
        "attributes of places that tell busy from quiet ones make it better.",
        "An error of 0.7 nats misses the number of equally loyal visitors by a factor of two.",
    ]


PER_PLACE: Final = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""People for each listed place that a plan shows."""

SUMMED_UP: Final = (0.1, 1.0, 10.0, 100.0)
"""People for each place that a manifest tells errors for."""

ASSUMED: Final = (
    "These errors are computed for supposed cities. Shares reads each place by what all places together are like: "
    "where visitors of some places are unlike those of others, those places come out worse."
)

Verdict = Literal["useful", "rough", "as one number for all", "unknown"]


@dataclass(frozen=True)
class PeopleRow:
    """What to expect where there are so many people for each place."""

    per_place: float
    """People divided by places."""
    people: int | None
    """People in all, where the number of places is known."""
    expected: SharesExpectation | None
    """The errors to expect; None where no such city is supposed."""

    @property
    def verdict(self) -> Verdict:
        """The row in a word."""
        if self.expected is None:
            return "unknown"
        if self.expected.hardly:
            return "as one number for all"
        return "useful" if self.expected.high < USEFUL_BELOW else "rough"


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
    def noise_scales(self) -> dict[str, float]:
        """The scale of the noise of each query, in what one person can change it by at most."""
        return {name: scale / UNIT for name, scale in self.mechanism.share_queries.scales.items()}

    @property
    def noise(self) -> str:
        """The noise of the queries."""
        scales = self.noise_scales
        kind = "Gaussian" if self.mechanism.delta else "Laplace"
        return (
            f"Noise: {kind}, in units of what one person can change at most, on the presence at every place (scale "
            f"{nats(scales[LOOK])}), on presence by the number of places of a person ({nats(scales[SIZES])}) and by "
            f"visits ({nats(scales[VISITS])}), and on a second presence at places that stand clear of the noise "
            f"({nats(scales[SPLIT])}). Every value comes with its own error bar, computed from the noisy sums."
            f"{self._counts}"
        )

    @property
    def _counts(self) -> str:
        """The noise of counts, where there are some."""
        counting = self.mechanism.count_queries
        if counting is None:
            return ""
        spread, bounds = counting.deviations(), counting.bounds
        return (
            f" Counts, of each person at no more than {bounds.max_locations:,} places and with no more than "
            f"{bounds.max_visits:,} visits in each: the noise on visitors has a standard deviation of "
            f"{spread[VISITOR_COUNTS]:,.4g}, that on visits of {spread[VISIT_COUNTS]:,.4g}, at every place."
        )

    @property
    def rows(self) -> tuple[PeopleRow, ...]:
        """What to expect, by people for each place; people in all where that is a number there can be."""
        places, each_visits = self.supposed.n_locations, self.supposed.locations_per_user
        numbers = [(each, None if places is None else round(each * places)) for each in PER_PLACE]
        return tuple(
            PeopleRow(each, people, expectation(self.mechanism.share_queries, each, each_visits))
            for each, people in numbers
            if people is None or 1 <= people <= self.mechanism.max_users
        )

    @property
    def expected(self) -> SharesExpectation | None:
        """What to expect of the people and places that were named; None where a number is missing."""
        return shares_expectation(self.mechanism.share_queries, self.supposed)

    def in_series(self, periods: Sequence[int]) -> dict[int, tuple[float, float]]:
        """The range over cities whose places move as the smoother supposes, or more than that."""
        from locentropy.mechanisms.shares.series_risk import kept_at_most, parts_left

        alone, supposed = self.expected, self.supposed
        if alone is None or supposed.n_locations is None or supposed.n_users is None:
            return {}
        look, people = look_noise(self.mechanism.share_queries), supposed.n_users / supposed.n_locations
        left = parts_left(look, people, supposed.locations_per_user, max(periods))
        risks = family(look, people, supposed.locations_per_user)
        found = {}
        for period in periods:
            parts = [left[each.width][period - 1] for each in risks]
            low = min(each.after(part) for each, part in zip(risks, parts, strict=True))
            high = max(each.after(kept_at_most(part)) for each, part in zip(risks, parts, strict=True))
            found[period] = (MODEL[0] * math.sqrt(low), MODEL[1] * math.sqrt(high))
        return found

    @property
    def usefulness(self) -> str:
        """The expected error in words, and which places are named."""
        supposed = self.supposed
        if supposed.selection is not None:
            return (
                f"{named_from(supposed.selection)} How large the errors are: unknown, because the number of selected "
                "places is."
            )
        asked = {"places (--n-locations)": supposed.n_locations, "people (--n-users)": supposed.n_users}
        missing = [name for name, number in asked.items() if number is None]
        if missing:
            unknown = " and of ".join(missing)
            return f"Which row it is depends on the number of {unknown}: locentropy plan takes a guess."
        told = shares_error(self.expected, supposed)[0]
        return " ".join([f"Expected error: {told[0].lower()}{told[1:]}", *self._other_noise])

    @property
    def _other_noise(self) -> tuple[str, ...]:
        """What the other kind of noise would give."""
        other = replace(self.mechanism.share_queries, delta=0 if self.mechanism.delta else USUAL_DELTA)
        ours, theirs = self.expected, shares_expectation(other, self.supposed)
        if ours is None or theirs is None:
            return ()
        if other.delta:
            return (f"With delta={USUAL_DELTA}: {delta_pays(ours, theirs)}",)
        return (f"Without a δ it would be about {theirs.words} nats.",)

    @property
    def summary(self) -> str:
        """The noise, and the errors to expect."""
        found = {
            each: expectation(self.mechanism.share_queries, each, self.supposed.locations_per_user)
            for each in SUMMED_UP
        }
        errors = "; ".join(f"{each:g}: {told.words}" for each, told in found.items() if told is not None)
        return (
            f"{self.noise} Root mean squared error over all places, in nats, computed for supposed cities, by a "
            f"supposed number of people for each place: {errors}."
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
            "Values are useful if the error, root mean square over all places, is below "
            f"{USEFUL_BELOW} nats in all supposed cities; one number for all places would be as good where hardly any "
            "of the spread between places can be seen."
        )

    @property
    def _counts_in_numbers(self) -> dict[str, Any]:
        counting = self.mechanism.count_queries
        return {} if counting is None else {"count_deviations": dict(counting.deviations())}

    def to_dict(self) -> dict[str, Any]:
        """Noise scales, deviations of counts if there are any, and rows by people."""
        return {
            "known": True,
            "noise_scales": self.noise_scales,
            **self._counts_in_numbers,
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
