"""A plan: what is to be published, its guarantee, and the error to expect; from public numbers alone.

Nothing here takes or opens data. So a plan may be shown to anybody, and who approves it decides on the same numbers as
who runs it. That includes the noise of Limit-SS as a function of n, which no release may show at the data's n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from locentropy.core.attributes import check_attribute_names
from locentropy.core.checks import check_choice, check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.public_columns import why_no_column
from locentropy.mechanisms.base import require_mechanism
from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.parameters import read_parameters, warn_of_large_delta
from locentropy.mechanisms.select import SelectLocations
from locentropy.privacy.guarantee import PublicInput
from locentropy.privacy.strength import LARGEST_EPSILON, is_large
from locentropy.privacy.units import Unit, check_unit
from locentropy.release.error_rule import check_has_errors, check_max_std_error
from locentropy.release.statement import About

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.expected_error import ExpectedError
    from locentropy.privacy.guarantee import Guarantee

LocationsKind = Literal["public-list", "grid", "zones", "h3", "inspire", "selection", "by-mechanism"]
"""Where the list of locations comes from: a public file, cells of a public map, private selection before the
mechanism, or the mechanism itself (Limit-PTR privately, Limit-CB without protection)."""

MOST_SIZES = 1000

_WITHOUT_LIST: Final = {
    "grid": "The cells of a grid have no columns: nothing is known of them but where they are.",
    "zones": "The zones of a map have no columns that a mechanism uses.",
    "h3": "H3 cells have no columns: nothing is known of them but where they are.",
    "inspire": "INSPIRE squares have no columns: nothing is known of them but where they are.",
    "selection": "Where places are selected from the visits there is no list. If a public list has them, publish that "
    "list: it costs nothing, and a selection does.",
    "by-mechanism": "Where the mechanism chooses places from the visits there is no list. If a public list has them, "
    "use a mechanism that publishes that list.",
}

_CALL = "plan(Shares(epsilon=1.0), n_locations=14_058)"
_WITH_USERS = "plan(Shares(epsilon=1.0), n_locations=14_058, n_users=10_000, locations_per_user=8)"
_GRIDDED = 'plan(Shares(epsilon=1.0), locations="grid")'
_SELECTING = "plan(Shares(epsilon=1.0), selection=SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20))"
_TUPLE = "plan(Shares(epsilon=1.0), selection=(0.2, 1e-8, 20))"
_LEANING = 'plan(Shares(epsilon=1.0), attributes=["category"])'
_GROUPED = 'plan(Shares(epsilon=1.0), group="district")'
_GUESSING = "plan(Moments(epsilon=1.0, max_locations=5, max_visits=5), users_per_location=[1, 5, 50])"


@dataclass(frozen=True)
class Plan:
    """A release that is planned and not made. Built by `plan`, or read from a plan file."""

    mechanism: Mechanism
    """What computes the values."""
    locations: LocationsKind
    """Where the list of locations comes from."""
    selection: SelectLocations | None = None
    """How locations are selected, where `locations` is "selection"."""
    n_locations: int | None = None
    """How many locations there are, if that is known."""
    users_per_location: tuple[int, ...] = ()
    """A guess of how many users count at a location; each number stands for an equal share of the locations. Not for
    Shares, whose error at a location depends on all locations together."""
    about: About = field(default_factory=About)
    """The owner's words."""
    n_users: int | None = None
    """About how many users there are, if that is known; for Shares."""
    attributes: tuple[str, ...] = ()
    """Public attributes of the list that the mechanism uses, such as `("category",)`."""
    max_std_error: float | None = None
    """Places with a larger standard error, in nats, get no value; None for no such rule."""
    locations_per_user: int | None = None
    """How many listed locations a typical user visits, if that is known; for Shares."""
    group: str | None = None
    """The public column of the list by which places are grouped, such as "district"; then groups are the locations."""
    unit: Unit = "person"
    """Of the ledger that will pay: "person", or per day, week or month."""

    def __post_init__(self) -> None:
        require_mechanism(self.mechanism, _CALL)
        self._check_locations()
        if self.n_locations is not None:
            check_whole(_CALL, "n_locations", self.n_locations, 1, 2**40)
        if len(self.users_per_location) > MOST_SIZES:
            raise ParameterError(
                f"must be at most {MOST_SIZES:,} numbers.", parameter="users_per_location", example=_GUESSING
            )
        self._check_guesses()
        self._check_attributes()
        self._check_group()
        check_unit(self.unit)
        object.__setattr__(self, "max_std_error", check_max_std_error(self.max_std_error))
        if self.max_std_error is not None:
            check_has_errors(self.mechanism.method, self.mechanism.name)
        _ = self.guarantee  # raises for parts whose δ add up to 1 or more

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: the mechanism, and the selection before it."""
        own = self.mechanism.guarantee
        if self.attributes:
            own = replace(own, public_inputs=(*own.public_inputs, attributes_input(self.attributes)))
        if self.group is not None:
            own = replace(own, public_inputs=(*own.public_inputs, groups_input(self.group)))
        whole = own if self.selection is None else self.selection.followed_by(own)
        return whole.for_unit(self.unit)

    @cached_property
    def expected(self) -> ExpectedError:
        """The error to expect."""
        return self.mechanism.expected_error(
            Supposed(
                self.n_locations,
                self.n_users,
                self.users_per_location,
                self.selection,
                self.locations_per_user,
            )
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know beyond the numbers."""
        if not is_large(self.guarantee.epsilon):
            return self.expected.warnings
        large = (
            f"ε is above {LARGEST_EPSILON}: it hides hardly anything about one person, and is published only with "
            "large_epsilon=True (--large-epsilon)."
        )
        return (large, *self.expected.warnings)

    def to_dict(self) -> dict[str, Any]:
        """Everything the plan says, for machines; budgets as exact decimal texts."""
        from locentropy.planning.plan_text import as_dict

        return as_dict(self)

    def __str__(self) -> str:
        from locentropy.planning.plan_text import as_text

        return as_text(self)

    def to_yaml(self, path: str | Path) -> None:
        """Write a plan file, which appears whole or not at all."""
        from locentropy.planning.plan_file import write

        write(self, path)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Plan:
        """Read a plan file; raises ParameterError for anything that it does not know."""
        from locentropy.planning.plan_file import read

        return read(path)

    def _check_guesses(self) -> None:
        """Raise for a guess that would tell nothing about this mechanism."""
        most = getattr(self.mechanism, "max_users", None) or 2**31 - 1
        guess, name = self.expected.guess, self.mechanism.name
        if self.users_per_location and guess != "users_per_location":
            raise ParameterError(
                f"tells nothing about {name}, whose error at a place depends on all places together; the number of "
                "users does."
                if guess == "n_users"
                else f"tells nothing about {name}. Leave it out.",
                parameter="users_per_location",
                example=_WITH_USERS if guess == "n_users" else _CALL,
            )
        for parameter, number in (("n_users", self.n_users), ("locations_per_user", self.locations_per_user)):
            if number is not None and guess == "users_per_location":
                raise ParameterError(
                    f"tells nothing about {name}; the number of users at a place does.",
                    parameter=parameter,
                    example=_GUESSING,
                )
            if number is not None:
                check_whole(_WITH_USERS, parameter, number, 1, most)
        for users in self.users_per_location:
            check_whole(_GUESSING, "users_per_location", users, 0, most)

    def _check_attributes(self) -> None:
        """Raise for attributes that there are none of, or that the mechanism does not use."""
        object.__setattr__(self, "attributes", check_attribute_names(self.attributes))
        if not self.attributes:
            return
        if self.locations != "public-list":
            raise ParameterError(
                f"are columns of a public list. {_WITHOUT_LIST[self.locations]}",
                parameter="attributes",
                example=_LEANING,
            )
        if not self.mechanism.uses_attributes:
            raise ParameterError(
                f"tell nothing to {self.mechanism.name}, which uses none, and a release names only what was used. "
                "Leave them out, or use a mechanism that does.",
                parameter="attributes",
                example=_LEANING,
            )

    def _check_group(self) -> None:
        """Raise unless the groups, if any, are those of a public list."""
        if self.group is None:
            return
        if not isinstance(self.group, str) or (reason := why_no_column(self.group)) is not None:
            raise ParameterError(
                f"must be a column of the public list{'' if not isinstance(self.group, str) else f'; {reason}'}.",
                parameter="group",
                example=_GROUPED,
            )
        if self.locations != "public-list":
            raise ParameterError(
                f"is a column of a public list. {_WITHOUT_LIST[self.locations]}",
                parameter="group",
                example=_GROUPED,
            )

    def _check_locations(self) -> None:
        name = self.mechanism.name
        check_choice(_GRIDDED, "locations", self.locations, get_args(LocationsKind))
        if (self.locations == "selection") != (self.selection is not None):
            raise ParameterError(
                "Selecting places takes a budget of its own, and only selecting does.", example=_SELECTING
            )
        if self.selection is not None and self.mechanism.selects_locations:
            raise ParameterError(
                f"{name} chooses places by itself; a selection before it would be paid for nothing. Leave it out."
            )
        if self.locations == "by-mechanism" and not self.mechanism.selects_locations:
            raise ParameterError(
                f"{name} needs a list of places: public-list, grid, or selection.", example=_SELECTING
            )


