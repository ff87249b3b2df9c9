"""Locations: a public list of places, as mechanisms see it, and the cells of a grid, as engines see them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES, checked_attributes
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_CALL = 'Locations.of(["cafe-1", "park-2"])'


class Cells(ABC):
    """A public division of a box into cells, which locates visits by their coordinates.

    This is what an engine needs to know of a grid. Cells are numbered from the south-west corner, row by row.
    """

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

    @abstractmethod
    def locations(self) -> Locations:
        """Every cell, with its number, a name and the coordinates of its centre."""


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

    def __post_init__(self) -> None:
        ids = self.ids
        if not isinstance(ids, pa.Array):
            raise ParameterError(f"ids must be an Arrow array, or use Locations.of. For example: {_CALL}")
        if not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)):
            raise ParameterError(
                f"ids of type {ids.type} must be whole numbers or texts. For example: {_CALL}"
            )
        if ids.null_count or len(pc.unique(ids)) != len(ids):
            raise ParameterError(f"ids must name each place once, without nulls. For example: {_CALL}")
        if (self.lat is None) != (self.lon is None):
            raise ParameterError("Coordinates have both parts, lat and lon, or neither.")
        for name in ("names", "lat", "lon"):
            column = getattr(self, name)
            if column is not None and len(column) != len(ids):
                raise ParameterError(f"{name} must have one entry for each of the ids.")
        if self.leans_on_coordinates and self.lat is None:
            raise ParameterError("leans_on_coordinates needs coordinates, and there are none.")
        object.__setattr__(self, "attributes", checked_attributes(self.attributes, len(ids)))

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """What a mechanism may use, as it is declared: columns of the list, and the word for coordinates."""
        return (*self.attributes, *((COORDINATES,) if self.leans_on_coordinates else ()))

    def without(self, excluded: Locations) -> Locations:
        """The places that are not excluded; ids are compared as they are written."""
        named = pc.is_in(self.ids.cast(pa.string()), value_set=excluded.ids.cast(pa.string()))
        kept = np.flatnonzero(~named.to_numpy(zero_copy_only=False))
        return Locations(
            self.ids.take(kept),
            None if self.names is None else self.names.take(kept),
            None if self.lat is None else self.lat[kept],
            None if self.lon is None else self.lon[kept],
            {name: values.take(kept) for name, values in self.attributes.items()},
            self.leans_on_coordinates,
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
