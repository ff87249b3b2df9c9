"""Groups of places: a public column of the list, such as the district, says which places are one location.

A visit to any place of a group is a visit to the group, and who was at three of its places was at one location. So
what one person can change is bounded for groups as it is for places. Groups come from the list, never from the visits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from locentropy.core.attributes import COORDINATES, MAX_VALUE
from locentropy.core.errors import BadRowsError, ColumnError
from locentropy.core.locations import Locations, Members
from locentropy.visits.column_types import column_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from locentropy.visits.readers.base import Column

_DECIMALS = 6
"""Of the middle of a group in degrees: about 0.1 m."""


def group_sql(name: str, column: Column, label: str) -> str:
    """The column of groups as texts or whole numbers; ColumnError for other types."""
    kind = column_kind(column.type_name)
    if kind not in ("integer", "text"):
        raise ColumnError(
            f"{label}: places are grouped by {name!r}, which has type {column.type_name.partition('(')[0]}. The groups "
            "are published by this id, so it must be texts or whole numbers. Cast it where the list is made."
        )
    return f"CAST({column.expression} AS {'BIGINT' if kind == 'integer' else 'VARCHAR'})"


def grouped(places: Locations, groups: pa.Array, name: str, label: str) -> Locations:
    """The groups as locations, in the order in which the list first names them.

    Places whose group is null are in none, and visits to them are left out. Attributes must agree within each group;
    other columns, and names, are kept if they do. A group is drawn in the middle of its places.
    """
    groups = _checked_groups(groups, name, label)
    inside = np.flatnonzero(groups.is_valid().to_numpy(zero_copy_only=False))
    coded = groups.take(inside).dictionary_encode()
    ids, group = coded.dictionary, coded.indices.to_numpy().astype(np.int64)
    if places.leans_on_coordinates:
        raise ColumnError(
            f"{label}: a group has no coordinates of its own, so estimates cannot lean on {COORDINATES!r} where places "
            f"are grouped by {name!r}. Leave out that attribute."
        )
    attributes = {}
    for attribute, values in places.attributes.items():
        common = _common(values.take(inside), group, len(ids))
        if common is None:
            raise ColumnError(
                f"{label}: the attribute {attribute!r} differs within a group of places with the same {name!r}, so the "
                "group has no value of its own. Leave it out, or group by a column that agrees with it."
            )
        attributes[attribute] = common
    columns = {
        column: common
        for column, values in places.columns.items()
        if (common := _common(values.take(inside), group, len(ids))) is not None
    }
    lat, lon = _middles(places, inside, group, len(ids))
    members = Members(places.ids.take(inside), group, len(groups) - len(inside))
    return Locations(ids, None, lat, lon, attributes, columns=columns, members=members)


def _checked_groups(groups: pa.Array, name: str, label: str) -> pa.Array:
    """The groups, with null for empty texts; raises for values that cannot be ids of a release."""
    if pa.types.is_string(groups.type):
        blank = pc.equal(pc.utf8_trim_whitespace(groups), "")
        groups = pc.if_else(blank, pa.scalar(None, pa.string()), groups)
        if pc.any(pc.not_equal(pc.utf8_trim_whitespace(groups), groups), min_count=0).as_py():
            raise BadRowsError(
                f"{label}: some values of {name!r}, by which places are grouped, begin or end with blanks, so that one "
                "group could be two. Remove the blanks."
            )
        if (pc.max(pc.utf8_length(groups)).as_py() or 0) > MAX_VALUE:
            raise BadRowsError(
                f"{label}: some values of {name!r}, by which places are grouped, have more than {MAX_VALUE} "
                "characters. They are the ids of what is published: use shorter ones."
            )
    if groups.null_count == len(groups):
        raise BadRowsError(
            f"{label}: the column {name!r} is empty at every place that may be published, so no place is in a group."
        )
    return groups


def _common(values: pa.Array, group: NDArray[np.int64], count: int) -> pa.Array | None:
    """The value that all places of each group have; None if they differ in any. An unknown value is one too."""
    first = np.full(count, len(group))
    np.minimum.at(first, group, np.arange(len(group)))
    common = values.take(first)
    spread = common.take(group)
    equal = pc.fill_null(pc.equal(spread, values), False)
    agree = pc.or_(equal, pc.and_(spread.is_null(), values.is_null()))
    return common if pc.all(agree, min_count=0).as_py() else None


def _middles(
    places: Locations, inside: NDArray[np.int64], group: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """The middle of the places of each group, on the sphere, so that the date line is no edge; NaN if none is known."""
    if places.lat is None or places.lon is None:
        return None, None
    lat, lon = np.radians(places.lat[inside]), np.radians(places.lon[inside])
    known = np.isfinite(lat) & np.isfinite(lon)
    vectors = (np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat))
    x, y, z = (np.bincount(group[known], part[known], count).astype(np.float64) for part in vectors)
    length = np.sqrt(x * x + y * y + z * z)
    clear = length > 1e-9  # places all around the globe have no middle
    middles = []
    for angle in (np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)):
        degrees = np.degrees(angle).astype(np.float64).round(_DECIMALS)
        degrees[~clear] = np.nan
        middles.append(degrees)
    return middles[0], middles[1]
