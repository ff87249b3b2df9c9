"""Locations: a public list of places, as mechanisms see it, and the cells of a grid, as engines see them.

Where places are grouped, the locations are the groups, and `Members` says which places each consists of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES, checked_attributes
from locentropy.core.errors import ParameterError
from locentropy.core.public_columns import checked_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from locentropy.core.window_split import PlaceWindows

    Reals = NDArray[np.float64]

_CALL = 'Locations.of(["cafe-1", "park-2"])'


class Cells(ABC):
    """A public division of a part of the Earth into locations, to which visits belong by their coordinates.

    This is what an engine needs to know of a grid, of zones or of hexagons. It comes from a map, never from the visits.
    """

    kind: ClassVar[str]
    """What plans call it."""

    attributes: Sequence[str]
    """What mechanisms may use: `coordinates`, so that estimates lean on cells nearby, or nothing."""

    @property
    @abstractmethod
    def described(self) -> str:
        """What a release says of it, beginning with one of `cell_kinds.CELL_KINDS`."""

    @property
    def origin(self) -> str | None:
        """Where its map came from, in the owner's words; None where `described` says all."""
        return None

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns of its map that are not published."""
        return ()

    @abstractmethod
    def locations(self) -> Locations:
        """Every location, with its id, the coordinates of a point in it, and where it has one a name."""

    @abstractmethod
    def locator(self) -> Locator:
        """The rule that says at which of `locations()` a pair of coordinates is."""


class Locator(ABC):
    """Says at which location each pair of coordinates is. Public arithmetic on one row, the same on every engine.

    Engines pass it to their workers, so it can be pickled, and call it from several threads at once.
    """

    @abstractmethod
    def positions(self, lat: Reals, lon: Reals) -> NDArray[np.int64]:
        """The position in `Cells.locations()` of each pair of coordinates in degrees; -1 where there is none.

        Never raises, whatever the numbers are: coordinates that are NaN, infinite or out of range are at no location.
        """


class SquareCells(Cells):
    """Square cells of a box, numbered from the south-west corner, row by row, which engines find by division."""

    south: float
    west: float

    @property
    @abstractmethod
    def lat_step(self) -> float:
        """Height of a cell in degrees."""

    @property
    @abstractmethod
    def lon_step(self) -> float:
        """Width of a cell in degrees."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Number of columns."""

    def numbers(self) -> NDArray[np.int64]:
        """The number of each cell that is a location, ascending: all of the box, unless some are left out."""
        return np.arange(self.rows * self.columns)

    def locator(self) -> Locator:
        """The rule that `in_squares` writes in SQL, where the numbers of cells that are left out are met by no join."""
        return _SquareLocator(
            self.south,
            self.west,
            self.lat_step,
            self.lon_step,
            self.rows,
            self.columns,
            self.numbers(),
        )


@dataclass(frozen=True, eq=False)
class _SquareLocator(Locator):
    """Cells of a box by division, in the order of operations of the SQL."""

    south: float
    west: float
    lat_step: float
    lon_step: float
    rows: int
    columns: int
    numbers: NDArray[np.int64]

    def positions(self, lat: Reals, lon: Reals) -> NDArray[np.int64]:
        """The position of the cell's number; -1 outside the box and in cells that are left out."""
        with np.errstate(all="ignore"):  # NaN and infinities compare as outside
            up, across = (lat - self.south) / self.lat_step, (lon - self.west) / self.lon_step
            inside = (up >= 0) & (up < self.rows) & (across >= 0) & (across < self.columns)
        row, column = (np.floor(np.where(inside, each, 0)).astype(np.int64) for each in (up, across))
        number = np.where(inside, row * self.columns + column, -1)
        at = np.minimum(np.searchsorted(self.numbers, number), len(self.numbers) - 1)
        return np.where(self.numbers[at] == number, at, -1)


@dataclass(frozen=True, eq=False)
class Members:
    """The places that groups consist of: a visit to any of them is a visit to the group."""

    ids: pa.Array
    """The id of each place, once."""

    group: NDArray[np.int64]
    """The position of its group in the list."""

    ungrouped: int = 0
    """Places of the list that are in no group: visits to them are left out."""

    def __post_init__(self) -> None:
        _check_ids(self.ids)
        if len(self.group) != len(self.ids):
            raise ParameterError("group must have one entry for each of the ids.")


