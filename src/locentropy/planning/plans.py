"""A plan: what is to be published, its guarantee, and the error to expect; from public numbers alone.

Nothing here takes or opens data. So a plan may be shown to anybody, and who approves it decides on the same numbers as
who runs it. That includes the noise of Limit-SS as a function of n, which no release may show at the data's n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from locentropy.core.attributes import COORDINATES, check_attribute_names
from locentropy.core.errors import ParameterError
from locentropy.core.html import plain_text
from locentropy.core.levels import NO_LEVELS, check_levels
from locentropy.core.public_columns import check_publish_columns
from locentropy.mechanisms.base import require_mechanism
from locentropy.mechanisms.expected_error import Supposed
from locentropy.mechanisms.level_parts import concentrated_sum, divided
from locentropy.mechanisms.parameters import read_parameters, warn_of_large_delta
from locentropy.mechanisms.select import SelectLocations
from locentropy.planning import plan_checks
from locentropy.planning.plan_checks import CALL, CELLS, CELLS_CALL, LocationsKind
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

_SERIES = 'plan(Shares(epsilon=4.0, delta=1e-6), period="month", periods=24)'
_TUPLE = "plan(Shares(epsilon=1.0), selection=(0.2, 1e-8, 20))"


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
    publish_columns: tuple[str, ...] | None = ()
    """Columns of the list that are published, and that nothing else names; None if the plan file is of a version that
    did not say, and published all of them."""

    def __post_init__(self) -> None:
        require_mechanism(self.mechanism, CALL)
        plan_checks.check_locations(self)
        plan_checks.check_numbers(self)
        object.__setattr__(self, "levels", check_levels(self.levels))
        plan_checks.check_levels(self)
        plan_checks.check_guesses(self)
        object.__setattr__(self, "attributes", check_attribute_names(self.attributes))
        plan_checks.check_attributes(self)
        plan_checks.check_group(self)
        plan_checks.check_columns(self)
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
    publish_columns: Sequence[str] = (),
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
    publish_columns
        Further columns of the public list that readers are to see, such as ["opening_year"].
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
    require_mechanism(mechanism, CALL)
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
        publish_columns=check_publish_columns(publish_columns),
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
            "must be a kind of places, or the cells of a map.", parameter="locations", example=CELLS_CALL
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
