"""A public list of places, from a file or a table in memory: ids, and whatever else it says about places.

Which of its columns are published: list_columns.py. Places may be published in groups: groups.py; or at several levels:
levels.py.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from locentropy.core.attributes import COORDINATES, EXAMPLE, check_attribute_names, check_informative
from locentropy.core.errors import BadRowsError, ColumnError, ParameterError, SourceError
from locentropy.core.levels import (
    LEVELS_EXAMPLE,
    NO_LEVELS,
    PLACE,
    WHOLE,
    WHOLE_UNLESS_COLUMN,
    check_levels,
)
from locentropy.core.locations import Locations
from locentropy.core.public_columns import (
    PUBLISH_EXAMPLE,
    check_publish_columns,
    quoted,
    refuse_drop_columns,
)
from locentropy.places.geo_frames import coordinates_in, is_geo_frame, without_geometry
from locentropy.places.groups import group_sql
from locentropy.places.list_columns import column_roles, column_values, columns_sql, left_out
from locentropy.places.read_list import ReadList
from locentropy.visits.column_types import cast_sql, column_kind, restore_id_type
from locentropy.visits.columns import AUTO, USUAL_NAMES, Choice, might_be_data_row, resolve_roles
from locentropy.visits.person_column import normalized
from locentropy.visits.readers.encodings import UTF8, encoding_named, is_utf8, not_utf8
from locentropy.visits.readers.resolve import resolve_source
from locentropy.visits.readers.text import other_delimiter
from locentropy.visits.rows import READING_LOG, described
from locentropy.visits.sql import OFFLINE
from locentropy.visits.visits import DELIMITERS, Visits
from locentropy.visits.writing import check_decimal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from locentropy.core.levels import Levels
    from locentropy.places.levels import Level
    from locentropy.privacy.guarantee import Number
    from locentropy.visits.columns import Roles
    from locentropy.visits.readers.base import Column
    from locentropy.visits.writing import DecimalMark

_ATTRIBUTE = "attribute_"
"""With its number, what an attribute is called while the list is read; its own name may be anything."""
_GROUP = "group_of"
_OPTIONS = "--places-"
"""Begins the options about a list."""
GROUP_EXAMPLE = 'PublicLocations("places.csv", group="district")'


@dataclass(frozen=True, eq=False)
class PublicLocations:
    """A public list of places: where it is stored, the roles of its columns, and where it came from.

    The list must not have been made from the visits: a place that is listed because somebody was there reveals that
    they were. Published names, coordinates and columns come from this list only. Published are ids, names, coordinates
    and the columns that `publish_columns`, `attributes`, `group` or `levels` name, and no others.
    """

    source: Any
    """A CSV, TSV, JSON lines or Parquet file, a workbook, a DuckDB database, a table in memory (a
    GeoDataFrame keeps its geometry), or a list of ids."""
    location: Choice = AUTO
    """The column of location ids, the same ids as in the visits."""
    name: Choice = AUTO
    """The column of names; None to use none."""
    lat: Choice = AUTO
    """The column of latitudes, in degrees; None to use none."""
    lon: Choice = AUTO
    """The column of longitudes, in degrees; None to use none."""
    table: str | None = None
    """The table's name, if `source` is a DuckDB database with several, or the sheet's, if it is such a workbook."""
    provenance: str = "not stated"
    """Where the list came from, in the owner's words; published with the release."""
    attributes: Sequence[str] = ()
    """Columns of the list that a mechanism may use, such as `["category"]`; "coordinates" stands for where places are.
    They are published with the release."""
    group: str | None = None
    """The column that says which places are one location, such as "district": groups are published, not places."""
    publish_columns: Sequence[str] = ()
    """Further columns to publish, such as `["opening_year"]`: readers see them, and no estimate leans on them."""
    levels: Levels | Sequence[str] | Mapping[str, Number] = NO_LEVELS
    """Several levels in one release, the main one first, such as `["place", "district", "city"]`: "place" is each place
    by itself, "all" the whole list, and so is "city" if it is no column. A public rule divides ε; or say the part of
    each: `{"place": 0.7, "district": 0.2, "city": 0.1}`."""
    delimiter: str | None = None
    """The separator of fields in a text file; None to take it from the header. As for `Visits`, as are the next two."""
    encoding: str | None = None
    """The encoding of a text file, such as "cp1252"; None for UTF-8."""
    decimal: DecimalMark | None = None
    """The decimal mark of numbers that are texts: "." or ","."""
    drop_columns: InitVar[object] = None
    """Of an earlier version; refused, with what to write instead."""

    def __post_init__(self, drop_columns: object) -> None:
        refuse_drop_columns(drop_columns)
        object.__setattr__(self, "attributes", check_attribute_names(self.attributes))
        object.__setattr__(self, "publish_columns", check_publish_columns(self.publish_columns))
        if self.group is not None and (not isinstance(self.group, str) or not self.group.strip()):
            raise ParameterError(
                "must be the name of a column of the public list.",
                parameter="group",
                value=self.group,
                example=GROUP_EXAMPLE,
            )
        check_decimal(self.decimal)
        object.__setattr__(self, "levels", check_levels(self.levels))
        if self.levels and self.group is not None:
            raise ParameterError(
                "names one level, and levels several. Leave it out: a column is a level by its own name.",
                parameter="group",
                value=self.group,
                example=LEVELS_EXAMPLE,
            )

    def load(self, *, only_ids: bool = False) -> Locations:
        """Read the list; with `only_ids`, for places that are not published, nothing but the ids.

        With levels, these are the places, which all levels consist of.
        """
        return self.read(only_ids=only_ids).locations()

    def load_levels(self) -> tuple[Level, ...]:
        """Read the list, and return its levels, the main one first; none if there are no levels."""
        return self.read().levels(check_levels(self.levels)) if self.levels else ()

    def read(self, *, only_ids: bool = False) -> ReadList:
        """Read the list; what it is published as follows from what was read."""
        if isinstance(self.source, list | tuple | pa.Array | pa.ChunkedArray):
            self._refuse_columns_of_ids()
            return ReadList(Locations.of(self.source), (), "the list of ids")
        if is_geo_frame(self.source) and not only_ids:
            return self._read_geo_frame()
        return self._read_table(only_ids=only_ids)

    def _read_geo_frame(self) -> ReadList:
        """Where places are is taken from the geometry, unless columns were named."""
        table = without_geometry(self.source)
        if self.lat is not AUTO or self.lon is not AUTO:
            read, known = self._read_table(), {*table.columns}
        else:
            lat, lon, outlines = coordinates_in(self.source)
            usual = (USUAL_NAMES["lat"] | USUAL_NAMES["lon"]) - {*map(normalized, self.publish_columns)}
            kept = [name for name in table.columns if normalized(str(name)) not in usual]
            located = replace(self, source=table[kept].assign(lat=lat, lon=lon), lat="lat", lon="lon")
            read = located._read_table(outlines=outlines)
            known = {*kept, "lat", "lon", self.source.active_geometry_name}
        others = [str(name) for name in self.source.columns if name not in known]
        return replace(read, left_out=(*read.left_out, *others))

    def _read_table(self, *, only_ids: bool = False, outlines: pa.Array | None = None) -> ReadList:
        import duckdb

        self._refuse_other_encoding()
        source = without_geometry(self.source) if is_geo_frame(self.source) else self.source
        with (
            TemporaryDirectory(prefix="locentropy-") as scratch,
            duckdb.connect(config=dict(OFFLINE)) as con,
        ):
            read_as = Visits(
                source,
                table=self.table,
                delimiter=self.delimiter,
                encoding=self.encoding,
                decimal=self.decimal,
            )
            parts = resolve_source(con, read_as, Path(scratch), prefix=_OPTIONS)
            if len(parts) > 1:
                raise ParameterError(
                    f"{self.source}: a public list must be one file, but these are {len(parts)}."
                )
            [part] = parts
            columns = list(part.columns)
            choices = {role: getattr(self, role) for role in ("location", "name", "lat", "lon")}
            if self.location is AUTO and len(columns) == 1:
                if any(mark in columns[0] for mark in DELIMITERS):
                    raise ColumnError(
                        f"{part.label}: the list has one column, {columns[0]!r}. {other_delimiter(_OPTIONS)}"
                    )
                choices["location"] = columns[0]  # a list of one column is a list of ids
            hint = _columns_are(columns) if might_be_data_row(columns) else ""
            roles = resolve_roles(choices, columns, part.label, ("location",), hint, prefix=_OPTIONS)
            if only_ids:
                roles = {"location": roles["location"]}
            declared = self._attribute_roles(columns, part.label)
            of_group = self._group_role(columns, roles, part.label)
            used = (*declared.values(), *of_group.values())
            named = {*self.publish_columns, *(name for name in self.levels if name in columns)}
            others = {} if only_ids else column_roles(named, columns, roles, used, part.label)
            relation = part.bind(con, roles | declared | of_group | others, drop_bad=False)
            if told := described(roles, parts, [relation], read_as):
                READING_LOG.info("Places: %s", told)
            stored = column_kind(relation.columns["location"].type_name)
            types = {"location": "BIGINT" if stored == "integer" else "VARCHAR", "name": "VARCHAR"}
            writing = relation.writing.said(self.decimal, None)
            read = {
                role: cast_sql(role, column, relation.columns[role], part.label, types.get(role), writing)
                for role, column in roles.items()
            }
            for role, name in declared.items():
                read[role] = _attribute_sql(name, relation.columns[role], part.label)
            for role, name in of_group.items():
                read[role] = group_sql(name, relation.columns[role], part.label)
            read |= columns_sql(others, relation.columns, part.label)
            selected = ", ".join(f"{sql} AS {role}" for role, sql in read.items())
            try:
                rows = con.sql(f"SELECT {selected} FROM {relation.sql}").to_arrow_table()  # noqa: S608  # names are quoted
            except duckdb.Error as error:
                if "unicode" in str(error):
                    raise SourceError(not_utf8(Path(part.label), _OPTIONS)) from None
                raise SourceError(
                    f"{part.label}: cannot be read as a list of places. Is the file complete and UTF-8 text, and is "
                    "every quotation mark closed on its line?"
                ) from None
        found = _as_locations(rows, part.label, roles, typed=not part.reads_once and stored != "big-integer")
        found = self._with_attributes(found, _arrays(rows, declared), part.label)
        further = {
            name: column_values(values, as_written=part.reads_once, decimal=writing.decimal)
            for name, values in _arrays(rows, others).items()
        }
        found = replace(found, columns=further, outlines=outlines)
        published = {*roles.values(), *used, *others.values()}
        listed = ReadList(found, columns, part.label, left_out(columns, published))
        for name, values in _arrays(rows, of_group).items():
            listed = replace(listed, group=name, groups=_attribute_values(values))
        for name, values in listed.locations().attributes.items():
            check_informative(name, values)
        return listed

    def is_same_table(self, visits: Visits) -> bool:
        """Whether this is the very table of visits, by its path or as an object; nothing is read.

        Tables of one database, or sheets of one workbook, are two only if both are named.
        """
        mine, theirs = self.source, visits.source
        if not (isinstance(mine, str | Path) and isinstance(theirs, str | Path)):
            return mine is theirs and not isinstance(mine, str | Path)
        same = Path(mine).exists() and Path(theirs).exists() and Path(mine).samefile(theirs)
        both_named = self.table is not None and visits.table is not None
        return same and not (both_named and self.table != visits.table)

    def _refuse_other_encoding(self) -> None:
        """Raise ParameterError if the list is UTF-8 and another encoding is said, as where it is that of the visits.

        Its ids would then be others than those of the visits, and noise would be published.
        """
        if (
            self.encoding is None
            or encoding_named(self.encoding) == UTF8
            or not isinstance(self.source, str | Path)
        ):
            return
        if Path(self.source).is_file() and is_utf8(Path(self.source)):
            raise ParameterError(
                f"{self.source}: is UTF-8 text, and {self.encoding} was said. If only the visits are {self.encoding}, "
                'say so: encoding="utf-8" (--places-encoding utf-8)'
            )

    def _refuse_columns_of_ids(self) -> None:
        """Raise ParameterError if columns are named of a plain list of ids, which has none."""
        for parameter, named, example in (
            ("attributes", list(self.attributes), EXAMPLE),
            ("publish_columns", list(self.publish_columns), PUBLISH_EXAMPLE),
            ("group", self.group, GROUP_EXAMPLE),
            (
                "levels",
                [name for name in self.levels if name not in (PLACE, WHOLE, WHOLE_UNLESS_COLUMN)],
                LEVELS_EXAMPLE,
            ),
        ):
            if named:
                raise ParameterError(
                    f"{parameter}={named!r} names columns of a list, and a plain list of ids has none. "
                    f"For example: {example}"
                )

    def _group_role(self, columns: Sequence[str], roles: Roles, label: str) -> dict[str, str]:
        """The column of groups, if places are grouped."""
        if self.group is None:
            return {}
        if self.group not in columns:
            raise ColumnError(
                f"{label}: group={self.group!r} (--group-by {quoted(self.group)}) is not a column of the list."
                f"{_columns_are(columns)} Groups come from the list, never from the visits."
            )
        taken = [role for role, name in roles.items() if name == self.group]
        if taken:
            raise ColumnError(
                f"{label}: places are grouped by {self.group!r}, which is the {taken[0]} column. Group by a column "
                f"that places have in common. For example: {GROUP_EXAMPLE}"
            )
        return {_GROUP: self.group}

    def _attribute_roles(self, columns: Sequence[str], label: str) -> dict[str, str]:
        """The column of each attribute."""
        if COORDINATES in self.attributes and any(name.casefold() == COORDINATES for name in columns):
            raise ColumnError(
                f"{label}: it has a column {COORDINATES!r}, and as an attribute that word stands for its latitudes and "
                "longitudes. Rename the column."
            )
        wanted = [name for name in self.attributes if name != COORDINATES]
        missing = [name for name in wanted if name not in columns]
        if missing:
            raise ColumnError(
                f"{label}: the attribute {missing[0]!r} (--attribute {missing[0]}) is not a column of the list."
                f"{_columns_are(columns)} Attributes come from the list, never from the visits."
            )
        return {f"{_ATTRIBUTE}{number}": name for number, name in enumerate(wanted)}

    def _with_attributes(self, found: Locations, attributes: dict[str, pa.Array], label: str) -> Locations:
        near = COORDINATES in self.attributes
        if near and found.lat is None:
            raise ColumnError(
                f"{label}: the attribute {COORDINATES!r} needs coordinates, and no columns of the list are called lat "
                'and lon, or similar. Name them: lat="y", lon="x" (--places-lat y --places-lon x).'
            )
        typed = {name: _attribute_values(values) for name, values in attributes.items()}
        return Locations(found.ids, found.names, found.lat, found.lon, typed, near)