@dataclass(frozen=True, eq=False)
class Locations:
    """A list of places that is known without the visits: a register of venues, or the cells of a grid.

    Every one of them is in the release, visited or not. So the list must not have been made from the visits: a place
    that is listed because somebody was there reveals that they were. For the same reason names, coordinates and
    attributes come with the list, never from the visits.
    """

    ids: pa.Array
    """The id of each place, once: whole numbers or texts, in the order of the release."""

    names: pa.Array | None = None
    """Their names."""

    lat: Reals | None = None
    """Latitudes, in degrees; NaN where unknown."""

    lon: Reals | None = None
    """Longitudes, likewise."""

    attributes: Mapping[str, pa.Array] = field(default_factory=lambda: MappingProxyType({}))
    """What a mechanism may use, by its name: for each place a text, a whole number or a flag; null where unknown."""

    leans_on_coordinates: bool = False
    """Whether a mechanism may use `lat` and `lon`. Otherwise they only say where a place is drawn."""

    columns: Mapping[str, pa.Array] = field(default_factory=lambda: MappingProxyType({}))
    """What else the list says, by its name, to be published as it is; no mechanism uses it."""

    members: Members | None = None
    """Where these are groups of places, the places; otherwise None, and each is a place itself."""

    outlines: pa.Array | None = None
    """The outline of each place as WKB, in degrees, longitude first: polygons of a public map, to be drawn."""

    in_windows: PlaceWindows | None = None
    """Where these are pairs of a place and a window of time, the places and windows; otherwise None."""

    def __post_init__(self) -> None:
        ids = self.ids
        _check_ids(ids)
        if (self.lat is None) != (self.lon is None):
            raise ParameterError("Coordinates have both parts, lat and lon, or neither.")
        for name in ("names", "lat", "lon", "outlines"):
            column = getattr(self, name)
            if column is not None and len(column) != len(ids):
                raise ParameterError(f"{name} must have one entry for each of the ids.")
        if self.leans_on_coordinates and self.lat is None:
            raise ParameterError("leans_on_coordinates needs coordinates, and there are none.")
        object.__setattr__(self, "attributes", checked_attributes(self.attributes, len(ids)))
        columns = checked_columns(self.columns, len(ids), tuple(self.attributes))
        object.__setattr__(self, "columns", columns)
        if self.members is not None and not np.array_equal(
            np.unique(self.members.group), np.arange(len(ids))
        ):
            raise ParameterError("Every group must have a member, and every member a group of the list.")
        if self.in_windows is not None and len(self.in_windows.ids) != len(ids):
            raise ParameterError("in_windows must have one place for each of the ids.")

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """What a mechanism may use, as it is declared: columns of the list, and the word for coordinates."""
        return (*self.attributes, *((COORDINATES,) if self.leans_on_coordinates else ()))

    @property
    def place_ids(self) -> pa.Array:
        """The ids by which visits are found: those of the places, or of the places of the groups."""
        return self.ids if self.members is None else self.members.ids

    def positions_without(self, excluded: Locations) -> NDArray[np.int64]:
        """Where the places are that are not excluded; ids are compared as they are written."""
        if self.members is not None:
            raise ParameterError(
                "Places are excluded before they are grouped: what groups say of their places would tell of them."
            )
        named = pc.is_in(self.ids.cast(pa.string()), value_set=excluded.place_ids.cast(pa.string()))
        return np.flatnonzero(~named.to_numpy(zero_copy_only=False))

    def without(self, excluded: Locations) -> Locations:
        """The list less the excluded places."""
        return self.take(self.positions_without(excluded))

    def take(self, kept: NDArray[np.int64]) -> Locations:
        """Some of the places, by their positions."""
        return Locations(
            self.ids.take(kept),
            None if self.names is None else self.names.take(kept),
            None if self.lat is None else self.lat[kept],
            None if self.lon is None else self.lon[kept],
            {name: values.take(kept) for name, values in self.attributes.items()},
            self.leans_on_coordinates,
            {name: values.take(kept) for name, values in self.columns.items()},
            None,
            None if self.outlines is None else self.outlines.take(kept),
        )

    @classmethod
    def of(cls, ids: Any) -> Self:
        """The places of a list, an array or a column of ids."""
        if isinstance(ids, cls):
            return ids
        if isinstance(ids, str):
            raise ParameterError(f"ids={ids!r} is one text, not a list of ids. For example: {_CALL}")
        try:
            array = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"ids must be all whole numbers or all texts. For example: {_CALL}"
            ) from None
        if len(array) == 0:
            raise ParameterError(f"ids must name at least one place. For example: {_CALL}")
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
            array = array.cast(pa.string())
        return cls(array)

    def __len__(self) -> int:
        """The number of places."""
        return len(self.ids)


def _check_ids(ids: Any) -> None:
    """Raise ParameterError unless these are ids, each once."""
    if not isinstance(ids, pa.Array):
        raise ParameterError(f"ids must be an Arrow array, or use Locations.of. For example: {_CALL}")
    if not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)):
        raise ParameterError(f"ids of type {ids.type} must be whole numbers or texts. For example: {_CALL}")
    if ids.null_count or len(pc.unique(ids)) != len(ids):
        raise ParameterError(f"ids must name each place once, without nulls. For example: {_CALL}")
