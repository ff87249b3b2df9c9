"""Which locations a release is about: the three ways to choose them, exclusions, and opening the visits at them.

Publishing and `evaluate` both go through here, so that what is compared is what would be published.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import EXAMPLE
from locentropy.core.errors import BadRowsError, ParameterError
from locentropy.core.levels import LEVELS_EXAMPLE, NO_LEVELS, check_levels
from locentropy.core.locations import Cells, Locations
from locentropy.core.spelling import AS_STORED, Spelling
from locentropy.core.window_split import in_windows
from locentropy.mechanisms.select import SelectLocations
from locentropy.places.public_list import GROUP_EXAMPLE, PublicLocations
from locentropy.visits.private_log import PRIVATE_LOG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from locentropy.core.levels import Levels
    from locentropy.core.queries import Queries
    from locentropy.core.windows import Window
    from locentropy.places.levels import Level
    from locentropy.places.read_list import ReadList
    from locentropy.visits.visits import Visits

LocationsChoice = PublicLocations | Cells | SelectLocations
"""The three ways to say which places are published."""

THREE_WAYS: Final = (
    "Which places may be named is a choice that the visits must not make. There are three ways: "
    'PublicLocations("places.csv"), a list that is public anyway (--places places.csv); '
    "Grid(south=…, west=…, north=…, east=…, cell=500), every cell of a public box (--grid S,W,N,E --cell 500), "
    'or the zones of a public map, Zones("districts.geojson", id="name") (--zones districts.geojson --zone-id name), '
    "or H3Cells(resolution=9, within=(40.70, -74.03, 40.80, -73.92)) (--h3 9 --box S,W,N,E), or INSPIRE squares; "
    "SelectLocations(epsilon=0.2, delta=1e-8, max_locations=20), a private selection that costs budget "
    "(--select-epsilon 0.2 --select-delta 1e-8 --select-max-locations 20). LimitPTR selects by itself and needs none."
)

UNCHECKED: Final = (
    "Places are selected from the visits, so whether each id of exclude (--exclude) is written as it is in the visits "
    "cannot be said here: it is private. The private log (--private-log FILE, or the logger locentropy.private) names "
    "those that match no visit."
)
_MOST_NAMED: Final = 10


class ExcludeWarning(UserWarning):
    """Some places to exclude are not on the list, or cannot be compared in public."""


@dataclass(frozen=True)
class ChosenLocations:
    """A way to choose locations, and the locations that are excluded. Reads no visits."""

    choice: LocationsChoice | None
    """None is for mechanisms that select locations by themselves."""
    exclude: PublicLocations | None = None
    uses_attributes: bool = True
    """Whether the mechanism uses any. Cells have theirs without being asked, so they are left out where it does not."""
    spelling: Spelling = AS_STORED
    """How ids are spelled before they are compared."""

    def __post_init__(self) -> None:
        if self.choice is not None and not isinstance(self.choice, LocationsChoice):
            raise ParameterError(
                f"{type(self.choice).__name__} is not a way to say which places. {THREE_WAYS}"
            )
        if self.exclude is not None and not isinstance(self.exclude, PublicLocations):
            raise ParameterError(
                'exclude must be a list of places: PublicLocations("clinics.csv"), or --exclude clinics.csv'
            )
        if self.exclude is not None and self.exclude.attributes:
            raise ParameterError(
                "exclude is a list of places that are not published, so it has no attributes. Name them where the "
                f"published places are listed: {EXAMPLE}"
            )
        if self.exclude is not None and self.exclude.group is not None:
            raise ParameterError(
                "exclude is a list of places that are not published, so it has no groups. Name the column where the "
                f"published places are listed: {GROUP_EXAMPLE}"
            )
        if self.exclude is not None and self.exclude.levels:
            raise ParameterError(
                "exclude is a list of places that are not published, so it has no levels. Name them where the "
                f"published places are listed: {LEVELS_EXAMPLE}"
            )

    @property
    def selection(self) -> SelectLocations | None:
        """The private selection, if that is the way."""
        return self.choice if isinstance(self.choice, SelectLocations) else None

    @cached_property
    def excluded(self) -> Locations | None:
        """The locations never to publish: visits to them are as if they had not been made."""
        if self.exclude is None:
            return None
        found = self.exclude.load(only_ids=True)
        if not self.spelling.changes:
            return found
        # In the spelling of what they are taken from: the list, or the ids of visits as they are compared.
        every = self._places
        spelled = self.spelling.spelled(found.ids).unique()
        return Locations(spelled if every is None else self.spelling.as_listed(found.ids, every.ids))

    @cached_property
    def _read(self) -> ReadList | None:
        """The public list, read once: all that is made of it is about the same places."""
        return self.choice.read() if isinstance(self.choice, PublicLocations) else None

    @cached_property
    def _every(self) -> Locations | None:
        """The public list, with the excluded locations."""
        if self._read is not None:
            return self._read.locations()
        if not isinstance(self.choice, Cells):
            return None
        return replace(self.choice.locations(), leans_on_coordinates=bool(self.attributes))

    @property
    def _places(self) -> Locations | None:
        """The places of the list, not grouped, with the excluded ones."""
        return self._every if self._read is None else self._read.places

    @cached_property
    def listed(self) -> Locations | None:
        """The public list, without the excluded locations; None where locations are selected."""
        every, places = self._every, self._places
        if every is not None:
            _refuse_ended_texts(every)
        if places is not None and self._read is not None:
            self.spelling.keys(places.ids)  # raises if two become one
        if every is None or places is None or self.excluded is None:
            return every
        left = len(places.positions_without(self.excluded))
        if left == len(places):
            whole = " Name places, not groups: a group without places left is not published." * (
                self.group is not None
            )
            raise ParameterError(
                "None of the places to exclude is on the list of places. Are the ids written the same way in both?"
                + whole
            )
        if left == 0:
            raise ParameterError("All places of the list are excluded, so there is nothing to publish.")
        if self._read is None:
            return every.without(self.excluded)
        return self._read.without(self.excluded).locations()

    @property
    def compared(self) -> Locations | Cells | None:
        """What visits are at: the places of the list, not grouped and without the excluded ones, or the cells."""
        if self._read is None:
            return self.choice if isinstance(self.choice, Cells) else None
        return self._read.places if self.excluded is None else self._read.without(self.excluded).places

    @property
    def attributes(self) -> tuple[str, ...]:
        """The public attributes that are declared for a public list, or that cells have; a selection has none."""
        if isinstance(self.choice, Cells):
            return tuple(self.choice.attributes) if self.uses_attributes else ()
        return tuple(self.choice.attributes) if isinstance(self.choice, PublicLocations) else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Further columns of the public list, which are published as they are."""
        return () if self.listed is None else tuple(self.listed.columns)

    @property
    def publish_columns(self) -> tuple[str, ...]:
        """The columns that are named to be published beside those with a use; only a public list has them."""
        return tuple(self.choice.publish_columns) if isinstance(self.choice, PublicLocations) else ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns of the list, or of the map of zones, that no option names: they are not published."""
        if isinstance(self.choice, Cells):
            return self.choice.left_out
        return () if self._read is None else self._read.left_out

    @property
    def differing(self) -> tuple[str, ...]:
        """The columns that are named, and not published, because places of one group differ in them at every level."""
        if self._read is None:
            return ()
        at_levels = [name for level in self.levels for name in level.locations.columns]
        published = {*self.level_names, *(at_levels if self.level_names else self.columns)}
        return tuple(name for name in self._read.places.columns if name not in published)

    @property
    def group(self) -> str | None:
        """The column by which places are grouped; only a public list has one."""
        return self.choice.group if isinstance(self.choice, PublicLocations) else None

    @property
    def level_names(self) -> Levels:
        """The levels, if there are several; only a public list has them. The list is not read."""
        return check_levels(self.choice.levels) if isinstance(self.choice, PublicLocations) else NO_LEVELS

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels with their locations, without the excluded ones; none if there is no more than one level."""
        if self._read is None:
            return ()
        if self.excluded is None or self.listed is None:  # which raises for lists that do not fit each other
            return self._read.levels(self.level_names)
        return self._read.without(self.excluded).levels(self.level_names)

    @property
    def ungrouped(self) -> dict[str, int]:
        """By column of groups, how many places of the list are in none, so that visits to them are left out."""
        grouped = {level.name: level.locations for level in self.levels}
        if self._every is not None and self.group is not None:
            grouped[self.group] = self._every
        found = {name: each.members.ungrouped for name, each in grouped.items() if each.members is not None}
        return {name: places for name, places in found.items() if places}

    def refuse_visits_as_list(self, visits: Visits) -> None:
        """Raise ParameterError if the table of visits itself is given as the public list; nothing is read."""
        if isinstance(self.choice, PublicLocations) and self.choice.is_same_table(visits):
            raise ParameterError(
                "The list of places and the visits are the same table. A list, and its names and attributes, must not "
                "come from the visits: a place that is listed because somebody was there tells that they were. If they "
                'are two tables of a database, or two sheets of a workbook, name both: table="visits" (--table visits) '
                'and, of the list, table="places" (--places-table places). '
                'For example: publish(Visits("checkins.parquet"), Shares(epsilon=1.0), PublicLocations("places.csv"), '
                'ledger="city.ledger")'
            )

    def warn_of_exclusions(self) -> None:
        """Warn of ids to exclude that exclude nothing, as far as public information tells."""
        if self.excluded is None:
            return
        if self.listed is None or self._places is None:
            warnings.warn(UNCHECKED, ExcludeWarning, stacklevel=3)
            return
        unknown = [str(each) for each in self.excluded.without(self._places).ids.to_pylist()]
        if unknown:
            more = f" and {len(unknown) - _MOST_NAMED:,} more" if len(unknown) > _MOST_NAMED else ""
            warnings.warn(
                f"Not on the list of places, so excluding them changes nothing: "
                f"{', '.join(unknown[:_MOST_NAMED])}{more}. Are they spelt as in the list?",
                ExcludeWarning,
                stacklevel=3,
            )

    @contextmanager
    def open(
        self, read: Callable[..., AbstractContextManager[Queries]], windows: Sequence[Window] = ()
    ) -> Iterator[Queries]:
        """Open the visits with `read(locations=…)`, as if no visit to an excluded location had been made.

        With windows, the queries are about pairs of a location and a window.
        """
        grid = isinstance(self.choice, Cells)
        cut = {"windows": windows} if windows else {}
        with read(locations=self.choice if grid else self.listed, **cut) as queries:
            if self.excluded is None:
                yield queries
            elif self.listed is None:
                visited = Locations(queries.locations)
                for unknown in self.excluded.without(visited).ids.to_pylist():
                    PRIVATE_LOG.info("exclude: no visit is at %r, so excluding it changes nothing.", unknown)
                yield queries.restricted_to(visited.without(self.excluded))
            else:  # a public list was opened without them; a grid is opened whole
                kept = in_windows(self.listed, windows) if windows else self.listed
                yield queries.restricted_to(kept) if grid else queries


def _refuse_ended_texts(listed: Locations) -> None:
    """Raise BadRowsError for a NUL, at which GeoPackages end a text: a release that holds one does not verify."""
    for texts in (listed.ids, listed.names, *listed.attributes.values(), *listed.columns.values()):
        if texts is None or not pa.types.is_string(texts.type):
            continue
        if pc.any(pc.match_substring(texts, "\0"), min_count=0).as_py():
            raise BadRowsError(
                "Some ids, names or other texts of the list of places hold a NUL character (U+0000), at which some "
                "programs end a text. Remove it where the list is made."
            )
