"""Options that say which places may be named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from locentropy.cli.console import note_reading
from locentropy.cli.map_options import MapOptions
from locentropy.cli.options import Reading, delimiter_named
from locentropy.core.errors import ParameterError
from locentropy.core.public_columns import refuse_drop_columns

if TYPE_CHECKING:
    from locentropy.core.locations import Cells
    from locentropy.mechanisms.select import SelectLocations
    from locentropy.places.public_list import PublicLocations

UNSTATED: Final = "not stated"
"""The provenance of a list about which nothing was said."""

_LIST: Final = "Places: a public list"

_WITH_ATTRIBUTE: Final = (
    "locentropy publish checkins.parquet --epsilon 1 --places places.csv --attribute category --ledger city.ledger "
    "--out may"
)

_WITH_GROUP: Final = _WITH_ATTRIBUTE.replace("--attribute category", "--group-by district")
_WITH_LEVELS: Final = _WITH_ATTRIBUTE.replace("--attribute category", "--levels place,district,city")
_HOW_READ: Final = ("table", "delimiter", "encoding", "decimal")
_OPTIONS: Final = {
    "attributes": "--attribute",
    "group": "--group-by",
    "publish_columns": "--publish-column",
}
"""Options that are not called like their field."""

Text = str | None
Provenance = Annotated[
    Text,
    typer.Option(
        "--provenance", help="Where the list comes from, in your words; published.", rich_help_panel=_LIST
    ),
]
Exclude = Annotated[
    Text,
    typer.Option("--exclude", help="File of places never to publish: visits to them do not count at all."),
]
Levels = Annotated[
    Text,
    typer.Option(
        "--levels",
        metavar="place,district,city",
        help="Several levels in one release, the main one first: 'place', columns of the list, 'all' for the whole "
        "list ('city' too, if it is no column). A public rule divides ε; or say the parts: place=0.7,district=0.3.",
        rich_help_panel=_LIST,
    ),
]
PublishColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--publish-column",
        metavar="NAME",
        help="Further column of the list that readers are to see; repeatable. Columns that no option names are not "
        "published.",
        rich_help_panel=_LIST,
    ),
]
MaxStdError = Annotated[
    float | None,
    typer.Option(
        "--max-std-error",
        help="Places with a larger standard error, in nats, get no value: costs nothing, protects nobody.",
    ),
]


def excluded(path: str | None, visits: Reading) -> PublicLocations | None:
    """The list of places never to publish, written as the visits are."""
    if path is None:
        return None
    from locentropy.places.public_list import PublicLocations

    said: dict[str, Any] = visits.of_lists
    return PublicLocations(path, **said | {"delimiter": delimiter_named(said["delimiter"])})


@dataclass(frozen=True)
class PlaceOptions(MapOptions):
    """Places that are public: a list, a grid, or a map."""

    places: Annotated[
        Text,
        typer.Option(
            "--places",
            help="File of places that are public anyway; all are published, with ids, names and coordinates.",
            rich_help_panel=_LIST,
        ),
    ] = None
    places_location: Annotated[
        Text, typer.Option("--places-location", help="Its column of ids.", rich_help_panel=_LIST)
    ] = None
    places_name: Annotated[
        Text, typer.Option("--places-name", help="Names; '' for none.", rich_help_panel=_LIST)
    ] = None
    places_lat: Annotated[
        Text, typer.Option("--places-lat", help="Latitude; '' for none.", rich_help_panel=_LIST)
    ] = None
    places_lon: Annotated[
        Text, typer.Option("--places-lon", help="Longitude; '' for none.", rich_help_panel=_LIST)
    ] = None
    places_table: Annotated[
        Text,
        typer.Option(
            "--places-table", help="Its table in a DuckDB database, or sheet.", rich_help_panel=_LIST
        ),
    ] = None
    places_delimiter: Annotated[
        Text,
        typer.Option(
            "--places-delimiter",
            help="Separator of its fields, if unlike --delimiter.",
            rich_help_panel=_LIST,
        ),
    ] = None
    places_encoding: Annotated[
        Text,
        typer.Option("--places-encoding", help="Its encoding, if unlike --encoding.", rich_help_panel=_LIST),
    ] = None
    places_decimal: Annotated[
        Text,
        typer.Option(
            "--places-decimal", help="Its decimal mark, if unlike --decimal.", rich_help_panel=_LIST
        ),
    ] = None
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            help="Column of the list, such as category, that estimates may lean on; 'coordinates' for where places "
            "are; repeatable. Published. Of cells they lean on 'coordinates', unless it is '' for none.",
            rich_help_panel=_LIST,
        ),
    ] = None
    group: Annotated[
        Text,
        typer.Option(
            "--group-by",
            help="Column of the list, such as district: a visit to any place of a group is one to the group, and "
            "groups are published.",
            rich_help_panel=_LIST,
        ),
    ] = None
    levels: Levels = None
    publish_columns: PublishColumns = None
    drop_columns: Annotated[list[str] | None, typer.Option("--drop-columns", hidden=True)] = None

    def chosen(self, provenance: str | None = None) -> PublicLocations | Cells | None:
        """The list, the grid or the map that the options describe, or None if there is none of them."""
        about_list = None if self.zones is not None else provenance
        found = [each for each in (self._list(about_list), self._mapped(provenance)) if each is not None]
        if len(found) > 1:
            raise _more_than_one()
        return found[0] if found else None

    def chosen_or(
        self, selection: SelectLocations | None, provenance: str | None = None
    ) -> PublicLocations | Cells | SelectLocations | None:
        """The list, the grid, the map, or the selection; None if there is none of them."""
        public = self.chosen(provenance)
        if public is not None and selection is not None:
            raise _more_than_one()
        return public or selection

    @property
    def words(self) -> list[str]:
        """The options again, for another command."""
        said: list[str] = []
        for name, value in vars(self).items():
            option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            for each in value if isinstance(value, list) else [value]:
                said += [] if each is None else [option, str(each)]
        return said

    def _mapped(self, provenance: str | None) -> Cells | None:
        """The cells that the options describe, without attributes if they say so."""
        cells, attributes = self.cells(provenance), declared(self.attributes)
        if cells is None and self.places is None and attributes:
            raise ParameterError("--attribute coordinates needs places.", example=_WITH_ATTRIBUTE)
        if cells is None or attributes is None:
            return cells
        return replace(cells, attributes=attributes)  # type: ignore[type-var]  # every kind is a dataclass

    def _list(self, provenance: str | None) -> PublicLocations | None:
        refuse_drop_columns(self.drop_columns)
        if declared(self.attributes) and self.places is None and self.attributes != ["coordinates"]:
            raise ParameterError(
                "--attribute names columns of a public list. Cells and zones have none: nothing is known of them "
                "but where they are. Where places are selected from the visits there is no list: if a public list has "
                "them, publish that one, which costs nothing.",
                example=_WITH_ATTRIBUTE,
            )
        if self.places is None:
            self._refuse_without_list()
        columns = {role: getattr(self, f"places_{role}") for role in ("location", "name", "lat", "lon")}
        if self.places is None:
            given = [f"--places-{role}" for role, name in columns.items() if name is not None]
            given += [f"--places-{name}" for name in _HOW_READ if getattr(self, f"places_{name}") is not None]
            given += ["--provenance"] if provenance is not None else []
            if given:
                raise ParameterError(
                    f"{', '.join(given)} describes a list of places, and none is given. Name its file: "
                    "--places places.csv"
                )
            return None
        from locentropy.places.public_list import PublicLocations
        from locentropy.visits.columns import AUTO

        note_reading()
        chosen: dict[str, Any] = {
            role: AUTO if name is None else (name or None) for role, name in columns.items()
        }
        return PublicLocations(
            self.places,
            **chosen,
            **self._how_read,
            provenance=provenance or UNSTATED,
            attributes=declared(self.attributes) or (),
            group=self.group,
            levels=levels_in(self.levels),
            publish_columns=self.publish_columns or (),
        )

    def read_like(self, visits: Reading) -> PlaceOptions:
        """The same, where a list is written as the visits are, unless something else is said of it."""
        if self.places is None:
            return self
        like: dict[str, Any] = {f"places_{name}": value for name, value in visits.of_lists.items()}
        return replace(
            self, **like | {name: own for name in like if (own := getattr(self, name)) is not None}
        )

    @property
    def _how_read(self) -> dict[str, Any]:
        said = {name: getattr(self, f"places_{name}") for name in _HOW_READ}
        return said | {"delimiter": delimiter_named(said["delimiter"])}

    def _refuse_without_list(self) -> None:
        """Raise ParameterError for options about columns of a list, where there is none."""
        if self.publish_columns and self.zones is not None:
            raise ParameterError(
                "--publish-column names a column of a public list (--places). Of a map, ids, names (--zone-name) and "
                "outlines are published, and none of its other columns."
            )
        for option, given, example in (
            ("--group-by", self.group, _WITH_GROUP),
            ("--levels", self.levels, _WITH_LEVELS),
            ("--publish-column", self.publish_columns, None),
        ):
            if given:
                raise ParameterError(
                    f"{option} names a column of a public list, and none is given. Name its file: "
                    "--places places.csv",
                    example=example,
                )


def declared(attributes: list[str] | None) -> list[str] | None:
    """What --attribute says: None if it was not given, and nothing if it was given once, as ''."""
    return [] if attributes == [""] else attributes


def levels_in(text: str | None) -> list[str] | dict[str, str]:
    """The levels that the option names, and the part of ε of each if it says these."""
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(part.partition("=")[0].strip() for part in parts):
        raise ParameterError(
            "must be names of levels with one comma between two of them.",
            parameter="levels",
            value=text[:80],
            example=_WITH_LEVELS,
        )
    if not any("=" in part for part in parts):
        return parts
    pairs = [part.partition("=") for part in parts]
    if not all(equals for _, equals, _ in pairs) or len({name for name, _, _ in pairs}) != len(pairs):
        raise ParameterError(
            "must say the part of ε of every level, once, or of none.",
            parameter="levels",
            value=text[:80],
            example=_WITH_LEVELS.replace("place,district,city", "place=0.7,district=0.2,city=0.1"),
        )
    return {name.strip(): epsilon.strip() for name, _, epsilon in pairs}


def _more_than_one() -> ParameterError:
    return ParameterError(
        "Choose one way to say which places: --places, --grid, --zones, --h3, --inspire, or --select-epsilon."
    )
