"""What a plan must be: each check raises ParameterError, names the parameter and shows a call that works.

A plan is checked before anything is read, from its own numbers alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from locentropy.core.attributes import check_cell_attributes
from locentropy.core.checks import check_choice, check_whole
from locentropy.core.errors import ParameterError
from locentropy.core.levels import PLACE
from locentropy.core.public_columns import check_column_names, why_no_column
from locentropy.mechanisms.level_parts import divided

if TYPE_CHECKING:
    from locentropy.planning.plans import Plan

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

CALL: Final = "plan(Shares(epsilon=1.0), n_locations=14_058)"
CELLS_CALL: Final = (
    "plan(Shares(epsilon=1.0), locations=H3Cells(resolution=9, within=(40.70, -74.03, 40.80, -73.92)))"
)
_WITH_USERS = "plan(Shares(epsilon=1.0), n_locations=14_058, n_users=10_000, locations_per_user=8)"
_GRIDDED = 'plan(Shares(epsilon=1.0), locations="grid")'
_SELECTING = "plan(Shares(epsilon=1.0), selection=SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20))"
_LEANING = 'plan(Shares(epsilon=1.0), attributes=["category"])'
_GROUPED = 'plan(Shares(epsilon=1.0), group="district")'
_SHOWING = 'plan(Shares(epsilon=1.0), publish_columns=["category"])'
_LEVELLED = 'plan(Shares(epsilon=1.0), levels=["place", "district", "city"])'
_SIZED = 'plan(Shares(epsilon=1.0), levels=["place", "district", "all"], level_sizes=[14_058, 20, 1])'
_GUESSING = "plan(Moments(epsilon=1.0, max_locations=5, max_visits=5), users_per_location=[1, 5, 50])"


def check_locations(plan: Plan) -> None:
    """Raise unless the kind of places fits the mechanism, the selection and the cells."""
    name = plan.mechanism.name
    check_choice(_GRIDDED, "locations", plan.locations, get_args(LocationsKind))
    if plan.cells is not None and (
        plan.locations not in CELLS
        or not isinstance(plan.cells, str)
        or not 0 < len(plan.cells) <= MAX_CELLS_TEXT
    ):
        raise ParameterError(
            f"describes the cells of a map, in at most {MAX_CELLS_TEXT} characters.",
            parameter="cells",
            example=CELLS_CALL,
        )
    if (plan.locations == "selection") != (plan.selection is not None):
        raise ParameterError(
            "Selecting places takes a budget of its own, and only selecting does.", example=_SELECTING
        )
    if plan.selection is not None and plan.mechanism.selects_locations:
        raise ParameterError(
            f"{name} chooses places by itself; a selection before it would be paid for nothing. Leave it out."
        )
    if plan.locations == "by-mechanism" and not plan.mechanism.selects_locations:
        raise ParameterError(
            f"{name} needs a list of places: public-list, grid, or selection.", example=_SELECTING
        )


def check_numbers(plan: Plan) -> None:
    """Raise unless the number of locations is one, and guesses about them are not too many."""
    if plan.n_locations is not None:
        check_whole(CALL, "n_locations", plan.n_locations, 1, 2**40)
    if len(plan.users_per_location) > MOST_SIZES:
        raise ParameterError(
            f"must be at most {MOST_SIZES:,} numbers.", parameter="users_per_location", example=_GUESSING
        )


def check_levels(plan: Plan) -> None:
    """Raise unless the levels, if any, are those of a public list, and the budget can be divided among them."""
    if not plan.levels:
        return
    if plan.locations != "public-list":
        raise ParameterError(
            f"are columns of a public list. {_WITHOUT_LIST[plan.locations]}",
            parameter="levels",
            example=_LEVELLED,
        )
    if plan.group is not None:
        raise ParameterError(
            "names one level, and levels several. Leave it out.", parameter="group", example=_LEVELLED
        )
    if plan.attributes and PLACE not in plan.levels:
        raise ParameterError(
            f"tell about places, and no level is '{PLACE}'. Leave them out, or add that level.",
            parameter="attributes",
            example=_LEVELLED,
        )
    if len(plan.level_sizes) not in (0, len(plan.levels.names)):
        raise ParameterError("must have one number for each level.", parameter="level_sizes", example=_SIZED)
    for size in plan.level_sizes:
        check_whole(_SIZED, "level_sizes", size, 1, 2**40)
    # Raises for a budget that cannot be divided, also where parts will be known only later.
    divided(plan.mechanism, plan.levels, plan.level_sizes or [1] * len(plan.levels.names))


def check_guesses(plan: Plan) -> None:
    """Raise for a guess that would tell nothing about this mechanism."""
    most = getattr(plan.mechanism, "max_users", None) or 2**31 - 1
    guess, name = plan.expected.guess, plan.mechanism.name
    if plan.users_per_location and guess != "users_per_location":
        raise ParameterError(
            f"tells nothing about {name}, whose error at a place depends on all places together; the number of "
            "users does."
            if guess == "n_users"
            else f"tells nothing about {name}. Leave it out.",
            parameter="users_per_location",
            example=_WITH_USERS if guess == "n_users" else CALL,
        )
    for parameter, number in (("n_users", plan.n_users), ("locations_per_user", plan.locations_per_user)):
        if number is not None and guess == "users_per_location":
            raise ParameterError(
                f"tells nothing about {name}; the number of users at a place does.",
                parameter=parameter,
                example=_GUESSING,
            )
        if number is not None:
            check_whole(_WITH_USERS, parameter, number, 1, most)
    for users in plan.users_per_location:
        check_whole(_GUESSING, "users_per_location", users, 0, most)


def check_attributes(plan: Plan) -> None:
    """Raise for attributes that there are none of, or that the mechanism does not use."""
    if not plan.attributes:
        return
    if plan.locations in CELLS:
        check_cell_attributes(plan.attributes, _GRIDDED)
    elif plan.locations != "public-list":
        raise ParameterError(
            f"are columns of a public list. {_WITHOUT_LIST[plan.locations]}",
            parameter="attributes",
            example=_LEANING,
        )
    if not plan.mechanism.uses_attributes:
        raise ParameterError(
            f"tell nothing to {plan.mechanism.name}, which uses none, and a release names only what was used. "
            "Leave them out, or use a mechanism that does.",
            parameter="attributes",
            example=_LEANING,
        )


def check_group(plan: Plan) -> None:
    """Raise unless the groups, if any, are those of a public list."""
    if plan.group is None:
        return
    if not isinstance(plan.group, str) or (reason := why_no_column(plan.group)) is not None:
        raise ParameterError(
            f"must be a column of the public list{'' if not isinstance(plan.group, str) else f'; {reason}'}.",
            parameter="group",
            example=_GROUPED,
        )
    if plan.locations != "public-list":
        raise ParameterError(
            f"is a column of a public list. {_WITHOUT_LIST[plan.locations]}",
            parameter="group",
            example=_GROUPED,
        )


def check_columns(plan: Plan) -> None:
    """Raise unless the columns to publish, if any, are those of a public list, and can be columns of a release."""
    if not plan.publish_columns:
        return
    if plan.locations != "public-list":
        raise ParameterError(
            f"are columns of a public list. {_WITHOUT_LIST[plan.locations]}",
            parameter="publish_columns",
            example=_SHOWING,
        )
    elsewhere = {*plan.attributes, plan.group, *plan.levels, "location", "name", "lat", "lon"}
    check_column_names([name for name in plan.publish_columns if name not in elsewhere], plan.attributes)