def plan(
    mechanism: Mechanism,
    *,
    n_locations: int | None = None,
    n_users: int | None = None,
    users_per_location: Sequence[int] | int | None = None,
    locations: LocationsKind | None = None,
    selection: SelectLocations | tuple[Any, Any, Any] | None = None,
    about: About | None = None,
    attributes: Sequence[str] = (),
    max_std_error: float | None = None,
    locations_per_user: int | None = None,
    group: str | None = None,
    unit: Unit = "person",
) -> Plan:
    """Plan a release: its guarantee and the error to expect. Reads no data; all numbers given here must be public.

    Parameters
    ----------
    mechanism
        What would compute the values, such as `Shares(epsilon=1.0)`.
    n_locations
        The length of the list of locations, if it is known.
    n_users
        About how many users there are; for Shares.
    users_per_location
        How many users count at a location, for the mechanisms that bound users: one number for all locations, or
        several that each stand for an equal share of them.
    locations
        Where the list comes from: "public-list", "grid", "zones", "h3", "inspire", "selection" or
        "by-mechanism". Follows from the rest if it is not given.
    selection
        How locations are selected where no list is public: a `SelectLocations`, or (epsilon, delta, max_locations).
    about
        The owner's words, for the plan file.
    attributes
        Columns of the public list that the mechanism is to use, such as ["category"]; "coordinates" for where places
        are.
    max_std_error
        Places with a larger standard error, in nats, get no value.
    locations_per_user
        How many listed locations a typical user visits; for Shares.
    group
        The public column of the list by which places are grouped, such as "district". Then the locations are the
        groups, and the numbers given here are about groups.
    unit
        "person"; or "person-day", "person-week", "person-month", for a release about a window inside one of these that
        a ledger with this unit pays for.
    """
    require_mechanism(mechanism, _CALL)
    if isinstance(selection, tuple):
        selection = _selection_of(selection)
    if locations is None:
        locations = (
            "selection" if selection else "by-mechanism" if mechanism.selects_locations else "public-list"
        )
    sizes = _sizes(users_per_location)
    made = Plan(
        mechanism,
        locations,
        selection,
        n_locations,
        sizes,
        about or About(),
        n_users,
        attributes,  # type: ignore[arg-type]  # made a tuple by Plan
        max_std_error,
        locations_per_user,
        group,
        unit,
    )
    if selection is not None:
        _warn_of_sum(made, selection)
    return made


