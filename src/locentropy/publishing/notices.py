"""Notices: what everybody who publishes is told about the guarantee; in Python as warnings, in a terminal as text.

All are about public things, and are given before anything is spent: a program that turns warnings into errors stops
there.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from locentropy.core.attributes import MAX_NAME
from locentropy.places.public_list import PublicLocations
from locentropy.planning import level_outlook
from locentropy.privacy.units import period_of
from locentropy.release.statement import UNSAID
from locentropy.visits.columns import AUTO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.levels import LevelPart
    from locentropy.core.locations import Locations
    from locentropy.ledger.ledger import Ledger
    from locentropy.mechanisms.base import Mechanism
    from locentropy.privacy.units import Unit
    from locentropy.publishing.request import Request
    from locentropy.visits.columns import Roles
    from locentropy.visits.visits import Visits

NOT_COUNTED: Final = "Not counted against any budget: use this only with synthetic data."
NOT_PRIVATE: Final = "NOT PRIVATE: nothing is promised to the people in the data. Do not publish it."

_MOST_NAMED: Final = 50
"""Columns that are left out."""

_PACKAGE: Final = str(Path(__file__).parents[1])


class PublishingWarning(UserWarning):
    """Something about the guarantee of a release that its publisher should know."""


class UserColumnWarning(PublishingWarning):
    """The column that is the person was recognised by its name, and not named by the caller."""


class NotCountedWarning(PublishingWarning):
    """The release is counted against no budget."""


class NotPrivateWarning(PublishingWarning):
    """The release has no guarantee."""


class UnstatedOriginWarning(PublishingWarning):
    """The release does not say where its list of places comes from, which the guarantee takes as public."""


class LeftOutWarning(PublishingWarning):
    """The list, or the map, has columns that no option names, so that they are not published."""


class UngroupedWarning(PublishingWarning):
    """Some places of the list are in no group, so that visits to them do not count."""


class FewLocationsWarning(PublishingWarning):
    """There are too few places for the mechanism."""


def notices(request: Request, ledger: Ledger | None) -> list[PublishingWarning]:
    """What to know before a request is carried out."""
    found: list[PublishingWarning] = []
    if not request.guarantee.private:
        found.append(NotPrivateWarning(NOT_PRIVATE))
    if ledger is None:
        found.append(NotCountedWarning(NOT_COUNTED))
    if isinstance(request.locations, PublicLocations) and request.locations.provenance == UNSAID:
        found.append(
            UnstatedOriginWarning(
                "The manifest does not say where the list of places comes from. It must not have been made from the "
                'visits. For example: PublicLocations("places.csv", provenance="the city\'s register")'
            )
        )
    if (words := left_out_words(request)) is not None:
        found.append(LeftOutWarning(words))
    found += [
        UngroupedWarning(ungrouped_words(places, group, level=bool(request.chosen.level_names)))
        for group, places in request.chosen.ungrouped.items()
    ]
    for level in request.levels:
        if level.locations is not None:
            found += few_locations(level.mechanism, len(level.locations), level.part)
    return found


def published_of(listed: Locations | None) -> list[str]:
    """What is published of each place besides its values; where places are selected, their ids."""
    if listed is None:
        return ["id"]
    own = (("name", listed.names), ("coordinates", listed.lat), ("outline", listed.outlines))
    return ["id", *(what for what, known in own if known is not None), *listed.attributes, *listed.columns]


def published_words(request: Request) -> list[str]:
    """What is published of each place besides its values, at each level. Once it is out, it cannot be taken back."""
    told = []
    for level in request.levels:
        where = "of each place" if request.chosen.group is None else "of each group of places"
        where = where if level.part is None else f"at the level {level.part.name}"
        told.append(
            f"To be published {where}, beside the values: {', '.join(published_of(level.locations))}."
        )
    return told


def left_out_words(request: Request) -> str | None:
    """Which columns of the list, or of the map, are not published, and how they would be; None if all are."""
    if request.begun_before:
        return (
            "An attempt of an earlier version had begun, which published all columns of the list: it is finished with "
            f"them, {', '.join(map(repr, request.chosen.columns))}."
        )
    unnamed, differing = map(_in_short, (request.chosen.left_out, request.chosen.differing))
    told = []
    if unnamed and not isinstance(request.locations, PublicLocations):
        told.append(
            f"These columns of the map are left out: {unnamed}. Its ids, names and outlines are published."
        )
    elif unnamed:
        told.append(
            f"These columns of the list are left out: {unnamed}. To publish one, name it: publish_columns=[…] "
            "(--publish-column NAME)."
        )
    if differing:
        told.append(f"Left out, because places of one group differ in them: {differing}.")
    return " ".join(told) or None


def _in_short(names: Sequence[str]) -> str:
    """The names of columns; of a file with hundreds of them, or with endless names, the beginning."""
    more = [f"and {len(names) - _MOST_NAMED:,} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*(repr(name[:MAX_NAME]) for name in names[:_MOST_NAMED]), *more])


def ungrouped_words(places: int, group: str, *, level: bool) -> str:
    """That visits to some places do not count. Their number is public: it is of the list."""
    are = "place of the list has" if places == 1 else "places of the list have"
    at = " at that level" if level else ""
    return f"{places:,} {are} no {group}, so visits there do not count{at}: they are in no group that is published."


def few_locations(
    mechanism: Mechanism, n_locations: int, level: LevelPart | None = None
) -> list[PublishingWarning]:
    """Whether there are too few places for the mechanism. Their number is public: of a list, or of a release."""
    if level is not None:
        told = level_outlook.few_locations(mechanism, level.name, n_locations)
        return [FewLocationsWarning(told)] if told else []
    warning = mechanism.few_locations_warning(n_locations)
    return [] if warning is None else [FewLocationsWarning(f"{n_locations:,} places. {warning}")]


def privacy_unit(columns: Roles, *, private: bool, unit: Unit = "person") -> str:
    """Who is protected: a person with two ids is protected half as well."""
    period = period_of(unit)
    record = "each person's whole record" if period is None else f"all that a person did in one {period}"
    protected = f"Protected: {record}, where a" if private else "Nobody is protected. A"
    return f"{protected} person is one id of the column {columns['user']!r}."


def warn_of_user_column(visits: Visits, columns: Roles, *, private: bool, unit: Unit = "person") -> None:
    """Warn if the column that is the person was recognised by its name."""
    if visits.user is AUTO:
        told = f"It was recognised by its name. If it is the person, say so: user={columns['user']!r}"
        give([UserColumnWarning(f"{privacy_unit(columns, private=private, unit=unit)} {told}")])


def give(told: list[PublishingWarning]) -> None:
    """Warn, at the line outside this package that led here."""
    inside = [
        level
        for level, (frame, _) in enumerate(traceback.walk_stack(sys._getframe()), start=1)
        if frame.f_code.co_filename.startswith(_PACKAGE)
    ]
    for each in told:
        warnings.warn(each, stacklevel=inside[-1] + 1)
