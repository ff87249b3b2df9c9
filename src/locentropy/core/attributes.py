"""Attributes: columns of the public list that a mechanism may use, such as the category of a place.

They come from the list alone, never from the visits, and are published with the release: whoever has the release can
compute its values again from the measurements. The word `coordinates` stands for the list's latitudes and longitudes,
and for those of the cells of a map: they are public like the map.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

COORDINATES: Final = "coordinates"
"""What is declared to have a mechanism use where places are."""

MAX_ATTRIBUTES: Final = 8
MAX_NAME: Final = 60
MAX_VALUE: Final = 200
"""Characters of a value that is text."""
MAX_LEVELS: Final = 10_000
"""Different values of one attribute. With more, hardly two places have one in common."""

RESERVED: Final = frozenset(
    (
        "location", "name", "lat", "lon", "entropy", "effective_visitors", "std_error", "low", "high", "entropy_busy",
        "visitors", "visitors_low", "visitors_high", "visits", "visits_low", "visits_high", "not_private", "geometry",
        "window_start", "window_end", "entropy_alone", "change", "change_probability",
    )
)  # fmt: skip
"""Columns that a release has of its own. Databases do not tell names apart by case, so neither is done here."""

EXAMPLE: Final = 'PublicLocations("places.csv", attributes=["category"])'


def check_attribute_names(names: Any) -> tuple[str, ...]:
    """The names as a tuple, `coordinates` last; raises ParameterError unless each can be a column of a release."""
    if isinstance(names, str) or not isinstance(names, list | tuple):
        raise ParameterError(
            "must be a list of columns of the public list.",
            parameter="attributes",
            value=names,
            example=EXAMPLE,
        )
    if len(names) > MAX_ATTRIBUTES:
        raise ParameterError(
            f"must be at most {MAX_ATTRIBUTES} columns.", parameter="attributes", example=EXAMPLE
        )
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
            raise ParameterError(
                f"must be names of columns, of at most {MAX_NAME} printable characters each.",
                parameter="attributes",
                example=EXAMPLE,
            )
        if name.casefold() in RESERVED:
            raise ParameterError(
                f"names {name!r}, which is a column of every release. "
                + _INSTEAD.get(name.casefold(), "Rename the column in the list."),
                parameter="attributes",
                example=EXAMPLE,
            )
    if len({name.casefold() for name in names}) != len(names):
        raise ParameterError(
            "must name each column once; upper and lower case do not tell columns apart.",
            parameter="attributes",
            example=EXAMPLE,
        )
    if any(name.casefold() == COORDINATES != name for name in names):
        raise ParameterError(
            f"names a column that differs from the word {COORDINATES!r} by case only. Rename it in the list.",
            parameter="attributes",
            example=EXAMPLE,
        )
    return tuple(sorted(names, key=lambda name: name == COORDINATES))


def check_cell_attributes(names: Any, example: str) -> tuple[str, ...]:
    """What mechanisms may use of cells: where they are, or nothing; raises ParameterError for anything else."""
    if names not in ([], (), [COORDINATES], (COORDINATES,)):
        raise ParameterError(
            f'must be ["{COORDINATES}"], so that estimates lean on cells nearby, or [], so that they do not. Nothing '
            "else is known of cells.",
            parameter="attributes",
            example=example,
        )
    return tuple(names)


_INSTEAD: Final = {
    **dict.fromkeys(
        ("lat", "lon", "geometry"),
        f'To have a mechanism use where places are: attributes=["{COORDINATES}"], or --attribute {COORDINATES}.',
    ),
    **dict.fromkeys(
        ("location", "name"),
        "It tells places apart, and an attribute says what places have in common: a category, a district.",
    ),
}


def checked_attributes(attributes: Mapping[str, pa.Array], places: int) -> Mapping[str, pa.Array]:
    """The attributes, read-only; raises ParameterError unless each has a value of a known type for every place."""
    names = check_attribute_names(list(attributes))
    for name in names:
        if name == COORDINATES:
            raise ParameterError(f"{name!r} stands for lat and lon. Rename this column of the list.")
        _check_values(name, attributes[name], places)
    return MappingProxyType({name: attributes[name] for name in names})


def _check_values(name: str, values: Any, places: int) -> None:
    import pyarrow as pa  # slow to load, and a plan has names only
    import pyarrow.compute as pc

    if not isinstance(values, pa.Array) or len(values) != places:
        raise ParameterError(f"The attribute {name!r} must be an Arrow array with one entry for each place.")
    if values.type not in (pa.string(), pa.int64(), pa.bool_()):
        raise ParameterError(
            f"The attribute {name!r} has type {values.type}, and must be texts, whole numbers, or true and false."
        )
    if values.type == pa.string():
        longest = pc.max(pc.utf8_length(values)).as_py() or 0
        if longest > MAX_VALUE:
            raise ParameterError(
                f"The attribute {name!r} has values of more than {MAX_VALUE} characters. It must be a class that "
                "places have in common, such as a category, and no description."
            )
    if (levels := len(pc.unique(values))) > MAX_LEVELS:
        raise ParameterError(
            f"The attribute {name!r} has {levels:,} different values, and may have {MAX_LEVELS:,}. Use a coarser one: "
            "a mechanism learns from places that have a value in common."
        )


def check_informative(name: str, values: pa.Array) -> None:
    """Raise ParameterError for an attribute of which no two places, or all of them, have the same value."""
    import pyarrow.compute as pc

    known = values.drop_null()
    levels = len(pc.unique(known))
    if levels == len(known) and len(known) > 1:
        raise ParameterError(
            f"The attribute {name!r} has another value at every place, like an id. An attribute says what places have "
            "in common: a category, a district.",
        )
    if levels + (values.null_count > 0) < 2:
        raise ParameterError(
            f"The attribute {name!r} has the same value at every place, so it tells nothing. Leave it out."
        )
