"""What to expect of Shares, by how many people there are for a place.

Its error at one place depends on all the others, so there is no table by the users of a place as for the mechanisms
that bound. What tells is how many people there are for each listed place, and ε; see `shares_expectation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from locentropy.mechanisms.shares.asking import TABLE, UNIT
from locentropy.planning.outlook import USEFUL_BELOW, named_from
from locentropy.planning.shares_expectation import (
    SHORT_LIST,
    TOO_THIN,
    expectation_at,
    shares_error,
    shares_expectation,
)
from locentropy.privacy.noise import laplace_scale

if TYPE_CHECKING:
    from locentropy.mechanisms.select_locations import SelectLocations
    from locentropy.mechanisms.shares import Shares
    from locentropy.planning.shares_expectation import SharesExpectation

PER_PLACE: Final = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""People for each listed place that a plan shows."""

SIGNALS: Final = (0.1, 1.0, 10.0, 100.0)
"""Values of ε·people/places that a manifest tells errors for."""

ASSUMED: Final = (
    "These errors were measured on other data. Shares reads each place by what all places together are like: where "
    "visitors of some places are unlike those of others, those places come out worse."
)

USEFUL: Final = (
    f"Values are useful if the error that was measured at a similar ε·people/places, root mean square over all places, "
    f"was below {USEFUL_BELOW} nats everywhere; one number for all places would be as good where hardly any of the "
    "spread between places was left to see."
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
class SharesOutlook:
    """Shares, seen by how many people there are."""

    mechanism: Shares
    selection: SelectLocations | None
    locations: int | None
    people: int | None

    @cached_property
    def noise(self) -> NoiseScales:
        """The scales."""
        budget = self.mechanism.questions.budget
        # A person adds at most about one unit of the table to a pair; its integers need an optimiser to be known.
        return NoiseScales(
            laplace_scale(UNIT, budget.look) / UNIT,
            laplace_scale(2 * UNIT, budget.profile) / UNIT,
            laplace_scale(UNIT * TABLE.unit, budget.split) / (UNIT * TABLE.unit),
        )

    @property
    def rows(self) -> tuple[PeopleRow, ...]:
        """What to expect, by people for each place; people in all where that is a number there can be."""
        epsilon, places = float(self.mechanism.epsilon), self.locations
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
        return shares_expectation(self.mechanism.epsilon, self.locations, self.people)

    @property
    def sentences(self) -> list[str]:
        """The expected error in words, and which places are named."""
        if self.selection is not None:
            return [
                named_from(self.selection),
                "How large the errors are: unknown, because the number of selected places is.",
            ]
        missing = [
            name for name, number in (("places", self.locations), ("people", self.people)) if number is None
        ]
        if missing:
            return [f"The number of {' and of '.join(missing)} would tell which row it is."]
        told = shares_error(self.expected, self.people)[0]
        return [f"Expected error: {told[0].lower()}{told[1:]}"]

    @property
    def warnings(self) -> list[str]:
        """What numbers alone do not tell."""
        told = [ASSUMED]
        if self.expected is not None and self.expected.hardly:
            told.append(TOO_THIN)
        if self.locations is not None and self.locations < SHORT_LIST:
            told.append(
                f"From fewer than {SHORT_LIST} places Shares learns little about how values are spread. Consider "
                "moments, which reads each place by its own counts."
            )
        return told


def errors_by_signal() -> str:
    """The errors that were measured, by ε·people/places."""
    found = {signal: expectation_at(signal) for signal in SIGNALS}
    return "; ".join(f"{signal:g}: {each.words}" for signal, each in found.items() if each is not None)