def attributes_input(attributes: Sequence[str]) -> PublicInput:
    """What a guarantee takes as public about attributes."""
    return PublicInput(
        "attributes", f"{', '.join(attributes)}, of the list, which was not made from the visits"
    )


def groups_input(group: str) -> PublicInput:
    """What a guarantee takes as public about groups."""
    return PublicInput("group", f"places are grouped by their {group}, of the list, not made from the visits")


def _warn_of_sum(made: Plan, selection: SelectLocations) -> None:
    """Warn of a δ that is too large for the number of users, if no part has warned of its own.

    A selection may not know that number, and the δ of both add up.
    """
    parts = [
        (getattr(part, "delta", 0), users)
        for part in (made.mechanism, selection)
        if (users := _stated_users(part)) is not None
    ]
    if parts and not any(delta * users > 1 for delta, users in parts):
        warn_of_large_delta(float(made.guarantee.delta), max(users for _, users in parts), stacklevel=4)


def _stated_users(part: Any) -> int | None:
    """The bound on the number of users that the caller gave; a default says nothing about how many there are."""
    usual = {field.name: field.default for field in fields(part)}.get("max_users")
    users: int | None = getattr(part, "max_users", None)
    return None if users == usual else users


def _selection_of(parts: tuple[Any, ...]) -> SelectLocations:
    names = ("epsilon", "delta", "max_locations")
    if len(parts) != len(names):
        raise ParameterError(
            "must be (epsilon, delta, max_locations).", parameter="selection", value=parts, example=_TUPLE
        )
    return SelectLocations(**read_parameters(SelectLocations, dict(zip(names, parts, strict=True))))


def _sizes(users_per_location: Any) -> tuple[int, ...]:
    """One number or several, as a tuple; `Plan` refuses what is no whole number."""
    if users_per_location is None:
        return ()
    several = isinstance(users_per_location, Iterable) and not isinstance(users_per_location, str)
    return tuple(users_per_location) if several else (users_per_location,)
