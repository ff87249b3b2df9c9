"""Visits: where a table of visits is, and which of its columns is what."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from locentropy.core.errors import ParameterError
from locentropy.visits.columns import AUTO, ROLES, Choice, format_named

if TYPE_CHECKING:
    from collections.abc import Sequence

BadRows = Literal["fail", "drop"]
Ids = Literal["as-they-are", "text"]
DELIMITERS: Final = (",", "\t", ";", "|")


@dataclass(frozen=True, eq=False)
class Visits:
    """A table of visits: one row a visit, or pre-counted rows with a `visits` column.

    `source` is a path (CSV, TSV, gzip of these, Parquet, a DuckDB database), a folder or a pattern of
    files, or a pandas, Polars, Arrow or Ibis table. Nothing is read until a profile is asked for.

        Visits("checkins.parquet", user="uid", location="venue", time="at")
    """

    source: Any
    user: Choice = AUTO
    """The column that says who. All rows of a person must carry the same id: this is who is protected."""
    location: Choice = AUTO
    """The column that says where."""
    time: Choice = AUTO
    """The column that says when; None to use no times."""
    visits: Choice = AUTO
    """The column that says how often, in pre-counted tables; without one, a row is one visit."""
    lat: Choice = AUTO
    """Latitude, in degrees."""
    lon: Choice = AUTO
    """Longitude, in degrees."""
    table: str | None = None
    """The table's name, where `source` is a DuckDB database of several."""
    format: str | None = None
    """A published format by name: gowalla, brightkite, foursquare."""
    header: bool | None = None
    """Whether a text file begins with a header; None to look."""
    columns: tuple[str, ...] | None = None
    """The columns' names, in order, of a text file without a header."""
    delimiter: str | None = None
    """What separates the fields of a text file: a comma, a tab, a semicolon or a bar. Where it is not said, the header
    shows it; without a header a tab in `.tsv` files, else a comma. A row, which is somebody's, is never asked."""
    bad_rows: BadRows = "fail"
    """What to do about rows that break a rule (no id, a time that is none, visits below one, …). Fixed
    before anything is read. How many were dropped is told to the private log only."""
    ids: Ids = "as-they-are"
    """`text` compares ids by how they are written, whatever their type: for files that store the same id
    as a number here and as a text there."""

    def __post_init__(self) -> None:
        if isinstance(self.source, os.PathLike):
            object.__setattr__(self, "source", Path(self.source))
        for name, options in (("bad_rows", get_args(BadRows)), ("ids", get_args(Ids))):
            if getattr(self, name) not in options:
                raise ParameterError(
                    f"is not one of {', '.join(options)}.",
                    parameter=name,
                    value=getattr(self, name),
                    example=f'Visits("checkins.csv", {name}="{options[-1]}")',
                )
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            raise ParameterError(
                f"is not one of {', '.join(map(repr, DELIMITERS))}.",
                parameter="delimiter",
                value=self.delimiter,
                example='Visits("checkins.csv", delimiter=";")',
            )
        if self.format is not None:
            format_named(self.format)
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))

    def __repr__(self) -> str:
        """Without the rows of a table in memory."""
        shown = self.source if self.is_path else type(self.source).__name__
        set_ = (f.name for f in fields(self)[1:] if getattr(self, f.name) != f.default)
        return f"Visits({', '.join([repr(shown), *(f'{name}={getattr(self, name)!r}' for name in set_)])})"

    @property
    def is_path(self) -> bool:
        """Whether the source is a path, a folder or a pattern."""
        return isinstance(self.source, str | Path)

    def choices_for(self, required: Sequence[str]) -> dict[str, Choice]:
        """What was said about each role; a grid finds places by their coordinates and looks at no ids."""
        choices: dict[str, Choice] = {role: getattr(self, role) for role in ROLES}
        return choices if "location" in required else choices | {"location": None}

    @property
    def chosen(self) -> list[str]:
        """The columns that were named."""
        return [choice for role in ROLES if isinstance(choice := getattr(self, role), str)]
