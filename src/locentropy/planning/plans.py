"""A plan: what is to be published, its guarantee, and the error to expect; from public numbers alone.

Nothing here takes or opens data. So a plan may be shown to anybody, and who approves it decides on the same numbers as
who runs it. That includes the noise of Limit-SS as a function of n, which no release may show at the data's n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from locentropy.core.attributes import COORDINATES, check_attribute_names, check_cell_attributes
from locentropy.core.checks import check_choice, check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.html import plain_text
from locentropy.core.levels import NO_LEVELS, PLACE, check_levels
from locentropy.core.public_columns import why_no_column
from locentropy.mechanisms.base import require_mechanism
from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.level_parts import concentrated_sum, divided
from locentropy.mechanisms.parameters import read_parameters, warn_of_large_delta
from locentropy.mechanisms.select import SelectLocations
from locentropy.planning.schedule import scheduled
from locentropy.privacy.guarantee import PublicInput
from locentropy.privacy.strength import LARGEST_EPSILON, is_large
from locentropy.privacy.units import Unit, check_unit
from locentropy.release.error_rule import check_has_errors, check_max_std_error
from locentropy.release.statement import About

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from locentropy.core.levels import Levels
    from locentropy.core.locations import Cells
    from locentropy.core.window_split import Period
    from locentropy.ledger.accounts import Composition
    from locentropy.mechanisms.base import Mechanism
    from locentropy.mechanisms.expected_error import ExpectedError
    from locentropy.planning.level_outlook import LevelOutlook
    from locentropy.planning.schedule import Schedule
    from locentropy.privacy.guarantee import Guarantee, Number

CELLS: Final = ("grid", "zones", "h3", "inspire")
LocationsKind = Literal["public-list", "grid", "zones", "h3", "inspire", "selection", "by-mechanism"]
"""Where the list of locations comes from: a public file, cells of a public map, private selection before the
mechanism, or the mechanism itself (Limit-PTR privately, Limit-CB without protection)."""

MOST_SIZES = 1000
MAX_CELLS_TEXT: Final = 1000

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
_SERIES = 'plan(Shares(epsilon=4.0, delta=1e-6), period="month", periods=24)'
_GRIDDED = 'plan(Shares(epsilon=1.0), locations="grid")'
_SELECTING = "plan(Shares(epsilon=1.0), selection=SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20))"
_TUPLE = "plan(Shares(epsilon=1.0), selection=(0.2, 1e-8, 20))"
_LEANING = 'plan(Shares(epsilon=1.0), attributes=["category"])'
_GROUPED = 'plan(Shares(epsilon=1.0), group="district")'
_LEVELLED = 'plan(Shares(epsilon=1.0), levels=["place", "district", "city"])'
_CELLS_CALL = (
    "plan(Shares(epsilon=1.0), locations=H3Cells(resolution=9, within=(40.70, -74.03, 40.80, -73.92)))"
)
_SIZED = 'plan(Shares(epsilon=1.0), levels=["place", "district", "all"], level_sizes=[14_058, 20, 1])'
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
    levels: Levels = NO_LEVELS
    """Several levels of the list in one release, the main one first; numbers such as `n_locations` are about that."""
    level_sizes: tuple[int, ...] = ()
    """How many locations each level has, if that is known."""
    cells: str | None = None
    """Which cells, as a release describes them: by the map, the resolution or the side, and the region."""
    unit: Unit = "person"
    """Of the ledger that will pay: "person", or per day, week or month."""
    schedule: Schedule | None = None
    """A release in every period, of which this is one; `mechanism` is that of each."""

    def __post_init__(self) -> None:
        require_mechanism(self.mechanism, _CALL)
        self._check_locations()
        if self.n_locations is not None:
            check_whole(_CALL, "n_locations", self.n_locations, 1, 2**40)
        if len(self.users_per_location) > MOST_SIZES:
            raise ParameterError(
                f"must be at most {MOST_SIZES:,} numbers.", parameter="users_per_location", example=_GUESSING
            )
        self._check_levels()
        self._check_guesses()
        self._check_attributes()
        self._check_group()
        check_unit(self.unit)
        object.__setattr__(self, "max_std_error", check_max_std_error(self.max_std_error))
        if self.max_std_error is not None:
            check_has_errors(self.mechanism.method, self.mechanism.name)
        _ = self.guarantee  # raises for parts whose δ add up to 1 or more
        if self.schedule is not None:
            # Where the parts of levels follow from a list that is not read yet, the ledger will see what they cost.
            known = self.guarantee if self.level_mechanisms or not self.levels else self.mechanism.guarantee
            self.schedule.check(known, self.unit)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: the mechanism, and the selection before it."""
        own = self.mechanism.guarantee
        if self.levels:  # `divided` has checked that the parts, once they are known, add up to the whole
            own = replace(own, public_inputs=(*own.public_inputs, levels_input(self.levels)))
        if self.attributes:
            of = "cells" if self.locations in CELLS else "list"
            own = replace(own, public_inputs=(*own.public_inputs, attributes_input(self.attributes, of)))
        if self.group is not None:
            own = replace(own, public_inputs=(*own.public_inputs, groups_input(self.group)))
        whole = own if self.selection is None else self.selection.followed_by(own)
        if self.levels:
            # Each level has Gaussian noise for its own part of ε and δ, and the ρ of the whole is the sum of theirs.
            # Where parts follow from a list that is not read yet, it is not known; `Request.charged` has it then.
            whole = replace(whole, **concentrated_sum(list(self.level_mechanisms.values())))
        return whole.for_unit(self.unit)

    @cached_property
    def level_mechanisms(self) -> dict[str, Mechanism]:
        """The mechanism of each level at its part of the budget; none if there are no levels, or parts are not known.

        Parts follow from the numbers of locations, unless the owner divided ε.
        """
        if not self.levels.epsilons and not self.level_sizes:
            return {}
        return divided(self.mechanism, self.levels, self.level_sizes) if self.levels else {}

    @cached_property
    def expected(self) -> ExpectedError:
        """The error to expect; at the main level and its part of ε, if there are several and parts are known."""
        mechanism = next(iter(self.level_mechanisms.values()), self.mechanism)
        return mechanism.expected_error(
            Supposed(
                self.n_locations,
                self.n_users,
                self.users_per_location,
                self.selection,
                self.locations_per_user,
            )
        )

    @property
    def level_outlooks(self) -> tuple[LevelOutlook, ...]:
        """What each level gets of the budget and is worth; none if there are no levels."""
        from locentropy.planning.level_outlook import level_outlooks

        return level_outlooks(self.level_mechanisms, self.level_sizes, self.n_locations, self.n_users)

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

    def _repr_html_(self) -> str:
        return plain_text(str(self))

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
        if self.locations in CELLS:
            check_cell_attributes(self.attributes, _GRIDDED)
        elif self.locations != "public-list":
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

    def _check_levels(self) -> None:
        """Raise unless the levels, if any, are those of a public list, and the budget can be divided among them."""
        object.__setattr__(self, "levels", check_levels(self.levels))
        if not self.levels:
            return
        if self.locations != "public-list":
            raise ParameterError(
                f"are columns of a public list. {_WITHOUT_LIST[self.locations]}",
                parameter="levels",
                example=_LEVELLED,
            )
        if self.group is not None:
            raise ParameterError(
                "names one level, and levels several. Leave it out.", parameter="group", example=_LEVELLED
            )
        if self.attributes and PLACE not in self.levels:
            raise ParameterError(
                f"tell about places, and no level is '{PLACE}'. Leave them out, or add that level.",
                parameter="attributes",
                example=_LEVELLED,
            )
        if len(self.level_sizes) not in (0, len(self.levels.names)):
            raise ParameterError(
                "must have one number for each level.", parameter="level_sizes", example=_SIZED
            )
        for size in self.level_sizes:
            check_whole(_SIZED, "level_sizes", size, 1, 2**40)
        # Raises for a budget that cannot be divided, also where parts will be known only later.
        divided(self.mechanism, self.levels, self.level_sizes or [1] * len(self.levels.names))

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
        if self.cells is not None and (
            self.locations not in CELLS
            or not isinstance(self.cells, str)
            or not 0 < len(self.cells) <= MAX_CELLS_TEXT
        ):
            raise ParameterError(
                f"describes the cells of a map, in at most {MAX_CELLS_TEXT} characters.",
                parameter="cells",
                example=_CELLS_CALL,
            )
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
    locations: LocationsKind | Cells | None = None,
    selection: SelectLocations | tuple[Any, Any, Any] | None = None,
    about: About | None = None,
    attributes: Sequence[str] | None = None,
    max_std_error: float | None = None,
    locations_per_user: int | None = None,
    group: str | None = None,
    levels: Levels | Sequence[str] | Mapping[str, Number] = NO_LEVELS,
    level_sizes: Sequence[int] = (),
    unit: Unit = "person",
    period: Period | None = None,
    periods: int | None = None,
    composition: Composition | None = None,
    zone: str | None = None,
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
        "by-mechanism". Follows from the rest if it is not given. Or the cells themselves, such as `Zones(…)`: then the
        plan says which they are, and how many.
    selection
        How locations are selected where no list is public: a `SelectLocations`, or (epsilon, delta, max_locations).
    about
        The owner's words, for the plan file.
    attributes
        Columns of the public list that the mechanism is to use, such as ["category"]; "coordinates" for where places
        are. If not given, none of a list, and coordinates of cells for mechanisms that use attributes.
    max_std_error
        Places with a larger standard error, in nats, get no value.
    locations_per_user
        How many listed locations a typical user visits; for Shares.
    group
        The public column of the list by which places are grouped, such as "district". Then the locations are the
        groups, and the numbers given here are about groups.
    levels
        Several levels of the list in one release, the main one first, such as ["place", "district", "city"], or the
        part of ε of each. The other numbers given here are about the main level.
    level_sizes
        How many locations each level has: a public rule divides ε by them, unless `levels` says the parts.
    unit
        "person"; or "person-day", "person-week", "person-month", for a release about a window inside one of these that
        a ledger with this unit pays for.
    period
        "day", "week" or "month": a release about each, window by window. The numbers given here are about one of them.
    periods
        How many. Then ε and δ of the mechanism are those of all of them together, for somebody who is always in the
        data, and the plan has the mechanism of each.
    composition
        With `periods`: how the ledger counts, "sum" or "concentrated"; the latter if there is a δ.
    zone
        With `period`: the time zone of the windows, such as "Europe/Berlin".
    """
    require_mechanism(mechanism, _CALL)
    schedule = None
    if period is not None:
        schedule, mechanism = scheduled(mechanism, period, periods, composition, zone)
    elif (periods, composition, zone) != (None, None, None):
        raise ParameterError("is needed for a plan of several releases.", parameter="period", example=_SERIES)
    if isinstance(selection, tuple):
        selection = _selection_of(selection)
    kind, cells = _kind_and_cells(locations)
    if cells is not None:
        n_locations = n_locations or len(cells.locations())
    if kind is None:
        kind = "selection" if selection else "by-mechanism" if mechanism.selects_locations else "public-list"
    if attributes is None and kind in CELLS and mechanism.uses_attributes:
        attributes = (COORDINATES,) if cells is None else cells.attributes
    sizes = _sizes(users_per_location)
    made = Plan(
        mechanism,
        kind,
        selection,
        n_locations,
        sizes,
        about or About(),
        n_users,
        () if attributes is None else attributes,  # type: ignore[arg-type]  # made a tuple by Plan
        max_std_error,
        locations_per_user,
        group,
        check_levels(levels),
        tuple(level_sizes),
        cells=None if cells is None else cells.described,
        unit=unit,
        schedule=schedule,
    )
    if selection is not None:
        _warn_of_sum(made, selection)
    return made


def _kind_and_cells(locations: LocationsKind | Cells | None) -> tuple[LocationsKind | None, Cells | None]:
    """The kind of places, and the cells if they are given themselves."""
    if locations is None or isinstance(locations, str):
        return locations, None
    from locentropy.core.locations import Cells  # slow to load, and most plans name the kind

    if not isinstance(locations, Cells):
        raise ParameterError(
            "must be a kind of places, or the cells of a map.", parameter="locations", example=_CELLS_CALL
        )
    return locations.kind, locations  # type: ignore[return-value]  # checked by Plan


def attributes_input(attributes: Sequence[str], of: str = "list") -> PublicInput:
    """What a guarantee takes as public about attributes, of the list or of cells."""
    was = "were" if of == "cells" else "was"
    return PublicInput(
        "attributes", f"{', '.join(attributes)}, of the {of}, which {was} not made from the visits"
    )


def groups_input(group: str) -> PublicInput:
    """What a guarantee takes as public about groups."""
    return PublicInput("group", f"places are grouped by their {group}, of the list, not made from the visits")


def levels_input(levels: Levels) -> PublicInput:
    """What a guarantee takes as public about levels."""
    return PublicInput(
        "levels", f"{', '.join(levels)}, by columns of the list, which was not made from the visits"
    )


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
