"""A plan: what is to be published, what it promises, and what it will be worth; from public numbers alone.

Nothing here takes or opens data. So a plan may be shown to anybody, and whoever approves it decides on the same numbers
as whoever runs it. That includes the noise of Limit-SS as a function of n, which no release may show at the data's n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from locentropy.core.checks import check_whole
from locentropy.core.errors import ParameterError
from locentropy.mechanisms.limit_cb import LimitCB
from locentropy.mechanisms.limit_ptr import LimitPTR
from locentropy.mechanisms.registry import described, read_parameters
from locentropy.mechanisms.select_locations import SelectLocations
from locentropy.mechanisms.shares import Shares
from locentropy.planning.outlook import SIZES, Outlook, Row
from locentropy.planning.shares_outlook import SharesOutlook

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locentropy.mechanisms.mechanism import Mechanism
    from locentropy.privacy.guarantee import Guarantee

Places = Literal["public-list", "grid", "selection", "by-mechanism"]
"""Where the list of places comes from: a public file, a public grid, private selection before the mechanism, or the
mechanism itself (Limit-PTR privately, Limit-CB without protection)."""

LONGEST_WORDS = 1000
MOST_SIZES = 1000

_CALL = "plan(Shares(epsilon=1.0), locations=14_058)"
_SELECTING = "plan(Shares(epsilon=1.0), selection=(0.2, 1e-8, 20))"
_GUESSING = "plan(Moments(epsilon=1.0, max_locations=5, max_visits=5), users_per_location=[1, 5, 50])"


@dataclass(frozen=True)
class Words:
    """What the owner of the data says about the release. One line each; all may be left out."""

    title: str | None = None
    """What it is called."""
    curator: str | None = None
    """Who answers for it."""
    purpose: str | None = None
    """What it is for."""

    def __post_init__(self) -> None:
        for name in ("title", "curator", "purpose"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, str)
                and value.isprintable()
                and value == value.strip()
                and 0 < len(value) <= LONGEST_WORDS
            ):
                raise ParameterError(
                    f"{name} must be one line of text of at most {LONGEST_WORDS} characters. "
                    f'For example: {name}="Popularity of venues, spring"'
                )

    def given(self) -> dict[str, str]:
        """Those that were not left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Plan:
    """A release that was thought through but not made. Built by `plan`, or read from a plan file."""

    mechanism: Mechanism
    """What computes the values."""
    places: Places
    """Where the list of places comes from."""
    selection: SelectLocations | None = None
    """How places are selected, where `places` is "selection"."""
    locations: int | None = None
    """How many places there are, if that is known."""
    users_per_location: tuple[int, ...] = ()
    """A guess of how many users count at a place; each number stands for an equal share of the places. Not for
    Shares, whose error at a place depends on all places together."""
    words: Words = field(default_factory=Words)
    """The owner's words."""
    people: int | None = None
    """About how many people there are, if that is known; for Shares."""

    def __post_init__(self) -> None:
        self._check_places()
        if self.locations is not None:
            check_whole(_CALL, "locations", self.locations, 1, 2**40)
        if len(self.users_per_location) > MOST_SIZES:
            raise ParameterError(f"users_per_location must be at most {MOST_SIZES:,} numbers.")
        self._check_guesses()
        most = getattr(self.mechanism, "max_users", None) or 2**31 - 1
        for users in self.users_per_location:
            check_whole(_GUESSING, "users_per_location", users, 0, most)
        _ = self.guarantee  # refuses parts whose δ add up to nothing

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the whole release promises: the mechanism, and the selection before it."""
        promise = self.mechanism.guarantee
        if self.selection is None:
            return promise
        return self.selection.followed_by(promise)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """What to expect, by number of users; none for Shares, see `shares`."""
        return () if self.shares is not None else self.outlook.rows(SIZES)

    @cached_property
    def useful_from(self) -> int | None:
        """The number of users from which on places are useful, and published at least every other time."""
        return None if self.shares is not None else self.outlook.useful_from()

    @cached_property
    def share_useful(self) -> float | None:
        """The share of places expected to be published and useful; None without a guess of their users."""
        return self.outlook.share_useful(self.users_per_location) if self.users_per_location else None

    @property
    def noise_scale(self) -> float | None:
        """The scale of the noise on an entropy in nats; None for Limit-SS and Moments, where it depends on n, and
        for Shares, whose noise is on other sums."""
        return None if self.shares is not None else self.outlook.noise_scale

    @property
    def outlook(self) -> Outlook:
        """The numbers behind the rows, at any number of users."""
        return Outlook(self.mechanism, self.selection)

    @cached_property
    def shares(self) -> SharesOutlook | None:
        """What to expect of Shares, by how many people there are; None for other mechanisms."""
        if not isinstance(self.mechanism, Shares):
            return None
        return SharesOutlook(self.mechanism, self.selection, self.locations, self.people)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What numbers alone do not tell."""
        from locentropy.planning.telling import counted

        if self.shares is not None:
            return tuple(self.shares.warnings)
        mechanism: Any = self.mechanism
        told = [
            "Bounding comes before any noise, and biases: nobody counts with more than "
            f"{counted(mechanism.max_visits, 'visit')} in each of {counted(mechanism.max_locations, 'place')}. The "
            "errors are about the entropy of what is left; how far that is from the true one, only data can tell."
        ]
        if not self.guarantee.private:
            told.append("Nothing is promised to anybody. Do not publish this.")
        if all(row.verdict in ("worse than a guess", "never published") for row in self.rows):
            told.append(
                "At no size shown is a value better than a guess. Raise epsilon, or bound people more."
            )
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Everything the plan says, for machines; budgets as exact decimal texts."""
        from locentropy.planning.telling import as_dict

        return as_dict(self)

    def __str__(self) -> str:
        from locentropy.planning.telling import as_text

        return as_text(self)

    def to_yaml(self, path: str | Path) -> None:
        """Write a plan file, which appears whole or not at all."""
        from locentropy.planning.plan_file import write

        write(self, path)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Plan:
        """The plan of a plan file; refuses whatever it does not know."""
        from locentropy.planning.plan_file import read

        return read(path)

    def _check_guesses(self) -> None:
        """Refuse a guess that would tell nothing about this mechanism."""
        name, _ = described(self.mechanism)
        if self.shares is not None and self.users_per_location:
            raise ParameterError(
                "users_per_location tells nothing about shares, whose error at a place depends on all places "
                f"together; people does. A correct call: {_CALL[:-1]}, people=10_000)"
            )
        if self.shares is None and self.people is not None:
            raise ParameterError(
                f"people tells nothing about {name}; users_per_location does. A correct call: {_GUESSING}"
            )
        if self.people is not None:
            most = getattr(self.mechanism, "max_users", None) or 2**31 - 1
            check_whole(f"{_CALL[:-1]}, people=10_000)", "people", self.people, 1, most)

    def _check_places(self) -> None:
        name, _ = described(self.mechanism)  # refuses what a plan file could not hold
        if self.places not in get_args(Places):
            raise ParameterError(
                f"places={self.places!r} is not one of {', '.join(get_args(Places))}. A correct call: {_CALL}"
            )
        if (self.places == "selection") != (self.selection is not None):
            raise ParameterError(
                "Selecting places takes a budget, and a selection budget is for places='selection' alone. "
                f"A correct call: {_SELECTING}"
            )
        if self.selection is not None and _chooses(self.mechanism):
            raise ParameterError(
                f"{name} chooses places by itself; a selection before it would be paid for nothing. Leave it out."
            )
        if self.places == "by-mechanism" and not _chooses(self.mechanism):
            raise ParameterError(
                f"{name} needs a list of places: public-list, grid, or selection. A correct call: {_SELECTING}"
            )


def plan(
    mechanism: Mechanism,
    *,
    locations: int | None = None,
    users_per_location: Sequence[int] | int | None = None,
    places: Places | None = None,
    selection: SelectLocations | tuple[Any, Any, Any] | None = None,
    words: Words | None = None,
    people: int | None = None,
) -> Plan:
    """What a release would promise and be worth. Reads no data; every number given here must be public.

    Guesses tell more: `people` is about how many people there are, for Shares; `users_per_location`, for the others, is
    one number for all places, or several that each stand for an equal share of them.
    `selection` is (epsilon, delta, max_locations) where no list of places is public.
    """
    if isinstance(selection, tuple):
        selection = _selection_of(selection)
    if places is None:
        places = "selection" if selection else "by-mechanism" if _chooses(mechanism) else "public-list"
    sizes = _sizes(users_per_location)
    return Plan(mechanism, places, selection, locations, sizes, words or Words(), people)


def _chooses(mechanism: Mechanism) -> bool:
    return isinstance(mechanism, LimitPTR | LimitCB)


def _selection_of(parts: tuple[Any, ...]) -> SelectLocations:
    names = ("epsilon", "delta", "max_locations")
    if len(parts) != len(names):
        raise ParameterError(f"selection={parts!r} must be (epsilon, delta, max_locations). {_SELECTING}")
    return SelectLocations(**read_parameters(dict(zip(names, parts, strict=True))))


def _sizes(users_per_location: Any) -> tuple[int, ...]:
    """One number or several, as a tuple; `Plan` refuses what is no whole number."""
    if users_per_location is None:
        return ()
    several = isinstance(users_per_location, Iterable) and not isinstance(users_per_location, str)
    return tuple(users_per_location) if several else (users_per_location,)
