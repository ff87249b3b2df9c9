"""Options that say which places may be named, by a public map: its zones, squares, or cells that people share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from locentropy.cli.error_format import restated
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from locentropy.core.locations import Cells
    from locentropy.places.grid import Grid
    from locentropy.places.zones import Zones

_MAP: Final = "Places: a public map"
_GRID: Final = "Places: a public grid"
_CALL: Final = "H3Cells(resolution=9, within=(40.70, -74.03, 40.80, -73.92))"
_GRID_CALL: Final = "Grid(south=40.70, west=-74.03, north=40.80, east=-73.92, cell=500)"
_ZONES: Final = "--zones districts.geojson --zone-id name"

Text = str | None


@dataclass(frozen=True)
class MapOptions:
    """Places that a public map has: zones, squares, H3 cells or INSPIRE squares."""

    grid: Annotated[
        Text,
        typer.Option(
            "--grid",
            metavar="S,W,N,E",
            help="A public box in degrees, from a map, never from the visits; every cell is published.",
            rich_help_panel=_GRID,
        ),
    ] = None
    cell: Annotated[
        float | None,
        typer.Option(
            "--cell",
            help="Side of a cell, in metres. With --zones, cells are published whose centre is in a zone; their box "
            "is that of the zones, unless --grid gives another.",
            rich_help_panel=_GRID,
        ),
    ] = None
    zones: Annotated[
        Text,
        typer.Option(
            "--zones",
            help="A public map of zones, such as districts: GeoJSON, GeoParquet, GeoPackage or shapefile. Never drawn "
            "from the visits; every zone is published.",
            rich_help_panel=_MAP,
        ),
    ] = None
    zone_id: Annotated[Text, typer.Option("--zone-id", help="Its column of ids.", rich_help_panel=_MAP)] = (
        None
    )
    zone_name: Annotated[
        Text, typer.Option("--zone-name", help="Its column of names.", rich_help_panel=_MAP)
    ] = None
    zone_layer: Annotated[
        Text, typer.Option("--zone-layer", help="Its layer, if it has several.", rich_help_panel=_MAP)
    ] = None
    h3: Annotated[
        int | None,
        typer.Option(
            "--h3",
            metavar="RESOLUTION",
            help="H3 cells of this resolution, 0 to 15, within --box or --zones.",
            rich_help_panel=_MAP,
        ),
    ] = None
    inspire: Annotated[
        Text,
        typer.Option(
            "--inspire",
            metavar="SIZE",
            help="Squares of the European INSPIRE grid, such as 1km, within --box or --zones.",
            rich_help_panel=_MAP,
        ),
    ] = None
    box: Annotated[
        Text,
        typer.Option(
            "--box",
            metavar="S,W,N,E",
            help="A public box in degrees for --h3 or --inspire, from a map, never from the visits.",
            rich_help_panel=_MAP,
        ),
    ] = None

    def cells(self, provenance: str | None = None) -> Cells | None:
        """The zones or cells that the options describe, or None if there are none of them."""
        zones = self._zones(provenance)
        ways = [
            option
            for option, given in (
                (
                    "--grid" if self.grid is not None else "--cell",
                    self.grid is not None or self.cell is not None,
                ),
                ("--h3", self.h3 is not None),
                ("--inspire", self.inspire is not None),
            )
            if given
        ]
        if len(ways) > 1:
            raise ParameterError(
                f"Places are squares of your own, H3 cells or INSPIRE squares: choose one of {' and '.join(ways)}. The "
                "region of --h3 and --inspire is --box S,W,N,E or --zones.",
                example=_CALL,
            )
        if self.grid is not None or self.cell is not None:
            return self._squares(zones)
        if self.box is not None and not ways:
            raise ParameterError(f"--box is for --h3 or --inspire: --h3 9 --box {self.box[:80]}")
        return self._shared(zones) if ways else zones

    def _squares(self, zones: Zones | None) -> Grid:
        if self.box is not None:
            raise ParameterError("--box is for --h3 or --inspire. The box of square cells is --grid S,W,N,E.")
        if self.cell is None or (self.grid is None and zones is None):
            raise ParameterError(
                "A grid needs the size of its cells and its box, --cell and --grid, or with --cell a map of zones: "
                f"{_ZONES}.",
                example=_GRID_CALL,
            )
        from locentropy.places.grid import Grid

        with restated(names=dict.fromkeys(("south", "west", "north", "east"), "grid") | {"within": "zones"}):
            if self.grid is None and zones is not None:
                return Grid.over(zones, self.cell)
            return Grid(*four_numbers("grid", self.grid or "", _GRID_CALL), self.cell, zones)

    def _shared(self, zones: Zones | None) -> Cells:
        if (zones is None) == (self.box is None):
            raise ParameterError(
                "--h3 and --inspire need one region, so that it is known which cells are published: --box S,W,N,E, or "
                f"{_ZONES}.",
                example=_CALL,
            )
        within = zones or four_numbers("box", self.box or "", _CALL)
        with restated(names={"within": "box", "resolution": "h3", "size": "inspire"}):
            if self.h3 is not None:
                from locentropy.places.h3_cells import H3Cells

                return H3Cells(self.h3, within)
            from locentropy.places.inspire import InspireSquares

            return InspireSquares(self.inspire or "", within)

    def _zones(self, provenance: str | None) -> Zones | None:
        if self.zones is None:
            for option in ("zone_id", "zone_name", "zone_layer"):
                if getattr(self, option) is not None:
                    raise ParameterError(
                        f"--{option.replace('_', '-')} describes a map, and none is given. Name its file: {_ZONES}"
                    )
            return None
        if self.zone_id is None:
            raise ParameterError(f"--zones needs --zone-id, the column that tells zones apart: {_ZONES}")
        from locentropy.places.zones import Zones

        said = {} if provenance is None else {"provenance": provenance}
        return Zones(self.zones, id=self.zone_id, name=self.zone_name, layer=self.zone_layer, **said)


def four_numbers(option: str, text: str, example: str) -> tuple[float, float, float, float]:
    """The edges of a box; raise ParameterError for anything else."""
    try:
        south, west, north, east = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            "must be four numbers: south, west, north, east.",
            parameter=option,
            value=text[:80],
            example=example,
        ) from None
    return south, west, north, east