def _arrays(rows: pa.Table, roles: Roles) -> dict[str, pa.Array]:
    """The columns that were read, by their own names."""
    return {name: rows[role].combine_chunks() for role, name in roles.items()}


def _columns_are(columns: Sequence[str]) -> str:
    """The columns' names, which may be shown: unlike those of the visits, they cannot be somebody's row."""
    return f" Its columns: {', '.join(map(repr, columns))}."


def _attribute_sql(name: str, column: Column, label: str) -> str:
    """An attribute as texts, whole numbers or flags."""
    kind = column_kind(column.type_name)
    if kind in ("integer", "text"):
        return f"CAST({column.expression} AS {'BIGINT' if kind == 'integer' else 'VARCHAR'})"
    if column.type_name.upper() == "BOOLEAN":
        return column.expression
    advice = (
        "Make classes of it, such as small, medium and large"
        if kind == "real"
        else "Cast it where the list is made"
    )
    raise ColumnError(
        f"{label}: the attribute {name!r} has type {column.type_name.partition('(')[0]}, and must be texts, whole "
        f"numbers, or true and false. {advice}."
    )


def _attribute_values(values: pa.Array) -> pa.Array:
    """Whole numbers that were read as texts, from a text file, become numbers if all of them are."""
    if not pa.types.is_string(values.type) or values.null_count == len(values):
        return values
    try:
        numbers = values.cast(pa.int64())
    except pa.ArrowInvalid:
        return values
    return numbers if numbers.cast(pa.string()).equals(values) else values


