"""Public columns: what the public list says about places besides their ids, names and coordinates.

Those that the owner names travel into the release as they are: a category, a district, an opening year. Like
attributes they come from the list alone, never from the visits; they differ only in that no estimate leans on them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.attributes import COORDINATES, MAX_NAME, MAX_VALUE, RESERVED
from locentropy.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

MAX_COLUMNS: Final = 16
"""Columns of the list in one release, attributes included."""

FORMULA_STARTS: Final = "=+-@\t\r"
"""How texts begin that a spreadsheet takes for a formula."""

PUBLISH_EXAMPLE: Final = 'PublicLocations("places.csv", publish_columns=["category"])'


def why_no_column(name: Any) -> str | None:
    """Why a column of this name cannot be one of a release; None if it can."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        return "its name is not printable text"
    if len(name) > MAX_NAME:
        return f"its name has more than {MAX_NAME} characters"
    if name[0] in FORMULA_STARTS:
        return "its name begins like a formula of a spreadsheet"
    if name.casefold() in RESERVED:
        return "every release has a column of that name, or may have one"
    return None


def check_column_names(names: Any, attributes: Sequence[str] = ()) -> tuple[str, ...]:
    """The names as a tuple; raises ParameterError unless each can be a column of a release beside the attributes."""
    if isinstance(names, str) or not isinstance(names, list | tuple):
        raise ParameterError("must be a list of columns of the public list.", parameter="columns")
    for name in names:
        if (reason := why_no_column(name)) is not None:
            raise ParameterError(f"A column of the public list cannot be published: {reason}.")
    used = [name for name in attributes if name != COORDINATES]
    if len({name.casefold() for name in (*names, *used)}) != len(names) + len(used):
        raise ParameterError(
            "The public list has a column twice; upper and lower case do not tell columns apart."
        )
    if len(names) + len(used) > MAX_COLUMNS:
        raise ParameterError(f"At most {MAX_COLUMNS} columns of the public list can be published.")
    return tuple(names)


def check_publish_columns(names: Any) -> tuple[str, ...]:
    """The names as a tuple, each once; raises ParameterError unless they are names."""
    if not isinstance(names, list | tuple) or not all(
        isinstance(name, str) and name.strip() for name in names
    ):
        raise ParameterError(
            "must be a list of columns of the public list.",
            parameter="publish_columns",
            example=PUBLISH_EXAMPLE,
        )
    return tuple(dict.fromkeys(names))


def refuse_drop_columns(given: object) -> None:
    """Raise ParameterError for what an earlier version took: then all columns were published but these."""
    if given is not None:
        raise ParameterError(
            "is gone: columns of the list are published only if they are named, with publish_columns "
            "(--publish-column); names and coordinates are left out with name=None, lat=None and lon=None "
            "(--places-name '', --places-lat '' and --places-lon '').",
            parameter="drop_columns",
            example=PUBLISH_EXAMPLE,
        )


def checked_columns(
    columns: Mapping[str, pa.Array], places: int, attributes: Sequence[str] = ()
) -> Mapping[str, pa.Array]:
    """The columns, read-only; raises ParameterError unless each has a value of a known type for every place."""
    import pyarrow as pa  # slow to load, and a plan has names only
    import pyarrow.compute as pc

    for name in check_column_names(list(columns), attributes):
        values = columns[name]
        if not isinstance(values, pa.Array) or len(values) != places:
            raise ParameterError(f"The column {name!r} must be an Arrow array with one entry for each place.")
        if values.type not in column_types():
            raise ParameterError(
                f"The column {name!r} has type {values.type}, and must be texts, whole numbers, numbers, days, or true "
                "and false."
            )
        if pa.types.is_string(values.type) and (pc.max(pc.utf8_length(values)).as_py() or 0) > MAX_VALUE:
            raise ParameterError(
                f"The column {name!r} of the list has texts of more than {MAX_VALUE} characters, which a release does "
                "not carry."
            )
        if pa.types.is_floating(values.type) and not pc.all(pc.is_finite(values), min_count=0).as_py():
            raise ParameterError(f"The column {name!r} of the list holds numbers that are not finite.")
    return MappingProxyType(dict(columns))


def column_types() -> tuple[pa.DataType, ...]:
    """The types of public columns: texts, whole numbers, numbers, true and false, days."""
    import pyarrow as pa

    return (pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32())


def quoted(name: str) -> str:
    """A name as a shell takes it."""
    from shlex import quote

    return quote(name)
