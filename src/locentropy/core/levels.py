"""Levels: one release about places and about larger units that they make up, such as districts and the whole city.

What a level is called says what it is:

    place         each place of the public list by itself
    a column      of the public list, such as `district`: places that agree in it are one location
    all, city     the whole list as one location; `city` only where the list has no column of that name

The first level is the main one. How ε is divided among levels is public: mechanisms/level_parts.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from locentropy.core.errors import ParameterError
from locentropy.core.public_columns import why_no_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

Scope = Literal["place", "column", "list"]
"""What a level consists of: places, groups of places by a column, or the whole list as one location."""

PLACE: Final = "place"
WHOLE: Final = "all"
WHOLE_UNLESS_COLUMN: Final = "city"
"""Also stands for the whole list, unless the list has such a column."""

MAX_LEVELS: Final = 5
LEVELS_EXAMPLE: Final = 'PublicLocations("places.csv", levels=["place", "district", "city"])'
DIVIDED_EXAMPLE: Final = 'PublicLocations("places.csv", levels={"place": 0.7, "district": 0.2, "city": 0.1})'

_STEM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_NUMBERED: Final = re.compile(r"level-\d+", re.IGNORECASE)
"""How files of levels are called whose own names files cannot have: no level may have such a name of its own."""
_TAKEN: Final = frozenset({"release", "report", "manifest", "details", "measurements"})


@dataclass(frozen=True)
class Levels:
    """The levels of a release by name, the main one first; none if there is no more than one."""

    names: tuple[str, ...] = ()
    """What they are called."""
    epsilons: tuple[str, ...] = ()
    """The part of ε of each, as it was written, if the owner divided it; otherwise a public rule does."""

    def __bool__(self) -> bool:
        return bool(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    @property
    def written(self) -> str:
        """The levels as the option takes them."""
        if not self.epsilons:
            return ",".join(self.names)
        return ",".join(f"{name}={part}" for name, part in zip(self.names, self.epsilons, strict=True))


NO_LEVELS: Final = Levels()


@dataclass(frozen=True)
class LevelPart:
    """A level of a release, and what it costs. Public."""

    name: str
    """What it is called."""
    scope: Scope
    """What it consists of."""
    epsilon: Fraction
    """Its part of ε."""
    delta: Fraction
    """Its part of δ."""
    measured_by: str
    """The mechanism that measures it, with its parameters other than ε and δ, in words."""

    @property
    def column(self) -> str | None:
        """The column of the public list by which places are grouped, if they are."""
        return self.name if self.scope == "column" else None


def check_levels(given: Any) -> Levels:
    """The levels; raises ParameterError unless these are names of levels, or the part of ε of each by its name."""
    if isinstance(given, Levels):
        return given
    if given is None or (isinstance(given, list | tuple | Mapping) and not given):
        return NO_LEVELS
    if not isinstance(given, list | tuple | Mapping) or not all(isinstance(name, str) for name in given):
        raise _refused("must be names of levels, or the part of ε of each by its name.")
    names = tuple(given)
    if not 2 <= len(names) <= MAX_LEVELS:
        raise _refused(
            f"must be 2 to {MAX_LEVELS} levels. One level is published without this: as it is, or by "
            "group='district' (--group-by district)."
        )
    for name in names:
        if not name.strip():
            raise _refused("has a level without a name.")
        if (reason := why_no_column(name)) is not None or "," in name or "=" in name:
            raise _refused(f"must name columns of the list, '{PLACE}' or '{WHOLE}'; {reason or 'no , or ='}.")
    if len({name.casefold() for name in names}) != len(names):
        raise _refused("names a level twice; upper and lower case do not tell levels apart.")
    parts = tuple(str(each) for each in given.values()) if isinstance(given, Mapping) else ()
    return Levels(names, parts)


def file_stem(name: str, number: int) -> str:
    """How the files of a further level are called: as the level, if files can be, or by its number from 2."""
    fits = (
        _STEM.fullmatch(name) is not None and name.casefold() not in _TAKEN and not _NUMBERED.fullmatch(name)
    )
    return name if fits else f"level-{number}"


def _refused(why: str) -> ParameterError:
    return ParameterError(why, parameter="levels", example=LEVELS_EXAMPLE)