def _as_locations(rows: pa.Table, label: str, roles: Roles, *, typed: bool) -> Locations:
    if len(rows) == 0:
        raise SourceError(f"{label}: the list of places has no rows.")
    ids = rows["location"].combine_chunks()
    if ids.null_count:
        raise BadRowsError(f"{label}: some places of the list have no id. Give every place an id.")
    if len(ids.unique()) != len(ids):
        # How many is not said: if this is the table of visits by mistake, their number is private.
        raise BadRowsError(
            f"{label}: some places are named more than once. A list names each place once. Is this the table of "
            "visits? A list must not be made from the visits: a place that is listed because somebody was there tells "
            "that they were."
        )
    return Locations(
        restore_id_type(ids, typed=typed),
        rows["name"].combine_chunks() if "name" in rows.column_names else None,
        _degrees(rows, "lat", 90, label, roles),
        _degrees(rows, "lon", 180, label, roles),
    )


def _degrees(rows: pa.Table, role: str, limit: int, label: str, roles: Roles) -> NDArray[np.float64] | None:
    """Coordinates in degrees; NaN for a place without them."""
    if role not in rows.column_names:
        return None
    degrees: NDArray[np.float64] = rows[role].to_numpy()
    known = ~rows[role].is_null().to_numpy()
    if not (abs(degrees[known]) <= limit).all():
        raise BadRowsError(
            f"{label}: the {role} column {roles[role]!r} of the list holds values that are not numbers from -{limit} "
            f'to {limit}. If their decimal mark is another one, say so: decimal="," (--decimal ,; of the list alone '
            '--places-decimal ,), or ".".'
        )
    return degrees
