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

from locentropy.places.public_list import PublicLocations
from locentropy.planning import level_outlook
from locentropy.privacy.units import period_of
from locentropy.release.statement import UNSAID
from locentropy.visits.columns import AUTO

if TYPE_CHECKING:
    from locentropy.core.levels import LevelPart
    from locentropy.ledger.ledger import Ledger
    from locentropy.mechanisms.base import Mechanism
    from locentropy.privacy.units import Unit
    from locentropy.publishing.request import Request
    from locentropy.visits.columns import Roles
    from locentropy.visits.visits import Visits

NOT_COUNTED: Final = "Not counted against any budget: use this only with synthetic data."
NOT_PRIVATE: Final = "NOT PRIVATE: nothing is promised to the people in the data. Do not publish it."

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
    found += [
        UngroupedWarning(ungrouped_words(places, group, level=bool(request.chosen.level_names)))
        for group, places in request.chosen.ungrouped.items()
    ]
    for level in request.levels:
        if level.locations is not None:
            found += few_locations(level.mechanism, len(level.locations), level.part)
    return found


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
