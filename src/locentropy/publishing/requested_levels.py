"""The levels of a request: each with its part of the budget, its locations, and its own queries on the same visits.

A release without levels is one of a single level here, which has the whole budget and no name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from locentropy.core.levels import LevelPart
from locentropy.core.queries import CachedQueries
from locentropy.core.window_split import in_windows
from locentropy.mechanisms.level_parts import divided
from locentropy.mechanisms.parameters import written_parameters
from locentropy.mechanisms.window_parts import by_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.core.levels import Scope
    from locentropy.core.locations import Locations
    from locentropy.core.queries import Queries
    from locentropy.core.windows import Window
    from locentropy.mechanisms.base import Mechanism
    from locentropy.privacy.units import Unit
    from locentropy.publishing.chosen_locations import ChosenLocations

_BUDGET: Final = ("epsilon", "delta")


@dataclass(frozen=True, eq=False)
class RequestedLevel:
    """A level that is to be published."""

    mechanism: Mechanism
    """What computes its values, at its part of the budget."""
    locations: Locations | None
    """Its locations; None where they are selected from the visits."""
    part: LevelPart | None = None
    """Its name and what it costs; None where there is one level only."""

    def of(self, queries: Queries) -> Queries:
        """The queries about this level, from those about all places of the list."""
        if self.locations is None or self.part is None or self.part.scope == "place":
            return queries
        return CachedQueries(queries.restricted_to(self.locations))


def requested_levels(
    mechanism: Mechanism, chosen: ChosenLocations, windows: Sequence[Window] = (), unit: Unit = "person"
) -> tuple[RequestedLevel, ...]:
    """The levels of a request, the main one first. Reads the public list."""
    if windows and chosen.listed is not None:
        paired = in_windows(chosen.listed, windows)
        return (RequestedLevel(by_part(mechanism, unit), paired),)
    if not chosen.level_names:
        return (RequestedLevel(mechanism, chosen.listed),)
    parts = divided(mechanism, chosen.level_names, [len(level.locations) for level in chosen.levels])
    return tuple(
        RequestedLevel(parts[level.name], level.locations, _part(level.name, level.scope, parts[level.name]))
        for level in chosen.levels
    )


def stated_parts(levels: Sequence[RequestedLevel]) -> tuple[LevelPart, ...]:
    """What is said about all levels; nothing where there is one."""
    return tuple(level.part for level in levels if level.part is not None)


def _part(name: str, scope: Scope, mechanism: Mechanism) -> LevelPart:
    guarantee = mechanism.guarantee
    assert guarantee.epsilon is not None  # noqa: S101  # `divided` refuses others
    given = [f"{key} = {value}" for key, value in written_parameters(mechanism).items() if key not in _BUDGET]
    measured_by = f"{type(mechanism).__name__} with {', '.join(given)}" if given else type(mechanism).__name__
    return LevelPart(name, scope, guarantee.epsilon, guarantee.delta, measured_by)
