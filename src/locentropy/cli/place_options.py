"""Options that say which places may be named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from locentropy.mechanisms.select import SelectLocations
    from locentropy.places.grid import Grid
    from locentropy.places.public_list import PublicLocations

_LIST = "Places: a public list"
_GRID = "Places: a public grid"
UNSTATED = "not stated"
"""The provenance of a list about which nothing was said."""
_EXAMPLE = "--grid 40.70,-74.03,40.80,-73.92 --cell 500"

Column = str | None
Places = Annotated[
    Column,
    typer.Option(
        "--places", help="File of places that are public anyway; all are published.", rich_help_panel=_LIST
    ),
]
PlacesLocation = Annotated[
    Column, typer.Option("--places-location", help="Its column of ids.", rich_help_panel=_LIST)
]
PlacesName = Annotated[
    Column, typer.Option("--places-name", help="Names; '' for none.", rich_help_panel=_LIST)
]
PlacesLat = Annotated[
    Column, typer.Option("--places-lat", help="Latitude; '' for none.", rich_help_panel=_LIST)
]
PlacesLon = Annotated[
    Column, typer.Option("--places-lon", help="Longitude; '' for none.", rich_help_panel=_LIST)
]
Provenance = Annotated[
    Column,
    typer.Option(
        "--provenance", help="Where the list comes from, in your words; published.", rich_help_panel=_LIST
    ),
]
Exclude = Annotated[
    Column,
    typer.Option("--exclude", help="File of places never to publish: visits to them do not count at all."),
]
Box = Annotated[
    Column,
    typer.Option(
        "--grid",
        metavar="S,W,N,E",
        help="A public box in degrees, from a map, never from the visits; every cell is published.",
        rich_help_panel=_GRID,
    ),
]
Cell = Annotated[
    float | None, typer.Option("--cell", help="Side of a cell, in metres.", rich_help_panel=_GRID)
]


def list_from_options(
    places: str | None, columns: dict[str, str | None], provenance: str | None
) -> PublicLocations | None:
    """The public list that the options describe, or None if there is none of them."""
    if places is None:
        given = [f"--places-{role}" for role, name in columns.items() if name is not None]
        given += ["--provenance"] if provenance is not None else []
        if given:
            raise ParameterError(
                f"{', '.join(given)} describes a list, and there is none: --places places.csv"
            )
        return None
    from locentropy.places.public_list import PublicLocations
    from locentropy.visits.columns import AUTO

    chosen: dict[str, Any] = {
        role: AUTO if name is None else (name or None) for role, name in columns.items()
    }
    return PublicLocations(places, **chosen, provenance=provenance or UNSTATED)


def grid_from_options(box: str | None, cell: float | None) -> Grid | None:
    """The grid that the options describe, or None if there is none of them."""
    if box is None and cell is None:
        return None
    if box is None or cell is None:
        raise ParameterError(f"A grid needs both its box and the size of its cells. For example: {_EXAMPLE}")
    from locentropy.places.grid import Grid

    try:
        south, west, north, east = (float(part) for part in box.split(","))
    except ValueError:
        raise ParameterError(
            f"--grid {box[:80]!r} must be four numbers: south, west, north, east. For example: {_EXAMPLE}"
        ) from None
    return Grid(south, west, north, east, cell)


def one_of(
    public: PublicLocations | None, grid: Grid | None, selection: SelectLocations | None
) -> PublicLocations | Grid | SelectLocations | None:
    """The one way that was chosen, if one was."""
    chosen = [each for each in (public, grid, selection) if each is not None]
    if len(chosen) > 1:
        raise ParameterError("Choose one way to say which places: --places, --grid, or --select-epsilon …")
    return chosen[0] if chosen else None
