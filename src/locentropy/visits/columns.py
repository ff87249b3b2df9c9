"""Which column is what: the roles a column can play, and how usual names are recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Names are compared in lower case without punctuation: "Check-in time" and "checkin_time" are the same.
# Only names that leave no doubt are here; "id" or "count" could be anything, so they must be named.
USUAL_NAMES: Final[dict[str, frozenset[str]]] = {
    "user": frozenset(
        "user userid uid usr userno username person personid pid visitor visitorid member memberid customer "
        "customerid device deviceid subscriber subscriberid".split()
    ),
    "location": frozenset(
        "location locationid loc locid venue venueid place placeid poi poiid site siteid spot spotid".split()
    ),
    "time": frozenset(
        "time timestamp datetime date at when ts checkin checkintime checkinat checkintimestamp visittime "
        "visitedat starttime utctime utctimestamp eventtime createdat".split()
    ),
    "visits": frozenset("visits visitcount nvisits numvisits numberofvisits".split()),
    "lat": frozenset("lat latitude".split()),
    "lon": frozenset("lon lng long longitude".split()),
}

REQUIRED: Final = ("user", "location")
ROLES: Final = tuple(USUAL_NAMES)


class Recognise:
    """The default of every column option: look for a usual name."""

    def __repr__(self) -> str:
        return "RECOGNISE"


RECOGNISE: Final = Recognise()

Choice = str | None | Recognise
"""A column's name, None for "there is none, do not look", or RECOGNISE."""


@dataclass(frozen=True)
class Roles:
    """The column that plays each role; None where the table has none."""

    user: str
    location: str
    time: str | None = None
    visits: str | None = None
    lat: str | None = None
    lon: str | None = None

    def items(self) -> list[tuple[str, str]]:
        """(role, column) of the roles that are played."""
        played = ((role, getattr(self, role)) for role in ROLES)
        return [(role, column) for role, column in played if column is not None]


def plain(name: str) -> str:
    """A column name without case and punctuation."""
    return re.sub(r"[\W_]+", "", name).lower()


def resolve(choices: Mapping[str, Choice], columns: Sequence[str], source: str, hint: str = "") -> Roles:
    """The column of each role: the one chosen, else the only one with a usual name.

    `source` is how errors name the table, `hint` what they say where no column has a usual name.
    """
    named = {role: choice for role, choice in choices.items() if isinstance(choice, str)}
    for role, name in named.items():
        _must_exist(role, name, columns, source)
    _must_differ(named)
    free = [name for name in columns if name not in named.values()]
    found: dict[str, str | None] = dict(named)
    for role in ROLES:
        if isinstance(choices.get(role, RECOGNISE), Recognise):
            found[role] = _recognise(role, free, columns, source)
    for role in REQUIRED:
        if found.get(role) is None:
            raise ColumnError(
                f"{source}: no {role} column was recognised. {_listing(columns)} "
                f'Name it: {role}="…" in Python, --{role} … on the command line.{hint}'
            )
    _coordinates_come_in_pairs(found, named, columns, source)
    roles = Roles(**found)  # type: ignore[arg-type]  # user and location were checked just above
    _must_not_clash(roles, columns, source)
    return roles


def _listing(columns: Sequence[str]) -> str:
    return f"Columns found: {', '.join(map(repr, columns)) or 'none'}."


def _must_exist(role: str, name: str, columns: Sequence[str], source: str) -> None:
    if name not in columns:
        raise ColumnError(f"{source}: {role}={name!r} is not a column. {_listing(columns)}")


def _must_differ(named: Mapping[str, str]) -> None:
    for role, name in named.items():
        others = [other for other in named if other != role and named[other] == name]
        if others:
            raise ParameterError(
                f"{role}={name!r} and {others[0]}={name!r} name the same column; each role needs its own."
            )


def _recognise(role: str, free: Sequence[str], columns: Sequence[str], source: str) -> str | None:
    matches = [name for name in free if plain(name) in USUAL_NAMES[role]]
    if len(matches) > 1:
        ignore = "" if role in REQUIRED else f", or {role}=None (--{role} '') to use none"
        raise ColumnError(
            f"{source}: which column is the {role}? {' and '.join(map(repr, matches))} could each be it. "
            f"{_listing(columns)} Choose: {role}={matches[0]!r} (--{role} {matches[0]!r}){ignore}."
        )
    return matches[0] if matches else None


def _coordinates_come_in_pairs(
    found: dict[str, str | None], named: Mapping[str, str], columns: Sequence[str], source: str
) -> None:
    for role, other in (("lat", "lon"), ("lon", "lat")):
        if found.get(role) is not None and found.get(other) is None:
            if role in named:
                raise ColumnError(
                    f"{source}: {role}={named[role]!r} is given but no {other} column. {_listing(columns)} "
                    f'Name it too: {other}="…" (--{other} …).'
                )
            found[role] = None


def _must_not_clash(roles: Roles, columns: Sequence[str], source: str) -> None:
    """Engines ignore the case of names, so of `Uid` and `uid` one would silently win."""
    for role, column in roles.items():
        twins = [name for name in columns if name.lower() == column.lower()]
        if len(twins) > 1:
            raise ColumnError(
                f"{source}: the columns {' and '.join(map(repr, twins))} differ at most by upper and lower "
                f"case, so the {role} column cannot be told apart. Rename one of them."
            )
