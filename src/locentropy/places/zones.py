"""Zones: the polygons of a public map, such as districts or census tracts, as locations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import pyarrow as pa

from locentropy.core.attributes import COORDINATES, check_cell_attributes
from locentropy.core.errors import ParameterError
from locentropy.core.locations import Cells, Locations, Locator
from locentropy.places.extra import require_geo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from locentropy.places.map_files import MapFile

_CALL: Final = 'Zones("districts.geojson", id="name")'


@dataclass(frozen=True)
class Zones(Cells):
    """The polygons of a public map. A visit belongs to the first zone, in the order of the file, that has its point.

    The map is public: take it from an office or a register, never from the visits. An outline that was drawn around
    visits tells where they were. Every zone is published, visited or not; visits outside all zones are left out before
    anything is counted.
    """

    kind: ClassVar[str] = "zones"

    source: str | Path
    """A GeoJSON, GeoParquet, GeoPackage or shapefile. Coordinates other than degrees are transformed."""
    id: str
    """The column, or property, that tells zones apart: texts or whole numbers, each once."""
    name: str | None = None
    """The column of names to publish beside the ids."""
    layer: str | None = None
    """The layer, if the file has several."""
    provenance: str = "not stated"
    """Where the map came from, in the owner's words; published with the release."""
    attributes: Sequence[str] = (COORDINATES,)
    """Mechanisms that use attributes let estimates lean on zones nearby; [] for none of that."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", check_cell_attributes(self.attributes, _CALL))
        if not isinstance(self.source, str | Path):
            raise ParameterError("must be the path of a map.", parameter="source", example=_CALL)
        for role in ("id", "name", "layer"):
            value = getattr(self, role)
            if (value is None and role == "id") or not isinstance(value, str | None) or value == "":
                raise ParameterError(
                    "must name a column of the map." if role != "layer" else "must name a layer of the map.",
                    parameter=role,
                    value=value,
                    example=_CALL,
                )

    @cached_property
    def map(self) -> MapFile:
        """The map, read once."""
        require_geo()
        from locentropy.places.map_files import read_map

        return read_map(self.source, self.id, self.name, self.layer)

    @property
    def described(self) -> str:
        """The zones in the words of a release: how many, the fingerprint of their file, and what was read of it.

        An unfinished attempt is known by these words: what would give other zones, or other ids, must be in them.
        """
        layer = "" if self.layer is None else f" of the layer {json.dumps(self.layer, ensure_ascii=False)}"
        named = "" if self.name is None else f" and names {json.dumps(self.name, ensure_ascii=False)}"
        return (
            f"zones: {len(self.map.ids):,} polygons{layer} of a map with SHA-256 {self.map.fingerprint}, ids "
            f"{json.dumps(self.id, ensure_ascii=False)}{named}"
        )

    @property
    def origin(self) -> str | None:
        """Where the map came from."""
        return self.provenance

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns of the map besides ids and names: nothing else of it is published but the outlines."""
        return tuple(name for name in self.map.columns if name not in (self.id, self.name))

    def locations(self) -> Locations:
        """Every zone, with its id, its name, its outline and a point in it."""
        zones = self.map.zones  # says how to install the extra, if it is missing
        import shapely

        points = shapely.get_coordinates(shapely.point_on_surface(zones))
        return Locations(
            self.map.ids,
            self.map.names,
            points[:, 1].copy(),
            points[:, 0].copy(),
            leans_on_coordinates=bool(self.attributes),
            outlines=pa.array(shapely.to_wkb(zones), pa.binary()),
        )

    def locator(self) -> Locator:
        """Point in polygon: see places/zone_locator.py."""
        return self._locator

    @cached_property
    def _locator(self) -> Locator:
        zones = self.map.zones
        from locentropy.places.map_index import IndexedLocator
        from locentropy.places.zone_locator import ZoneLocator

        return IndexedLocator(ZoneLocator(zones), zones)
